"""Outcomes of gates in words, the rules and violations behind failed gates, and a short Markdown summary for build pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

from rulescore.errors import Diagnostic, InputError, located, place_of, refuse
from rulescore.errors.texts import visible
from rulescore.reporting.findings import violations_listing
from rulescore.reporting.listing import UNDEFINED, Appearance, CellKind, Format, code, counted, markdown_table, of_all, shown
from rulescore.reporting.render import render
from rulescore.reporting.saved import load
from rulescore.reporting.tables import violating_cell
from rulescore.reporting.violations import render_violations_csv, render_violations_json, violation_table
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.gate_outcomes import ANY_NUMBER, GateReading, Outcome, counts_behind, worst_rules
from rulescore.scoring.gates import Gate, Worse
from rulescore.scoring.labels import Labels
from rulescore.scoring.results import Measure, ModelResult, RuleKind, RuleResult
from rulescore.scoring.violation import FindsViolations
from rulescore.setting.choices import GateSeverity


@dataclass(frozen=True, slots=True)
class WorstRule:
    """A rule behind a gate that is not met, and a violation of it; None if there is none, or the data are not at hand."""

    rule: RuleResult
    row: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """An outcome and, if the gate is not met, the rules behind it."""

    outcome: Outcome
    worst: tuple[WorstRule, ...] = ()


def saved_results(gates: Iterable[Gate]) -> dict[str, Evaluation]:
    """The saved results that gates compare with. Problems with all that cannot be read are raised together, each where the gate
    names it."""
    saved: dict[str, Evaluation] = {}
    problems: list[Diagnostic] = []
    for gate in gates:
        match gate.condition:
            case Worse(baseline, span=span) if baseline not in saved:
                try:
                    with located(place_of(span)):
                        saved[baseline] = load(Path(baseline))
                except InputError as error:
                    problems.extend(error.problems)
    refuse(problems)
    return saved


def verdicts(outcomes: Iterable[Outcome], evaluation: Evaluation, session: FindsViolations | None) -> tuple[Verdict, ...]:
    """`session`: finds the violations to show; without one there are none."""
    rows: dict[tuple[str | None, str], str | None] = {}
    return tuple(_verdict(outcome, evaluation, session, rows) for outcome in outcomes)


def _verdict(
    outcome: Outcome, evaluation: Evaluation, session: FindsViolations | None, rows: dict[tuple[str | None, str], str | None]
) -> Verdict:
    if outcome.met or (outcome.model is None and not outcome.of_data):
        return Verdict(outcome)
    worst = []
    for rule in worst_rules(evaluation, outcome):
        key = outcome.model, rule.info.name
        if key not in rows:
            refuted = counts_behind(rule, outcome).refuted
            rows[key] = None if session is None or not refuted else _row(session, *key)
        worst.append(_named(WorstRule(rule, rows[key]), evaluation.labels))
    return Verdict(outcome, tuple(worst))


def _named(worst: WorstRule, labels: Labels) -> WorstRule:
    """With labels, and prefixes of IRIs: people read build pages."""
    info = worst.rule.info
    named = replace(info, name=labels.of_text(info.name), text=labels.of_text(info.text))
    return WorstRule(replace(worst.rule, info=named), None if worst.row is None else labels.of_text(worst.row))


def _row(session: FindsViolations, model: str | None, rule: str) -> str | None:
    """A violation of a rule that a model's prediction takes part in, or one in the data, on one line."""
    for row in session.violations(rule=rule, model=model, limit=1).rows:
        by = f", refuted by {', '.join(row.refuted_by)}" if row.refuted_by else ""
        made = "" if row.prediction is None else f"prediction {row.prediction}: "
        return visible(f"{made}{', '.join(row.body)} → {row.head}{by}")
    return None


def told(outcome: Outcome) -> str:
    """An outcome on one line: the gate, which model passed or failed it, what was found."""
    model = _holder(outcome) if outcome.model is None else f"`{visible(outcome.model)}`"
    warning = " (a warning)" if not outcome.met and outcome.gate.severity is GateSeverity.WARN else ""
    verb = "passed" if outcome.met else "failed"
    return f"gate `{visible(outcome.gate.title)}` {verb} by {model}{warning}: {readings_text(outcome)}"


