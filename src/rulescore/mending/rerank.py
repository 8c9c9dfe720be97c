"""Puts a model's ranked answers into a new order: answers that a rule or declaration forbids move behind the others. Says what that
costs and gains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rulescore.errors import Diagnostic, InputError
from rulescore.mending.enumeration import Integers
from rulescore.mending.list_files import read_lists
from rulescore.mending.lists import Lists
from rulescore.mending.making import listed_candidates
from rulescore.mending.penalties import Penalty, soft_places, tuned
from rulescore.mending.price import Price, price_of, unobserved
from rulescore.mending.reasons import AGAINST, Known, Reason, Reasons, reasons_named
from rulescore.mending.sources import unranked_predictions
from rulescore.mending.table import CandidateTable, Fact
from rulescore.readers.sources import FactsLike
from rulescore.scoring.evaluation import Evaluation, Task
from rulescore.scoring.results import Measure, RuleKind
from rulescore.session.session import Session
from rulescore.setting.model import FactStream, ModelPredictions, Setting
from rulescore.values import key_of, text_of

NOTHING_TO_WIN = 0.01
_METRICS = ("mrr", "hits_at_1", "hits_at_10")
_NO_QUERIES = "nothing says which queries the lists answer: add columns `query_direction` and `test_row`"
BEFORE, ALONE, AFTER = "before", "reflexive alone", "after"


@dataclass(frozen=True, slots=True)
class Move:
    """An answer that was first and is not first any more, with the reason. `facts`: with these it breaks a rule."""

    head: str
    relation: str
    tail: str
    reason: str
    because: str
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The figures of a variant of the lists: accuracy if a truth is given, violating and distinct predictions, scores.

    `bounded`: a figure is the least that it can be, because a list does not have all answers. `unmeasured`: why there is no
    accuracy although a truth is given.
    """

    variant: str
    accuracy: Mapping[str, float | None]
    bounded: bool
    violating: int | None
    predictions: int
    hard: Measure
    soft: Measure
    unmeasured: str | None = None


@dataclass(frozen=True, slots=True)
class ListPrice(Price):
    """What moving would do to the first answers of `queries`: how many of them are forbidden, by reason (`against`). `beyond`: how
    many would be forbidden for other reasons if all reflexive answers had moved."""

    queries: int
    against: int
    by_reason: Mapping[str, int]
    beyond: int

    @property
    def nothing_to_win(self) -> bool:
        """Whether rules and declarations speak against hardly any answer. Nobody needs them to move reflexive ones."""
        return self.beyond < NOTHING_TO_WIN * self.queries

    def sentences(self) -> list[str]:
        """The price in words."""
        broken = self.by_reason.get(Reason.BREAKS, 0)
        first = f"{broken:,} of {self.queries:,} first answers break a hard rule, and {self.against:,} would be moved"
        reasons = [f"{reason}: {times:,}" for reason, times in self.by_reason.items()]
        last = []
        if self.nothing_to_win:
            others = f": with reflexive answers moved, rules speak against {self.beyond:,} first answers"
            last = [f"nothing to win here{others if Reason.REFLEXIVE in self.by_reason else ''}"]
        return [first, *reasons, *Price.sentences(self), *last]


@dataclass(frozen=True, slots=True)
class Reranked:
    """The lists in their new order.

    `moves`: first answers that were moved. `levels`: above 0 for rows that moved behind, -1 for rows that moved ahead.
    `outcomes`: the figures before, with only reflexive answers moved, and after.
    """

    lists: Lists
    moves: tuple[Move, ...]
    levels: Integers
    price: ListPrice
    outcomes: tuple[Outcome, ...]
    penalty: Penalty


