"""Arrays, tensors, series and factories of other libraries as facts and as predictions."""

from __future__ import annotations

import gzip
import io
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rulescore
from rulescore.errors import InputError

pytestmark = pytest.mark.slow

# One process loads torch, when the first of these runs.
TORCH = pytest.mark.xdist_group("torch")

LABELLED = np.array([["ann", "wife", "bob"], ["bob", "father", "cid"], ["ann", "mother", "cid"]])
IDS = np.array([[0, 2, 1], [1, 0, 2], [0, 1, 2]])
ENTITIES = ["ann", "bob", "cid"]
RELATIONS = ["father", "mother", "wife"]
RULES = "mother(X, Z) <- wife(X, Y), father(Y, Z). functional mother(X, Y) on Y -> X."


def counts(observed, predictions=None):
    result = rulescore.score(observed, {"m": predictions if predictions is not None else [("cid", "wife", "bob")]}, RULES)
    [model] = result.model_results
    return result.rule_results[0].dataset, model.evaluable, result.contributions["arguments"].to_pylist()


@cache
def expected():
    return counts([tuple(row) for row in LABELLED.tolist()])


@pytest.mark.parametrize(
    "observed",
    [
        LABELLED,
        LABELLED.astype(object),
        [LABELLED[:1], LABELLED[1:]],
        rulescore.Triples(IDS, entities=ENTITIES, relations=RELATIONS),
    ],
    ids=["names", "objects", "two arrays", "ids"],
)
def test_facts_are_given_as_arrays(observed) -> None:
    assert counts(observed) == expected()


@TORCH
def test_facts_are_given_as_tensors_and_factories() -> None:
    import torch
    from pykeen.triples import TriplesFactory

    names = {"entities": dict(enumerate(ENTITIES)), "relations": {"father": 0, "mother": 1, "wife": 2}}
    assert counts(rulescore.Triples(torch.tensor(IDS), **names)) == expected()
    assert counts(TriplesFactory.from_labeled_triples(LABELLED)) == expected()


@TORCH
def test_predictions_are_given_as_arrays_with_scores_and_ranks() -> None:
    import torch

    assert counts(LABELLED, np.array([["cid", "wife", "bob"]])) == expected()
    scored = rulescore.Triples(
        np.array([[2, 2, 1], [1, 2, 1]]),
        entities=ENTITIES,
        relations=RELATIONS,
        scores=torch.tensor([0.5, 0.25]),
        queries=["a", "a"],
    )
    result = rulescore.score(LABELLED, {"m": scored}, RULES, top_k="all")
    assert result.contributions.select(["score", "rank", "query"]).sort_by("rank").to_pylist() == [
        {"score": 0.5, "rank": 1, "query": "a"},
        {"score": 0.25, "rank": 2, "query": "a"},
    ]
    objects = np.array([["cid", "wife", "bob", 0.5, 1], ["bob", "wife", "bob", 0.25, 2]], dtype=object)
    assert rulescore.score(LABELLED, {"m": objects}, RULES).model_results[0].predictions.kept == 1


@pytest.mark.parametrize(
    ("observed", "message"),
    [
        (IDS, r"rulescore\.Triples\(array, entities=…, relations=…\)"),
        (np.array([1.0, 2.0]), r"rulescore\.Table\(frame, key=…, target=…\)"),
        (LABELLED[:, :2], "an array of 3 × 2 holds no triples"),
        (rulescore.Triples(IDS, entities=ENTITIES[:2], relations=RELATIONS), "the id 2 of a tail has no name in `entities`"),
        (rulescore.Triples(LABELLED, entities=ENTITIES, relations=RELATIONS), "given as it is, without `Triples`"),
        (rulescore.Triples(IDS, entities=ENTITIES, relations=RELATIONS, ranks=[1]), "3 of `tail`, 1 of `rank`"),
    ],
)
def test_what_an_array_lacks_is_told(observed, message: str) -> None:
    with pytest.raises(InputError, match=f"(?s)E322.*{message}"):
        rulescore.audit(observed, RULES)


