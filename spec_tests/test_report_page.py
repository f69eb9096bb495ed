"""The page: what it holds, and, in a real browser, what it shows, at desktop and phone width, light
and dark.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser
from report_runs import HOSTILE, NEW, OLD, result

from cypool.conformance.judging import compare
from cypool.conformance.judging.excerpt import Excerpt
from cypool.conformance.judging.records import Header
from cypool.conformance.reports import page as module
from cypool.conformance.reports.merge import merge
from cypool.conformance.reports.page import KINDS, embedded, page

DESKTOP, PHONE = (1280, 900), (390, 844)


def test_every_verdict_has_a_class_with_a_colour() -> None:
    style = (module.HERE / "page.css").read_text()
    assert set(KINDS) == set(compare.VERDICTS)
    assert all(re.search(rf"\.{kind}\b.* {{ color: var\(--{kind}\)", style) for kind in KINDS.values())


def test_data_in_the_page_ends_no_script_and_comes_back() -> None:
    value = {"a": "</script><!-- <script>", "b": "\u2028é"}
    assert "<" not in embedded(value)
    assert json.loads(embedded(value)) == value


def test_what_many_cases_share_is_there_once() -> None:
    (text,) = re.findall(r'id="data">(.*)</script>', page(*OLD))
    assert text.count('"3.0 -4.0"') == 1
    assert len(json.loads(text)["cases"]) == 11


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    running = Browser(tmp_path_factory.mktemp("profile"))
    yield running
    running.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(page(*merge([OLD, NEW])), encoding="utf-8")
    return path


@pytest.fixture
def shown(browser: Browser, file: Path) -> Browser:
    browser.view(*DESKTOP)
    browser.open(file)
    return browser


def ids(browser: Browser) -> list[str]:
    found: list[str] = browser.ask(
        "[...document.querySelectorAll('.case')].filter((e) => e.checkVisibility()).map((e) => e.querySelector('.id').innerText)"
    )
    return found


def choose(browser: Browser, name: str, value: str) -> None:
    control = f"document.querySelector('select[name={name}]')"
    browser.ask(f"{control}.value = '{value}'; {control}.dispatchEvent(new Event('input', {{bubbles: true}}))")


def text(browser: Browser, selector: str) -> Any:
    return browser.ask(f"document.querySelector({json.dumps(selector)})?.innerText")


def test_it_asks_for_nothing_and_nothing_complains(shown: Browser, file: Path) -> None:
    shown.click("#findings .count")
    shown.click(".case > summary")
    assert shown.requests() == [file.as_uri()]
    assert shown.complaints() == []


def test_a_cell_of_the_matrix_opens_its_cases(shown: Browser) -> None:
    shown.click("#matrix tbody:nth-of-type(2) tr:nth-of-type(2) td:nth-of-type(2) a")
    assert ids(shown) == ["GlobalLpPool-2/float/p-0", "GlobalLpPool-2/float/ramp", "GlobalLpPool-2/float/zeros"]
    assert text(shown, "#shown").startswith("3 of 12 cases")
    assert shown.ask("document.getElementById('cases').getBoundingClientRect().top") < 50


def test_a_case_shows_what_was_given_expected_and_got(shown: Browser, file: Path) -> None:
    shown.open(file, "#version=MaxRoiPool-1&ruling=nan")
    shown.click(".case > summary")
    assert shown.ask("[...document.querySelectorAll('.case pre')].map((e) => e.innerText)") == ["3.0 -4.0", "5.0", "0.0", "0.0"]
    assert shown.ask("[...document.querySelectorAll('.case mark')].map((e) => e.innerText)") == ["0.0", "0.0"]
    panels = shown.ask("[...document.querySelectorAll('.case .tensors > div')].map((e) => e.innerText)")
    assert [panel.split("\n")[0] for panel in panels] == ["given", "expected", "sharp 2.1", "blunt 0.9", "blunt 1.0"]
    assert "nan: never. It is passed over." in panels[3]
    assert "as expected" in panels[4]
    assert "p = INT 2" in text(shown, ".case .body")


def test_what_a_runtime_said_is_text(shown: Browser, file: Path) -> None:
    shown.open(file, "#case=GlobalLpPool-2%2Ffloat%2Fzeros")
    assert text(shown, ".case .message") == HOSTILE.replace("\x1b", "�")
    shown.open(file, "#verdict=crashed")
    shown.click(".case > summary")
    assert "what(): </pre>" in text(shown, ".case .body")
    assert shown.ask("document.querySelectorAll('script').length") == 2


@pytest.mark.parametrize(
    ("fragment", "count"),
    [
        ("", 12),
        ("#cases=all", 12),
        ("#verdict=deviates", 10),
        ("#verdict=deviates&runtime=sharp", 0),
        ("#verdict=unsupported", 2),
        ("#type=float", 6),
        ("#op=MaxRoiPool", 7),
        ("#ruling=nan", 1),
        ("#differ=1", 11),
        ("#text=ramp", 6),
        ("#text=float+RAMP", 5),
        ("#text=*-2/*", 4),
        ("#text=*@21*", 1),
        ("#opset=21", 1),
        ("#opset=22", 2),
        ("#variant=symbolic", 1),
        ("#variant=plain", 11),
        ("#text=GlobalLpPool", 5),
        ("#text=(", 0),
        ("#runtime=blunt+0.9&finding=0", 1),
        ("#matrix", 12),
    ],
)
def test_the_address_is_the_filter(shown: Browser, file: Path, fragment: str, count: int) -> None:
    shown.open(file, fragment)
    assert (len(ids(shown)), text(shown, "#shown").split()[0]) == (count, str(count))
    assert shown.complaints() == []


def test_typing_filters_and_is_kept_in_the_address(shown: Browser) -> None:
    shown.click("input[name=text]")
    shown.type("*ramp")
    assert len(ids(shown)) == 5
    assert shown.ask("location.hash") == "#text=*ramp"
    choose(shown, "type", "float")
    assert ids(shown) == ["GlobalLpPool-1/float/ramp", "GlobalLpPool-2/float/ramp"]
    shown.click("#shown a")
    assert len(ids(shown)) == 12
    assert shown.ask("document.querySelector('[name=type]').value") == ""
    assert text(shown, "#shown") == "12 of 12 cases"


def test_a_finding_keeps_its_name_and_goes_on_with_its_runtime_alone(shown: Browser) -> None:
    shown.click("#findings details:nth-of-type(2) .count")
    assert "of one finding: nan: never" in text(shown, "#shown")
    choose(shown, "runtime", "")
    assert "finding" not in shown.ask("location.hash")


def test_order_is_by_size_or_distance_where_asked(shown: Browser, file: Path) -> None:
    shown.open(file, "#order=elements")
    assert (ids(shown)[0], ids(shown)[-1]) == ("GlobalLpPool-1/float/ramp", "MaxRoiPool-22/float16/ramp")
    shown.open(file, "#order=ulp")
    assert ids(shown)[:2] == ["MaxRoiPool-1/float/nan", "GlobalLpPool-2/bfloat16/ramp"]


def test_a_ruling_opens_to_its_question_and_readings(shown: Browser) -> None:
    shown.click("#readings tbody:nth-of-type(2) summary")
    opened = text(shown, "#readings tbody:nth-of-type(2) details")
    assert all(
        part in opened
        for part in ("What of NaN?", "wins cypool's choice", "never a fault", "last another reading", "Only <i>seen</i> | last.")
    )


def test_many_cases_come_in_steps(browser: Browser, tmp_path: Path) -> None:
    many = [result("blunt", f"MaxRoiPool-1/float/{i:03}", "pass") for i in range(250)]
    path = tmp_path / "many.html"
    path.write_text(page(Header("0", {"blunt": OLD[0].runtimes["blunt"]}, 250, "onnx"), many), encoding="utf-8")
    browser.view(*DESKTOP)
    browser.open(path)
    counts = [len(ids(browser))]
    for _ in range(2):
        browser.click("#more")
        counts.append(len(ids(browser)))
    assert counts == [100, 200, 250]
    assert browser.ask("document.getElementById('more').checkVisibility()") is False


@pytest.mark.parametrize(
    ("shape", "start", "shown_as"),
    [
        ((2, 3), 0, "10 2  3\n 4 5 60"),
        ((2, 3, 1, 1), 0, "10 2  3\n 4 5 60"),
        ((4, 3), 4, "…\n   10 2\n 3  4 5\n60 …"),
        ((4, 3), 6, "…\n10 2  3\n 4 5 60"),
        ((90,), 5, "…\n10 2 3 4 5 60 …"),
        ((6, 1), 0, "10 2 3 4 5 60"),
    ],
)
def test_excerpts_are_in_columns_of_the_last_dimension(
    browser: Browser, tmp_path: Path, shape: tuple[int, ...], start: int, shown_as: str
) -> None:
    excerpt = Excerpt("Y", "int32", shape, start, ("10", "2", "3", "4", "5", "60"))
    path = tmp_path / "one.html"
    one = dataclasses.replace(result("blunt", "MaxRoiPool-1/float/a", "pass"), inputs=(excerpt,))
    path.write_text(page(Header("0", {"blunt": OLD[0].runtimes["blunt"]}, 1, "onnx"), [one]), encoding="utf-8")
    browser.open(path, "#case=MaxRoiPool-1%2Ffloat%2Fa")
    assert text(browser, ".case pre") == shown_as


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_it_fits_the_window_and_can_be_read(browser: Browser, file: Path, size: tuple[int, int], scheme: str) -> None:
    browser.view(*size, scheme)
    browser.open(file, "#verdict=deviates")
    browser.click(".case > summary")
    browser.click("#readings summary")
    assert browser.ask("document.documentElement.scrollWidth") <= size[0]
    clipped = browser.ask(
        "[...document.querySelectorAll('main *')].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1"
        " && !e.closest('.scroll, pre')).map((e) => e.outerHTML.slice(0, 90))"
    )
    assert clipped == []
    assert [pair for pair in browser.ask(CONTRASTS) if pair[1] < 4.5] == []


CONTRASTS = """
(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = channels(colour).map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const back = (e) => {
    for (; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (channels(colour)[3] !== 0) return colour;
    }
  };
  const ofItsOwn = (e) => [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
  return [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && ofItsOwn(e)).map((e) => {
    const [a, b] = [light(getComputedStyle(e).color), light(back(e))].sort((x, y) => y - x);
    return [e.outerHTML.slice(0, 90), (a + 0.05) / (b + 0.05)];
  });
})()
"""
"""The contrast of every element that has a text of its own with what lies behind it, as WCAG
computes it; 4.5 is what it asks for.
"""


def test_without_a_script_all_but_the_cases_is_there(browser: Browser, file: Path) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(file)
        content = browser.call("DOM.getOuterHTML", nodeId=browser.call("DOM.getDocument")["root"]["nodeId"])["outerHTML"]
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert "it takes its script to show them" in content
    assert 'class="case"' not in content
    assert all(word in content for word in ("MaxRoiPool-22", "nan: never", "It is passed over."))


def test_a_finding_leads_to_its_files_and_names_the_command() -> None:
    header, results = merge([OLD, NEW])
    bundles = {("blunt", "MaxRoiPool-1/double/far"): "found%20here/blunt/01-crashed"}
    shown = page(header, results, bundles=bundles)
    assert '<a href="found%20here/blunt/01-crashed/issue.md">issue.md</a>' in shown
    assert shown.count('class="files"') == 2  # both versions of blunt crash there
    assert 'class="files"' not in page(header, results)
    assert "<code>cypool check blunt -k MaxRoiPool-1/double/far</code>" in shown
    (text,) = re.findall(r'id="data">(.*)</script>', shown)
    assert [runtime["command"] for runtime in json.loads(text)["runtimes"]] == ["cypool check sharp", *["cypool check blunt"] * 2]
    assert "RUNTIME" not in (module.HERE / "page.js").read_text()
