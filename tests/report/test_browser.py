"""The report as people open it: in a real Chromium, from disk, in light and dark, on a phone, without scripts, on paper."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from report.conftest import HOSTILE, Reported
from rulescore.report.drawing import drawn, number_line
from rulescore.report.example import drawing_of, shape_of, sides_of, told
from rulescore.report.make import sentence_of
from rulescore.reporting.listing import CellKind, shown
from rulescore.reporting.tables import measure_cell
from rulescore.scoring.labels import Labels

# One process starts the browser.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("chromium")]

PLACES = ("", "#rule=0")
WIDTHS = (1280, 390, 320)


class Watched:
    """A page, with all that it asked for and said."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.requests: list[str] = []
        self.said: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        self.refused: list[str] = []
        page.on("requestfailed", lambda request: self.refused.append(request.url) if request.failure == "csp" else None)
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", lambda dialog: self.said.append(f"dialog {dialog.message}"))

    def open(self, address: str) -> Any:
        self.page.goto(address)
        self.page.wait_for_selector("html[data-ready]", state="attached")
        if "#rule=" in address:
            self.page.wait_for_selector("#rule-page[data-shown]", state="attached")
        return self.page


@contextmanager
def watched(browser: Any, **options: Any) -> Iterator[Watched]:
    context = browser.new_context(**options)
    try:
        yield Watched(context.new_page())
    finally:
        context.close()


def overflow(page: Any) -> int:
    wide: int = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return wide


def overflows(page: Any) -> dict[int, int]:
    """By how much the page is wider than screens of several widths."""
    found = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        found[width] = overflow(page)
    return found


NOTHING_OVERFLOWS = dict.fromkeys(WIDTHS, 0)


@pytest.mark.parametrize("place", PLACES)
def test_a_report_asks_for_nothing_but_itself_and_says_nothing(browser: Any, kinship: Reported, tmp_path: Path, place: str):
    with watched(browser) as one:
        one.open(kinship.saved(tmp_path) + place)
        assert one.requests == [kinship.saved(tmp_path)]
        assert one.said == []


def test_the_policy_of_the_page_refuses_what_somebody_puts_into_the_file(browser: Any, kinship: Reported, tmp_path: Path):
    foreign = (
        "<script>window.hacked = 1</script><img src='https://example.org/x.png'><p id='styled' style='color: red'>x</p>"
        "<button id='handler' onclick='window.hacked = 1'>x</button><base href='https://example.org/'>"
    )
    (tmp_path / "broken.html").write_text(kinship.report.html.replace('<main id="home">', f'<main id="home">{foreign}'), "utf-8")
    with watched(browser) as one:
        page = one.open((tmp_path / "broken.html").as_uri())
        page.click("#handler")
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("document.getElementById('styled').style.color") == ""
        assert (
            [address for address in one.requests if not address.startswith("file:")] == one.refused == ["https://example.org/x.png"]
        )
        assert len(one.said) >= 4, "the browser tells of each refusal"


@pytest.mark.parametrize("place", PLACES)
def test_no_name_becomes_markup_or_widens_the_page(browser: Any, hostile: Reported, tmp_path: Path, place: str):
    with watched(browser) as one:
        page = one.open(hostile.saved(tmp_path) + place)
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("document.querySelectorAll('img, svg[onload], iframe').length") == 0
        assert page.evaluate("document.querySelectorAll('script').length") == 4
        assert page.evaluate("document.getElementById('title').textContent") == HOSTILE[0]
        assert overflows(page) == NOTHING_OVERFLOWS
        assert (one.said, len(one.requests)) == ([], 1)


@pytest.mark.parametrize("fixture", ["kinship", "regression"])
@pytest.mark.parametrize("place", PLACES)
def test_no_page_scrolls_sideways(browser: Any, request: pytest.FixtureRequest, tmp_path: Path, fixture: str, place: str):
    with watched(browser) as one:
        assert overflows(one.open(request.getfixturevalue(fixture).saved(tmp_path) + place)) == NOTHING_OVERFLOWS


