"""Every case on every runtime, and a result of each.

Apart from isolation and comparison so that it is only the order of things: runtimes work side by side, and results come as if they had not.
"""

from __future__ import annotations

import functools
import queue
import threading
from collections.abc import Callable, Iterator, Sequence

from cypool.conformance import models
from cypool.conformance.case import Case
from cypool.conformance.compare import Criterion, judge, onnx_tolerance
from cypool.conformance.isolation import Isolated
from cypool.conformance.protocol import run_request
from cypool.conformance.records import Result


class _Question:
    """A case and the line that asks for it, made once for all the runtimes."""

    def __init__(self, case: Case) -> None:
        self.case = case

    @functools.cached_property
    def request(self) -> bytes:
        return request_of(self.case)


def request_of(case: Case) -> bytes:
    """The line that asks for a case."""
    model = models.model(case).SerializeToString(deterministic=True)
    return run_request(case.id, model, case.inputs, [output.name for output in case.version.outputs])


def run(
    runtimes: Sequence[Isolated],
    cases: Sequence[Case],
    criterion: Criterion = onnx_tolerance,
    done: Callable[[], None] = lambda: None,
) -> Iterator[Result]:
    """The results, by runtime as given and then by case id. ``done`` is called once for each, as they come, from any thread.

    ``Unavailable`` where a runtime that was lost can't be started again.
    """
    questions = [_Question(case) for case in sorted(cases, key=lambda case: case.id)]
    stop = threading.Event()
    queues: list[queue.SimpleQueue[Result | Exception]] = []

    def examine(runtime: Isolated, results: queue.SimpleQueue[Result | Exception]) -> None:
        try:
            for question in questions:
                if stop.is_set():
                    return
                outcome = runtime.run(question.case.id, question.request)
                results.put(Result.of(runtime.name, question.case, outcome, judge(question.case, outcome, criterion)))
                done()
        except Exception as error:  # goes up in the caller's thread
            results.put(error)

    threads = []
    for runtime in runtimes:
        queues.append(queue.SimpleQueue())
        threads.append(threading.Thread(target=examine, args=(runtime, queues[-1]), daemon=True))
        threads[-1].start()
    try:
        for results in queues:
            for _ in questions:
                result = results.get()
                if isinstance(result, Exception):
                    raise result
                yield result
    finally:
        stop.set()
        for thread in threads:
            thread.join()
