"""The clock: contestants take turns, several rounds, so that whatever else the machine does falls
on all of them alike.

Apart from the race because it knows only calls and times.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import repeat

Call = Callable[[], object]


@dataclass(frozen=True)
class Effort:
    """How much time to spend."""

    rounds: int
    turn: float  # seconds that a contestant calls on in one round, at least once
    slow: float  # a call longer than this has no warm-up and only ``slow_rounds`` rounds
    slow_rounds: int
    pause: float  # before a turn, as threads of the one before spin on for some milliseconds and leave no processor to a second thread


QUICK = Effort(rounds=3, turn=0.004, slow=0.05, slow_rounds=1, pause=0.009)
FULL = Effort(rounds=9, turn=0.03, slow=0.25, slow_rounds=3, pause=0.02)

SAMPLE = 100e-6
"""Seconds that a sample takes at least; shorter calls are repeated within it."""


@dataclass
class Times:
    """Seconds a call, one list of samples a round."""

    rounds: list[list[float]] = field(default_factory=list)

    @property
    def all(self) -> list[float]:
        return [sample for samples in self.rounds for sample in samples]

    @property
    def median(self) -> float:
        return statistics.median(self.all)

    @property
    def spread(self) -> float:
        """Half of the samples lie within this part of the median around it."""
        if len(self.all) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.all, n=4)
        return (high - low) / self.median / 2

    def over(self, other: Times, best: bool = False) -> float:
        """How many times as long as the other: the median of the rounds' ratios, which drift cannot
        touch, or the ratio of best samples.
        """
        if best:
            return min(self.all) / min(other.all)
        pairs = zip(self.rounds, other.rounds, strict=False)
        return statistics.median(statistics.median(mine) / statistics.median(theirs) for mine, theirs in pairs)


def interleaved(calls: Mapping[str, Call], effort: Effort) -> dict[str, Times]:
    """Time all calls, turn by turn; each has been called at least once before."""
    times = {name: Times() for name in calls}
    estimates = {name: _once(call) for name, call in calls.items()}
    names = list(calls)
    enabled = gc.isenabled()
    gc.disable()
    try:
        for round_ in range(effort.rounds):
            for name in names[round_ % len(names) :] + names[: round_ % len(names)]:
                slow = estimates[name] > effort.slow
                if not slow or round_ < effort.slow_rounds:
                    time.sleep(effort.pause)
                    times[name].rounds.append(turn(calls[name], estimates[name], 0 if slow else effort.turn))
                    estimates[name] = statistics.median(times[name].rounds[-1])
    finally:
        if enabled:
            gc.enable()
    return times


def turn(call: Call, estimate: float, seconds: float) -> list[float]:
    """The samples of one turn."""
    inner = max(1, round(SAMPLE / max(estimate, 1e-8)))
    if seconds:
        for _ in range(inner):
            call()
    samples = []
    clock = time.perf_counter
    end = clock() + seconds
    while True:
        start = clock()
        for _ in repeat(None, inner):
            call()
        stop = clock()
        samples.append((stop - start) / inner)
        if stop >= end:
            return samples


def _once(call: Call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
