"""A rule that is too broad gets the condition that it lacks, with exact counts; and how rules stand to each other."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import rulescore
from rulescore.arguments.project import load_project
from rulescore.arguments.python import make_setting
from rulescore.cli.main import program
from rulescore.discovery.model import DiscoverOptions
from rulescore.discovery.refine import Refinement, given_relations, refine
from rulescore.errors import InputError
from rulescore.readers.sources import prediction_streams
from rulescore.scoring.results import Counts
from servers.database import Database

DECLARED = "functional lives_in(X -> Y).\n"


def commuters() -> list[tuple[str, str, str]]:
    """People live where they work, unless they have retired."""
    facts = []
    for n in range(80):
        retired = n % 4 == 0
        facts.append((f"p{n}", "works_in", f"c{n % 5}"))
        facts.append((f"p{n}", "status", "retired" if retired else "active"))
        facts.append((f"p{n}", "lives_in", f"c{(n + retired) % 5}"))
        if n % 3 == 0:
            facts.append((f"p{n}", "knows", f"p{(7 * n + 1) % 80}"))
    return facts


def sales(rows: int = 200) -> dict[str, list[Any]]:
    generator = random.Random(3)
    kinds = [generator.choice(["house", "flat", "garage"]) for _ in range(rows)]
    return {
        "id": list(range(rows)),
        "kind": kinds,
        "rooms": [0 if kind == "garage" else generator.randrange(1, 9) for kind in kinds],
        "price": [float(generator.randrange(1, 500)) for _ in range(rows)],
        "zip": [generator.choice("abc") for _ in range(rows)],
    }


def refined_sales(rule: str, **options: Any) -> Refinement:
    table = rulescore.Table(sales(), key="id")
    return refine(make_setting(None, tables={"sale": table}), rule, DiscoverOptions(**options))


def test_a_rule_of_a_graph_gets_the_constant_that_it_lacks() -> None:
    setting = make_setting(commuters(), None, DECLARED)
    refinement = refine(setting, "lives_in(X, Y) <- works_in(X, Y)", DiscoverOptions())
    assert refinement.rule.counts == Counts(60, 20, 80)
    best = refinement.rules[0]
    assert best.text == "lives_in(X, Y) <- works_in(X, Y), status(X, active)"
    assert best.counts == Counts(60, 0, 60)
    text = DECLARED + "".join(f"{rule.text}.\n" for rule in (refinement.rule, *refinement.rules))
    audit = rulescore.audit(commuters(), text)
    assert [result.dataset for result in audit.rule_results] == [rule.counts for rule in (refinement.rule, *refinement.rules)]


@pytest.mark.server
def test_facts_in_a_database_give_a_rule_the_same_conditions(database: Database, tmp_path: Path) -> None:
    rows = ", ".join(f"('{head}', '{relation}', '{tail}')" for head, relation, tail in commuters())
    database.run("CREATE TABLE fact (head text, relation text, tail text)", f"INSERT INTO fact VALUES {rows}")
    (tmp_path / "declared.rules").write_text(DECLARED)
    project = tmp_path / "rulescore.toml"
    project.write_text(f'rules = "declared.rules"\n[engine]\nurl = "{database.address}"\n[[facts]]\ndatabase_table = "fact"\n')
    rule = "lives_in(X, Y) <- works_in(X, Y)"
    refinement = refine(load_project(project, trusted=True).setting, rule, DiscoverOptions())
    assert refinement == refine(make_setting(commuters(), None, DECLARED), rule, DiscoverOptions())


def parents(families: int = 40) -> list[tuple[str, str, str]]:
    """A child has a father and a mother; most fathers are somebody's husband."""
    facts = []
    for n in range(families):
        facts += [
            (f"c{n}", "child", f"f{n}"),
            (f"c{n}", "child", f"m{n}"),
            (f"f{n}", "father", f"c{n}"),
            (f"m{n}", "mother", f"c{n}"),
        ]
        facts += [(f"f{n}", "husband", f"m{n}")] if n % 4 else [(f"s{n}", "brother", f"m{n}")]
    return facts


