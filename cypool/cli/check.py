"""``cypool check``: hold runtimes to the standard."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import cypool
from cypool.cli.selection import select
from cypool.cli.terminal import render
from cypool.conformance import records, runner
from cypool.conformance.compare import onnx_tolerance, within_ulps
from cypool.conformance.isolation import Isolated, Unavailable
from cypool.conformance.records import Header, Result
from cypool.conformance.runtimes.table import BUILT_IN

DEVIATES = 1
UNAVAILABLE = 3


class NotAvailable(click.ClickException):
    """A runtime that was asked for is not there."""

    exit_code = UNAVAILABLE


@contextmanager
def _writing(path: Path | None, header: Header) -> Iterator[Callable[[Result], None]]:
    """A function that puts a result down as its line, at once; the last line is written only where nothing went wrong."""
    if path is None:
        yield lambda result: None
        return
    try:
        file = path.open("w", encoding="utf-8", buffering=1)
    except OSError as error:
        raise click.UsageError(f"--jsonl {path}: {error.strerror}") from None
    with file:
        file.write(records.line(header.to_json()))
        written = 0

        def write(result: Result) -> None:
            nonlocal written
            file.write(records.line(result.to_json()))
            written += 1

        yield write
        file.write(records.line(records.end(written)))


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """A function that moves a bar on by one; there is no bar where standard error is no terminal."""
    console = Console(stderr=True)
    columns = TextColumn("checking"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.advance(task)


@click.command(epilog=f"Built-in names: {', '.join(BUILT_IN)}.")
@click.argument("runtimes", nargs=-1, metavar="[RUNTIME]...")
@click.option("-k", "globs", multiple=True, metavar="GLOB", help="Only cases whose whole id matches; may be repeated.")
@click.option("--op", "ops", multiple=True, metavar="NAME", help="Only this operator; may be repeated.")
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Only this element type, by ONNX's name; may be repeated.")
@click.option(
    "--ulp", type=click.IntRange(min=0), metavar="N", help="Decide by distance, at most N representable values, not by ONNX's tolerance."
)
@click.option("--timeout", default=10.0, show_default=True, type=click.FloatRange(min=0, min_open=True), help="Seconds for a case.")
@click.option("--jsonl", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write every result there, as JSON lines.")
@click.option("--gate", "gates", multiple=True, metavar="RUNTIME", help="Only this runtime decides the exit code; may be repeated.")
def command(
    runtimes: Sequence[str],
    globs: Sequence[str],
    ops: Sequence[str],
    types: Sequence[str],
    ulp: int | None,
    timeout: float,
    jsonl: Path | None,
    gates: Sequence[str],
) -> None:
    """Run the conformance cases on each RUNTIME, in a process of its own, and say how it holds to the standard.

    A RUNTIME is one of the built-in names, or any ONNX Backend: a module, or module:attribute. Without one it is cypool.

    Exit code: 0 all conform, 1 one deviates (unsupported is a deviation), 2 wrong usage, 3 a runtime is not available.
    """
    names = tuple(dict.fromkeys(runtimes)) or ("cypool",)
    for gate in gates:
        if gate not in names:
            raise click.UsageError(f"--gate {gate} is none of the runtimes of this run: {', '.join(names)}")
    cases = select(globs, ops, types)
    criterion, tolerance = (onnx_tolerance, "onnx") if ulp is None else (within_ulps(ulp), f"{ulp} ULP")
    with ExitStack() as stack:
        try:
            isolated = [stack.enter_context(closing(Isolated(name, timeout))) for name in names]
            header = Header(
                cypool.__version__,
                {runtime.name: runtime.description for runtime in isolated},
                len(cases),
                tolerance,
                {"globs": list(globs), "ops": list(ops), "types": list(types)},
                records.rulings(cases),
                records.computed(cases),
            )
            write = stack.enter_context(_writing(jsonl, header))
            done = stack.enter_context(_progress(len(cases) * len(names)))
            results = []
            for result in runner.run(isolated, cases, criterion, done):
                write(result)
                results.append(result)
        except Unavailable as error:
            raise NotAvailable(str(error)) from None
    console = Console()
    console.print(render(header, results, console))
    deciding = gates or names
    raise SystemExit(0 if all(result.conforms for result in results if result.runtime in deciding) else DEVIATES)
