"""FB15k-237: 509 rules, incompatible relations that are extracted from the graph, and the rates of rules that the publication does
not name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.arguments.truth import Truth
from rulescore.reporting.listing import CellKind, Column, Listing, share_of
from rulescore.reproduction.comparison import (
    APPENDIX,
    DEFINITION,
    Cause,
    Cell,
    Compared,
    Reason,
    Reproduction,
    accuracy,
    aggregates,
    cell,
    hard_scores,
    read_columns,
    scored,
    sizes,
    soft_scores,
)
from rulescore.reproduction.figures import Chart, Figure, model_figures, rates_by_place, scores_by_place
from rulescore.reproduction.published import Printed, agrees, data_files, heads_a_grounding, prediction_files, published
from rulescore.scoring.evaluation import TAILS
from rulescore.scoring.results import RuleKind, RuleResult
from rulescore.session.result import Result

TRAINED_ON_TEST = "ExpressGNN"

# The rule that the publication discusses: administrative_parent(X, Y) <- contains(Y, X).
_CASE = "`/base/aareas/schema/administrative_area/administrative_parent`(B, A) <- `/location/location/contains`(A, B)"

_PROJECT = "rulescore reproduce fb15k-237 --output fb15k-237"
_SCORE = f"{_PROJECT}; rulescore score fb15k-237/rulescore.toml --table"
_AUDIT = f"{_PROJECT}; rulescore audit fb15k-237/rulescore.toml"
REASONS = {
    Cause.PREDICTIONS: Reason("the models were trained again, and answer differently", f"{_SCORE} accuracy"),
    Cause.AVERAGING: Reason(
        "the published numbers are means over the soft rules, and over those hard rules that have evaluable groundings: 49.8 is "
        "847/17 and 1.44 is 13/9, of 18 hard rules; RVS soft is a sum weighed by shares of all groundings, RVS hard a mean over "
        "all hard rules",
        f"{_SCORE} models",
    ),
    Cause.TEST_FACTS: Reason(
        "ExpressGNN trains on the test facts that it is ranked on: see the table of test facts that head a grounding",
        "rulescore reproduce fb15k-237",
    ),
    Cause.UNKNOWN: Reason(
        "18 rules were published as hard, and the public files give more: no reading of them gives the published rates; the "
        "predictions differ, too",
        f"{_AUDIT} --rate 0..0",
    ),
}


def cause_of(model: str, cause: Cause) -> Cause:
    return Cause.TEST_FACTS if model == TRAINED_ON_TEST else cause


def discussed_rate(printed: Mapping[str, Any], by: Mapping[str, Result]) -> Compared:
    (number,) = printed.values()
    rules = [_rule(by[convention]) for convention in (APPENDIX, DEFINITION)]
    dataset = rules[0].dataset
    rate_cell = cell(
        "administrative_parent(X, Y) <- contains(Y, X)",
        "rate",
        number,
        dataset.rate,
        Cause.UNKNOWN,
        CellKind.RATE,
        rules[1].dataset.rate,
    )
    command = f'{_PROJECT}; rulescore violations fb15k-237/rulescore.toml --dataset --rule "{rules[0].info.name}"'
    reasons = {Cause.UNKNOWN: Reason(f"the public files give {dataset.refuted:,} refuted of {dataset.evaluable:,}", command)}
    return Compared("cases", "The dataset rate that the publication discusses", "rule", (rate_cell,), reasons)


def _rule(result: Result) -> RuleResult:
    return next(rule for rule in result.rule_results if rule.info.text == _CASE)


def sampled_rates(printed: Sequence[Printed], by: Mapping[str, Result]) -> Compared:
    appendix, definition = (_rates(by[convention]) for convention in (APPENDIX, DEFINITION))
    cells = tuple(
        cell(
            f"sampled rule {position}",
            "rate",
            number,
            nearest(number, appendix),
            Cause.UNKNOWN,
            CellKind.RATE,
            nearest(number, definition),
        )
        for position, number in enumerate(printed, 1)
    )
    columns = (
        Column("rate", "published rate", CellKind.VALUE),
        Column("times", "sampled rules", CellKind.COUNT),
        Column("appendix", "our rules with it", CellKind.COUNT),
        Column("definition", "by definition", CellKind.COUNT),
        Column("nearest", "our nearest rate", CellKind.RATE),
        Column("class", "class"),
    )
    rows = tuple(
        (
            str(number),
            times,
            sum(agrees(number, rate) for rate in appendix),
            sum(agrees(number, rate) for rate in definition),
            nearest(number, appendix),
            next(cell.cause.value for cell in cells if cell.published == number),
        )
        for number, times in sorted(Counter(printed).items())
    )
    title = "Dataset rates of 30 sampled rules"
    notes = ("the publication does not name the sampled rules: a rate is the same if a rule of ours has it",)
    reasons = {Cause.UNKNOWN: Reason("no rule has this rate over the public files, by either convention", _AUDIT)}
    return Compared(
        "sampled_dataset_rates", title, "rule", cells, reasons, notes, Listing("sampled_dataset_rates", title, columns, rows)
    )


def rates_not_given(printed: Sequence[Printed], result: Result) -> Listing:
    """Published rates that no rule has, each with our rules whose rates come closest."""
    columns = (
        Column("published", "published rate", CellKind.VALUE),
        Column("rule", "our rule"),
        Column("refuted", "refuted", CellKind.COUNT),
        Column("evaluable", "evaluable", CellKind.COUNT),
        Column("rate", "rate", CellKind.RATE),
        Column("text", "text", CellKind.CODE),
    )
    rates = _rates(result)
    rows = []
    for number in sorted({number for number in printed if not any(agrees(number, rate) for rate in rates)}):
        close = nearest(number, [rate for rate in rates if rate])
        named = [_rule(result)] if agrees(number, 0.88) else [rule for rule in result.rule_results if rule.dataset.rate == close]
        for rule in named:
            rows.append(
                (str(number), rule.info.name, rule.dataset.refuted, rule.dataset.evaluable, rule.dataset.rate, rule.info.text)
            )
    notes = ("the rule of 0.88 is named in the publication; for the others, the soft rules of ours whose rate is nearest",)
    return Listing(
        "rates_not_given", "Published rates that the public files do not give, with our counts", columns, tuple(rows), notes=notes
    )


def hard_rule_scores(printed: Mapping[str, Any], by: Mapping[str, Result]) -> Compared:
    """Rates in falling order, since the publication does not name the rules."""
    cells, columns, scores = [], [Column("position", "place", CellKind.COUNT)], []
    for model, numbers in printed["hard_rule_scores"].items():
        falling = sorted(numbers, reverse=True)
        appendix, definition = (sorted(hard_scores(by[convention], model), reverse=True) for convention in (APPENDIX, DEFINITION))
        cause = cause_of(model, Cause.UNKNOWN)
        for place, number in enumerate(falling):
            row = f"{model}, place {place + 1}"
            cells.append(cell(row, "score", number, appendix[place], cause, CellKind.COUNT, definition[place]))
        columns += [Column(f"{model} published", f"{model} published", CellKind.COUNT), Column(model, model, CellKind.COUNT)]
        scores += [falling, appendix[: len(falling)]]
    drawn = printed["drawn_at"]
    title = "Scores of hard rules, in falling order"
    notes = (
        "the publication does not name its 18 hard rules, so scores stand in falling order; ours are the highest, by the appendix",
        f"rule {drawn['position']} of {drawn['model']} is drawn cut at {drawn['drawn']} in the publication; its value is 769",
    )
    rows = tuple((place, *row) for place, row in enumerate(zip(*scores, strict=True), 1))
    return Compared(
        "hard_rule_scores", title, "model", tuple(cells), REASONS, notes, Listing("hard_rule_scores", title, tuple(columns), rows)
    )


def soft_rule_scores(printed: Mapping[str, Sequence[Printed]], by: Mapping[str, Result]) -> Compared:
    title = "Scores of 30 sampled soft rules"
    cells: list[Cell] = []
    rows: list[tuple[int | float | str | None, ...]] = []
    largest = 1 / min(rate for rate in _rates(by[APPENDIX]) if rate)
    for model, numbers in printed.items():
        appendix, definition = (soft_scores(by[convention], model) for convention in (APPENDIX, DEFINITION))
        ours, others = ([score for score in scores if score is not None] for scores in (appendix, definition))
        left = Counter({number: sum(agrees(number, score) for score in ours) for number in set(numbers)})
        of_model = []
        for position, number in enumerate(numbers, 1):
            closest = None if not number and not left[number] else nearest(number, ours)
            left[number] -= 1
            cause = Cause.UNKNOWN if not number or number > largest else cause_of(model, Cause.PREDICTIONS)
            row = f"{model}, sampled rule {position}"
            of_model.append(cell(row, "score", number, closest, cause, by_definition=nearest(number, others)))
        cells += of_model
        for number, times in sorted(Counter(numbers).items()):
            causes = Counter(cell.cause.value for cell in of_model if cell.published == number)
            text = ", ".join(causes if len(causes) == 1 else (f"{cause} {n}" for cause, n in causes.items()))
            with_it = sum(agrees(number, score) for score in ours)
            rows.append((model, str(number), times, with_it, len(ours), appendix.count(None), nearest(number, ours), text))
    columns = (
        Column("model", "model"),
        Column("score", "published score", CellKind.VALUE),
        Column("times", "sampled rules", CellKind.COUNT),
        Column("appendix", "our rules with it", CellKind.COUNT),
        Column("scored", "of scored", CellKind.COUNT),
        Column("unscored", "without a score", CellKind.COUNT),
        Column("nearest", "our nearest", CellKind.SCORE),
        Column("class", "class"),
    )
    notes = ("the publication does not name the sampled rules: a score is the same if a soft rule of ours has it",)
    command = f"{_SCORE} rules --format csv"
    unknown = (
        "a published 0 may stand for a rule without evaluable groundings, which has no score here; and no predictions at all could "
        f"give more than {largest:.1f} over the public files, since a score is at most 1 over the dataset rate"
    )
    reasons = {
        Cause.PREDICTIONS: Reason("the models were trained again, and answer differently", command),
        Cause.TEST_FACTS: REASONS[Cause.TEST_FACTS],
        Cause.UNKNOWN: Reason(unknown, command),
    }
    wide = Listing("soft_rule_scores", title, columns, tuple(rows))
    return Compared("sampled_soft_rule_scores", title, "model", tuple(cells), reasons, notes, wide)


def _rates(result: Result) -> list[float]:
    return [rule.dataset.rate for rule in result.rule_results if rule.dataset.rate is not None]


def nearest(number: Printed, ours: Sequence[float]) -> float | None:
    return min(ours, key=lambda value: abs(value - float(number)), default=None)


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
    printed = published()[NAME]
    return Reproduction(
        NAME,
        "FB15k-237",
        _remarks(by),
        (
            _models(printed["models"], by),
            _split(data[RULES], triples, files),
            _means(printed, by[APPENDIX]),
            _kinds(by),
            discussed_rate(printed["cases"], by),
            sampled_rates(printed["sampled_dataset_rates"], by),
            rates_not_given(printed["sampled_dataset_rates"], by[APPENDIX]),
            hard_rule_scores(printed, by),
            soft_rule_scores(printed["sampled_soft_rule_scores"], by),
            sizes(printed["data"], _sizes(triples, by[APPENDIX]), Cause.UNKNOWN, REASONS),
        ),
        by[APPENDIX],
        _figures(printed, by[APPENDIX]),
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
        "Numbers are counted as the publication's appendix counts; numbers by its definition stand next to them.",
        "ExpressGNN trains on the test facts that it is ranked on; its rows are to be read with that.",
    )


def _models(printed: Mapping[str, Any], by: Mapping[str, Result]) -> Compared:
    cells = tuple(cell for name, numbers in printed.items() for cell in _model_cells(name, numbers, by))
    notes = (
        "all four aggregates stand next to the published two, with the unweighed mean of soft scores (mean of soft)",
        "ExpressGNN-tails: of tail queries alone. Observed: the published Hits@1 and MRR are close to these numbers",
    )
    return Compared("models", "Models: published numbers and ours", "model", cells, REASONS, notes)


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
    """Accuracy of models that answer every query, on two parts of the test facts: the facts for which some rule of ExpressGNN has
    an observed body atom, and the others. A model that never sees test facts has no reason to be sixty times better on the first
    part."""
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
            # In this file, a rank below 1 marks a truth that was not found.
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


def _means(printed: Mapping[str, Any], result: Result) -> Listing:
    """How the published means of hard scores are made, with our means."""
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
        numbers = printed["models"].get(model)
        scores = printed["hard_rule_scores"].get(model)
        text = "–" if numbers is None else str(numbers["hard"])
        if scores is not None and any(scores):
            text += f" = {sum(scores)}/{_divisor(sum(scores), numbers['hard'])}"
        means = aggregates(result, model)
        violations = sum(hard_scores(result, model))
        with_groundings = sum(rule.models[model].counts.evaluable > 0 for rule in hard)
        rows.append((model, text, violations, len(hard), with_groundings, means["hard"], means["hard_mean"]))
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


def _figures(printed: Mapping[str, Any], result: Result) -> tuple[Figure, ...]:
    models = model_figures(printed["models"])
    return (
        rates_by_place(result, printed["sampled_dataset_rates"]),
        scores_by_place("hard_rules", result, RuleKind.HARD, printed["hard_rule_scores"], highest=True),
        scores_by_place("soft_rules", result, RuleKind.SOFT, printed["sampled_soft_rule_scores"]),
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
