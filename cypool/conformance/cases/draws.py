"""Numbers that look random and are the same for ever: SHAKE-256 of a seed.

numpy's own generators may change with numpy; this one can be repeated in any language.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class Draws:
    """A stream of draws; two with the same seed give the same.

    The n-th call takes its 64-bit little-endian words from SHAKE-256 of ``seed#n``, n counted from
    0.
    """

    def __init__(self, seed: str) -> None:
        """The stream of that seed, at its start."""
        self._seed = seed
        self._calls = 0

    def _words(self, shape: tuple[int, ...]) -> Array:
        digest = hashlib.shake_256(f"{self._seed}#{self._calls}".encode()).digest(8 * math.prod(shape))
        self._calls += 1
        return np.frombuffer(digest, "<u8").reshape(shape)

    def below(self, limit: int, *shape: int) -> Array:
        """Integers in [0, limit), as int64.

        >>> Draws("seed").below(10, 5).tolist() == Draws("seed").below(10, 5).tolist()
        True
        """
        return (self._words(shape) % np.uint64(limit)).astype(np.int64)

    def fractions(self, *shape: int) -> Array:
        """Multiples of 2**-53 in [0, 1)."""
        return (self._words(shape) >> np.uint64(11)) * 2.0**-53

    def signs(self, *shape: int) -> Array:
        """1.0 and -1.0."""
        return 1.0 - 2.0 * self.below(2, *shape)
