"""Directories and files that are there whole or not at all: filled beside their place, then
renamed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

SUFFIX = ".part"


@contextmanager
def whole_directory(path: Path) -> Iterator[Path]:
    """Give an empty directory to fill, which becomes ``path`` when the block ends, and vanishes
    when it ends by an exception.

    It is filled beside ``path`` and renamed. What a process left there that was killed while it
    filled the same is taken away first. FileExistsError where something stands at ``path`` other
    than an empty directory; any other OSError where it can't be written.
    """
    refuse_occupied(path)
    parent, prefix = path.absolute().parent, f".{path.name}."
    with ExitStack() as stack:
        with _locked(parent, wait=True) as locked:  # until the new directory is locked, nobody else looks whether it is
            if locked:
                _remove_abandoned(parent, prefix)
            scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=prefix, suffix=SUFFIX, dir=parent)))
            stack.enter_context(_locked(scratch))
        filling = scratch / "whole"  # the outer directory is for its owner alone, this one is as the umask has it
        filling.mkdir()
        yield filling
        refuse_occupied(path)
        if path.is_dir():
            path.rmdir()
        filling.rename(path)


@contextmanager
def _locked(directory: Path, wait: bool = False) -> Iterator[bool]:
    """Give a lock on a directory, which ends with the process at the latest; whether it was to be
    had.
    """
    try:
        handle = os.open(directory, os.O_RDONLY)
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # somebody has it, or the file system has no locks
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def _remove_abandoned(parent: Path, prefix: str) -> None:
    """Remove the directories of that prefix that nobody is filling any more."""
    for found in parent.iterdir():
        if found.name.startswith(prefix) and found.name.endswith(SUFFIX):
            with _locked(found) as abandoned:
                if abandoned:
                    shutil.rmtree(found, ignore_errors=True)


def refuse_occupied(path: Path) -> None:
    """FileExistsError where something stands at ``path`` other than an empty directory,
    FileNotFoundError where nothing can stand there.
    """
    if path.is_symlink() or (path.exists() and not (path.is_dir() and not any(path.iterdir()))):
        raise FileExistsError(f"{path} exists and is not an empty directory")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


@contextmanager
def whole_file(path: Path) -> Iterator[IO[str]]:
    """Open a text file to fill, which becomes ``path`` when the block ends, and vanishes when it
    ends by an exception.

    A link stays a link, and a file keeps its mode. A device or a pipe is written as it is. OSError
    where nothing can be written.
    """
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        with _text(os.open(place, os.O_WRONLY)) as file:
            yield file
        return
    mode = place.stat().st_mode if place.exists() else None
    if mode is not None and not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    scratch = place.with_name(f".{secrets.token_hex(8)}{SUFFIX}")
    handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with _text(handle) as file:
            if mode is not None:
                os.fchmod(handle, mode & 0o777)
            yield file
        scratch.replace(place)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise


def _text(handle: int) -> IO[str]:
    """Open a handle for text in UTF-8; what that can't hold, half a surrogate pair, is replaced."""
    return open(handle, "w", encoding="utf-8", errors="replace", newline="\n")


def write_files(directory: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their paths below ``directory``, with the directories they need."""
    for name, data in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
