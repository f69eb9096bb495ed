"""Exact numbers rounded once to a floating-point format, to nearest, ties to even.

Each operator ends here, and only this module knows how a format is laid out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx

from cypool.conformance.tensors import DTYPES

GUARD_BITS = 32
MOST_BITS = 1 << 18


@dataclass(frozen=True, slots=True)
class Format:
    """A binary format: its values are n * 2**k with n < 2**precision and k >= least, below
    2**limit.
    """

    precision: int
    least: int
    limit: int

    def unit(self, exponent: int) -> int:
        """Return the power of two whose multiples the format holds in [2**(exponent - 1),
        2**exponent).
        """
        return max(exponent - self.precision, self.least)

    @property
    def lowest(self) -> float:
        """The most negative finite value."""
        return -math.ldexp(2**self.precision - 1, self.limit - self.precision)

    def above(self, value: float) -> Fraction:
        """Half-way from a finite ``value`` >= 0 to the next one above it, the first beyond the
        largest counted as 2**limit.
        """
        exponent = math.frexp(value)[1] if value else self.least
        return Fraction(value) + Fraction(2) ** (self.unit(exponent) - 1)


FORMATS: dict[np.dtype[Any], Format] = {
    DTYPES["float16"]: Format(11, -24, 16),
    DTYPES["bfloat16"]: Format(8, -133, 128),
    DTYPES["float"]: Format(24, -149, 128),
    DTYPES["double"]: Format(53, -1074, 1024),
}


def nearest(significand: int, exponent: int, form: Format) -> float:
    """``significand * 2**exponent`` (>= 0) rounded to ``form``; a Python float holds the value of
    any of the formats.

    >>> half = FORMATS[np.dtype(np.float16)]
    >>> nearest(2049, 0, half), nearest(1, 16, half)
    (2048.0, inf)
    """
    bits = significand.bit_length()
    unit = form.unit(bits + exponent)
    shift = unit - exponent
    if shift > bits:  # below half of the smallest unit
        return 0.0
    if shift > 0:
        half = 1 << (shift - 1)
        steps, rest = significand >> shift, significand & ((half << 1) - 1)
        steps += rest > half or (rest == half and steps & 1)
    else:
        steps = significand << -shift
    return math.inf if steps.bit_length() + unit > form.limit else math.ldexp(steps, unit)


def nearest_dyadic(value: Fraction, form: Format) -> float:
    """Return a fraction >= 0 whose denominator is a power of two, rounded to ``form``."""
    return nearest(value.numerator, 1 - value.denominator.bit_length(), form)


def nearest_fraction(value: Fraction, form: Format) -> float:
    """Round any fraction to ``form``, once; the sign of a negative one that rounds to zero is kept.

    >>> nearest_fraction(Fraction(-1, 3), FORMATS[np.dtype(np.float16)])
    -0.333251953125
    """
    numerator, denominator = abs(value.numerator), value.denominator
    shift = max(form.precision + 2 + denominator.bit_length() - numerator.bit_length(), 0)
    quotient, rest = divmod(numerator << shift, denominator)
    # The quotient has more bits than the format, so of all that follows it only whether it is zero
    # matters.
    magnitude = nearest(2 * quotient + (rest != 0), -shift - 1, form)
    return -magnitude if value < 0 else magnitude


def rounded(enclose: Callable[[], arb], equals: Callable[[Fraction], bool], form: Format) -> float:
    """Return the real number >= 0 that ``enclose`` computes as a ball, rounded to ``form``.

    The working precision doubles until both ends of the ball round alike. That never happens for a
    number half-way between two neighbours, so ``equals`` is asked, once for each such middle,
    whether the number is that one exactly. ArithmeticError where 2**18 bits decide nothing.
    """
    bits = form.precision + GUARD_BITS
    asked: Fraction | None = None
    while bits <= MOST_BITS:
        with ctx.workprec(bits):
            ball = enclose()
            ends = [end.man_exp() for end in (ball.lower(), ball.upper())] if ball.is_finite() else [(0, 0), (1, form.limit)]
        low, high = (nearest(max(int(significand), 0), int(exponent), form) for significand, exponent in ends)
        if low == high:
            return low
        middle = form.above(low)
        if middle != asked and high == nearest_dyadic(2 * middle - Fraction(low), form):
            if equals(middle):
                return nearest_dyadic(middle, form)
            asked = middle
        bits *= 2
    raise ArithmeticError(f"no rounding decided with {MOST_BITS} bits")
