"""The process that holds one runtime: reads requests from standard input, answers on standard
output.

A process apart because a runtime can hang, abort, print or read where it should not, and none of
that may reach the run or the others.

``python -m cypool.conformance.asking.worker RUNTIME``
"""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Callable
from typing import IO, Any

from cypool.conformance.asking.protocol import PROTOCOL, Outcome, decode, encode
from cypool.conformance.asking.runtimes.base import Run, Runtime, Unsupported
from cypool.conformance.asking.runtimes.table import connect
from cypool.conformance.tensors import Tensor

LONGEST_MESSAGE = 2000
UNOPTIMIZED = "load_unoptimized"


def private_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Return the protocol's streams, and put others in their place.

    From here on code that prints writes to standard error, and code that reads finds nothing.
    """
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def explain(error: BaseException) -> str:
    """``ValueError: what it said``, cut where it goes on for pages."""
    return f"{type(error).__name__}: {error}"[:LONGEST_MESSAGE]


def attempt(runtime: Runtime, model: bytes, inputs: list[Tensor], outputs: list[str], optimize: bool = True) -> Outcome:
    """Load and run one model, and say how far it got."""
    phase = "load"
    try:
        load: Callable[[bytes], Run] = runtime.load if optimize else getattr(runtime, UNOPTIMIZED)
        run = load(model)
        phase = "run"
        return Outcome("ok", tuple(run(inputs, outputs)))
    except Unsupported as claim:
        return Outcome("unsupported", phase=phase, message=str(claim)[:LONGEST_MESSAGE])
    except Exception as error:
        return Outcome("error", phase=phase, message=explain(error))


def describe(runtime: Runtime, request: dict[str, Any]) -> dict[str, Any]:
    """Answer ``describe``."""
    description = runtime.describe()
    options = ["optimize"] if hasattr(runtime, UNOPTIMIZED) else []
    return {"name": description.name, "version": description.version, "protocol": PROTOCOL, "options": options}


def run(runtime: Runtime, request: dict[str, Any]) -> dict[str, Any]:
    """Answer ``run``."""
    inputs = [Tensor.from_json(tensor) for tensor in request["inputs"]]
    outcome = attempt(runtime, base64.b64decode(request["model"]), inputs, request["outputs"], request.get("optimize", True))
    return {"id": request["id"], **outcome.to_json()}


COMMANDS: dict[str, Callable[[Runtime, dict[str, Any]], dict[str, Any]]] = {"describe": describe, "run": run}


def main(name: str) -> int:
    """Serve the runtime ``name`` until ``stop`` or the end of input; 1 where it can't be had, after
    saying why to the first request.
    """
    requests, answers = private_streams()

    def say(record: dict[str, Any]) -> None:
        answers.write(encode(record))
        answers.flush()

    try:
        runtime = connect(name)
        runtime.describe()
    except Exception as error:
        missing = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
        say({"status": "unavailable", "message": explain(error), "missing": missing})
        return 1
    for line in requests:
        request = decode(line)
        if request["cmd"] == "stop":
            break
        say(COMMANDS[request["cmd"]](runtime, request))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
