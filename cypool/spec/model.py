"""The vocabulary of the spec: frozen records that hold what one operator version says.

Plain data apart from the loader, so that everything that reads a version (plan, cases, docs,
checker) needs nothing else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

AttributeValue: TypeAlias = int | float | str | tuple[int, ...] | tuple[float, ...]


def snake(op: str) -> str:
    """Return an operator's name in snake case."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", op).lower()


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of an operator version.

    ``type`` is ONNX's name of it (``INT``, ``FLOAT``, ``INTS``, ``STRING``). The limits are how
    cypool reads which values are legal (``limits`` judges by them); they hold for each element of a
    list.
    """

    name: str
    type: str
    required: bool
    default: AttributeValue | None
    doc: str
    minimum: float | None = None  # value >= minimum
    above: float | None = None  # value > above
    finite: bool = False  # infinity is refused (NaN always is, where a limit is given)
    length: int | str | None = None  # of a list; "D", "2 D": as many as the star D* has dimensions, or twice as many
    each: int | float | None = None  # the default of a list of such a length: that many of this value
    one_of: tuple[int, ...] | tuple[str, ...] = ()  # the values there are; empty: any


@dataclass(frozen=True, slots=True)
class Operand:
    """One input or output: its name, the type constraint it belongs to, its shape rule (see
    ``shapes``) and what it holds.
    """

    name: str
    type: str
    shape: str
    doc: str
    differentiable: bool | None = None  # None: the standard does not say
    columns: tuple[tuple[str, str], ...] = ()
    """The columns of a two-dimensional operand: the name of each and what it may hold, as ``holds``
    says it.
    """
    holds: str = ""
    """What every element may be, if the text limits it.

    ``finite``; ``index N``: an integer in [0, N), N a dimension's name; ``index output``: the same
    for the number of elements of that output; ``shape output``: the elements are the shape of that
    output.
    """
    bound: str = ""  # what a row of a table may ask for at the most, in words; kernels judge it
    optional: bool = False  # whether a node may leave it out
    homogeneous: bool = True  # whether all of a repeated operand are of one type; ONNX states it of every operand


@dataclass(frozen=True, slots=True)
class TypeConstraint:
    """A type variable and the element types it may stand for, in ONNX's short names (``float16``,
    ``float``, ``double``, ``bfloat16``).
    """

    name: str
    allowed: tuple[str, ...]
    doc: str


@dataclass(frozen=True, slots=True)
class Windows:
    """The attributes that make an operator's windows, by name; ``windows`` has the arithmetic.

    None: there is no such attribute.
    """

    kernel: str
    strides: str | None = None
    pads: str | None = None
    auto_pad: str | None = None
    dilations: str | None = None
    ceil_mode: str | None = None
    inverse: bool = False
    """Whether the input has an element for each window and the output is what the
    windows lie in.
    """


REFUSABLE_WINDOWS = ("pads-reach-kernel", "kernel-beyond-input", "cropped", "windows-beyond-output")
"""Windows that a reading may refuse, along any axis: with pads of the kernel's size or more; with a
kernel, dilations counted, larger than the padded input; with an auto_pad of SAME that would need
less than no padding; of an operator that undoes pooling, those that end beyond its padded output.
"""


@dataclass(frozen=True, slots=True)
class Reading:
    """Another way to read a silence, and the runtimes that follow it."""

    name: str
    text: str
    followed_by: tuple[str, ...] = ()
    legitimate: bool = True
    """Whether the text allows it. False: a known fault, recorded so that a verdict can name it."""
    refuses: tuple[tuple[str, str], ...] = ()
    """What it does not take though the ruling does: inputs by name, each with the shape rule of
    what is refused; a name may come several times.
    """
    refuses_windows: str = ""
    """The windows that it does not take though the ruling does, one of ``REFUSABLE_WINDOWS``."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The way cypool reads a place where the text is silent."""

    id: str
    question: str
    choice: str
    evidence: str
    readings: tuple[Reading, ...]
    since_versions: tuple[int, ...]
    chosen: str = ""
    """The choice in a word, as readings are named, for reports: ``float32`` of
    ``bin-precision``.
    """


@dataclass(frozen=True, slots=True)
class Example:
    """A small input that shows the operator at work; its answer is computed by the oracle, never
    written down here.
    """

    title: str
    inputs: tuple[tuple[str, tuple[int, ...], tuple[float, ...]], ...]  # name, shape, data row-major
    attributes: tuple[tuple[str, AttributeValue], ...]


@dataclass(frozen=True, slots=True)
class InferenceGap:
    """A place where ONNX's shape inference says less than the shape rules here, with input shapes
    and attributes that show it.
    """

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
    windows: Windows | None = None

    @property
    def name(self) -> str:
        """``GlobalLpPool-2``: how errors, cases and reports call it."""
        return f"{self.op}-{self.since_version}"

    def attribute(self, name: str) -> Attribute | None:
        """Return the attribute of that name, or None."""
        return next((a for a in self.attributes if a.name == name), None)

    @property
    def least_inputs(self) -> int:
        """The number of inputs that every node has."""
        return sum(not operand.optional for operand in self.inputs)

    @property
    def least_outputs(self) -> int:
        """The number of outputs that every node has."""
        return sum(not operand.optional for operand in self.outputs)

    def input(self, name: str) -> Operand | None:
        """Return the input of that name, or None."""
        return next((operand for operand in self.inputs if operand.name == name), None)

    def constraint(self, name: str) -> TypeConstraint:
        """Return the type constraint of that name; KeyError where the version has none."""
        for constraint in self.types:
            if constraint.name == name:
                return constraint
        raise KeyError(name)

    def ruling(self, id: str) -> Ruling | None:
        """Return the ruling of that id if it holds for this version, or None."""
        return next((r for r in self.rulings if r.id == id), None)


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator: its versions, oldest first."""

    name: str
    domain: str
    versions: tuple[Version, ...]

    @property
    def snake(self) -> str:
        """The name in snake case, by which modules and functions of the operator are found.

        >>> Operator("MaxRoiPool", "ai.onnx", ()).snake
        'max_roi_pool'
        """
        return snake(self.name)
