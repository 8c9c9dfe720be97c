"""Nothing of a name becomes markup or a command, steers a terminal, or is computed by a spreadsheet that was thought of."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rulescore.errors.texts import is_hidden
from rulescore.reporting.html import render_html
from rulescore.reporting.latex import render_latex
from rulescore.reporting.listing import CellKind, Column, Format, Listing, ListingLayout, Shown, code
from rulescore.reporting.render import render
from rulescore.reporting.short import short_listings
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import Counts, DataSummary, PredictionCounts, PredictionFindings, RuleInfo
from rulescore.scoring.score import score

HOSTILE = [
    "evil\n\\input{/etc/passwd}",
    "\x1b]0;title\x07",
    "\x9b2J",
    "a\u202etxt.exe",
    "a\u200bb",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "](http://example.org) ![x](y) http://example.org www.example.org",
    "a | b \\| c",
    "```\n# heading",
    "=1+1",
    "% comment $ & # _ ^ ~ { } \\",
    "- item",
]


def named(name: str) -> Evaluation:
    """An evaluation in which everything that has a name is called so."""
    rules = [RuleInfo(name, f"{name} <- {name}"), RuleInfo("other", name, denial=True)]
    counts = {name: [Counts(1, 1, 2), Counts(0, 1, 1)], "other": [Counts(), Counts()]}
    brought = {model: PredictionCounts(3, 2, 2, 0, 0) for model in counts}
    findings = {model: PredictionFindings(1, 1, 1, {name: 1}, measured=model == name) for model in counts}
    return Evaluation(
        "definition", *score(rules, [Counts(1, 0, 1), Counts()], counts, brought, findings), DataSummary(1, 0, 0, 0, 1, 1)
    )


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("form", [Format.TABLE, Format.MARKDOWN, Format.LATEX, Format.JSON])
def test_no_output_holds_a_character_that_cannot_be_seen(name: str, form: Format) -> None:
    for text in (render(named(name), form, detail=True), render(named(name), form, table=Shown.RULES)):
        assert not {character for character in text if is_hidden(character) and character != "\n"}


@pytest.mark.parametrize("name", HOSTILE)
def test_json_and_csv_are_exact(name: str) -> None:
    assert json.loads(render(named(name), Format.JSON))["rules"][0]["name"] == name
    assert next(csv.DictReader(io.StringIO(render(named(name), Format.CSV), newline="")))["rule"] == name


@pytest.mark.parametrize("name", HOSTILE)
def test_latex_has_only_commands_of_its_own(name: str) -> None:
    text = render(named(name), Format.LATEX, detail=True)
    for line in text.splitlines():
        assert line.startswith("%") or "\\input" not in line
    assert_balanced(text)


def test_a_comment_of_latex_stays_a_comment() -> None:
    listing = Listing("n", "a\n\\input{x}", (Column("a", "a\n\\input{x}"),), (("x",),), notes=("b\r\\input{x}\n\\input{y}",))
    assert not [line for line in render_latex(listing).splitlines() if line.startswith("\\input")]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize("name", HOSTILE)
def test_html_has_only_tags_of_its_own(name: str) -> None:
    tags = Tags()
    tags.feed(render_html(short_listings(named(name))))
    assert tags.found <= {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "b", "code", "span", "p", "small"}
    assert tags.attributes <= {"style"}


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_has_only_tables_headings_and_paragraphs(name: str) -> None:
    text = render(named(name), Format.MARKDOWN, detail=True)
    without_code = re.sub(r"\\.|(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert not re.search(r"[<>]|\]\(|https?:|www\.", without_code)
    for line in text.splitlines():
        assert not line or line.startswith(("### ", "| ")) or not re.match(r"[-+=>#`]|\d+[.)]\s", line)


@given(st.text(alphabet="`|\\ ab"))
def test_code_of_markdown_ends_where_it_should(text: str) -> None:
    shown = code(text or "x")
    fence = re.match(r"`+", shown)[0]
    assert shown.endswith(fence)
    assert not re.search(rf"(?<!`){fence}(?!`)", shown[len(fence) : -len(fence)])
    assert not re.search(r"(?<!\\)\|", shown)


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r"])
def test_a_spreadsheet_computes_nothing_if_it_was_thought_of(begin: str) -> None:
    evaluation = named(f"{begin}cmd()")
    (row, *_) = csv.DictReader(io.StringIO(render(evaluation, Format.CSV, spreadsheet=True), newline=""))
    assert row["rule"] == f"'{begin}cmd()"
    assert row["score"] == "1.0"
    (row, *_) = csv.DictReader(io.StringIO(render(evaluation, Format.CSV), newline=""))
    assert row["rule"] == f"{begin}cmd()"


def assert_balanced(text: str) -> None:
    """Braces and environments open and close in order."""
    kept = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    plain = re.sub(r"\\[\\{}]", "", kept)
    depth = 0
    for character in plain:
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0
    opened: list[str] = []
    for what, name in re.findall(r"\\(begin|end)\{(\w+)\}", plain):
        if what == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert opened == []


def long_listing() -> Listing:
    columns = (Column("rule", "rule"), Column("score", "score", CellKind.SCORE), Column("text", "text", CellKind.CODE))
    rows = tuple((f"r{number}", 0.5, 'p(X) <- q(X), X != "a"') for number in range(100))
    return Listing("rules", "Rules", columns, rows, best=frozenset({(0, 1)}))


def test_a_long_table_in_latex_is_as_papers_have_it() -> None:
    long = render_latex(long_listing())
    assert re.search(r"\\begin\{longtable\}\{lrp\{0\.\d+\\linewidth\}\}", long)
    assert r"\endhead" in long
    assert r"\textbf{0.500}" in long
    assert r"\texttt{p(X) \textless{}{-} q(X)" in long.replace(r"\allowbreak{}", "")
    assert_balanced(long)


@given(st.text())
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=50)
def test_latex_is_balanced_whatever_names_there_are(name: str) -> None:
    assert_balanced(render(named(name or "x"), Format.LATEX, detail=True))


def wide_listings() -> list[Listing]:
    """Many figures beside a rule of long names; and rows that are mostly text."""
    predicate = "`/organization/organization/child./organization/organization_relationship/child`"
    rule = f"{predicate}(C, A) <- {predicate}(B, A), {predicate}(C, B)"
    figures = ("fb.rules:305", "soft", "9,494 of 9,494", "1,225 of 1,225", "1,225 of 1,225", "1,247 of 1,247")
    headings = ("rule", "kind", "data", "compgcn", "transe", "anyburl")
    kinds = (CellKind.TEXT, CellKind.TEXT, *[CellKind.COUNT] * 4)
    columns = [Column(one, one, kind) for one, kind in zip(headings, kinds, strict=True)]
    rules = Listing("rules", "Rules", (*columns, Column("text", "text", CellKind.CODE)), ((*figures, rule),))
    texts = ("sentence", "rule", "binding", "answer", "roles", "body", "head")
    row = (f"m predicts {rule}, but {rule} is observed", "fb.rules:305", *[rule] * 5)
    measures = ("violating a hard rule", "share of predictions that violate", "RVS hard", "RVS soft")
    shares = [Column(one, one, CellKind.COUNT) for one in measures]
    model = ("compgcn", "2,225 of 7,335", "0.3033 (0.2934 to 0.3149)", "13.5 (11.4 to 16.4)", "0.483 (0.234 to 1.75)")
    models = Listing("models", "Models", (Column("model", "model"), *shares), (model,))
    violations = Listing("violations", "Violations", tuple(Column(one, one) for one in texts), (row,), layout=ListingLayout.BLOCKS)
    return [rules, violations, models]


def test_latex_of_a_rule_with_many_figures_has_its_text_below_them_and_no_wider_column() -> None:
    text = render_latex(wide_listings()[0])
    assert r"\begin{tabular*}{\linewidth}{@{\extracolsep{\fill}}llrrrr@{}}" in text
    (below,) = [line for line in text.splitlines() if r"\multicolumn" in line]
    assert below.startswith(r"\multicolumn{6}{@{}l@{}}{\makebox[0pt][l]{\parbox[t]")


def test_headings_in_latex_are_as_wide_as_the_figures_below_them() -> None:
    text = render_latex(wide_listings()[2])
    assert r"\shortstack[r]{violating a\\hard rule} & \shortstack[r]{share of predictions that\\violate} & RVS hard" in text


def test_latex_of_violations_has_the_rule_and_the_sentence() -> None:
    text = render_latex(wide_listings()[1])
    assert re.search(r"\\begin\{tabular\}\{lp\{0\.\d+\\linewidth\}\}", text)
    assert "rule & sentence" in text


TEX = shutil.which("tectonic") or shutil.which("pdflatex")


@pytest.mark.slow
@pytest.mark.skipif(TEX is None, reason="there is no TeX here")
def test_latex_compiles(tmp_path: Path) -> None:
    names = [name for name in HOSTILE if name.isascii()]
    tables = [render(named(name), Format.LATEX, detail=True).replace("tab:", f"tab:{number}") for number, name in enumerate(names)]
    packages = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{booktabs,longtable}"
    # So many floats have to be put somewhere.
    body = "\n\\clearpage\n".join([*tables, render_latex(long_listing())])
    (tmp_path / "tables.tex").write_text(f"{packages}\n\\begin{{document}}\n{body}\n\\end{{document}}\n", encoding="utf-8")
    options = [] if TEX.endswith("tectonic") else ["-halt-on-error", "-interaction=nonstopmode"]
    done = subprocess.run([TEX, *options, "tables.tex"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.slow
@pytest.mark.skipif(TEX is None or TEX.endswith("tectonic"), reason="pdflatex says which lines are too long")
def test_latex_fits_a_page(tmp_path: Path) -> None:
    packages = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs,longtable}"
    rules, *others = wide_listings()
    listings = [rules, *others, replace(rules, rows=rules.rows * 50)]
    body = "\n".join(map(render_latex, listings))
    (tmp_path / "tables.tex").write_text(f"{packages}\n\\begin{{document}}\n{body}\n\\end{{document}}\n", encoding="utf-8")
    done = subprocess.run(
        [TEX, "-interaction=nonstopmode", "tables.tex"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
