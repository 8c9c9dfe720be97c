"""The page as data: its numbers are those of the result, its rows a fair choice, and the same input gives the same bytes."""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine_side
import rulescore
from generate import plain as strategies
from generate.drawing import Generated
from report.conftest import Reported, kinship_setting, reported
from rulescore.arguments.project import load_project
from rulescore.comparison import comparing
from rulescore.counting.listing import FIRST, shares
from rulescore.demo.files import run
from rulescore.errors import InputError
from rulescore.readers.labels import read_labels
from rulescore.report.charts import figures
from rulescore.report.example import MODEL, form_of, pieces, shape_of, told
from rulescore.report.make import ReportChoice, page_of, report_of
from rulescore.reporting.violations import sentence, unquoted
from rulescore.reporting.wording import frequency, percent
from rulescore.scoring.labels import Labels, is_of_facts, rule_title, short_names
from rulescore.scoring.results import RuleInfo, RuleKind
from rulescore.scoring.violation import Violation
from rulescore.session.session import Session


def unpacked(pack: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(pack)))
    return found


def test_the_table_of_models_has_the_numbers_of_the_result(kinship: Reported):
    page, result = kinship.page, kinship.result
    assert page.models is not None
    right = {one.model: one for one in result.right_results}
    for row, model in zip(page.models.rows, result.model_results, strict=True):
        assert row.name == model.name
        assert row.counts == f"{model.violating} of {model.predictions.distinct}"
        assert row.often == frequency(model.violating or 0, model.predictions.distinct)
        cells = dict(zip(page.models.headings, row.cells, strict=True))
        hard = [rule for rule in result.rule_results if rule.kind is RuleKind.HARD and not rule.info.unrefutable]
        broken = sum(rule.models[model.name].counts.refuted > 0 for rule in hard)
        assert cells["hard rules broken"] == f"{broken} of {len(hard)}"
        one = right[model.name]
        assert cells["right if violating"] == (percent(one.violating_right, one.violating) if one.violating else "–")
        assert cells["right if not"] == percent(one.others_right, one.others)
        assert cells["wrong answers found"] == f"{right[model.name].wrong_violating / right[model.name].wrong:.1%}"
    intervals = {row["model"]: row for row in result.compare().models.to_pylist() if row["measure"] == "violating"}
    for row in page.models.rows:
        low, high = intervals[row.name]["low"], intervals[row.name]["high"]
        assert row.interval == f"{low:.1%} to {high:.1%}"


def test_the_columns_have_every_rule_with_its_counts(kinship: Reported):
    columns = unpacked(kinship.page.rules_pack)
    by_name = {rule.info.name: rule for rule in kinship.result.rule_results}
    assert sorted(columns["name"]) == sorted(by_name)
    for number, name in enumerate(columns["name"]):
        rule = by_name[name]
        assert columns["kind"][number] == rule.kind.value[0]
        assert (columns["data"]["refuted"][number], columns["data"]["evaluable"][number]) == (
            rule.dataset.refuted,
            rule.dataset.evaluable,
        )
        for own, found in zip(columns["by"], rule.models.values(), strict=True):
            assert (own["refuted"][number], own["evaluable"][number]) == (found.counts.refuted, found.counts.evaluable)
        reason = columns["reasons"][columns["reason"][number]]
        assert reason.replace("\x01", f"{rule.dataset.refuted:,} of {rule.dataset.evaluable:,}") == rule.kind_reason


def test_a_model_whose_nought_rests_on_nothing_is_not_told_as_good():
    rules = "false <- sister(X, Y), wife(X, Y)."
    facts = [("alice", "sister", "daniel")]
    models = {"judged": [("alice", "wife", "daniel")], "unlinked": [("nobody", "wife", "noone")]}
    with rulescore.open(facts, models, rules) as session:
        result = session.score()
        page = page_of(result, session.session, ReportChoice())
    assert page.models is not None
    rows = {row.name: row for row in page.models.rows}
    assert rows["unlinked"].often == "0, none judged"
    assert (rows["unlinked"].bar, rows["unlinked"].percent) == (None, None)
    assert page.answer.text == "All of the predictions of judged contradict what is known."
    assert "Hard rules say nothing of unlinked (0, none judged)." in [one.text for one in page.details]


def test_the_same_input_gives_the_same_bytes(tmp_path: Path):
    run(tmp_path / "demo")
    one, other = (reported(ReportChoice(), **kinship_setting(tmp_path / "demo")).report.html for _ in range(2))
    assert one == other


