"""Write a corpus: every case as files in ONNX's own test layout, for harnesses that have no Python.

The version of the generated corpus, and its hash, are kept here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cypool.conformance.cases import generate
from cypool.conformance.cases.case import Case
from cypool.conformance.corpus.atomic_directory import whole_directory, write_files
from cypool.conformance.corpus.corpus import MANIFEST, CorpusError, case_files, case_path, entry, file_hash, manifest

VERSION = 2
HASHES = {
    1: "ad4be4982c1c5f6f852e7cad9b041075d6cdd27c366627e0a086aa1f11d1ee7c",
    2: "fccd01ce461543cd46dc3fc67788fa5815763d60d07de7b2966e2eec74061836",
}
"""The hash of every corpus there was.

One that differs in a byte is a new version: it gets a new line, and the old lines stay.
"""


@dataclass(frozen=True, slots=True)
class Exported:
    """The size of a corpus that was written, manifest included, and its hash, which is the
    manifest's.
    """

    files: int
    bytes: int
    hash: str


def export(cases: Iterable[Case], directory: Path, hash: str | None = None) -> Exported:
    """Write these cases, all of them or nothing, into a new directory.

    The same cases give the same bytes. FileExistsError where the directory is there and not empty;
    CorpusError where the corpus has another hash than the one given, as happens where a dependency
    serialises otherwise.
    """
    entries = []
    count = size = 0
    with whole_directory(directory) as filling:
        for case in cases:
            found = case_files(case)
            write_files(filling / case_path(case), found)
            entries.append(entry(case, found))
            count += len(found)
            size += sum(map(len, found.values()))
        data = manifest(VERSION, entries)
        write_files(filling, {MANIFEST: data})
        if hash is not None and file_hash(data) != hash:
            raise CorpusError(f"what came out is not corpus {VERSION}: its hash is {file_hash(data)}, not {hash}")
    return Exported(count + 1, size + len(data), file_hash(data))


def corpus_hash(cases: Iterable[Case]) -> str:
    """Return the hash of a corpus of these cases, without writing it."""
    return file_hash(manifest(VERSION, (entry(case, case_files(case)) for case in cases)))


if __name__ == "__main__":
    print(VERSION, corpus_hash(generate()))
