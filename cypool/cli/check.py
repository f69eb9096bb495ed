"""``cypool check``: hold runtimes to the standard."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import click
from rich.console import RenderableType

import cypool
from cypool.cli import codes, expecting, output, reports
from cypool.cli.progress import progress
from cypool.cli.selection import select
from cypool.cli.suggestions import did_you_mean
from cypool.cli.terminal import render
from cypool.conformance.asking import runner
from cypool.conformance.asking.isolation import Isolated, Unavailable
from cypool.conformance.asking.runtimes.table import BUILT_IN, installed
from cypool.conformance.cases import instances
from cypool.conformance.cases.case import Case
from cypool.conformance.cases.variants import VARIANTS
from cypool.conformance.corpus.atomic_directory import refuse_occupied
from cypool.conformance.expectations.strict import Held
from cypool.conformance.findings import bundle as bundles
from cypool.conformance.judging import records
from cypool.conformance.judging.compare import Criterion, onnx_tolerance, within_ulps
from cypool.conformance.judging.explanations import by_answers, drop_contradicted
from cypool.conformance.judging.records import Header, Result


class NotAvailable(click.ClickException):
    """A runtime that was asked for is not there."""

    exit_code = codes.UNAVAILABLE


def _refuse_occupied(bundle: Path | None) -> None:
    """Before the run rather than after it."""
    try:
        if bundle is not None:
            refuse_occupied(bundle)
    except FileExistsError as error:
        raise click.UsageError(f"--bundle: {error}") from None
    except OSError as error:
        raise output.not_written(f"--bundle {bundle}", error) from None


def _write_bundles(
    bundle: Path | None, runtimes: Sequence[Isolated], results: Sequence[Result], cases: Sequence[Case], ulp: int | None
) -> None:
    try:
        if bundle is not None:
            bundles.write_all(bundle, runtimes, results, cases, ulp)
    except OSError as error:
        raise output.not_written(f"--bundle {bundle}", error) from None


EPILOG = f"""\
Built-in names: {", ".join(BUILT_IN)}.

