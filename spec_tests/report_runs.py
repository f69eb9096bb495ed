"""Two small made-up runs, every verdict in them and texts that try to be markup, and the reports of
them that are kept in data/reports.

Run as a program it writes those reports anew; what then changed there is for a reviewer to read.
"""

from __future__ import annotations

import dataclasses
import io
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

from rich.console import Console

from cypool.cli.terminal import render, render_diff
from cypool.conformance.asking.protocol import Description
from cypool.conformance.judging import compare
from cypool.conformance.judging.excerpt import Excerpt
from cypool.conformance.judging.records import Header, Result
from cypool.conformance.reports.diff import differences
from cypool.conformance.reports.junit import junit
from cypool.conformance.reports.markdown import diff_markdown, markdown
from cypool.conformance.reports.merge import Run
from cypool.conformance.reports.page import page
from cypool.spec.model import Reading, Ruling

KEPT = Path(__file__).with_name("data") / "reports"

NAN = Ruling(
    "nan",
    "What of NaN?",
    "It wins.",
    "",
    (Reading("never", "It is passed over.", (), False), Reading("last", "Only <i>seen</i> | last.")),
    (1,),
    "wins",
)
RANGE = Ruling("p-range", "Which p?", "Those above 0.", "", (Reading("any-p", "All."),), (1, 2), "above-0")
RULINGS = {"GlobalLpPool": (RANGE,), "MaxRoiPool": (NAN,)}

HOSTILE = "No <script>alert(1)</script> | for *this* `node`\n\x1b[31mred\x1b[0m --> </script>"


def excerpt(*values: str, name: str = "Y") -> tuple[Excerpt, ...]:
    return (Excerpt(name, "float", (1, len(values)), 0, values),)


def result(runtime: str, case: str, verdict: str, message: str = "", **more: object) -> Result:
    """A result with what goes without saying filled in."""
    version, type, *_ = case.split("/")
    op, _, since = version.partition("-")
    opset = int(case.partition("@")[2].partition("+")[0] or since)
    plain = Result(runtime, case, op, int(since), type, None, (), 2, verdict, "", message, None, "", {}, "")
    plain = dataclasses.replace(plain, opset=opset, variant=case.partition("+")[2])
    plain = dataclasses.replace(plain, attributes={"p": "INT 2"}, inputs=excerpt("3.0", "-4.0", name="X"), expected=excerpt("5.0"))
    if verdict == "pass":
        plain = dataclasses.replace(plain, ulp=0, got=plain.expected)
    if more.get("fault") or verdict in compare.STATUS_VERDICTS.values() or verdict == compare.LOAD_ERROR:
        plain = dataclasses.replace(plain, expected=(), got=())
    return dataclasses.replace(plain, **more)


def both(case: str, **more: object) -> list[Result]:
    """The same pass of both runtimes."""
    return [result(runtime, case, "pass", **more) for runtime in ("sharp", "blunt")]


