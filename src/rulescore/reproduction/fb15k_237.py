"""FB15k-237: 509 rules, and incompatible relations that are extracted from the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.arguments.truth import Truth
from rulescore.reporting.cells import share_of
from rulescore.reporting.listing import CellKind, Column, Listing
from rulescore.reproduction.comparison import Cause, Cell, Compared, Reproduction, cell, sizes
from rulescore.reproduction.fb15k_237_rules import (
    REASONS,
    TRAINED_ON_TEST,
    cause_of,
    discussed_rate,
    hard_rule_scores,
    rates_not_given,
    sampled_rates,
    soft_rule_scores,
)
from rulescore.reproduction.figures import Chart, Figure, model_figures, rates_by_place, scores_by_place
from rulescore.reproduction.files import data_files, prediction_files
from rulescore.reproduction.observed_bodies import heads_a_grounding
from rulescore.reproduction.published import Printed, agrees, published
from rulescore.reproduction.running import (
    APPENDIX,
    DEFINITION,
    accuracy,
    aggregates,
    hard_scores,
    read_columns,
    scored,
)
from rulescore.result import Result
from rulescore.scoring.accuracy import TAILS
from rulescore.scoring.results import RuleKind

NAME = "fb15k-237"
TRIPLES = ("train.txt", "valid.txt", "test.txt")
RULES = "rules.mln.txt"
EXTRACTED = "extract incompatible."
FILES = {"ExpressGNN": "expressgnn", "CompGCN": "compgcn", "AnyBURL": "anyburl", "TransE": "transe"}


def reproduce() -> Reproduction:
    data = data_files(NAME, (*TRIPLES, RULES))
    files = prediction_files(NAME, FILES)
    rules = [data[RULES], EXTRACTED]
    truth = Truth(data["test.txt"])
    by = {
        convention: scored(data["train.txt"], files, rules, convention=convention, truth=truth, kept=False)
        for convention in (APPENDIX, DEFINITION)
    }
    triples = {name: read_columns(data[name], _COLUMNS, header=False) for name in TRIPLES}
    given = published()[NAME]
    return Reproduction(
        NAME,
        "FB15k-237",
        _remarks(by),
        (
            _models(given["models"], by),
            _split(data[RULES], triples, files),
            _means(given, by[APPENDIX]),
            _kinds(by),
            discussed_rate(given["cases"], by),
            sampled_rates(given["sampled_dataset_rates"], by),
            rates_not_given(given["sampled_dataset_rates"], by[APPENDIX]),
            hard_rule_scores(given, by),
            soft_rule_scores(given["sampled_soft_rule_scores"], by),
            sizes(given["data"], _sizes(triples, by[APPENDIX]), Cause.UNKNOWN, REASONS),
        ),
        by[APPENDIX],
        _figures(given, by[APPENDIX]),
        (*data.values(), *files.values()),
        _project(data, files),
    )


_COLUMNS = ("head", "relation", "tail")


def _remarks(by: Mapping[str, Result]) -> tuple[str, ...]:
    kinds = Counter(rule.kind for rule in by[APPENDIX].rule_results)
    hard, soft, undetermined = (kinds[kind] for kind in RuleKind)
    return (
        f"{len(by[APPENDIX].rule_results)} rules of ExpressGNN; relations are incompatible if no pair of entities has both. By the "
        f"appendix, {hard} rules are hard, {soft} soft, and {undetermined} undetermined: none of their groundings over the data "
        "can be judged.",
        "Numbers are counted as the publication's appendix counts; those by its definition stand beside them.",
        "ExpressGNN trains on the test facts that it is ranked on; its rows are to be read with that.",
    )


def _models(given: Mapping[str, Any], by: Mapping[str, Result]) -> Compared:
    cells = tuple(one for name, numbers in given.items() for one in _model_cells(name, numbers, by))
    notes = (
        "all four aggregates stand beside the published two, and the mean of soft scores that is not weighed (mean of soft)",
        "ExpressGNN-tails: of tail queries alone. Observed: the published Hits@1 and MRR lie near these",
    )
    return Compared("models", "Models: published numbers beside ours", "model", cells, REASONS, notes)


def _model_cells(model: str, numbers: Mapping[str, Any], by: Mapping[str, Result]) -> Iterator[Cell]:
    on_test = model == TRAINED_ON_TEST
    rows = ((model, None), (f"{model}-tails", TAILS)) if on_test else ((model, None),)
    for row, part in rows:
        for key, metric, title in (("hits@1", "hits_at_1", "Hits@1"), ("mrr", "mrr", "MRR")):
            ours = accuracy(by[APPENDIX], model, metric, part)
            yield cell(row, title, numbers[key], ours, cause_of(model, Cause.PREDICTIONS), CellKind.RATE)
    appendix, definition = (aggregates(by[convention], model) for convention in (APPENDIX, DEFINITION))
    for key, name, title, cause in (
        ("soft", "soft", "RVS soft", Cause.AVERAGING),
        ("soft", "soft_mean", "soft mean", Cause.AVERAGING),
        ("soft", "plain_mean", "mean of soft", Cause.PREDICTIONS),
        ("hard", "hard", "RVS hard", Cause.AVERAGING),
        ("hard", "hard_mean", "hard mean", Cause.UNKNOWN),
    ):
        yield cell(model, title, numbers[key], appendix[name], cause_of(model, cause), by_definition=definition[name])


def _split(rules: Path, triples: Mapping[str, pa.Table], files: Mapping[str, Path]) -> Listing:
    """Models that answer every query: on the test facts for which some rule of ExpressGNN has an observed body atom, and on the
    others. A model that never sees test facts has no reason to know the first better by a factor of sixty."""
    heads = heads_a_grounding(rules, triples["train.txt"], triples["test.txt"])
    both = pa.concat_arrays([heads, heads])
    columns = (
        Column("model", "model"),
        Column("test_facts", "test facts"),
        Column("number", "number", CellKind.COUNT),
        Column("mrr", "MRR", CellKind.RATE),
        Column("hits_at_1", "Hits@1", CellKind.RATE),
    )
    rows = []
    for model, path in files.items():
        ranks = read_columns(path, ("rank_of_truth",))["rank_of_truth"].combine_chunks().cast(pa.float64())
        if len(ranks) != len(both):
            continue
        for title, mask in (("head a grounding", both), ("head none", pc.invert(both))):
            chosen = pc.filter(ranks, mask)
            # A truth that was not found has a rank below 1.
            reciprocal = pc.if_else(pc.less(chosen, 1), 0.0, pc.divide(1.0, chosen))
            hits = pc.mean(pc.equal(chosen, 1).cast(pa.float64())).as_py()
            rows.append((model, title, len(chosen) // 2, pc.mean(reciprocal).as_py(), hits))
    notes = (
        "head a grounding: a rule with the fact's relation in its head has a body atom that a training fact matches. ExpressGNN "
        "takes the heads of its groundings from the test facts, and so trains on these and on no others",
        "models that rank every query; the MRR of the others falls far less",
    )
    title = "ExpressGNN trains on test facts: those that head a grounding, and those that head none"
    return Listing("split", title, columns, tuple(rows), notes=notes)


def _means(given: Mapping[str, Any], result: Result) -> Listing:
    """How the published means of hard scores come about, and what ours are."""
    columns = (
        Column("model", "model"),
        Column("published", "published"),
        Column("violations", "violations", CellKind.COUNT),
        Column("hard_rules", "hard rules", CellKind.COUNT),
        Column("with_groundings", "with groundings", CellKind.COUNT),
        Column("hard_score", "RVS hard", CellKind.SCORE),
        Column("hard_mean", "hard mean", CellKind.SCORE),
    )
    hard = [rule for rule in result.rule_results if rule.kind is RuleKind.HARD]
    rows = []
    for model in FILES:
        numbers = given["models"].get(model)
        scores = given["hard_rule_scores"].get(model)
        text = "–" if numbers is None else str(numbers["hard"])
        if scores is not None and any(scores):
            text += f" = {sum(scores)}/{_divisor(sum(scores), numbers['hard'])}"
        found = aggregates(result, model)
        violations = sum(hard_scores(result, model))
        with_groundings = sum(rule.models[model].counts.evaluable > 0 for rule in hard)
        rows.append((model, text, violations, len(hard), with_groundings, found["hard"], found["hard_mean"]))
    notes = (
        "published = the sum of the 18 published scores over the one number of rules up to 18 that gives the published mean",
        "violations, hard rules and what follows are ours, by the appendix",
    )
    return Listing("hard_means", "Means of hard scores", columns, tuple(rows), notes=notes)


def _divisor(total: int, mean: Printed) -> int | None:
    return next((number for number in range(1, 19) if agrees(mean, total / number)), None)


def _kinds(by: Mapping[str, Result]) -> Listing:
    columns = (
        Column("convention", "convention"),
        *(Column(kind.value, kind.value, CellKind.COUNT) for kind in RuleKind),
        Column("model", "model"),
        Column("violating", "violating predictions", CellKind.COUNT),
    )
    rows: list[tuple[int | str, ...]] = []
    for convention, result in by.items():
        kinds = Counter(rule.kind for rule in result.rule_results)
        numbers = [kinds[kind] for kind in RuleKind]
        for model in result.model_results:
            rows.append((convention, *numbers, model.name, share_of(model.violating or 0, model.predictions.distinct)))
    notes = ("violating predictions: distinct ones that violate a hard rule; 18 hard rules were published",)
    return Listing("kinds", "Rules by kind, and violating predictions", columns, tuple(rows), notes=notes)


def _sizes(triples: Mapping[str, pa.Table], result: Result) -> dict[str, int]:
    rows = pa.concat_tables(triples.values())
    entities = pa.concat_arrays([rows[side].combine_chunks() for side in ("head", "tail")])
    return {
        "entities": pc.count_distinct(entities).as_py(),
        "relations": pc.count_distinct(rows["relation"]).as_py(),
        "triples": result.summary.facts,
        "test": triples["test.txt"].num_rows,
        "rules": len(result.rule_results),
    }


def _figures(given: Mapping[str, Any], result: Result) -> tuple[Figure, ...]:
    models = model_figures(given["models"])
    return (
        rates_by_place(result, given["sampled_dataset_rates"]),
        scores_by_place("hard_rules", result, RuleKind.HARD, given["hard_rule_scores"], highest=True),
        scores_by_place("soft_rules", result, RuleKind.SOFT, given["sampled_soft_rule_scores"]),
        Figure("models", Chart.MODELS, result, models),
        Figure("tradeoff", Chart.TRADEOFF, result, models),
    )


def _project(data: Mapping[str, Path], files: Mapping[str, Path]) -> dict[str, str]:
    models = "\n".join(f'{name} = "{path.resolve().as_posix()}"' for name, path in files.items())
    text = f"""\
# Written by `rulescore reproduce fb15k-237`.
facts = "{data["train.txt"].resolve().as_posix()}"
rules = ["{data[RULES].resolve().as_posix()}", "incompatible.rules"]

[predictions]
{models}

[scoring]
convention = "appendix"

[truth]
path = "{data["test.txt"].resolve().as_posix()}"
"""
    return {"rulescore.toml": text, "incompatible.rules": f"{EXTRACTED}\n"}
