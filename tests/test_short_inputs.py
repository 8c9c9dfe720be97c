"""Short inputs that would take long: each ends soon, or is refused with the limit."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

import rulescore
from rulescore.arguments.project_file import TomlPlaces, read_project
from rulescore.arguments.rule_sources import rule_sources
from rulescore.errors import RulescoreWarning, Source
from rulescore.formats import prolog
from rulescore.sql.sql_rules import not_one_query

pytestmark = pytest.mark.slow


def test_e369_facts_have_at_most_a_hundred_arguments() -> None:
    with pytest.raises(rulescore.InputError, match=r"E369.*101 arguments.*at most 100"):
        rulescore.audit({"p": [tuple(map(str, range(101)))]}, "false <- q(X, X).")


def test_quotes_without_an_end_are_read_once() -> None:
    found = prolog.read(Source("p.pl", "h(A):- k(A, '" + "\\'" * 50_000), ())
    (problem,) = found.problems
    assert "expected a variable or a constant" in problem.message


def test_places_of_many_keys_are_found_soon() -> None:
    lines = [f'm{number} = "f.tsv"' for number in range(20_000)]
    places = TomlPlaces("p.toml", "\n".join(["[predictions]", *lines, "[other]", "many = [", *(["  1,"] * 20_000), "]", "x = 1"]))
    assert [places.place(("predictions", f"m{number}")).line for number in (0, 19_999)] == [2, 20_001]
    assert all(places.place(("predictions", f"m{number}", "path")).line == number + 2 for number in range(20_000))
    assert places.place(("other", "x")).line == 40_005


def test_e403_a_key_of_many_dots(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text("x" + ".x" * 30_000 + " = 1\n")
    with pytest.raises(rulescore.InputError, match=r"E403.*more than 50 dots"):
        read_project(tmp_path / "p.toml")


def test_e403_values_within_values(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text("a = " + "[" * 100_000)
    with pytest.raises(rulescore.InputError, match=r"E403.*nests its values too deeply"):
        read_project(tmp_path / "p.toml")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_e405_a_project_file_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.toml")
    with pytest.raises(rulescore.InputError, match=r"E403.*is a pipe, not a project file"):
        read_project(tmp_path / "p.toml")


def test_e413_a_rule_in_sql_within_parentheses() -> None:
    assert not_one_query("(" * 5_000 + "SELECT 1" + ")" * 5_000, "postgres") == "it is nested too deeply"


def test_e317_a_literal_of_17_mb(tmp_path: Path) -> None:
    (tmp_path / "f.nt").write_text('<http://a/x> <http://a/y> "' + "x" * 17_000_000 + '" .\n')
    with pytest.raises(rulescore.InputError, match=r"E317.*longer than the 16 MB that are read"):
        rulescore.audit(tmp_path / "f.nt", "false <- q(X, X).")


def test_e406_a_small_rule_file_that_unpacks_to_a_large_one(tmp_path: Path) -> None:
    (tmp_path / "r.rules.gz").write_bytes(gzip.compress(b"#" * 100_000_001))
    with pytest.raises(rulescore.InputError, match=r"E406.*more than 100 MB"):
        rule_sources(tmp_path / "r.rules.gz")


def test_many_disjoint_properties_are_left_out_and_told(tmp_path: Path) -> None:
    members = " ".join(f"<http://x/p{number}>" for number in range(1_200))
    text = f"[] a owl:AllDisjointProperties ; owl:members ( {members} ) . <http://x/p1> a owl:FunctionalProperty ."
    (tmp_path / "o.ttl").write_text(f"@prefix owl: <http://www.w3.org/2002/07/owl#> . {text}")
    with pytest.warns(RulescoreWarning, match="AllDisjointProperties of more than 200 properties"):
        rulescore.audit({"http://x/p1": [("a", "b")]}, tmp_path / "o.ttl")


def test_e415_more_pairs_of_predicates_than_we_compare() -> None:
    facts = [(f"a{number}", f"p{number}", "b") for number in range(4_000)]
    with pytest.raises(rulescore.InputError, match=r"E369.*7,998,000 pairs"):
        rulescore.audit(facts, "p1(X, Y) <- p2(X, Y). extract incompatible.")


def test_w213_a_formula_that_explodes_is_told_before_it_is_counted() -> None:
    facts = {"q": [(f"x{number}", "a") for number in range(40_000)], "p": [("a", "b")]}
    rules = "pairs: p(X, Y) <- q(X, A), q(Y, B), X < Y. closed p."
    with (
        pytest.warns(RulescoreWarning, match=r"(?s)W213.*`pairs`: about 1,600,000,000"),
        pytest.raises(rulescore.EngineError, match="timeout"),
    ):
        rulescore.audit(facts, rules, timeout=0.5)
