"""Accuracy beside the scores: from ranks, rankings, facts and values; on the command line, in project files and in Python. What is
held out is read for this alone."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import jsonschema
import pandas
import pytest

import rulescore
from command_line import called
from rulescore.errors import InputError
from rulescore.reporting.json import listing_schema, schema
from rulescore.session.session import Session

pytestmark = pytest.mark.slow

FACTS = """alice\twife\tchris
chris\tfather\tbob
alice\tmother\tbob
dora\tsister\tchris
"""
RULES = """mother_by_wife: mother(X, Z) <- wife(X, Y), father(Y, Z).
incompatible aunt, mother, sister, wife, father.
"""
TEST = """dora\taunt\tbob
alice\taunt\teve
chris\tfather\teve
"""
# A row for a query: its best answer, and the rank of the truth. One query for a head has no answer.
RANKS = """query_direction\thead\trelation\ttail\tscore\trank_of_truth
tail\tdora\taunt\tbob\t0.9\t1
tail\talice\taunt\tbob\t0.8\t2
tail\tchris\tfather\tdora\t0.7\t-1
head\tdora\taunt\tbob\t0.9\t1
head\tchris\tfather\teve\t0.9\t4
"""
RANKINGS = """query_direction\ttest_row\tposition\thead\trelation\ttail\tscore
tail\t0\t1\tdora\taunt\tbob\t0.9
tail\t0\t2\tdora\taunt\teve\t0.5
tail\t1\t1\talice\taunt\tbob\t0.8
tail\t1\t2\talice\taunt\teve\t0.7
tail\t2\t1\tchris\tfather\tbob\t0.9
tail\t2\t2\tchris\tfather\tdora\t0.7
head\t0\t1\tdora\taunt\tbob\t0.9
head\t2\t1\tchris\tfather\teve\t0.9
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {
        "train.tsv": FACTS,
        "family.rules": RULES,
        "test.tsv": TEST,
        "ranked.tsv": RANKS,
        "rankings.tsv": RANKINGS,
    }.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scored(predictions: object = None, truth: object = "test.tsv") -> rulescore.Result:
    return rulescore.score("train.tsv", predictions or {"model": "ranked.tsv"}, Path("family.rules"), truth=truth)


def figures(result: rulescore.Result, part: str = "both") -> dict[str, float | None]:
    return {row["metric"]: row["value"] for row in result.accuracy.to_pylist() if row["part"] == part and row["class"] is None}


def test_ranks_of_the_predictions_file(files: Path) -> None:
    result = scored()
    assert figures(result) == {
        "mrr": pytest.approx((1 + 1 / 2 + 0 + 1 + 1 / 4 + 0) / 6),
        "hits_at_1": pytest.approx(2 / 6),
        "hits_at_3": pytest.approx(3 / 6),
        "hits_at_10": pytest.approx(4 / 6),
        "mean_rank": None,
    }
    assert figures(result, "tail")["mrr"] == pytest.approx(0.5)
    assert figures(result, "head")["mrr"] == pytest.approx(1.25 / 3)
    found = result.accuracy_results[0]
    assert (found.asked, found.answered) == (6, 5)


def test_one_direction_alone_asks_its_queries_alone(files: Path) -> None:
    lines = RANKS.splitlines(keepends=True)
    (files / "tails.tsv").write_text("".join(line for line in lines if not line.startswith("head")))
    assert scored({"model": "tails.tsv"}).accuracy_results[0].asked == 3


def test_rankings_give_the_ranks_that_they_hold(files: Path) -> None:
    """The answer father(chris, bob) is observed, so that it is left out of the ranking of father(chris, ?)."""
    result = scored({"model": "rankings.tsv"})
    found = {row["metric"]: row for row in result.accuracy.to_pylist() if row["part"] == "tail"}
    assert found["hits_at_1"]["value"] == pytest.approx(1 / 3)
    # The truth of the third query is beyond the two answers that are there, of which one is left.
    assert (found["hits_at_3"]["least"], found["hits_at_3"]["greatest"]) == (pytest.approx(2 / 3), pytest.approx(1))
    assert (found["mrr"]["least"], found["mrr"]["greatest"]) == (pytest.approx(1.5 / 3), pytest.approx((1.5 + 1 / 2) / 3))
    assert found["mrr"]["ties"] == "as ranked"
    heads = {row["metric"]: row["value"] for row in result.accuracy.to_pylist() if row["part"] == "head"}
    assert heads["mrr"] == heads["hits_at_1"] == pytest.approx(2 / 3)


