"""Verdicts for people: the number of rows with each verdict, and the first rows with their reasons."""

from __future__ import annotations

from collections.abc import Iterator

from rulescore.reporting.listing import Cell, CellKind, Column, Listing, counted, shown
from rulescore.verdicts.judging import Verdict
from rulescore.verdicts.table import Verdicts


def counts_listing(verdicts: Verdicts) -> Listing:
    """The number of rows with each verdict, by model."""
    present = [verdict for verdict in Verdict if any(counts[verdict] for counts in verdicts.counts.values())]
    columns = (
        Column("model", "model"),
        Column("rows", "rows", CellKind.COUNT),
        *(Column(verdict.name.lower(), verdict.value, CellKind.COUNT) for verdict in present),
    )
    rows: list[tuple[Cell, ...]] = [
        (model, sum(counts.values()), *(counts[verdict] for verdict in present)) for model, counts in verdicts.counts.items()
    ]
    words = "; ".join(f"{verdict.value}: {_MEANINGS[verdict]}" for verdict in present)
    return Listing("verdicts", "Rows by verdict", columns, tuple(rows), notes=(words, *_notes(verdicts)))


def rows_listing(verdicts: Verdicts, limit: int) -> Listing:
    """The first rows, each with its number, verdict and reason. Below them, the number of rows with each verdict."""
    several = len(verdicts.counts) > 1
    columns = (
        *([Column("model", "model")] if several else []),
        Column("row", "row", CellKind.COUNT),
        Column("verdict", "verdict"),
        Column("rule", "rule"),
        Column("because", "because"),
    )
    rows: list[tuple[Cell, ...]] = []
    for user_rows, judged in verdicts.judged.sources:
        for number, verdict in enumerate(judged[: max(0, limit - len(rows))], 1):
            model = (user_rows.model,) if several else ()
            rows.append((*model, number, verdict.verdict.value, verdict.rule, verdict.because))
    more = len(verdicts) - len(rows)
    notes = [f"{counted(more, 'more row')}; `--output FILE` writes all, with your columns"] if more else []
    return Listing(
        "verdicts",
        "Verdicts",
        columns,
        tuple(rows),
        notes=tuple(notes),
        beside=(counts_listing(verdicts),),
        lead=tuple(_in_words(verdicts)),
    )


_MEANINGS = {
    Verdict.CONTRADICTED: "it breaks a rule",
    Verdict.ALREADY_KNOWN: "the facts have it",
    Verdict.NOT_LINKED: "the facts do not have one of its names",
    Verdict.SUPPORTED: "it meets a rule, and breaks none",
    Verdict.NOT_JUDGED: "no rule says anything of it",
    Verdict.UNREADABLE: "the row cannot be read",
}


def _in_words(verdicts: Verdicts) -> Iterator[str]:
    """How many rows of each model are contradicted."""
    for model, counts in verdicts.counts.items():
        wrong, rows = counts[Verdict.CONTRADICTED], sum(counts.values())
        if rows == 1:
            yield f"The only row of {model} is {'' if wrong else 'not '}contradicted."
            continue
        how_many = f"{wrong:,} of the" if wrong else "None of the"
        yield f"{how_many} {counted(rows, 'row')} of {model} {'are' if wrong > 1 else 'is'} contradicted."


def _notes(verdicts: Verdicts) -> Iterator[str]:
    """The sentence of `score` about the same predictions. There, each prediction counts once."""
    for model in verdicts.judged.evaluation.model_results:
        distinct = model.predictions.distinct
        yield (
            f"{model.name}: {counted(distinct, 'different prediction')}, {_breaking(model.violating_any or 0)} a rule, "
            f"{_breaking(model.violating or 0)} a hard one"
        )
        weighed = _weighed(verdicts, model.name)
        if weighed is not None:
            contradicted, total = (shown(number, CellKind.SCORE) for number in weighed)
            yield f"{model.name}: weighed by their confidence, {contradicted} of {total} predictions are contradicted"


def _breaking(predictions: int) -> str:
    return f"{predictions:,} {'breaks' if predictions == 1 else 'break'}"


def _weighed(verdicts: Verdicts, model: str) -> tuple[float, float] | None:
    """The sums of the confidences of contradicted predictions and of all; None unless all are known, and from 0 to 1."""
    scores: dict[tuple[str, tuple[str, ...]], tuple[float, bool]] = {}
    for rows, judged in verdicts.judged.sources:
        for fact, verdict in zip(rows.facts, judged, strict=True):
            if rows.model != model or fact is None:
                continue
            if fact.score is None or not 0 <= fact.score <= 1:
                return None
            key = (fact.predicate, fact.keys)
            score = max(fact.score, scores[key][0]) if key in scores else fact.score
            scores[key] = score, verdict.verdict is Verdict.CONTRADICTED
    if not scores:
        return None
    return sum(score for score, wrong in scores.values() if wrong), sum(score for score, _ in scores.values())