FALLS = {"rulings": ("nan",), "got": excerpt("0.0"), "ulp": 1084227584}
RUNTIMES = {"sharp": Description("sharp", "2.1"), "blunt": Description("blunt", "0.9")}
OLD: Run = (
    Header("0.1.0", RUNTIMES, 11, "onnx", {}, RULINGS, ("last", "never")),
    [
        *both("GlobalLpPool-1/float/ramp"),
        *both("GlobalLpPool-2/bfloat16/ramp", ulp=1),
        result("sharp", "GlobalLpPool-2/float/p-0", "pass", fault="p is 0", rulings=("p-range",)),
        result("blunt", "GlobalLpPool-2/float/p-0", "accepted what is invalid", "p is 0", fault="p is 0", rulings=("p-range",),
               got=excerpt("7.0")),
        result("sharp", "GlobalLpPool-2/float/ramp", "pass"),
        result("blunt", "GlobalLpPool-2/float/ramp", "wrong type", "Y is double, expected float", got=excerpt("5.0"), elements=1),
        result("sharp", "GlobalLpPool-2/float/zeros", "pass"),
        result("blunt", "GlobalLpPool-2/float/zeros", "load error", HOSTILE, phase="load"),
        result("sharp", "MaxRoiPool-1/double/far", "pass"),
        result("blunt", "MaxRoiPool-1/double/far", "crashed", "killed by SIGSEGV", stderr="\x1b[31mwhat(): </pre>\x1b[0m\nfar away"),
        result("sharp", "MaxRoiPool-1/double/hang", "pass"),
        result("blunt", "MaxRoiPool-1/double/hang", "timed out", "no answer in 10 s"),
        result("sharp", "MaxRoiPool-1/double/late", "pass"),
        result("blunt", "MaxRoiPool-1/double/late", "not run", "it can't be started again"),
        result("sharp", "MaxRoiPool-1/float/nan", "reads it differently", "Y[0, 0] is 5.0, expected nan", **FALLS, reading="last",
               readings={"nan": ("last",)}),
        result("blunt", "MaxRoiPool-1/float/nan", "wrong value", "Y[0, 0] is 0.0, expected nan; known fault: never", **FALLS,
               reading="never", readings={"nan": ("never",)}),
        result("sharp", "MaxRoiPool-1/float/ramp@21+symbolic", "pass"),
        result("blunt", "MaxRoiPool-1/float/ramp@21+symbolic", "wrong shape", "Y has shape (1,), expected (1, 1)", elements=9,
               got=excerpt("5.0")),
        result("sharp", "MaxRoiPool-22/float16/ramp", "pass"),
        result("blunt", "MaxRoiPool-22/float16/ramp", "unsupported", "no kernel"),
    ],
)  # fmt: skip


def _newer() -> Run:
    """Of a version of blunt in which one thing broke, one was fixed, one is otherwise different,
    one case went and one came.
    """
    header, results = OLD
    own = {found.case: found for found in results if found.runtime == "blunt"}
    own["GlobalLpPool-1/float/ramp"] = result("blunt", "GlobalLpPool-1/float/ramp", "error", "out of luck", phase="run")
    own["MaxRoiPool-1/float/nan"] = result("blunt", "MaxRoiPool-1/float/nan", "pass", rulings=("nan",), readings={"nan": ("as ruled",)})
    own["MaxRoiPool-1/double/hang"] = result("blunt", "MaxRoiPool-1/double/hang", "unsupported", "no kernel")
    del own["MaxRoiPool-22/float16/ramp"]
    own["MaxRoiPool-22/double/ramp"] = result("blunt", "MaxRoiPool-22/double/ramp", "pass")
    return dataclasses.replace(header, runtimes={"blunt": Description("blunt", "1.0")}), list(own.values())


NEW = _newer()


def _terminal(show: Callable[[Console], object]) -> str:
    console = Console(file=io.StringIO(), width=100, color_system=None, legacy_windows=False)
    console.print(show(console))
    return "".join(line.rstrip() + "\n" for line in console.file.getvalue().splitlines())


def _bare(text: str) -> str:
    """The page without its style and its script, which are files of their own."""
    return re.sub(r"(<style>|<script>)\n.*?\n(</style>|</script>)", r"\1\2", text, flags=re.DOTALL)


def reports() -> dict[str, str]:
    """Every report by the name of its file."""
    tree = ElementTree.ElementTree(ElementTree.fromstring(junit(*OLD)))
    ElementTree.indent(tree)
    found = differences(OLD, NEW)
    return {
        "run.txt": _terminal(lambda console: render(*OLD, console)),
        "run.md": markdown(*OLD),
        "run.xml": ElementTree.tostring(tree.getroot(), encoding="unicode") + "\n",
        "run.html": _bare(page(*OLD)),
        "diff.txt": _terminal(lambda console: render_diff(NEW[0], found)),
        "diff.md": diff_markdown(NEW[0], found),
    }


if __name__ == "__main__":
    KEPT.mkdir(parents=True, exist_ok=True)
    for name, text in reports().items():
        (KEPT / name).write_text(text, encoding="utf-8", newline="\n")
