"""Reports of small settings, and a real Chromium to open them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import rulescore
from rulescore.demo.files import run
from rulescore.report.make import Page, Report, ReportChoice, page_of, report_of
from rulescore.session.result import Result

HOSTILE = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    '"><svg onload="window.hacked = 1">',
    "'; window.hacked = 1; //",
    "a\u202etxt.exe",
    "\u05d0\u05d1\u05d2 \U0001f600",
    "{{7*7}} {% raw %} ${7*7}",
    "x" * 5_000,
    "Robert`); DROP TABLE",
)


@dataclass(frozen=True)
class Reported:
    """A result, its report, and the page that the report shows."""

    result: Result
    report: Report
    page: Page
    rows: tuple[Any, ...]

    def saved(self, folder: Path) -> str:
        return self.report.save(folder / "report.html").as_uri()


def reported(choice: ReportChoice, **setting: Any) -> Reported:
    with rulescore.open(**setting) as session:
        result = session.score() if setting.get("predictions") else session.audit()
        models = [model.name for model in result.model_results] or None
        rows = tuple(session.session.sampled_violations(models, choice.rows).rows)
        return Reported(result, report_of(result, session.session, choice), page_of(result, session.session, choice), rows)


@pytest.fixture(scope="session")
def kinship(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """The demo: three models, hard and soft rules, denial constraints, a truth."""
    folder = tmp_path_factory.mktemp("kinship")
    run(folder / "demo")
    return reported(ReportChoice(), **kinship_setting(folder / "demo"))


def kinship_setting(folder: Path) -> dict[str, Any]:
    names = ("careful", "gender-blind", "reckless")
    return {
        "observed": folder / "facts.tsv",
        "predictions": {name: folder / f"predictions/{name}.tsv" for name in names},
        "rules": folder / "kinship.rules",
        "truth": folder / "held-out.tsv",
    }


@pytest.fixture(scope="session")
def hostile() -> Reported:
    """Everything that has a name has an evil one, labels and the title included."""
    names = [f"{name} {number}" for number, name in enumerate(HOSTILE)]
    quoted = [f"`{name.replace('`', '')}`" for name in names[:3]]
    rules = f"""
    {quoted[0]}(X, Y) <- {quoted[1]}(X, Z), {quoted[2]}(Z, Y).
    `</title><b>`: false <- {quoted[0]}(X, X).
    incompatible {quoted[0]}, {quoted[2]}.
    """
    predicates = [name.replace("`", "") for name in names[:3]]
    observed = [(one, predicates[2], other) for one in names for other in names if one < other]
    predicted = [(one, predicates[1], other) for one in names for other in names] + [(one, predicates[0], one) for one in names]
    labels = {name: f"{HOSTILE[0]} {number}" for number, name in enumerate(names[:4])}
    models = {HOSTILE[1]: predicted, HOSTILE[3]: predicted[::2]}
    return reported(ReportChoice(HOSTILE[0], labels=labels), observed=observed, predictions=models, rules=rules)


@pytest.fixture(scope="session")
def regression() -> Reported:
    """Rules about values: comparisons, an aggregate, and a table with a key."""
    sales = [{"id": number, "zip": 10 + number % 2, "price": 100.0 + number} for number in range(20)]
    sales += [{"id": 20 + number, "zip": 10 + number % 2, "price": None} for number in range(4)]
    rules = """
    near: abs(P - Q) <= 50 <- sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q), A != B.
    usual: P <= 2 * avg(Q : sale(zip: Z, price: Q)) <- sale(zip: Z, price: P).
    """
    table = rulescore.Table(sales, key="id", target="price", hidden=[20, 21, 22, 23])
    predictions = {"wild": {20: 900.0, 21: 105.0, 22: 104.0, 23: 101.0}, "tame": {20: 105.0, 21: 103.0, 22: 101.0, 23: 111.0}}
    return reported(ReportChoice(), observed=None, predictions=predictions, rules=rules, tables={"sale": table})


def chromium() -> str:
    """The path of a Chromium; the test is skipped without one, unless there has to be one."""
    path = os.environ.get("RULESCORE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        message = "needs Chromium: `apt-get install chromium`, or name another by RULESCORE_CHROMIUM"
        if os.environ.get("RULESCORE_NEEDS_CHROMIUM"):
            pytest.fail(message)
        pytest.skip(message)
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Ends with its module: while it runs, its thread has a loop of events that others could not start."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()
