"""Evaluates the shape rules that the spec data states, on numbers and on symbolic dimensions alike.

Apart from the loader because calls, models, cases and docs all ask it, and none of them reads a data file.

A rule is a row of terms: ``5`` is that size; ``N`` names a dimension, the same wherever it stands, or an attribute that holds a size;
``pooled_shape[0]`` is an element of an attribute; ``D*``, which can only be last, is any number of dimensions, as many for every operand;
``1*`` is that many ones.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn, TypeAlias

from cypool.errors import SpecValueError
from cypool.spec.model import AttributeValue, Operand, Version

Dimension: TypeAlias = int | str | None
Shape: TypeAlias = tuple[Dimension, ...]
"""A shape: sizes, names of symbolic dimensions, None where nothing is known."""


class Term(NamedTuple):
    """One term of a rule: a size or a name, and which element of what it names."""

    what: int | str
    element: int | None = None


class Rule(NamedTuple):
    """A rule taken apart: the terms that stand for one dimension each, and the one before the star."""

    fixed: tuple[Term, ...]
    star: Term | None

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms, the star's last."""
        return self.fixed if self.star is None else (*self.fixed, self.star)


@functools.cache
def parse(rule: str) -> Rule:
    """Take a rule apart; SpecValueError where it is none.

    >>> parse("N pooled_shape[0] 1*")
    Rule(fixed=(Term(what='N', element=None), Term(what='pooled_shape', element=0)), star=Term(what=1, element=None))
    """
    words = rule.split()
    starred = bool(words) and words[-1].endswith("*")
    if starred:
        words[-1] = words[-1].removesuffix("*")
    terms = []
    for word in words:
        match = re.fullmatch(r"(\d+)|([A-Za-z_]\w*)(?:\[(\d+)\])?", word)
        if not match:
            raise SpecValueError(f"{word!r} is no term of a shape rule")
        size, name, index = match.groups()
        terms.append(Term(int(size) if size else name, int(index) if index else None))
    return Rule(tuple(terms[:-1]), terms[-1]) if starred else Rule(tuple(terms), None)


@functools.cache
def _terms(rule: str, many: int) -> tuple[Term, ...]:
    """The rule's terms with the star written out that many times, its dimensions named ``D*1``, ``D*2``."""
    fixed, star = parse(rule)
    if star is None:
        return fixed
    return fixed + tuple(star if isinstance(star.what, int) else Term(f"{star.what}*{i}") for i in range(1, many + 1))


def infer(version: Version, input_shapes: Sequence[Shape], attributes: Mapping[str, AttributeValue]) -> tuple[Shape, ...]:
    """The output shapes of a call, one for each output.

    ``attributes`` holds the attributes that the rules name, defaults filled in and values checked already. A dimension that is not a number
    fits everywhere. SpecValueError where the number of inputs, or a shape, does not fit.

    >>> from cypool import spec
    >>> infer(spec.resolve("GlobalLpPool"), [("N", 3, 7, 7)], {"p": 2})
    (('N', 3, 1, 1),)
    >>> infer(spec.resolve("MaxRoiPool"), [(1, 2, 8, 8), (3, 4)], {"pooled_shape": (2, 2)})
    Traceback (most recent call last):
    cypool.errors.SpecValueError: MaxRoiPool-22: rois has shape (3, 4), expected (num_rois, 5)
    """
    if len(input_shapes) != len(version.inputs):
        names = ", ".join(operand.name for operand in version.inputs)
        raise SpecValueError(f"{version.name}: {len(input_shapes)} inputs, expected {len(version.inputs)} ({names})")
    known: dict[str, Dimension] = {}
    many: int | None = None
    for operand, shape in zip(version.inputs, input_shapes, strict=True):
        fixed, star = parse(operand.shape)
        extra = len(shape) - len(fixed)
        if extra < 0 or (extra if star is None else many not in (None, extra)):
            _refuse(version, operand, shape)
        if star is not None:
            many = extra
        for (what, _), size in zip(_terms(operand.shape, extra), shape, strict=True):
            before = what if isinstance(what, int) else known.get(what)
            if before != size and isinstance(before, int) and isinstance(size, int):
                _refuse(version, operand, shape, "" if before == what else f", {str(what).replace('*', '')} being {before}")
            if isinstance(what, str):
                known[what] = size if isinstance(size, int) or before is None else before
    return tuple(tuple([_size(term, known, attributes) for term in _terms(operand.shape, many or 0)]) for operand in version.outputs)


def fits(rule: str, shape: Sequence[int]) -> bool:
    """Whether a shape has the rank that a rule asks for, and the sizes that it states.

    >>> fits("N C 1*", (2, 3, 1, 1)), fits("N C D1 D*", (2, 3))
    (True, False)
    """
    fixed, star = parse(rule)
    extra = len(shape) - len(fixed)
    if extra < 0 or (extra and star is None):
        return False
    return all(what == size or isinstance(what, str) for (what, _), size in zip(_terms(rule, extra), shape, strict=True))


def written(rule: str) -> str:
    """A rule as people write a shape.

    >>> written("N C D*")
    '(N, C, D1, ..., Dn)'
    """
    fixed, star = parse(rule)
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