def rerank(
    setting: Setting,
    lists: Lists,
    *,
    reasons: Iterable[str] = AGAINST,
    valid: FactsLike | None = None,
    tune: Lists | None = None,
    promote: bool = False,
    trust_declared: bool = False,
) -> Reranked:
    """Move answers behind the others of their query if something speaks against them.

    Args:
        setting: Facts, rules and perhaps a truth; its predictions are ignored.
        lists: The answers.
        reasons: The reasons that move an answer.
        valid: True facts that are neither observed nor held out; we count the price with them.
        tune: Answers to the queries of validation facts. With them, soft rules count as well: the answers that break them fall by
            a penalty that these answers decide.
        promote: Whether conclusions of hard rules come first.
        trust_declared: Whether a rule that is declared hard is hard although the data contradict it.

    Returns:
        The lists, the price, and the figures before and after.

    Raises:
        InputError: The lists cannot be ordered, or no reason could speak against any answer.
    """
    wanted = reasons_named(tuple(reasons))
    asked = [lists, *([] if tune is None else [tune])]
    sources = [list(dict.fromkeys(value for some in asked for value in some.values())), *([] if valid is None else [valid])]
    table = listed_candidates(setting, unranked_predictions(*sources), trust_declared=trust_declared)
    _refuse_without(table, wanted)
    every_reason = Reasons(table)
    facts = _facts(table, lists)
    against = {fact: every_reason.against(fact, wanted) for fact in {*facts}}
    levels = np.array([_level(against[fact]) for fact in facts], np.int64)
    if promote:
        is_concluded = np.array([fact in table.conclusions for fact in facts])
        levels = np.where((levels == 0) & is_concluded, -1, levels)
    reflexive = np.array([every_reason.is_reflexive(fact) for fact in facts]).astype(np.int64)
    penalty, places = Penalty(), None
    if tune is not None:
        penalty = _tuned(table, every_reason, wanted, tune, valid)
        places = penalty.chosen * soft_places(table, facts)
    variants = {BEFORE: lists, ALONE: lists.moved(reflexive), AFTER: lists.moved(levels, places)}
    firsts = _firsts(lists)
    cost = price_of(table, every_reason, wanted, valid)
    price = ListPrice(
        cost.validation,
        cost.lost,
        cost.contradicted,
        queries=len(firsts),
        against=sum(against[facts[place]] is not None for place in firsts),
        by_reason=_by_reason(against[facts[place]] for place in firsts),
        beyond=_beyond(variants[ALONE], dict(zip(lists.triples, facts, strict=True)), against),
    )
    outcomes, facts_against = _outcomes(setting, variants)
    moves = tuple(_moves(lists, facts, against, firsts, facts_against))
    return Reranked(variants[AFTER], moves, levels, price, outcomes, penalty)


def _tuned(table: CandidateTable, known: Reasons, wanted: Sequence[Reason], tune: Lists, valid: FactsLike | None) -> Penalty:
    if valid is None:
        helps = ("give the validation facts as well: `valid=…`, `--valid FACTS`",)
        raise InputError(Diagnostic("E809", "nothing says which answers to validation queries are right", helps=helps))
    facts, truths = _facts(table, tune), set(unobserved(table, valid))
    levels = np.array([_level(known.against(fact, wanted)) for fact in facts], np.int64)
    return tuned(tune, [fact in truths for fact in facts], levels, soft_places(table, facts))


def own_lists(setting: Setting) -> Lists:
    """The lists of a setting's only model.

    Args:
        setting: A setting whose predictions came from one file.

    Returns:
        What the file holds.

    Raises:
        InputError: There are several models or files, or the predictions came from memory.
    """
    streams = [stream for model in setting.predictions for stream in model.streams]
    if len(streams) != 1 or not isinstance(streams[0], FactStream) or streams[0].origin.startswith("<"):
        helps = ('name it: `result.rerank("top10.tsv")`, or give a frame',)
        raise InputError(Diagnostic("E809", "it is not clear which file has the lists of answers", helps=helps))
    return read_lists(streams[0].origin)


def _refuse_without(table: CandidateTable, reasons: Sequence[Reason]) -> None:
    if tuple(reasons) == (Reason.REFLEXIVE,):
        return
    refutable = [rule for rule in table.hard if not table.rules[rule].unrefutable]
    if not refutable and not table.opposes and not table.negative:
        notes = tuple(f"`{rule.name}` is {rule.kind}" for rule in table.rules[:5])
        helps = ("declare what refutes heads, such as incompatible predicates: `incompatible aunt, mother.`",)
        message = "no rule is hard and can be refuted, and nothing is incompatible, so nothing could speak against an answer"
        raise InputError(Diagnostic("E810", message, notes=notes, helps=helps))


