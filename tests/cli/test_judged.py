"""What was read, what was linked and what was judged: the funnel of each model, and a 0 behind which nothing was judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rulescore
from command_line import Run

RULES = "@hard no_incest: false <- sister(X, Y), wife(X, Y).\n"
ARGUMENTS = ("--facts", "facts.csv", "--rules", "incest.rules", "--predictions", "model.csv")


@pytest.fixture(autouse=True)
def incest(family: Path) -> None:
    Path("incest.rules").write_text(RULES, encoding="utf-8")
    Path("facts.csv").write_text(
        "head,relation,tail\nalice,sister,daniel\njulia,wife,daniel\nMarie Curie,sister,bob\n", encoding="utf-8"
    )


def write(*rows: str, header: str = "head,relation,tail") -> None:
    Path("model.csv").write_text("\n".join([header, *rows, ""]), encoding="utf-8")


def row_of(stdout: str) -> list[str]:
    """The numbers of the model, as words."""
    funnel = stdout[stdout.index("From rows to judged predictions") :]
    return [line.split() for line in funnel.splitlines() if line.startswith("model ")][1]


def test_names_in_another_case_are_told_and_meet_no_gate(run: Run) -> None:
    write("Alice,wife,Daniel", "marie curie,wife,Bob")
    result = run("score", *ARGUMENTS, "--fail-if", "hard > 0", "--fail-if", "violating > 1%", "--fail-if", "hard > 0 if judged")
    assert result.exit_code == 1
    assert "0, none judged" in result.stdout
    assert "0 of 2" not in result.stdout
    assert row_of(result.stdout) == ["model", "2", "2", "2", "0", "2", "0"]
    assert "(did you mean `alice`?)" in " ".join(result.stdout.split())
    assert "gate `hard > 0` failed by `model`: hard says nothing: 0, none judged" in result.stderr
    assert "gate `violating > 1%` failed by `model`" in result.stderr
    assert "gate `hard > 0 if judged` passed by `model`" in result.stderr


def test_ids_of_another_type_meet_no_gate() -> None:
    facts = {"r": [(1, 2), (2, 3)], "s": [(3, 4)]}
    result = rulescore.score(facts, {"p": {"s": [("1", "2"), ("2", "3")]}}, "@hard x: false <- r(X, Y), s(X, Y).")
    (model,) = result.model_results
    assert (model.hard_score.value, model.hard_score.mark, model.linked) == (0, "0, none judged", 0)
    assert model.findings is not None
    assert (model.findings.unlinked, model.findings.meant) == ('"1"', {'"1"': "1"})


def test_a_constraint_that_linked_predictions_keep_has_judged_them(run: Run) -> None:
    write("julia,wife,bob")
    result = run("score", *ARGUMENTS, "--fail-if", "hard > 0")
    assert result.exit_code == 0
    assert row_of(result.stdout) == ["model", "1", "1", "1", "1", "1", "1"]


def test_known_facts_and_repeated_rows_are_told_apart(run: Run) -> None:
    write(*["alice,wife,daniel"] * 10, "alice,sister,daniel", "julia,wife,daniel")
    result = run("score", *ARGUMENTS, "--fail-if", "violating_new > 50%")
    assert row_of(result.stdout) == ["model", "12", "3", "1", "1", "1", "1"]
    assert "violating_new is 100%" in result.stderr


def test_rows_that_top_k_leaves_out_are_told(run: Run) -> None:
    write(*(f"alice,wife,p{rank},{rank}" for rank in range(1, 11)), header="head,relation,tail,rank")
    result = run("score", *ARGUMENTS)
    assert row_of(result.stdout)[:4] == ["model", "10", "1", "1"]
    assert "kept: the best answers of each query, as many as `--top-k` says, or one" in result.stdout


def test_a_predicate_that_no_rule_mentions_has_a_suggestion(run: Run) -> None:
    write("alice,wiffe,daniel", "julia,wife,bob")
    result = run("score", *ARGUMENTS)
    assert "model: no rule mentions `wiffe` (1; did you mean `wife`?)" in result.stdout


def test_a_number_is_no_slip_for_another(run: Run) -> None:
    Path("facts.csv").write_text("head,relation,tail\nQ125,wife,Q1210\n", encoding="utf-8")
    write("Q1125,wife,Q1210")
    result = run("score", *ARGUMENTS, "--allow-unrefutable")
    assert "such as `Q1125`" in " ".join(result.stdout.replace('"', "").split())
    assert "did you mean" not in result.stdout


def test_json_and_frames_have_the_same_counts(run: Run) -> None:
    write("Alice,wife,Daniel", "julia,wife,bob", "julia,wife,daniel")
    model = json.loads(run("score", *ARGUMENTS, "--format", "json").stdout)["models"]["model"]
    (row,) = rulescore.score("facts.csv", {"model": "model.csv"}, RULES).models.to_pylist()
    counts = ("new", "violating_new", "linked", "concerned", "judged", "unlinked")
    assert [model[count] for count in counts] == [row[count] for count in counts] == [2, 0, 1, 2, 1, '"Alice"']
    assert model["meant"] == {'"Alice"': "alice"}


def test_a_model_of_which_nothing_was_judged_is_never_the_best(run: Run) -> None:
    write("Alice,wife,Daniel")
    Path("worse.csv").write_text("head,relation,tail\nalice,wife,daniel\n", encoding="utf-8")
    text = run("score", *ARGUMENTS, "--predictions", "worse.csv", "--table", "models", "--format", "latex").stdout
    assert r"\textbf" not in text
    assert "0, none judged" in text


def test_nothing_judged_is_drawn_as_nothing() -> None:
    from rulescore.plots.models import measures
    from rulescore.plots.rules import _scores

    write("Alice,wife,Daniel")
    result = rulescore.score("facts.csv", {"model": "model.csv"}, RULES)
    assert measures(result)["hard_score"] == {}
    assert _scores(result) == {}
