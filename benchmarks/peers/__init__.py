"""Everybody who takes part: one small module each, with one function.

``prepare(work, arrays, threads)`` gives a call that does the work and returns its result, or None
where the peer does not do such work. A module may offer several ways under several names. Apart
from the race, which knows no peer.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import NamedTuple, Protocol

from benchmarks.work import Array, Work

Call = Callable[[], object]


class Prepare(Protocol):
    def __call__(self, work: Work, arrays: tuple[Array, ...], threads: int) -> Call | None: ...


MODULES = ("torch", "numpy", "onnxruntime", "openvino")


class Peers(NamedTuple):
    ways: dict[str, Prepare]  # by name
    versions: dict[str, str]
    missing: tuple[str, ...]  # those that cannot be imported


def load() -> Peers:
    """The peers that are installed here."""
    ways: dict[str, Prepare] = {}
    versions: dict[str, str] = {}
    missing = []
    for name in MODULES:
        try:
            module = importlib.import_module(f"benchmarks.peers.{name}_peer")
        except ImportError:
            missing.append(name)
            continue
        ways |= module.WAYS
        versions[name] = module.VERSION
    return Peers(ways, versions, tuple(missing))
