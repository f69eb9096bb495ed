"""A corpus on disk: cases as directories, and a manifest that says what each is and what it hashes
to.

Writers and readers of a corpus agree on this one description of it.

The hash of a case covers every file in its directory; the manifest holds those hashes; the hash of
the corpus is that of its manifest.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cypool.conformance.cases.case import Case
from cypool.conformance.cases.instances import opsets
from cypool.conformance.corpus.layout import case_of, describe, directory_name, files

MANIFEST = "manifest.json"
FORMAT = 1
KINDS = ("valid", "invalid")
"""The two lists of a manifest, and the two directories that hold their cases."""


class CorpusError(ValueError):
    """A directory that is no corpus, or not the one that its manifest describes."""


def file_hash(data: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def case_hash(found: Mapping[str, bytes]) -> str:
    """Return the hash of a directory: that of the lines which ``sha256sum`` prints for its files,
    in the order of their paths.
    """
    return file_hash("".join(f"{file_hash(data)}  {path}\n" for path, data in sorted(found.items())).encode())


def case_path(case: Case) -> str:
    """Return the directory of a case in a corpus."""
    return f"{KINDS[case.fault is not None]}/{directory_name(case.id)}"


def case_files(case: Case) -> dict[str, bytes]:
    """Return the files of a case in a corpus, with the model at the version's first and
    last opset.
    """
    return files(case, opsets(case.version)[1:])


def entry(case: Case, found: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the manifest's entry for a case whose directory holds these files."""
    facts = describe(case, opsets(case.version)[1:])
    return {**facts, "path": case_path(case), "files": sorted(found), "hash": case_hash(found)}


def manifest(version: int, entries: Iterable[Mapping[str, Any]]) -> bytes:
    """Return the manifest: a case a line, so that two of them can be compared by lines."""
    lists: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for facts in entries:
        lists[KINDS["fault" in facts]].append(json.dumps(facts))
    parts = [
        f'"format": {FORMAT}',
        f'"corpus": {version}',
        *(f'"{kind}": [\n' + ",\n".join(lines) + "\n]" for kind, lines in lists.items()),
    ]
    return ("{\n" + ",\n".join(parts) + "\n}\n").encode()


def read(directory: Path) -> list[Case]:
    """Return the cases of a corpus, each read from its files and compared with its hash;
    CorpusError where something is amiss.
    """
    data = _read(directory / MANIFEST)
    try:
        found = json.loads(data)
        if found["format"] != FORMAT:
            raise CorpusError(f"{directory} is a corpus of format {found['format']}, not {FORMAT}")
        return [_case(directory, facts) for kind in KINDS for facts in found[kind]]
    except CorpusError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise CorpusError(f"{directory} is no corpus: {type(error).__name__}: {error}") from error


def _case(directory: Path, facts: Mapping[str, Any]) -> Case:
    contents = {path: _read(directory / facts["path"] / path) for path in facts["files"]}
    if case_hash(contents) != facts["hash"]:
        raise CorpusError(f"{directory / facts['path']} has changed since it was exported")
    return case_of(facts, functools.partial(dict.__getitem__, contents))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CorpusError(f"{path}: {error.strerror}") from None
