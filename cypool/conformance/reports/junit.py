"""A run as JUnit XML, the form that CI systems read.

JUnit's words are few: passed, skipped, failure, error. Unsupported is skipped, which is no pass;
what came out wrong is a failure; a refusal, a crash or a time-out is an error.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from cypool.conformance.expectations.lists import Entry, Expectations
from cypool.conformance.judging import compare
from cypool.conformance.judging.records import Header, Result
from cypool.conformance.reports.summary import printable

Element: TypeAlias = Skipped | Failure | Error

ELEMENTS: Mapping[str, type[Element]] = {
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


def junit(header: Header, results: Sequence[Result], lists: Mapping[str, Expectations] | None = None) -> str:
    """Return the run as JUnit XML: a suite an operator-version and runtime, a test case a case.

    The largest ULP distance is among a suite's properties. ``lists`` holds lists of expectations by
    runtime. A runtime that has one is held to it: results as listed are skipped; results that
    conform in spite of the list, or deviate without being listed, fail.
    """
    document: Any = JUnitXml("cypool")  # its methods are only half typed
    order = {name: position for position, name in enumerate(header.runtimes)}
    results = sorted(results, key=lambda result: (order[result.runtime], result.op, result.since_version))
    for (runtime, version), group in itertools.groupby(results, key=lambda result: (result.runtime, result.version)):
        document.append(_suite(header, runtime, version, list(group), (lists or {}).get(runtime)))
    document.update_statistics()
    text: str = document.tostring().decode()
    return text


def _suite(header: Header, runtime: str, version: str, results: Sequence[Result], expectations: Expectations | None) -> TestSuite:
    suite = TestSuite(f"{header.title(runtime)} {version}")
    properties = {"runtime": runtime, "runtime version": header.runtimes[runtime].version, "operator version": version}
    properties |= {"tolerance": header.tolerance, "largest ULP": _largest(results)}
    properties["largest ULP where it passes"] = _largest(result for result in results if result.verdict == compare.PASS)
    for name, value in properties.items():
        suite.add_property(name, printable(value))
    if expectations is None:
        suite.add_testcases([_case(runtime, result, _told(result)) for result in results])
    else:
        entries = expectations.listed(str(properties["runtime version"]), results)
        suite.add_testcases([_case(runtime, result, _held(result, entries.get(result.case))) for result in results])
    return suite


def _largest(results: Iterable[Result]) -> str:
    return str(max((result.ulp for result in results if result.ulp is not None), default=""))


def _case(runtime: str, result: Result, told: Element | None) -> TestCase:
    case = TestCase(result.case.removeprefix(f"{result.version}/"), f"{runtime}.{result.version}")
    if told is not None:
        case.result = [told]
    elif result.verdict == compare.READS_DIFFERENTLY:
        case.system_out = printable(f"{result.verdict}: {result.reading}\n{result.message}")
    if result.stderr:
        case.system_err = printable(result.stderr)
    return case


def _told(result: Result) -> Element | None:
    """Return the elements of the test case that follow from the verdict alone."""
    kind = ELEMENTS.get(result.verdict)
    return None if kind is None else _element(kind, result, " ".join(result.message.split()))


def _held(result: Result, entry: Entry | None) -> Element | None:
    """Return the elements of a test case that an entry of the runtime's list is about."""
    if entry is not None and entry.takes(result):
        return _element(Skipped, result, f"as listed: {entry.reason}")
    if entry is not None and result.conforms:
        return _element(Failure, result, f"listed, but it conforms: {entry.title}")
    told = _told(result)
    return _element(Failure, result, f"not listed: {result.message}") if isinstance(told, Skipped) else told


def _element(kind: type[Element], result: Result, message: str) -> Element:
    element = kind(printable(message), result.verdict)
    if kind is not Skipped:
        element.text = printable("\n".join(_details(result)))
    return element


def _details(result: Result) -> Iterable[str]:
    yield result.case
    yield f"{result.verdict}: {result.message}"
    yield from (f"{name}: {value}" for name, value in result.attributes.items())
    for kind, excerpts in (("input", result.inputs), ("expected", result.expected), ("got", result.got)):
        yield from (f"{kind} {excerpt}" for excerpt in excerpts)
