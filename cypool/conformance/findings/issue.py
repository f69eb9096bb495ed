"""Write a finding as Markdown, ready to file with a runtime.

The text is a pure function of the case and the outcome.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import onnx

import cypool
from cypool.conformance.asking.protocol import Description, Outcome
from cypool.conformance.cases import models
from cypool.conformance.cases.case import Case
from cypool.conformance.findings.scripts import Place
from cypool.conformance.judging import compare
from cypool.conformance.judging.compare import Judgement
from cypool.conformance.judging.excerpt import Excerpt
from cypool.conformance.judging.records import Result
from cypool.conformance.oracle import JOIN
from cypool.conformance.reports.summary import LEGEND, shortened

NO_ANSWER = (compare.UNSUPPORTED, compare.CRASHED, compare.TIMED_OUT)
"""Verdicts that say nothing of how a silence is read."""

LISTED = 5
"""How many other cases of a finding are named."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The outcome of one case on one runtime."""

    description: Description
    case: Case
    outcome: Outcome
    judgement: Judgement
    result: Result

    @property
    def place(self) -> Place | None:
        """The first wrong element, where there is one."""
        outputs = [tensor.name for tensor in self.outcome.outputs]
        if self.judgement.output not in outputs:
            return None
        output = outputs.index(self.judgement.output)
        return Place(output, tuple(int(i) for i in np.unravel_index(self.judgement.at, self.outcome.outputs[output].shape)))

    @property
    def title(self) -> str:
        """What it is, in a line."""
        said = f"{self.result.verdict}: {self.result.message}".removesuffix(": ")
        return shortened(f"{self.case.version.name}, {self.case.type}: {said}")

    @property
    def runtime(self) -> str:
        """The runtime with its version."""
        return f"{self.description.name} {self.description.version}".rstrip()


def issue(evidence: Evidence, script: str, beside: Sequence[str], before: Result, others: Sequence[Result]) -> str:
    """Return the text.

    ``beside`` are files that the script reads, ``before`` is what came of the case in the run, and
    ``others`` went the same way.
    """
    return "\n".join(_lines(evidence, script, beside, before, others)) + "\n"


def _lines(evidence: Evidence, script: str, beside: Sequence[str], before: Result, others: Sequence[Result]) -> Iterator[str]:
    case, result = evidence.case, evidence.result
    yield from (f"# {evidence.title}", "")
    opset = case.opset or case.version.since_version
    yield f"A model of opset {opset} with one `{case.version.op}`, element type {case.type}, on {evidence.runtime}."
    yield from (f"**{result.verdict.capitalize()}**: {LEGEND[result.verdict]}.", "")
    yield from _fenced("", [result.message or "no message"])
    if (before.verdict, before.message) != (result.verdict, result.message):
        yield from ("It is not the same every time. Before, among other cases, it was:", "")
        yield from _fenced("", [f"{before.verdict}: {before.message}"])
    yield from ("## The model", "")
    yield from _fenced("", [onnx.printer.to_text(models.model(case)).rstrip()])
    yield from ("## The data", "")
    yield from _fenced("", _data(evidence))
    if others and 0 < others[0].elements < result.elements:
        yield from (f"The smallest case that goes the same way, `{others[0].case}`:", "")
        yield from _fenced("", _recorded(others[0]))
    if reasons := [*_reasons(evidence)]:
        yield from ("## Why something else is expected", "", *reasons)
    needs = "".join(f" and `{name}` beside it" for name in beside)
    yield from ("## To reproduce", "", f"With this script, which holds the model{needs}:", "")
    yield from _fenced("python", [script.rstrip()])
    yield from ("## Seen with", "")
    yield f"- {evidence.runtime}, Python {platform.python_version()}, {platform.system()} on {platform.machine()}"
    yield f"- case `{case.id}` of cypool {cypool.__version__}"
    if others:
        more = "" if len(others) <= LISTED else f", and {len(others) - LISTED:,} more"
        yield f"- the same in {', '.join(f'`{other.case}`' for other in others[:LISTED])}{more}"
    if evidence.outcome.stderr:
        yield from ("", "The last lines on standard error:", "")
        yield from _fenced("", [evidence.outcome.stderr])


def _data(evidence: Evidence) -> Iterator[str]:
    """Inputs, and what was expected beside what came, around the first wrong element."""
    yield from map(str, map(Excerpt.of, models.feeds(evidence.case)))
    if evidence.case.fault:
        yield f"expected: an error, because {evidence.case.fault}"
    else:
        yield from (f"expected {excerpt}" for excerpt in evidence.result.expected or map(Excerpt.of, evidence.case.expected))
    yield from (f"got {excerpt}" for excerpt in evidence.result.got)


def _recorded(result: Result) -> Iterator[str]:
    """Inputs, what was expected and what came, as the run kept them."""
    yield from map(str, result.inputs)
    yield f"expected: an error, because {result.fault}" if result.fault else "\n".join(f"expected {e}" for e in result.expected)
    yield from (f"got {excerpt}" for excerpt in result.got)
    yield result.message


def _reasons(evidence: Evidence) -> Iterator[str]:
    """Explain how the silences are read that the case turns on, and which readings the outputs
    follow.
    """
    if evidence.result.verdict in NO_ANSWER:
        return
    followed = [name for names in evidence.result.reading.split(compare.OR) for name in names.split(JOIN)]
    for ruling in evidence.case.version.rulings:
        named = [reading for reading in ruling.readings if reading.name in followed]
        if ruling.id in evidence.case.rulings or named:
            yield from (f"{ruling.question} {ruling.choice} ({ruling.evidence})", "")
        for reading in named:
            kind = "another reading, which the text allows" if reading.legitimate else "a fault known from elsewhere"
            yield from (f"What came is {kind}, *{reading.name}*: {reading.text}", "")


def _fenced(language: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield a block of code; its fence is longer than any within."""
    text = "\n".join(lines)
    fence = "```"
    while fence in text:
        fence += "`"
    yield from (f"{fence}{language}", text, fence, "")
