"""Writes the table of right answers that the fake runtimes look theirs up in: for a test, before it
starts them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from fake_runtimes import key

from cypool.conformance.cases import models
from cypool.conformance.cases.case import Case


def write(path: Path, cases: Iterable[Case]) -> None:
    table = {}
    for case in cases:
        table[key(models.model(case), [tensor.array for tensor in models.feeds(case)])] = {
            "fault": case.fault,
            "expected": [] if case.fault else [tensor.to_json() for tensor in case.expected],
            "readings": {name: [tensor.to_json() for tensor in tensors] for name, tensors in case.readings.items()},
        }
    path.write_text(json.dumps(table))