def test_a_filter_and_ties_are_chosen(files: Path) -> None:
    truth = rulescore.Truth("test.tsv", filter=False, ties="pessimistic", hits=(2,))
    result = scored({"model": "rankings.tsv"}, truth)
    row = result.accuracy.to_pylist()[0]
    assert (row["filter"], row["ties"]) == ("none", "pessimistic")
    assert [one.metric for one in result.accuracy_results[0].measures if one.part == "both"] == ["mrr", "hits_at_2", "mean_rank"]


def test_rankings_without_rows_of_the_truth_answer_all_truths_of_their_query(files: Path) -> None:
    """One ranking of aunt(dora, ?) for two truths: each is ranked without the other."""
    (files / "two.tsv").write_text("dora\taunt\tbob\ndora\taunt\teve\n")
    rows = ["tail dora aunt zoe 0.9", "tail dora aunt bob 0.8", "tail dora aunt eve 0.7", "tail chris aunt bob 0.7"]
    text = "query_direction head relation tail score\n" + "\n".join(rows) + "\n"
    (files / "shared.tsv").write_text(text.replace(" ", "\t"))
    result = scored({"model": "shared.tsv"}, rulescore.Truth("two.tsv", ties="optimistic"))
    assert figures(result)["mrr"] == pytest.approx(1 / 2)
    assert scored({"model": "shared.tsv"}, rulescore.Truth("two.tsv", filter=False, ties="optimistic")).accuracy_results[0].measure(
        "mrr"
    ).value == pytest.approx((1 / 2 + 1 / 3) / 2)


def test_plain_facts_are_right_or_not(files: Path) -> None:
    result = scored({"model": [("dora", "aunt", "bob"), ("dora", "aunt", "eve")]}, [("dora", "aunt", "bob")])
    assert figures(result, "all") == {"precision": 0.5, "recall": 1.0}
    assert result.accuracy_results[0].task == "facts"


@pytest.mark.parametrize(
    ("truth", "reason"),
    [
        ("zoe\taunt\tbob\n", "the file ranks 1 answers to aunt(dora, ?), and the truth has no fact"),
        ("dora\taunt\tbob\nalice\taunt\tbob\n", "the file ranks 1 answers to father(chris, ?), and the truth has no fact"),
    ],
)
def test_ranks_of_other_truths_are_refused_with_a_reason(files: Path, truth: str, reason: str) -> None:
    (files / "other.tsv").write_text(truth)
    result = scored(truth="other.tsv")
    assert result.accuracy_results[0].reason == reason
    assert reason in " ".join(result.to_text(width=200).split())


def test_rankings_for_other_rows_are_refused_with_a_reason(files: Path) -> None:
    (files / "other.tsv").write_text("".join(reversed(TEST.splitlines(keepends=True))))
    found = scored({"model": "rankings.tsv"}, "other.tsv").accuracy_results[0]
    assert found.reason == "the ranking for row 0 of the truth answers aunt(dora, ?), which that row does not ask"


def test_queries_without_a_direction_are_told_by_what_differs(files: Path) -> None:
    rows = ["q1 dora aunt bob 1", "q1 dora aunt eve 2", "q2 zoe aunt eve 1", "q2 alice aunt eve 2", "q2 dora aunt eve 3"]
    (files / "queries.tsv").write_text(("query head relation tail rank\n" + "\n".join(rows) + "\n").replace(" ", "\t"))
    found = scored({"model": "queries.tsv"}).accuracy_results[0]
    assert found.measure("hits_at_1", "tail").value == pytest.approx(1 / 3)
    assert found.measure("hits_at_3", "head").value == pytest.approx(1 / 3)
    (files / "queries.tsv").write_text("query\thead\trelation\ttail\trank\nq1\tdora\taunt\tbob\t1\nq2\talice\taunt\teve\t1\n")
    assert "query_direction" in scored({"model": "queries.tsv"}).accuracy_results[0].reason


