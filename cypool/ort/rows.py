"""The rows of the plug-in's kernel registry, made from the spec: a new operator, version or type is
there by itself.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from cypool import spec
from cypool.spec.elements import ELEMENTS
from cypool.spec.model import Version


class Row(NamedTuple):
    """An operator version, and the element types that each of its type constraints allows, as
    ONNX's numbers, which are ONNX Runtime's.
    """

    version: Version
    constraints: tuple[tuple[str, tuple[int, ...]], ...]


@functools.cache
def rows() -> tuple[Row, ...]:
    """Return a row for every version of every operator."""
    return tuple(
        Row(version, tuple((each.name, tuple(ELEMENTS[name].number for name in each.allowed)) for each in version.types))
        for version in spec.versions()
    )
