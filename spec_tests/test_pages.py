"""The checked-in pages are what the spec data makes them, and leave nothing of it out."""

import re
from pathlib import Path

import pytest

from cypool import pages, spec, window_page
from cypool.pictures import picture
from cypool.spec.facts import differences, facts

OPERATORS = [spec.operator(name) for name in spec.operators()]


@pytest.fixture(params=OPERATORS, ids=lambda operator: operator.name)
def operator(request: pytest.FixtureRequest) -> spec.Operator:
    return request.param


def test_the_page_in_the_repository_is_the_one_the_data_makes(operator: spec.Operator) -> None:
    stored = (pages.PAGES / f"{operator.name}.md").read_bytes()
    assert stored == pages.page(operator).encode(), "run python -m cypool.pages"


def test_there_is_a_page_for_every_operator_and_no_other() -> None:
    assert sorted(path.stem for path in pages.PAGES.glob("*.md")) == sorted(spec.operators())


def test_writing_makes_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = {path.name: path.read_bytes() for path in pages.PAGES.glob("*.md")}
    monkeypatch.setattr(pages, "PAGES", tmp_path / "operators")
    pages.write()
    assert {path.name: path.read_bytes() for path in pages.PAGES.glob("*.md")} == stored


def sections(text: str) -> dict[str, str]:
    """The text under each heading of the second level."""
    return {part.partition("\n")[0]: part for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]}


def test_versions_stand_newest_first(operator: spec.Operator) -> None:
    headings = [heading for heading in sections(pages.page(operator)) if heading.startswith(operator.name)]
    assert headings == [version.name for version in reversed(operator.versions)]


def test_each_version_states_all_its_facts(operator: spec.Operator) -> None:
    text = pages.page(operator)
    for version in operator.versions:
        section = sections(text)[version.name]
        for (_, field), fact in facts(version).items():
            assert fact in (text if field == "summary" else section), (version.name, field)


def test_neighbouring_versions_stand_side_by_side(operator: spec.Operator) -> None:
    text = pages.page(operator)
    for old, new in zip(operator.versions, operator.versions[1:], strict=False):
        section = sections(text)[new.name].partition("### From")[2]
        assert f"|  |  | {old.name} | {new.name} |" in section
        for difference in differences(old, new):
            assert f"| {' | '.join(difference)} |" in section


def test_every_ruling_and_reading_is_told(operator: spec.Operator) -> None:
    section = sections(pages.page(operator))["Rulings"]
    for ruling in {ruling.id: ruling for version in operator.versions for ruling in version.rulings}.values():
        assert f"### {ruling.id}\n\n**{ruling.question}**\n\n`{ruling.chosen}`: {ruling.choice}\n" in section
        for reading in ruling.readings:
            kind = "other reading" if reading.legitimate else "known fault"
            assert f"| {kind} | `{reading.name}` | {reading.text} | {', '.join(reading.followed_by)} |" in section


def test_a_table_has_as_many_cells_in_every_row(operator: spec.Operator) -> None:
    for table in re.findall(r"(?:^\|.*\n)+", pages.page(operator), flags=re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, table


@pytest.mark.parametrize(
    ("op", "answer"),
    [
        ("GlobalLpPool", "p = 2\nX = [[[[ 3., -4.],\n       [ 0.,  0.]],\n\n      [[ 1., -2.],\n       [ 2., -4.]]]]\n"),
        ("GlobalLpPool", "Y = [[[[5.]],\n\n      [[5.]]]]\n"),
        ("GlobalLpPool", "p = 3\nX = [[[-1.,  2.],\n      [-1., -1.]]]\nY = [[[2.0800838],\n      [1.2599211]]]\n"),
        ("MaxRoiPool", "Y = [[[[ 6.,  8.],\n       [14., 16.]]],\n\n\n     [[[12.,  0.],\n       [16.,  0.]]]]\n"),
    ],
)  # fmt: skip
def test_worked_examples_have_the_answers_that_one_finds_by_hand(op: str, answer: str) -> None:
    assert answer in sections(pages.page(spec.operator(op)))["Examples"]


def test_the_page_on_windows_is_the_one_the_spec_makes() -> None:
    assert (pages.PAGES / pages.WINDOWS).read_text(encoding="utf-8") == window_page.page(), "run python -m cypool.pages"


def test_a_picture_shows_where_each_window_lies() -> None:
    given = {"kernel_shape": (2,), "strides": (3,), "pads": (1, 2), "dilations": (2,), "ceil_mode": 1}
    assert picture(spec.version("MaxPool-22"), 4, given).splitlines() == [
        "input     o # # # # o o",
        "window 0  o   #",
        "window 1        #   o",
    ]