ANYBURL = """dora aunt bob
Heads: dora\t0.9\talice\t0.5\t
Tails: zoe\t0.9\tbob\t0.8\t
dora aunt eve
Heads: dora\t0.7\t
Tails: eve\t0.95\tzoe\t0.9\t
alice aunt eve
Heads: \nTails: eve\t0.4\tzoe\t0.3\t
"""


def test_rankings_of_anyburl_are_measured_as_they_are(files: Path) -> None:
    """Two triples ask for aunt(dora, ?). AnyBURL leaves out the other's truth, so that each has a list of its own; a third is not
    in the file at all. Lists of one answer tell their direction, too, and an empty one has not found its truth."""
    (files / "anyburl.txt").write_text(ANYBURL)
    (files / "four.tsv").write_text("alice\taunt\teve\ndora\taunt\teve\ndora\taunt\tyan\ndora\taunt\tbob\n")
    with pytest.warns(rulescore.RulescoreWarning, match="W361"):
        found = scored({"model": "anyburl.txt"}, rulescore.Truth("four.tsv", domains="observed")).accuracy_results[0]
    assert (found.reason, found.asked, found.answered) == (None, 8, 5)
    assert found.measure("mrr", "tail").value == pytest.approx((1 / 2 + 1 + 1) / 4)
    assert found.measure("mrr", "head").value == pytest.approx((1 + 1 + 0) / 4)


def test_a_held_out_fact_that_stands_twice_has_its_ranking_twice(files: Path) -> None:
    (files / "anyburl.txt").write_text("".join(ANYBURL.splitlines(keepends=True)[:3]))
    model = rulescore.FactFile("anyburl.txt", format="anyburl")
    found = scored({"model": model}, [("dora", "aunt", "bob"), ("dora", "aunt", "bob")]).accuracy_results[0]
    assert (found.asked, found.answered, found.measure("mrr", "tail").value) == (4, 4, 0.5)


def test_rankings_of_anyburl_for_other_facts_are_refused_with_a_reason(files: Path) -> None:
    (files / "anyburl.txt").write_text(ANYBURL)
    model = rulescore.FactFile("anyburl.txt", format="anyburl")
    found = scored({"model": model}, [("dora", "aunt", "bob")]).accuracy_results[0]
    assert found.reason == "the file asks for aunt(dora, eve), which the truth does not have"


def test_rankings_of_neural_lp_are_measured_as_they_are(files: Path) -> None:
    (files / "drum.txt").write_text("aunt,dora,bob,alice,dora\ninv_aunt,bob,dora,bob\ninv_aunt,eve,alice,zoe,bob,eve\n")
    with pytest.warns(rulescore.RulescoreWarning, match="W361"):
        found = scored({"model": "drum.txt"}, [("dora", "aunt", "bob"), ("alice", "aunt", "eve")]).accuracy_results[0]
    assert found.measure("mrr", "head").value == pytest.approx((1 / 2 + 0) / 2)
    assert found.measure("mrr", "tail").value == pytest.approx((1 + 1 / 3) / 2)


def test_each_truth_of_a_query_may_have_a_ranking_of_its_own(files: Path) -> None:
    """Queries by name: the first word is the direction. Other than in the ranking of its own truth, a truth is left out."""
    rows = ["dora zoe 1 0", "dora bob 2 0", "dora eve 1 1", "dora zoe 2 1", "alice eve 1 2"]
    text = "".join(f"{head}\taunt\t{tail}\t{rank}\ttail {row}\n" for head, tail, rank, row in map(str.split, rows))
    (files / "named.tsv").write_text("head\trelation\ttail\trank\tquery\n" + text)
    truth = [("dora", "aunt", "bob"), ("dora", "aunt", "eve"), ("alice", "aunt", "eve")]
    found = scored({"model": "named.tsv"}, truth).accuracy_results[0]
    assert found.measure("mrr", "tail").value == pytest.approx((1 / 2 + 1 + 1) / 3)
    (files / "named.tsv").write_text("head\trelation\ttail\trank\tquery\n" + text + "dora\taunt\tbob\t1\ttail 3\n")
    found = scored({"model": "named.tsv"}, truth).accuracy_results[0]
    assert found.reason == "several rankings answer aunt(dora, ?), and rank the truth `bob` differently"


