"""The values of an attribute worth trying: left out, its default, the edges of what is legal, and what its operator adds.

Apart from the operators because all but the last follows from the attribute's record.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from cypool.spec.model import Attribute, AttributeValue

ABSENT = "absent"


def regimes(attribute: Attribute, more: Iterable[AttributeValue] = ()) -> dict[str, AttributeValue | None]:
    """Labels and values, None where the attribute is left out; of ``more`` those that the attribute may hold.

    >>> from cypool import spec
    >>> regimes(spec.version("GlobalLpPool-2").attribute("p"), (3, 0.5, -1))
    {'p-absent': None, 'p2': 2, 'p1': 1, 'p3': 3}
    """
    found: dict[str, AttributeValue | None] = {} if attribute.required else {f"{attribute.name}-{ABSENT}": None}
    default = () if attribute.default is None else (attribute.default,)
    for value in (*default, *_edges(attribute), *more):
        if is_legal(attribute, value):
            typed = float(value) if attribute.type == "FLOAT" and isinstance(value, int) else value
            found.setdefault(label(attribute.name, typed), typed)
    return found


def some(attribute: Attribute) -> AttributeValue:
    """A legal value: the default, where there is one."""
    return next(value for value in regimes(attribute).values() if value is not None)


def label(name: str, value: AttributeValue) -> str:
    """How an attribute and its value are written in the id of a case: ``p3``, ``p0.5``, ``pooled_shape7x7``."""
    return name + "x".join(map(_short, value if isinstance(value, tuple) else (value,)))


def _short(part: float | str) -> str:
    whole = isinstance(part, float) and part.is_integer()
    return str(int(part)) if whole else f"{part:g}" if isinstance(part, float) else str(part)


def is_legal(attribute: Attribute, value: AttributeValue) -> bool:
    """Whether the attribute may hold a value; an integer passes for a FLOAT."""
    parts = value if isinstance(value, tuple) else (value,)
    scalar = attribute.type in ("INT", "FLOAT")
    if scalar == isinstance(value, tuple) or (attribute.length is not None and len(parts) != attribute.length):
        return False
    return all(
        (isinstance(part, int) or (isinstance(part, float) and attribute.type.startswith("FLOAT")))
        and (attribute.minimum is None or part >= attribute.minimum)
        and (attribute.above is None or part > attribute.above)
        and not (attribute.finite and math.isinf(part))
        for part in parts
    )


def _edges(attribute: Attribute) -> list[AttributeValue]:
    """The least that is legal and, where it is, infinity."""
    least: list[float] = []
    if attribute.minimum is not None:
        least.append(int(attribute.minimum) if attribute.type.startswith("INT") else attribute.minimum)
    if attribute.above is not None:
        least.append(float(np.nextafter(np.float32(attribute.above), np.float32(np.inf))))
    if attribute.type == "FLOAT" and not attribute.finite:
        least.append(math.inf)
    return [(edge,) * attribute.length if isinstance(attribute.length, int) else edge for edge in least]
