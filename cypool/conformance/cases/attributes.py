"""The values of an attribute worth trying: left out, its default, the edges of what is legal, and
what its operator adds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from cypool.spec import limits
from cypool.spec.model import Attribute, AttributeValue, Version

ABSENT = "absent"
SCALARS = ("INT", "FLOAT")

More = Mapping[str, tuple[AttributeValue, ...]]
"""What an operator's cases try of an attribute beyond what its record says, by the attribute's
name.
"""


def labelled(version: Version, more: More, apart: Iterable[str] = ()) -> dict[str, dict[str, AttributeValue | None]]:
    """Return the labels and values of each attribute of a version, but for those that are varied
    ``apart``.

    >>> from cypool import spec
    >>> labelled(spec.version("GlobalLpPool-2"), {"p": (3, 0.5)})
    {'p': {'p-absent': None, 'p2': 2, 'p1': 1, 'p3': 3}}
    """
    return {
        attribute.name: regimes(attribute, more.get(attribute.name, ())) for attribute in version.attributes if attribute.name not in apart
    }


def chosen(
    version: Version, labels: Mapping[str, Mapping[str, AttributeValue | None]], choice: Mapping[str, str]
) -> dict[str, AttributeValue]:
    """Return the attributes that a choice of labels writes down; where it has no label for one, the
    attribute is there if it must be.
    """
    given: dict[str, AttributeValue] = {}
    for attribute in version.attributes:
        of_attribute = labels.get(attribute.name, {})
        if attribute.name in choice:
            value = of_attribute[choice[attribute.name]]
        else:
            value = some(attribute) if attribute.required and attribute.name in labels else None
        if value is not None:
            given[attribute.name] = value
    return given


def regimes(attribute: Attribute, more: Iterable[AttributeValue] = ()) -> dict[str, AttributeValue | None]:
    """Labels and values, None where the attribute is left out; of ``more`` those that the attribute
    may hold.

    >>> from cypool import spec
    >>> regimes(spec.version("GlobalLpPool-2").attribute("p"), (3, 0.5, -1))
    {'p-absent': None, 'p2': 2, 'p1': 1, 'p3': 3}
    """
    found: dict[str, AttributeValue | None] = {} if attribute.required else {f"{attribute.name}-{ABSENT}": None}
    default = () if attribute.default is None else (attribute.default,)
    for value in (*default, *attribute.one_of, *_edges(attribute), *more):
        if limits.allows(attribute, value):
            typed = float(value) if attribute.type == "FLOAT" and isinstance(value, int) else value
            found.setdefault(label(attribute.name, typed), typed)
    return found


def some(attribute: Attribute, spatial: int | None = None) -> AttributeValue:
    """Return a legal value: the default, where there is one; of a list that is as long as the rank
    says, for that many dimensions.
    """
    default = limits.default(attribute, spatial)
    if default is not None:
        return default
    many = limits.length(attribute, spatial)
    if isinstance(attribute.length, str) and many is not None:
        return (int(attribute.minimum or 0),) * many
    return next(value for value in regimes(attribute).values() if value is not None)


def label(name: str, value: AttributeValue) -> str:
    """Write an attribute and its value as in the id of a case: ``p3``, ``p0.5``,
    ``pooled_shape7x7``.
    """
    return name + "x".join(map(_short, value if isinstance(value, tuple) else (value,)))


def _short(part: float | str) -> str:
    whole = isinstance(part, float) and part.is_integer()
    return str(int(part)) if whole else f"{part:g}" if isinstance(part, float) else str(part)


def _edges(attribute: Attribute) -> list[AttributeValue]:
    """Return the least that is legal and, where it is, infinity."""
    if attribute.one_of:
        return []
    least: list[float] = []
    if attribute.minimum is not None:
        least.append(int(attribute.minimum) if attribute.type.startswith("INT") else attribute.minimum)
    if attribute.above is not None:
        least.append(float(np.nextafter(np.float32(attribute.above), np.float32(np.inf))))
    if attribute.type == "FLOAT" and not attribute.finite:
        least.append(math.inf)
    length = attribute.length if isinstance(attribute.length, int) else None
    return [(edge,) * length if length is not None else edge for edge in least]
