"""A source that was probably read wrongly is told so: headers taken for facts, tables taken for predicates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rulescore.errors import Diagnostic, InputError
from rulescore.scoring.evaluation import Evaluation
from rulescore.session.api import audit, score
from rulescore.setting.model import FactFile

RULE = "aunt(X, Z) <- sister(X, Y), father(Y, Z).\nclosed aunt.\n"
KIN = [("alice", "sister", "daniel"), ("daniel", "father", "emma"), ("alice", "aunt", "emma")]

HEADERS = [
    "head,relation,tail",
    "subject,predicate,object",
    "subj,pred,obj",
    "s,p,o",
    "?s,?p,?o",
    "#subject,predicate,object",
    "source,type,target",
    "from,type,to",
    ":START_ID,:TYPE,:END_ID",
    ":START_ID(Person),:TYPE,:END_ID(Person)",
    "head_label,relation_label,tail_label",
    "Head Label,Relation Label,Tail Label",
    "source,relation,target",
    "head_id,relation_id,tail_id",
    "subject_name,property,object_name",
    " Head , RELATION , Tail ",
]


def codes(found: Evaluation | list[Diagnostic]) -> list[str]:
    return [one.code for one in (found.warnings if isinstance(found, Evaluation) else found)]


def refusal(call: Callable[[], object]) -> Diagnostic:
    with pytest.raises(InputError) as raised:
        call()
    (problem,) = raised.value.problems
    return problem


def written(path: Path, header: str | None, rows: list[tuple[str, str, str]] = KIN, order: tuple[int, ...] = (0, 1, 2)) -> Path:
    names = [] if header is None else [header.split(",")]
    path.write_text("".join(",".join(row[i] for i in order) + "\n" for row in [*names, *rows]))
    return path


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (2, 0, 1)])
@pytest.mark.parametrize("header", HEADERS)
def test_usual_names_are_a_header_in_any_order(tmp_path, header, order, facts):
    assert facts(written(tmp_path / "kin.csv", header, order=order)) == sorted(KIN)
    folder = tmp_path / "folder"
    folder.mkdir()
    written(folder / "kin.csv", header, order=order)
    assert facts(folder) == sorted(KIN)


@pytest.mark.parametrize("header", HEADERS)
def test_frames_and_parquet_have_the_same_names(tmp_path, header, facts):
    columns = dict(zip(header.split(","), zip(*KIN, strict=True), strict=True))
    pq.write_table(pa.table(columns), tmp_path / "kin.parquet")
    for source in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns), tmp_path / "kin.parquet"):
        assert facts(source) == sorted(KIN)


def test_a_label_comes_before_an_id_and_both_after_the_plain_name(facts):
    ids = {"head_id": [1], "relation_id": [2], "tail_id": [3]}
    labels = {"head_label": ["a"], "relation_label": ["p"], "tail_label": ["b"]}
    assert facts(pd.DataFrame({**ids, **labels})) == [("a", "p", "b")]
    assert facts(pd.DataFrame({**ids, **labels, "tail": ["c"]})) == [("a", "p", "c")]


@pytest.fixture
def facts() -> Callable[[object], list[tuple[str, ...]]]:
    from rulescore.readers.sources import observed_streams
    from rulescore.values import value_of

    def read(source: object) -> list[tuple[str, ...]]:
        batches = [batch for stream in observed_streams(source) for batch in stream.open()]
        rows = [(batch.predicate, row) for batch in batches for row in batch.rows.to_pylist()]
        return sorted((value_of(row["a0"]), name or row["predicate"], value_of(row["a1"])) for name, row in rows)

    return read


def arrow_of(rows):
    return pa.table(dict(zip(("head", "relation", "tail"), zip(*rows, strict=True), strict=True)))


def frame_of(rows):
    return pd.DataFrame(rows, columns=["head", "relation", "tail"])


def test_any_other_first_line_about_what_nothing_else_mentions_is_a_warning(tmp_path):
    found = audit(written(tmp_path / "kin.csv", "person,kind,other"), RULE)
    (warning,) = [one for one in found.warnings if one.code == "W325"]
    assert warning.message == "the first line may be a header: nothing else mentions `kind`"
    assert (warning.place.name, warning.place.line) == (str(tmp_path / "kin.csv"), 1)
    assert warning.notes == ("the first row was read as `kind(person, other)`",)
    assert '`columns = { head = "person", relation = "kind", tail = "other" }`' in warning.helps[0]
    assert "`--no-header`" in warning.helps[1]


def test_files_that_share_a_header_are_all_suspicious(tmp_path):
    train, model = written(tmp_path / "a.csv", "x,kind,y"), written(tmp_path / "b.csv", "x,kind,y")
    assert codes(score(train, {"m": model}, RULE)).count("W325") == 2


def test_a_first_line_of_which_something_else_speaks_is_none(tmp_path):
    assert "W325" not in codes(audit(written(tmp_path / "a.csv", None), RULE))
    assert "W325" not in codes(audit(written(tmp_path / "b.csv", "a,aunt,b", []), RULE))
    assert "W325" not in codes(audit(written(tmp_path / "c.csv", "a,cousin,b", []), RULE + "predicate cousin/2."))
    assert "W325" not in codes(audit(written(tmp_path / "d.csv", "a,cousin,b"), RULE + "incompatible cousin, aunt."))
    twice = written(tmp_path / "e.csv", "a,cousin,b", [*KIN, ("b", "cousin", "a")])
    assert "W325" not in codes(audit(twice, RULE))
    other = written(tmp_path / "f.csv", None, [*KIN, ("b", "cousin", "a")])
    assert "W325" not in codes(audit([written(tmp_path / "g.csv", "a,cousin,b"), other], RULE))
    assert "W325" not in codes(audit([("a", "cousin", "b"), *KIN, ("b", "cousin", "c")], RULE))
    assert "W325" not in codes(audit([*KIN, ("a", "cousin", "b")], RULE))


@pytest.mark.parametrize("make", [list, frame_of, arrow_of])
def test_the_first_row_of_a_table_may_be_a_header_too(make):
    found = audit(make([("person", "kind", "other"), *KIN]), RULE)
    (warning,) = [one for one in found.warnings if one.code == "W325"]
    assert warning.message == "the first row may be a header: nothing else mentions `kind`"
    assert warning.notes == ("the first row was read as `kind(person, other)`",)
    assert warning.helps == ("leave it out; or, if it is a fact, declare the predicate: `predicate kind/2.`",)
    assert "W325" not in codes(audit(make(KIN), RULE))
    assert "W325" not in codes(audit({"kind": [("person", "other")], "aunt": [("a", "b")]}, RULE))


def test_what_the_user_says_of_the_first_line_is_believed(tmp_path):
    path = written(tmp_path / "kin.csv", "person,kind,other")
    assert "W325" not in codes(audit(path, RULE, header=False))
    columns = {"head": "person", "relation": "kind", "tail": "other"}
    found = audit(FactFile(path, columns=columns), RULE)
    assert "W325" not in codes(found)
    assert found.rule_results[0].dataset.confirmed == 1


SIX = {
    "entity": ["alice", "bob"],
    "kind": ["aunt", "aunt"],
    "other": ["emma", "emma"],
    "n": [1, 2],
    "m": [3, 4],
    "score": [0.5, 0.4],
}


def test_predictions_of_what_nothing_knows_are_refused_with_their_first_row(tmp_path):
    pq.write_table(pa.table(SIX), tmp_path / "all.parquet")
    problem = refusal(lambda: score(KIN, {"m": tmp_path / "all.parquet"}, RULE))
    assert problem.code == "E328"
    assert problem.message == "no fact and no rule is about the predicate `all` of these predictions"
    assert problem.notes == (
        "the first row was read as `all(alice, aunt, emma, 1, 3)`",
        "the columns are `entity`, `kind`, `other`, `n`, `m`",
    )
    assert '`columns = { head = "entity", relation = "kind", tail = "other" }`' in problem.helps[0]
    columns = {"head": "entity", "relation": "kind", "tail": "other"}
    found = score(KIN, {"m": FactFile(tmp_path / "all.parquet", columns=columns)}, RULE)
    assert found.model_results[0].predictions.distinct == 2


def test_predictions_as_pykeen_writes_them_are_triples(tmp_path):
    frame = pd.DataFrame(
        {
            "head_id": [1],
            "head_label": ["bob"],
            "relation_id": [2],
            "relation_label": ["aunt"],
            "tail_id": [3],
            "tail_label": ["emma"],
            "score": [0.5],
        }
    )
    frame.to_parquet(tmp_path / "all.parquet")
    frame.to_csv(tmp_path / "all.csv", index=False)
    for source in (frame, tmp_path / "all.parquet", tmp_path / "all.csv"):
        found = score(KIN, {"m": source}, RULE)
        assert found.model_results[0].predictions.distinct == 1


def test_columns_in_another_order_are_refused(tmp_path):
    path = written(tmp_path / "m.csv", None, [("alice", "daniel", "sister"), ("bob", "emma", "aunt")])
    problem = refusal(lambda: score(KIN, {"m": path}, RULE))
    assert (problem.code, problem.place.name) == ("E328", str(path))
    assert problem.notes == ("the first row was read as `daniel(alice, sister)`",)
    assert any("`columns = { head = 1, relation = 3, tail = 2 }`" in one for one in problem.helps)
    path = written(tmp_path / "m.csv", None, [("sister", "alice", "daniel"), ("aunt", "bob", "emma")])
    problem = refusal(lambda: score(KIN, {"m": path}, RULE))
    assert problem.notes == ("the first row was read as `alice(sister, daniel)`",)
    assert any("`columns = { head = 2, relation = 1, tail = 3 }`" in one for one in problem.helps)


def test_a_predicate_that_only_rules_mention_is_known(tmp_path):
    path = written(tmp_path / "m.csv", None, [("wife", "alice", "daniel"), ("sister", "fiona", "daniel")])
    problem = refusal(lambda: score(KIN, {"m": path}, f"{RULE} never: false <- wife(X, Y), sister(X, Y). predicate wife/2."))
    assert any("`--predictions-columns head=2,relation=1,tail=3`" in one for one in problem.helps)
    problem = refusal(lambda: score(KIN, {"m": [("bob", " wife ", "emma")]}, f"{RULE} false <- wife(X, Y). predicate wife/2."))
    assert problem.helps == ("remove the blanks beside the delimiters",)


def test_a_slip_in_a_name_is_suggested(tmp_path):
    problem = refusal(lambda: score(KIN, {"m": [("bob", "sistr", "emma")]}, RULE))
    assert (problem.code, problem.helps[0]) == ("E328", "did you mean `sister`?")


def test_blanks_around_the_names_of_predicates_are_named():
    problem = refusal(lambda: score(KIN, {"m": [("bob", " sister ", "emma")]}, RULE))
    assert problem.code == "E328"
    assert problem.message == "names of predicates begin or end with a blank, and fields are taken as they stand: ` sister `"
    assert problem.helps == ("remove the blanks beside the delimiters",)


def test_predictions_of_which_some_are_known_are_taken(tmp_path):
    for known in (
        [("a", "aunt", "b"), ("a", "cousin", "b")],
        {"aunt": [("a", "b")], "cousin": [("a", "b")]},
        [written(tmp_path / "a.csv", None, [("a", "cousin", "b"), ("a", "sister", "b")])],
        [],
    ):
        assert score(KIN, {"m": known}, RULE).model_results
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "aunt.tsv").write_text("a\tb\n")
    (folder / "cousin.tsv").write_text("a\tb\n")
    assert score(KIN, {"m": folder}, RULE).model_results


def test_one_of_two_files_of_a_model_may_be_the_wrong_one(tmp_path):
    right = written(tmp_path / "a.csv", None, [("a", "aunt", "b")])
    wrong = written(tmp_path / "b.csv", None, [("a", "b", "aunt")])
    problem = refusal(lambda: score(KIN, {"m": [right, wrong]}, RULE))
    assert (problem.code, problem.place.name) == ("E328", str(wrong))


def test_rules_negatives_and_declarations_know_predicates():
    answers = {"m": [("a", "cousin", "b")]}
    for rules in ("predicate cousin/2.", "incompatible cousin, aunt.", "closed cousin.", "cousin(X, Y) <- cousin(Y, X)."):
        assert score(KIN, answers, RULE + rules).model_results
    assert score(KIN, answers, RULE, negatives=[("c", "cousin", "d")]).model_results


def test_a_table_of_many_columns_is_no_predicate_unless_something_says_so(tmp_path):
    path = tmp_path / "kg_triples.parquet"
    pq.write_table(pa.table({"subject_id": ["alice"], "kind": ["aunt"], "object_id": ["emma"]}), path)
    problem = refusal(lambda: audit([path, KIN], RULE))
    assert problem.code == "E328"
    assert problem.message == "nothing says that these are facts of a predicate `kg_triples` with 3 arguments"
    assert problem.notes == (
        "the first row was read as `kg_triples(alice, aunt, emma)`",
        "the columns are `subject_id`, `kind`, `object_id`",
    )
    assert '`columns = { head = "subject_id", relation = "kind", tail = "object_id" }`' in problem.helps[0]
    assert 'layout = "predicate"' in problem.helps[1]
    assert audit([FactFile(path, layout="predicate"), KIN], RULE).rule_results
    assert audit([{"kg_triples": path}, KIN], RULE).rule_results
    assert audit([path, KIN], RULE + "predicate kg_triples/3.").rule_results
    assert audit([path, {"kg_triples": [("a", "b", "c")]}, KIN], RULE).rule_results


def test_in_a_folder_it_is_a_warning(tmp_path):
    pq.write_table(pa.table({"person": ["alice"], "kind": ["aunt"], "other": ["emma"]}), tmp_path / "kin.parquet")
    (tmp_path / "sold.csv").write_text("a,b,c\n")
    pq.write_table(pa.table({"a0": ["a"], "a1": ["b"], "a2": ["c"]}), tmp_path / "plain.parquet")
    found = audit([tmp_path, KIN], RULE)
    assert {Path(one.place.name).name for one in found.warnings if one.code == "W325"} == {"kin.parquet", "sold.csv"}


def test_blanks_around_names_of_predicates_are_told(tmp_path):
    path = tmp_path / "kin.csv"
    path.write_text("head , relation , tail\nalice , sister , daniel\n")
    found = audit([path, KIN], RULE)
    assert [one.message for one in found.warnings if one.code == "W327"] == [
        "names of predicates begin or end with a blank: ` sister `"
    ]


def test_a_frame_without_the_columns_of_a_triple_is_told_what_works_in_python():
    problem = refusal(lambda: audit(pd.DataFrame({"id": [1], "price": [2.0]}), RULE))
    assert problem.code == "E320"
    assert problem.helps[0] == "say which it is: rename the column to `head`"
    assert "rulescore.Table(frame, key=…)" in problem.helps[1]