def test_a_saved_result_has_a_report_without_rows(kinship: Reported, tmp_path: Path):
    kinship.result.save(tmp_path / "result.json")
    page = page_of(rulescore.load_result(tmp_path / "result.json"), None, ReportChoice())
    assert page.listed == "This result was read from a file and does not know its data, so no violation is listed."
    assert page.answer == kinship.page.answer
    assert page.example is None
    assert "rulescore violations PROJECT" in report_of(kinship.result, None, ReportChoice()).html


def test_without_contributions_no_order_is_told(kinship: Reported):
    page = page_of(replace(kinship.result, contributions_table=None), None, ReportChoice())
    assert page.answer.text.startswith("gender-blind: 35 of 404 predictions contradict what is known. reckless: 30 of 412.")
    assert page.models is not None
    assert [row.interval for row in page.models.rows] == [None, None, None]


def test_an_audit_has_a_report(tmp_path: Path):
    run(tmp_path / "demo")
    audited = reported(
        ReportChoice(), observed=tmp_path / "demo/facts.tsv", predictions=None, rules=tmp_path / "demo/kinship.rules"
    )
    judged = [rule for rule in audited.result.rule_results if rule.dataset.evaluable or rule.info.denial]
    broken = sum(rule.dataset.refuted > 0 for rule in judged)
    assert audited.page.answer.text == f"The data themselves break {broken} of {len(judged)} rules that they can judge."
    assert audited.page.example is not None
    assert audited.page.models is None
    assert len(audited.rows) == sum(rule.dataset.refuted for rule in judged)


@given(strategies.settings(most_rules=4))
def test_sentences_are_put_together_from_their_atoms(generated: Generated):
    """The pieces of a sentence, filled with its atoms as rules write them, are the sentence."""
    with engine_side.session(generated.setting, generated.text) as session:
        texts = {rule.name: rule.text for rule in session.rules}
        models = list(session.predictions) or None
        _put_together(session.sampled_violations(models, 200).rows, texts)


def _put_together(rows: Iterable[Violation], texts: Mapping[str, str]) -> int:
    """Fills the pieces of sentences; of one form, the pieces of its first sentence. Returns how many sentences had them."""
    of_form: dict[object, tuple[str | int, ...]] = {}
    shared = 0
    for row in rows:
        parts = told(row, shape_of(texts[row.rule]))
        words = [unquoted(one.text) for one in parts.atoms]
        form = form_of(parts)
        shared += form in of_form
        chosen = pieces(parts) if form is None else of_form.setdefault(form, pieces(parts))
        filled = [row.model if piece == MODEL else words[piece] if isinstance(piece, int) else piece for piece in chosen]
        assert "".join(map(str, filled)) == sentence(row)
    return shared


def test_sentences_of_one_form_have_the_same_pieces(kinship: Reported, hostile: Reported, regression: Reported):
    for of in (kinship, hostile, regression):
        shared = _put_together(of.rows, {rule.info.name: rule.info.text for rule in of.result.rule_results})
        assert of is not kinship or shared > len(of.rows) / 2


def test_intervals_of_many_rules_rest_on_fewer_draws_and_the_page_says_so(kinship: Reported, monkeypatch: pytest.MonkeyPatch):
    assert "with 1,000 draws." in kinship.report.html
    monkeypatch.setattr(comparing, "MANY", 10)
    assert "with 200 draws." in report_of(kinship.result, None, ReportChoice()).html
    few = {row["model"]: row for row in kinship.result.compare(draws=200).models.to_pylist() if row["measure"] == "violating"}
    models = page_of(kinship.result, None, ReportChoice()).models
    assert models is not None
    assert [row.interval for row in models.rows] == [
        f"{few[row.name]['low']:.1%} to {few[row.name]['high']:.1%}" for row in models.rows
    ]


@given(strategies.settings(most_rules=4), st.integers(0, 30))
def test_rows_are_of_every_rule_and_model_and_no_more_than_asked(generated: Generated, most: int):
    with engine_side.session(generated.setting, generated.text) as session:
        models = list(session.predictions) or None
        found = session.sampled_violations(models, most)
        every = session.violations(model=models, limit=None)
        assert found.total == every.total
        rules = [rule.name for rule in session.rules]

        def numbers(rule: str, model: str | None) -> tuple[int, int | None]:
            return rules.index(rule), None if model is None else session.models.index(model)

        wanted = shares({numbers(*key): n for key, n in found.counts.items()}, most)
        assert Counter(numbers(row.rule, row.model) for row in found.rows) == wanted
        assert session.sampled_violations(models, most).rows == found.rows
        texts = Counter(str((row.rule, row.model, row.head, row.binding, row.prediction)) for row in found.rows)
        assert texts <= Counter(str((row.rule, row.model, row.head, row.binding, row.prediction)) for row in every.rows)


