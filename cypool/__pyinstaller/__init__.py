"""Tell PyInstaller where the hook for cypool is; found by the entry point ``pyinstaller40``."""

from pathlib import Path


def hook_dirs() -> list[str]:
    """Return the folders that hold hooks."""
    return [str(Path(__file__).parent)]
