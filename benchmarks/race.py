"""A race: one setting, one number of threads, everybody who can do the work; checked first, then
timed.

Apart from the timing because here is decided who takes part and whose answer counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks import limit, timing
from benchmarks.peers import Call, Prepare, cypool_peer
from benchmarks.settings.goals import ELSEWHERE, FASTEST, LIMIT, ONE_THREAD, Goal, Setting
from benchmarks.work import Array, Work

CYPOOL = "cypool"

TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 1e-3, "float64": 1e-11}
"""How far a peer's sums and norms may be from cypool's, relative to theirs, or to what all of them
have in the mean.
"""

EXACT = ("MaxRoiPool", "MaxPool", "GlobalMaxPool", "MaxUnpool")
"""Operators whose values have to be the same."""


@dataclass
class Result:
    """The times of a race, and who was left out."""

    setting: Setting
    threads: int
    best: bool = False  # ratios of best samples rather than of medians
    times: dict[str, timing.Times] = field(default_factory=dict)
    peers: list[str] = field(default_factory=list)
    differ: dict[str, str] = field(default_factory=dict)  # whose answer was another

    @property
    def rivals(self) -> list[str]:
        """The peers that had the same layout."""
        return [name for name in self.peers if name not in ELSEWHERE]

    def ratio(self, against: str) -> float | None:
        """How many times as fast as it cypool was; None where it did not run."""
        if against == FASTEST:
            return min((self.times[name].over(self.times[CYPOOL], self.best) for name in self.rivals), default=None)
        return self.times[against].over(self.times[CYPOOL], self.best) if against in self.times else None

    def verdicts(self) -> Iterator[tuple[Goal, float, bool]]:
        """What was asked, what was reached, and whether that is enough."""
        for goal in self.setting.goals:
            reached = self.ratio(goal.against)
            if reached is not None:
                spared = self.ratio(goal.unless[0]) if goal.unless else None
                met = reached >= goal.at_least or (spared is not None and goal.unless is not None and spared >= goal.unless[1])
                yield goal, reached, met


def run(setting: Setting, threads: int, all_threads: bool, ways: dict[str, Prepare], effort: timing.Effort, best: bool) -> Result:
    """Prepare everybody, hold their answers against cypool's, and time those that agree."""
    result = Result(setting, threads, best)
    arrays: dict[Work, tuple[Array, ...]] = {work: work.arrays() for work in (setting.work, *setting.beside.values())}
    wish = None if all_threads else threads
    inputs = arrays[setting.work]
    calls: dict[str, Call] = {CYPOOL: cypool_peer.prepare(setting.work, inputs, wish)}
    expected = as_array(calls[CYPOOL]())
    if threads > 1:
        calls[ONE_THREAD] = cypool_peer.prepare(setting.work, inputs, 1)
        if as_array(calls[ONE_THREAD]()).tobytes() != expected.tobytes():
            result.differ[ONE_THREAD] = "other bits"
    bound = limit.prepare(setting.work, inputs, threads)
    if bound:
        bound()
        calls[LIMIT] = bound
    for name, work in setting.beside.items():
        calls[name] = cypool_peer.prepare(work, arrays[work], wish)
        calls[name]()
    for name, prepare in ways.items() if setting.peers else ():
        try:
            call = prepare(setting.work, inputs, threads)
            answer = as_array(call()) if call else None
        except Exception as error:  # a peer may not support what it was given, and each says so in its own way
            result.differ[name] = f"{type(error).__name__}"
            continue
        if call and answer is not None:
            fault = difference(setting.work, expected, answer)
            if fault:
                result.differ[name] = fault
            else:
                calls[name] = call
                result.peers.append(name)
    result.times = timing.interleaved(calls, effort)
    return result


def difference(work: Work, expected: Array, answer: Array) -> str:
    """How an answer differs, or nothing."""
    if answer.size != expected.size:
        return f"shape {answer.shape}"
    a = expected.astype("float64").ravel()
    b = answer.astype("float64").ravel()
    if work.op in EXACT:
        wrong = int((a != b).sum())
        return f"{wrong} of {a.size} values differ" if wrong else ""
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(a), np.mean(np.abs(a)) if signed(work) else np.finfo("float64").tiny)
        worst = float(np.max(np.abs(a - b) / size))
    return "" if worst <= TOLERANCE[work.dtype] else f"off by {worst:.1e}"


def signed(work: Work) -> bool:
    """Whether an answer may be small where its terms are not."""
    return "Average" in work.op or work.op == "RoiAlign"


def as_array(result: Any) -> Array:
    """The first output of whatever a peer returns."""
    if isinstance(result, np.ndarray):
        return result
    if isinstance(result, tuple):
        return as_array(result[0])
    if hasattr(result, "detach"):  # torch
        return np.asarray(result.float() if "bfloat16" in str(result.dtype) else result)
    return np.asarray(result[0])
