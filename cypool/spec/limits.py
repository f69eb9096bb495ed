"""The limits of an attribute: whether a value keeps them, and what they are in words.

One place for plan, cases and pages, so that what is refused, what is tried and what is documented
are the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from cypool.spec.model import Attribute, AttributeValue

LENGTH = re.compile(r"(?:(\d+) )?([A-Za-z_]\w*)")
"""A length that depends on the rank: ``D`` or ``2 D``."""

WORDS = {"INT": "an integer", "FLOAT": "a number", "INTS": "integers", "FLOATS": "numbers", "STRING": "a string"}


def is_list(attribute_type: str) -> bool:
    """Tell whether values of that attribute type are lists."""
    return attribute_type.endswith("S")


def length(attribute: Attribute, spatial: int | None) -> int | None:
    """Return how many elements a list must have, with ``spatial`` dimensions in the star; None
    where any number will do, or where it depends on ``spatial`` and that is None.

    >>> length(Attribute("pads", "INTS", False, None, "", length="2 D"), 3)
    6
    """
    if not isinstance(attribute.length, str):
        return attribute.length
    match = LENGTH.fullmatch(attribute.length)
    assert match, attribute.length
    return None if spatial is None else int(match[1] or 1) * spatial


def default(attribute: Attribute, spatial: int | None) -> AttributeValue | None:
    """Return what an absent attribute means, or None where it has no default.

    >>> default(Attribute("strides", "INTS", False, None, "", length="D", each=1), 2)
    (1, 1)
    """
    many = length(attribute, spatial)
    if attribute.each is not None and many is not None:
        return (attribute.each,) * many
    return attribute.default


def allows(attribute: Attribute, value: AttributeValue, spatial: int | None = None) -> bool:
    """Tell whether an attribute may hold a value; an integer passes for a FLOAT.

    >>> p = Attribute("p", "INT", False, 2, "", minimum=1)
    >>> allows(p, 3), allows(p, 0), allows(p, 2.5), allows(p, (2,))
    (True, False, False, False)
    """
    if is_list(attribute.type) != isinstance(value, tuple):
        return False
    parts = value if isinstance(value, tuple) else (value,)
    many = length(attribute, spatial)
    return (many is None or len(parts) == many) and all(_allows(attribute, part) for part in parts)


def _allows(attribute: Attribute, part: float | str) -> bool:
    """Tell whether one element is within the limits; NaN is within none."""
    if isinstance(part, str) != (attribute.type == "STRING"):
        return False
    if attribute.one_of and part not in attribute.one_of:
        return False
    if isinstance(part, str):
        return True
    return (
        (isinstance(part, int) or attribute.type.startswith("FLOAT"))
        and (attribute.minimum is None or part >= attribute.minimum)
        and (attribute.above is None or part > attribute.above)
        and not (attribute.finite and not math.isfinite(part))
    )


def expected(attribute: Attribute, spatial: int | None = None) -> str:
    """Return the legal values in the words of an error message.

    >>> expected(Attribute("pooled_shape", "INTS", True, None, "", minimum=1, length=2))
    '2 integers, each >= 1'
    >>> expected(Attribute("ceil_mode", "INT", False, 0, "", one_of=(0, 1)))
    'one of 0, 1'
    """
    if attribute.one_of and not is_list(attribute.type):
        return "one of " + ", ".join(map(str, attribute.one_of))
    many = length(attribute, spatial)
    words = [WORDS[attribute.type] if many is None else f"{many} {WORDS[attribute.type]}"]
    if many == 1:
        words = [f"1 {WORDS[attribute.type].removesuffix('s')}"]
    limits = [f">= {attribute.minimum:g}"] if attribute.minimum is not None else []
    limits += [f"> {attribute.above:g}"] if attribute.above is not None else []
    limits += ["finite"] if attribute.finite else []
    if limits:
        words.append(("each " if is_list(attribute.type) else "") + " and ".join(limits))
    return ", ".join(words) if is_list(attribute.type) else " ".join(words)


def phrases(attribute: Attribute) -> Iterator[str]:
    """Yield the limits as a page states them, a phrase each."""
    each = ""
    if attribute.length is not None:
        yield f"{attribute.length} of them"
        each = "each "
    if attribute.one_of:
        yield "one of " + ", ".join(map(str, attribute.one_of))
    if attribute.minimum is not None:
        yield f"{each}{attribute.minimum:g} or more"
    if attribute.above is not None:
        yield f"{each}above {attribute.above:g}"
    if attribute.finite:
        yield "finite"
    elif attribute.type.startswith("FLOAT") and (attribute.minimum, attribute.above) != (None, None):
        yield "infinity too"
