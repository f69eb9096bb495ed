"""Judge the outputs that a harness of any language wrote for a corpus.

Nothing runs here. The outputs of a harness are read as outcomes that a worker would have told, and
judged alike.

For a case at PATH in the corpus, a harness writes ``PATH/output_0.pb`` and so on into a directory
of its own; where the runtime gave no outputs, ``PATH/outcome.json`` instead, with ``status``,
``phase`` and ``message`` as in the worker protocol. ``runtime.json`` may hold ``name`` and
``version``.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from cypool.conformance.asking.protocol import Description, Outcome, ProtocolError
from cypool.conformance.cases import protos
from cypool.conformance.cases.case import Case
from cypool.conformance.corpus.corpus import KINDS, CorpusError, case_path
from cypool.conformance.judging import explained_refusals
from cypool.conformance.judging.compare import Criterion, judge, onnx_tolerance
from cypool.conformance.judging.records import Result

OUTCOME = "outcome.json"
RUNTIME = "runtime.json"
NOTHING_WRITTEN = Outcome("not run", message="the harness wrote nothing about it")
LOST = ("crashed", "timed out")
"""What a harness can tell beside what a worker can: it may have workers of its own."""


def verify(name: str, cases: Iterable[Case], outputs: Path, criterion: Criterion = onnx_tolerance) -> Iterator[Result]:
    """Yield the results, by case id, of the runtime that goes by ``name``: what its harness wrote
    below ``outputs`` about these cases.
    """
    for case in sorted(cases, key=lambda case: case.id):
        outcome = _told(outputs, case)
        judgement = explained_refusals.explain_refusal(case, judge(case, outcome, criterion), functools.partial(_told, outputs))
        yield Result.of(name, case, outcome, judgement)


def _told(outputs: Path, case: Case) -> Outcome:
    return outcome_of(case, outputs / case_path(case))


def outcome_of(case: Case, directory: Path) -> Outcome:
    """Read the outcome of a case that a harness wrote.

    A file that is not what its name promises counts as a crash, as from a worker.
    """
    told, files = directory / OUTCOME, len(list(directory.glob("output_*.pb")))
    if not told.exists() and not files:
        return NOTHING_WRITTEN
    try:
        record = {"status": "ok"} if not told.exists() else _object(told)
        if record["status"] in LOST:
            return Outcome(record["status"], message=str(record.get("message", "")))
        if record["status"] != "ok":
            return Outcome.from_json(record)
        names = case.outputs
        return Outcome("ok", tuple(_output(directory / f"output_{i}.pb", (names[i:] or ["?"])[0]) for i in range(files)))
    except (OSError, KeyError, ValueError, ProtocolError) as error:
        return Outcome("crashed", message=f"{directory.name} holds no usable answer: {error}")


def _output(path: Path, name: str) -> Any:
    return protos.from_bytes(path.read_bytes(), name)


def _object(path: Path) -> dict[str, Any]:
    record = json.loads(path.read_bytes())
    if not isinstance(record, dict):
        raise ValueError(f"{path.name} is no object")
    return record


def describe(outputs: Path) -> Description:
    """Whose outputs these are, as the harness says, or else by the directory's name.

    CorpusError where it says it wrongly.
    """
    path = outputs / RUNTIME
    try:
        record = _object(path) if path.exists() else {}
        return Description(str(record.get("name", outputs.resolve().name)), str(record.get("version", "")))
    except (OSError, ValueError) as error:
        raise CorpusError(f"{path}: {error}") from error


def require_answers(outputs: Path, cases: Sequence[Case]) -> None:
    """CorpusError where ``outputs`` holds nothing about any of these cases, or something about none
    of them.

    A harness that ran nothing must not pass for one that did, nor one that misspells its
    directories.
    """
    known = {case_path(case) for case in cases}
    written = {f"{kind}/{path.name}" for kind in KINDS if (outputs / kind).is_dir() for path in (outputs / kind).iterdir()}
    if not written & known:
        raise CorpusError(f"{outputs} holds nothing about any of {len(known):,} cases")
    if written - known:
        raise CorpusError(f"{outputs} holds {min(written - known)}, which is no case of this corpus")