@pytest.mark.parametrize("fixture", ["kinship", "hostile", "regression"])
@pytest.mark.parametrize("place", PLACES)
def test_axe_finds_nothing_serious(browser: Any, request: pytest.FixtureRequest, tmp_path: Path, fixture: str, place: str):
    """Colours and widths are a matter of style sheets alone, so one page is looked at in all of them."""
    from axe_playwright_python.base import AXE_SCRIPT

    # axe runs in the page, which the page's own policy would refuse.
    with watched(browser, bypass_csp=True) as one:
        page = one.open(request.getfixturevalue(fixture).saved(tmp_path) + place)
        page.evaluate(AXE_SCRIPT)
        found = []
        for scheme, width in product(("light", "dark"), WIDTHS):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 800})
            problems = page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
            found += [
                (scheme, width, problem["id"], problem["nodes"][0]["html"][:200])
                for problem in problems
                if problem["impact"] in {"serious", "critical"}
            ]
        assert found == []


def test_everything_is_reached_by_keys(browser: Any, kinship: Reported, tmp_path: Path):
    with watched(browser, viewport={"width": 1280, "height": 900}) as one:
        page = one.open(kinship.saved(tmp_path))
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.focus("#rules-table th:nth-child(3) button")
        page.keyboard.press("Enter")
        assert page.get_attribute("#rules-table th:nth-child(3)", "aria-sort") == "descending"
        page.keyboard.press("Enter")
        assert page.get_attribute("#rules-table th:nth-child(3)", "aria-sort") == "ascending"
        page.focus("#rules-table tbody tr:nth-child(2) a")
        name = page.evaluate("document.activeElement.textContent")
        page.keyboard.press("Enter")
        page.wait_for_selector("#rule-page[data-shown]", state="attached")
        assert page.evaluate("document.activeElement.id") == "rule-heading"
        assert page.evaluate("document.activeElement.textContent").startswith(name)
        assert page.evaluate("document.title").startswith(name)
        page.go_back()
        page.wait_for_selector("#home", state="visible")
        assert not page.is_visible("#rule-page")


def test_rules_are_searched_and_chosen_by_kind(browser: Any, kinship: Reported, tmp_path: Path):
    with watched(browser) as one:
        page = one.open(kinship.saved(tmp_path))
        kinds = {rule.info.name: rule.kind for rule in kinship.result.rule_results}
        page.select_option("#kind", "s")
        assert page.text_content("#rules-count") == f"{list(kinds.values()).count('soft')} of {len(kinds)} rules"
        page.fill("#search", "UNCLE")
        names = page.eval_on_selector_all("#rules-table tbody a", "links => links.map(link => link.textContent)")
        texts = {rule.info.name: rule.info.text for rule in kinship.result.rule_results}
        assert names
        assert set(names) == {name for name, kind in kinds.items() if kind == "soft" and "uncle" in f"{name} {texts[name]}"}
        page.fill("#search", "nothing has this name")
        assert page.text_content("#rules-count") == f"0 of {len(kinds)} rules"


def require_readable(page: Any, reported: Reported) -> None:
    text = page.inner_text("body")
    assert reported.page.answer.text in text
    for model in reported.result.model_results:
        assert model.name in text
    rows = page.eval_on_selector_all("#rules-table tbody tr", "rows => rows.length")
    assert rows == min(20, len(reported.result.rule_results))
    assert page.evaluate("document.querySelectorAll('#example svg path').length") >= 3
    for word, fact in reported.page.example.facts:
        assert word in text
        assert fact in text


def test_it_is_read_without_scripts(browser: Any, kinship: Reported, tmp_path: Path):
    with watched(browser, java_script_enabled=False) as one:
        one.page.goto(kinship.saved(tmp_path))
        require_readable(one.page, kinship)


def test_it_is_read_under_the_policy_of_jenkins(browser: Any, kinship: Reported):
    """Jenkins serves files of a build without scripts, and without their own style."""
    headers = {"Content-Security-Policy": "sandbox; default-src 'none'; img-src 'self'; style-src 'self';"}
    with watched(browser) as one:
        one.page.route(
            "**", lambda route: route.fulfill(body=kinship.report.html, content_type="text/html; charset=utf-8", headers=headers)
        )
        one.page.goto("http://jenkins.example/report.html")
        require_readable(one.page, kinship)
        fills = one.page.eval_on_selector_all(".bar rect", "parts => parts.map(part => getComputedStyle(part).fill)")
        assert "rgb(0, 0, 0)" not in fills, "colours are attributes first"


