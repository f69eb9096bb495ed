"""Evaluate the shape rules that the spec data states, on numbers and on symbolic dimensions alike.

Calls, models, cases and docs all ask it, and none of them reads a data file.

A rule is a row of terms: ``5`` is that size; ``N`` names a dimension, the same wherever it stands,
or an attribute that holds a size; ``pooled_shape[0]`` is an element of an attribute. The last term
may have a star: ``D*`` is any number of dimensions, as many for every operand, ``D+`` the same with
one at the least; ``1*`` is that many ones; ``windows*`` is the number of windows along each (see
``windows``).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn, TypeAlias

from cypool.errors import SpecValueError
from cypool.spec import windows
from cypool.spec.model import AttributeValue, Operand, Version

Dimension: TypeAlias = int | str | None
Shape: TypeAlias = tuple[Dimension, ...]
"""A shape: sizes, names of symbolic dimensions, None where nothing is known."""


class Term(NamedTuple):
    """One term of a rule: a size or a name, and which element of what it names."""

    what: int | str
    element: int | None = None


WINDOWS = "windows"
"""The name before the star of a rule whose sizes are numbers of windows."""


class Rule(NamedTuple):
    """A rule taken apart: the terms that stand for one dimension each, and the one
    before the star.
    """

    fixed: tuple[Term, ...]
    star: Term | None
    least: int = 0  # dimensions that the star stands for at the least

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms, the star's last."""
        return self.fixed if self.star is None else (*self.fixed, self.star)


@functools.cache
def parse(rule: str) -> Rule:
    """Take a rule apart; SpecValueError where it is none.

    >>> rule = parse("N pooled_shape[0] 1*")
    >>> rule.fixed
    (Term(what='N', element=None), Term(what='pooled_shape', element=0))
    >>> rule.star, rule.least
    (Term(what=1, element=None), 0)
    """
    words = rule.split()
    sign = words[-1][-1] if words and words[-1][-1] in "*+" else ""
    if sign:
        words[-1] = words[-1][:-1]
    terms = []
    for word in words:
        match = re.fullmatch(r"(\d+)|([A-Za-z_]\w*)(?:\[(\d+)\])?", word)
        if not match:
            raise SpecValueError(f"{word!r} is no term of a shape rule")
        size, name, index = match.groups()
        terms.append(Term(int(size) if size else name, int(index) if index else None))
    return Rule(tuple(terms[:-1]), terms[-1], int(sign == "+")) if sign else Rule(tuple(terms), None)


@functools.cache
def _terms(rule: str, many: int) -> tuple[Term, ...]:
    """Return the rule's terms with the star written out that many times, its dimensions named
    ``D*1``, ``D*2``.
    """
    fixed, star, _ = parse(rule)
    if star is None:
        return fixed
    return fixed + tuple(star if isinstance(star.what, int) else Term(f"{star.what}*{i}") for i in range(1, many + 1))


class Bound(NamedTuple):
    """The dimensions that input shapes fix."""

    sizes: Mapping[str, Dimension]  # by name; those of a star D* are D*1, D*2, ...
    spatial: int | None  # dimensions that the star stands for; None where no input has one


def bind(version: Version, input_shapes: Sequence[Shape | None]) -> Bound:
    """Return the dimensions that the shapes of a call's inputs fix; None stands for an input that
    is left out.

    A dimension that is not a number fits everywhere. SpecValueError where the number of inputs, or
    a shape, does not fit.

    >>> from cypool import spec
    >>> bind(spec.resolve("MaxRoiPool"), [(1, 2, 8, 8), (3, 5)]).sizes
    {'N': 1, 'C': 2, 'H': 8, 'W': 8, 'num_rois': 3}
    """
    check_count(version, len(input_shapes), [shape is not None for shape in input_shapes])
    known: dict[str, Dimension] = {}
    many: int | None = None
    for operand, shape in zip(version.inputs, input_shapes, strict=False):
        if shape is None:
            continue
        fixed, star, least = parse(operand.shape)
        extra = len(shape) - len(fixed)
        if extra < least or (extra if star is None else many not in (None, extra)):
            _refuse(version, operand, shape)
        if star is not None:
            many = extra
        for (what, _), size in zip(_terms(operand.shape, extra), shape, strict=True):
            before = what if isinstance(what, int) else known.get(what)
            if before != size and isinstance(before, int) and isinstance(size, int):
                _refuse(version, operand, shape, "" if before == what else f", {str(what).replace('*', '')} being {before}")
            if isinstance(what, str):
                known[what] = size if isinstance(size, int) or before is None else before
    return Bound(known, many)


def check_count(version: Version, many: int, given: Sequence[bool]) -> None:
    """Raise SpecValueError where the number of inputs, or one that is left out, does not fit the
    version.
    """
    least, most = version.least_inputs, len(version.inputs)
    names = ", ".join(f"{operand.name}{'?' if operand.optional else ''}" for operand in version.inputs)
    if not least <= many <= most:
        wish = str(most) if least == most else f"{least} to {most}"
        raise SpecValueError(f"{version.name}: {many} inputs, expected {wish} ({names})")
    for operand, is_given in zip(version.inputs, given, strict=False):
        if not is_given and not operand.optional:
            raise SpecValueError(f"{version.name}: {operand.name} is missing, expected {names}")


