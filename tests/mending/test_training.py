"""The term of a loss is the exact expectation of the package's own counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from random import Random

import numpy as np
import pytest
import torch

import rulescore
from rulescore.integrations.training import ExpectedViolations
from rulescore.mending.making import candidates
from rulescore.mending.reasons import AGAINST, Reason, Reasons
from rulescore.scoring.results import RuleKind

PEOPLE = ["ann", "bob", "cid", "dora", "eve", "fay", "gus", "hal", "liv", "max", "zoe"]
FACTS = [
    ("ann", "sister", "bob"),
    ("bob", "father", "eve"),
    ("ann", "aunt", "eve"),
    ("cid", "father", "dora"),
    ("ann", "mother", "dora"),
    ("fay", "sister", "gus"),
    ("gus", "father", "hal"),
    ("fay", "mother", "hal"),
    ("hal", "sister", "eve"),
    ("eve", "likes", "hal"),
    ("liv", "sister", "max"),
    ("max", "sister", "liv"),
]
RULES = """
hard: sister(X, Y) <- sister(Y, X).
never: false <- father(X, X).
soft: aunt(X, Z) <- sister(X, Y), father(Y, Z).
own: likes(X, Y) <- hates(X, Y).
incompatible aunt, mother, sister, father.
incompatible likes, hates.
"""
RELATIONS = ["sister", "father", "mother", "aunt", "likes", "hates"]


@pytest.fixture(scope="module")
def table() -> rulescore.CandidateTable:
    return candidates(FACTS, RULES)


def term(table: rulescore.CandidateTable, **weights: float) -> ExpectedViolations:
    return ExpectedViolations(table, entities=PEOPLE, relations=RELATIONS, **weights)


def one_hot(answers: list[int]) -> torch.Tensor:
    scores = torch.full((len(answers), len(PEOPLE)), -torch.inf, dtype=torch.float64)
    scores[torch.arange(len(answers)), answers] = 0.0
    return scores


@pytest.mark.parametrize("heads", [True, False])
def test_certain_answers_have_the_package_s_sums(table: rulescore.CandidateTable, heads: bool) -> None:
    known = {(PEOPLE.index(h), RELATIONS.index(r), PEOPLE.index(t)) for h, r, t in FACTS}
    every = [
        (given, relation, answer)
        for relation in range(len(RELATIONS))
        for given in range(len(PEOPLE))
        for answer in range(len(PEOPLE))
        if ((given, relation, answer) if heads else (answer, relation, given)) not in known
    ]
    queries = torch.tensor(every)
    made = term(table, hard=1.0, soft=0.5, momentum=0.0)
    side = {"heads": queries[:, 0]} if heads else {"tails": queries[:, 0]}
    made(one_hot(queries[:, 2].tolist()), relations=queries[:, 1], **side)
    predicted = [(PEOPLE[g], RELATIONS[r], PEOPLE[a]) if heads else (PEOPLE[a], RELATIONS[r], PEOPLE[g]) for g, r, a in every]
    result = rulescore.score(FACTS, {"model": predicted}, RULES)
    hard = [rule.models["model"].counts.refuted for rule in result.rule_results if rule.kind == "hard"]
    assert made.last["hard_sum"] == sum(hard) > 0
    ratios = {
        rule.info.name: rule.models["model"].counts.rate / rule.dataset.rate
        for rule in result.rule_results
        if rule.kind == "soft" and rule.dataset.rate
    }
    assert made.last["ratios"] == pytest.approx(ratios)
    assert ratios


def test_the_gradient_is_exact(table: rulescore.CandidateTable) -> None:
    torch.manual_seed(0)
    scores = torch.randn(6, len(PEOPLE), dtype=torch.float64, requires_grad=True)
    heads, relations = torch.tensor([0, 1, 5, 7, 8, 4]), torch.tensor([0, 1, 0, 0, 1, 5])
    made = term(table, hard=1.0, soft=3.0, momentum=0.0)
    assert torch.autograd.gradcheck(lambda given: made(given, heads=heads, relations=relations), (scores,))
    assert made.last["soft"] > 0


def test_the_expectation_is_the_sum_over_answers(table: rulescore.CandidateTable) -> None:
    torch.manual_seed(1)
    scores = torch.randn(1, len(PEOPLE), dtype=torch.float64)
    made = term(table)
    found = made(scores, heads=torch.tensor([7]), relations=torch.tensor([0]))
    known = [PEOPLE.index(t) for h, r, t in FACTS if (h, r) == ("hal", "sister")]
    masked = scores[0].clone()
    masked[known] = -torch.inf
    weights = torch.softmax(masked, 0)
    expected = 0.0
    for place, person in enumerate(PEOPLE):
        if place not in known:
            counts = table.contribution("sister", "hal", person)
            expected += float(weights[place]) * sum(counts[rule].refuted for rule in ("hard", "never") if rule in counts)
    assert float(found) == pytest.approx(expected)
    assert expected > 0


def test_weights_of_zero_leave_a_run_as_it_is(table: rulescore.CandidateTable) -> None:
    def trained(with_term: bool) -> torch.Tensor:
        torch.manual_seed(2)
        weights = torch.nn.Parameter(torch.randn(len(PEOPLE), len(PEOPLE)))
        optimizer = torch.optim.Adam([weights])
        made = term(table, hard=0.0, soft=0.0)
        for _ in range(5):
            optimizer.zero_grad()
            scores = torch.nn.functional.dropout(weights, 0.3)
            loss = torch.nn.functional.cross_entropy(scores, torch.arange(len(PEOPLE)))
            if with_term:
                loss = loss + made(scores, heads=torch.arange(len(PEOPLE)), relations=torch.zeros(len(PEOPLE), dtype=torch.long))
            loss.backward()
            optimizer.step()
        return weights.detach()

    assert torch.equal(trained(True), trained(False))


def test_training_lowers_what_is_expected(table: rulescore.CandidateTable) -> None:
    scores = torch.zeros(2, len(PEOPLE), requires_grad=True)
    made, optimizer = term(table), torch.optim.SGD([scores], lr=1.0)
    found = []
    for _ in range(200):
        optimizer.zero_grad()
        loss = made(scores, heads=torch.tensor([0, 7]), relations=torch.tensor([0, 0]))
        loss.backward()
        optimizer.step()
        found.append(float(loss.detach()))
    assert found[-1] < found[0] / 2


def test_a_shuffled_table_teaches_nothing_of_the_rules() -> None:
    random = Random(0)
    people = [f"x{number}" for number in range(30)]
    pairs = random.sample(list(product(people, people)), 200)
    facts = [(head, random.choice(["sister", "father", "mother"]), tail) for head, tail in pairs]
    table = candidates(facts, "r: false <- sister(X, Y), father(Y, X). s: false <- father(X, Y), mother(Y, Z), sister(X, Z).")
    table = replace(table, rules=tuple(replace(rule, kind=RuleKind.HARD) for rule in table.rules))
    arguments = table.rows.arguments.copy()
    arguments[:, 1] = np.random.default_rng(0).permutation(arguments[:, 1])
    shuffled = replace(table, rows=replace(table.rows, arguments=arguments))
    queries = {"heads": torch.arange(30).repeat(2), "relations": torch.tensor([0, 1]).repeat_interleave(30)}

    def expected(teacher: rulescore.CandidateTable | None) -> float:
        scores = torch.zeros(60, 30, requires_grad=True)
        optimizer = torch.optim.SGD([scores], lr=300.0)
        for _ in range(0 if teacher is None else 40):
            optimizer.zero_grad()
            ExpectedViolations(teacher, entities=people, relations=["sister", "father"])(scores, **queries).backward()
            optimizer.step()
        judge = ExpectedViolations(table, entities=people, relations=["sister", "father"])
        return float(judge(scores, **queries).detach())

    plain = expected(None)
    assert expected(table) < plain / 3
    assert expected(shuffled) > 0.8 * plain


def test_a_mask_has_the_forbidden_answers(table: rulescore.CandidateTable) -> None:
    facts = set(FACTS)
    heads, relations = [p for p in PEOPLE if p != "zoe"], ["father", "sister", "aunt"]
    for relation in relations:
        mask = table.mask(heads, [relation] * len(heads), reasons=["breaks a rule"])
        names = table.constants
        for row, head in enumerate(heads):
            for column, tail in enumerate(names):
                if (head, relation, tail) in facts:
                    assert not mask[row, column]
                    continue
                counts = table.contribution(relation, head, tail)
                broken = any(counts[rule].refuted for rule in ("hard", "never") if rule in counts)
                assert bool(mask[row, column]) == broken, (head, relation, tail)
        ids = table.mask(
            torch.arange(len(PEOPLE)), torch.zeros(len(PEOPLE), dtype=torch.long), entities=PEOPLE, relation_labels=[relation]
        )
        assert isinstance(ids, torch.Tensor)
        assert ids.dtype == torch.bool


def test_every_reason_of_a_mask_is_the_reason_of_a_candidate() -> None:
    turned = "incompatible father(X, Y), mother(Y, X). incompatible likes(X, Y), sister(Y, X)."
    table = candidates(FACTS, f"{RULES}{turned}", negatives=[("eve", "likes", "bob")])
    reasons, facts, names = Reasons(table), set(FACTS), table.constants
    forbidden: Counter[tuple[str, str]] = Counter()
    for given, relation, reason in product((True, False), ("father", "sister", "aunt", "mother", "likes", "hates"), AGAINST):
        mask = table.mask(relations=[relation] * len(names), reasons=[reason], **{"heads" if given else "tails": names})
        for (row, name), (column, answer) in product(enumerate(names), enumerate(names)):
            head, tail = (name, answer) if given else (answer, name)
            if (head, relation, tail) not in facts:
                known = reasons.against(table.fact(relation, [head, tail], {}), [reason])
                assert bool(mask[row, column]) == (known is not None), (head, relation, tail, reason)
                forbidden[reason, relation] += known is not None
    assert {reason for reason, _ in forbidden.elements()} == {*AGAINST}
    assert {relation for reason, relation in forbidden.elements() if reason == Reason.TAKEN} >= {"father", "likes"}
    # A fact that is known to be false, and the facts of `sister` turned round.
    assert forbidden[Reason.TAKEN, "likes"] == 2 * (
        1 + len({(y, x) for x, name, y in FACTS if name == "sister"} - {("eve", "hal")})
    )


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.0, float("nan")], "a score is NaN"),
        ([0.0, float("inf")], "the best score of a query is infinite"),
        ([-float("inf")] * 2, "the best score of a query is infinite"),
    ],
)
def test_scores_that_are_no_distribution_are_refused(table: rulescore.CandidateTable, scores: list[float], message: str) -> None:
    batch = torch.tensor([scores + [-float("inf")] * (len(PEOPLE) - 2)])
    with pytest.raises(rulescore.InputError, match=message):
        term(table)(batch, heads=torch.tensor([0]), relations=torch.tensor([0]))


@pytest.mark.parametrize("batch", [{"heads": [len(PEOPLE)], "relations": [0]}, {"tails": [0], "relations": [-1]}])
def test_ids_that_the_term_does_not_know_are_refused(table: rulescore.CandidateTable, batch: dict[str, list[int]]) -> None:
    with pytest.raises(rulescore.InputError, match="is no id of one of"):
        term(table)(torch.zeros(1, len(PEOPLE)), **{end: torch.tensor(ids) for end, ids in batch.items()})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda scores: scores[:0], "the batch is empty"),
        (lambda scores: scores * torch.nan, "a score is NaN"),
        (lambda scores: scores[:, 1:], "do not fit 2 queries and 11 entities"),
    ],
)
def test_what_a_batch_cannot_have(table: rulescore.CandidateTable, change: object, message: str) -> None:
    scores = change(torch.zeros(2, len(PEOPLE)))  # type: ignore[operator]
    n = len(scores)
    with pytest.raises(rulescore.InputError, match=message):
        term(table)(scores, heads=torch.zeros(n, dtype=torch.long), relations=torch.zeros(n, dtype=torch.long))


def test_what_a_table_cannot_teach(table: rulescore.CandidateTable) -> None:
    soft = candidates(FACTS, "soft: aunt(X, Z) <- sister(X, Y), father(Y, Z). incompatible aunt, mother.")
    with pytest.raises(rulescore.InputError, match="no rule is hard"):
        term(soft)
    with pytest.raises(rulescore.InputError, match="no candidate would break a hard rule"):
        term(candidates(FACTS, "r: likes(X, Y) <- likes(X, Y), sister(Y, X)."))
    with pytest.raises(rulescore.InputError, match="knows none of the 2 entities, such as `x`"):
        ExpectedViolations(table, entities=["x", "y"], relations=RELATIONS)
    with pytest.raises(rulescore.InputError, match="knows none of the relations"):
        ExpectedViolations(table, entities=PEOPLE, relations=["sisters"])
    with pytest.raises(rulescore.InputError, match="the weight `hard` is nan"):
        term(table, hard=float("nan"))


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ({"heads": [], "relations": []}, "the batch is empty"),
        ({"heads": ["nobody"], "relations": ["sister"]}, "no entity `nobody`"),
        ({"heads": ["ann"], "relations": ["sisters"]}, "did you mean `sister`"),
        ({"heads": ["ann"], "relations": ["sister"], "tails": ["bob"]}, "either heads or tails"),
        ({"heads": ["ann", "bob"], "relations": ["sister"]}, "2 entities and 1 relations"),
    ],
)
def test_what_a_mask_cannot_be_asked(table: rulescore.CandidateTable, batch: dict[str, list[str]], message: str) -> None:
    with pytest.raises(rulescore.InputError, match=message):
        table.mask(**batch)


def test_a_table_of_queries_answers_these_alone() -> None:
    table = candidates(FACTS, RULES, queries=[("ann", "sister", "bob")])
    whole = candidates(FACTS, RULES)
    assert table.contribution("sister", "ann", "cid") == whole.contribution("sister", "ann", "cid")
    with pytest.raises(rulescore.InputError, match="E802"):
        table.contribution("father", "cid", "hal")
    made = term(table)
    made(torch.zeros(1, len(PEOPLE)), heads=torch.tensor([0]), relations=torch.tensor([0]))
    with pytest.raises(rulescore.InputError, match="E802"):
        made(torch.zeros(1, len(PEOPLE)), heads=torch.tensor([2]), relations=torch.tensor([1]))
