"""One conformance case: a node, its inputs, and what the standard says must come of it.

The record is apart from the generator (``cases``) so that the runner, the exporter and reports read cases without making them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field

from cypool.conformance.tensors import Tensor
from cypool.spec.model import AttributeValue, Version


@dataclass(frozen=True, slots=True)
class TypedValue:
    """An attribute as a model carries it: ONNX's type name beside the value, which invalid cases get wrong on purpose."""

    type: str  # INT, FLOAT, INTS, FLOATS, STRING
    value: AttributeValue


@dataclass(frozen=True)
class Case:
    """A node of one operator version on given inputs.

    ``fault`` is None for a valid case; otherwise a word or two for the one thing that is wrong, and a runtime must refuse.
    ``rulings`` names the rulings that the case turns on (none: the text alone decides) and ``alternatives`` those of their other readings
    that the oracle can compute. ``answer`` computes outputs on demand, so that listing cases costs no arithmetic: given None as cypool
    reads the standard, given a reading's name as that reading has it.
    """

    id: str  # GlobalLpPool-22/bfloat16/rank4/p3/mixed-signs
    version: Version
    type: str  # the element type under test, ONNX's short name
    inputs: tuple[Tensor, ...]
    attributes: tuple[tuple[str, TypedValue], ...]
    tags: frozenset[str] = frozenset()
    rulings: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    fault: str | None = None
    answer: Callable[[str | None], tuple[Tensor, ...]] | None = field(default=None, repr=False, compare=False)
    opset: int | None = None  # of the model; None: the version's first
    variant: str = ""  # of the model, by its name in ``variants``

    @functools.cached_property
    def expected(self) -> tuple[Tensor, ...]:
        """The exact outputs, rounded once; ValueError for an invalid case, which has none."""
        if self.answer is None:
            raise ValueError(f"{self.id} is invalid on purpose and has no outputs")
        return self.answer(None)

    @functools.cached_property
    def readings(self) -> dict[str, tuple[Tensor, ...]]:
        """What each computable other reading gives, by its name."""
        return {} if self.answer is None else {name: self.answer(name) for name in self.alternatives}
