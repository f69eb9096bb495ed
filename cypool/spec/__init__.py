"""State what ONNX says about the operators, as data; ``resolve`` finds the version for an opset.

Kernels, validation, cases, docs and the checker all read the same words. Each operator's file is
read when it is first asked for, then kept.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

from cypool.errors import SpecTypeError, SpecValueError
from cypool.spec.model import Operator, Version

__all__ = ["operator", "operators", "resolve", "version", "versions"]

_DATA = Path(__file__).with_name("data")


@functools.cache
def operators() -> tuple[str, ...]:
    """Return the names of all operators; FileNotFoundError where the package came without its data.

    >>> {"GlobalLpPool", "MaxRoiPool"} <= set(operators())
    True
    """
    names = tuple(sorted(path.stem for path in _DATA.glob("*.toml")))
    if not names:
        raise FileNotFoundError(f"cypool's data files are missing: no *.toml in {_DATA}; whatever packed cypool has to take them along")
    return names


def operator(name: str) -> Operator:
    """Return an operator with all its versions; SpecValueError lists the operators there are."""
    if name not in operators():
        raise SpecValueError(f"unknown operator {name!r}; there are {', '.join(operators())}")
    return _read(name)


@functools.cache
def _read(name: str) -> Operator:
    from cypool.spec.load import load  # not before an operator is asked for: reading TOML strictly is half of what an import would cost

    path = _DATA / f"{name}.toml"
    found = load(path.read_text(encoding="utf-8"), path.name)
    if found.name != name:
        raise SpecValueError(f"{path.name}: op: expected {name!r}, the file's name, got {found.name!r}")
    return found


def versions() -> Iterator[Version]:
    """Yield every version of every operator, by operator, oldest first."""
    for name in operators():
        yield from operator(name).versions


def version(name: str) -> Version:
    """Return the version of that name; SpecValueError lists the versions there are.

    >>> version("GlobalLpPool-2").until_version
    21
    """
    op, _, _ = name.rpartition("-")
    known = operator(op).versions if op in operators() else tuple(versions())
    for candidate in known:
        if candidate.name == name:
            return candidate
    raise SpecValueError(f"unknown version {name!r}; there are {', '.join(candidate.name for candidate in known)}")


def resolve(op: str, opset: int | None = None, domain: str = "ai.onnx") -> Version:
    """Return the version of an operator that is in force at an opset; None, or an opset newer than
    all that is known, means the newest.

    ``""`` and ``"ai.onnx"`` are the same domain. SpecValueError for an unknown operator or domain
    and an opset before the first version, SpecTypeError for an opset that is no int.

    >>> resolve("GlobalLpPool", 21).name
    'GlobalLpPool-2'
    >>> resolve("GlobalLpPool", True)
    Traceback (most recent call last):
    cypool.errors.SpecTypeError: GlobalLpPool: opset is True, expected an int or None
    """
    found = operator(op)
    if (domain or "ai.onnx") != found.domain:
        raise SpecValueError(f"{op} is an operator of the domain {found.domain!r}, not of {domain!r}")
    if opset is None:
        return found.versions[-1]
    if not isinstance(opset, int) or isinstance(opset, bool):
        raise SpecTypeError(f"{op}: opset is {opset!r}, expected an int or None")
    for candidate in reversed(found.versions):
        if candidate.since_version <= opset:
            return candidate
    raise SpecValueError(f"{op} has no version at opset {opset}; there are {', '.join(candidate.name for candidate in found.versions)}")