def infer(
    version: Version,
    input_shapes: Sequence[Shape | None],
    attributes: Mapping[str, AttributeValue],
    stated: Mapping[str, Sequence[int]] | None = None,
) -> tuple[Shape, ...]:
    """Return the output shapes of a call, one for each output that the version has.

    ``attributes`` holds the attributes that the rules name, defaults filled in and values checked
    already. ``stated`` holds, by the name of an input that is a shape, its elements. A dimension
    that is not a number fits everywhere. SpecValueError where the number of inputs, a shape, or the
    windows do not fit.

    >>> from cypool import spec
    >>> infer(spec.resolve("GlobalLpPool"), [("N", 3, 7, 7)], {"p": 2})
    (('N', 3, 1, 1),)
    >>> infer(spec.resolve("MaxRoiPool"), [(1, 2, 8, 8), (3, 4)], {"pooled_shape": (2, 2)})
    Traceback (most recent call last):
    cypool.errors.SpecValueError: MaxRoiPool-22: rois has shape (3, 4), expected (num_rois, 5)
    """
    bound = bind(version, input_shapes)
    given = {operand.name for operand, shape in zip(version.inputs, input_shapes, strict=False) if shape is not None}
    by_value = {operand.holds.removeprefix("shape "): operand for operand in version.inputs if operand.holds.startswith("shape ")}
    found: list[Shape] = []
    for output in version.outputs:
        operand = by_value.get(output.name)
        if operand is None or operand.name not in given:
            found.append(_output(version, output, bound, attributes))
        elif stated is None or operand.name not in stated:
            found.append((*(_size(term, bound.sizes, attributes) for term in parse(output.shape).fixed), *(None,) * (bound.spatial or 0)))
        else:
            found.append(_stated(version, operand, output, bound, attributes, stated[operand.name]))
    return tuple(found)


def _output(version: Version, output: Operand, bound: Bound, attributes: Mapping[str, AttributeValue]) -> Shape:
    """Return the shape of an output by its rule."""
    fixed, star, _ = parse(output.shape)
    if star is None or star.what != WINDOWS:
        return tuple(_size(term, bound.sizes, attributes) for term in _terms(output.shape, bound.spatial or 0))
    spatial = [bound.sizes[name] for name in spatial_names(version, bound.spatial or 0)]
    assert version.windows is not None
    if not version.windows.inverse:
        counts: Sequence[Dimension] = windows.counts(version, spatial, attributes)
    elif all(isinstance(size, int) for size in spatial):
        counts = windows.inverse_sizes(version, spatial, attributes)  # type: ignore[arg-type]
    else:
        counts = (None,) * len(spatial)
    return (*(_size(term, bound.sizes, attributes) for term in fixed), *counts)


def _stated(
    version: Version, operand: Operand, output: Operand, bound: Bound, attributes: Mapping[str, AttributeValue], sizes: Sequence[int]
) -> Shape:
    """Return the shape of an output that the elements of an input state.

    They have to agree with what the rule fixes.
    """
    fixed = [_size(term, bound.sizes, attributes) for term in parse(output.shape).fixed]
    many = len(fixed) + (bound.spatial or 0)
    fits = len(sizes) == many and all(size >= 0 for size in sizes)
    if not fits or any(isinstance(known, int) and known != size for known, size in zip(fixed, sizes, strict=False)):
        wish = _tuple([*("?" if size is None else str(size) for size in fixed), *(f"D{i + 1}" for i in range(many - len(fixed)))])
        raise SpecValueError(f"{version.name}: {operand.name} is {list(sizes)}, expected {wish} with sizes of 0 or more")
    return tuple(sizes)


def spatial(version: Version, input_shapes: Sequence[Shape | None]) -> int | None:
    """Return how many dimensions the star of the inputs stands for; None where there is no star, or
    too low a rank.
    """
    for operand, shape in zip(version.inputs, input_shapes, strict=False):
        fixed, star, least = parse(operand.shape)
        if star is not None and shape is not None:
            extra = len(shape) - len(fixed)
            return extra if extra >= least else None
    return None


def spatial_names(version: Version, many: int) -> tuple[str, ...]:
    """Return the names of the dimensions that the star of the first input stands for, as
    ``Bound.sizes`` has them.
    """
    star = parse(version.inputs[0].shape).star
    return () if star is None else tuple(f"{star.what}*{i}" for i in range(1, many + 1))


def fits(rule: str, shape: Sequence[int]) -> bool:
    """Tell whether a shape has the rank that a rule asks for, and the sizes that it states.

    >>> fits("N C 1*", (2, 3, 1, 1)), fits("N C D1 D*", (2, 3))
    (True, False)
    """
    fixed, star, least = parse(rule)
    extra = len(shape) - len(fixed)
    if extra < least or (extra and star is None):
        return False
    return all(what == size or isinstance(what, str) for (what, _), size in zip(_terms(rule, extra), shape, strict=True))


def written(rule: str) -> str:
    """Return a rule as people write a shape.

    >>> written("N C D*")
    '(N, C, D1, ..., Dn)'
    """
    fixed, star, _ = parse(rule)
    words = [str(what) if element is None else f"{what}[{element}]" for what, element in fixed]
    if star:
        words += ["1", "...", "1"] if star.what == 1 else [f"{star.what}1", "...", f"{star.what}n"]
    return _tuple(words)


def _size(term: Term, known: Mapping[str, Dimension], attributes: Mapping[str, AttributeValue]) -> Dimension:
    what, element = term
    if isinstance(what, int):
        return what
    if what in known:
        return known[what]
    value = attributes[what]
    size = value[element] if element is not None and isinstance(value, tuple | list) else value
    assert isinstance(size, int), f"{what} is no size: {value!r}"
    return size


def _refuse(version: Version, operand: Operand, shape: Shape, why: str = "") -> NoReturn:
    came = _tuple(["?" if size is None else str(size) for size in shape])
    raise SpecValueError(f"{version.name}: {operand.name} has shape {came}, expected {written(operand.shape)}{why}")


def _tuple(words: Sequence[str]) -> str:
    return f"({', '.join(words)}{',' if len(words) == 1 else ''})"
