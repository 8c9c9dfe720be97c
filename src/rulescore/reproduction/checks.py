"""The four properties that the publication claims of the score, P1 to P4, each as a check that can fail."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose

import pyarrow as pa
import pyarrow.parquet

from rulescore.arguments.tables import Table
from rulescore.reporting.listing import Column, Listing, Tone, counted
from rulescore.reproduction import family, real_estate
from rulescore.reproduction.comparison import Reproduction, read_columns, read_lines, scored
from rulescore.reproduction.published import data_files, prediction_files
from rulescore.scoring.results import RuleKind
from rulescore.session.result import Result


@dataclass(frozen=True, slots=True)
class Check:
    """A property, our test of it, and what we found."""

    name: str
    claim: str
    found: str
    holds: bool


Rows = list[tuple[str, ...]]


def run_checks(reproductions: Mapping[str, Reproduction]) -> list[Check]:
    """`reproductions`: the experiments by their names. A check uses their results, or scores anew."""
    family = reproductions["family"].result
    return [*_labels(), *_kinds(family), *_rates(family), _one_command(list(reproductions.values()))]


def checks_listing(checks: Sequence[Check]) -> Listing:
    columns = (Column("check", "check"), Column("claim", "claim"), Column("found", "found"), Column("holds", "holds"))
    rows = tuple((check.name, check.claim, check.found, "yes" if check.holds else "no") for check in checks)
    tones = {(row, 3): Tone.GOOD if check.holds else Tone.BAD for row, check in enumerate(checks)}
    return Listing("checks", "P1 to P4 of the publication, checked", columns, rows, tones=tones)


def _labels() -> Iterator[Check]:
    """P1: the scores read no label of the test set."""
    claim = "scores never read test labels: permuted labels change nothing but accuracy"
    yield _unchanged("P1, test facts of Family", claim, _family_by_labels())
    yield _unchanged("P1, hidden prices of Nantes", claim, _sales_by_labels())


def _unchanged(name: str, claim: str, results: tuple[Result, Result]) -> Check:
    first, second = results
    same = first.rule_results == second.rule_results and first.contributions.equals(second.contributions)
    same = same and _scores(first) == _scores(second)
    moved = first.accuracy_results != second.accuracy_results
    rows = counted(first.contributions.num_rows, "contribution")
    text = f"{rows} and all scores of {counted(len(first.model_results), 'model')} are {'the same' if same else 'others'}"
    return Check(name, claim, f"{text}; accuracy is {'another' if moved else 'the same'}", same and moved)


def _scores(result: Result) -> list[tuple[float | None, ...]]:
    measures = [(model.hard_score, model.soft_score, model.hard_mean, model.soft_mean) for model in result.model_results]
    return [tuple(measure.value for measure in of_model) for of_model in measures]


def _family_by_labels() -> tuple[Result, Result]:
    data = data_files(family.NAME, (*family.TRIPLES, family.RULES))
    # We pass predictions without ranks, since the labels give the ranks.
    predictions = {
        model: read_columns(path, ("head", "relation", "tail"))
        for model, path in prediction_files(family.NAME, {"AnyBURL": "anyburl", "CompGCN": "compgcn"}).items()
    }
    test: Rows = [tuple(line.split("\t")) for line in read_lines(data["test.txt"])]
    permuted = [(*row[:2], other[2]) for row, other in zip(test, [*test[1:], test[0]], strict=True)]
    rules = family.rule_text(data[family.RULES])
    first, second = (scored(data["train.txt"], predictions, rules, truth=labels) for labels in (test, permuted))
    return first, second


def _sales_by_labels() -> tuple[Result, Result]:
    """The labels stand in the table that is scored."""
    sales = data_files(real_estate.DATA_SET, (real_estate.SALES,))[real_estate.SALES]
    files = prediction_files(real_estate.DATA_SET, {"GraphSAGE": "graphsage", "hidden": "hidden"})
    hidden = files.pop("hidden")
    rows = pyarrow.parquet.read_table(sales)
    prices = dict(zip(rows["id"].to_pylist(), rows["price"].to_pylist(), strict=True))
    ids = [int(id_) for id_ in read_columns(hidden, ("id",))["id"].to_pylist()]
    permuted = prices | dict(zip(ids, [prices[id_] for id_ in reversed(ids)], strict=True))
    results = []
    for labels in (prices, permuted):
        column = pa.array([labels[id_] for id_ in rows["id"].to_pylist()], rows.schema.field("price").type)
        changed = rows.set_column(rows.schema.get_field_index("price"), "price", column)
        table = Table(changed, key="id", target="price", hidden={"path": hidden}, derived=real_estate.DERIVED)
        truth = {id_: float(labels[id_]) for id_ in ids}
        results.append(scored(None, files, real_estate.rule_text((1.0,)), tables={"sale": table}, truth=truth))
    return results[0], results[1]


def _kinds(result: Result) -> Iterator[Check]:
    """P2: the score of a hard rule counts violations, and the score of a soft rule compares with the data. Both come from the same
    contributions."""
    hard = [rule for rule in result.rule_results if rule.kind is RuleKind.HARD]
    soft = [rule for rule in result.rule_results if rule.kind is RuleKind.SOFT]
    sums = _sums(result)
    counts = [
        rule.models[model.name].score.value == sums[model.name, rule.info.name][0]
        for rule in hard
        for model in result.model_results
    ]
    apart = all(rule.dataset.rate == 0 for rule in hard) and all(rule.dataset.rate for rule in soft)
    models = counted(len(result.model_results), "model")
    text = f"{len(hard)} hard rules score their violations, {counted(len(counts), 'score')} of {models}; "
    claim = "hard and soft rules, each in its own way"
    yield Check(
        "P2, kinds", claim, text + f"{len(soft)} soft rules have a rate above 0", apart and all(counts) and bool(hard and soft)
    )


def _rates(result: Result) -> Iterator[Check]:
    """P3: a soft rule's score is the predictions' rate over the data's rate."""
    claim = "a soft score is the rate of the predictions over the rate of the data"
    sums, seen, right = _sums(result), 0, True
    for rule in (rule_result for rule_result in result.rule_results if rule_result.kind is RuleKind.SOFT):
        for model in result.model_results:
            refuted, evaluable = sums[model.name, rule.info.name]
            score = rule.models[model.name].score.value
            expected = None if not evaluable else refuted / evaluable / (rule.dataset.refuted / rule.dataset.evaluable)
            seen += score is not None
            right &= score == expected if score is None or expected is None else isclose(score, expected, rel_tol=1e-12)
    yield Check("P3, arithmetic", claim, f"{counted(seen, 'score')} made again from single contributions", right and seen > 0)
    yield _as_often(claim)


