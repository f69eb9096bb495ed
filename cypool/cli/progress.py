"""Show how far a long run is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from cypool.cli import output

SECONDS = 15.0
"""The least time between two lines, and before the first: a short run says nothing."""


@contextmanager
def progress(total: int) -> Iterator[Callable[[], None]]:
    """Give a function that counts one more, which can be called from any thread; it is shown on
    standard error.
    """
    console = output.console(stderr=True)
    if not console.is_terminal:
        yield Pulse(total).count
        return
    columns = TextColumn("checking"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.advance(task)


class Pulse:
    """Counts, and says a line now and then: how many of how many, and the time left if the rest
    takes as long.
    """

    def __init__(
        self,
        total: int,
        clock: Callable[[], float] = time.monotonic,
        say: Callable[[str], None] = lambda line: click.echo(line, err=True),
    ) -> None:
        """Start the clock."""
        self._total, self._clock, self._say = total, clock, say
        self._began = self._said = clock()
        self._count = 0
        self._lock = threading.Lock()

    def count(self) -> None:
        """Count one, and say how far it is where the last line is long enough ago."""
        with self._lock:
            self._count += 1
            now = self._clock()
            if now - self._said < SECONDS or self._count >= self._total:
                return
            self._said = now
            left = (now - self._began) / self._count * (self._total - self._count)
        self._say(f"{self._count:,} of {self._total:,}, {_duration(left)} left")


def _duration(seconds: float) -> str:
    """Say a time.

    >>> _duration(8.2), _duration(150)
    ('8 s', '2 min 30 s')
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
