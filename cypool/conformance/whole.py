"""Directories that are there whole or not at all.

Apart from what is written into them because how to do that is one idea, and corpora and bundles both need it.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_directory(path: Path) -> Iterator[Path]:
    """An empty directory to fill, which becomes ``path`` when the block ends, and vanishes when it ends by an exception.

    It is filled beside ``path`` and renamed. FileExistsError where something stands at ``path`` other than an empty directory; any other
    OSError where it can't be written.
    """
    refuse_occupied(path)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", suffix=".part", dir=path.absolute().parent) as scratch:
        filling = Path(scratch) / "whole"  # the outer directory is for its owner alone, this one is as the umask has it
        filling.mkdir()
        yield filling
        refuse_occupied(path)
        if path.is_dir():
            path.rmdir()
        filling.rename(path)


def refuse_occupied(path: Path) -> None:
    """FileExistsError where something stands at ``path`` other than an empty directory, FileNotFoundError where nothing can stand there."""
    if path.is_symlink() or (path.exists() and not (path.is_dir() and not any(path.iterdir()))):
        raise FileExistsError(f"{path} exists and is not an empty directory")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


def write_files(directory: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their paths below ``directory``, with the directories they need."""
    for name, data in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
