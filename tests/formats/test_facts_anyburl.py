"""Rankings of AnyBURL and PyClause."""

from __future__ import annotations

import gzip

import pytest

import rulescore
from rulescore.errors import InputError
from rulescore.formats.facts.anyburl import looks_like, read
from rulescore.readers.foreign import Fault
from rulescore.readers.sources import prediction_streams
from shared_data import shared

RANKING = """\
5 aunt 76
Heads: 5\t0.75\t12\t0.5\t
Tails: 76\t0.75\t
12 aunt 80
Tails: 76\t0.5\t80\t0.25\t81\t0.125\t
Heads: \n"""


def opened(streams):
    return [batch for stream in streams for batch in stream.open()]


def rows(text: str):
    [facts] = read(text.splitlines())
    return list(
        zip(facts.queries, facts.ranks, facts.arguments[0], facts.predicates, facts.arguments[1], facts.scores, strict=True)
    )


def test_answers_keep_query_direction_rank_and_score() -> None:
    assert rows(RANKING) == [
        ("head 0", 1, "5", "aunt", "76", 0.75),
        ("head 0", 2, "12", "aunt", "76", 0.5),
        ("tail 0", 1, "5", "aunt", "76", 0.75),
        ("tail 1", 1, "12", "aunt", "76", 0.5),
        ("tail 1", 2, "12", "aunt", "80", 0.25),
        ("tail 1", 3, "12", "aunt", "81", 0.125),
    ]


def test_a_triple_may_be_separated_by_tabs_and_a_list_lack_the_trailing_one() -> None:
    assert rows("new york\tin\tusa\nHeads:\nTails: usa\t1\n") == [("tail 0", 1, "new york", "in", "usa", 1.0)]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("Heads: 5\t1\t\n5 aunt 76\nTails: 76\t1\t\n", (1, 1), "expected a triple, found `Heads: 5\t1\t`"),
        ("5 aunt 76\nHeads: 5\t1\t\nHeads: 5\t1\t\n", (3, 1), "expected `Tails:`"),
        ("5 aunt 76\nHeads: 5\t1\t\n", (2, 12), "the file ends"),
        ("5 my aunt 76\nHeads: 5\t1\t\nTails: \n", (1, 1), "expected head, relation and tail"),
        ("5 aunt 76\nHeads: 5\t1\t7\nTails: \n", (2, 12), "`7` has no score"),
        ("5 aunt 76\nHeads: 5\t1\t7\tx\t\nTails: \n", (2, 14), "the score is `x`"),
        ("5 aunt 76\nHeads: 5\tNaN\t\nTails: \n", (2, 10), "the score is `NaN`"),
        ("5 aunt 76\nHeads: 5\t1\t\t1\t\nTails: \n", (2, 12), "an entity has no name"),
    ],
)
def test_a_line_that_is_not_understood_is_told_with_its_place(text: str, place: tuple[int, int], message: str) -> None:
    found = list(read(text.splitlines()))
    assert isinstance(found[0], Fault)
    assert (found[0].line, found[0].column) == place
    assert found[0].message.startswith(message)


def test_the_file_is_named_with_its_format(tmp_path) -> None:
    path = tmp_path / "m.txt"
    path.write_text(RANKING.replace("0.125", "high"))
    with pytest.raises(InputError, match=r"m\.txt:5:26") as error:
        opened(prediction_streams(path))
    assert "read as an AnyBURL ranking" in str(error.value)


def test_only_rankings_are_recognised() -> None:
    assert looks_like(RANKING.splitlines())
    assert not looks_like(["a p b", "Heads: p b", "c p d"])
    assert not looks_like(["a\tp\tb"])


def test_it_is_said_aloud_unless_the_format_is_given(tmp_path) -> None:
    path = tmp_path / "anyburl.gz"
    path.write_bytes(gzip.compress(RANKING.encode()))
    facts, rules = [("5", "aunt", "1"), ("76", "niece", "12")], "aunt(X, Y) <- niece(Y, X). incompatible aunt, niece."
    with pytest.warns(rulescore.RulescoreWarning, match="W361"):
        result = rulescore.score(facts, {"anyburl": path}, rules)
    assert result.model_results[0].predictions.rows == 6
    assert result.model_results[0].predictions.kept == 3
    said = rulescore.score(facts, {"anyburl": rulescore.FactFile(path, format="anyburl")}, rules)
    assert said.warnings == ()
    assert said.models == result.models


@pytest.mark.parametrize(
    ("given", "message"), [({"delimiter": ","}, "`delimiter` says nothing"), ({"predicate": "p"}, "names its")]
)
def test_what_a_format_leaves_no_choice_of_is_refused(tmp_path, given, message) -> None:
    path = tmp_path / "m.txt"
    path.write_text(RANKING)
    with pytest.raises(InputError, match="E363") as error:
        opened(prediction_streams(rulescore.FactFile(path, format="anyburl", **given)))
    assert message in str(error.value)


@pytest.mark.filterwarnings("ignore::rulescore.RulescoreWarning")
@pytest.mark.parametrize(("name", "queries", "answers"), [("family", 2000, 200_000), ("fb15k-237", None, None)])
def test_real_files_are_read_as_they_are(name: str, queries: int | None, answers: int | None) -> None:
    path = shared(f"anyburl/{name}.predictions.first{1000 if name == 'family' else 2000}.gz")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        lists = [line.removesuffix("\n").split(" ", 1)[1] for line in lines if line.startswith(("Heads: ", "Tails: "))]
    [stream] = prediction_streams(path)
    batches = [batch.rows for batch in stream.open()]
    assert sum(one.num_rows for one in batches) == sum(one.count("\t") // 2 for one in lists)
    found = {query for one in batches for query in one["query"].to_pylist()}
    assert len(found) == sum(1 for one in lists if one)
    if queries is not None:
        assert (len(found), sum(one.num_rows for one in batches)) == (queries, answers)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::rulescore.RulescoreWarning")
def test_the_accuracy_of_a_real_file_is_that_of_its_lists() -> None:
    """The sum of 1/rank, list by list: the truth's place among the answers that are neither observed nor held out."""
    path = shared("anyburl/family.predictions.first1000.gz")
    known = {
        tuple(line.split("\t"))
        for name in ("train", "test")
        for line in shared(f"family/{name}.txt").read_text(encoding="utf-8").splitlines()
    }
    total = 0.0
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = file.read().splitlines()
    for triple, *lists in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        head, relation, tail = triple.split(" ")
        for line in lists:
            mark, _, rest = line.partition(" ")
            truth = head if mark == "Heads:" else tail
            fact = (lambda one: (one, relation, tail)) if mark == "Heads:" else (lambda one: (head, relation, one))  # noqa: B023
            left = [one for one in rest.split("\t")[:-1:2] if one == truth or fact(one) not in known]
            total += 1 / (left.index(truth) + 1) if truth in left else 0.0
    rules = "a: p(X, Y) <- q(X, Y). predicate p/2. predicate q/2. closed p."
    test = shared("family/test.txt")
    result = rulescore.score(shared("family/train.txt"), {"anyburl": path}, rules, truth=test, contributions=False)
    [found] = result.accuracy_results
    assert (found.asked, found.answered) == (11_362, 2_000)
    assert found.measure("mrr").least == pytest.approx(total / 11_362)
