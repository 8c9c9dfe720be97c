"""Packs the data of a report as columns: rules with all counts, and violations.

Each part is JSON, gzipped without a date, in base64: no name can end the text early. The same input gives the same text.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

from rulescore.errors.texts import visible
from rulescore.report.example import RuleShape, Told, form_of, pieces, shape_of, sides_of, told
from rulescore.reporting.listing import CellKind, shown
from rulescore.reporting.violations import shown_margin
from rulescore.scoring.labels import Labels
from rulescore.scoring.results import RuleKind, RuleResult
from rulescore.scoring.violation import ComparedValues, Fact, Violation
from rulescore.values import Value, key_of

PACK = 1
_EXACT = 2**53
_KINDS = {RuleKind.HARD: "h", RuleKind.SOFT: "s", RuleKind.UNDETERMINED: "u"}
UNREFUTABLE_FLAG, DENIAL_FLAG, DECLARED_FLAG = 1, 2, 4

Intervals = Mapping[tuple[str, str], tuple[float, float]]
"""The interval of a rule's rate under a model, by the names of rule and model."""


def packed(columns: Mapping[str, Any]) -> str:
    text = json.dumps(columns, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(errors="backslashreplace"), 6, mtime=0)).decode()


@dataclass(frozen=True, slots=True)
class Described:
    """How people see rules.

    `names`, `texts`: of the rules, in the order of the report. `refuting`: by a rule's own name, the declarations that can refute
    its head. `statements`: the SQL of some rules, by their own names.
    """

    names: Sequence[str]
    texts: Sequence[str]
    labels: Labels
    refuting: Mapping[str, Sequence[str]]
    statements: Mapping[str, str]


def rule_columns(rules: Sequence[RuleResult], models: Sequence[str], intervals: Intervals, described: Described) -> dict[str, Any]:
    names = described.names
    refuting: dict[Sequence[str], int] = {}
    reasons: dict[str, int] = {}
    marks: dict[str | None, int] = {None: 0}
    return {
        "pack": PACK,
        "models": [visible(model) for model in models],
        "name": list(names),
        "text": [visible(rule.info.text) for rule in rules],
        "kind": "".join(_KINDS[rule.kind] for rule in rules),
        "reason": [reasons.setdefault(_reason(rule), len(reasons)) for rule in rules],
        "reasons": list(reasons),
        "flags": [_flags(rule) for rule in rules],
        "weight": [rule.info.weight for rule in rules],
        "own": {str(number): rule.info.name for number, rule in enumerate(rules) if rule.info.name != names[number]},
        "said": _by_number(
            visible(text) if text != rule.info.text else None for rule, text in zip(rules, described.texts, strict=True)
        ),
        "short": _short(described.labels),
        "refutes": [refuting.setdefault(tuple(described.refuting.get(rule.info.name, ())), len(refuting)) for rule in rules],
        "refuting": [[visible(described.labels.of_declaration(text)) for text in texts] for texts in refuting],
        "statements": _by_number(described.statements.get(rule.info.name) for rule in rules),
        "further": _by_number(map(_further, rules)),
        "data": _counts([rule.dataset for rule in rules]),
        "by": [
            {
                **_counts([rule.models[model].counts for rule in rules]),
                "mark": [marks.setdefault(rule.models[model].score.mark, len(marks)) for rule in rules],
                "low": [_rounded(intervals.get((rule.info.name, model)), 0) for rule in rules],
                "high": [_rounded(intervals.get((rule.info.name, model)), 1) for rule in rules],
            }
            for model in models
        ],
        "marks": list(marks),
    }


def _short(labels: Labels) -> dict[str, str]:
    """What people see in place of predicates."""
    return {visible(name): label for name in labels.short if (label := labels.of_predicate(name)) != visible(name)}


def _by_number(entries: Iterable[Any]) -> dict[str, Any]:
    """Entries that few rules have, by the numbers of the rules."""
    return {str(number): entry for number, entry in enumerate(entries) if entry}


