"""Makes the table of all candidates, of answers to queries, or of lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np
import pyarrow as pa

from rulescore.arguments.python import AuditOptions, make_setting, takes
from rulescore.arguments.rule_sources import RulesLike
from rulescore.counting.parameters import oppositions
from rulescore.errors import Diagnostic, InputError
from rulescore.loading.facts import Loaded
from rulescore.mending import enumeration
from rulescore.mending.sources import batches, read, unranked_predictions
from rulescore.mending.table import CandidateRule, CandidateTable, Domain, Fact, split
from rulescore.readers.sources import FactsLike
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import RuleKind
from rulescore.scoring.score import kind_of
from rulescore.session.session import Session
from rulescore.setting.model import ModelPredictions, Setting
from rulescore.sql.facts import CONSTANT
from rulescore.sql.names import argument, arguments, fact_table, prediction_table
from rulescore.sql.query import row, select

MOST_GROUNDINGS = 50_000_000


@takes(AuditOptions)
def candidates(
    observed: FactsLike,
    rules: RulesLike,
    *,
    of: FactsLike | None = None,
    queries: FactsLike | None = None,
    limit: int = MOST_GROUNDINGS,
    trust_declared: bool = False,
    **options: Unpack[AuditOptions],
) -> CandidateTable:
    """What every fact that is not observed would contribute to every rule, as `score` counts it alone.

    Args:
        observed: The facts, as `score` takes them.
        rules: The rules, as `score` takes them.
        of: Count only these candidates, such as a model's lists; rules may then have any form.
        queries: Count only candidates that share predicate and one argument with one of these facts.
        limit: The most groundings to find; if there are more, an error says what would help.
        trust_declared: Whether a rule that is declared hard is hard although the data contradict it.
        **options: The options of `rulescore.audit`.

    Returns:
        The table of candidates.

    Raises:
        InputError: The rules or facts are wrong, a rule has a form that needs lists, or there are too many groundings.
    """
    setting = make_setting(observed, None, rules, **options)
    if not isinstance(limit, int) or limit < 1:
        raise InputError(Diagnostic("E402", f"`limit` is `{limit}`", helps=("give a whole number from 1",)))
    if of is not None and queries is not None:
        raise InputError(Diagnostic("E327", "lists of candidates and queries are given together", helps=("give one of them",)))
    if of is not None:
        return listed_candidates(setting, unranked_predictions(of), trust_declared=trust_declared)
    with Session(setting) as session:
        return all_candidates(session, limit=limit, trust_declared=trust_declared, queries=queries)


def all_candidates(
    session: Session, *, limit: int = MOST_GROUNDINGS, trust_declared: bool = False, queries: FactsLike | None = None
) -> CandidateTable:
    """The table of all candidates of an open session, or only of candidates that answer queries."""
    enumeration.refuse_conventions(session)
    if problems := enumeration.reasons_for_lists(session):
        message = f"candidates cannot be counted all at once for {len(problems)} of the rules"
        notes = tuple(f"`{name}`: {reason}" for name, reason in problems.items())
        helps = ("give lists of candidates, which may break rules of any form: `of=…`, `--of LISTS`", "or leave these rules out")
        raise InputError(Diagnostic("E806", message, notes=notes, helps=helps))
    evaluation = session.audit()
    asked = None if queries is None else ask(session, queries)
    _refuse_many(session, limit, asked=queries is not None)
    rows = enumeration.all_contributions(session, asked=queries is not None)
    domain = None
    if asked is not None:
        ids = session.data.loaded.predicate_ids
        domain = Domain(queries=frozenset((ids[query.predicate], query.place, query.constant) for query in asked))
    return _table(session, evaluation, rows, domain, trust_declared=trust_declared)


def _refuse_many(session: Session, limit: int, *, asked: bool) -> None:
    groundings = enumeration.estimate(session, limit, asked=asked)
    if groundings > limit:
        message = f"the candidates have more than {limit:,} groundings"
        helps = (
            *(("give the queries that you will ask: `queries=train`, `--queries FILE`",) if not asked else ()),
            "give lists of candidates: `of=lists`, `--of LISTS`",
            f"or allow more: `limit={10 * limit:_}`, `--limit {10 * limit}`",
        )
        raise InputError(Diagnostic("E807", message, helps=helps))


def listed_candidates(setting: Setting, lists: ModelPredictions, *, trust_declared: bool = False) -> CandidateTable:
    """The table of the candidates of lists, counted as predictions are: rules may have any form."""
    scoring = replace(setting.scoring, allow_unrefutable=True)
    with Session(replace(setting, predictions=(lists,), truth=None, scoring=scoring)) as session:
        enumeration.refuse_conventions(session)
        evaluation = session.evaluate(contributions=True)
        contributions = evaluation.contributions
        loaded, numbers = session.data.loaded, {key: number for number, key in enumerate(_keys(session))}
        width = enumeration.width_of(loaded)
        by_name = {rule.name: number for number, rule in enumerate(session.rules)}
        domain = Domain(listed=frozenset(_predicted(session)))
        rows = _listed_rows(contributions, loaded, numbers, by_name, width)
        return _table(session, evaluation, rows, domain, trust_declared=trust_declared)


def _predicted(session: Session) -> Iterator[Fact]:
    loaded = session.data.loaded
    for arity in sorted(loaded.prediction_arities):
        c = row(prediction_table(arity), "c")
        predictions = session.engine.query(select(c.literal, *c[arguments(arity)]).from_(c).where(c.observed == 0))
        columns = [predictions[field].to_pylist() for field in ("literal", *arguments(arity))]
        for literal, *values in zip(*columns, strict=True):
            if literal % loaded.stride == 0:
                yield (literal // loaded.stride, *values)


def _listed_rows(
    table: pa.Table, loaded: Loaded, numbers: Mapping[str, int], rules: Mapping[str, int], width: int
) -> enumeration.Rows:
    n = table.num_rows
    rule = np.array([rules[name] for name in table["rule"].to_pylist()], np.int64)
    predicate = np.array([loaded.predicate_ids[name] for name in table["predicate"].to_pylist()], np.int64)
    values = np.full((n, width), enumeration.NO_ARGUMENT, np.int64)
    for place, (texts, letters) in enumerate(zip(table["arguments"].to_pylist(), table["types"].to_pylist(), strict=True)):
        values[place, : len(texts)] = [numbers[_key(text, letter)] for text, letter in zip(texts, letters, strict=True)]
    counts = [table[field].to_numpy().astype(np.int64) for field in ("confirmed", "refuted", "evaluable")]
    return enumeration.joined([enumeration.Rows(rule, predicate, values, np.stack(counts, axis=1))], width)


def _key(text: str, letter: str) -> str:
    from rulescore.values import MARKER, key_of

    return key_of(text) if letter == "s" else f"{MARKER}{letter}{text}"


def _keys(session: Session) -> list[str]:
    c = row(CONSTANT, "c")
    constants = session.engine.query(select(c.id, c.key).from_(c).order_by(c.id))
    keys: list[str] = constants["key"].to_pylist()
    return keys


def ask(session: Session, facts: FactsLike) -> list[enumeration.Query]:
    """The queries that facts answer, loaded for the statements that count their candidates."""
    queries = _queries(session.data.loaded, _keys(session), facts)
    enumeration.load_queries(session, queries)
    return queries


def _queries(loaded: Loaded, keys: Sequence[str], facts: FactsLike) -> list[enumeration.Query]:
    numbers = {key: number for number, key in enumerate(keys)}
    queries: dict[enumeration.Query, None] = {}
    for batch in batches(facts):
        for predicate, terms, _ in read(batch):
            if loaded.vocabulary.arity(predicate) != batch.arity:
                continue  # no rule and no fact has this predicate, so its candidates have no contributions
            for place, key in enumerate(terms):
                if key in numbers:
                    queries[enumeration.Query(predicate, place, numbers[key])] = None
    return list(queries)


def _table(
    session: Session, evaluation: Evaluation, rows: enumeration.Rows, domain: Domain | None, *, trust_declared: bool
) -> CandidateTable:
    loaded = session.data.loaded
    observed, negative = _facts(session)
    facts = frozenset(tuple(value for value in fact if value != enumeration.NO_ARGUMENT) for fact in observed.tolist())
    single, many = split(rows, facts)
    rules = tuple(_rules(session, evaluation, trust_declared=trust_declared))
    sure = [number for number, rule in enumerate(rules) if rule.kind is RuleKind.HARD and not rule.unrefutable]
    return CandidateTable(
        rules=rules,
        predicates=dict(loaded.predicate_ids),
        arities={loaded.predicate_ids[known.name]: known.arity for known in loaded.vocabulary.predicates.values()},
        keys=_keys(session),
        rows=single,
        symbolic=many,
        observed=observed,
        opposes=_opposes(session),
        negative=negative,
        conclusions=enumeration.conclusions_of(session, sure),
        domain=domain,
    )


def _rules(session: Session, evaluation: Evaluation, *, trust_declared: bool) -> Iterator[CandidateRule]:
    for result in evaluation.rule_results:
        info, kind = result.info, result.kind
        contradicted = info.declared_kind == "hard" and bool(result.dataset.refuted)
        if contradicted and not trust_declared and not info.denial:
            kind, _ = kind_of(replace(info, declared_kind=None), result.dataset, session.setting.scoring.hard_needs)
        yield CandidateRule(info.name, info.text, RuleKind(kind), info.weight, result.dataset, contradicted, info.unrefutable)


def _opposes(session: Session) -> dict[int, tuple[tuple[int, tuple[int, ...]], ...]]:
    """For each predicate, the predicates whose facts refute its own, each with the order in which it takes the arguments."""
    loaded = session.data.loaded
    heads, opponents = oppositions(loaded, session.refutations, set(loaded.vocabulary.predicates))
    by_literal = {loaded.fact_literal(predicate.name): predicate for predicate in loaded.vocabulary.predicates.values()}
    refuting: dict[int, dict[tuple[int, tuple[int, ...]], None]] = {}
    for head, opponent in zip(heads.to_pylist(), opponents.to_pylist(), strict=True):
        predicate = by_literal[head]
        literal = loaded.literal_name(opponent, predicate.arity)
        if not literal.negative:
            refuting.setdefault(loaded.predicate_ids[predicate.name], {})[
                loaded.predicate_ids[literal.predicate], literal.order
            ] = None
    return {number: tuple(others) for number, others in refuting.items()}


def _facts(session: Session) -> tuple[enumeration.Integers, frozenset[Fact]]:
    """The observed facts, as predicate and arguments, and the negative facts."""
    loaded = session.data.loaded
    width, predicates = enumeration.width_of(loaded), len(loaded.predicate_ids)
    parts, negative = [np.zeros((0, width + 1), np.int64)], []
    for arity in sorted(loaded.fact_arities):
        f = row(fact_table(arity), "f")
        rows = session.engine.query(select(f.literal, *f[arguments(arity)]).from_(f).where(f.literal % loaded.stride == 0))
        values = np.full((rows.num_rows, width + 1), enumeration.NO_ARGUMENT, np.int64)
        values[:, 0] = rows["literal"].to_numpy() // loaded.stride
        for place in range(arity):
            values[:, place + 1] = rows[argument(place)].to_numpy()
        parts.append(values[values[:, 0] < predicates])
        negative += [(fact[0] - predicates, *fact[1 : arity + 1]) for fact in values[values[:, 0] >= predicates].tolist()]
    return np.concatenate(parts), frozenset(negative)
