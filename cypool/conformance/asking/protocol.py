"""Encode and decode what the runner and a worker say to each other: one JSON object a line.

Neither end knows how the other is built, so a worker can be a program in any language.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cypool.conformance.tensors import Tensor

PROTOCOL = 1
"""The number a worker answers ``describe`` with; a runner refuses any other."""

ANSWERED = ("ok", "unsupported", "error")
"""What a worker can say of a case. That it died or was late is for the runner to see."""

PHASES = ("load", "run")


class ProtocolError(Exception):
    """A line that is not a message of this protocol."""


@dataclass(frozen=True, slots=True)
class Description:
    """The name of a runtime and its version ("" where it has none)."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one case: a status of ``ANSWERED``, or ``crashed``, ``timed out`` or
    ``not run``.

    ``phase`` says how far the case got; it is "" for ``ok`` and where nobody can tell. ``stderr``
    is the end of what the worker wrote there meanwhile.
    """

    status: str
    outputs: tuple[Tensor, ...] = ()
    phase: str = ""
    message: str = ""
    stderr: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the worker's answer, without the id."""
        if self.status == "ok":
            return {"status": "ok", "outputs": [tensor.to_json() for tensor in self.outputs]}
        return {"status": self.status, "phase": self.phase, "message": self.message}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Outcome:
        """Return the inverse of ``to_json``; ProtocolError where the record is none."""
        try:
            status = record["status"]
            if status == "ok":
                return cls("ok", tuple(Tensor.from_json(tensor) for tensor in record["outputs"]))
            phase = record["phase"]
            if status not in ANSWERED or phase not in PHASES:
                raise ProtocolError(f"status {status!r} in phase {phase!r}")
            return cls(status, phase=phase, message=str(record.get("message", "")))
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise ProtocolError(f"an answer without a usable {error}") from error


def encode(record: Mapping[str, Any]) -> bytes:
    """Return the line that carries ``record``."""
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> dict[str, Any]:
    """Return the record that a line carries; ProtocolError where it carries none.

    >>> decode(b'{"cmd":"stop"}')
    {'cmd': 'stop'}
    """
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"not JSON: {line[:80]!r}") from error
    if not isinstance(record, dict):
        raise ProtocolError(f"not an object: {line[:80]!r}")
    return record


def run_request(
    id: str, model: bytes, inputs: Iterable[Tensor], outputs: Iterable[str], options: Mapping[str, bool] | None = None
) -> bytes:
    """Return the line that asks for one case: load these bytes, run them on these inputs, hand back
    the outputs of these names.

    ``options`` are of those that the worker says it heeds; ``{"optimize": False}`` asks for the
    graph as it is.
    """
    return encode(
        {
            "cmd": "run",
            "id": id,
            "model": base64.b64encode(model).decode("ascii"),
            "inputs": [tensor.to_json() for tensor in inputs],
            "outputs": list(outputs),
            **(options or {}),
        }
    )
