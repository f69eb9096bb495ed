"""What the hand-written pages say is so: examples run, commands and links exist, tables agree with
what they are about.

``python spec_tests/test_docs.py RUN.jsonl`` writes the tables of that run into the README and
docs/results.md.
"""

import doctest
import importlib
import importlib.util
import json
import re
import shlex
import sys
from collections import Counter
from pathlib import Path

import click
import pytest

import cypool
from cypool import spec
from cypool.cli.group import COMMANDS
from cypool.conformance import cases
from cypool.conformance.cases.instances import spread
from cypool.conformance.judging import compare, records
from cypool.conformance.reports import summary
from cypool.conformance.tensors import Tensor
from cypool.spec.load import load

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(ROOT.glob("docs/*.md"))]
TABLE = re.compile(r"(<!-- check: begin -->\n).*?(<!-- check: end -->)", re.DOTALL)
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def blocks(text, *languages):
    """The fenced blocks in one of these languages, wherever they are indented."""
    found = re.findall(r"^( *)```(\w*)\n(.*?)^\1```$", text, re.DOTALL | re.MULTILINE)
    return [body for _, language, body in found if language in languages]


def tables(text):
    """The tables, each a list of rows, each a list of cells."""
    runs = re.findall(r"(?:^\|.*\|$\n)+", text, re.MULTILINE)
    return [[re.split(r" *(?<!\\)\| *", line)[1:-1] for line in run.splitlines() if "|---" not in line] for run in runs]


def table(text, *titles):
    """The rows below the only table with these titles."""
    (found,) = [rows[1:] for rows in tables(text) if tuple(rows[0][: len(titles)]) == titles]
    return found


# --- examples -------------------------------------------------------------------------------------


@each_page
def test_examples_run(page, tmp_path, monkeypatch):
    """In the order of the page, in one session.

    A block that begins with the name of a file is that file.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    session = {}
    for block in blocks(page.read_text(), "python"):
        name = re.match(r"# (\w+\.py)\n", block)
        if name:
            (tmp_path / name[1]).write_text(block)
            continue
        example = doctest.DocTestParser().get_doctest(block, session, page.name, str(page), 0)
        assert example.examples, f"a block without examples:\n{block}"
        said = []
        failed, _ = doctest.DocTestRunner().run(example, out=said.append, clear_globs=False)
        assert not failed, "".join(said)
        session.update(example.globs)


def test_the_example_of_a_version_loads():
    (entry,) = blocks((ROOT / "CONTRIBUTING.md").read_text(), "toml")
    data = (ROOT / "cypool/spec/data/GlobalLpPool.toml").read_text()
    made_up = load(data + "\n" + entry, "GlobalLpPool.toml").versions[-1]
    assert made_up.name == "GlobalLpPool-27"
    assert made_up.types[0].allowed == ("float", "double", "bfloat16")


def test_json_is_a_tensor():
    (line,) = blocks((ROOT / "docs/protocol.md").read_text(), "json")
    assert Tensor.from_json(json.loads(line)).array.tolist() == [[[3, 4]]]


# --- commands -------------------------------------------------------------------------------------


def commands(text):
    """What a page tells to type: lines of shell blocks, and code in sentences that begins with a
    command.
    """
    lines = [line for block in blocks(text, "sh") for line in block.splitlines()]
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    lines += [code for code in re.findall(r"`([^`]+)`", prose) if re.match(r"(\.venv/bin/)?(make|cypool|python) ", code)]
    words = [shlex.split(line, comments=True) for line in lines]
    return [[Path(first).name, *rest] for first, *rest in filter(None, words)]


def fault(words):
    """What of a command does not exist, or None."""
    first, *rest = words
    if first == "make":
        known = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        return next((target for target in rest if "=" not in target and target not in known), None)
    if first == "python" and rest[0] == "-m":
        return None if importlib.util.find_spec(rest[1]) else rest[1]
    if first == "python":
        return None if (ROOT / rest[0]).exists() else rest[0]
    if first == "cypool":
        if rest[0] not in COMMANDS:
            return rest[0]
        command = importlib.import_module(f"cypool.cli.{rest.pop(0)}").command
        while isinstance(command, click.Group) and rest:
            if rest[0] not in command.commands:
                return rest[0]
            command = command.commands[rest.pop(0)]
        options = {option for parameter in command.params for option in parameter.opts}
        return next((word for word in rest if word.startswith("-") and word not in options), None)
    return None if first == "pip" else first


@each_page
def test_commands_exist(page):
    assert [words for words in commands(page.read_text()) if fault(words)] == []


def test_the_readme_names_the_commands_that_matter():
    found = [words[:2] for words in commands((ROOT / "README.md").read_text())]
    assert all(wanted in found for wanted in (["make", "check"], ["make", "test"], ["pip", "install"], ["cypool", "check"]))


@pytest.mark.parametrize(
    "line", ["make tset", "cypool chek", "cypool spec shwo X", "cypool check --upl 1", "python -m cypool.page", "mkae x"]
)
def test_a_command_that_does_not_exist_is_noticed(line):
    assert fault(line.split())


@each_page
def test_environment_variables_exist(page):
    sources = "".join(path.read_text() for path in [ROOT / "setup.py", *ROOT.glob("cypool/**/*.py")])
    assert [name for name in re.findall(r"\bCYPOOL_[A-Z]+\b", page.read_text()) if f'"{name}"' not in sources] == []


def test_the_changelog_knows_this_version():
    assert f"\n## [{cypool.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_pre_commit_runs_what_make_lint_runs():
    recipe = re.search(r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    hooks = re.findall(r"^ +entry: (.*)$", (ROOT / ".pre-commit-config.yaml").read_text(), re.MULTILINE)
    tool = re.compile(r"\b(?:ruff|mypy|cython-lint|zizmor|check-jsonschema)\b[^'\n]*")
    assert tool.findall("\n".join(hooks)) == tool.findall(recipe)
    assert len(hooks) == len(recipe.splitlines())


# --- links ----------------------------------------------------------------------------------------


def anchors(page):
    """The places in a page that a link can go to."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page, link):
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return not target.exists() or (anchor and anchor not in anchors(target))