def _facts(table: CandidateTable, lists: Lists) -> list[Fact]:
    """The answers as numbers. Constants and predicates that the data do not have get numbers of their own."""
    numbers, predicates = dict(table.numbers), dict(table.predicates)

    def number(known: dict[str, int], key: str) -> int:
        return known.setdefault(key, len(known))

    return [
        (number(predicates, text_of(relation)), number(numbers, head), number(numbers, tail))
        for head, relation, tail in lists.triples
    ]


def _firsts(lists: Lists) -> list[int]:
    order, queries = lists.order(), lists.queries()
    first = np.append(True, np.diff(queries[order]) != 0)
    places: list[int] = order[first].tolist()
    return places


def _beyond(alone: Lists, numbered: Mapping[tuple[str, str, str], Fact], against: Mapping[Fact, Known | None]) -> int:
    triples = alone.triples
    causes = (against[numbered[triples[place]]] for place in _firsts(alone))
    return sum(cause is not None and cause.reason is not Reason.REFLEXIVE for cause in causes)


def _level(known: Known | None) -> int:
    """How far behind an answer moves. Answers that break a rule come last: something may speak against every answer of a list."""
    if known is None:
        return 0
    return 2 if known.reason is Reason.BREAKS else 1


def _by_reason(causes: Iterable[Known | None]) -> dict[str, int]:
    counts = Counter(cause.reason for cause in causes if cause is not None)
    return {reason.value: counts[reason] for reason in AGAINST if counts[reason]}


def _moves(
    lists: Lists,
    facts: Sequence[Fact],
    against: Mapping[Fact, Known | None],
    firsts: Sequence[int],
    facts_against: Mapping[tuple[str, ...], tuple[str, ...]],
) -> Iterable[Move]:
    triples = lists.triples
    for place in firsts:
        known = against[facts[place]]
        if known is not None:
            head, relation, tail = map(text_of, triples[place])
            broken = facts_against.get((relation, head, tail), ()) if known.reason is Reason.BREAKS else ()
            yield Move(head, relation, tail, known.reason.value, known.because, broken)


def _outcomes(
    setting: Setting, variants: Mapping[str, Lists]
) -> tuple[tuple[Outcome, ...], dict[tuple[str, ...], tuple[str, ...]]]:
    """The figures of variants, and for each first answer before that breaks a hard rule the facts of one such grounding."""
    models = tuple(ModelPredictions(name, lists.streams(), None) for name, lists in variants.items())
    with Session(replace(setting, predictions=models, scoring=replace(setting.scoring, allow_unrefutable=True))) as session:
        evaluation = session.evaluate(contributions=False)
        broken = [
            rule.info.name for rule in evaluation.rule_results if rule.kind is RuleKind.HARD and rule.models[BEFORE].counts.refuted
        ]
        facts_against = _facts_against(session, broken)
    return tuple(_figures(evaluation)), facts_against


def _facts_against(session: Session, broken: Sequence[str]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """For each first answer that breaks a hard rule, by predicate and arguments: the other facts of one such grounding."""
    by_answer: dict[tuple[str, ...], tuple[str, ...]] = {}
    for rule in broken:
        for violation in session.violations(rule=rule, model=BEFORE, limit=None).rows:
            answer = violation.prediction
            if answer is not None:
                others = dict.fromkeys([*map(str, violation.facts), *violation.refuted_by])
                key = (answer.predicate, *(text_of(key_of(value)) for value in answer.values if value is not None))
                by_answer.setdefault(key, tuple(fact for fact in others if fact != str(answer)))
    return by_answer


def _figures(evaluation: Evaluation) -> Iterable[Outcome]:
    accuracies = {accuracy.model: accuracy for accuracy in evaluation.accuracy_results}
    for model in evaluation.model_results:
        accuracy = accuracies.get(model.name)
        measures = {} if accuracy is None else {metric: accuracy.measure(metric) for metric in _METRICS}
        figures = {
            metric: None if measure is None else measure.least if measure.value is None else measure.value
            for metric, measure in measures.items()
        }
        bounded = any(measure is not None and measure.value is None for measure in measures.values())
        unmeasured = None if accuracy is None else accuracy.reason if accuracy.task is Task.LINKS else _NO_QUERIES
        counts = model.violating, model.predictions.distinct
        yield Outcome(model.name, figures, bounded, *counts, model.hard_score, model.soft_score, unmeasured)
