"""Work out what the results of a run say: the matrix, the findings, a line a runtime.

These are pure functions of a run's records, so that a kept file gives the same report at any time.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import ml_dtypes

from cypool.conformance.judging import compare
from cypool.conformance.judging.excerpt import LONGEST
from cypool.conformance.judging.records import AND, EITHER, Header, Result, reading_name
from cypool.conformance.oracle import JOIN
from cypool.conformance.tensors import DTYPES

SHORT = {
    compare.PASS: "pass",
    compare.READS_DIFFERENTLY: "differ",
    compare.WRONG_VALUE: "wrong",
    compare.WRONG_SHAPE: "shape",
    compare.WRONG_TYPE: "type",
    compare.UNSUPPORTED: "unsupported",
    compare.LOAD_ERROR: "load error",
    compare.ERROR: "error",
    compare.ACCEPTED_INVALID: "accepted",
    compare.CRASHED: "crashed",
    compare.TIMED_OUT: "timed out",
    compare.NOT_RUN: "not run",
}
"""The word for each verdict in a cell of the matrix."""

LEGEND = {
    compare.PASS: "the right answer; of an invalid model or input: refused",
    compare.READS_DIFFERENTLY: "another recorded reading of a place where the standard is silent, be it an answer or a refusal",
    compare.WRONG_VALUE: "a value that no reading of the standard gives",
    compare.WRONG_SHAPE: "an output of the wrong shape",
    compare.WRONG_TYPE: "an output of the wrong element type",
    compare.UNSUPPORTED: "the runtime says that it does not have this operator version or type",
    compare.LOAD_ERROR: "a valid model was refused",
    compare.ERROR: "a valid model was taken in, and valid inputs then refused",
    compare.ACCEPTED_INVALID: "an invalid model or input was not refused",
    compare.CRASHED: "the process died",
    compare.TIMED_OUT: "no answer within the time limit",
    compare.NOT_RUN: "the runtime could not be asked",
}
"""What each verdict means, in a line."""

SMALLEST_NORMAL = {
    name: float(ml_dtypes.finfo(dtype).smallest_normal)  # type: ignore[no-untyped-call]
    for name, dtype in DTYPES.items()
    if name in ("float16", "bfloat16", "float", "double")
}

TYPE_ORDER = ("float16", "float", "double", "bfloat16")


@dataclass(frozen=True, slots=True)
class Matrix:
    """Counts by verdict: ``rows`` are (operator-version, type), ``columns`` the runtimes as named
    in the run.
    """

    rows: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    counts: dict[tuple[str, str, str], Counter[str]]  # version, type, runtime

    def cell(self, row: tuple[str, str], column: str) -> Counter[str]:
        """Return the counts of one cell."""
        return self.counts[(*row, column)]

    def total(self, column: str) -> Counter[str]:
        """Return the counts of one runtime over all rows."""
        return sum((self.cell(row, column) for row in self.rows), Counter())


def matrix(header: Header, results: Iterable[Result]) -> Matrix:
    """Return the matrix of a run: rows by operator, version and type, in ONNX's order of types."""
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    order: dict[tuple[str, str], tuple[str, int, int, str]] = {}
    for result in results:
        row = result.version, result.type
        order[row] = result.op, result.since_version, (*TYPE_ORDER, result.type).index(result.type), result.type
        counts.setdefault((*row, result.runtime), Counter())[result.verdict] += 1
    rows = tuple(sorted(order, key=order.__getitem__))
    for row in rows:
        for runtime in header.runtimes:
            counts.setdefault((*row, runtime), Counter())
    return Matrix(rows, tuple(header.runtimes), counts)


def in_words(counts: Counter[str]) -> list[str]:
    """Return the counts of a cell in their short words, verdicts in their usual order.

    >>> in_words(Counter({"pass": 3, "wrong value": 1}))
    ['3 pass', '1 wrong']
    """
    return [f"{counts[verdict]} {SHORT[verdict]}" for verdict in compare.VERDICTS if counts[verdict]]


def legend(results: Iterable[Result]) -> list[tuple[str, str]]:
    """Return the words used and what they mean, only those that occur."""
    seen = {result.verdict for result in results}
    return [(SHORT[verdict], LEGEND[verdict]) for verdict in compare.VERDICTS if verdict in seen]


