"""Families of element values: what may stand in a tensor of data, from a plain ramp to NaN beside
infinities.

All operators are fed the same: a family knows an element type and a shape, not what is done to
them. The first two dimensions count planes (of a batch item and a channel), the others lie within
one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cypool.conformance.cases.draws import Array, Draws
from cypool.conformance.oracle.rounding import FORMATS, Format
from cypool.conformance.tensors import DTYPES

RAMP = 251  # the ramp starts again after so many: 8 bits still tell neighbours apart


def values(family: str, draws: Draws, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return an array of that family, shape and element type."""
    planes = math.prod(shape[:2]), math.prod(shape[2:])
    if dtype in FORMATS:
        drawn = {**FAMILIES, **SIGNED, **SUMMED}[family](draws, planes, FORMATS[dtype])
    else:
        drawn = INTEGERS[family](draws, planes, np.iinfo(dtype))
    return np.asarray(drawn).astype(dtype).reshape(shape)


def families(type: str, more: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names of the families that an element type has, with ``more`` of floats.

    >>> "nan" in families("float16"), "nan" in families("int8", SIGNED)
    (True, False)
    """
    return (*FAMILIES, *more) if DTYPES[type] in FORMATS else tuple(INTEGERS)


def _ramp(draws: Draws, shape: tuple[int, int], form: Format) -> Array:
    planes, size = shape
    return np.asarray(np.arange(size) % RAMP + 1.0 + np.arange(planes)[:, None] % 5)


def _mixed_signs(draws: Draws, shape: tuple[int, int], form: Format) -> Array:
    return 0.375 * (draws.below(17, *shape) + 1) * draws.signs(*shape)


def _scattered(draws: Draws, shape: tuple[int, int], least: int, most: int) -> Array:
    """Both signs, magnitudes in [2**least, 2**most), every exponent as often."""
    return np.asarray(np.ldexp(draws.signs(*shape) * (1 + draws.fractions(*shape)), least + draws.below(most - least, *shape)))


def _random(draws: Draws, shape: tuple[int, int], form: Format) -> Array:
    return _scattered(draws, shape, -4, 5)


def _ties(draws: Draws, shape: tuple[int, int], form: Format) -> Array:
    """3u and -4u, then zeros.

    Their norm is 7u for p = 1, 5u for p = 2, and u is such that both lie half-way between two
    neighbours.
    """
    u = int(2**form.precision / 4.5) | 1
    return np.broadcast_to(np.array([3.0 * u, -4.0 * u] + [0.0] * shape[1])[: shape[1]], shape)


def _zeros(draws: Draws, shape: tuple[int, int], form: Format) -> Array:
    return 0.0 * draws.signs(*shape)


def _subnormals(draws: Draws, shape: tuple[int, int], form: Format) -> Array:
    return np.asarray(np.ldexp(draws.signs(*shape) * (1 + draws.below(2 ** (form.precision - 1) - 1, *shape)), form.least))


def _near_overflow(draws: Draws, shape: tuple[int, int], form: Format) -> Array:
    return _scattered(draws, shape, form.limit - 3, form.limit - 2)


def _near_underflow(draws: Draws, shape: tuple[int, int], form: Format) -> Array:
    return _scattered(draws, shape, form.least + form.precision - 1, form.least + form.precision + 2)


def _with(*specials: float) -> Callable[[Draws, tuple[int, int], Format], Array]:
    """Random values, about a quarter of them replaced, and one of each special at the least where
    there is room.
    """

    def family(draws: Draws, shape: tuple[int, int], form: Format) -> Array:
        array = _random(draws, shape, form)
        which = draws.below(4 * len(specials), *shape)
        for i, special in enumerate(specials):
            array[which == i] = special
            array.reshape(-1)[array.size // 2 + i : array.size // 2 + i + 1] = special
        return array

    return family


def _all_equal(draws: Draws, shape: tuple[int, int], form: Format) -> Array:
    return np.full(shape, 1 + draws.fractions(1))


def _minus_inf(draws: Draws, shape: tuple[int, int], form: Format) -> Array:
    return np.full(shape, -math.inf)


FAMILIES: dict[str, Callable[[Draws, tuple[int, int], Format], Array]] = {
    "ramp": _ramp,
    "mixed-signs": _mixed_signs,
    "random": _random,
    "ties": _ties,
    "zeros": _zeros,
    "subnormals": _subnormals,
    "near-overflow": _near_overflow,
    "near-underflow": _near_underflow,
    "nan": _with(math.nan),
    "inf": _with(math.inf, -math.inf),
    "nan-with-inf": _with(math.nan, math.inf),
    "minus-inf": _minus_inf,
    "all-equal": _all_equal,
}
"""The families by name; each is given its draws, (planes, elements in a plane) and the format, and
answers in float64.
"""


def _negative(draws: Draws, shape: tuple[int, int], form: Format) -> Array:
    """A padding of zeros would be the largest."""
    return -0.375 * (draws.below(17, *shape) + 1)


def _few(draws: Draws, shape: tuple[int, int], form: Format) -> Array:
    """Three values, the middle one a zero of either sign: many are equal."""
    return (draws.below(3, *shape) - 1.0) * draws.signs(*shape)


def _nan_alone(draws: Draws, shape: tuple[int, int], form: Format) -> Array:
    return np.full(shape, math.nan)


SIGNED: dict[str, Callable[[Draws, tuple[int, int], Format], Array]] = {"negative": _negative, "few": _few, "nan-alone": _nan_alone}
"""Families for operators that keep the sign of what they see."""


def _cancelling(draws: Draws, shape: tuple[int, int], form: Format) -> Array:
    """Large ones of either sign in turn, with small ones between: of three, the large ones leave
    nothing of their sum.
    """
    planes, size = shape
    large = math.ldexp(1.0, form.limit - 4) * np.resize([1.0, 0.0, -1.0], size)
    return np.where(large == 0, 1 + draws.fractions(planes, size), large)


def _overflowing(draws: Draws, shape: tuple[int, int], form: Format) -> Array:
    """Positive, above half of the largest: two of them add up to what the type does not hold."""
    return np.asarray(np.ldexp(0.75 + draws.fractions(*shape) / 8, form.limit))


SUMMED: dict[str, Callable[[Draws, tuple[int, int], Format], Array]] = {"cancelling": _cancelling, "overflowing": _overflowing}
"""Families for operators that add elements up as they are."""

BEYOND_FLOAT = ("near-overflow", "near-underflow", "subnormals")
"""The families of which doubles are no floats."""


def _integer_ramp(draws: Draws, shape: tuple[int, int], form: np.iinfo[Any]) -> Array:
    planes, size = shape
    return np.asarray(np.arange(size) % INTEGER_RAMP + 1 + np.arange(planes)[:, None] % 5)


def _around_the_middle(draws: Draws, shape: tuple[int, int], form: np.iinfo[Any]) -> Array:
    """Both sides of the place where bits read as signed and as unsigned part: of 0, or of half the
    range.
    """
    middle = 0 if form.min < 0 else (form.max + 1) // 2
    return middle - 8 + draws.below(16, *shape)


def _anywhere(draws: Draws, shape: tuple[int, int], form: np.iinfo[Any]) -> Array:
    return form.min + draws.below(form.max - form.min + 1, *shape)


def _ends(draws: Draws, shape: tuple[int, int], form: np.iinfo[Any]) -> Array:
    """The lowest value, mostly, and the largest."""
    return np.where(draws.below(4, *shape) == 0, form.max, form.min)


def _lowest(draws: Draws, shape: tuple[int, int], form: np.iinfo[Any]) -> Array:
    return np.full(shape, form.min)


def _any_one(draws: Draws, shape: tuple[int, int], form: np.iinfo[Any]) -> Array:
    return np.full(shape, _anywhere(draws, (1, 1), form))


INTEGER_RAMP = 97  # 7 bits hold it, and 4 more

INTEGERS: dict[str, Callable[[Draws, tuple[int, int], np.iinfo[Any]], Array]] = {
    "ramp": _integer_ramp,
    "mixed-signs": _around_the_middle,
    "random": _anywhere,
    "ends": _ends,
    "lowest": _lowest,
    "all-equal": _any_one,
}
"""The families of integers of up to 32 bits, by name."""
