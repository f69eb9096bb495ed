"""A runtime that an installed package brings, by an entry point."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import cast

from cypool.conformance.asking.runtimes.base import Runtime
from cypool.conformance.asking.runtimes.table import GROUP


def connect(target: str) -> Runtime:
    """Call the function registered under the name ``target``, and return the runtime that it gives.

    It is given that name, so that one function can serve several.
    """
    (point,) = entry_points(group=GROUP, name=target)
    return cast(Runtime, point.load()(target))