@dataclass(frozen=True, slots=True)
class Finding:
    """Cases of one runtime that went wrong in one way.

    ``name`` is the way's, where it has one: the ruling and the recorded reading or fault followed,
    what was let through, or the rulings at stake; what went by the same message shows that in its
    examples.
    """

    verdict: str
    name: str
    results: tuple[Result, ...]

    @property
    def count(self) -> int:
        """Return how many cases they are."""
        return len(self.results)

    @property
    def smallest(self) -> Result:
        """The case with the smallest inputs."""
        return min(self.results, key=lambda result: (result.elements, len(result.case), result.case))

    @property
    def telling(self) -> Result:
        """The case that shows most: a few ordinary numbers, in a plain model, at the
        newest opset.
        """
        return min(self.results, key=_dullness)

    @property
    def examples(self) -> tuple[Result, ...]:
        """The most telling case, and the smallest where that has smaller inputs."""
        telling, smallest = self.telling, self.smallest
        return (telling, smallest) if smallest.elements < telling.elements else (telling,)


def _dullness(result: Result) -> tuple[bool, bool, bool, bool, bool, int, int, int, str]:
    """Order the cases of a finding, the most telling first."""
    nothing, too_many = result.elements == 0, result.elements > LONGEST
    odd = any(_is_odd(value, excerpt.type) for excerpt in result.inputs for value in excerpt.values)
    odd |= any(_is_extreme(text) for text in result.attributes.values())
    alone = result.elements == 1  # a sum, or a maximum, of one element shows little
    return nothing, too_many, odd, bool(result.variant), alone, -result.opset, result.elements, len(result.case), result.case


def _is_odd(value: str, type: str) -> bool:
    """Tell whether an input is no ordinary number: not finite, or subnormal."""
    smallest = SMALLEST_NORMAL.get(type)
    return smallest is not None and not (math.isfinite(float(value)) and (float(value) == 0 or abs(float(value)) >= smallest))


def _is_extreme(text: str) -> bool:
    """Tell whether an attribute, such as ``INT 1099511627776``, holds a number that nobody uses.

    >>> texts = ("INT 1099511627776", "FLOAT 1.4e-45", "INTS [7, 7]", "FLOAT 0.5")
    >>> [_is_extreme(text) for text in texts]
    [True, True, False, False]
    """
    numbers = [abs(float(number)) for number in re.findall(r"(?<![\w.])-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan)(?![\w.])", text)]
    return any(not (number == 0 or 1e-3 < number < 1e3) for number in numbers)


def _name(result: Result) -> str:
    if result.reading:
        rulings = {name: ruling for ruling, names in result.readings.items() for name in names}
        explanations = [[reading_name(rulings[name], name) for name in names.split(JOIN)] for names in result.reading.split(compare.OR)]
        return EITHER.join(AND.join(names) for names in explanations)
    if result.verdict in BY_RULING and result.rulings:
        return f"on {', '.join(result.rulings)}"
    return (result.verdict == compare.ACCEPTED_INVALID and result.fault) or ""


BY_RULING = frozenset({compare.WRONG_VALUE, compare.WRONG_SHAPE, compare.WRONG_TYPE, compare.ACCEPTED_INVALID})
BY_MESSAGE = frozenset({compare.LOAD_ERROR, compare.ERROR, compare.CRASHED, compare.NOT_RUN})


def gist(result: Result) -> str:
    """Return a message without what differs from case to case: quoted names, numbers, further
    lines.
    """
    first = result.message.partition("\n")[0] if result.verdict in BY_MESSAGE else ""
    return re.sub(r"\d[\d.e+-]*", "#", re.sub(r"'[^']*'|\"[^\"]*\"|\([^)]*\)", "…", first))


def findings(results: Iterable[Result]) -> list[Finding]:
    """Group what one runtime did other than pass, verdicts in their usual order, larger groups
    first.
    """
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        if result.verdict != compare.PASS:
            groups.setdefault((result.verdict, _name(result), gist(result)), []).append(result)
    found = [Finding(verdict, name, tuple(group)) for (verdict, name, _), group in groups.items()]
    return sorted(found, key=lambda finding: (compare.VERDICTS.index(finding.verdict), -finding.count, finding.name))


