"""Choose the elements of a tensor that a report shows, as text in the digits of its type.

A small tensor is shown whole, of a large one a stretch around the place to look at.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cypool.conformance.tensors import Tensor

LONGEST = 32
"""How many elements an excerpt shows at most."""

BEFORE = 4
"""How many of them stand before the place to look at, where it is not near an end."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Elements of a tensor in row-major order, from the flat index ``start`` on."""

    name: str
    type: str
    shape: tuple[int, ...]
    start: int
    values: tuple[str, ...]

    @classmethod
    def of(cls, tensor: Tensor, at: int = 0) -> Excerpt:
        """Return the excerpt that holds the element of flat index ``at``.

        >>> import numpy as np
        >>> Excerpt.of(Tensor.of("X", np.array([[0.1, -0.0, np.nan]], np.float32)))
        Excerpt(name='X', type='float', shape=(1, 3), start=0, values=('0.1', '-0.0', 'nan'))
        """
        start = max(0, min(at - BEFORE, math.prod(tensor.shape) - LONGEST))
        shown = tensor.array.reshape(-1)[start : start + LONGEST]
        return cls(tensor.name, tensor.type, tensor.shape, start, tuple(str(value) for value in shown))

    def to_json(self) -> dict[str, Any]:
        """Its form in a record; the elements as one string."""
        return {**asdict(self), "values": " ".join(self.values)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Excerpt:
        """Return the inverse of ``to_json``."""
        return cls(record["name"], record["type"], tuple(record["shape"]), record["start"], tuple(record["values"].split()))

    @property
    def whole(self) -> bool:
        """Tell whether it shows every element."""
        return len(self.values) == math.prod(self.shape)

    def __str__(self) -> str:
        """The excerpt in a line, dots for what is left out.

        >>> str(Excerpt("Y", "float", (1, 90), 7, ("1.0", "nan")))
        'Y float[1, 90] = … 1.0 nan …'
        """
        after = self.start + len(self.values) < math.prod(self.shape)
        return f"{self.name} {self.type}{list(self.shape)} = " + " ".join(["…"] * (self.start > 0) + [*self.values] + ["…"] * after)