def _counts(counts: Iterable[Any]) -> dict[str, Any]:
    every = list(counts)
    return {"refuted": [_whole(count.refuted) for count in every], "evaluable": [_whole(count.evaluable) for count in every]}


def _whole(number: int) -> int | str:
    """JavaScript's numbers are exact up to 2^53."""
    return number if number <= _EXACT else str(number)


def _reason(rule: RuleResult) -> str:
    """The reason for a rule's kind, with a mark instead of counts, so many rules share one text."""
    return rule.kind_reason.replace(f"{rule.dataset.refuted:,} of {rule.dataset.evaluable:,}", "\x01")


def _flags(rule: RuleResult) -> int:
    info = rule.info
    flags = ((UNREFUTABLE_FLAG, info.unrefutable), (DENIAL_FLAG, info.denial), (DECLARED_FLAG, info.declared_kind is not None))
    return sum(flag for flag, is_set in flags if is_set)


def _further(rule: RuleResult) -> list[str]:
    """Lines with further facts about a rule."""
    info = rule.info
    lines = [info.description, f"tags: {', '.join(info.tags)}" if info.tags else None, f"from {info.place}" if info.place else None]
    if info.confidence is not None or info.support is not None:
        parts = [f"confidence {shown(info.confidence, CellKind.VALUE)}" if info.confidence is not None else ""]
        parts += [f"support {info.support:,}" if info.support is not None else ""]
        lines.append(f"its miner says: {', '.join(part for part in parts if part)}")
    if (share := rule.largest_group_share.value) is not None:
        lines.append(f"one group has {share:.1%} of its cases in the data")
    if rule.tolerance is not None:
        lines.append(f"its tolerance, taken from the data: {shown(rule.tolerance, CellKind.VALUE)}")
    return [visible(line) for line in lines if line]


def _rounded(interval: tuple[float, float] | None, side: int) -> float | None:
    return None if interval is None else float(f"{interval[side]:.4g}")


@dataclass
class _Dictionary:
    """Numbers for entries; equal entries share one."""

    numbers: dict[Any, int] = field(default_factory=dict)
    entries: list[Any] = field(default_factory=list)

    def number(self, key: Any, entry: Callable[[], Any]) -> int:
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.entries)
            self.entries.append(entry())
        return number


