"""Tables for people and programs: what candidates contribute, and lists before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial

from rulescore.mending.price import Price
from rulescore.mending.rerank import Outcome, Reranked
from rulescore.mending.table import CandidateTable
from rulescore.reporting.listing import CellKind, Column, Listing, filled
from rulescore.scoring.evaluation import metric_title

_MOST_MOVES = 10


def candidates_listing(table: CandidateTable, price: Price | None) -> Listing:
    """A row for each rule: how many candidates it is about, and how many of them would break it; with the price, if asked for."""
    columns = (
        Column("rule", "rule"),
        Column("kind", "kind"),
        Column("refuted", "broken in the data", CellKind.COUNT),
        Column("evaluable", "of", CellKind.COUNT),
        Column("candidates", "candidates", CellKind.COUNT),
        Column("symbolic", "rows for every value", CellKind.COUNT),
        Column("breaking", "would break it", CellKind.COUNT),
    )
    rows = []
    for number, rule in enumerate(table.rules):
        own = table.rows.rule == number
        breaking = own & (table.rows.counts[:, 1] > 0)
        counts = (int(own.sum()), int((table.symbolic.rule == number).sum()), int(breaking.sum()))
        rows.append((rule.name, str(rule.kind), rule.dataset.refuted, rule.dataset.evaluable, *counts))
    figures: tuple[tuple[str, object], ...] = (
        ("rows", len(table.rows)),
        ("symbolic", len(table.symbolic)),
        ("bytes", table.bytes),
    )
    notes = [f"{len(table.rows):,} rows of single candidates, {len(table.symbolic):,} for every value, {table.bytes:,} bytes"]
    if price is None:
        notes += [f"the data contradict `{rule.name}`, which is declared hard" for rule in table.rules if rule.declared]
    else:
        notes += price.sentences()
        figures += price_figures(price)
    if table.hard and not table.forbids:
        nothing = all(table.rules[rule].unrefutable for rule in table.hard)
        why = ": nothing declared could refute their heads, such as `incompatible aunt, mother.`" if nothing else ""
        notes.append(f"no candidate would break a hard rule{why}")
    if not table.hard:
        notes.append("no rule is hard, so no candidate is forbidden")
    return Listing("candidates", "Candidates", columns, tuple(rows), figures, tuple(notes))


def price_figures(price: Price) -> tuple[tuple[str, object], ...]:
    contradicted = [dict(zip(("rule", "refuted", "evaluable"), rule, strict=True)) for rule in price.contradicted]
    return (("validation", price.validation), ("lost", price.lost), ("contradicted", contradicted))


def reranked_listing(reranked: Reranked) -> Listing:
    """The figures before, with only reflexive answers moved, and after."""
    metrics = list(dict.fromkeys(metric for outcome in reranked.outcomes for metric in outcome.accuracy))
    columns, rows = filled(
        reranked.outcomes,
        (Column("variant", "lists"), lambda outcome: outcome.variant),
        *((Column(metric, metric_title(metric), CellKind.RATE), partial(_accuracy, metric)) for metric in metrics),
        (Column("violating", "violating", CellKind.COUNT), lambda outcome: outcome.violating),
        (Column("predictions", "of", CellKind.COUNT), lambda outcome: outcome.predictions),
        (Column("rvs_hard", "RVS hard", CellKind.SCORE), lambda outcome: outcome.hard.value),
        (Column("rvs_soft", "RVS soft", CellKind.SCORE), lambda outcome: outcome.soft.value),
    )
    price = reranked.price
    figures = (
        ("queries", price.queries),
        ("moved", price.against),
        ("by_reason", price.by_reason),
        ("nothing_to_win", price.nothing_to_win),
        *price_figures(price),
        ("penalty", reranked.penalty.chosen),
        ("moves", list(map(asdict, reranked.moves))),
    )
    least = "figures are the least that they can be: an answer that is not in its list counts as not found"
    notes = [least] if any(outcome.bounded for outcome in reranked.outcomes) else []
    notes += _undefined(reranked.outcomes)
    return Listing("rerank", "Before and after", columns, rows, figures, tuple(notes), beside=(moves_listing(reranked),))


def _accuracy(metric: str, outcome: Outcome) -> float | None:
    return outcome.accuracy.get(metric)


def _undefined(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Why a figure is missing; a reason that several lists share is said once."""
    lists: dict[tuple[str, str | None], list[str]] = {}
    for outcome in outcomes:
        scores = {"RVS hard": outcome.hard, "RVS soft": outcome.soft}
        reasons = {figure: score.reason for figure, score in scores.items() if score.value is None}
        for figure, reason in {"accuracy": outcome.unmeasured, **reasons}.items():
            if reason is not None:
                lists.setdefault((figure, reason), []).append(outcome.variant)
    for (figure, reason), variants in lists.items():
        where = "" if len(variants) == len(outcomes) else f"{', '.join(variants)}, "
        yield f"– {where}{figure}: {reason}"


def moves_listing(reranked: Reranked) -> Listing:
    """A few of the first answers that were moved, with what spoke against them."""
    columns = tuple(Column(name, name) for name in ("head", "relation", "tail", "reason", "because", "facts"))
    rows = tuple(
        (move.head, move.relation, move.tail, move.reason, move.because, ", ".join(move.facts))
        for move in reranked.moves[:_MOST_MOVES]
    )
    return Listing("moves", f"First answers that were moved: {len(rows):,} of {len(reranked.moves):,}", columns, rows)
