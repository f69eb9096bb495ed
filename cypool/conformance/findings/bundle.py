"""Write one finding as a directory: model, tensors, a script, a text to file, and a way to rerun
it.

A bundle is a test in ONNX's layout, as the cases of a corpus are. Beside it stand
``got/output_0.pb``, ``reproduce.py``, ``issue.md``, the request to the runtime, and
``bundle.json``.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cypool
from cypool.conformance.asking.isolation import Isolated
from cypool.conformance.asking.runner import outcome_of, request_of
from cypool.conformance.asking.runtimes.table import find
from cypool.conformance.cases.case import Case
from cypool.conformance.corpus import layout
from cypool.conformance.corpus.atomic_directory import whole_directory, write_files
from cypool.conformance.findings.issue import Evidence, issue
from cypool.conformance.findings.scripts import script
from cypool.conformance.judging import explained_refusals
from cypool.conformance.judging.compare import NOT_RUN, criterion, judge, named
from cypool.conformance.judging.records import Result
from cypool.conformance.reports.summary import findings, of_runtime

RECORD = "bundle.json"
REQUEST = "request.jsonl"
FORMAT = 1


class BundleError(ValueError):
    """A directory that is no bundle."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle read back: the case, the line that was asked, and what came of it."""

    case: Case
    request: bytes
    runtime: str
    ulp: int | None
    verdict: str
    message: str

    def replay(self, runtime: Isolated) -> Result:
        """What a runtime makes of it now."""
        return _examine(runtime, self.case, self.request, self.ulp).result


def _examine(runtime: Isolated, case: Case, request: bytes, ulp: int | None) -> Evidence:
    outcome = runtime.run(case.id, request)
    judgement = explained_refusals.explain_refusal(case, judge(case, outcome, criterion(ulp)), functools.partial(outcome_of, runtime))
    return Evidence(runtime.description, case, outcome, judgement, Result.of(runtime.name, case, outcome, judgement))


def write_all(
    directory: Path, runtimes: Iterable[Isolated], results: Sequence[Result], cases: Sequence[Case], ulp: int | None
) -> dict[str, int]:
    """Return a new directory with the bundles of all runtimes, each in a directory of its own,
    whole or not there; how many each has.

    FileExistsError where ``directory`` is there and not empty.
    """
    with whole_directory(directory) as filling:
        return {runtime.name: len(write_bundles(filling, runtime, of_runtime(runtime.name, results), cases, ulp)) for runtime in runtimes}


def write_bundles(directory: Path, runtime: Isolated, results: Iterable[Result], cases: Iterable[Case], ulp: int | None) -> list[Path]:
    """Return a bundle below ``directory`` for each finding in the results of a runtime; its most
    telling case is run once more, to have all of it.

    What was not run has none.
    """
    by_id = {case.id: case for case in cases}
    written = []
    for number, finding in enumerate((found for found in findings(results) if found.verdict != NOT_RUN), 1):
        example = finding.telling
        others = sorted((result for result in finding.results if result is not example), key=_worth)
        case = by_id[example.case]
        evidence = _explained(_examine(runtime, case, request_of(case), ulp), example)
        written.append(directory / _slug(runtime.name) / f"{number:02}-{_slug(f'{finding.verdict} {finding.name}')}")
        write_files(written[-1], _files(runtime.name, evidence, example, others, ulp))
    return written


def _explained(evidence: Evidence, before: Result) -> Evidence:
    """Return the evidence with the faults that the run left as explanations, where the same came
    again.
    """
    plain, plain_before = (named(result.message, ()) for result in (evidence.result, before))
    if (evidence.result.verdict, plain) != (before.verdict, plain_before):
        return evidence
    result = dataclasses.replace(evidence.result, message=before.message, reading=before.reading, readings=before.readings)
    return dataclasses.replace(evidence, result=result)


def _worth(result: Result) -> tuple[bool, int, int, str]:
    """Small inputs first, those without any element last: there is little to see."""
    return result.elements == 0, result.elements, len(result.case), result.case


def _slug(text: str) -> str:
    """Return the text as a file's name."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-.")[:80]


def _files(runtime: str, evidence: Evidence, before: Result, others: Sequence[Result], ulp: int | None) -> dict[str, bytes]:
    """Return the files of a bundle: the contents by path."""
    case, result = evidence.case, evidence.result
    text, arrays = script(f"{evidence.title} ({evidence.runtime})", find(runtime), case, evidence.place)
    record = {
        "format": FORMAT,
        "cypool": cypool.__version__,
        "runtime": runtime,
        "described": {"name": evidence.description.name, "version": evidence.description.version},
        "ulp": ulp,
        "verdict": result.verdict,
        "phase": result.phase,
        "message": result.message,
        "case": layout.describe(case),
    }
    return {
        **layout.files(case),
        **layout.tensor_files("got/output", evidence.outcome.outputs),
        **arrays,
        "reproduce.py": text.encode(),
        "issue.md": issue(evidence, text, [*arrays], before, others).encode(),
        REQUEST: request_of(case),
        RECORD: json.dumps(record, indent=1).encode() + b"\n",
    }


def read(directory: Path) -> Bundle:
    """Return the bundle in a directory; BundleError where it holds none."""

    def file(name: str) -> bytes:
        return (directory / name).read_bytes()

    try:
        record = json.loads(file(RECORD))
        if record["format"] != FORMAT:
            raise BundleError(f"{directory} is a bundle of format {record['format']}, not {FORMAT}")
        case = layout.case_of(record["case"], file)
        return Bundle(case, file(REQUEST), record["runtime"], record["ulp"], record["verdict"], record["message"])
    except BundleError:
        raise
    except OSError as error:
        raise BundleError(f"{error.filename}: {error.strerror}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise BundleError(f"{directory} is no bundle: {type(error).__name__}: {error}") from error


def directories(directory: Path) -> dict[tuple[str, str], Path]:
    """Return the directories of the bundles below ``directory``, by runtime and case; BundleError
    where one can't be read.
    """
    found = [(read(path), path) for path in find_bundles(directory)]
    return {(bundle.runtime, bundle.case.id): path for bundle, path in found}


def find_bundles(directory: Path) -> list[Path]:
    """Return the bundles at or below a directory, in the order of their names."""
    return sorted(path.parent for path in directory.rglob(RECORD))