@TORCH
def test_a_factory_without_names_is_refused() -> None:
    import torch
    from pykeen.triples import CoreTriplesFactory

    with pytest.raises(InputError, match=r"(?s)E322.*rulescore\.Triples\(factory\.mapped_triples"):
        rulescore.audit(CoreTriplesFactory.create(torch.tensor(IDS)), RULES)


def test_the_answers_for_ogb_need_their_queries() -> None:
    facts = pa.table({"head": [0, 1], "relation": [7, 7], "tail": [1, 2]})
    rules = "`7`(X, Z) <- `7`(X, Y), `7`(Y, Z). closed `7`."
    best = {"t_pred_top10": np.array([[2, 1], [0, 2]]), "t": np.array([1, 2])}
    with pytest.raises(InputError, match=r'(?s)E322.*without `hr`.*"hr": …'):
        rulescore.score(facts, {"m": {"h,r->t": best}}, rules)
    result = rulescore.score(facts, {"m": {"h,r->t": {**best, "hr": np.array([[0, 7], [1, 7]])}}}, rules, top_k=2)
    assert result.model_results[0].predictions.queries == 2
    assert result.contributions["query"].to_pylist()[0] == "tail 0"


SALES = pd.DataFrame({"id": [7, 8, 9, 10], "zip": ["a", "a", "b", "b"], "price": [100.0, 120.0, np.nan, np.nan]})
NEAR = """
near: abs(P - Q) <= 30 <- sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q), A != B.
positive: P > 0 <- sale(price: P).
"""
TRUTH = SALES.assign(price=[100.0, 120.0, 90.0, 210.0])
MASK = np.array([False, False, True, True])


def predicted(table: rulescore.Table, predictions) -> list[list[str]]:
    result = rulescore.score(None, {"m": predictions}, NEAR, tables={"sale": table})
    rows = result.contributions.filter(pa.compute.equal(result.contributions["rule"].cast(pa.string()), "positive"))
    return sorted(rows["arguments"].to_pylist())


@pytest.mark.parametrize(
    "hidden",
    [
        MASK,
        list(MASK),
        pd.Series(MASK),
        pl.Series(MASK),
        pa.array(MASK),
        TRUTH["id"] > 8,
        [9, 10],
        {"column": "zip", "values": ["b"]},
    ],
    ids=["array", "list", "series", "polars", "arrow", "comparison", "ids", "column"],
)
def test_hidden_rows_are_told_by_a_mask_or_by_ids(hidden) -> None:
    table = rulescore.Table(TRUTH, key="id", target="price", hidden=hidden)
    assert predicted(table, {9: 95.0, 10: 205.0}) == [["10", "205"], ["9", "95"]]


@pytest.mark.parametrize(
    "values", [np.array([95.0, 205.0]), [95.0, 205.0], pl.Series([95.0, 205.0])], ids=["array", "list", "polars"]
)
def test_values_for_the_rows_of_a_mask_are_refused_because_nothing_tells_their_order(values) -> None:
    table = rulescore.Table(TRUTH, key="id", target="price", hidden=MASK)
    with pytest.raises(InputError, match=r"(?s)E365.*a mask.*`pandas\.Series\(model\.predict\(test\), index=test\.index\)`"):
        predicted(table, values)
    shuffled = TRUTH[MASK].sample(frac=1, random_state=1)
    right = [["10", "205"], ["9", "95"]]
    assert predicted(table, pd.Series(shuffled["id"].map({9: 95.0, 10: 205.0}).to_numpy(), index=shuffled.index)) == right
    assert predicted(table, np.array([1.0, 1.0, 95.0, 205.0])) == right
    for hidden in ({"column": "zip", "values": ["b"]}, [9, 10]):
        assert predicted(rulescore.Table(TRUTH, key="id", target="price", hidden=hidden), values) == right