def _holder(outcome: Outcome) -> str:
    return "the data" if outcome.of_data else "any model" if outcome.model is None else outcome.model


def readings_text(outcome: Outcome) -> str:
    """The numbers found. For a gate that is not met, only the numbers that do not meet it."""
    readings = [reading for reading in outcome.readings if outcome.met or not reading.met]
    return visible("; ".join([*map(_reading_text, readings), *outcome.notes]))


def _reading_text(reading: GateReading) -> str:
    if reading.value is None and reading.measure == ANY_NUMBER:
        return f"nothing to look at: {reading.reason}"
    if reading.value is None:
        return f"{reading.measure} is undefined: {reading.reason}"
    if reading.reason is not None:
        return f"{reading.measure} says nothing: {reading.reason}"
    value = _amount(reading.value, reading)
    if reading.saved is None or reading.bound is None:
        return f"{reading.measure} is {value}"
    return f"{reading.measure} is {value}, was {_amount(reading.saved, reading)}, may be {_amount(reading.bound, reading)}"


def _amount(value: int | float, reading: GateReading) -> str:
    return f"{shown(100 * value, CellKind.VALUE)}%" if reading.share else shown(value, CellKind.VALUE)


def counts_of(rule: RuleResult, outcome: Outcome) -> str:
    """How often predictions of a model refute a rule, and how often the data do."""
    counts = counts_behind(rule, outcome)
    alone = rule.kind is RuleKind.HARD or outcome.of_data
    data = "" if alone else f", in the data {of_all(rule.dataset.refuted, rule.dataset.evaluable)}"
    return f"{rule.kind} rule, refuted in {of_all(counts.refuted, counts.evaluable)}{data}"


# JUnit XML, which build servers read: one test case for each gate and model.


# Characters that XML 1.0 cannot hold, escaped or not.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(verdicts: Sequence[Verdict]) -> str:
    """A gate that only warns does not fail. Its case has the numbers found as output."""
    failures = sum(verdict.outcome.fails for verdict in verdicts)
    numbers = {"tests": str(len(verdicts)), "failures": str(failures), "errors": "0"}
    root = ElementTree.Element("testsuites", numbers)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "rulescore", **numbers})
    for verdict in verdicts:
        outcome = verdict.outcome
        names = {"classname": f"rulescore.{'data' if outcome.of_data else outcome.model}", "name": outcome.gate.title}
        case = ElementTree.SubElement(suite, "testcase", {key: _safe(visible(text)) for key, text in names.items()})
        if outcome.fails:
            failure = ElementTree.SubElement(case, "failure", {"type": "gate", "message": _safe(readings_text(outcome))})
            failure.text = _safe(_details(verdict))
        else:
            ElementTree.SubElement(case, "system-out").text = _safe(_details(verdict))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="UTF-8"?>\n', "\n")
    )


def _details(verdict: Verdict) -> str:
    outcome = verdict.outcome
    verdict_word = "passed" if outcome.met else "failed"
    lines = [f"{verdict_word}: {readings_text(outcome)}"]
    for worst in verdict.worst:
        lines.append(f"{visible(worst.rule.info.name)}: {counts_of(worst.rule, outcome)}")
        if worst.rule.info.text != worst.rule.info.name:
            lines.append(f"  {visible(worst.rule.info.text)}")
        if worst.row is not None:
            lines.append(f"  {worst.row}")
    return "\n".join(lines)


