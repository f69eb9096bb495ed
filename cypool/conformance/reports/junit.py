"""A run as JUnit XML, the form that CI systems read.

Apart from the other reports because its words are few: passed, skipped, failure, error. Unsupported is skipped, which is no pass; what came
out wrong is a failure; a refusal, a crash or a time-out is an error.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from cypool.conformance import compare
from cypool.conformance.records import Header, Result
from cypool.conformance.report import printable

ELEMENTS = {
    compare.UNSUPPORTED: Skipped,
    compare.NOT_RUN: Error,
    compare.LOAD_ERROR: Error,
    compare.ERROR: Error,
    compare.CRASHED: Error,
    compare.TIMED_OUT: Error,
    compare.WRONG_VALUE: Failure,
    compare.WRONG_SHAPE: Failure,
    compare.WRONG_TYPE: Failure,
    compare.ACCEPTED_INVALID: Failure,
}
"""What stands in a test case for its verdict. The verdicts that conform have nothing."""


def junit(header: Header, results: Sequence[Result]) -> str:
    """The run: a suite an operator-version and runtime, a test case a case, the largest ULP distance among a suite's properties."""
    document: Any = JUnitXml("cypool")  # its methods are only half typed
    order = {name: position for position, name in enumerate(header.runtimes)}
    results = sorted(results, key=lambda result: (order[result.runtime], result.op, result.since_version))
    for (runtime, version), group in itertools.groupby(results, key=lambda result: (result.runtime, result.version)):
        document.append(_suite(header, runtime, version, list(group)))
    document.update_statistics()
    text: str = document.tostring().decode()
    return text


def _suite(header: Header, runtime: str, version: str, results: Sequence[Result]) -> TestSuite:
    suite = TestSuite(f"{header.title(runtime)} {version}")
    properties = {"runtime": runtime, "runtime version": header.runtimes[runtime].version, "operator version": version}
    properties |= {"tolerance": header.tolerance, "largest ULP": _largest(results)}
    properties["largest ULP where it passes"] = _largest(result for result in results if result.verdict == compare.PASS)
    for name, value in properties.items():
        suite.add_property(name, printable(value))
    suite.add_testcases([_case(runtime, result) for result in results])
    return suite


def _largest(results: Iterable[Result]) -> str:
    return str(max((result.ulp for result in results if result.ulp is not None), default=""))


def _case(runtime: str, result: Result) -> TestCase:
    case = TestCase(result.case.removeprefix(f"{result.version}/"), f"{runtime}.{result.version}")
    if result.verdict in ELEMENTS:
        element = ELEMENTS[result.verdict](printable(" ".join(result.message.split())), result.verdict)
        if result.verdict != compare.UNSUPPORTED:
            element.text = printable("\n".join(_details(result)))
        case.result = [element]
    elif result.verdict == compare.READS_DIFFERENTLY:
        case.system_out = printable(f"{result.verdict}: {result.reading}\n{result.message}")
    if result.stderr:
        case.system_err = printable(result.stderr)
    return case


def _details(result: Result) -> Iterable[str]:
    yield result.case
    yield f"{result.verdict}: {result.message}"
    yield from (f"{name}: {value}" for name, value in result.attributes.items())
    for kind, excerpts in (("input", result.inputs), ("expected", result.expected), ("got", result.got)):
        yield from (f"{kind} {excerpt}" for excerpt in excerpts)
