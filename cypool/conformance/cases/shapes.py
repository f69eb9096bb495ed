"""Shapes worth trying, as far as an operand's shape rule allows them.

The shapes that break kernels are the same for all operators: no elements, one, odd and even sizes,
one long row.
"""

from __future__ import annotations

from cypool.spec.shapes import Rule, parse

SHAPES: dict[str, tuple[int, ...]] = {
    "rank2": (2, 5),
    "rank3": (2, 3, 7),
    "rank4": (3, 2, 4, 5),
    "rank5": (2, 3, 3, 4, 2),
    "rank6": (2, 1, 3, 2, 4, 3),
    "one-element": (1, 1, 1, 1),
    "odd": (2, 1, 5, 3),
    "even": (1, 2, 6, 8),
    "7x7": (1, 3, 7, 7),
    "tall": (1, 2, 60, 3),
    "many-channels": (1, 67, 3, 4),
    "row": (1, 1, 1, 70001),
    "no-elements": (2, 3, 0, 4),
    "no-batch": (0, 2, 3, 3),
    "no-channels": (2, 0, 3, 3),
}
"""Names and shapes: N, C, then spatial."""

LITTLE_TOLD = frozenset({"row", "one-element", "no-elements", "no-batch", "no-channels"})
"""Those that cost much or tell little, and are used only where they meet something for the first
time.
"""

EMPTY = frozenset(name for name, shape in SHAPES.items() if 0 in shape)


def legal(rule: str) -> list[str]:
    """Return the names of those that follow a shape rule.

    >>> [name for name in legal("N C H W") if name.startswith("rank")]
    ['rank4']
    """
    return [name for name, shape in SHAPES.items() if fits(parse(rule), len(shape))]


def fits(rule: Rule, rank: int) -> bool:
    """Tell whether a shape of that rank can follow the rule."""
    extra = rank - len(rule.fixed)
    return extra >= rule.least if rule.star else extra == 0
