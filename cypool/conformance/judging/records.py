"""Write and read what a run leaves behind: one JSON object a line. Every report is made from it.

A header line comes first and an end line last, so that a truncated file is noticed. The lines
between hold no time and no machine, so that two runs can be compared line by line.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from cypool.conformance import oracle
from cypool.conformance.asking.protocol import Description, Outcome
from cypool.conformance.cases.case import Case
from cypool.conformance.judging.compare import CONFORMS, Judgement
from cypool.conformance.judging.excerpt import Excerpt
from cypool.conformance.tensors import Tensor
from cypool.spec.model import Reading, Ruling

FORMAT = 1
AND = ", "
"""What stands between the readings that a finding is called by, where they are several."""

EITHER = " or "
"""What stands between the explanations that a finding is called by, where each of
several suffices.
"""


class RecordError(ValueError):
    """Lines that are no complete record of a run."""


@dataclass(frozen=True, slots=True)
class Header:
    """The facts about a run: the runtimes by name, their versions, how many cases, which tolerance.

    ``rulings`` holds, by operator, those that the cases can meet, with all their readings, so that
    a report needs the file alone; ``computed`` names the readings whose answers are known, so that
    outputs show who follows them.
    """

    cypool: str
    runtimes: Mapping[str, Description]
    cases: int
    tolerance: str
    selection: Mapping[str, Any] = field(default_factory=dict)
    rulings: Mapping[str, tuple[Ruling, ...]] = field(default_factory=dict)
    computed: tuple[str, ...] = ()

    @property
    def readings(self) -> dict[str, str]:
        """Return each recorded reading in words, by its name in reports."""
        rulings = [ruling for of_op in self.rulings.values() for ruling in of_op]
        return {reading_name(ruling.id, reading.name): reading.text for ruling in rulings for reading in ruling.readings}

    def explain(self, name: str) -> str:
        """Return in words the recorded reading, or readings, that a finding is named
        by; else "".
        """
        parts = dict.fromkeys(part for names in name.split(EITHER) for part in names.split(AND))
        return " ".join(self.readings[part] for part in parts if part in self.readings)

    def title(self, runtime: str) -> str:
        """Return the name and version of a runtime, as reports show it."""
        version = self.runtimes[runtime].version
        return runtime if version in runtime.split() else f"{runtime} {version}".rstrip()

    def to_json(self) -> dict[str, Any]:
        """Return the first line."""
        return {"record": "header", "format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Header:
        """Return the inverse of ``to_json``."""
        runtimes = {name: Description(**described) for name, described in record["runtimes"].items()}
        rulings = {op: tuple(_ruling(ruling) for ruling in of_op) for op, of_op in record["rulings"].items()}
        known = tuple(record["computed"])
        return cls(record["cypool"], runtimes, record["cases"], record["tolerance"], record["selection"], rulings, known)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one case on one runtime: inputs, expected and actual outputs in excerpts, the
    verdict.

    ``expected`` is there where any output came. ``attributes`` are texts, such as ``FLOAT 2.0``.
    """

    runtime: str
    case: str
    op: str
    since_version: int
    type: str
    fault: str | None
    rulings: tuple[str, ...]
    elements: int  # of all inputs; the smallest example is the one to look at
    verdict: str
    phase: str
    message: str
    ulp: int | None
    reading: str
    readings: Mapping[str, tuple[str, ...]]
    stderr: str
    opset: int = 0
    variant: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[Excerpt, ...] = ()
    expected: tuple[Excerpt, ...] = ()
    got: tuple[Excerpt, ...] = ()

    @classmethod
    def of(cls, runtime: str, case: Case, outcome: Outcome, judgement: Judgement) -> Result:
        """Return the record of a judgement."""
        return cls(
            runtime=runtime,
            case=case.id,
            op=case.version.op,
            since_version=case.version.since_version,
            type=case.type,
            fault=case.fault,
            rulings=case.rulings,
            elements=sum(math.prod(tensor.shape) for tensor in case.inputs),
            verdict=judgement.verdict,
            phase=outcome.phase,
            message=judgement.message,
            ulp=judgement.ulp,
            reading=judgement.reading,
            readings=judgement.readings,
            stderr=outcome.stderr,
            opset=case.opset or case.version.since_version,
            variant=case.variant,
            attributes={name: f"{typed.type} {typed.value}" for name, typed in case.attributes},
            inputs=_excerpts(case.inputs),
            expected=_excerpts(case.expected if outcome.status == "ok" and case.fault is None else (), judgement),
            got=_excerpts(outcome.outputs, judgement),
        )

    @property
    def conforms(self) -> bool:
        """Tell whether it counts for the runtime."""
        return self.verdict in CONFORMS

    @property
    def version(self) -> str:
        """``GlobalLpPool-2``."""
        return f"{self.op}-{self.since_version}"

    def to_json(self) -> dict[str, Any]:
        """Return a line between the first and the last."""
        excerpts = {name: [excerpt.to_json() for excerpt in getattr(self, name)] for name in EXCERPTS}
        return {"record": "result", **asdict(self), **excerpts}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Result:
        """Return the inverse of ``to_json``."""
        fields = {name: record[name] for name in cls.__dataclass_fields__}
        fields["rulings"] = tuple(fields["rulings"])
        fields["readings"] = {ruling: tuple(names) for ruling, names in fields["readings"].items()}
        fields |= {name: tuple(map(Excerpt.from_json, record[name])) for name in EXCERPTS}
        return cls(**fields)


