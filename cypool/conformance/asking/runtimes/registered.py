"""A runtime that an installed package brings, by an entry point.

Apart from the table, which says only that it is there: here its package is imported.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import cast

from cypool.conformance.asking.runtimes.base import Runtime
from cypool.conformance.asking.runtimes.table import GROUP


def connect(target: str) -> Runtime:
    """What the function registered under the name ``target`` gives; it is given that name, so that one function can serve several."""
    (point,) = entry_points(group=GROUP, name=target)
    return cast(Runtime, point.load()(target))
