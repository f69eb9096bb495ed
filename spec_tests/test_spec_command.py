"""``cypool spec``: plain lines when piped, tables of the terminal's width on one, one line for a
user's mistake.
"""

import os
import pty
import subprocess
import sys

import pytest
from click.testing import CliRunner

from cypool import spec
from cypool.cli.spec import command
from cypool.spec.facts import differences, facts


def piped(*args: str) -> list[list[str]]:
    result = CliRunner().invoke(command, args, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return [line.split("\t") for line in result.output.splitlines()]


def test_list_names_every_version_its_opsets_and_types() -> None:
    rows = piped("list")
    assert [row[0] for row in rows] == [version.name for version in spec.versions()]
    assert [row for row in rows if row[0].startswith(("GlobalLpPool", "MaxRoiPool"))] == [
        ["GlobalLpPool-1", "ai.onnx", "1", "float16, float, double"],
        ["GlobalLpPool-2", "ai.onnx", "2 to 21", "float16, float, double"],
        ["GlobalLpPool-22", "ai.onnx", "from 22 on", "float16, float, double, bfloat16"],
        ["MaxRoiPool-1", "ai.onnx", "1 to 21", "float16, float, double"],
        ["MaxRoiPool-22", "ai.onnx", "from 22 on", "float16, float, double, bfloat16"],
    ]


@pytest.mark.parametrize("version", list(spec.versions()), ids=lambda version: version.name)
def test_show_states_every_fact_and_ruling_in_lines_of_three_fields(version: spec.Version) -> None:
    rows = piped("show", version.name)
    assert {len(row) for row in rows} == {3}
    assert ["version", "name", version.name] in rows
    for (thing, field), fact in facts(version).items():
        assert [thing, field, fact] in rows
    for ruling in version.rulings:
        assert [f"ruling {ruling.id}", "choice", " ".join(ruling.choice.split())] in rows
        assert [f"ruling {ruling.id}", "chosen", ruling.chosen] in rows
        assert len([row for row in rows if row[0] == f"ruling {ruling.id}"]) == 4 + len(ruling.readings)


def test_diff_shows_what_changed_and_nothing_else() -> None:
    rows = piped("diff", "GlobalLpPool-1", "GlobalLpPool-2")
    assert ["attribute p", "type", "FLOAT", "INT"] in rows
    assert ["attribute p", "default", "2.0", "2"] in rows
    assert ["operator", "shape inference", "no", "yes"] in rows
    assert not any(row[0] == "type T" for row in rows)
    assert piped("diff", "GlobalLpPool-2", "GlobalLpPool-22") == [
        ["type T", "allowed", "float16, float, double", "float16, float, double, bfloat16"]
    ]
    assert piped("diff", "MaxRoiPool-1", "MaxRoiPool-1") == []


def test_differences_name_what_only_one_version_has() -> None:
    lp, roi = spec.version("GlobalLpPool-22"), spec.version("MaxRoiPool-22")
    found = {(d.thing, d.field): (d.old, d.new) for d in differences(lp, roi)}
    assert found["attribute p", "type"] == ("INT", "")
    assert found["input rois", "shape"] == ("", "(num_rois, 5)")
    assert ("type T", "allowed") not in found
    assert all(old != new for old, new in found.values())


def run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "cypool.cli", "spec", *args], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["show", "GlobalLpPool-3"], "unknown version 'GlobalLpPool-3'; there are GlobalLpPool-1, GlobalLpPool-2, GlobalLpPool-22"),
        (["diff", "MaxRoiPool-1", "MaxRoiPol"], f"unknown version 'MaxRoiPol'; there are {', '.join(v.name for v in spec.versions())}"),
    ],
)
def test_an_unknown_version_is_one_line_and_exit_2(args: list[str], message: str) -> None:
    done = run(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"cypool: {message}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("args", [["list"], ["show", "MaxRoiPool-1"], ["diff", "GlobalLpPool-1", "GlobalLpPool-2"]])
def test_tables_fit_a_terminal_of_80_columns(args: list[str]) -> None:
    shown = on_terminal(*args)
    assert "\t" not in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "…" not in shown


def on_terminal(*args: str) -> str:
    master, slave = pty.openpty()
    environment = os.environ | {"COLUMNS": "80", "TERM": "dumb"}
    with subprocess.Popen([sys.executable, "-m", "cypool.cli", "spec", *args], stdout=slave, stderr=slave, env=environment) as process:
        os.close(slave)
        output = b""
        try:
            while block := os.read(master, 65536):
                output += block
        except OSError:  # Linux's word for the end of a terminal
            pass
    os.close(master)
    assert process.returncode == 0, output
    return output.decode().replace("\r\n", "\n")