EXCERPTS = ("inputs", "expected", "got")


def _excerpts(tensors: Iterable[Tensor], judgement: Judgement | None = None) -> tuple[Excerpt, ...]:
    """Excerpts around the first wrong element, where one is."""
    return tuple(Excerpt.of(tensor, judgement.at if judgement and tensor.name == judgement.output else 0) for tensor in tensors)


def _ruling(record: Mapping[str, Any]) -> Ruling:
    readings = tuple(
        Reading(**{**reading, "followed_by": tuple(reading["followed_by"]), "refuses": tuple(map(tuple, reading.get("refuses", ())))})
        for reading in record["readings"]
    )
    return Ruling(**{**record, "readings": readings, "since_versions": tuple(record["since_versions"])})


def reading_name(ruling: str, reading: str) -> str:
    """Return the name of a reading in reports, with its ruling, as its own name says too little.

    >>> reading_name("accumulation", "naive")
    'accumulation: naive'
    """
    return f"{ruling}: {reading}"


def rulings(cases: Iterable[Case]) -> dict[str, tuple[Ruling, ...]]:
    """Return the rulings that these cases can meet, by operator."""
    found: dict[str, dict[str, Ruling]] = {}
    for version in dict.fromkeys(case.version for case in cases):
        found.setdefault(version.op, {}).update({ruling.id: ruling for ruling in version.rulings})
    return {op: tuple(of_op.values()) for op, of_op in found.items()}


def computed(cases: Iterable[Case]) -> tuple[str, ...]:
    """Return the readings whose answers are known for cases of these versions, in alphabetical
    order.
    """
    versions = dict.fromkeys(case.version for case in cases)
    return tuple(sorted({name for version in versions for names in oracle.computable(version).values() for name in names}))


def end(results: int) -> dict[str, Any]:
    """Return the last line."""
    return {"record": "end", "results": results}


def line(record: Mapping[str, Any]) -> str:
    """Return the text of a record, with its line end."""
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n"


def lines(header: Header, results: Sequence[Result]) -> Iterator[str]:
    """Give the lines of a whole run."""
    yield line(header.to_json())
    for result in results:
        yield line(result.to_json())
    yield line(end(len(results)))


def read(lines: Iterable[str]) -> tuple[Header, list[Result]]:
    """Return a whole run back from its lines; RecordError where they are cut short or are something
    else.
    """
    try:
        first, *middle, last = [json.loads(text) for text in lines]
        kinds = first["record"], {record["record"] for record in middle} or {"result"}, last["record"]
        if kinds != ("header", {"result"}, "end") or first["format"] != FORMAT or last["results"] != len(middle):
            raise RecordError(f"not a complete run of format {FORMAT}")
        return Header.from_json(first), [Result.from_json(record) for record in middle]
    except RecordError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"not the record of a run: {error}") from error
