"""A run as one HTML page that needs nothing else: no network, no file beside it.

Template, style and script lie beside this module, which makes the data for them. The first part
that a reader sees (summaries, matrix, readings, findings) is HTML as it stands; the cases are data
in the page, which its script filters and shows.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from cypool.conformance.expectations.strict import Held
from cypool.conformance.judging import compare
from cypool.conformance.judging.excerpt import Excerpt
from cypool.conformance.judging.records import Header, Result
from cypool.conformance.reports import summary
from cypool.conformance.reports.fingerprint import fingerprints
from cypool.conformance.reports.merge import asked_as
from cypool.conformance.reports.summary import Finding

HERE = Path(__file__).parent

KINDS = {
    compare.PASS: "pass",
    compare.READS_DIFFERENTLY: "differ",
    compare.WRONG_VALUE: "wrong",
    compare.WRONG_SHAPE: "wrong",
    compare.WRONG_TYPE: "wrong",
    compare.LOAD_ERROR: "error",
    compare.ERROR: "error",
    compare.ACCEPTED_INVALID: "accepted",
    compare.CRASHED: "lost",
    compare.TIMED_OUT: "lost",
    compare.UNSUPPORTED: "unsupported",
    compare.NOT_RUN: "unsupported",
}
"""The class of a verdict, by which it is coloured."""


Bundles: TypeAlias = Mapping[tuple[str, str], str]
"""The address of the directory that holds a bundle, by runtime and case."""


def page(header: Header, results: Sequence[Result], held: Mapping[str, Held] | None = None, bundles: Bundles | None = None) -> str:
    """Return the page: a summary a runtime, what is not as its list says, the matrix, the readings,
    the findings, and every case.
    """
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["printable"] = summary.printable
    environment.filters["link"] = lambda parameters: "#" + urlencode(parameters)
    by_runtime = {name: summary.of_runtime(name, results) for name in header.runtimes}
    return environment.get_template("page.html.j2").render(
        header=header,
        kinds=KINDS,
        summaries={name: summary.summarize(header, name, own) for name, own in by_runtime.items()},
        held=held or {},
        bundle=lambda runtime, finding: _bundle(bundles or {}, asked_as(header, runtime), finding),
        again=lambda runtime, case: f"{_command(header, runtime)} -k {shlex.quote(case)}",
        matrix=summary.matrix(header, results),
        shares=shares,
        fingerprints=fingerprints(header, results),
        findings={name: summary.findings(own) for name, own in by_runtime.items()},
        legend=[(v, summary.SHORT[v], summary.LEGEND[v]) for v in compare.VERDICTS if any(result.verdict == v for result in results)],
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        script=Markup((HERE / "page.js").read_text(encoding="utf-8")),
        data=Markup(embedded(data(header, by_runtime))),
    )


def _bundle(bundles: Bundles, runtime: str, finding: Finding) -> str:
    """Return the address of a finding's bundle; "" where it has none."""
    return next((bundles[runtime, result.case] for result in finding.results if (runtime, result.case) in bundles), "")


def _command(header: Header, runtime: str) -> str:
    """Return the command that checks a runtime."""
    return f"cypool check {shlex.quote(asked_as(header, runtime))}"


def shares(counts: Counter[str]) -> list[tuple[str, int, str, float]]:
    """What a cell is made of: verdict, count, short word, and percentage, verdicts in their usual
    order.
    """
    return [(v, counts[v], summary.SHORT[v], 100 * counts[v] / counts.total()) for v in compare.VERDICTS if counts[v]]


def embedded(value: Any) -> str:
    """JSON that can stand inside a script element: nothing in it ends the element or starts a
    comment.
    """
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def data(header: Header, by_runtime: dict[str, list[Result]]) -> dict[str, Any]:
    """Return the data for the script: each case once, with the results of all runtimes in their
    order.

    Values that many cases share are stored once, and referred to by number.
    """
    texts: dict[str, int] = {"": 0}

    def number(text: str) -> int:
        return texts.setdefault(summary.printable(text), len(texts))

    def excerpts(shown: Iterable[Excerpt]) -> list[list[Any]]:
        return [[e.name, e.type, e.shape, e.start, number(" ".join(e.values))] for e in shown]

    cases: dict[str, dict[str, Any]] = {}
    runtimes = []
    for position, (name, results) in enumerate(by_runtime.items()):
        findings = summary.findings(results)
        runtimes.append(
            {"name": name, "title": header.title(name), "findings": [found.name for found in findings], "command": _command(header, name)}
        )
        finding_of = {result.case: place for place, found in enumerate(findings) for result in found.results}
        for result in results:
            empty = {"inputs": excerpts(result.inputs), "expected": [], "results": [None] * len(by_runtime)}
            case = cases.setdefault(result.case, {**_case(result), **empty})
            case["expected"] = case["expected"] or excerpts(result.expected)
            case["results"][position] = {
                "verdict": result.verdict,
                "ulp": result.ulp,
                "finding": finding_of.get(result.case),
                "message": number(result.message),
                "stderr": number(result.stderr),
                "got": excerpts(result.got),
            }
    return {
        "runtimes": runtimes,
        "verdicts": {verdict: {"word": summary.SHORT[verdict], "kind": KINDS[verdict]} for verdict in compare.VERDICTS},
        "conforms": sorted(compare.CONFORMS),
        "readings": {name: header.explain(name) for runtime in runtimes for name in runtime["findings"] if header.explain(name)},
        "texts": list(texts),
        "cases": [cases[id] for id in sorted(cases)],
    }


def _case(result: Result) -> dict[str, Any]:
    return {
        "id": result.case,
        "version": result.version,
        "type": result.type,
        "opset": result.opset,
        "variant": result.variant or "plain",
        "fault": result.fault,
        "rulings": result.rulings,
        "attributes": result.attributes,
        "elements": result.elements,
    }