@pytest.mark.parametrize(
    "values",
    [
        np.array([95.0, 205.0]),
        np.array([[95.0], [205.0]]),
        np.array([1.0, 1.0, 95.0, 205.0]),
        [95.0, 205.0],
        pl.Series([95.0, 205.0]),
        pa.array([95.0, 205.0]),
        pd.Series([205.0, 95.0], index=[3, 2]),
        pd.Series([205.0, 95.0], index=[10, 9]),
        pd.DataFrame({"id": [9, 10], "price": [95.0, 205.0]}),
    ],
    ids=["array", "column", "all rows", "list", "polars", "arrow", "frame's index", "ids", "named like the target"],
)
def test_values_are_brought_to_the_hidden_rows(values) -> None:
    table = rulescore.Table(TRUTH, key="id", target="price", hidden=[9, 10])
    assert predicted(table, values) == [["10", "205"], ["9", "95"]]


@TORCH
def test_values_of_a_tensor_are_brought_to_the_hidden_rows() -> None:
    import torch

    table = rulescore.Table(TRUTH, key="id", target="price", hidden=[9, 10])
    assert predicted(table, torch.tensor([95.0, 205.0])) == [["10", "205"], ["9", "95"]]


def test_ids_that_are_listed_have_their_order() -> None:
    table = rulescore.Table(TRUTH, key="id", target="price", hidden=[10, 9])
    assert predicted(table, np.array([205.0, 95.0])) == [["10", "205"], ["9", "95"]]


def test_a_missing_target_is_hidden_which_is_said_once() -> None:
    with pytest.warns(rulescore.RulescoreWarning, match="W331.*missing: 2 rows of table `sale`") as told:
        assert predicted(rulescore.Table(SALES, key="id", target="price"), np.array([95.0, 205.0])) == [["10", "205"], ["9", "95"]]
    assert len(told) == 1
    assert rulescore.audit(None, NEAR, tables={"sale": rulescore.Table(SALES, key="id", target="price")}).warnings == ()


@pytest.mark.parametrize(("frame", "key"), [(TRUTH.set_index("id"), "id"), (TRUTH.set_index("id").rename_axis(None), "index")])
def test_the_index_of_a_frame_is_a_key(frame, key) -> None:
    table = rulescore.Table(frame, key=key, target="price", hidden=[9, 10])
    rules = NEAR.replace("id:", f"{key}:")
    for values in (np.array([95.0, 205.0]), pd.Series([205.0, 95.0], index=[10, 9]), {9: 95.0, 10: 205.0}):
        result = rulescore.score(None, {"m": values}, rules, tables={"sale": table})
        assert result.model_results[0].coverage.value == 1


@pytest.mark.parametrize(
    ("hidden", "values", "message"),
    [
        (MASK[:3], {9: 1.0}, "E365.*the mask has 3 values, and table `sale` 4 rows"),
        (pd.Series(MASK, index=[5, 6, 7, 8]), {9: 1.0}, "E365.*the mask has another index than the rows"),
        (MASK, np.array([1.0, 2.0, 3.0]), "E365.*3 values without ids, and table `sale` has 2 hidden rows of 4"),
        (MASK, np.eye(2), "E365.*an array of 2 × 2 is not one value"),
        ('zip = "b"', np.array([1.0, 2.0]), "E365.*let `hidden` list the ids"),
    ],
)
def test_what_does_not_fit_the_rows_is_told(hidden, values, message: str) -> None:
    with pytest.raises(InputError, match=f"(?s){message}"):
        predicted(rulescore.Table(TRUTH, key="id", target="price", hidden=hidden), values)


def test_a_mask_without_a_key_is_told_of_the_key_alone() -> None:
    with pytest.raises(InputError) as error:
        predicted(rulescore.Table(TRUTH, target="price", hidden=MASK), {9: 1.0})
    assert [one.code for one in error.value.problems] == ["E335"]


def test_an_index_that_may_mean_ids_or_labels_is_refused_unless_it_has_a_name() -> None:
    frame = TRUTH.assign(id=[1, 2, 3, 4])
    table = rulescore.Table(frame, key="id", target="price", hidden=MASK)
    series = pd.Series([95.0], index=[3])
    with pytest.raises(
        InputError, match=r'(?s)E365.*series\.index\.name = "id".*series\.set_axis\(frame\.loc\[series\.index, "id"\]\)'
    ):
        predicted(table, series)
    assert predicted(table, series.rename_axis("id")) == [["3", "95"]]