def test_permuting_what_is_held_out_changes_no_score(files: Path) -> None:
    """Neither the numbers nor what the engine is given: it never loads a held-out fact."""
    lines = TEST.splitlines()
    tails = [line.split("\t")[2] for line in lines]
    others = zip([line.rsplit("\t", 1)[0] for line in lines], [*tails[1:], *tails[:1]], strict=True)
    (files / "permuted.tsv").write_text("".join(f"{start}\t{tail}\n" for start, tail in others))
    assert (files / "permuted.tsv").read_text() != TEST
    results = [scored(truth=truth) for truth in (None, "test.tsv", "permuted.tsv")]
    plain = [json.loads(one.to_json()) for one in results]
    for one in plain:
        one.pop("accuracy", None)
        one.pop("right", None)
    assert plain[0] == plain[1] == plain[2]
    assert results[0].contributions == results[1].contributions == results[2].contributions
    assert results[1].accuracy != results[2].accuracy


def test_no_held_out_fact_reaches_the_engine(files: Path) -> None:
    (files / "secret.tsv").write_text("nobody_else\tnever_seen\tanywhere\n")
    with rulescore.open("train.tsv", {"model": "ranked.tsv"}, Path("family.rules"), truth="secret.tsv") as opened:
        opened.score()
        session: Session = opened.session
        names = _table_names(session)
        for name in names:
            rows = session.engine._connection.execute(f'select * from "{name}"').fetchall()
            assert not any("nobody_else" in str(value) or "never_seen" in str(value) for row in rows for value in row)
        assert names


def _table_names(session: Session) -> list[str]:
    return [row[0] for row in session.engine._connection.execute("select table_name from duckdb_tables()").fetchall()]


def test_every_format_has_it(files: Path) -> None:
    result = scored({"model": "ranked.tsv", "other": "rankings.tsv"})
    assert "MRR" in result.to_text()
    assert "| MRR |" in result.to_markdown(table="models").replace("  ", " ") or "MRR" in result.to_markdown(table="models")
    assert "MRR" in result.to_latex("models")
    assert "Hits@10" in result.to_latex("accuracy")
    assert "<th" in result._repr_html_()
    assert "Hits@1" in result._repr_html_()
    first, _ = csv.DictReader(io.StringIO(result.to_csv("models")))
    assert first["mrr"] == str(result.models["mrr"][0].as_py())
    assert result.to_csv("accuracy").startswith("model,task,table,part,class,metric,value")
    document = json.loads(result.to_json())
    jsonschema.validate(document, schema())
    assert document["accuracy"][0]["measures"][0]["metric"] == "mrr"
    for table in ("models", "accuracy"):
        jsonschema.validate(json.loads(result.to_json(table)), listing_schema())
    assert len(result.to_pandas("accuracy")) == len(result.to_polars("accuracy")) == result.accuracy.num_rows


def test_it_is_saved_and_loaded(files: Path) -> None:
    result = scored()
    path, *_ = result.save(files / "result.json")
    assert rulescore.load_result(path).accuracy == result.accuracy
    assert {"truth"} <= {one["kind"] for one in json.loads(path.read_text())["run"]["inputs"]}


def test_without_a_truth_nothing_is_measured(files: Path) -> None:
    result = scored(truth=None)
    assert result.accuracy.num_rows == 0
    assert "accuracy" not in json.loads(result.to_json())
    with pytest.raises(InputError, match="E502"):
        result.to_text("accuracy")


