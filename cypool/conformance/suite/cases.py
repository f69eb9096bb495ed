"""The items: a case each, by its id.

Apart from the conftest, which pytest imports by itself; in the path of an item's node id, this file stands for all cases.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cypool.conformance import axes
from cypool.conformance import cases as generated
from cypool.conformance.case import Case
from cypool.conformance.compare import criterion, judge
from cypool.conformance.isolation import Isolated, Unavailable
from cypool.conformance.records import Result
from cypool.conformance.runner import outcome_of

RUNTIME: pytest.StashKey[Isolated] = pytest.StashKey()


class Deviation(Exception):
    """A case to which the runtime does not conform; it carries the result."""

    def __init__(self, result: Result) -> None:
        """Say its verdict and message."""
        super().__init__(f"{result.verdict}: {result.message}")
        self.result = result


class CaseItem(pytest.Item):
    """A case to be run: it passes where the runtime conforms, and fails where it does not; unsupported is a failure like any other."""

    def __init__(self, *, case: Case, **arguments: Any) -> None:
        """The item of a case."""
        super().__init__(**arguments)
        self.case = case

    def runtest(self) -> None:
        """Run it in this process's worker, and judge."""
        runtime = self.config.stash[RUNTIME]
        outcome = outcome_of(runtime, self.case)
        result = Result.of(runtime.name, self.case, outcome, judge(self.case, outcome, criterion(self.config.getoption("--cypool-ulp"))))
        self.user_properties += [
            (name, value) for name in ("verdict", "ulp", "reading") if (value := getattr(result, name)) not in (None, "")
        ]
        if not result.conforms:
            raise Deviation(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *arguments: Any, **more: Any) -> Any:
        """What a reader needs of a deviation; of anything else, pytest's own traceback."""
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
        """Start the runtime, then give the items; a runtime that is not there is an error of the collection, not of every case."""
        name = self.config.getoption("--cypool-runtime", default=None)
        if name is None:
            raise self.CollectError("which runtime? --cypool-runtime NAME says it, as for `cypool check NAME`")
        if not self.config.option.collectonly:
            try:
                runtime = Isolated(name, self.config.getoption("--cypool-timeout"))
            except Unavailable as error:
                raise self.CollectError(str(error)) from None
            self.config.add_cleanup(runtime.close)
            self.config.stash[RUNTIME] = runtime
        for case in axes.spread(generated.generate()):
            yield CaseItem.from_parent(self, name=case.id, case=case)