def _safe(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


def render_summary(evaluation: Evaluation, verdicts: Sequence[Verdict]) -> str:
    over_data = any(verdict.outcome.of_data for verdict in verdicts) or not evaluation.model_results
    counted_things = _rules(evaluation) if over_data else _models(evaluation)
    return "\n".join([*_heading(verdicts), *counted_things, *_gates(verdicts), *_worst(verdicts)]) + "\n"


def _heading(verdicts: Sequence[Verdict]) -> Iterator[str]:
    gates = {verdict.outcome.gate for verdict in verdicts}
    missed = {verdict.outcome.gate for verdict in verdicts if verdict.outcome.fails}
    warned = {verdict.outcome.gate for verdict in verdicts if not verdict.outcome.met} - missed
    said = [f"{len(missed):,} of {counted(len(gates), 'gate')} failed" if missed else "every gate passed"] if gates - warned else []
    said += [counted(len(warned), "warning")] if warned else []
    yield "### rulescore" + (f": {', '.join(said)}" if said else "")
    yield ""


def _models(evaluation: Evaluation) -> Iterator[str]:
    rows = (
        (code(model.name), _violating(model), f"{model.evaluable:,}", _score(model.hard_score), _score(model.soft_score))
        for model in evaluation.model_results
    )
    yield from markdown_table(("model", "violating a hard rule", "evaluable", "RVS hard", "RVS soft"), "lrrrr", rows)
    yield ""


def _rules(evaluation: Evaluation) -> Iterator[str]:
    """The rules over the data; the highest rates come first."""
    ordered = sorted(evaluation.rule_results, key=lambda rule: rule.dataset.rate or 0, reverse=True)
    counts = ((rule.info.name, rule.dataset) for rule in ordered)
    rows = ((code(name), f"{n.refuted:,}", f"{n.evaluable:,}", shown(n.rate, CellKind.RATE)) for name, n in counts)
    yield from markdown_table(("rule", "refuted", "evaluable", "rate"), "lrrr", rows)
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
    rows = []
    for outcome in (verdict.outcome for verdict in verdicts):
        word = "passed" if outcome.met else "**failed**" if outcome.fails else "warning"
        model = "the data" if outcome.of_data else UNDEFINED if outcome.model is None else code(outcome.model)
        rows.append((code(outcome.gate.title), model, word, code(readings_text(outcome))))
    yield from markdown_table(("gate", "model", "outcome", "found"), "llll", rows)
    yield ""


def _worst(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Each rule once for a model, even if it stands behind several gates."""
    named: set[tuple[str | None, str]] = set()
    for verdict in verdicts:
        model = verdict.outcome.model
        worst = [worse for worse in verdict.worst if (model, worse.rule.info.name) not in named]
        if not worst:
            continue
        named.update((model, worse.rule.info.name) for worse in worst)
        yield f"Worst rules of {'the data' if model is None else code(model, table=False)}:"
        yield ""
        for worse in worst:
            info = worse.rule.info
            text = "" if info.text == info.name else f": {code(info.text, table=False)}"
            yield f"- {code(info.name, table=False)} ({counts_of(worse.rule, verdict.outcome)}){text}"
            if worse.row is not None:
                yield f"  - {code(worse.row, table=False)}"
        yield ""


# The first violations of each model, in every format.


_MOST_SHOWN = 20
_PLAIN = Appearance()


def first_violations(
    session: FindsViolations, models: Sequence[str], form: Format, *, appearance: Appearance = _PLAIN, spreadsheet: bool = False
) -> str:
    """The first violations of each model, or of the data if there are no models, as a text. `rulescore violations` finds the
    others."""
    listed = [session.violations(model=model, limit=_MOST_SHOWN) for model in models] or [session.violations(limit=_MOST_SHOWN)]
    nothing = "; ".join(dict.fromkeys(part.says_nothing for part in listed if part.says_nothing))
    rows = [row for part in listed for row in part.rows]
    counts = {key: n for part in listed for key, n in part.counts.items()}
    every = replace(listed[0], total=sum(part.total for part in listed), rows=rows, counts=counts, says_nothing=nothing or None)
    if form is Format.JSON:
        return render_violations_json(violation_table(every))
    if form is Format.CSV:
        return render_violations_csv(violation_table(every), spreadsheet=spreadsheet)
    return render(violations_listing(every), form, appearance=appearance, labels=session.labels)
