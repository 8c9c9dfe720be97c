"""Real estate: the four published proximity rules over public sales. The published data are restricted, and these are others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from rulescore.accuracy.metrics import MEAN_ABSOLUTE_ERROR, R_SQUARED, REGRESSION, measure_accuracy
from rulescore.arguments.tables import Table
from rulescore.reporting.listing import CellKind, Column, Listing
from rulescore.reproduction.comparison import (
    Cause,
    Cell,
    Compared,
    Reason,
    Reproduction,
    accuracy,
    cell,
    read_columns,
    scored,
    sizes,
)
from rulescore.reproduction.figures import Chart, Figure, model_figures, table_of
from rulescore.reproduction.published import data_files, prediction_files, published
from rulescore.scoring.results import ModelResult, RuleResult
from rulescore.scoring.score import score
from rulescore.session.result import Result

NAME, DATA_SET, SALES = "real-estate", "dvf-nantes", "sales.parquet"
HIDDEN = "hidden"
FILES = {"GraphSAGE": "graphsage", "boosting": "boosting", "nearest-neighbours": "knn"}
FACTORS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0)
"""The factors of the tolerances for the curve; we compare published numbers with factor 1."""

R2, MAE = R_SQUARED.name, MEAN_ABSOLUTE_ERROR.name
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Premises:
    """A kind of premises: the column that measures its price, the unit, and how far two prices may lie apart, in euros."""

    measure: str
    unit: str
    tolerance: int


KINDS = {
    "house": Premises("price_per_m2", "m²", 1_500),
    "apartment": Premises("price_per_m2", "m²", 1_500),
    "outbuilding": Premises("price_per_unit", "outbuilding", 20_000),
    "industrial": Premises("price_per_m2", "m²", 3_000),
}
DERIVED = {"price_per_m2": "price / surface", "price_per_unit": "price / n_outbuildings"}

_PROJECT = "rulescore reproduce real-estate --output real-estate"
_REASONS = {
    Cause.DATA: Reason(
        "the published data, DV3F, are restricted: these are public sales of another place, and models and tolerances are ours",
        f"{_PROJECT}; rulescore score real-estate/rulescore.toml --detail",
    )
}


def reproduce() -> Reproduction:
    sales = data_files(DATA_SET, (SALES,))[SALES]
    files = prediction_files(DATA_SET, {**FILES, HIDDEN: HIDDEN})
    hidden = files.pop(HIDDEN)
    prices = _hidden_prices(sales, hidden)
    table = Table(sales, key="id", target="price", hidden={"path": hidden}, derived=DERIVED)
    result = scored(None, files, rule_text(FACTORS), tables={"sale": table}, truth=prices, kept=False)
    at = {factor: _at(result, factor) for factor in FACTORS}
    rules, models = at[1.0]
    compared = replace(result, rule_results=tuple(rules.values()), model_results=tuple(models.values()))
    printed = published()[NAME]
    return Reproduction(
        NAME,
        "Real estate: the four rules over public sales in Nantes",
        _remarks(),
        (
            _models(printed["models"], result, at[1.0]),
            _ours(result, at[1.0], files, prices),
            _rates(printed["dataset_rates"], at[1.0][0]),
            _curve(at),
            sizes(printed["data"], _sizes(result), Cause.DATA, _REASONS),
        ),
        compared,
        _figures(printed, compared, _points(at)),
        (sales, hidden, *files.values()),
        _project(sales, hidden, files),
    )


def rule_text(factors: Sequence[float]) -> str:
    """The four rules for each tolerance."""
    return "\n".join(_rule(name, kind, factor) for factor in factors for name, kind in KINDS.items()) + "\n"


def rule_name(kind: str, factor: float) -> str:
    return f"near-{kind}" if factor == 1 else f"near-{kind} × {factor:g}"


def _rule(name: str, kind: Premises, factor: float) -> str:
    sale = f'type: "{name}", postal_code: Z, year: Y, {kind.measure}'
    head = f'"{rule_name(name, factor)}": abs(P - Q) <= {kind.tolerance * factor:g}'
    return f"{head} <- sale(id: A, {sale}: P), sale(id: B, {sale}: Q), A != B."


def _hidden_prices(sales: Path, hidden: Path) -> dict[int, float]:
    ids = {int(id_) for id_ in read_columns(hidden, ("id",))["id"].to_pylist()}
    rows = pyarrow.parquet.read_table(sales, columns=["id", "price"])
    pairs = zip(rows["id"].to_pylist(), rows["price"].cast(pa.float64()).to_pylist(), strict=True)
    return {number: price for number, price in pairs if number in ids}


Scored = tuple[dict[str, RuleResult], dict[str, ModelResult]]
"""The four rules by their kinds of premises, and the models by those rules alone."""


def _at(result: Result, factor: float) -> Scored:
    """The result that the rules of one tolerance alone would give. We compute it from their counts."""
    names = {rule_name(kind, factor): kind for kind in KINDS}
    rules = [rule for rule in result.rule_results if rule.info.name in names]
    models = {model.name: [rule.models[model.name].counts for rule in rules] for model in result.model_results}
    predictions = {model.name: model.predictions for model in result.model_results}
    scored_rules, aggregated = score([rule.info for rule in rules], [rule.dataset for rule in rules], models, predictions)
    return {names[rule.info.name]: rule for rule in scored_rules}, {model.name: model for model in aggregated}


def _remarks() -> tuple[str, ...]:
    tolerances = ", ".join(f"{kind.tolerance:,} euros per {kind.unit} ({name})" for name, kind in KINDS.items())
    return (
        "This is no reproduction of the published experiment: its data, DV3F, are restricted. The same four rules, that premises "
        "of one kind sold in one postal code and one year cost much the same, are scored over public sales. Numbers of both stand "
        "side by side for orientation, and no difference says anything about either.",
        f"ε, how far two prices may lie apart: {tolerances}. The published ε is not known; the table of the curve varies ours.",
    )


def _models(printed: Mapping[str, Any], result: Result, at: Scored) -> Compared:
    cells = tuple(cell for model, numbers in printed.items() for cell in _model_cells(model, numbers, result, at))
    notes = (
        "MAE in thousands of euros, by which the published ones are read; RVS of each kind of premises and of all together",
        "there are no predictions of Rel-LLM for these sales",
    )
    return Compared("models", "Models: published numbers of DV3F, ours of Nantes", "model", cells, _REASONS, notes)


def _model_cells(model: str, numbers: Mapping[str, Any], result: Result, at: Scored) -> Iterator[Cell]:
    rules, models = at
    mae = accuracy(result, model, MAE)
    yield cell(model, "R²", numbers["r2"], accuracy(result, model, R2), Cause.DATA, CellKind.RATE)
    yield cell(model, "MAE", numbers["mae"], None if mae is None else mae / 1000, Cause.DATA)
    for kind in KINDS:
        of_model = rules[kind].models.get(model)
        yield cell(model, f"RVS {kind}", numbers[kind], None if of_model is None else of_model.score.value, Cause.DATA)
    together = models.get(model)
    yield cell(model, "RVS together", numbers["aggregate"], None if together is None else together.soft_score.value, Cause.DATA)


def _ours(result: Result, at: Scored, files: Mapping[str, Path], prices: Mapping[int, float]) -> Listing:
    rules, models = at
    usual = {number: price for number, price in prices.items() if price <= _MILLION}
    columns = (
        Column("model", "model"),
        Column("r2", "R²", CellKind.RATE),
        Column("mae", "MAE", CellKind.VALUE),
        Column("r2_usual", "R² to a million", CellKind.RATE),
        Column("mae_usual", "MAE to a million", CellKind.VALUE),
        *(Column(kind, f"RVS {kind}", CellKind.SCORE) for kind in KINDS),
        Column("soft_score", "RVS together", CellKind.SCORE),
    )
    rows = []
    for model, path in files.items():
        measures = measure_accuracy(REGRESSION, usual, _predicted(path, usual)).measures
        all_of_them = (accuracy(result, model, R2), round(accuracy(result, model, MAE) or 0))
        scores = (rules[kind].models[model].score.value for kind in KINDS)
        usual_ones = (measures[R2].value, round(measures[MAE].value or 0))
        rows.append((model, *all_of_them, *usual_ones, *scores, models[model].soft_score.value))
    notes = (
        f"{len(prices):,} hidden prices, of which {len(usual):,} are up to a million euros: a few sales of many millions move R²",
        "a score below 1: predictions break the rule less often than the observed sales do",
    )
    return Listing("ours", "Models on the sales of Nantes", columns, tuple(rows), notes=notes)


def _predicted(path: Path, wanted: Mapping[int, float]) -> dict[int, float]:
    rows = read_columns(path, ("id", "prediction"))
    pairs = zip(rows["id"].to_pylist(), rows["prediction"].to_pylist(), strict=True)
    return {int(number): float(price) for number, price in pairs if int(number) in wanted}


def _rates(printed: Mapping[str, Any], rules: Mapping[str, RuleResult]) -> Compared:
    cells = tuple(
        cell(f"{kind}, ε = {KINDS[kind].tolerance:,}", "rate", number, rules[kind].dataset.rate, Cause.DATA, CellKind.RATE)
        for kind, number in printed.items()
    )
    counts = "; ".join(f"{kind} {rule.dataset.refuted:,} of {rule.dataset.evaluable:,}" for kind, rule in rules.items())
    notes = (f"refuted of evaluable pairs: {counts}",)
    reason = Reason(_REASONS[Cause.DATA].text, f"{_PROJECT}; rulescore audit real-estate/rulescore.toml --tolerances 500,1500,5000")
    return Compared("dataset_rates", "Dataset rates of the four rules", "premises", cells, {Cause.DATA: reason}, notes)


def _curve(at: Mapping[float, Scored]) -> Listing:
    models = list(at[1.0][1])
    columns = (
        Column("factor", "ε ×", CellKind.WEIGHT),
        *(Column(f"tolerance_{kind}", f"ε {kind}", CellKind.VALUE) for kind in KINDS),
        *(Column(f"rate_{kind}", f"rate {kind}", CellKind.RATE) for kind in KINDS),
        *(Column(f"soft_score_{model}", f"RVS {model}", CellKind.SCORE) for model in models),
    )
    rows = tuple(
        (
            factor,
            *(kind.tolerance * factor for kind in KINDS.values()),
            *(rules[kind].dataset.rate for kind in KINDS),
            *(model_results[model].soft_score.value for model in models),
        )
        for factor, (rules, model_results) in at.items()
    )
    notes = ("rate: of the observed sales; RVS: of the four rules together",)
    return Listing("curve", "Dataset rates and scores over ε", columns, rows, notes=notes)


def _sizes(result: Result) -> dict[str, int]:
    (table,) = result.summary.tables
    return {"entities": table.rows, "tables": 1, "tuples": table.rows, "test": table.hidden, "rules": len(KINDS)}


def _points(at: Mapping[float, Scored]) -> pa.Table:
    """The curve over percentages of ε, in the form that charts need: dataset rates by kinds of premises, and scores by models."""
    rates = [
        (100 * factor, kind, "dataset_rate", rule.dataset.rate) for factor, (rules, _) in at.items() for kind, rule in rules.items()
    ]
    scores = [
        (100 * factor, name, "soft_score", model.soft_score.value)
        for factor, (_, models) in at.items()
        for name, model in models.items()
    ]
    return table_of(("at", "model", "measure", "value"), [*rates, *scores])


def _figures(printed: Mapping[str, Any], result: Result, points: pa.Table) -> tuple[Figure, ...]:
    rates = [(rule_name(kind, 1), float(rate)) for kind, rate in printed["dataset_rates"].items()]
    scores = [(rule_name(kind, 1), model, float(numbers[kind])) for model, numbers in printed["models"].items() for kind in KINDS]
    models = model_figures(printed["models"])
    note = "published: of the restricted DV3F, which these sales do not reproduce"
    return (
        Figure("dataset_rates", Chart.DATASET_RATES, result, table_of(("rule", "value"), rates), note=note),
        Figure("rules", Chart.RULES, result, table_of(("rule", "model", "value"), scores), note=note),
        Figure("models", Chart.MODELS, result, models, note=note),
        Figure("tradeoff", Chart.TRADEOFF, result, models, note=note),
        Figure("tolerances", Chart.TOLERANCES, None, None, points),
    )


def _project(sales: Path, hidden: Path, files: Mapping[str, Path]) -> dict[str, str]:
    models = "\n".join(
        f'[predictions.{name}]\ntable = "sale"\npath = "{path.resolve().as_posix()}"\n' for name, path in files.items()
    )
    derived = "\n".join(f'{name} = "{text}"' for name, text in DERIVED.items())
    text = f"""\
# Written by `rulescore reproduce real-estate`.
rules = "proximity.rules"

[tables.sale]
path = "{sales.resolve().as_posix()}"
key = "id"
target = "price"
hidden = {{ path = "{hidden.resolve().as_posix()}" }}

[tables.sale.derived]
{derived}

{models}"""
    return {"rulescore.toml": text, "proximity.rules": rule_text((1.0,))}