def test_it_is_printed_whole_and_begins_with_the_answer(browser: Any, kinship: Reported, tmp_path: Path):
    with watched(browser, viewport={"width": 794, "height": 1123}) as one:
        page = one.open(kinship.saved(tmp_path))
        page.emulate_media(media="print")
        assert not page.is_visible("nav")
        assert not page.is_visible("#theme")
        assert page.evaluate("document.querySelector('h1').getBoundingClientRect().top") < 200
        assert page.evaluate("document.querySelector('table.models').getBoundingClientRect().top") < 600
        assert page.is_visible("table.models thead"), "paper is no phone"
        assert overflow(page) == 0
        assert page.pdf(format="A4").startswith(b"%PDF")


def test_the_theme_is_changed_by_hand(browser: Any, kinship: Reported, tmp_path: Path):
    with watched(browser, color_scheme="dark") as one:
        page = one.open(kinship.saved(tmp_path))
        paper = "getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(paper)
        page.click("#theme")
        light = page.evaluate(paper)
        page.click("#theme")
        assert (page.evaluate(paper), light) == (dark, "rgb(255, 255, 255)")
        assert dark != light


def test_a_notebook_shows_it_in_a_frame_and_stays_where_it_is(browser: Any, kinship: Reported, tmp_path: Path):
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html><title>notebook</title>{kinship.report._repr_html_()}", "utf-8")
    with watched(browser) as one:
        one.page.goto((tmp_path / "notebook.html").as_uri())
        frame = one.page.frames[1]
        frame.wait_for_selector("html[data-ready]", state="attached")
        frame.click("#rules-table tbody a")
        frame.wait_for_selector("#rule-page[data-shown]", state="attached")
        frame.click("text=← all rules")
        frame.wait_for_selector("#home", state="visible")
        assert one.page.url == (tmp_path / "notebook.html").as_uri()
        assert one.said == []


# What the script shows is what the result says.

CELLS = """() => [...document.querySelectorAll('#rule-page table tbody tr')].map(row =>
    [...row.cells].map(cell => cell.firstChild?.nodeType === 3 ? cell.firstChild.textContent : cell.textContent))"""


@pytest.mark.parametrize("fixture", ["kinship", "hostile", "regression"])
def test_every_number_of_a_rules_page_is_that_of_the_result(
    browser: Any, request: pytest.FixtureRequest, tmp_path: Path, fixture: str
):
    reported = request.getfixturevalue(fixture)
    by_name = {rule.info.name: rule for rule in reported.result.rule_results}
    with watched(browser) as one:
        page = one.open(reported.saved(tmp_path))
        names = page.evaluate("rules.own")
        for number in range(len(by_name)):
            name = names.get(str(number)) or page.evaluate(f"rules.name[{number}]")
            rule = by_name[name]
            page.evaluate(f"showRule({number})")
            data, *models = page.evaluate(CELLS)
            assert data[1] == counts(rule.dataset)
            for cells, (_, found) in zip(models, rule.models.items(), strict=True):
                assert cells[1] == counts(found.counts)
                assert cells[-1] == shown(measure_cell(found.score), CellKind.SCORE)
                assert len(cells) == (3 if rule.info.denial else 5)


def counts(found: Any) -> str:
    return f"{found.refuted:,} of {found.evaluable:,}" if found.evaluable else "–"