def test_one_model_predicts_facts_and_several_targets() -> None:
    flat = rulescore.Table({"id": [1, 2], "rent": [10, None]}, key="id", target="rent", hidden=[2])
    sale = rulescore.Table(TRUTH, key="id", target="price", hidden=[9, 10])
    rules = f"{RULES} {NEAR} cheap: R < 100 <- flat(rent: R)."
    parts = {"sale": np.array([95.0, 205.0]), "flat": {2: 500}, "facts": [("cid", "wife", "bob")], "mother": [("bob", "cid")]}
    result = rulescore.score(LABELLED, {"m": parts}, rules, tables={"sale": sale, "flat": flat})
    assert result.model_results[0].predictions.distinct == 5
    assert set(result.contributions["predicate"].to_pylist()) == {"wife", "sale.price", "flat.rent"}


@pytest.mark.parametrize("column", ["kind", "type"])
def test_a_frame_with_a_key_that_is_given_as_facts_is_told_to_be_a_table(column: str) -> None:
    frame = pd.DataFrame({"id": [1], column: ["a"], "price": [2.0]})
    with pytest.raises(InputError, match=r'(?s)E320.*`tables={"name": rulescore\.Table\(frame, key=…\)}`'):
        rulescore.score(frame, {"m": np.array([1.0])}, "P > 0 <- sale(price: P).")


def test_without_facts_and_tables_the_argument_is_named() -> None:
    with pytest.raises(InputError, match=r"(?s)E322.*there are no observed facts.*`tables="):
        rulescore.score(None, {"m": np.array([1.0])}, "P > 0 <- sale(price: P).")
    with pytest.raises(InputError, match=r"(?s)E320.*`ID`.*did you mean `id`"):
        predicted(rulescore.Table(TRUTH, key="ID", target="price", hidden=MASK), np.array([1.0, 2.0]))


def test_values_beside_facts_need_the_name_of_their_table() -> None:
    sale = rulescore.Table(TRUTH, key="id", target="price", hidden=MASK)
    with pytest.raises(InputError, match=r'(?s)E333.*"sale": …'):
        rulescore.score(LABELLED, {"m": np.array([95.0, 205.0])}, NEAR, tables={"sale": sale})


@pytest.mark.parametrize("zone", [None, "Europe/Paris"])
def test_a_table_of_relbench_has_its_values_in_the_order_of_the_test_table(zone: str | None) -> None:
    times = pd.to_datetime(["2010-01-01 10:30", "2010-01-01 10:30", "2010-03-01 00:07"]).tz_localize(zone)
    table = pd.DataFrame({"driverId": [1, 2, 1], "date": times, "position": [1.0, 2.0, None]})
    rules = "top: P >= 1 <- driver(driverId: D, position: P)."
    asked = table.loc[table["date"] >= "2010-03-01", ["driverId", "date"]]
    task = rulescore.Table(table, key=["driverId", "date"], target="position", hidden=asked)
    result = rulescore.score(None, {"m": np.array([0.5])}, rules, tables={"driver": task})
    assert result.contributions["refuted"].to_pylist() == [1]


@TORCH
def test_what_pykeen_predicts_is_given_as_it_is() -> None:
    import torch
    from pykeen.models import TransE
    from pykeen.predict import predict_target, predict_triples
    from pykeen.triples import TriplesFactory

    factory = TriplesFactory.from_labeled_triples(LABELLED)
    torch.manual_seed(0)
    model = TransE(triples_factory=factory, embedding_dim=4)
    target = predict_target(model=model, head="cid", relation="wife", triples_factory=factory)
    result = rulescore.score(factory, {"m": target}, RULES, top_k="all")
    assert result.model_results[0].predictions.distinct == 3
    assert result.model_results[0].predictions.queries == 1
    assert result.contributions["query"].to_pylist() == ["tail of cid wife"]
    assert rulescore.score(factory, {"m": [target]}, RULES).model_results[0].predictions.kept == 1
    every = predict_triples(model=model, triples=np.array([["cid", "wife", "bob"]]), triples_factory=factory)
    assert counts(factory, every.process(factory=factory)) == expected()
    assert counts(factory, every.process(factory=factory).df) == expected()
    with pytest.raises(InputError, match=r"(?s)E320.*frame\.assign\(head=…, relation=…\)"):
        rulescore.score(factory, {"m": target.df}, RULES)


