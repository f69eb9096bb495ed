"""The items: a case each, by its id.

In the path of an item's node id, this file stands for all cases.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from cypool.conformance import cases as generated
from cypool.conformance.asking.isolation import Isolated, Unavailable
from cypool.conformance.asking.runner import examined
from cypool.conformance.cases import instances
from cypool.conformance.cases.case import Case
from cypool.conformance.expectations.lists import Entry, ListError, about, read
from cypool.conformance.judging.compare import criterion
from cypool.conformance.judging.records import Result

RUNTIME: pytest.StashKey[Isolated] = pytest.StashKey()


class Deviation(Exception):
    """A case to which the runtime does not conform, or does in spite of its list; it carries the
    result.
    """

    def __init__(self, result: Result, note: str) -> None:
        """Say the verdict and the message, and the note before them, if there is one."""
        super().__init__(f"{note}{result.verdict}: {result.message}".removesuffix(": "))
        self.result = result


class CaseItem(pytest.Item):
    """A case to be run: it passes where the runtime conforms, and fails where it does not;
    unsupported is a failure like any other.

    What a list of expectations says of it is an expected failure, a strict one.
    """

    def __init__(self, *, case: Case, entries: Sequence[Entry], **arguments: Any) -> None:
        """The item of a case, and the entries of the list that are in force."""
        super().__init__(**arguments)
        self.case = case
        self.entries = entries

    def runtest(self) -> None:
        """Run it in this process's worker, and judge."""
        runtime = self.config.stash[RUNTIME]
        result = Result.of(runtime.name, self.case, *examined(runtime, self.case, criterion(self.config.getoption("--cypool-ulp"))))
        self.user_properties += [
            (name, value) for name in ("verdict", "ulp", "reading") if (value := getattr(result, name)) not in (None, "")
        ]
        entry = about(self.entries, result)
        listed = entry is not None and entry.takes(result)
        if listed and entry and not result.conforms:
            pytest.xfail(entry.title)
        if not listed and (entry or not result.conforms):
            raise Deviation(result, f"listed as {entry.title}, but " if entry else "")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *arguments: Any, **more: Any) -> Any:
        """What a reader needs of a deviation, or of a runtime that can't be started again; of
        anything else, pytest's own traceback.
        """
        if isinstance(excinfo.value, Unavailable):
            return str(excinfo.value)
        if not isinstance(excinfo.value, Deviation):
            return super().repr_failure(excinfo, *arguments, **more)
        result = excinfo.value.result
        attributes = [f"{name}: {value}" for name, value in result.attributes.items()]
        right = [f"expected: an error, because {result.fault}"] if result.fault else [f"expected {excerpt}" for excerpt in result.expected]
        got = [f"got {excerpt}" for excerpt in result.got]
        again = f"again, alone: cypool check {shlex.quote(result.runtime)} -k {shlex.quote(result.case)}"
        return "\n".join(filter(None, [str(excinfo.value), *attributes, *map(str, result.inputs), *right, *got, result.stderr, again]))

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where it stands: cases are generated, so there is no line."""
        return self.path, None, self.name


class Cases(pytest.File):
    """All cases, at the first and the last opset of their version."""

    def collect(self) -> Iterator[CaseItem]:
        """Start the runtime, then give the items; a runtime that is not there is an error of the
        collection, not of every case.
        """
        entries = [] if self.config.option.collectonly else self._entries(self._start())
        for case in instances.spread(generated.generate()):
            yield CaseItem.from_parent(self, name=case.id, case=case, entries=entries)

    def _start(self) -> Isolated:
        name = self.config.getoption("--cypool-runtime", default=None)
        if name is None:
            raise self.CollectError("which runtime? --cypool-runtime NAME says it, as for `cypool check NAME`")
        try:
            runtime = Isolated(name, self.config.getoption("--cypool-timeout"))
        except Unavailable as error:
            raise self.CollectError(str(error)) from None
        self.config.add_cleanup(runtime.close)
        self.config.stash[RUNTIME] = runtime
        return runtime

    def _entries(self, runtime: Isolated) -> list[Entry]:
        """What the list of expectations says of this version of the runtime; nothing where there is
        none.
        """
        path = self.config.getoption("--cypool-expect")
        if path is None:
            return []
        try:
            expectations = read(Path(path).read_text(encoding="utf-8"))
        except (OSError, ListError) as error:
            raise self.CollectError(f"--cypool-expect {path}: {error}") from None
        if expectations.runtime not in (runtime.name, runtime.description.name):
            raise self.CollectError(f"--cypool-expect {path} is for {expectations.runtime}, not for {runtime.name}")
        return expectations.in_force(runtime.description.version)