@pytest.mark.parametrize("fixture", ["kinship", "hostile", "regression"])
def test_sentences_and_drawings_are_those_of_python(browser: Any, request: pytest.FixtureRequest, tmp_path: Path, fixture: str):
    reported = request.getfixturevalue(fixture)
    labels = HOSTILE_LABELS if fixture == "hostile" else {}
    with watched(browser) as one:
        page = one.open(reported.saved(tmp_path) + "#rule=0")
        rows = page.evaluate(
            """() => violations.rows.rule.map((_, row) => {
                const { margin } = violations.rows;
                const drawn = margin[row] === null ? violationDrawing(row) : numberLine(margin[row]);
                return [sentence(row).textContent, drawn && [drawn.getAttribute("viewBox"), drawn.innerHTML]];
            })"""
        )
        names = page.evaluate("rules.name.map((name, number) => rules.own[number] ?? name)")
        order = {name: number for number, name in enumerate(names)}
        models = [None, *(model.name for model in reported.result.model_results)]
        listed = sorted(reported.rows, key=lambda row: (order[row.rule], models.index(row.model)))
        texts = {rule.info.name: rule.info.text for rule in reported.result.rule_results}
        assert len(rows) == len(listed) > 0
        shown_labels = Labels(labels, page.evaluate("rules.short"))
        for (text, drawing), row in zip(rows, listed, strict=True):
            shape = shape_of(texts[row.rule])
            parts = told(row, shape)
            assert text == sentence_of(parts, shown_labels).text
            sides = sides_of(row)
            svg = drawn(drawing_of(parts, shape, shown_labels)) if sides is None else number_line(sides)
            if svg is None:
                assert drawing is None
                continue
            made = page.evaluate(AS_MARKUP, json.dumps([[one.tag, dict(one.attributes), one.text] for one in svg.elements]))
            assert drawing == [f"{svg.left} {svg.top} {svg.width} {svg.height}", made]


HOSTILE_LABELS = {f"{name} {number}": f"{HOSTILE[0]} {number}" for number, name in enumerate(HOSTILE[:4])}
AS_MARKUP = "elements => svg({}, JSON.parse(elements)).innerHTML"


def test_nothing_of_a_drawing_is_cut(browser: Any, kinship: Reported, hostile: Reported, regression: Reported, tmp_path: Path):
    with watched(browser) as one:
        for reported in (kinship, hostile, regression):
            page = one.open(reported.saved(tmp_path) + "#rule=0")
            for number in range(len(reported.result.rule_results)):
                page.evaluate(f"showRule({number})")
                assert page.evaluate(CUT) == []


CUT = """() => [...document.querySelectorAll('#rule-page svg.drawing')].flatMap(drawing => {
    const { x, y, width, height } = drawing.viewBox.baseVal, { x: left, y: top, width: wide, height: high } = drawing.getBBox();
    const isInside = left >= x - 3 && top >= y - 3 && left + wide <= x + width + 3 && top + high <= y + height + 3;
    return isInside ? [] : [drawing.textContent];
})"""


def test_a_rule_is_drawn_as_python_reads_it(browser: Any, kinship: Reported, tmp_path: Path):
    with watched(browser) as one:
        page = one.open(kinship.saved(tmp_path))
        for rule in kinship.result.rule_results:
            shape = shape_of(rule.info.text)
            atoms = [*shape.body, *([shape.head] if shape.head else [])]
            found = page.evaluate("text => shape(text)", rule.info.text)
            assert tuple(found["nodes"][: found["placed"]]) == shape.variables
            assert [arrow["label"] for arrow in found["arrows"]] == [atom.predicate for atom in atoms]


def test_numbers_are_rounded_as_in_python(browser: Any, kinship: Reported, tmp_path: Path):
    from rulescore.reporting.wording import percent

    pairs = [
        (part, whole)
        for whole in (1, 3, 7, 8, 16, 40, 80, 160, 999, 2001, 100_000)
        for part in range(0, whole + 1, max(1, whole // 40))
    ]
    values = [part * scale / whole for part, whole in pairs for scale in (1e-6, 0.01, 1, 1234.5)]
    with watched(browser) as one:
        page = one.open(kinship.saved(tmp_path))
        assert page.evaluate("pairs => pairs.map(([part, whole]) => percent(part / whole))", pairs) == [
            percent(*pair) for pair in pairs
        ]
        found = page.evaluate("values => values.map(significant)", values)
        near = [(value, text) for value, text in zip(values, found, strict=True) if text != shown(float(value), CellKind.SCORE)]
        assert near == []


def test_a_page_of_many_nodes_is_not_made_at_the_start(browser: Any, kinship: Reported, tmp_path: Path):
    with watched(browser) as one:
        assert one.open(kinship.saved(tmp_path)).evaluate("document.querySelectorAll('*').length") <= 5_000