@pytest.mark.parametrize("compressed", [False, True])
def test_triples_are_read_from_files_of_arrays(tmp_path, compressed: bool) -> None:
    suffix = ".gz" if compressed else ""

    def save(path, write) -> object:
        stream = io.BytesIO()
        write(stream)
        path.write_bytes(gzip.compress(stream.getvalue()) if compressed else stream.getvalue())
        return path

    array = np.array([["cid", "wife", "bob"]])
    facts = save(tmp_path / f"facts.npy{suffix}", lambda to: np.save(to, np.array(LABELLED)))
    bytes_ = save(tmp_path / f"bytes.npy{suffix}", lambda to: np.save(to, array.astype("S")))
    one = save(tmp_path / f"one.npz{suffix}", lambda to: np.savez(to, array))
    parts = dict(zip(("head", "relation", "tail"), array.T, strict=True))
    three = save(tmp_path / f"three.npz{suffix}", lambda to: np.savez(to, **parts, score=np.array([0.5])))
    for predictions in (bytes_, one, three):
        assert counts(facts, predictions) == expected()


def test_answers_for_ogb_are_read_from_a_file(tmp_path) -> None:
    np.savez(tmp_path / "ogb.npz", hr=np.array([[0, 7]]), t_pred_top10=np.array([[2, 0]]))
    facts = pd.DataFrame({"head": [0, 1], "relation": [7, 7], "tail": [1, 2]})
    result = rulescore.score(facts, {"m": tmp_path / "ogb.npz"}, '@hard self: false <- "7"(X, X).', top_k=2)
    assert (result.model_results[0].violating, result.model_results[0].predictions.kept) == (1, 2)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": np.eye(3), "b": np.eye(3)}, "E322.*2 arrays, and none of them holds triples.*`a`, `b`.*rulescore.Triples"),
        ({"a": np.array([[1, 2, 3]])}, "E322.*holds numbers"),
        ({"a": np.array([["a", "p", None]])}, r"E305.*objects of Python.*astype\(str\)"),
    ],
)
def test_arrays_of_files_that_are_no_triples_are_told(tmp_path, arrays, message: str) -> None:
    np.savez(tmp_path / "m.npz", **arrays)
    with pytest.raises(InputError, match=f"(?s){message}"):
        rulescore.score(LABELLED, {"m": tmp_path / "m.npz"}, RULES)


def test_values_of_hidden_rows_are_read_from_a_file_of_arrays(tmp_path) -> None:
    np.save(tmp_path / "m.npy", np.array([95.0, 205.0]))
    table = rulescore.Table(TRUTH, key="id", target="price", hidden=[9, 10])
    assert predicted(table, tmp_path / "m.npy") == [["10", "205"], ["9", "95"]]


@pytest.mark.parametrize(
    ("ending", "message"),
    [("npz", "not an array of NumPy"), ("pt", r"`\.pt`.*the program that wrote it"), ("pkl", r"`\.pkl`.*frames or arrays")],
)
def test_files_of_arrays_and_objects_are_named(tmp_path, ending: str, message: str) -> None:
    path = tmp_path / f"model.{ending}"
    path.write_bytes(b"\0")
    with pytest.raises(InputError, match=f"(?s)E305.*{message}"):
        rulescore.score(LABELLED, {"m": path}, RULES)


@pytest.mark.parametrize(
    "names",
    [
        "node1 label node2",
        "~from ~label ~to",
        "entity1 relation entity2",
        "x_name relation y_name",
        "head_entity predicate tail_entity",
    ],
)
def test_columns_have_the_names_of_the_field(names: str) -> None:
    frame = pd.DataFrame(LABELLED, columns=names.split())
    assert counts(frame) == expected()
    beside = frame.assign(label=[1, 2, 3]) if "label" not in names else frame
    assert counts(beside) == expected()