def printable(text: str) -> str:
    r"""Return the text without what would colour a terminal, or make it do worse, and XML forbids;
    lines and tabs stay.

    >>> printable("\x1b[31mred\x1b[0m")
    '�[31mred�[0m'
    """
    return re.sub(r"[^\t\n\x20-\x7E\xA0-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]", "\N{REPLACEMENT CHARACTER}", text)


def shortened(message: str, head: int = 80, tail: int = 120) -> str:
    """Return the message in one printable line, without its middle if it is long: what matters
    stands at the ends.
    """
    line = printable(" ".join(message.split()))
    return line if len(line) <= head + tail else f"{line[:head]} … {line[-tail:]}"


CONFORMING, DEVIATING, NOT_IMPLEMENTED = "conforms", "deviates", "not implemented"
"""What a runtime is, all in all."""

FLOAT_IN_DOUBLES = 1 << 29
"""How many doubles lie from one float to the next."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One runtime in one line: how many of its cases conform, in how many cells it computed
    anything, and how far off it was at most.
    """

    title: str
    verdict: str
    conforming: int
    unsupported: int
    cases: int
    cells_computed: int
    cells: int
    ulp: int | None  # the largest of any case that passed
    as_floats: int | None = None  # where doubles are no nearer than floats would be, the largest of theirs in ULP of float; not in ``ulp``

    @property
    def distance(self) -> str:
        """How far off passing cases are at most; "" where none tells."""
        parts = [] if self.ulp is None else [f"at most {self.ulp:,} ULP off where it passes"]
        if self.as_floats is not None:
            parts.append(f"doubles have float's accuracy, at most {self.as_floats:,} ULP of float off")
        return "; ".join(parts)

    def __str__(self) -> str:
        """The line."""
        if self.verdict == NOT_IMPLEMENTED:
            return f"{self.title}: {NOT_IMPLEMENTED}, {self.unsupported:,} of {self.cases:,} cases are unsupported"
        return (
            f"{self.title} {self.verdict}: {self.conforming:,} of {self.cases:,} cases conform; "
            f"it computes in {self.cells_computed} of {self.cells} cells" + (f", {self.distance}" if self.distance else "")
        )


COMPUTED = frozenset({compare.PASS, compare.READS_DIFFERENTLY, compare.WRONG_VALUE, compare.WRONG_SHAPE, compare.WRONG_TYPE})


def of_runtime(runtime: str, results: Iterable[Result]) -> list[Result]:
    """Return the results of one runtime."""
    return [result for result in results if result.runtime == runtime]


def cells_computed(results: Iterable[Result]) -> set[tuple[str, str]]:
    """Return the (operator-version, type) in which one runtime gave any output to a valid case."""
    return {(result.version, result.type) for result in results if result.fault is None and result.verdict in COMPUTED}


def summarize(header: Header, runtime: str, results: Sequence[Result]) -> Summary:
    """Return the summary of one runtime, from its own results."""
    valid = [result for result in results if result.fault is None]
    cells = {(result.version, result.type) for result in valid}
    conforming = sum(result.conforms for result in results)
    unsupported = [result for result in results if result.verdict == compare.UNSUPPORTED]
    lacks_all = bool(unsupported) and all(result.verdict == compare.UNSUPPORTED for result in valid)
    verdict = CONFORMING if conforming == len(results) else NOT_IMPLEMENTED if lacks_all else DEVIATING
    passing = [result for result in valid if result.verdict == compare.PASS]
    largest = {type: _farthest(passing, type) for type in {result.type for result in passing}}
    doubles = largest.get("double")
    as_floats = None
    if doubles is not None and FLOAT_IN_DOUBLES // 2 <= doubles < FLOAT_IN_DOUBLES << 14:  # 1e-3, ONNX's tolerance, is 2^13 ULP of float
        as_floats = -(-doubles // FLOAT_IN_DOUBLES)
        del largest["double"]
    ulp = max((farthest for farthest in largest.values() if farthest is not None), default=None)
    computed = len(cells_computed(results))
    return Summary(header.title(runtime), verdict, conforming, len(unsupported), len(results), computed, len(cells), ulp, as_floats)


def _farthest(results: Iterable[Result], type: str) -> int | None:
    """Return the largest distance of any of these results in that type."""
    return max((result.ulp for result in results if result.type == type and result.ulp is not None), default=None)
