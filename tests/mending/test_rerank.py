"""Answers that something speaks against come last; the lists keep their layout and all their columns."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy
import pandas
import polars
import pyarrow as pa
import pytest
from click.testing import CliRunner

import rulescore
from rulescore.arguments.python import make_setting
from rulescore.cli.main import program
from rulescore.mending.list_files import read_lists
from rulescore.mending.making import candidates
from rulescore.mending.reasons import Reason, Reasons
from rulescore.mending.rerank import rerank
from rulescore.mending.shown import candidates_listing, reranked_listing

FACTS = [
    ("ann", "sister", "bob"),
    ("cid", "father", "bob"),
    ("ann", "mother", "dora"),
    ("bob", "father", "eve"),
    ("ann", "aunt", "eve"),
    ("fay", "sister", "gus"),
    ("gus", "father", "hal"),
    ("fay", "aunt", "hal"),
    ("ida", "sister", "jim"),
    ("jim", "father", "kay"),
    ("liv", "sister", "gus"),
]
RULES = "r: aunt(X, Z) <- sister(X, Y), father(Y, Z). incompatible aunt, mother, sister, father."
# Each answer to `ida aunt ?` and others, from best to worst.
LISTS = """query_direction\ttest_row\tposition\thead\trelation\ttail\tscore\tnote
tail\t0\t1\tann\tsister\tann\t0.9\ta
tail\t0\t2\tann\tsister\tdora\t0.8\tb
tail\t0\t3\tann\tsister\tgus\t0.7\tc
tail\t1\t1\tida\tmother\tkay\t0.6\td
tail\t1\t2\tida\tmother\thal\t0.5\te
"""


def reasons_of(*fact: str) -> list[str]:
    table = candidates(FACTS, RULES)
    head, relation, tail = fact
    numbers = table.fact(relation, [head, tail], {})
    return [known.reason.value for known in Reasons(table).of(numbers)]


def test_every_reason_is_found() -> None:
    assert reasons_of("ann", "sister", "dora") == [Reason.TAKEN]
    assert reasons_of("ida", "mother", "kay") == [Reason.CONTRADICTS]
    assert reasons_of("ida", "aunt", "kay") == [Reason.CONCLUDED]
    assert reasons_of("ann", "aunt", "ann") == [Reason.REFLEXIVE]
    # She would be an aunt of cid's child bob, and is his sister.
    assert reasons_of("ann", "sister", "cid") == [Reason.BREAKS]
    assert reasons_of("ann", "sister", "gus") == []


def test_an_answer_that_breaks_a_hard_rule_is_moved_with_the_rule() -> None:
    facts = [*FACTS, ("ann", "mother", "pia"), ("quin", "father", "pia")]
    lists = pa.table(
        {"head": ["ann", "ann"], "relation": ["sister"] * 2, "tail": ["quin", "jim"], "query": ["1", "1"], "score": [2.0, 1.0]}
    )
    found = rerank(make_setting(facts, None, RULES), read_lists(lists))
    assert found.moves[0].reason == "breaks a rule"
    assert found.moves[0].because == "`r`, 1 grounding"
    assert found.moves[0].facts == ("father(quin, pia)", "mother(ann, pia)")
    assert found.lists.rows["tail"].to_pylist() == ["jim", "quin"]
    scores = found.lists.rows["score"].to_pylist()
    assert scores[0] > scores[1]
    before, _, after = found.outcomes
    assert (before.violating, after.violating) == (1, 0)


@pytest.mark.parametrize("ending", ["tsv", "tsv.gz", "csv"])
def test_text_keeps_its_layout_and_columns(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"lists.{ending}"
    text = LISTS.replace("\t", ",") if ending == "csv" else LISTS
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    result = rulescore.score(FACTS, {"model": path}, RULES, truth=[("ann", "sister", "gus"), ("ida", "mother", "hal")])
    found = result.rerank()
    out = tmp_path / f"out.{ending}"
    found.lists.write(out)
    written = gzip.decompress(out.read_bytes()).decode() if ending.endswith("gz") else out.read_text()
    rows = [line.split("," if ending == "csv" else "\t") for line in written.splitlines()]
    assert rows[0] == LISTS.splitlines()[0].split("\t")
    assert [row[5] for row in rows[1:]] == ["gus", "ann", "dora", "hal", "kay"]
    assert [row[2] for row in rows[1:]] == ["1", "2", "3", "1", "2"]
    assert [row[7] for row in rows[1:]] == ["c", "a", "b", "e", "d"]
    assert [outcome.accuracy["hits_at_1"] for outcome in found.outcomes] == [0.0, 0.0, 1.0]
    with pytest.raises(rulescore.InputError, match="E603"):
        found.lists.write(out)


def test_nothing_to_move_leaves_a_file_as_it_is(tmp_path: Path) -> None:
    path, out = tmp_path / "lists.tsv", tmp_path / "out.tsv"
    path.write_text(LISTS.replace("ann\tsister\tann", "ann\tsister\tjim").replace("dora", "kay"))
    result = rulescore.score(FACTS, {"model": path}, RULES)
    found = result.rerank(reasons=["breaks a rule"])
    found.lists.write(out)
    assert out.read_text() == path.read_text()
    assert found.price.nothing_to_win
    assert found.price.sentences()[-1] == "nothing to win here"


def test_parquet_and_rankings_of_anyburl_come_back_as_they_came(tmp_path: Path) -> None:
    from pyarrow.parquet import read_table, write_table

    table = pa.table({"head": ["ann"] * 2, "relation": ["sister"] * 2, "tail": ["ann", "gus"], "rank": [1, 2], "more": [7, 8]})
    write_table(table, tmp_path / "lists.parquet")
    setting = make_setting(FACTS, None, RULES)
    found = rerank(setting, read_lists(tmp_path / "lists.parquet"))
    found.lists.write(tmp_path / "out.parquet")
    assert read_table(tmp_path / "out.parquet").to_pydict() == {
        "head": ["ann"] * 2,
        "relation": ["sister"] * 2,
        "tail": ["gus", "ann"],
        "rank": [1, 2],
        "more": [8, 7],
    }
    ranking = "ann sister gus\nHeads: ann\t0.5\t\nTails: ann\t0.9\tdora\t0.8\tgus\t0.7\t\n"
    (tmp_path / "ranking").write_text(ranking)
    moved = rerank(setting, read_lists(tmp_path / "ranking"))
    moved.lists.write(tmp_path / "out")
    lines = (tmp_path / "out").read_text().splitlines()
    assert lines[:2] == ranking.splitlines()[:2]
    assert lines[2].startswith("Tails: gus\t0.7\tann\t")


def test_json_lines_and_frames_come_back_as_they_came(tmp_path: Path) -> None:
    rows = [
        {"head": "ann", "relation": "sister", "tail": tail, "score": score, "query": 7, "note": {"é": [rank]}}
        for rank, (tail, score) in enumerate([("ann", 0.9), ("gus", 0.7)], 1)
    ]
    (tmp_path / "lists.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    setting = make_setting(FACTS, None, RULES)
    reranked = rerank(setting, read_lists(tmp_path / "lists.jsonl"))
    reranked.lists.write(tmp_path / "out.jsonl")
    written = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert written[0] == rows[1]
    assert {**written[1], "score": 0.9} == rows[0]
    assert written[1]["score"] < 0.7
    (tmp_path / "bad.jsonl").write_text("[1]\n")
    with pytest.raises(rulescore.InputError, match="E310"):
        read_lists(tmp_path / "bad.jsonl")
    for frame in (pandas.DataFrame(rows).drop(columns="note"), polars.DataFrame(rows).drop("note")):
        assert rerank(setting, read_lists(frame)).lists.rows["tail"].to_pylist() == ["gus", "ann"]


def test_anyburl_keeps_its_scores_and_the_form_of_its_lines(tmp_path: Path) -> None:
    ranking = "ann sister gus\nTails:ann\t0.90\tjim\t0.90\tdora\t0.8\tgus\t7e-1\nHeads: \n"
    (tmp_path / "ranking").write_text(ranking)
    rerank(make_setting(FACTS, None, RULES), read_lists(tmp_path / "ranking")).lists.write(tmp_path / "out")
    moved = "ann sister gus\nTails:jim\t0.90\tgus\t7e-1\tann\t0.90\tdora\t0.8\nHeads: \n"
    assert (tmp_path / "out").read_text() == moved


NEURAL_LP = "sister,ann,gus,cid,liv,ann\ninv_sister,gus,ann,ann,dora,gus\ninv_sister,kay,ida,ida,kay\n"


def test_a_line_of_neural_lp_still_ends_with_the_head_that_it_asks_for(tmp_path: Path) -> None:
    (tmp_path / "lists").write_text(NEURAL_LP)
    truth = [("ann", "sister", "gus"), ("ida", "sister", "kay")]
    reranked = rulescore.score(FACTS, {"drum": tmp_path / "lists"}, RULES, truth=truth).rerank()
    reranked.lists.write(tmp_path / "out")
    # Something speaks against `ann` and `dora`, so gus comes first; and against both `ida` and `kay`, so they stay.
    assert (tmp_path / "out").read_text() == NEURAL_LP.replace("ann,ann,dora,gus", "ann,gus")
    before, _, after = reranked.outcomes
    assert (before.accuracy["hits_at_1"], after.accuracy["hits_at_1"]) == (0.0, 0.25)
    (tmp_path / "lists").write_text(NEURAL_LP + "sister,ann,gus,ann\n")
    with pytest.raises(rulescore.InputError, match="two lists answer the same query"):
        read_lists(tmp_path / "lists")
    (tmp_path / "lists").write_text("sister,ann,gus,cid\n")
    with pytest.raises(rulescore.InputError, match="E152"):
        read_lists(rulescore.FactFile(tmp_path / "lists", format="neural-lp"))


def test_the_command_reads_and_writes_the_format_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "facts.tsv").write_text("".join("\t".join(row) + "\n" for row in FACTS))
    (tmp_path / "r.rules").write_text(RULES)
    (tmp_path / "lists.csv").write_text("inv_sister,gus,ann,ann,dora,gus\n")
    options = {"facts": "facts.tsv", "rules": "r.rules", "predictions": "lists.csv", "output": "out.csv"}
    arguments = [part for name, file in options.items() for part in (f"--{name}", str(tmp_path / file))]
    run = CliRunner().invoke(program, ["rerank", *arguments, "--predictions-format", "neural-lp"])
    assert run.exit_code == 0, run.output
    assert (tmp_path / "out.csv").read_text() == "inv_sister,gus,ann,gus\n"


def test_arrays_come_back_as_they_came(tmp_path: Path) -> None:
    setting = make_setting(FACTS, None, RULES)
    columns = {"head": ["ann"] * 2, "relation": ["sister"] * 2, "tail": ["ann", "gus"]}
    others = {"note": [3, 4], "whole": [7]}
    arrays = {name: numpy.array(values) for name, values in {**columns, "rank": [1, 2], **others}.items()}
    numpy.savez(tmp_path / "lists.npz", **arrays)
    rerank(setting, read_lists(tmp_path / "lists.npz")).lists.write(tmp_path / "out.npz")
    written = numpy.load(tmp_path / "out.npz")
    assert {name: written[name].tolist() for name in written.files} == {
        **columns,
        "tail": ["gus", "ann"],
        "rank": [1, 2],
        "note": [4, 3],
        "whole": [7],
    }
    answers = {"hr": numpy.array([["ann", "sister"]]), "t_pred_top10": numpy.array([["ann", "gus"]])}
    numpy.savez(tmp_path / "ogb.npz", **answers)
    rerank(setting, read_lists(tmp_path / "ogb.npz")).lists.write(tmp_path / "ogb2.npz")
    assert numpy.load(tmp_path / "ogb2.npz")["t_pred_top10"].tolist() == [["gus", "ann"]]
    assert rerank(setting, read_lists({"h,r->t": answers})).lists.rows["tail"].to_pylist() == ["gus", "ann"]


def test_nested_fields_of_json_lines_come_back_as_they_came(tmp_path: Path) -> None:
    rows = [
        {"triple": {"s": "ann", "p": "sister", "o": "ann"}, "id": 1, "query": "q", "model": {"prob": 0.9}},
        {"triple": {"s": "ann", "p": "sister", "o": "gus"}, "id": "b", "query": "q", "model": {"prob": 0.7, "note": [1, {"k": 2}]}},
    ]
    (tmp_path / "lists.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    rerank(make_setting(FACTS, None, RULES), read_lists(tmp_path / "lists.jsonl")).lists.write(tmp_path / "out.jsonl")
    first, second = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert first == rows[1]
    assert second["model"].pop("prob") < 0.7
    assert second == {**rows[0], "model": {}}


@pytest.mark.parametrize(
    ("name", "text", "form", "message"),
    [
        ("lists", "sister(ann, gus)\nsister(ann, ann)\n", None, "a fact file of ExpressGNN does not say which query"),
        ("lists.txt", "ann\tgus\t0.9\n", "psl", "a data file of PSL does not say which query"),
        ("lists.nt", "<a:a> <a:b> <a:c> .\n", None, "a file of the format ntriples does not say which query"),
        ("lists.txt", "ann\tsister\tgus .\n", "amie", "a fact file of AMIE does not say which query"),
    ],
)
def test_files_without_rankings_are_named(tmp_path: Path, name: str, text: str, form: str | None, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(rulescore.InputError, match=message) as caught:
        read_lists(rulescore.FactFile(tmp_path / name, format=form))
    assert "write triples with a `rank` column" in str(caught.value)


def test_the_price_is_counted_with_validation_facts_by_rule() -> None:
    facts = [*FACTS, ("ann", "mother", "pia"), ("quin", "father", "pia")]
    lists = pa.table({"head": ["ann"], "relation": ["sister"], "tail": ["jim"], "rank": [1]})
    price = rerank(
        make_setting(facts, None, RULES), read_lists(lists), valid=[("ann", "sister", "quin"), ("ann", "sister", "jim")]
    ).price
    assert price.validation == 2
    assert price.lost == {"`r` (breaks a rule)": 1}
    assert price.sentences()[-3:-1] == ["1 of 2 validation facts would be moved", "1 of the 1 by `r` (breaks a rule)"]


SOFT = "s: aunt(X, Z) <- sister(X, Y), father(Y, Z). incompatible aunt, mother, sister, father."
MIXED = [*FACTS, ("ann", "mother", "pia"), ("bob", "father", "pia"), ("quin", "father", "pia"), ("ida", "mother", "ole")]


@pytest.mark.parametrize(("truth", "penalty", "after"), [("jim", 3.0, ["jim", "quin"]), ("quin", 0.0, ["quin", "jim"])])
def test_soft_rules_weigh_as_much_as_answers_to_validation_queries_say(truth: str, penalty: float, after: list[str]) -> None:
    def lists(head: str, answers: list[str]) -> pa.Table:
        n = len(answers)
        return pa.table({"head": [head] * n, "relation": ["sister"] * n, "tail": answers, "rank": [*range(1, n + 1)]})

    # A sister of quin would be an aunt of pia, but ann is her mother: that breaks a rule that is soft.
    setting = make_setting(MIXED, None, SOFT)
    asked, tune = read_lists(lists("ann", ["quin", "jim"])), read_lists(lists("ann", ["quin", "cid", "jim"]))
    reranked = rerank(setting, asked, valid=[("ann", "sister", truth)], tune=tune)
    assert reranked.penalty.chosen == penalty
    assert reranked.lists.rows["tail"].to_pylist() == after
    assert "penalty of soft rules" in reranked.penalty.sentences()[0]
    with pytest.raises(rulescore.InputError, match="nothing to tune by"):
        rerank(setting, asked, valid=[("ann", "sister", "bob")], tune=tune)
    with pytest.raises(rulescore.InputError, match="nothing says which answers"):
        rerank(setting, asked, tune=tune)


def test_a_table_says_its_price_before_anything_is_left_out(tmp_path: Path) -> None:
    facts = [*FACTS, ("ann", "mother", "pia"), ("quin", "father", "pia")]
    valid = [("ann", "sister", "quin"), ("ann", "sister", "jim"), ("ann", "sister", "bob"), ("zed", "sister", "zed")]
    table = candidates(facts, RULES)
    price = table.price(valid)
    assert (price.validation, price.lost) == (3, {"`r` (breaks a rule)": 1, "reflexive": 1})
    assert table.price(valid, reasons=["breaks a rule"]).lost == {"`r` (breaks a rule)": 1}
    for name, rows in (("facts", facts), ("valid", valid)):
        (tmp_path / f"{name}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    (tmp_path / "r.rules").write_text(RULES)
    paths = ("--facts", tmp_path / "facts.tsv", "--rules", tmp_path / "r.rules", "--valid", tmp_path / "valid.tsv")
    printed = CliRunner().invoke(program, ["candidates", *map(str, paths)]).output
    assert "2 of 3 validation facts would be moved" in printed
    assert "1 of the 2 by `r` (breaks a rule)" in printed


def test_a_rule_that_is_declared_hard_and_contradicted_is_named_and_not_used() -> None:
    facts = [*FACTS, ("ann", "mother", "pia"), ("bob", "father", "pia")]
    rules = "@hard r: aunt(X, Z) <- sister(X, Y), father(Y, Z). incompatible aunt, mother."
    lists = pa.table({"head": ["ann"], "relation": ["sister"], "tail": ["jim"], "rank": [1]})
    setting = make_setting(facts, None, rules)
    assert rerank(setting, read_lists(lists)).price.contradicted == [("r", 1, 3)]
    table, trusted = candidates(facts, rules), candidates(facts, rules, trust_declared=True)
    assert (table.hard, trusted.hard) == ((), (0,))


def test_json_has_the_price_and_every_move(tmp_path: Path) -> None:
    facts = [*FACTS, ("ann", "mother", "pia"), ("quin", "father", "pia")]
    (tmp_path / "facts.tsv").write_text("".join("\t".join(row) + "\n" for row in facts))
    (tmp_path / "valid.tsv").write_text("ann\tsister\tquin\n")
    (tmp_path / "r.rules").write_text(RULES)
    (tmp_path / "lists.tsv").write_text("head\trelation\ttail\trank\nann\tsister\tquin\t1\nann\tsister\tjim\t2\n")
    options = {"facts": "facts.tsv", "rules": "r.rules", "predictions": "lists.tsv", "valid": "valid.tsv"}
    arguments = [part for name, file in options.items() for part in (f"--{name}", str(tmp_path / file))]
    document = json.loads(CliRunner().invoke(program, ["rerank", *arguments, "--delimiter", "tab", "--format", "json"]).stdout)
    assert (document["queries"], document["moved"], document["by_reason"]) == (1, 1, {"breaks a rule": 1})
    assert (document["validation"], document["lost"], document["nothing_to_win"]) == (1, {"`r` (breaks a rule)": 1}, False)
    (move,) = document["moves"]
    assert (move["tail"], move["facts"]) == ("quin", ["father(quin, pia)", "mother(ann, pia)"])


def test_a_tool_s_ranking_has_the_accuracy_that_score_gives_it(tmp_path: Path) -> None:
    """Its queries are in another order than the truth, and one of them is missing."""
    (tmp_path / "lists.txt").write_text("ida sister gus\nHeads: fay\t0.9\tida\t0.5\t\nTails: jim\t0.9\tgus\t0.5\t\n")
    truth = [("liv", "sister", "kay"), ("ida", "sister", "gus")]
    before = rerank(make_setting(FACTS, None, RULES, truth=truth), read_lists(tmp_path / "lists.txt")).outcomes[0]
    scored = rulescore.score(FACTS, {"model": tmp_path / "lists.txt"}, RULES, truth=truth).accuracy_results[0]
    assert before.accuracy["hits_at_10"]
    for metric, value in before.accuracy.items():
        measure = scored.measure(metric)
        assert measure is not None
        assert value in {measure.value, measure.least}


def test_reflexive_answers_are_nothing_that_rules_win() -> None:
    heads, tails = zip(*((f"x{number}", f"x{number}" if number < 5 else "gus") for number in range(200)), strict=True)
    lists = pa.table({"head": heads, "relation": ["sister"] * 200, "tail": tails, "query": heads, "score": [1.0] * 200})
    price = rerank(make_setting(FACTS, None, RULES), read_lists(lists)).price
    assert (price.against, price.nothing_to_win) == (5, True)
    assert price.sentences()[-1] == "nothing to win here: with reflexive answers moved, rules speak against 0 first answers"


def test_a_figure_that_is_missing_has_a_reason() -> None:
    lists = pa.table({"head": ["ann"], "relation": ["sister"], "tail": ["gus"], "rank": [1]})
    setting = make_setting(FACTS, None, RULES, truth=[("ann", "sister", "jim")])
    notes = reranked_listing(rerank(setting, read_lists(lists))).notes
    assert "– RVS soft: there is no soft rule" in notes
    assert "– accuracy: nothing says which queries the lists answer: add columns `query_direction` and `test_row`" in notes


def test_too_many_groundings_are_refused_with_the_way_that_fits() -> None:
    with pytest.raises(rulescore.InputError, match="E807") as caught:
        candidates(FACTS, RULES, limit=1)
    for word in ("queries=train", "of=lists", "`limit=10`, `--limit 10`"):
        assert word in str(caught.value)


@pytest.mark.parametrize("limit", [0, "many"])
def test_a_limit_is_a_number_of_groundings(limit: Any) -> None:
    with pytest.raises(rulescore.InputError, match=f"`limit` is `{limit}`"):
        candidates(FACTS, RULES, limit=limit)


def test_rules_that_nothing_refutes_forbid_no_candidate_and_this_is_said() -> None:
    table = candidates(FACTS, "r: aunt(X, Z) <- sister(X, Y), father(Y, Z).")
    said = "no candidate would break a hard rule: nothing declared could refute their heads, such as `incompatible aunt, mother.`"
    assert said in candidates_listing(table, None).notes


def test_a_table_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(rulescore.InputError, match="E601"):
        candidates(FACTS, RULES).write(tmp_path / "no folder" / "table.parquet")


def test_only_groundings_of_candidates_that_answer_the_queries_are_limited() -> None:
    table = candidates(FACTS, RULES, queries=[("nobody", "sister", "no one")], limit=1)
    assert (len(table.rows), len(table.symbolic)) == (0, 0)


@pytest.mark.parametrize(
    ("lists", "rules", "message"),
    [
        ({"rank": [1.0, float("nan")]}, RULES, "E809"),
        ({"score": [1.0, float("inf")], "query": ["a", "a"]}, RULES, "has the score `inf`"),
        ({}, RULES, "nothing says which rows answer one query"),
        ({"query": ["a", "a"]}, RULES, "nothing says which answers are best"),
        ({"rank": [1, 2]}, "r: aunt(X, Y) <- sister(X, Y).", "E810"),
    ],
)
def test_what_cannot_be_ordered_or_moved_is_said(lists: dict[str, list[object]], rules: str, message: str) -> None:
    table = pa.table({"head": ["ann"] * 2, "relation": ["sister"] * 2, "tail": ["gus", "jim"], **lists})
    with pytest.raises(rulescore.InputError, match=message):
        rerank(make_setting(FACTS, None, rules), read_lists(table))


def test_no_such_reason() -> None:
    lists = pa.table({"head": ["ann"], "relation": ["sister"], "tail": ["jim"], "rank": [1]})
    with pytest.raises(rulescore.InputError, match="`ugly` is no reason"):
        rerank(make_setting(FACTS, None, RULES), read_lists(lists), reasons=["ugly"])
