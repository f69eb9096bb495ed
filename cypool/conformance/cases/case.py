"""Record one conformance case: a node, its inputs, and what the standard says must come of it.

The runner, the exporter and reports read cases without making them.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

import numpy.typing as npt

from cypool.conformance.tensors import Tensor
from cypool.spec.model import AttributeValue, Version

T = TypeVar("T")
Array: TypeAlias = npt.NDArray[Any]


class Later(Generic[T]):
    """A value that is made when it is first asked for, and kept.

    >>> later = Later(lambda: 6 * 7)
    >>> later.value
    42
    """

    def __init__(self, make: Callable[[], T]) -> None:
        """Remember how to make the value."""
        self._make = make

    @functools.cached_property
    def value(self) -> T:
        """The value."""
        return self._make()


class Deferred(Generic[T]):
    """A field of a dataclass that may be given as a ``Later``; reading the field gives
    its value.
    """

    def __init__(self, *default: T) -> None:
        """Remember the field's default, if there is one."""
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        """Remember under which name the instance keeps it."""
        self._name = name

    def __get__(self, instance: object | None, owner: type) -> T:
        """Return the value; of the class, the default, by which ``dataclass`` finds it:
        AttributeError where there is none.
        """
        if instance is None:
            if not self._default:
                raise AttributeError(self._name)
            return self._default[0]
        held = instance.__dict__[self._name]
        value: T = held.value if isinstance(held, Later) else held
        return value

    def __set__(self, instance: object, value: T | Later[T]) -> None:
        """Keep the value, or how to make it."""
        instance.__dict__[self._name] = value


@dataclass(frozen=True, slots=True)
class TypedValue:
    """An attribute as a model carries it: ONNX's type name beside the value, which invalid cases
    get wrong on purpose.
    """

    type: str  # INT, FLOAT, INTS, FLOATS, STRING
    value: AttributeValue


@dataclass(frozen=True)
class Case:
    """A node of one operator version on given inputs.

    ``asked`` names the outputs that the node has, where they are not just those that every node of
    the version has. An optional input that is left out is none of ``inputs``.

    ``fault`` is None for a valid case; otherwise a word or two for the one thing that is wrong, and
    a runtime must refuse. ``rulings`` names the rulings that the case turns on (none: the text
    alone decides) and ``alternatives`` those of their other readings that the oracle can compute.
    Those two and the inputs may be given as a ``Later``: most cases are only looked at by their
    ids, and then nothing is drawn. ``answer`` computes outputs on demand: given None as cypool
    reads the standard, given a reading's name as that reading has it.
    """

    id: str  # GlobalLpPool-22/bfloat16/rank4/p3/mixed-signs
    version: Version
    type: str  # the element type under test, ONNX's short name
    inputs: Deferred[tuple[Tensor, ...]] = Deferred()
    attributes: tuple[tuple[str, TypedValue], ...] = ()
    tags: frozenset[str] = frozenset()
    rulings: Deferred[tuple[str, ...]] = Deferred(())
    alternatives: Deferred[tuple[str, ...]] = Deferred(())
    fault: str | None = None
    answer: Callable[[str | None], tuple[Tensor, ...]] | None = field(default=None, repr=False, compare=False)
    opset: int | None = None  # of the model; None: the version's first
    variant: str = ""  # of the model, by its name in ``variants``
    asked: tuple[str, ...] = ()
    core: bool = field(default=True, compare=False)  # whether a run has it that is not asked for all cases

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs that the node has."""
        return self.asked or tuple(operand.name for operand in self.version.outputs if not operand.optional)

    @property
    def arrays(self) -> list[Array | None]:
        """The inputs in the order of the version's, None for one that is left out."""
        given = {tensor.name: tensor for tensor in self.inputs}
        return [given[operand.name].array if operand.name in given else None for operand in self.version.inputs]

    def tensors(self, arrays: Iterable[Array]) -> tuple[Tensor, ...]:
        """Name the arrays of all outputs that the version has, and keep those of the node's."""
        named = {operand.name: array for operand, array in zip(self.version.outputs, arrays, strict=True)}
        return tuple(Tensor.of(name, named[name]) for name in self.outputs)

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

    def at(self, id: str, opset: int, variant: str, answer: Callable[[str | None], tuple[Tensor, ...]] | None) -> Case:
        """Return the same case in another model; ``dataclasses.replace`` would read, and so make,
        what is to be made later.
        """
        other = copy.copy(self)
        other.__dict__.update(id=id, opset=opset, variant=variant, answer=answer)
        return other