@each_page
def test_links_within_the_repository_lead_somewhere(page):
    links = re.findall(r"\]\(([^)]+)\)", page.read_text())
    assert [link for link in links if "://" not in link and broken(page, link)] == []


def test_a_broken_link_is_noticed():
    assert broken(ROOT / "README.md", "docs/nowhere.md")
    assert broken(ROOT / "README.md", "docs/design.md#nowhere")
    assert not broken(ROOT / "README.md", "docs/design.md#who-may-import-whom")


# --- tables ---------------------------------------------------------------------------------------


def test_the_import_table_is_the_one_that_is_enforced():
    from test_imports import ALLOWED

    rows = table((ROOT / "docs/design.md").read_text(), "module", "may import", "why")
    assert {module.strip("`"): set(re.findall(r"`([\w.]+)`", targets)) for module, targets, _ in rows} == ALLOWED


def test_constants_of_kernels_are_those_of_the_sources():
    rows = table((ROOT / "docs/kernels.md").read_text(), "constant", "value", "where")
    assert len(rows) > 3
    for name, value, where, _ in rows:
        source = (ROOT / "cypool/kernels" / where.strip("`")).read_text()
        assert re.search(rf"^ +{name.strip('`')} = {value}\b", source, re.MULTILINE), name


def test_verdicts_are_all_explained():
    rows = table((ROOT / "README.md").read_text(), "in a cell", "verdict")
    assert {verdict: (word, conforms == "yes") for word, verdict, _, conforms in rows} == {
        verdict: (summary.SHORT[verdict], verdict in compare.CONFORMS) for verdict in compare.VERDICTS
    }


def asked():
    """How many runs each cell of version and type has by default."""
    return Counter((case.version.name, case.type) for case in spread(case for case in cases.generate() if case.core))


