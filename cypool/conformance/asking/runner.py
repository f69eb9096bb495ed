"""Run every case on every runtime, and yield a result of each.

Workers run side by side, and results come in the order of one worker.
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
    """Return the line that asks for a case."""
    model = models.model(case).SerializeToString(deterministic=True)
    return run_request(case.id, model, models.feeds(case), case.outputs, models.variant(case).options)


def outcome_of(runtime: Isolated, case: Case) -> Outcome:
    """Ask for a case; ``not run`` where its variant needs an option that the worker
    does not heed.
    """
    if unheeded := set(models.variant(case).options) - runtime.options:
        return Outcome("not run", message=f"{runtime.name} has no option {', '.join(sorted(unheeded))!r}")
    return runtime.run(case.id, request_of(case))


def examined(runtime: Isolated, case: Case, criterion: Criterion) -> tuple[Outcome, Judgement]:
    """Ask for a case, and return its outcome and the judgement on it."""
    outcome = outcome_of(runtime, case)
    return outcome, explained_refusals.explain_refusal(case, judge(case, outcome, criterion), functools.partial(outcome_of, runtime))


def default_workers() -> int:
    """Return one worker per available CPU, at most 8.

    One process judges all outcomes, and would become the bottleneck.
    """
    return min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def run(
    runtimes: Sequence[Isolated],
    cases: Sequence[Case],
    criterion: Criterion = onnx_tolerance,
    done: Callable[[], None] = lambda: None,
    workers: int = 1,
) -> Iterator[Result]:
    """Yield the results by runtime as given, then by case id, whatever the number of workers.

    The runtimes are asked one after the other, each by ``workers`` processes. An out-of-bounds read
    may crash or not depending on earlier cases. A case that kills a used worker is therefore rerun
    in a fresh one; the second verdict counts, unless it is a pass. ``done`` is called once for each
    result, as they come, from any thread.
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
    """Yield the results of one runtime in the order of the cases; each is run by a worker that is
    free.
    """
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