@given(st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 2)), st.integers(1, 200), max_size=9), st.integers(0, 500))
def test_shares_fill_what_there_is_room_for(counts: dict[tuple[int, int | None], int], most: int):
    found = shares(counts, most)
    assert sum(found.values()) == min(most, sum(counts.values()))
    assert all(0 < n <= counts[key] for key, n in found.items())
    if most >= sum(min(n, FIRST) for n in counts.values()):
        assert all(found[key] >= min(n, FIRST) for key, n in counts.items())


def test_labels_and_short_names(tmp_path: Path):
    path = tmp_path / "labels.tsv"
    path.write_text("id\tlabel\n/m/1\tBerlin\n/m/2\tSpree, the river\n/m/1\tanother\n", "utf-8")
    assert read_labels(path) == {"/m/1": "Berlin", "/m/2": "Spree, the river"}
    names = ["/location/location/contains", "/people/person/place", "/film/film/place", "plain"]
    assert list(short_names(names).values()) == ["contains", "person/place", "film/place", "plain"]
    labels = Labels(read_labels(path)).of_predicates(names)
    assert (labels.of_value("/m/1"), labels.of_value("/m/3"), labels.of_predicate(names[0])) == ("Berlin", "/m/3", "contains")
    path.write_text("one,two,three\n", "utf-8")
    with pytest.raises(InputError, match="E310"):
        read_labels(path)
    with pytest.raises(InputError, match="E301"):
        read_labels(tmp_path / "missing.tsv")


def test_a_rule_without_a_name_is_shown_by_its_text():
    unnamed = RuleInfo("paths.tsv:10", "`/a/b`(X, Y) <- `/c/d`(X, Y)", place="paths.tsv:10:1")
    assert rule_title(unnamed, Labels().of_predicates(["/a/b", "/c/d"])) == "b(X, Y) <- d(X, Y)"
    assert rule_title(RuleInfo("aunt:10", "p(X) <- q(X)", place="f.rules:10:1"), Labels()) == "aunt:10"


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("aunt(X, Z) <- sister(X, Y), father(Y, Z), X != Z", True),
        ("false <- `a <= b`(X, Y), not wife(X, Y)", True),
        ("X != Y <- pet(X, Y)", False),
        ("Y = Z <- born(X, Y), born(X, Z)", False),
        ("P <= 2 * avg(Q : price(A, Q)) <- price(B, P)", False),
        ("within(P, Q, 500) <- sale(zip: Z, price: P), sale(zip: Z, price: Q)", False),
    ],
)
def test_only_facts_contradict_what_is_known(text: str, is_so: bool):
    assert is_of_facts(text) == is_so


def test_a_value_that_breaks_a_rule_alone_contradicts_nothing(regression: Reported):
    assert regression.page.answer.text.endswith("of their predictions break a hard rule.")
    assert regression.page.models is not None
    assert not regression.page.models.contradicts


def test_result_report_writes_the_file_and_is_shown_in_a_notebook(tmp_path: Path):
    facts = [("alice", "sister", "daniel"), ("daniel", "brother", "eve")]
    predictions = {"model": [("alice", "wife", "daniel")]}
    (tmp_path / "labels.csv").write_text("alice,Alice A.\n", "utf-8")
    result = rulescore.score(facts, predictions, "false <- sister(X, Y), wife(X, Y).")
    report = result.report(tmp_path / "report.html", labels=tmp_path / "labels.csv", title="One & one")
    assert (tmp_path / "report.html").read_text("utf-8") == report.html
    assert "<title>One &amp; one</title>" in report.html
    assert "wife(Alice A., daniel)" in report.html
    assert report._repr_html_().startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert repr(report).startswith("<Report of ")


def test_a_pattern_names_no_place_of_a_rule_and_no_comparison(regression: Reported):
    facts = [("alice", "sister", "daniel"), ("daniel", "father", "emma"), ("fiona", "mother", "emma")]
    rules = "false <- sister(X, Y), wife(X, Y). aunt(X, Z) <- sister(X, Y), father(Y, Z). incompatible aunt, mother."
    with rulescore.open(facts, {"m": [("alice", "wife", "daniel"), ("fiona", "sister", "daniel")]}, rules) as session:
        page = page_of(session.score(), session.session, ReportChoice())
    patterns = {(row.should, row.against) for row in page.patterns}
    assert patterns == {("never", "false <- sister(X, Y), wife(X, Y)"), ("aunt", "mother")}
    assert {row.against for row in regression.page.patterns} == {"missed"}


