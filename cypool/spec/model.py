"""The vocabulary of the spec: frozen records that hold what one operator version says.

Plain data apart from the loader, so that everything that reads a version (plan, cases, docs, checker) needs nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

AttributeValue: TypeAlias = int | float | str | tuple[int, ...] | tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of an operator version.

    ``type`` is ONNX's name of it (``INT``, ``FLOAT``, ``INTS``, ``STRING``). The limits are how cypool reads which values are legal; they
    hold for each element of a list.
    """

    name: str
    type: str
    required: bool
    default: AttributeValue | None
    doc: str
    minimum: float | None = None  # value >= minimum
    above: float | None = None  # value > above
    finite: bool = False  # infinity is refused (NaN always is, where a limit is given)
    length: int | None = None  # of a list


@dataclass(frozen=True, slots=True)
class Operand:
    """One input or output: its name, the type constraint it belongs to, its shape rule (see ``shapes``) and what it holds."""

    name: str
    type: str
    shape: str
    doc: str
    differentiable: bool | None = None  # None: the standard does not say
    columns: tuple[str, ...] = ()
    """What each column of a two-dimensional operand may hold: ``finite``, or ``index N``: an integer in [0, N), N a dimension's name."""


@dataclass(frozen=True, slots=True)
class TypeConstraint:
    """A type variable and the element types it may stand for, in ONNX's short names (``float16``, ``float``, ``double``, ``bfloat16``)."""

    name: str
    allowed: tuple[str, ...]
    doc: str


@dataclass(frozen=True, slots=True)
class Reading:
    """Another way to read a silence, and who follows it."""

    name: str
    text: str
    followed_by: tuple[str, ...] = ()
    legitimate: bool = True
    """Whether the text allows it. False: a known fault, recorded so that a verdict can name it."""
    refuses: tuple[tuple[str, str], ...] = ()
    """What it does not take though the ruling does: inputs by name, each with the shape rule of what is refused."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """How cypool reads a place where the text is silent."""

    id: str
    question: str
    choice: str
    evidence: str
    readings: tuple[Reading, ...]
    since_versions: tuple[int, ...]
    chosen: str = ""
    """The choice in a word, as readings are named, for reports: ``float32`` of ``bin-precision``."""


@dataclass(frozen=True, slots=True)
class Example:
    """A small input that shows the operator at work; its answer is computed by the oracle, never written down here."""

    title: str
    inputs: tuple[tuple[str, tuple[int, ...], tuple[float, ...]], ...]  # name, shape, data row-major
    attributes: tuple[tuple[str, AttributeValue], ...]


@dataclass(frozen=True, slots=True)
class InferenceGap:
    """A place where ONNX's shape inference says less than the shape rules here, with input shapes and attributes that show it."""

    text: str
    shapes: tuple[tuple[int, ...], ...]
    attributes: tuple[tuple[str, AttributeValue], ...] = ()


@dataclass(frozen=True, slots=True)
class Version:
    """Everything that one version of an operator says, resolved (no deltas left)."""

    op: str
    domain: str
    since_version: int
    until_version: int | None  # last opset where it is in force; None: still in force
    function: bool
    support_level: str
    deprecated: bool
    shape_inference: bool
    summary: str
    attributes: tuple[Attribute, ...]
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    types: tuple[TypeConstraint, ...]
    examples: tuple[Example, ...]
    rulings: tuple[Ruling, ...]
    inference_gaps: tuple[InferenceGap, ...]

    @property
    def name(self) -> str:
        """``GlobalLpPool-2``: how errors, cases and reports call it."""
        return f"{self.op}-{self.since_version}"

    def attribute(self, name: str) -> Attribute | None:
        """The attribute of that name, or None."""
        return next((a for a in self.attributes if a.name == name), None)

    def constraint(self, name: str) -> TypeConstraint:
        """The type constraint of that name; KeyError where the version has none."""
        for constraint in self.types:
            if constraint.name == name:
                return constraint
        raise KeyError(name)

    def ruling(self, id: str) -> Ruling | None:
        """The ruling of that id if it holds for this version, or None."""
        return next((r for r in self.rulings if r.id == id), None)


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator: its versions, oldest first."""

    name: str
    domain: str
    versions: tuple[Version, ...]
