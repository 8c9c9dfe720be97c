"""Finds the verdict of the rules on each row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from rulescore.errors import suggestion
from rulescore.language.printer import print_atom
from rulescore.language.syntax import Atom, Constant
from rulescore.language.terms import write_value
from rulescore.reporting.violations import sentence, unquoted
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.labels import Labels
from rulescore.scoring.violation import JudgedPrediction, Violation
from rulescore.session.session import Session
from rulescore.setting.model import Setting
from rulescore.values import MARKER, key_of, value_of
from rulescore.verdicts.links import Links
from rulescore.verdicts.rows import RowFact, UserRows, read_rows, with_facts


class Verdict(StrEnum):
    """The verdicts on a row, the strongest first. A fact that is known already may also break a rule."""

    CONTRADICTED = "contradicted"
    ALREADY_KNOWN = "already known"
    NOT_LINKED = "not linked"
    SUPPORTED = "supported"
    NOT_JUDGED = "not judged"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class RowVerdict:
    """A verdict. `rule`: the first rule that the row breaks, a hard one if there is one, or the first that it meets. `kind`: of
    that rule. `rules`: all rules that it breaks, and `reasons` a sentence for each, if asked for. `linked`: which
    names were taken for names of the facts."""

    verdict: Verdict
    because: str
    rule: str | None = None
    kind: str | None = None
    rules: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedRows:
    """Every source of predictions with a verdict for each row, and the evaluation of the same rows."""

    sources: tuple[tuple[UserRows, Sequence[RowVerdict]], ...]
    evaluation: Evaluation
    links: Links


def judge(setting: Setting, *, link: str | Path = "exact", all_rules: bool = False, skip_bad_rows: bool = False) -> JudgedRows:
    """Judge every row of the predictions.

    Args:
        setting: The setting, as for `score`.
        link: How names of predictions are linked to names of the facts: `exact`, `casefold`, or a file of pairs.
        all_rules: Whether to give a sentence for every rule that a row breaks.
        skip_bad_rows: Whether rows that cannot be read get a verdict of their own, instead of an error.

    Raises:
        InputError: If the input has mistakes.
    """
    to_judge = read_rows(setting, link, skip_bad_rows=skip_bad_rows)
    with Session(to_judge.setting) as session:
        evaluation = session.evaluate(contributions=False)
        prefixes = Labels(prefixes=session.labels.prefixes)
        court = _Court(session, evaluation, to_judge.links, list(session.judged_predictions()), all_rules, prefixes)
        court.hear()
        user_rows = [with_facts(rows, session) for rows in to_judge.rows]
        sources = tuple((rows, [court.verdict(rows, number) for number in range(len(rows.facts))]) for rows in user_rows)
    return JudgedRows(sources, evaluation, to_judge.links)


_MOST_TRIED = 5
"""How many confirmed groundings of a prediction we look at for one that rests on another fact."""

Key = tuple[str, str, tuple[str, ...]]


@dataclass
class _Court:
    """Finds the sentences for all predictions together, then gives the verdict on each row. `broken`, `met`: for each model and
    prediction, the groundings that it breaks or meets, one for each rule."""

    session: Session
    evaluation: Evaluation
    links: Links
    predictions: Sequence[JudgedPrediction]
    all_rules: bool
    prefixes: Labels
    broken: dict[tuple[str, int], dict[int, Violation]] = field(default_factory=dict)
    met: dict[tuple[str, int], tuple[int, Violation]] = field(default_factory=dict)
    unlinked: Mapping[str, str | None] = field(default_factory=dict)
    by_key: dict[Key, JudgedPrediction] = field(default_factory=dict)

    def hear(self) -> None:
        # An engine may write the key of a float in another way than we do.
        self.by_key = {(judged.model, judged.predicate, tuple(map(_as_ours, judged.keys))): judged for judged in self.predictions}
        if any(not judged.linked for judged in self.predictions):
            self.unlinked = self.session.unlinked_names()
        self._hear_violations()
        self._hear_confirmations()

    def _hear_violations(self) -> None:
        wanted: dict[int, set[int]] = {}
        for judged in self.predictions:
            for rule in self._told(judged):
                wanted.setdefault(rule, set()).add(judged.number)
        for rule in sorted(wanted):
            for number, violation in self.session.first_of_each(rule, sorted(wanted[rule])):
                self.broken.setdefault((str(violation.model), number), {})[rule] = violation

    def _hear_confirmations(self) -> None:
        """Rule by rule, until each prediction that is supported has a reason."""
        waiting = [judged for judged in self.predictions if judged.meets and not judged.breaks and self._may_be_supported(judged)]
        for rule in sorted({rule for judged in waiting for rule in judged.meets}):
            open_still = sorted({j.number for j in waiting if rule in j.meets and (j.model, j.number) not in self.met})
            if not open_still:
                continue
            for number, grounding in self.session.first_of_each(rule, open_still, confirmed=True, most=_MOST_TRIED):
                if not _rests_on_itself(grounding):
                    self.met.setdefault((str(grounding.model), number), (rule, grounding))

    def _may_be_supported(self, judged: JudgedPrediction) -> bool:
        return judged.linked and not judged.observed

    def _told(self, judged: JudgedPrediction) -> Sequence[int]:
        """The rules that a prediction breaks and that we explain, hard rules first."""
        broken = sorted(judged.breaks, key=lambda rule: (self._kind(rule) != "hard", rule))
        return broken if self.all_rules else broken[:1]

    def _kind(self, rule: int) -> str:
        return self.evaluation.rule_results[rule].kind.value

    def _name(self, rule: int) -> str:
        return self.evaluation.rule_results[rule].info.name

    def verdict(self, rows: UserRows, number: int) -> RowVerdict:
        """The verdict on one row. Sentences have the prefixes of RDF files."""
        verdict, said = self._verdict(rows, number), self.prefixes.of_text
        return replace(verdict, because=said(verdict.because), reasons=tuple(map(said, verdict.reasons)))

    def _verdict(self, rows: UserRows, number: int) -> RowVerdict:
        fact = rows.facts[number]
        if fact is None:
            problem = rows.unreadable[number]
            place = "" if problem.place is None or problem.place.line is None else f"line {problem.place.line:,}: "
            label = f" ({problem.label})" if problem.label else ""
            return RowVerdict(Verdict.UNREADABLE, f"{place}{problem.message}{label}")
        judged = self.by_key[(rows.model, fact.predicate, fact.keys)]
        linked = tuple(self._linked(fact))
        if judged.breaks:
            return self._contradicted(judged, linked)
        if judged.observed:
            return RowVerdict(Verdict.ALREADY_KNOWN, f"{_written(judged)} is observed", linked=linked)
        if not judged.linked:
            return RowVerdict(Verdict.NOT_LINKED, "; ".join(self._strangers(judged)), linked=linked)
        if (reason := self.met.get((judged.model, judged.number))) is not None:
            rule, grounding = reason
            return RowVerdict(Verdict.SUPPORTED, sentence(grounding), self._name(rule), self._kind(rule), linked=linked)
        return RowVerdict(Verdict.NOT_JUDGED, self._unjudged(judged), linked=linked)

    def _contradicted(self, judged: JudgedPrediction, linked: tuple[str, ...]) -> RowVerdict:
        told, groundings = self._told(judged), self.broken[(judged.model, judged.number)]
        reasons = tuple(sentence(groundings[rule]) for rule in told)
        first = told[0]
        rules, further = (tuple(map(self._name, told)), reasons) if self.all_rules else ((), ())
        return RowVerdict(Verdict.CONTRADICTED, reasons[0], self._name(first), self._kind(first), rules, further, linked)

    def _linked(self, fact: RowFact) -> Iterator[str]:
        for asked, meant in zip(fact.asked, (fact.predicate, *fact.keys), strict=True):
            if asked != meant:
                yield f"{_name(asked)} → {_name(meant)} ({self.links.how})"

    def _strangers(self, judged: JudgedPrediction) -> Iterator[str]:
        for key in dict.fromkeys(judged.keys):
            if key in self.links.ambiguous:
                several = " or ".join(f"`{self._shown(meant)}`" for meant in self.links.ambiguous[key])
                yield f"the facts have no `{self._shown(key)}`, which could be {several}"
            elif key in self.unlinked:
                close = self.unlinked[key]
                meant = "" if close is None else f"; did you mean `{self._shown(close)}`?"
                yield f"the facts have no `{self._shown(key)}`{meant}"

    def _shown(self, key: str) -> str:
        return self.prefixes.of_value(_name(key))

    def _unjudged(self, judged: JudgedPrediction) -> str:
        name = self.prefixes.of_predicate(judged.predicate)
        if judged.predicate not in self.session.concerned.by_any:
            # If the facts have the predicate, its name is not misspelt.
            predicate = self.session.data.loaded.vocabulary.predicates.get(judged.predicate)
            is_known = predicate is not None and bool(predicate.observed)
            close = None if is_known else suggestion(judged.predicate, self.session.concerned.by_any)
            meant = "" if close is None else f"; did you mean `{self.prefixes.of_predicate(close)}`?"
            return f"no rule mentions `{name}`{meant}"
        if judged.meets:
            return "no other fact speaks for it, and no rule speaks against it"
        return f"rules mention `{name}`, and none speaks for or against it"


def _as_ours(key: str) -> str:
    return key_of(value_of(key)) if key.startswith(MARKER) else key


def _rests_on_itself(grounding: Violation) -> bool:
    """Whether a rule about two facts was met with the prediction in both places."""
    facts = [str(fact) for fact in grounding.facts]
    return len(facts) > 1 and set(facts) == {str(grounding.prediction)}


def _name(key: str) -> str:
    value = value_of(key)
    return value if isinstance(value, str) else write_value(value)


def _written(judged: JudgedPrediction) -> str:
    return unquoted(print_atom(Atom(judged.predicate, tuple(Constant(value_of(key)) for key in judged.keys))))