def test_on_the_command_line_and_in_a_project_file(files: Path) -> None:
    options = ("--facts", "train.tsv", "--rules", "family.rules", "--predictions", "model=ranked.tsv")
    done = called("score", *options, "--truth", "test.tsv", "--table", "models")
    assert done.exit_code == 0, done.stderr
    assert "MRR" in done.stdout
    assert "0.4583" in done.stdout
    (files / "rulescore.toml").write_text(
        'facts = "train.tsv"\nrules = "family.rules"\n[predictions]\nmodel = "ranked.tsv"\n'
        '[truth]\npath = "test.tsv"\nhits = [1, 5]\n[output]\nfolder = "out"\nformats = ["csv", "latex", "parquet", "json"]\n'
    )
    done = called("score", "rulescore.toml", "--trust", "--table", "accuracy")
    assert done.exit_code == 0, done.stderr
    assert "Hits@5" in done.stdout
    assert {"accuracy.csv", "accuracy.tex", "accuracy.parquet"} <= {one.name for one in (files / "out").iterdir()}


def test_compressed_files_and_frames_have_their_columns_too(files: Path) -> None:
    with gzip.open(files / "ranked.tsv.gz", "wt") as file:
        file.write(RANKS)
    frame = pandas.read_csv("ranked.tsv", sep="\t")
    frame.to_parquet("ranked.parquet")
    expected = figures(scored())
    for source in ("ranked.tsv.gz", "ranked.parquet", frame):
        assert figures(scored({"model": source})) == expected


SALES = "id,kind,price,split\n1,house,100,train\n2,flat,50,test\n3,house,80,test\n4,flat,70,test\n"


def table() -> rulescore.Table:
    return rulescore.Table(
        "sales.csv", key="id", target="price", hidden='split = "test"', types={"id": "integer", "price": "float"}
    )