def test_the_table_of_the_readme_has_a_row_for_each_version():
    (rows,) = [rows for rows in tables(TABLE.search((ROOT / "README.md").read_text())[0]) if rows[0][0] == "operator-version"]
    count = Counter()
    for (version, _), runs in asked().items():
        count[version] += runs
    titles, *versions, total = rows
    assert titles[2] == f"cypool {cypool.__version__}"
    assert [(version, types) for version, types, *_ in versions] == [(v.name, types_of(v)) for v in spec.versions()]
    for version, _, ours, *others in versions:
        assert ours == f"{count[version]:,}"
        assert all(other == ABSENT or int(other.replace(",", "")) <= count[version] for other in others)
    assert total[2] == f"{count.total():,}"


def test_the_table_of_results_has_a_row_for_each_cell():
    (rows,) = [rows for rows in tables((ROOT / "docs/results.md").read_text()) if rows[0][0] == "operator-version"]
    count = asked()
    titles, *cells, total = rows
    assert titles[2] == f"cypool {cypool.__version__}"
    assert {(version, type) for version, type, *_ in cells} == set(count)
    for version, type, ours, *others in cells:
        assert ours == f"{count[version, type]} pass"
        assert [sum(map(int, re.findall(r"\d+", cell))) for cell in others] == [count[version, type]] * len(others)
    assert total[2] == f"{count.total()} pass"


def test_cases_that_pages_name_exist():
    ids = {case.id for case in cases.generate()}
    named = {id for page in PAGES for id in re.findall(r"[A-Z]\w+-\d+/\w+/[\w./-]+\w(?![\w./*-])", page.read_text())}
    assert named
    assert named <= ids


ABSENT = "–"
"""What stands in the README's table where a runtime has nothing of an operator version."""


def types_of(version):
    """The element types that a version's cases are about, in words."""
    return ", ".join(version.types[0].allowed)


def lines_of(rows):
    """A table's rows in Markdown, the first being its titles."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return [lines[0], "|---" * len(rows[0]) + "|", *lines[1:]]


def results_table(header, results):
    """Every cell of version and type: how many cases came to which verdict."""
    matrix = summary.matrix(header, results)
    rows = [["operator-version", "type", *(f"{name} {header.runtimes[name].version}" for name in matrix.columns)]]
    rows += [[*row, *(", ".join(summary.in_words(matrix.cell(row, name))) for name in matrix.columns)] for row in matrix.rows]
    rows.append(["all", "", *(", ".join(summary.in_words(matrix.total(name))) for name in matrix.columns)])
    return lines_of(rows)


def readme_table(header, results):
    """A row for each operator version: how many of its cases each runtime gets right, and a line
    for each runtime.
    """
    matrix = summary.matrix(header, results)

    def right(counts):
        return f"{sum(counts[verdict] for verdict in compare.CONFORMS):,}"

    def cell(version, name):
        here = [matrix.cell(row, name) for row in matrix.rows if row[0] == version]
        # What is refused before a kernel is looked for counts as right, so a runtime that lacks a
        # version gets some.
        lacks = all(set(counts) <= {compare.PASS, compare.UNSUPPORTED} and counts[compare.UNSUPPORTED] for counts in here)
        return ABSENT if lacks else right(sum(here, Counter()))

    versions = [version for version in spec.versions() if version.name in {name for name, _ in matrix.rows}]
    rows = [["operator-version", "types", *(f"{name} {header.runtimes[name].version}" for name in matrix.columns)]]
    rows += [[v.name, types_of(v), *(cell(v.name, name) for name in matrix.columns)] for v in versions]
    rows.append(["all", "", *(right(matrix.total(name)) for name in matrix.columns)])
    return [*lines_of(rows), "", *(f"- {summary.summarize(header, name, summary.of_runtime(name, results))}" for name in matrix.columns)]


def main(run):
    """Write the tables of a run, kept as JSON lines, into the README and docs/results.md."""
    with Path(run).open(encoding="utf-8") as lines:
        header, results = records.read(lines)
    for page, made in ((ROOT / "README.md", readme_table), (ROOT / "docs/results.md", results_table)):
        lines = made(header, results)
        text = TABLE.sub(lambda match: "\n".join([match[1].rstrip(), *lines, match[2]]), page.read_text(encoding="utf-8"))  # noqa: B023
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