def test_a_rule_gets_the_kind_of_thing_that_it_lacks_and_nothing_that_only_repeats_its_refutations() -> None:
    """`not mother(X, Y)` and `not mother(_, Y)` leave out just what refutes the head, and `father(X, _)` what confirms it."""
    refinement = refine(make_setting(parents()), "father(X, Y) <- child(Y, X)", DiscoverOptions())
    assert refinement.rule.counts == Counts(40, 40, 80)
    texts = [rule.text for rule in refinement.rules]
    assert texts[0] == "father(X, Y) <- child(Y, X), husband(X, _)"
    assert refinement.rules[0].counts == Counts(30, 0, 30)
    assert not any(" mother(X, Y)" in text or "mother(_, Y)" in text or "father(X, _)" in text for text in texts)


def test_facts_given_as_valid_rate_a_refined_rule_and_pick_nothing() -> None:
    valid = [
        ("c99", "child", "f99"),
        ("f99", "father", "c99"),
        ("f99", "husband", "m99"),
        ("c98", "child", "m98"),
        ("m98", "mother", "c98"),
    ]
    without = refine(make_setting(parents()), "father(X, Y) <- child(Y, X)", DiscoverOptions())
    given = refine(make_setting(parents()), "father(X, Y) <- child(Y, X)", DiscoverOptions(), prediction_streams(valid))
    assert [rule.text for rule in given.rules] == [rule.text for rule in without.rules]
    assert given.rule.held_out is not None
    assert given.rules[0].held_out is not None


def test_facts_given_as_valid_do_not_fit_a_rule_of_a_table() -> None:
    setting = make_setting(None, tables={"sale": rulescore.Table(sales(), key="id")})
    with pytest.raises(InputError, match="the rule reads a table"):
        refine(setting, "Rooms >= 1 <- sale(rooms: Rooms)", DiscoverOptions(), prediction_streams([("a", "p", "b")]))


def test_a_rule_is_named_or_written() -> None:
    setting = make_setting(commuters(), None, DECLARED + "home: lives_in(X, Y) <- works_in(X, Y).")
    named = refine(setting, "home", DiscoverOptions())
    assert named == refine(setting, "lives_in(X, Y) <- works_in(X, Y).", DiscoverOptions())


def test_a_rule_of_a_table_gets_the_value_that_it_lacks() -> None:
    refinement = refined_sales("Rooms >= 1 <- sale(rooms: Rooms)")
    kinds = sales()["kind"]
    assert refinement.rule.counts == Counts(200 - kinds.count("garage"), kinds.count("garage"), 200)
    best = refinement.rules[0]
    assert best.text == "Rooms >= 1 <- sale(rooms: Rooms, kind: Kind), Kind != garage"
    assert best.counts == Counts(200 - kinds.count("garage"), 0, 200 - kinds.count("garage"))


def test_counts_on_rows_held_out_are_those_of_the_other_rows() -> None:
    refinement = refined_sales("Rooms >= 1 <- sale(rooms: Rooms)", hold_out=0.25, seed=3)
    whole = refined_sales("Rooms >= 1 <- sale(rooms: Rooms)")
    held = refinement.rule.held_out
    assert held is not None
    assert held.evaluable == 50
    assert held.refuted + refinement.rule.counts.refuted == whole.rule.counts.refuted
    assert refinement.rules[0].held_out is not None
    assert refinement.rules[0].held_out.refuted == 0
    assert whole.rule.held_out is None


def test_facts_held_out_count_as_predictions_do() -> None:
    setting = make_setting(commuters(), None, DECLARED)
    refinement = refine(setting, "lives_in(X, Y) <- works_in(X, Y)", DiscoverOptions(hold_out=0.3, min_support=5))
    assert refinement.rule.held_out is not None
    assert refinement.rule.held_out.refuted > 0


def test_a_rule_of_pairs_gets_a_column_in_which_its_rows_agree() -> None:
    generator = random.Random(9)
    zips = [generator.choice("abcdef") for _ in range(120)]
    columns = {
        "id": list(range(120)),
        "city": ["x" if zip_code in "abc" else "y" for zip_code in zips],
        "zip": zips,
        "price": [100.0 * "abcdef".index(zip_code) + generator.randrange(20) for zip_code in zips],
    }
    setting = make_setting(None, tables={"sale": rulescore.Table(columns, key="id")})
    rule = "abs(P - Q) <= 50 <- sale(id: A, city: C, price: P), sale(id: B, city: C, price: Q), A != B"
    best = refine(setting, rule, DiscoverOptions()).rules[0]
    assert best.text == (
        "abs(P - Q) <= 50 <- sale(id: A, city: C, price: P, zip: Zip), sale(id: B, city: C, price: Q, zip: Zip), A != B"
    )
    assert best.counts.refuted == 0


