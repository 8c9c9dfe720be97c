"""`rulescore judge` and `result.verdicts()`: the user's rows, in their order, with all their columns, and a verdict for each."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rulescore
from rulescore.errors import InputError
from rulescore.setting.model import FactFile, FactTable, ModelPredictions, Request, Setting
from rulescore.verdicts.links import find_links
from rulescore.verdicts.rows import read_rows

FACTS = """\
head,relation,tail
Marie Curie,born_in,Warsaw
Pierre Curie,born_in,Paris
Paris,lies_in,France
Warsaw,lies_in,Poland
Marie Curie,spouse,Pierre Curie
Marie Curie,citizen,Poland
"""
RULES = """\
@check functional born_in(X -> Y).
citizen: citizen(X, C) <- born_in(X, P), lies_in(P, C).
same: A = B <- born_in(X, A), born_in(X, B).
"""
ROWS = [
    ("Marie Curie", "born_in", "Paris", "contradicted"),
    ("marie curie", "born_in", "Paris", "not linked"),
    ("Pierre Curie", "born_in", "Paris", "already known"),
    ("Pierre Curie", "citizen", "France", "supported"),
    ("Pierre Curie", "bornIn", "France", "not judged"),
    ("Pierre Curie", "spouse", "Marie Curie", "not judged"),
    ("France", "born_in", "Poland", "not judged"),
    ("Marie Curie", "born_in", "Paris", "contradicted"),
]
ONCE = "functional born_in(X -> Y)"


@pytest.fixture
def curies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("facts.csv").write_text(FACTS)
    Path("checks.rules").write_text(RULES)
    Path("llm.csv").write_text(
        "doc,subject,predicate,object,note\n" + "".join(f"d{i},{s},{p},{o},=1+{i}\n" for i, (s, p, o, _) in enumerate(ROWS))
    )
    objects = [
        {"doc": i, "triple": {"subject": s, "predicate": p, "object": o}, "words": ["a", "b"]}
        for i, (s, p, o, _) in enumerate(ROWS)
    ]
    Path("llm.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in objects))
    return tmp_path


def judge(run, *arguments: str, predictions: str = "llm=llm.csv"):
    return run("judge", "--facts", "facts.csv", "--rules", "checks.rules", "--predictions", predictions, *arguments)


def written() -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(Path("judged.csv").read_text())))


def test_every_row_comes_back_with_its_columns_and_a_verdict(curies, run):
    result = judge(run, "--output", "judged.csv")
    assert result.exit_code == 0
    rows = written()
    assert [row["verdict"] for row in rows] == [verdict for *_, verdict in ROWS]
    assert list(rows[0]) == ["doc", "subject", "predicate", "object", "note", "verdict", "rule", "kind", "because"]
    assert [(row["doc"], row["subject"]) for row in rows] == [(f"d{i}", subject) for i, (subject, *_) in enumerate(ROWS)]
    assert (rows[0]["rule"], rows[0]["kind"]) == (ONCE, "hard")
    assert rows[0]["because"] == 'llm predicts born_in("Marie Curie", Paris), but born_in("Marie Curie", Warsaw) is observed'
    assert rows[1]["because"] == "the facts have no `marie curie`; did you mean `Marie Curie`?"
    assert rows[3]["rule"] == "citizen"
    assert rows[3]["because"].endswith('which follows from born_in("Pierre Curie", Paris) and lies_in(Paris, France)')
    assert rows[4]["because"] == "no rule mentions `bornIn`; did you mean `born_in`?"
    assert rows[5]["because"] == "no rule mentions `spouse`"
    assert rows[6]["because"] == "no other fact speaks for it, and no rule speaks against it"


def test_the_sentence_is_the_one_of_violations(curies, run):
    result = rulescore.score("facts.csv", {"llm": "llm.csv"}, "checks.rules")
    sentences = {row["sentence"] for row in result.violations(rule=ONCE).to_pylist()}
    contradicted = [row for row in result.verdicts().to_pylist() if row["verdict"] == "contradicted"]
    assert {row["because"] for row in contradicted} <= sentences
    (model,) = result.model_results
    assert len({(row["subject"], row["object"]) for row in contradicted}) == model.violating == model.violating_any == 1


def test_all_rules_on_request(curies, run):
    judge(run, "--all-rules", "--output", "judged.jsonl")
    first = json.loads(Path("judged.jsonl").read_text().splitlines()[0])
    assert first["rules"] == [ONCE, "same"]
    assert [reason.partition(", ")[0] for reason in first["reasons"]] == ['llm predicts born_in("Marie Curie"'] * 2
    judge(run, "--all-rules", "--output", "judged.csv")
    assert written()[0]["rules"] == f"{ONCE}; same"


def test_json_lines_keep_their_objects_and_csv_has_them_flat(curies, run):
    judge(run, "--output", "judged.jsonl", predictions="llm=llm.jsonl")
    given = [json.loads(line) for line in Path("llm.jsonl").read_text().splitlines()]
    judged = [json.loads(line) for line in Path("judged.jsonl").read_text().splitlines()]
    assert [row["verdict"] for row in judged] == [verdict for *_, verdict in ROWS]
    assert [{name: row[name] for name in given[0]} for row in judged] == given
    judge(run, "--output", "judged.csv", predictions="llm=llm.jsonl")
    first = written()[0]
    assert (first["doc"], first["subject"], first["words"]) == ("0", "Marie Curie", '["a", "b"]')


def test_parquet_and_frames_keep_their_types(curies, run):
    table = pa.table(
        {
            "n": pa.array(range(len(ROWS)), pa.int32()),
            "head": [row[0] for row in ROWS],
            "relation": [row[1] for row in ROWS],
            "tail": [row[2] for row in ROWS],
            "tags": [["x"]] * len(ROWS),
        }
    )
    pq.write_table(table, "llm.parquet")
    judge(run, "--output", "judged.parquet", predictions="llm=llm.parquet")
    judged = pq.read_table("judged.parquet")
    assert judged.select(table.column_names) == table
    assert judged["verdict"].to_pylist() == [verdict for *_, verdict in ROWS]
    frame = table.drop_columns(["tags"]).to_pandas()
    verdicts = rulescore.score("facts.csv", {"llm": frame}, "checks.rules").verdicts()
    pd.testing.assert_frame_equal(verdicts.to_pandas()[["n", "head"]], frame[["n", "head"]], check_dtype=False)
    assert repr(verdicts) == "<8 rows: 2 contradicted, 1 already known, 1 not linked, 1 supported, 3 not judged>"


def test_spreadsheets_get_the_safe_form(curies, run):
    result = judge(run, "--format", "csv", "--spreadsheet")
    assert [row["note"] for row in csv.DictReader(StringIO(result.stdout))][:2] == ["'=1+0", "'=1+1"]
    judge(run, "--output", "judged.csv", "--spreadsheet")
    assert written()[0]["note"] == "'=1+0"


def test_names_are_linked_only_if_the_user_says_so(curies, run):
    result = judge(run, "--link", "casefold", "--format", "json")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert (rows[1]["verdict"], rows[1]["linked"]) == ("contradicted", "marie curie → Marie Curie (casefold)")
    assert rows[1]["subject"] == "marie curie"
    assert rows[0]["linked"] is None
    Path("names.csv").write_text("from,to\nmarie curie,Marie Curie\nbornIn,born_in\n")
    rows = [json.loads(line) for line in judge(run, "--link", "names.csv", "--format", "json").stdout.splitlines()]
    assert [row["linked"] for row in rows[:5]] == [
        None,
        "marie curie → Marie Curie (names.csv)",
        None,
        None,
        "bornIn → born_in (names.csv)",
    ]
    assert rows[4]["verdict"] == "contradicted"


def test_a_name_that_could_be_two_is_not_linked(curies, run):
    with Path("facts.csv").open("a") as file:
        file.write("MARIE CURIE,born_in,Paris\n")
    rows = [json.loads(line) for line in judge(run, "--link", "casefold", "--format", "json").stdout.splitlines()]
    assert rows[1]["because"] == "the facts have no `marie curie`, which could be `MARIE CURIE` or `Marie Curie`"
    assert rows[0]["linked"] is None


@pytest.mark.parametrize(
    ("content", "code"),
    [("a,b\na,c\n", "E327"), ("a,b,c\n", "E363"), (None, "E301")],
)
def test_a_file_of_links_has_pairs(curies, run, content, code):
    if content is not None:
        Path("names.csv").write_text(content)
    result = judge(run, "--link", "names.csv")
    assert (result.exit_code, f"error[{code}]" in result.stderr) == (2, True)


def test_bad_rows_are_errors_unless_they_are_skipped(curies, run):
    with Path("llm.csv").open("a") as file:
        file.write("d8,Marie Curie,born_in\nd9,,born_in,Paris,x\nd10,Paris,lies_in,France,x,y\n")
    result = judge(run)
    assert result.exit_code == 2
    assert result.stderr.count("error[") == 3
    assert "--skip-bad-rows" in result.stderr
    result = judge(run, "--skip-bad-rows", "--output", "judged.csv")
    rows = written()
    assert [row["verdict"] for row in rows] == [*(verdict for *_, verdict in ROWS), *["unreadable"] * 3]
    assert [row["because"] for row in rows[8:]] == [
        "line 10: expected 5 columns, found 3",
        "line 11: `subject` is empty",
        "line 12: expected 5 columns, found 6",
    ]
    assert [row["doc"] for row in rows[8:]] == ["d8", "d9", "d10"]
    assert rows[10]["note"] == "x,y"
    assert "unreadable" in result.stdout


def test_bad_lines_of_json_are_skipped(curies, run):
    with Path("llm.jsonl").open("a") as file:
        file.write('{"doc": 8,\n{"doc": 9, "triple": {"subject": null, "predicate": "born_in", "object": "Paris"}}\n')
    judge(run, "--skip-bad-rows", "--output", "judged.jsonl", predictions="llm=llm.jsonl")
    rows = [json.loads(line) for line in Path("judged.jsonl").read_text().splitlines()]
    assert [row["verdict"] for row in rows[7:]] == ["contradicted", "unreadable", "unreadable"]
    assert rows[8]["because"].startswith("line 9: the line is not JSON")
    assert rows[8]["unreadable_line"] == '{"doc": 8,'
    assert (rows[9]["doc"], rows[9]["because"]) == (9, "line 10: `subject` is missing")
    judge(run, "--skip-bad-rows", "--output", "judged.csv", predictions="llm=llm.jsonl")
    assert [row["unreadable_line"] for row in written()][7:] == ["", '{"doc": 8,', ""]


def test_missing_values_of_a_frame_are_skipped(curies, run):
    pq.write_table(pa.table({"head": ["Marie Curie", None], "relation": ["born_in"] * 2, "tail": ["Paris"] * 2}), "llm.parquet")
    assert judge(run, predictions="llm=llm.parquet").exit_code == 2
    rows = judge(run, "--skip-bad-rows", "--format", "json", predictions="llm=llm.parquet").stdout.splitlines()
    assert [json.loads(row)["because"] for row in rows][1] == "`head` is missing in row 1"


def test_ranks_and_queries_choose_no_rows(curies, run):
    Path("ranked.csv").write_text(
        "head,relation,tail,rank\nMarie Curie,born_in,Warsaw,1\nMarie Curie,born_in,Paris,2\nMarie Curie,born_in,France,3\n"
    )
    rows = judge(run, "--format", "csv", predictions="llm=ranked.csv").stdout
    assert [row["verdict"] for row in csv.DictReader(StringIO(rows))] == ["already known", "contradicted", "contradicted"]


def test_several_models_stand_one_below_the_other(curies, run):
    Path("other.tsv").write_text("Pierre Curie\tborn_in\tWarsaw\n")
    result = judge(run, "--predictions", "other=other.tsv", "--format", "csv")
    rows = list(csv.DictReader(StringIO(result.stdout)))
    assert [row["model"] for row in rows] == ["llm"] * 8 + ["other"]
    assert (rows[8]["head"], rows[8]["verdict"], rows[8]["subject"]) == ("Pierre Curie", "contradicted", "")


def test_a_column_of_the_user_s_keeps_its_name(curies, run):
    Path("named.csv").write_text("head,relation,tail,verdict\nMarie Curie,born_in,Paris,mine\n")
    (row,) = csv.DictReader(StringIO(judge(run, "--format", "csv", predictions="llm=named.csv").stdout))
    assert (row["verdict"], row["rulescore.verdict"]) == ("mine", "contradicted")


def test_confidences_weigh_what_is_contradicted(curies, run):
    Path("scored.csv").write_text("head,relation,tail,score\nMarie Curie,born_in,Paris,0.75\nPierre Curie,citizen,France,0.5\n")
    result = judge(run, predictions="llm=scored.csv")
    assert "llm: weighed by their confidence, 0.750 of 1.25 predictions are contradicted" in result.stdout


def test_what_people_see_has_counts_and_the_score_s_numbers(curies, run):
    result = judge(run, "--limit", "2")
    assert result.stdout.startswith("2 of the 8 rows of llm are contradicted.\n")
    assert "contradicted: it breaks a rule; already known: the facts have it" in result.stdout
    assert "6 more rows; `--output FILE` writes all, with your columns" in result.stdout
    assert "llm: 7 different predictions, 1 breaks a rule, 1 breaks a hard one" in result.stdout


def test_a_predicate_of_the_facts_is_no_slip(curies, run):
    with Path("facts.csv").open("a") as facts:
        facts.write("Marie Curie,citizens,Poland\n")
    Path("llm.csv").write_text("head,relation,tail\nPierre Curie,citizens,Poland\nPierre Curie,citizenz,Poland\n")
    asked = ("judge", "--facts", "facts.csv", "--rules", "checks.rules", "--predictions", "llm=llm.csv", "--format", "csv")
    reasons = [row["because"] for row in csv.DictReader(StringIO(run(*asked).stdout))]
    assert reasons == ["no rule mentions `citizens`", "no rule mentions `citizenz`; did you mean `citizen`?"]


def test_sentences_have_the_prefixes_of_rdf_files(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    prefix = "@prefix ex: <http://x/> . "
    Path("f.ttl").write_text(f"{prefix}ex:rex ex:in ex:house . ex:tom ex:by ex:rex .", encoding="utf-8")
    Path("o.ttl").write_text(f"{prefix}ex:in a <http://www.w3.org/2002/07/owl#FunctionalProperty> .", encoding="utf-8")
    rows = [("rex", "in", "hut"), ("rex", "in", "tom"), ("tom", "by", "tom"), ("tom", "In", "rex")]
    text = "".join("\t".join(f"http://x/{name}" for name in row) + "\n" for row in rows)
    Path("p.tsv").write_text(f"head\trelation\ttail\n{text}", encoding="utf-8")
    judged = run("judge", "--facts", "f.ttl", "--rules", "o.ttl", "--predictions", "m=p.tsv", "--all-rules", "--format", "csv")
    reasons = [row["because"] for row in csv.DictReader(StringIO(judged.stdout))]
    assert reasons == [
        "m predicts ex:in(ex:rex, ex:hut), but ex:in(ex:rex, ex:house) is observed",
        "m predicts ex:in(ex:rex, ex:tom), but ex:in(ex:rex, ex:house) is observed",
        "no rule mentions `ex:by`",
        "no rule mentions `ex:In`; did you mean `ex:in`?",
    ]
    assert "http://x/rex" in judged.stdout


def test_columns_are_chosen_on_the_command_line(curies, run):
    Path("answers.jsonl").write_text('{"doc": 1, "s": {"name": "marie"}, "fact": ["born_in", "paris"]}\n', encoding="utf-8")
    asked = ("judge", "--facts", "facts.csv", "--rules", "checks.rules", "--predictions", "llm=answers.jsonl", "--format", "json")
    chosen = run(*asked, "--predictions-columns", "head=s.name, relation=fact.0, tail=fact.1")
    assert json.loads(chosen.stdout)["doc"] == 1
    assert json.loads(chosen.stdout)["verdict"] in {"contradicted", "not linked"}
    assert "`head` in `--predictions-columns` names no part" in run(*asked, "--predictions-columns", "head").stderr
    missing = run("judge", "--facts", "facts.csv", "--rules", "checks.rules", "--predictions-columns", "head=s")
    assert "`--predictions-columns` is about the files of `--predictions`" in missing.stderr


def test_a_file_is_overwritten_only_by_force_and_has_a_known_ending(curies, run):
    Path("judged.csv").write_text("mine")
    assert "E603" in judge(run, "--output", "judged.csv").stderr
    assert judge(run, "--output", "judged.csv", "--force").exit_code == 0
    assert "E602" in judge(run, "--output", "judged.xlsx").stderr


def test_a_saved_result_does_not_know_its_rows(curies, run):
    result = rulescore.score("facts.csv", {"llm": "llm.csv"}, "checks.rules")
    result.save("saved.json")
    with pytest.raises(InputError, match="E502"):
        rulescore.load_result("saved.json").verdicts()


def test_values_of_a_table_s_target_are_judged_with_all_their_columns(tmp_path):
    people = pd.DataFrame({"id": [1, 2, 3, 4], "age": [40, 50, 30, 15], "job": ["yes", "no", None, None]})
    tables = {"person": rulescore.Table(people, key="id", target="job", hidden=[3, 4])}
    values = pd.DataFrame({"note": ["a", "b"], "id": [4, 3], "prediction": ["yes", "yes"], "score": [0.25, 1.0]})
    values.to_csv(tmp_path / "values.csv", index=False)
    for given in (values, tmp_path / "values.csv"):
        result = rulescore.score(None, {"m": given}, 'adult: A >= 18 <- person(id: P, age: A, job: "yes").', tables=tables)
        rows = result.verdicts().to_pylist()
        assert [(row["note"], str(row["id"]), row["verdict"]) for row in rows] == [
            ("a", "4", "contradicted"),
            ("b", "3", "supported"),
        ]
        assert rows[0]["because"] == "m predicts person.job(4, yes), so 15 >= 18 should hold, but it is missed by 3"


def test_every_float_finds_its_verdict():
    values = [0.1 + 0.2, 1e-7, 1e22, 123456789.123, 5e-324, 1.7e308, 2.5e15 + 0.5, -0.0, 1e15, 1 / 3, 9007199254740993.0]
    table = pd.DataFrame({"id": range(len(values)), "price": [None] * len(values)}).astype({"price": "float64"})
    tables = {"sale": rulescore.Table(table, key="id", target="price", hidden=list(range(len(values))))}
    predicted = pd.DataFrame({"id": range(len(values)), "prediction": values})
    result = rulescore.score(None, {"m": predicted}, "P < 0.0 <- sale(id: A, price: P).", tables=tables, kinds={"rules:1": "hard"})
    assert [row["verdict"] for row in result.verdicts().to_pylist()] == ["contradicted"] * len(values)


def test_a_declaration_alone_flags_no_row_and_says_what_to_write(curies, run):
    Path("checks.rules").write_text("functional born_in(X -> Y).\ncitizen(X, C) <- born_in(X, P), lies_in(P, C).\n")
    with pytest.warns(rulescore.RulescoreWarning, match="as a rule, too: `@check functional born_in"):
        rulescore.score("facts.csv", {"llm": "llm.csv"}, "checks.rules", allow_unrefutable=True)


def test_rows_and_names_of_a_database_are_refused():
    table = FactTable("kg.answers", Request("kg.answers", FactFile("kg.answers"), predictions=True))
    with pytest.raises(InputError, match=r"E347.*\n.*kg\.answers"):
        read_rows(Setting((), (), (ModelPredictions("m", (table,)),)), "exact", skip_bad_rows=False)
    with pytest.raises(InputError, match=r"E347.*\n.*kg\.answers"):
        find_links("casefold", [], [table])
    assert find_links("exact", [], [table]).names == {}
