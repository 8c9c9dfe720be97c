"""The site as `make docs` makes it, read from disk in a real browser, and by a second generator."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from inspect import Parameter, isclass, signature
from pathlib import Path
from typing import Any

import pytest

import rulescore
from report.conftest import chromium
from rulescore.errors.codes import CODES

ROOT = Path(__file__).parents[2]
READ = ("docs", "src", "tools", "examples", "mkdocs.yml", "CONTRIBUTING.md", "CHANGELOG.md")
NEEDED = ("zensical", "properdocs", "material", "mkdocstrings_handlers", "nbclient")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("chromium")]


def require_generators() -> None:
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        message = f"needs {', '.join(missing)}: `pip install --constraint constraints.txt --group docs`"
        if os.environ.get("RULESCORE_NEEDS_DOCS"):
            pytest.fail(message)
        pytest.skip(message)


def run(folder: Path, *program: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "src"), str(folder / "tools")])}
    made = subprocess.run([sys.executable, *program], cwd=folder, env=environment, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as it is published, made in a copy of what `make docs` reads, so no other process writes there."""
    require_generators()
    folder = tmp_path_factory.mktemp("checkout")
    for name in READ:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    run(folder, "tools/make_site.py", "--generator", "properdocs")
    made = folder / "build" / "site"
    assert (made / "search" / "search_index.js").exists()
    # The same pages, which take as long to make as either generator takes to build them.
    run(folder, "-c", "import make_site; make_site.build('zensical')")
    return made


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


def opened(browser: Any, file: Path, **options: Any) -> tuple[Any, list[str]]:
    """A page with the addresses that it asks for."""
    page, requests = browser.new_page(**options), []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(file.as_uri())
    return page, requests


def test_a_word_typed_into_the_search_finds_a_page_without_a_request_beyond_the_folder(site: Path, browser: Any) -> None:
    page, requests = opened(browser, site / "index.html")
    page.locator("button", has_text="Search").first.click()
    page.locator("input:visible").first.fill("unrefutable")
    hit = page.locator("a[href*='reference/numbers.html']:visible").first
    hit.dispatch_event("click", timeout=30_000)
    page.wait_for_url("**/reference/numbers.html**")
    outside = [request for request in requests if not request.startswith((site.as_uri(), "about:"))]
    assert outside == []
    assert any("search" in request for request in requests)


@pytest.mark.parametrize("name", ["index.html", "reference/api.html", "start/first-report.html", "tutorials/notebook.html"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_asks_for_nothing_and_does_not_scroll_sideways(site: Path, browser: Any, name: str, scheme: str) -> None:
    page, requests = opened(browser, site / name, viewport={"width": 1280, "height": 800}, color_scheme=scheme)
    page.wait_for_load_state("networkidle")
    assert [request for request in requests if not request.startswith(site.as_uri())] == []
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(part) for part in re.findall(r"\d+", ground)[:3])
    assert (brightness > 600) == (scheme == "light")
    page.close()


def test_the_report_of_the_demo_is_at_work_in_its_page(site: Path, browser: Any) -> None:
    page, _ = opened(browser, site / "start" / "first-report.html")
    report = page.frame_locator("iframe.report")
    assert "reckless" in report.locator("h1, h2, p").first.inner_text(timeout=30_000) + report.locator("table").first.inner_text()


class Sections(HTMLParser):
    """The text of a page below each of its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: list[str] = []
        self.texts: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if anchor := dict(attributes).get("id"):
            self.anchors.append(anchor)

    def handle_data(self, text: str) -> None:
        if self.anchors:
            self.texts[self.anchors[-1]] = self.texts.get(self.anchors[-1], "") + text


def parameters(thing: object) -> set[str]:
    hidden = {Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL}
    return {name for name, parameter in signature(thing).parameters.items() if parameter.kind not in hidden and name != "self"}


def test_every_public_name_is_in_the_reference_with_every_parameter(site: Path) -> None:
    sections = Sections((site / "reference" / "api.html").read_text(encoding="utf-8"))
    for name in (name for name in rulescore.__all__ if not name.startswith("_")):
        anchor, thing = f"rulescore.{name}", getattr(rulescore, name)
        assert anchor in sections.texts, name
        told = sections.texts[anchor]
        if "options" in told:
            told += sections.texts["rulescore.score"]  # whose options these are
        asked = parameters(thing) if not isclass(thing) or "__init__" in vars(thing) else set()
        assert {word for word in asked if not re.search(rf"\b{word}\b", told)} == set(), name


def test_every_code_of_an_error_has_one_anchor(site: Path) -> None:
    anchors = Sections((site / "reference" / "errors.html").read_text(encoding="utf-8")).anchors
    assert sorted(anchor.upper() for anchor in anchors if re.fullmatch(r"[ew]\d{3}", anchor)) == sorted(CODES)


def test_rules_are_coloured(site: Path) -> None:
    text = (site / "reference" / "rule-language.html").read_text(encoding="utf-8")
    assert '<span class="nf">sister</span>' in text
    assert '<span class="err">' not in text


def test_every_old_address_leads_to_a_page(site: Path) -> None:
    with (ROOT / "tools" / "moved.csv").open(encoding="utf-8", newline="") as rows:
        moved = list(csv.DictReader(rows))
    assert len(moved) > 60
    for row in moved:
        old = (site / row["old"]).with_suffix(".html")
        (target,) = set(re.findall(r'href="([^"]+)"', old.read_text(encoding="utf-8")))
        assert (old.parent / target).resolve() == (site / row["new"]).with_suffix(".html").resolve()


def test_the_site_has_every_page_of_the_folder(site: Path) -> None:
    pages = {page.relative_to(ROOT / "docs").with_suffix(".html") for page in (ROOT / "docs").rglob("*.md")}
    assert [page for page in sorted(pages) if not (site / page).exists()] == []
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [page for page in sorted(pages) if page.with_suffix(".md").as_posix() not in nav] == []


class Blocks(HTMLParser):
    """The texts of the code blocks of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "pre":
            self._inside = True
            self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "pre"

    def handle_data(self, text: str) -> None:
        if self._inside:
            self.texts[-1] += text


@pytest.mark.parametrize("name", sorted(page.stem for page in (ROOT / "docs" / "tutorials").glob("*.md")))
def test_a_tutorial_on_the_site_has_the_commands_that_the_tests_run(site: Path, name: str) -> None:
    """`test_examples.py` runs the blocks of the page; a reader of the folder sees just these."""
    text = (ROOT / "docs" / "tutorials" / f"{name}.md").read_text(encoding="utf-8")
    run = re.findall(r"^```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    shown = Blocks((site / "tutorials" / f"{name}.html").read_text(encoding="utf-8")).texts
    assert len(run) > 5
    assert [block.rstrip() for block in shown] == [block.rstrip() for block in run]
