"""Explain an import that fails because compiled modules are missing: in an unbuilt clone, or where
they were built for another Python.
"""

from __future__ import annotations

import importlib.util
import sysconfig
from pathlib import Path

COMPILED = ("calls", "dispatch", "kernels.baseline.cpu")
"""Modules that every build has."""

HERE = Path(__file__).parent

NOT_BUILT = "cypool is not built"
"""How the message begins."""


def explain(error: ImportError) -> ImportError:
    """Return the error to raise: one that says how to build if a compiled module is missing, else
    the given one.
    """
    stale = (error.name or "").startswith(("cypool.kernels.", "cypool.ort."))  # a module that came after the last build
    if not stale and all(importlib.util.find_spec(f"cypool.{module}") for module in COMPILED):
        return error
    root = HERE.parent
    if (root / "setup.py").exists():
        command = f"`make check` in {root} builds it in a .venv there, `pip install --editable {root}` for this Python"
    else:
        command = "`pip install --force-reinstall cypool` installs it anew"
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    return ImportError(f"{NOT_BUILT}: {HERE} lacks compiled modules (*{suffix}) for this Python; {command}")