class _Violations:
    """Columns that grow by a row for each violation.

    Violations of a rule differ mostly in their values. The rest of a row is a pattern: the arguments of its atoms are places among
    the row's values.
    """

    def __init__(self, rules: Mapping[str, int], models: Sequence[str], labels: Labels) -> None:
        self._rules, self._models, self._labels = rules, models, labels
        self._values, self._predicates = _Dictionary(), _Dictionary()
        self._patterns, self._argument_names = _Dictionary(), _Dictionary()
        self._sentences: dict[Any, tuple[str | int, ...]] = {}
        self._rows: dict[str, list[Any]] = {name: [] for name in _ROW}

    def add(self, violation: Violation, shape: RuleShape) -> None:
        parts = told(violation, shape)
        values = [self._bound(violation, name) for name in shape.variables]
        written = parts.atoms
        atoms = tuple(self._atom(atom.fact, values) for atom in written)
        numbers = {atom.text: number for number, atom in enumerate(written)}
        pattern = (
            len(shape.variables),
            atoms,
            None if parts.predicted is None else numbers[parts.predicted.text],
            tuple(numbers[atom.text] for atom in parts.known),
            tuple(numbers[atom.text] for atom in (*parts.absent, *parts.missing)),
            None if parts.should is None else numbers[parts.should.text],
            tuple(numbers[atom.text] for atom in parts.against),
            self._sentence(parts),
        )
        row = {
            "rule": self._rules[violation.rule],
            "model": -1 if violation.model is None else self._models.index(violation.model),
            "pattern": self._patterns.number(pattern, lambda: pattern),
            "values": values,
            "score": violation.score,
            "rank": violation.rank,
            "lines": _lines(violation),
            "margin": None if (sides := sides_of(violation)) is None else list(astuple(sides)),
        }
        for name, column in self._rows.items():
            column.append(row[name])

    def _sentence(self, parts: Told) -> tuple[str | int, ...]:
        form = form_of(parts)
        sentence = self._sentences.get(form)
        if sentence is None:
            sentence = tuple(piece if isinstance(piece, int) else visible(piece) for piece in pieces(parts))
            if form is not None:
                self._sentences[form] = sentence
        return sentence

    def _bound(self, violation: Violation, name: str) -> int | None:
        return self._value(violation.binding[name]) if name in violation.binding else None

    def _value(self, value: Value | None) -> int:
        # 1 and 1.0 are one constant, 1 and true are two.
        key = value if value is None or isinstance(value, str) else (key_of(value),)
        return self._values.number(key, lambda: self._labels.of_value(value))

    def _atom(self, fact: Fact, values: list[int | None]) -> tuple[int, ...]:
        """The numbers of a fact's predicate and argument names, and the places of its arguments. A new value gets a new place."""
        predicate = self._predicates.number((fact.predicate, fact.negative), lambda: self._predicate(fact))
        names = self._argument_names.number(fact.names, lambda: list(map(visible, fact.names)))
        places = []
        for number in map(self._value, fact.values):
            if number not in values:
                values.append(number)
            places.append(values.index(number))
        return (predicate, names, *places)

    def _predicate(self, fact: Fact) -> list[str]:
        return [f"{'not ' if fact.negative else ''}{self._labels.of_predicate(fact.predicate)}", visible(fact.predicate)]

    def columns(self, total: int) -> dict[str, Any]:
        shown_names, whole_names = zip(*self._predicates.entries, strict=True) if self._predicates.entries else ((), ())
        return {
            "pack": PACK,
            "total": _whole(total),
            "values": self._values.entries,
            "predicates": shown_names,
            "whole": whole_names,
            "argument_names": self._argument_names.entries,
            "patterns": [dict(zip(_PATTERN, pattern, strict=True)) for pattern in self._patterns.entries],
            "rows": self._rows,
        }


_ROW = ("rule", "model", "pattern", "values", "score", "rank", "lines", "margin")
_PATTERN = ("placed", "atoms", "predicted", "known", "absent", "should", "against", "sentence")


def violation_columns(
    rows: Sequence[Violation], total: int, rules: Sequence[RuleResult], models: Sequence[str], labels: Labels
) -> dict[str, Any]:
    """The columns of violations. `total`: how many violations there are; `rows` may be only some."""
    numbers = {rule.info.name: number for number, rule in enumerate(rules)}
    violations = _Violations(numbers, models, labels)
    shapes = {name: shape_of(rules[numbers[name]].info.text) for name in {row.rule for row in rows}}
    for row in sorted(rows, key=lambda row: (numbers[row.rule], -1 if row.model is None else models.index(row.model))):
        violations.add(row, shapes[row.rule])
    return violations.columns(total)


def _lines(violation: Violation) -> list[str]:
    """Lines for the parts that are not facts: comparisons with their values, aggregates, and a declaration that refutes."""
    lines = [
        f"{compared.text}: {_shown(compared.left)} and {_shown(compared.right)}{_missed(compared)}"
        for compared in violation.compared
    ]
    lines += [
        f"{aggregated.text}: {_shown(aggregated.before)} in the data, {_shown(aggregated.value)} with the prediction"
        for aggregated in violation.aggregated
    ]
    lines += [f"refuted: {refuter}" for refuter in violation.refuters[:1] if not refuter.facts and not refuter.absent]
    return [visible(line) for line in lines]


def _missed(compared: ComparedValues) -> str:
    if not compared.margin:
        return ""
    return f"; {'holds' if compared.holds else 'missed'} by {shown_margin(compared)}"


def _shown(value: Value | None) -> str:
    return Labels().of_value(value) if not isinstance(value, float) else shown(value, CellKind.VALUE)