@pytest.fixture
def sales(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sales.csv").write_text(SALES)
    (tmp_path / "model.csv").write_text("id,prediction\n2,60\n3,80\n")
    (tmp_path / "truth.csv").write_text("id,price\n2,50\n3,80\n4,70\n")
    (tmp_path / "rules.rules").write_text("cheap: P < 1000 <- sale(id: A, price: P).\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("truth", ["truth.csv", {2: 50, 3: 80, 4: 70}, {"sale": "truth.csv"}])
def test_true_values_of_a_table(sales: Path, truth: object) -> None:
    result = rulescore.score(None, {"model": "model.csv"}, Path("rules.rules"), tables={"sale": table()}, truth=truth)
    found = result.accuracy_results[0]
    assert (found.task, found.table, found.asked, found.answered) == ("regression", "sale", 3, 2)
    assert {one.metric: one.value for one in found.measures} == {
        "mean_absolute_error": 5,
        "root_mean_squared_error": pytest.approx(50**0.5),
        "r_squared": pytest.approx(1 - 100 / 450),
    }
    assert "answers 2 of 3; the others are left out" in result.to_text()


def test_true_values_on_the_command_line(sales: Path) -> None:
    (sales / "rulescore.toml").write_text(
        'rules = "rules.rules"\n[predictions]\nmodel = "model.csv"\n'
        '[tables.sale]\npath = "sales.csv"\nkey = "id"\ntarget = "price"\nhidden = { column = "split", values = "test" }\n'
        'types = { id = "integer", price = "float" }\n'
    )
    for truth in ("truth.csv", "sale=truth.csv"):
        done = called("score", "--truth", truth, "--table", "accuracy", "--format", "csv")
        assert done.exit_code == 0, done.stderr
        assert "model,regression,sale,all,,mean_absolute_error,5.0" in done.stdout
    done = called("score", "--truth", "model.csv")
    assert done.exit_code == 2
    assert "E320" in done.stderr
    assert "name the column of true values `price`" in done.stderr


def test_classes_are_right_or_not_and_each_has_its_figures(sales: Path) -> None:
    kinds = rulescore.Table("sales.csv", key="id", target="kind", hidden='split = "test"')
    result = rulescore.score(
        None,
        {"model": {"2": "flat", "3": "flat", "4": "flat"}},
        'a: K = "house" or K = "flat" <- sale(id: A, kind: K).',
        tables={"sale": kinds},
        truth={"2": "flat", "3": "house", "4": "flat"},
    )
    rows = {(row["class"], row["metric"]): row["value"] for row in result.accuracy.to_pylist()}
    assert rows[None, "accuracy"] == pytest.approx(2 / 3)
    assert rows[None, "macro_f1"] == pytest.approx(0.4)
    assert (rows["flat", "precision"], rows["flat", "recall"]) == (pytest.approx(2 / 3), 1)
    assert rows["house", "precision"] is None


def test_a_key_that_is_not_there_and_two_values_are_refused(sales: Path) -> None:
    def scored_by(truth: object) -> rulescore.Result:
        return rulescore.score(None, {"model": "model.csv"}, Path("rules.rules"), tables={"sale": table()}, truth=truth)

    (sales / "other.csv").write_text("ids,price\n2,50\n")
    with pytest.raises(InputError, match="E320"):
        scored_by("other.csv")
    (sales / "other.csv").write_text("id,price\n2,50\n2,51\n")
    with pytest.raises(InputError, match="E345"):
        scored_by("other.csv")


def test_permuting_true_values_changes_no_score(sales: Path) -> None:
    def scored_by(truth: object) -> rulescore.Result:
        return rulescore.score(None, {"model": "model.csv"}, Path("rules.rules"), tables={"sale": table()}, truth=truth)

    plain, right, permuted = (scored_by(truth) for truth in (None, {2: 50, 3: 80, 4: 70}, {2: 70, 3: 50, 4: 80}))
    assert plain.model_results == right.model_results == permuted.model_results
    assert plain.rule_results == right.rule_results == permuted.rule_results
    assert right.accuracy != permuted.accuracy


def test_numbers_are_classes_if_they_are_said_to_be(sales: Path) -> None:
    """A class is one however a file writes it: 80, 80.0 or "80"."""
    truth = rulescore.Truth({2: 50, 3: 80.0}, task="classification")
    result = rulescore.score(None, {"model": "model.csv"}, Path("rules.rules"), tables={"sale": table()}, truth=truth)
    assert result.accuracy_results[0].measure("accuracy").value == 0.5


@pytest.mark.parametrize(("old", "new", "code"), [("\t4\n", "\tfour\n", "E314"), ("head\tdora", "sideways\tdora", "E314")])
def test_ranks_and_directions_that_are_none_are_refused(files: Path, old: str, new: str, code: str) -> None:
    (files / "wrong.tsv").write_text(RANKS.replace(old, new))
    with pytest.raises(InputError, match=code):
        scored({"model": "wrong.tsv"})


def test_facts_for_validation_are_left_out_if_they_are_known(files: Path) -> None:
    (files / "valid.tsv").write_text("alice\taunt\tbob\n")
    found = scored({"model": "rankings.tsv"}, rulescore.Truth("test.tsv", known="valid.tsv")).accuracy_results[0]
    assert found.measure("hits_at_1", "tail").value == pytest.approx(2 / 3)
    assert found.filter == "observed, further known and held-out facts are left out"


def test_spark_frames_and_tables_of_databases_are_no_truth(files: Path) -> None:
    from rulescore.setting.model import FactFile, FactTable, Request

    with pytest.raises(InputError, match="E363"):
        scored(truth=FactTable("kg.test", Request("kg.test", FactFile("kg.test"))))


def test_the_whole_table_is_a_truth_of_its_hidden_rows(sales: Path) -> None:
    (sales / "hidden.csv").write_text("id\n2\n3\n4\n")
    types = {"id": "integer", "price": "float"}
    listed = rulescore.Table("sales.csv", key="id", target="price", hidden={"path": "hidden.csv"}, types=types)
    result = rulescore.score(None, {"model": "model.csv"}, Path("rules.rules"), tables={"sale": listed}, truth="sales.csv")
    found = result.accuracy_results[0]
    assert (found.asked, found.answered) == (3, 2)
    assert found.measure("mean_absolute_error").value == 5
