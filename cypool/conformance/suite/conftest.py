"""Make pytest collect the cases in this folder, independent of its patterns for file names."""

from __future__ import annotations

from pathlib import Path

import pytest

from cypool.conformance.suite import cases


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return the collector of the cases, where the module of that name is come across."""
    return cases.Cases.from_parent(parent, path=file_path) if file_path == Path(cases.__file__) else None
