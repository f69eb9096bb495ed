"""What the command does where its output can't be written, and where it is interrupted; codes that
help states; suggestions.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cypool.cli import codes, output
from cypool.cli.group import COMMANDS, group
from cypool.cli.progress import Pulse
from cypool.conformance.corpus.atomic_directory import whole_file

FAKES = Path(__file__).with_name("fakes")
FEW = "GlobalLpPool-2/float/rank2/*"
CHECK = ("check", "cypool", "-k", FEW)


def cypool(*arguments: str, stdout: int | None = subprocess.PIPE, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "cypool_command", *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
        check=False,
    )


def paths(command: click.Command, name: str = "") -> list[tuple[str, ...]]:
    """Every command that there is, by the words that call it."""
    if not isinstance(command, click.Group):
        return [tuple(name.split())]
    context = click.Context(command)
    found = [(word, command.get_command(context, word)) for word in command.list_commands(context)]
    return [path for word, inner in found if inner for path in paths(inner, f"{name} {word}")]


@pytest.mark.parametrize("arguments", [("--help",), ("info",), ("cases", "list", FEW), CHECK])
def test_a_full_disk_is_one_line_and_a_code_of_its_own(arguments: tuple[str, ...]) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        done = cypool(*arguments, stdout=full)
    finally:
        os.close(full)
    assert (done.returncode, done.stderr) == (4, b"cypool: standard output: No space left on device\n")


@pytest.mark.parametrize("option", ["--jsonl", "--html"])
def test_a_file_on_a_full_disk_is_told_and_the_table_is_there_all_the_same(option: str) -> None:
    done = cypool(*CHECK, option, "/dev/full")
    assert (done.returncode, done.stderr.decode()) == (4, f"cypool: {option} /dev/full: No space left on device\n")
    assert b"cypool 0.1.0 conforms" in done.stdout


@pytest.mark.parametrize("arguments", [("cases", "list"), ("--help",), ("check", "-k", FEW)])
def test_a_reader_that_goes_away_ends_the_command_without_a_word(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = cypool(*arguments, stdout=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (4, b"")


def test_files_are_complete_although_the_reader_of_the_table_is_gone(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = cypool(*CHECK, "--jsonl", str(tmp_path / "run.jsonl"), stdout=writing)
    finally:
        os.close(writing)
    assert done.returncode == 4
    assert '"record":"end"' in (tmp_path / "run.jsonl").read_text().splitlines()[-1]


@pytest.mark.parametrize("arguments", [("spec", "show", "MaxRoiPool-1"), CHECK])
def test_what_an_encoding_lacks_is_replaced(arguments: tuple[str, ...]) -> None:
    done = cypool(*arguments, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii() and done.stdout


def test_reports_are_written_in_the_same_run_as_report_makes_them(tmp_path: Path) -> None:
    forms = ("jsonl", "html", "junit", "markdown")
    assert cypool(*CHECK, *(part for form in forms for part in (f"--{form}", str(tmp_path / form)))).returncode == 0
    for form in forms[1:]:
        assert cypool("report", str(tmp_path / "jsonl"), f"--{form}", str(tmp_path / f"{form}2")).returncode == 0
        assert (tmp_path / form).read_bytes() == (tmp_path / f"{form}2").read_bytes() != b""


def test_a_file_is_whole_or_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    path.chmod(0o640)
    with pytest.raises(ZeroDivisionError), whole_file(path) as file:
        file.write("half")
        raise ZeroDivisionError
    assert [found.name for found in tmp_path.iterdir()] == ["file"]
    assert path.read_text() == "before"
    with whole_file(path) as file:
        file.write("after\ud800")
        assert path.read_text() == "before"
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("after?", 0o640)


def test_a_new_file_has_the_mode_of_the_umask_and_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    before = os.umask(0o027)
    try:
        with whole_file(tmp_path / "link") as file:
            file.write("x")
    finally:
        os.umask(before)
    assert (tmp_path / "link").is_symlink()
    assert ((tmp_path / "target").read_text(), (tmp_path / "target").stat().st_mode & 0o777) == ("x", 0o640)


@pytest.mark.parametrize(
    "arguments",
    [
        (*CHECK, "--bundle", "{file}/bundles"),
        (*CHECK, "--bundle", "{file}"),
        (*CHECK, "--html", "{file}/page"),
        ("cases", "export", "{file}/corpus"),
        ("cases", "export", "{file}"),
        (*CHECK, "--min-cases", "1000000"),
    ],
)
def test_a_place_where_nothing_can_be_written_is_wrong_usage(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = cypool(*(word.format(file=tmp_path / "file") for word in arguments))
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1), done


@pytest.mark.parametrize("words", paths(group), ids=" ".join)
def test_help_states_the_exit_codes(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(group, [*words, "--help"])
    said = " ".join(done.output.split())
    stated = {int(code) for code in re.findall(r"(?:Exit code:|,) (\d+) ", said)}
    assert {codes.DONE, codes.WRONG_USAGE, codes.NOT_WRITTEN, codes.INTERRUPTED} <= stated
    assert (codes.DEVIATES in stated) == (words[-1] in ("check", "smoke", "replay", "report", "verify"))


def test_a_fault_of_our_own_is_no_deviation(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("cypool.cli.info.info", lambda: {}["nothing"])
    monkeypatch.setattr(sys, "argv", ["cypool", "info"])
    with pytest.raises(SystemExit) as ended:
        from cypool.cli.group import run

        run()
    assert ended.value.code == 70
    assert "KeyError: 'nothing'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [
        (("chekc",), "did you mean 'check'?"),
        (("cases", "lst"), "did you mean 'list'?"),
        (("check", "--op", "maxroipool"), "did you mean 'MaxRoiPool'?"),
        (("check", "--type", "flot"), "did you mean 'float'"),
        (("check", "onnxruntim"), "did you mean 'onnxruntime'?"),
        (("check", "--gate", "cypol"), "did you mean 'cypool'?"),
        (("spec", "show", "MaxRoiPol-22"), "did you mean 'MaxRoiPool-22'"),
        (("spec", "diff", "MaxRoiPool", "maxroipool-1"), "did you mean 'MaxRoiPool-1'"),
    ],
)
def test_a_misspelt_word_is_answered_with_a_suggestion(arguments: tuple[str, ...], suggestion: str) -> None:
    done = cypool(*arguments)
    assert done.returncode == (3 if "onnxruntim" in arguments else 2)
    assert suggestion in done.stderr.decode()


def test_types_go_by_the_names_of_numpy_too_and_an_operator_means_its_newest_version() -> None:
    assert cypool("check", "-k", FEW, "--type", "float32").returncode == 0
    done = cypool("check", "-k", FEW, "--type", "float64")
    assert done.returncode == 2 and b"no case matches" in done.stderr
    assert cypool("spec", "show", "MaxRoiPool").stdout == cypool("spec", "show", "MaxRoiPool-22").stdout != b""


@pytest.mark.parametrize(
    ("module", "source", "message"),
    [
        ("bad_syntax", "def x(:", "SyntaxError: invalid syntax (bad_syntax.py, line 1)"),
        ("needs_more", "import no_such_thing", "(it needs the module 'no_such_thing': install what provides it)"),
    ],
)
def test_a_backend_that_can_not_be_imported_is_told_why(module: str, source: str, message: str, tmp_path: Path) -> None:
    (tmp_path / f"{module}.py").write_text(source)
    done = cypool("check", module, PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stderr.count(b"\n")) == (3, 1)
    assert done.stderr.decode().endswith(f"{message}\n")


def test_an_interrupt_is_one_line_and_leaves_the_table_of_what_was_done(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import pathlib, time\n"
        "def prepare(model, device):\n"
        f"    pathlib.Path({str(tmp_path / 'begun')!r}).open('a').write('x')\n"
        "    time.sleep(0.2)\n"
        "    raise RuntimeError('no')\n"
    )
    command = [sys.executable, "-m", "cypool_command", "check", "slow", "--workers", "1", "--jsonl", str(tmp_path / "run.jsonl")]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(tmp_path)}, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "begun").exists() or len((tmp_path / "begun").read_text()) < 4:
        assert time.monotonic() < deadline and running.poll() is None
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    said, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert re.fullmatch(rb"cypool: interrupted after [1-9]\d* of \d+,\d\d\d, which the table is about\n", errors), errors
    assert b"load error" in said
    assert not list(tmp_path.glob("*run.jsonl*")) and not list(tmp_path.glob(".*"))


def test_a_long_run_says_now_and_then_how_far_it_is() -> None:
    now, said = 0.0, list[str]()
    pulse = Pulse(100, lambda: now, said.append)
    for second in range(1, 101):
        now = float(second)
        pulse.count()
    assert said[:2] == ["15 of 100, 1 min 25 s left", "30 of 100, 1 min 10 s left"]
    assert len(said) == 6


def test_every_command_is_in_the_table_of_times() -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    timed = readme.partition("## How long it takes")[2].partition("\n## ")[0]
    for name in {words[0] for words in paths(group)}:
        assert f"`cypool {name}" in timed, name
    assert set(COMMANDS) == {words[0] for words in paths(group)}


def test_an_error_of_the_path_is_wrong_usage_and_one_of_the_disk_is_not() -> None:
    assert output.not_written("x", OSError(28, "full")).exit_code == 4
    assert output.not_written("x", OSError(13, "denied")).exit_code == 2