def test_a_report_has_all_warnings_with_places_and_advice():
    facts = [("alice", "sister", "daniel"), ("daniel", "father", "emma")]
    rules = "sister(X, Y) <- sister(X, Y). father(X, Y) <- father(X, Y). aunt(X, Z) <- sister(X, Y), father(Y, Z). closed father."
    with rulescore.open(facts, {"m": [("fiona", "sister", "daniel")]}, rules) as session:
        result = session.score()
        html = unescape(report_of(result, session.session, ReportChoice()).html)
    assert len({problem.code for problem in result.warnings}) < len(result.warnings)
    for problem in result.warnings:
        assert problem.message in html
        assert problem.place is None or f"{problem.place}: " in html
        assert all(help in html for help in problem.helps)


def test_a_long_declaration_is_shown_by_its_first_names():
    labels = Labels({"r3": "sister of"})
    names = [f"r{number}" for number in range(30)]
    shown = labels.of_declaration(f"incompatible {', '.join(names)}")
    assert shown.startswith("incompatible r0, r1, r2, sister of, r4, ")
    assert shown.endswith("r11, … 30 in all")
    assert labels.of_declaration("functional r3(X -> Y)") == "functional sister of(X -> Y)"
    assert labels.of_declaration("closed `r3`") == "closed sister of"
    same = ("closed *", "negative facts", "extract incompatible: 3 other predicates", "incompatible p(X, Y), p(Y, X)")
    assert tuple(map(labels.of_declaration, same)) == same


def test_words_above_a_heat_map_stand_apart():
    rules = "false <- p(X, Y), s(X, Y). " + " ".join(f"r{n}(X, Y) <- p(X, Y)." for n in range(40))
    rules += f" incompatible q, {', '.join(f'r{n}' for n in range(40))}."
    facts = [("a", "p", "b"), *(("a", f"r{n}", "b") for n in range(40)), ("c", "p", "d"), *(("c", "q", "e"), ("c", "p", "e"))]
    with rulescore.open(facts, {"m": [("c", "p", "f"), ("a", "s", "b")]}, rules) as session:
        result = session.score()
    (heat_map,) = (figure for figure in figures(result) if figure.name == "heat-map")
    lefts = [float(part.attributes["x"]) for part in heat_map.svg.elements if part.text in {"hard rules", "soft rules"}]
    assert lefts[1] - lefts[0] >= 80


def test_an_audit_begins_with_the_rules_that_the_data_break_most(tmp_path: Path):
    run(tmp_path / "demo")
    result = rulescore.audit(tmp_path / "demo/facts.tsv", tmp_path / "demo/kinship.rules")
    rows = page_of(result, None, ReportChoice()).rules
    broken = {rule.info.name: rule.dataset.refuted for rule in result.rule_results}
    numbers = [broken[row.name] for row in rows]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] > 0


def test_many_answers_that_relate_an_entity_to_itself_are_told():
    facts = [(f"a{n}", "sister", f"b{n}") for n in range(40)] + [(f"b{n}", "father", f"c{n}") for n in range(40)]
    rules = "false <- sister(X, Y), sister(X, X). incompatible sister, father."
    itself = [(f"a{n}", "sister", f"a{n}") for n in range(12)]
    others = [(f"a{n}", "sister", f"b{(n + 1) % 40}") for n in range(30)]
    with rulescore.open(facts, {"loops": [*itself, *others], "few": itself[:3]}, rules) as session:
        page = page_of(session.score(), session.session, ReportChoice())
    assert page.self_answers == "Many violating predictions relate an entity to itself, r(x, x): 12 of 12 by loops (100.0%)."


def test_a_model_without_ranks_does_not_hinder_the_curve_of_another(tmp_path: Path):
    (tmp_path / "facts.tsv").write_text("a\tp\tb\nb\tq\tc\n", "utf-8")
    (tmp_path / "ranked.tsv").write_text("head\trelation\ttail\tscore\trank\na\tq\tb\t0.9\t1\nb\tp\tc\t0.7\t2\n", "utf-8")
    (tmp_path / "plain.tsv").write_text("a\tq\tb\n", "utf-8")
    (tmp_path / "rulescore.toml").write_text(
        'facts = "facts.tsv"\nrules.text = "false <- p(X, Y), q(X, Y)."\n'
        '[predictions]\nranked = {path = "ranked.tsv", top_k = 2}\nplain = "plain.tsv"\n',
        "utf-8",
    )
    with Session(load_project(tmp_path / "rulescore.toml").setting) as session:
        drawn = page_of(session.evaluate(), session, ReportChoice()).figures
    assert [figure.says for figure in drawn if figure.name == "curve"] == ["ranked 2.00 at 2"]
