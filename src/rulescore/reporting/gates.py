"""Outcomes of gates in words, and what is behind those that are not met: the worst rules, with a row of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from rulescore.characters import visible
from rulescore.errors import Diagnostic, InputError, located, place_of
from rulescore.reporting.cells import of_all, shown
from rulescore.reporting.listing import CellKind
from rulescore.reporting.saved import load
from rulescore.scoring.gate_outcomes import GateReading, Outcome, worst_rules
from rulescore.scoring.gates import Gate, Worse
from rulescore.scoring.results import RuleKind, RuleResult
from rulescore.scoring.violation import FindsViolations
from rulescore.setting.gates import GateSeverity

if TYPE_CHECKING:
    from rulescore.scoring.evaluation import Evaluation


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
    found: dict[str, Evaluation] = {}
    problems: list[Diagnostic] = []
    for gate in gates:
        match gate.condition:
            case Worse(baseline, span=span) if baseline not in found:
                try:
                    with located(place_of(span)):
                        found[baseline] = load(Path(baseline))
                except InputError as error:
                    problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return found


def verdicts(outcomes: Iterable[Outcome], evaluation: Evaluation, session: FindsViolations | None) -> tuple[Verdict, ...]:
    """`session`: finds the violations to show; without one there are none."""
    rows: dict[tuple[str, str], str | None] = {}
    return tuple(_verdict(outcome, evaluation, session, rows) for outcome in outcomes)


def _verdict(
    outcome: Outcome, evaluation: Evaluation, session: FindsViolations | None, rows: dict[tuple[str, str], str | None]
) -> Verdict:
    if outcome.met or outcome.model is None:
        return Verdict(outcome)
    worst = []
    for rule in worst_rules(evaluation, outcome):
        key = outcome.model, rule.info.name
        if key not in rows:
            refuted = rule.models[outcome.model].counts.refuted
            rows[key] = None if session is None or not refuted else _row(session, *key)
        worst.append(WorstRule(rule, rows[key]))
    return Verdict(outcome, tuple(worst))


def _row(session: FindsViolations, model: str, rule: str) -> str | None:
    """A violation of a rule that a model's prediction takes part in, on one line."""
    for row in session.violations(rule=rule, model=model, limit=1).rows:
        by = f", refuted by {', '.join(row.refuted_by)}" if row.refuted_by else ""
        return visible(f"prediction {row.prediction}: {', '.join(row.body)} → {row.head}{by}")
    return None


def told(outcome: Outcome) -> str:
    """An outcome on one line: the gate, whether it is met and by which model, what was found."""
    model = "any model" if outcome.model is None else f"`{visible(outcome.model)}`"
    warning = " (a warning)" if not outcome.met and outcome.gate.severity is GateSeverity.WARN else ""
    verb = "is met" if outcome.met else "is not met"
    return f"gate `{visible(outcome.gate.title)}` {verb} by {model}{warning}: {found(outcome)}"


def found(outcome: Outcome) -> str:
    """What was found: of a gate that is not met, only what does not meet it."""
    readings = [reading for reading in outcome.readings if outcome.met or not reading.met]
    return visible("; ".join([*map(_read, readings), *outcome.notes]))


def _read(reading: GateReading) -> str:
    if reading.value is None:
        return f"{reading.measure} is undefined: {reading.reason}"
    if reading.reason is not None:
        return f"{reading.measure} says nothing: {reading.reason}"
    value = _number(reading.value, reading)
    if reading.saved is None or reading.bound is None:
        return f"{reading.measure} is {value}"
    return f"{reading.measure} is {value}, was {_number(reading.saved, reading)}, may be {_number(reading.bound, reading)}"


def _number(value: int | float, reading: GateReading) -> str:
    return f"{shown(100 * value, CellKind.VALUE)}%" if reading.share else shown(value, CellKind.VALUE)


def counts_of(rule: RuleResult, model: str) -> str:
    """How often predictions of a model refute a rule, and how often the data do."""
    counts = rule.models[model].counts
    data = "" if rule.kind is RuleKind.HARD else f", in the data {of_all(rule.dataset.refuted, rule.dataset.evaluable)}"
    return f"{rule.kind} rule, refuted in {of_all(counts.refuted, counts.evaluable)}{data}"


# JUnit XML, which build servers read: one test case for each gate and model.


# Characters that XML 1.0 cannot hold, escaped or not.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(verdicts: Sequence[Verdict]) -> str:
    """A gate that only warns does not fail: its case has what was found as output."""
    failures = sum(verdict.outcome.fails for verdict in verdicts)
    numbers = {"tests": str(len(verdicts)), "failures": str(failures), "errors": "0"}
    root = ElementTree.Element("testsuites", numbers)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "rulescore", **numbers})
    for verdict in verdicts:
        outcome = verdict.outcome
        names = {"classname": f"rulescore.{outcome.model}", "name": outcome.gate.title}
        case = ElementTree.SubElement(suite, "testcase", {key: _safe(visible(text)) for key, text in names.items()})
        if outcome.fails:
            failure = ElementTree.SubElement(case, "failure", {"type": "gate", "message": _safe(found(outcome))})
            failure.text = _safe(_details(verdict))
        else:
            ElementTree.SubElement(case, "system-out").text = _safe(_details(verdict))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="UTF-8"?>\n', "\n")
    )


def _details(verdict: Verdict) -> str:
    outcome = verdict.outcome
    verdict_word = "met" if outcome.met else "not met"
    lines = [f"{verdict_word}: {found(outcome)}"]
    for worst in verdict.worst:
        assert outcome.model is not None
        lines.append(f"{visible(worst.rule.info.name)}: {counts_of(worst.rule, outcome.model)}")
        if worst.rule.info.text != worst.rule.info.name:
            lines.append(f"  {visible(worst.rule.info.text)}")
        if worst.row is not None:
            lines.append(f"  {worst.row}")
    return "\n".join(lines)


def _safe(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