def test_no_condition_is_offered_where_chance_would_give_it() -> None:
    generator = random.Random(5)
    columns = {
        "id": list(range(200)),
        "price": [generator.gauss(1, 1) for _ in range(200)],
        **{f"noise_{number}": [generator.choice("abcd") for _ in range(200)] for number in range(20)},
    }
    setting = make_setting(None, tables={"sale": rulescore.Table(columns, key="id")})
    refinement = refine(setting, "P > 0 <- sale(price: P)", DiscoverOptions())
    assert refinement.tried > 100
    assert refinement.rules == ()


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("near", "there is no rule `near`"),
        ("Price > 0 <- sale(price: Price)", "the data never break the rule"),
        ("Price > 0 <- sale(price: Price, kind: castle)", "the data cannot judge the rule"),
    ],
)
def test_rules_that_cannot_be_refined_are_named(rule: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        refined_sales(rule)


def related(rules: str) -> list[str]:
    facts = [("a", "p", "b"), ("a", "q", "b"), ("a", "s", "b"), ("b", "s", "c")]
    return [relation.words for relation in given_relations(make_setting(facts, None, rules))]


def test_rules_that_repeat_each_other_are_named_whatever_their_variables_and_order() -> None:
    rules = "one: p(X, Z) <- q(X, Y), s(Y, Z).\ntwo: p(A, B) <- s(C, B), q(A, C).\nthree: p(A, B) <- s(A, C), q(C, B).\n"
    assert related(rules + "closed p.") == ["`two` says the same as `one`"]


def test_a_rule_with_a_longer_body_or_a_constant_is_subsumed() -> None:
    rules = "wide: p(X, Y) <- q(X, Y).\nlong: p(X, Y) <- q(X, Y), s(Y, _).\nbound: p(X, b) <- q(X, b).\n"
    assert related(rules + "closed p.") == [
        "`wide` says all that `long` says: its body asks for less",
        "`wide` says all that `bound` says: its body asks for less",
    ]


def test_a_denial_subsumes_a_longer_one_and_no_rule_with_a_head() -> None:
    rules = "never: false <- q(X, Y), q(Y, X).\nlonger: false <- q(X, Y), q(Y, X), s(X, Y).\nhead: p(X, Y) <- q(X, Y), q(Y, X).\n"
    assert related(rules + "closed p.") == ["`never` says all that `longer` says: its body asks for less"]


def test_rules_with_incompatible_heads_over_one_body_contradict_each_other() -> None:
    rules = "one: p(X, Y) <- s(X, Y).\ntwo: q(A, B) <- s(A, B), s(B, _).\nother: q(B, A) <- s(A, B).\n"
    contradicts = "contradicts `{}`: if the body of that rule holds, so does its own, and both heads cannot be true"
    assert related(rules + "incompatible p, q.") == ["`one` " + contradicts.format("two")]
    assert related(rules + "closed p. closed q.") == []


def test_the_command_refines_a_rule_and_says_how_rules_stand_to_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["head,relation,tail", *(",".join(fact) for fact in commuters())]
    Path("facts.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rules = DECLARED + "home: lives_in(X, Y) <- works_in(X, Y).\nagain: lives_in(A, B) <- works_in(A, B).\n"
    Path("home.rules").write_text(rules, encoding="utf-8")
    words = ["discover", "--facts", "facts.csv", "--rules", "home.rules", "--refine", "home"]
    result = CliRunner().invoke(program, words)
    assert result.exit_code == 0, result.output
    assert "0 of 60" in result.stdout
    assert "`again` says the same as `home`" in result.stdout
    rows = json.loads(CliRunner().invoke(program, [*words, "--format", "json"]).stdout)["rows"]
    assert [rows[0][name] for name in ("confirmed", "refuted", "evaluable")] == [60, 20, 80]
    assert rows[1]["text"] == "lives_in(X, Y) <- works_in(X, Y), status(X, active)"
    refused = CliRunner().invoke(program, [*words, "--output", "x.rules"])
    assert refused.exit_code == 2