{codes.told("all conform", {codes.DEVIATES: "one deviates (unsupported is a deviation)", codes.UNAVAILABLE: "a runtime is not available"})}
Of a runtime that has a list, by --expect: 0 all is as listed, 1 anything is not.
"""


@click.command(epilog=EPILOG)
@click.argument("runtimes", nargs=-1, metavar="[RUNTIME]...")
@click.option("-k", "globs", multiple=True, metavar="GLOB", help="Only cases whose whole id matches; may be repeated.")
@click.option("--op", "ops", multiple=True, metavar="NAME", help="Only this operator; may be repeated.")
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Only this element type, by ONNX's name or numpy's; may be repeated.")
@click.option("--all", "every_case", is_flag=True, help="All cases. Without this and without -k, the core of them.")
@click.option("--all-opsets", is_flag=True, help="At every opset of a version, not only at its first and its last.")
@click.option(
    "--variant",
    "variants",
    multiple=True,
    type=click.Choice(list(VARIANTS)),
    help="Each case in another model, too; may be repeated. "
    + "; ".join(f"{variant.name}: {variant.text}" for variant in VARIANTS.values())
    + ".",
)
@click.option("--min-cases", type=click.IntRange(min=1), metavar="N", help="Fail where fewer cases than that are selected.")
@click.option(
    "--ulp", type=click.IntRange(min=0), metavar="N", help="Decide by distance, at most N representable values, not by ONNX's tolerance."
)
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Processes a runtime; without it, one a processor, up to 8.")
@click.option("--timeout", default=10.0, show_default=True, type=click.FloatRange(min=0, min_open=True), help="Seconds for a case.")
@click.option("--jsonl", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write every result there, as JSON lines.")
@reports.options
@click.option(
    "--bundle", type=click.Path(path_type=Path), metavar="DIR", help="Write files for each finding there: see it, rerun it, file it."
)
@click.option(
    "--expect",
    "lists",
    multiple=True,
    metavar="FILE",
    help=f"A list of what is expected of a runtime, which decides then; {expecting.SHIPPED!r}: those that come with cypool.",
)
@click.option("--update-expectations", is_flag=True, help="Bring each --expect FILE up to date, and say what changed.")
@click.option("--gate", "gates", multiple=True, metavar="RUNTIME", help="Only this runtime decides the exit code; may be repeated.")
@click.option("--installed", "all_installed", is_flag=True, help="Check every runtime that is installed, built in or registered, too.")
def command(
    runtimes: Sequence[str],
    globs: Sequence[str],
    ops: Sequence[str],
    types: Sequence[str],
    every_case: bool,
    all_opsets: bool,
    variants: Sequence[str],
    min_cases: int | None,
    ulp: int | None,
    workers: int | None,
    timeout: float,
    jsonl: Path | None,
    markdown_path: Path | None,
    junit_path: Path | None,
    html_path: Path | None,
    bundle: Path | None,
    lists: Sequence[str],
    update_expectations: bool,
    gates: Sequence[str],
    all_installed: bool,
) -> None:
    """Run the conformance cases on each RUNTIME, in processes of its own, and say how it holds to
    the standard.

    A RUNTIME is one of the built-in names, or any ONNX Backend: a module, or module:attribute; or a
    name that a package registers, or exec:PROGRAM, where the program speaks the protocol of
    docs/protocol.md. Without one it is cypool.

    Without --all, it runs the core of the cases: of every version and type each shape, setting and
    kind of values at least once, everything on which the standard is silent, and every fault of a
    version. With -k, it chooses among all.

    Each case is run at the first and at the last opset where its version is in force; the id of the
    latter ends in @ and the opset.
    """
    names = tuple(dict.fromkeys((*runtimes, *(installed() if all_installed else ())))) or ("cypool",)
    for gate in gates:
        if gate not in names:
            raise click.UsageError(f"--gate {gate} is none of the runtimes of this run: {', '.join(names)}{did_you_mean(gate, names)}")
    _refuse_occupied(bundle)
    variants = tuple(dict.fromkeys(variants))
    spread = functools.partial(instances.spread, every_opset=all_opsets, variants=variants)
    cases = select(globs, ops, types, spread, core=not (every_case or globs))
    if min_cases is not None and len(cases) < min_cases:
        raise click.UsageError(f"{len(cases):,} cases are selected, fewer than --min-cases {min_cases}")
    criterion, tolerance = (onnx_tolerance, "onnx") if ulp is None else (within_ulps(ulp), f"{ulp} ULP")
    paths = {"markdown": markdown_path, "junit": junit_path, "html": html_path}
    with ExitStack() as stack:
        try:
            isolated = [stack.enter_context(closing(Isolated(name, timeout))) for name in names]
        except Unavailable as error:
            raise NotAvailable(str(error)) from None
        header = Header(
            cypool.__version__,
            {runtime.name: runtime.description for runtime in isolated},
            len(cases),
            tolerance,
            {
                "globs": list(globs),
                "ops": list(ops),
                "types": list(types),
                "cases": "all" if every_case or globs else "core",
                "opsets": "all" if all_opsets else "first and last",
                "variants": list(variants),
            },
            records.rulings(cases),
            records.computed(cases),
        )
        expected = expecting.lists_of(lists, header, update_expectations)
        files = ExitStack()
        stack.push(files)  # where anything goes wrong before they are filled, they vanish
        keep = files.enter_context(output.writing(jsonl, "--jsonl")) if jsonl else None
        write_reports = files.enter_context(reports.opened(paths))
        results, interrupted = _run(isolated, cases, criterion, workers or runner.default_workers())
        results = drop_contradicted(results, cases)
        console = output.console()
        if interrupted:
            console.print(render(header, results, console))
            total = len(cases) * len(names)
            raise output.Interrupted(f"interrupted after {len(results):,} of {total:,}, which the table is about")
        against = by_answers(cases, criterion)
        held: dict[str, Held] = {}
        changes: RenderableType = ""
        try:
            if update_expectations:
                expected, changes = expecting.update(expected, header, results, against)
            held = expecting.held(expected, header, results, against)
            failed = None
            try:
                _write_bundles(bundle, isolated, results, cases, ulp)
            except click.ClickException as error:  # the other files are written all the same
                failed, bundle = error, None
            with files:
                if keep is not None:
                    keep.writelines(records.lines(header, results))
                write_reports(header, results, expected, held, bundle)
            if failed:
                raise failed
        finally:  # a table that took minutes is not lost where a file can't be written
            if output.DASH not in paths.values():
                console.print(render(header, results, console))
                console.print(changes, expecting.render(expected, header, held), sep="\n")
    deciding = gates or names
    raise SystemExit(codes.DONE if all(expecting.well(name, results, held) for name in deciding) else codes.DEVIATES)


def _run(runtimes: Sequence[Isolated], cases: Sequence[Case], criterion: Criterion, workers: int) -> tuple[list[Result], bool]:
    """Return the results, and whether the user ended the run before it had all of them."""
    results: list[Result] = []
    try:
        with progress(len(cases) * len(runtimes)) as done:
            for result in runner.run(runtimes, cases, criterion, done, workers):
                results.append(result)  # noqa: PERF402 (an interrupt leaves what there is)
    except KeyboardInterrupt:
        return results, True
    return results, False
