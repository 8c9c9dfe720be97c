"""A short Markdown summary for build pages and for failing tests: models, gates, the worst rules with a row of each.

Whatever comes from names and data stands in code spans: nothing of it becomes Markdown, HTML, a link or a mention.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rulescore.characters import visible
from rulescore.reporting.cells import UNDEFINED, Appearance, Format, counted, of_all, shown
from rulescore.reporting.findings import violations_listing
from rulescore.reporting.gates import Verdict, counts_of, found
from rulescore.reporting.listing import CellKind
from rulescore.reporting.render import render
from rulescore.reporting.tables import violating_cell
from rulescore.reporting.violations import render_violations_csv, render_violations_json, violation_table
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import Measure, ModelResult
from rulescore.scoring.violation import FindsViolations


def render_summary(evaluation: Evaluation, verdicts: Sequence[Verdict]) -> str:
    return "\n".join([*_heading(verdicts), *_models(evaluation), *_gates(verdicts), *_worst(verdicts)]) + "\n"


def _heading(verdicts: Sequence[Verdict]) -> Iterator[str]:
    gates = {verdict.outcome.gate for verdict in verdicts}
    missed = {verdict.outcome.gate for verdict in verdicts if verdict.outcome.fails}
    warned = {verdict.outcome.gate for verdict in verdicts if not verdict.outcome.met} - missed
    said = [f"{len(missed):,} of {counted(len(gates), 'gate')} not met" if missed else "every gate met"] if gates - warned else []
    said += [counted(len(warned), "warning")] if warned else []
    yield "### rulescore" + (f": {', '.join(said)}" if said else "")
    yield ""


def _models(evaluation: Evaluation) -> Iterator[str]:
    yield "| model | violating a hard rule | evaluable | RVS hard | RVS soft |"
    yield "| :--- | ---: | ---: | ---: | ---: |"
    for model in evaluation.model_results:
        cells = (_code(model.name), _violating(model), f"{model.evaluable:,}", _score(model.hard_score), _score(model.soft_score))
        yield f"| {' | '.join(cells)} |"
    yield ""


def _violating(model: ModelResult) -> str:
    if model.violating is None or model.violating_reason is not None:
        return shown(violating_cell(model), CellKind.COUNT)
    return of_all(model.violating, model.predictions.distinct)


def _score(measure: Measure) -> str:
    return measure.mark or shown(measure.value, CellKind.SCORE)


def _gates(verdicts: Sequence[Verdict]) -> Iterator[str]:
    if not verdicts:
        return
    yield "| gate | model | | found |"
    yield "| :--- | :--- | :--- | :--- |"
    for outcome in (verdict.outcome for verdict in verdicts):
        word = "met" if outcome.met else "**not met**" if outcome.fails else "warning"
        model = UNDEFINED if outcome.model is None else _code(outcome.model)
        yield f"| {_code(outcome.gate.title)} | {model} | {word} | {_code(found(outcome))} |"
    yield ""


def _worst(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Each rule once for a model, however many gates it is behind."""
    told: set[tuple[str, str]] = set()
    for verdict in verdicts:
        model = verdict.outcome.model
        worst = [one for one in verdict.worst if (model, one.rule.info.name) not in told]
        if model is None or not worst:
            continue
        told.update((model, one.rule.info.name) for one in worst)
        yield f"Worst rules of {_code(model, table=False)}:"
        yield ""
        for one in worst:
            info = one.rule.info
            text = "" if info.text == info.name else f": {_code(info.text, table=False)}"
            yield f"- {_code(info.name, table=False)} ({counts_of(one.rule, model)}){text}"
            if one.row is not None:
                yield f"  - {_code(one.row, table=False)}"
        yield ""


def _code(text: str, *, table: bool = True) -> str:
    """A code span: its fence is longer than any run of backticks within. In a table a bar needs a backslash even there."""
    # A path may have bytes that are not text: they become question marks.
    text = visible(text).encode(errors="replace").decode() or " "
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    blank = " " if text[0] == "`" or text[-1] == "`" else ""
    span = f"{fence}{blank}{text}{blank}{fence}"
    return span.replace("|", r"\|") if table else span


# The first violations of each model, in every format.


_MOST_SHOWN = 20
_PLAIN = Appearance()


def first_violations(
    session: FindsViolations, models: Sequence[str], form: Format, *, appearance: Appearance = _PLAIN, spreadsheet: bool = False
) -> str:
    """The first violations of each model, or of the data if there are no models, as a text. `rulescore violations` finds the
    others."""
    found = [session.violations(model=model, limit=_MOST_SHOWN) for model in models] or [session.violations(limit=_MOST_SHOWN)]
    nothing = "; ".join(dict.fromkeys(one.says_nothing for one in found if one.says_nothing))
    rows = [row for one in found for row in one.rows]
    counts = {key: n for one in found for key, n in one.counts.items()}
    every = replace(found[0], total=sum(one.total for one in found), rows=rows, counts=counts, says_nothing=nothing or None)
    if form is Format.JSON:
        return render_violations_json(violation_table(every))
    if form is Format.CSV:
        return render_violations_csv(violation_table(every), spreadsheet=spreadsheet)
    return render(violations_listing(every), form, appearance=appearance)
