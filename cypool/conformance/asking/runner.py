"""Every case on every runtime, and a result of each.

Apart from isolation and comparison so that it is only the order of things: workers work side by side, and results come as if they had not.
"""

from __future__ import annotations

import functools
import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing

from cypool.conformance.asking.isolation import Isolated, Unavailable
from cypool.conformance.asking.protocol import Outcome, run_request
from cypool.conformance.cases import models
from cypool.conformance.cases.case import Case
from cypool.conformance.judging import explained_refusals
from cypool.conformance.judging.compare import CRASHED, Criterion, Judgement, judge, onnx_tolerance
from cypool.conformance.judging.records import Result


def request_of(case: Case) -> bytes:
    """The line that asks for a case."""
    model = models.model(case).SerializeToString(deterministic=True)
    return run_request(case.id, model, models.feeds(case), case.outputs, models.variant(case).options)


def outcome_of(runtime: Isolated, case: Case) -> Outcome:
    """What comes of a case: ``not run`` where its variant asks for what the runtime's worker does not heed."""
    if unheeded := set(models.variant(case).options) - runtime.options:
        return Outcome("not run", message=f"{runtime.name} has no option {', '.join(sorted(unheeded))!r}")
    return runtime.run(case.id, request_of(case))


def examined(runtime: Isolated, case: Case, criterion: Criterion) -> tuple[Outcome, Judgement]:
    """What comes of a case, and the judgement on it."""
    outcome = outcome_of(runtime, case)
    return outcome, explained_refusals.explain_refusal(case, judge(case, outcome, criterion), functools.partial(outcome_of, runtime))


def default_workers() -> int:
    """One a processor that this process may use, up to 8: all are judged by one process, which more would wait for."""
    return min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def run(
    runtimes: Sequence[Isolated],
    cases: Sequence[Case],
    criterion: Criterion = onnx_tolerance,
    done: Callable[[], None] = lambda: None,
    workers: int = 1,
) -> Iterator[Result]:
    """The results, by runtime as given and then by case id, whatever the number of workers.

    One runtime after the other is asked, by so many processes at once. Who reads where it should not lives or dies by what other cases left
    in memory; so a case at which a process dies that had answered others is asked again of a fresh one, and what comes then counts, but a
    pass does not. ``done`` is called once for each result, as they come, from any thread.
    """
    ordered = sorted(cases, key=lambda case: case.id)
    for runtime in runtimes:
        yield from _results(runtime, ordered, functools.partial(_examine, criterion, done), workers)


def _examine(criterion: Criterion, done: Callable[[], None], runtime: Isolated, case: Case) -> Result:
    fresh = runtime.fresh
    result = _ask(criterion, runtime, case)
    if result.verdict == CRASHED and not fresh:
        alone = _ask(criterion, runtime, case)
        if not alone.conforms:
            result = alone
    done()
    return result


def _ask(criterion: Criterion, runtime: Isolated, case: Case) -> Result:
    return Result.of(runtime.name, case, *examined(runtime, case, criterion))


def _results(runtime: Isolated, cases: Sequence[Case], examine: Callable[[Isolated, Case], Result], workers: int) -> Iterator[Result]:
    """The results of one runtime, in the order of the cases, each of which is taken by whichever worker is free."""
    todo: queue.SimpleQueue[tuple[Case, Future[Result]]] = queue.SimpleQueue()
    results: list[Future[Result]] = [Future() for _ in cases]
    for question in zip(cases, results, strict=True):
        todo.put(question)
    stop = threading.Event()

    def work(worker: Isolated) -> None:
        while not stop.is_set():
            try:
                case, result = todo.get_nowait()
            except queue.Empty:
                return
            try:
                result.set_result(examine(worker, case))
            except Exception as error:  # goes up in the caller's thread
                result.set_exception(error)

    def work_beside() -> None:
        try:
            with closing(runtime.twin()) as worker:
                work(worker)
        except Unavailable:  # the others do it all
            return

    threads = [
        threading.Thread(target=work, args=(runtime,)),
        *(threading.Thread(target=work_beside) for _ in range(min(workers, len(cases)) - 1)),
    ]
    for thread in threads:
        thread.start()
    with ExitStack() as stack:
        for thread in threads:
            stack.callback(thread.join)
        stack.callback(stop.set)
        for result in results:
            yield result.result()
