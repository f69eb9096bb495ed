"""What a setting is, and what is asked of cypool in it.

Apart from the settings because these are data, and the races know no more than this.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from benchmarks.work import Work, shape_name

__all__ = ["BOTH", "ELSEWHERE", "FASTEST", "LIMIT", "ONE_THREAD", "Goal", "Setting", "shape_name"]

BOTH = (1, 2)

FASTEST = "fastest peer"
"""Of those that are given the same layout."""

ELSEWHERE = ("torch NHWC",)
"""Peers that are given another layout than cypool: shown, and held against where a goal
names them.
"""

LIMIT = "limit"
ONE_THREAD = "1 thread"


@dataclass(frozen=True)
class Goal:
    """cypool is to be ``at_least`` times as fast as ``against``: a peer, the fastest one, the
    limit, or cypool on work beside.
    """

    against: str
    at_least: float
    unless: tuple[str, float] | None = None  # or so near to something else


@dataclass(frozen=True)
class Setting:
    """One piece of work for cypool and all peers, and other work that cypool does in
    the same race.
    """

    row: str
    name: str
    work: Work
    goals: tuple[Goal, ...] = ()
    threads: tuple[int, ...] = BOTH
    beside: dict[str, Work] = field(default_factory=dict)
    quick: bool = True
    peers: bool = True
