"""The p-norm of a multiset of numbers, rounded once, for any p > 0.

It knows neither shapes nor ONNX. Equal magnitudes are counted, never repeated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from flint import arb, fmpq

from cypool.conformance.oracle.rounding import Format, nearest, rounded

EXACT_POWERS = 128  # up to this integer p the sum is kept as one exact integer
EXACT_BITS = 1 << 20  # the size of integers up to which equality is settled exactly


def norm(counts: Mapping[float, int], p: Fraction, form: Format, share: Fraction | int = 1) -> float:
    """(sum of count * magnitude**p / share) ** (1/p), rounded to ``form``; the magnitudes are
    finite and >= 0.

    >>> from cypool.conformance.oracle.rounding import FORMATS
    >>> norm({3.0: 1, 4.0: 1}, Fraction(2), FORMATS[np.dtype(np.float32)])
    5.0
    """
    counts = {magnitude: count for magnitude, count in counts.items() if magnitude}
    if not counts:
        return 0.0
    if p.denominator == 1 and p <= EXACT_POWERS:
        total, exponent = power_sum(counts, int(p))
        return root(Fraction(total, share), int(p), exponent, form)
    return _radical(counts, p, form, share)


def power_sum(counts: Mapping[float, int], p: int) -> tuple[int, int]:
    """(total, exponent) with ``sum of count * value**p == total * 2**(exponent * p)``; values may
    be negative.
    """
    fractions, exponents = np.frexp(np.array(list(counts), np.float64))
    significands = np.ldexp(fractions, 53).astype(np.int64).tolist()
    sums: dict[int, int] = {}
    for significand, exponent, count in zip(significands, (exponents - 53).tolist(), counts.values(), strict=True):
        sums[exponent] = sums.get(exponent, 0) + count * significand**p
    least = min(sums)
    return sum(part << p * (exponent - least) for exponent, part in sums.items()), least


def root(total: Fraction, p: int, exponent: int, form: Format) -> float:
    """``total ** (1/p) * 2**exponent``, rounded to ``form``; total >= 0."""
    if p == 1 and total.denominator == 1:
        return nearest(total.numerator, exponent, form)
    scale = arb(2) ** exponent
    exact = fmpq(total.numerator, total.denominator)
    return rounded(lambda: arb(exact).root(p) * scale, lambda middle: (middle / Fraction(2) ** exponent) ** p == total, form)


def _radical(counts: Mapping[float, int], p: Fraction, form: Format, share: Fraction | int) -> float:
    """Return the norm where powers are irrational, or too large to write down: through logarithms
    of sums relative to the largest magnitude.
    """
    top = max(counts)
    power, part = fmpq(p.numerator, p.denominator), fmpq(share.numerator, share.denominator)

    def enclose() -> arb:
        relative = sum((count * (arb(magnitude) / top) ** arb(power) for magnitude, count in counts.items()), arb(0)) / part
        logarithm = relative.log() / power + arb(top).log()
        if logarithm > (form.limit + 1) * arb(2).log():
            return arb(2) ** (form.limit + 1)
        if logarithm < (form.least - 2) * arb(2).log():
            return arb(2) ** (form.least - 2)
        return logarithm.exp()

    return rounded(enclose, lambda middle: _is_norm(middle, counts, p, share), form)


def _is_norm(value: Fraction, counts: Mapping[float, int], p: Fraction, share: Fraction | int) -> bool:
    """Tell whether the norm is ``value``, exactly.

    With p = a/q in lowest terms that asks whether the sum of count * (magnitude/value)**(a/q) is
    ``share``. Positive real radicals add up to a rational only where each is rational, and
    (magnitude/value)**(a/q) is rational only where magnitude/value is a q-th power.
    """
    bases: list[tuple[Fraction, int]] = []
    for magnitude, count in counts.items():
        base = _rational_root(Fraction(magnitude) / value, p.denominator)
        if base is None:
            return False
        bases.append((base, count))
    common = math.lcm(*(base.denominator for base, _ in bases))
    if common.bit_length() * p.numerator > EXACT_BITS:
        return False  # never seen equal; were it so, `rounded` would refuse rather than guess
    total = sum(count * int(base * common) ** p.numerator for base, count in bases)
    return bool(total == share * common**p.numerator)


def _rational_root(value: Fraction, q: int) -> Fraction | None:
    """Return the q-th root of a positive fraction, q a power of two, or None where it is
    irrational.
    """
    while q > 1 and value != 1:
        numerator, denominator = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if numerator**2 != value.numerator or denominator**2 != value.denominator:
            return None
        value, q = Fraction(numerator, denominator), q // 2
    return value