def _as_often(claim: str) -> Check:
    """We pass observed facts as predictions. All facts of the one body atom together break the rule exactly as often as the data
    do. Facts whose head is refuted always break it; facts whose head is confirmed never do."""
    data = data_files(family.NAME, ("train.txt",))
    facts: Rows = [tuple(line.split("\t")) for line in read_lines(data["train.txt"])]
    relations = defaultdict(set)
    for head, relation, tail in facts:
        relations[head, tail].add(relation)
    sons = [row for row in facts if row[1] == "son"]
    # father(X, Y) <- son(Y, X): the head of son(y, x) is about the pair (x, y).
    judged = [(row, relations[row[2], row[0]]) for row in sons]
    refuted = [row for row, judgement in judged if judgement and "father" not in judgement]
    confirmed = [row for row, judgement in judged if judgement == {"father"}]
    rules = f"father(X, Y) <- son(Y, X). incompatible {', '.join(sorted({row[1] for row in facts}))}."
    result = scored(facts, {"all": sons, "refuted": refuted, "confirmed": confirmed}, rules)
    (rule,) = result.rule_results
    scores = {model: of_model.score.value for model, of_model in rule.models.items()}
    rate = rule.dataset.rate or 0
    text = f"father(X, Y) <- son(Y, X), rate {rate:.4f}: all observed sons as predictions score {scores['all']:g}, those refuted "
    text += f"{scores['refuted']:.3f}, those confirmed {scores['confirmed']:g}"
    holds = scores["all"] == 1 and isclose(scores["refuted"] or 0, 1 / rate) and scores["confirmed"] == 0
    return Check("P3, observed facts", claim, text, holds)


def _one_command(reproductions: Sequence[Reproduction]) -> Check:
    """P4: scores exist for graphs with given and with extracted incompatibilities and for a table, and for embeddings, rules,
    networks and regressors."""
    models = {(part.name, model.name) for part in reproductions for model in part.result.model_results}
    scored_ones = {
        (part.name, model.name)
        for part in reproductions
        for model in part.result.model_results
        if not model.unmeasured and (model.hard_score.value is not None or model.soft_score.value is not None)
    }
    texts = [
        f"{part.name}: {counted(len(part.result.rule_results), 'rule')}, {counted(len(part.result.model_results), 'model')}"
        for part in reproductions
    ]
    claim = "any data and any model, by one command"
    return Check("P4, `rulescore reproduce all`", claim, "; ".join(texts), models == scored_ones and len(reproductions) == 3)


def _sums(result: Result) -> dict[tuple[str, str], tuple[int, int]]:
    """Refuted and evaluable groundings by model and rule, added up from contributions."""
    sums: dict[tuple[str, str], tuple[int, int]] = defaultdict(lambda: (0, 0))
    columns = (result.contributions[name].to_pylist() for name in ("model", "rule", "refuted", "evaluable"))
    for model, rule, refuted, evaluable in zip(*columns, strict=True):
        before = sums[model, rule]
        sums[model, rule] = (before[0] + refuted, before[1] + evaluable)
    return sums
