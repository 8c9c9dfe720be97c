"""The groundings behind the counts of a Horn rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from rulescore.counting.horn import Counter, condition_sources
from rulescore.counting.listing.asking import Answer, Asked, Counts
from rulescore.counting.parameters import load_group
from rulescore.engines.base import Engine
from rulescore.loading.facts import Loaded
from rulescore.logic.horn import Refutations
from rulescore.logic.normal import Bound, Fixed, Free, NormalRule, PatternAtom, Slot
from rulescore.logic.plan import ConditionShape, Group, Judge, Parameter, ShapeSlot
from rulescore.logic.planner import plan, variable_numbers
from rulescore.scoring.violation import CountedBy, Fact, Refuter, Violation
from rulescore.setting.choices import Role
from rulescore.sql.horn import claims as claim_sql
from rulescore.sql.horn import conditions as condition_sql
from rulescore.sql.horn import evidence as evidence_sql
from rulescore.sql.horn import listing as sql
from rulescore.sql.horn.claims import Entry
from rulescore.sql.query import Select, drop
from rulescore.values.keys import value_of
from rulescore.values.types import Value


@dataclass(frozen=True, slots=True)
class _Fact:
    """A ground atom: a predicate and the numbers of its constants in the order written; None stands for any constant."""

    predicate: str
    values: tuple[int | None, ...]
    negative: bool = False


@dataclass(frozen=True, slots=True)
class _Refuter:
    """A refuting instance: facts that hold, and facts that are absent."""

    facts: tuple[_Fact, ...]
    absent: tuple[_Fact, ...] = ()


class HornListing:
    """Lists violations of one Horn rule, which we plan as a group of its own for this."""

    def __init__(self, counter: Counter, refutations: Refutations, name: str, rule: NormalRule) -> None:
        self._counter = counter
        self._name = name
        self._rule = rule
        self._number = len(counter.plan.groups)
        self._group: Group = plan([(0, rule)], refutations).groups[0]
        self._tables = load_group(counter.engine, counter.loaded, self._number, self._group)

    def close(self) -> None:
        for table in self._tables:
            self._counter.engine.run(drop(table))

    def columns(self, asked: Asked) -> Sequence[str]:
        columns = sql.row_columns(self._group, predictions=asked.predictions)
        return [*columns, "opponent"] if self._counter.context.appendix and not asked.confirmed else columns

    def rows(self, asked: Asked) -> Select | None:
        columns = sql.row_columns(self._group, predictions=asked.predictions)
        return groundings(self._counter, self._group, self._number, asked, columns)

    def counted(self, by: CountedBy, asked: Asked) -> Counts | None:
        """None: `horn_counts` counts many rules at once, except rules of which the engine cannot tell what refutes them."""
        return None

    def _sources(self) -> list[condition_sql.ConditionSource]:
        return condition_sources(self._number, self._group)

    def described(self, asked: Asked, found: pa.Table, answers: Sequence[Answer]) -> list[Violation]:
        rows = found.to_pylist()
        numbers = variable_numbers(self._rule)
        refuters = {} if asked.confirmed else self._refuters(found, rows)
        texts = self._texts(rows, refuters)
        pattern = self._rule.pattern
        listed = []
        for index, (row, answer) in enumerate(zip(rows, answers, strict=True)):
            values = [row[claim_sql.variable(number)] for number in numbers]
            facts = tuple(texts.fact(self._ground(atom, values)) for atom in pattern.atoms)
            absent = tuple(texts.fact(self._ground(atom, values)) for atom in pattern.negated)
            head = None if self._rule.head is None else self._ground(self._rule.head, values)
            against = refuters.get(index, [])
            violation = Violation(
                rule=self._name,
                binding=_binding(pattern.variables, [texts.value(value) for value in values]),
                body=(*map(str, facts), *(f"not {fact}" for fact in absent)),
                head="false" if head is None else str(texts.fact(head)),
                facts=facts,
                absent=absent,
                refuters=texts.refuters(against, head),
                model=answer.model,
                prediction=answer.fact,
                score=answer.score,
                rank=answer.rank,
                confirmed=asked.confirmed,
            )
            instances = [texts.fact(fact) for one in against for fact in one.facts]
            listed.append(replace(violation, roles=_roles(violation, instances)))
        return listed

    def _ground(self, atom: PatternAtom, values: Sequence[int]) -> _Fact:
        def value(slot: Slot) -> int | None:
            match slot:
                case Bound(index):
                    return values[index]
                case Fixed(key):
                    return self._counter.loaded.constant_ids[key]
                case Free():
                    return None

        return _Fact(atom.predicate, tuple(value(slot) for slot in atom.slots))

    def _fact(self, literal: int, values: Sequence[int | None]) -> _Fact:
        """The fact that a literal on a tuple stands for."""
        name = self._counter.loaded.literal_name(literal, len(values))
        return _Fact(name.predicate, tuple(values[position] for position in name.order), name.negative)

    def _refuters(self, found: pa.Table, rows: list[dict[str, int]]) -> dict[int, list[_Refuter]]:
        """What refutes the head of each listed row."""
        if self._group.judge is Judge.DENIAL:
            return {}
        arity = len(self._group.shape.head or ())
        if self._counter.context.appendix:
            tuples = [[row[claim_sql.head_argument(i)] for i in range(arity)] for row in rows]
            return {i: [_Refuter((self._fact(row["opponent"], tuples[i]),))] for i, row in enumerate(rows)}
        engine = self._counter.engine
        predictions = "prediction" in found.column_names
        keys = condition_sql.asked_keys(arity, predictions=predictions)
        engine.load(sql.LISTED, found.select(keys).append_column("row", pa.array(range(len(rows)), pa.int32())))
        against: dict[int, list[_Refuter]] = {}
        asked = condition_sql.AskedHeads(sql.LISTED, predictions, extra=("row",))
        for source in self._sources():
            for branch in condition_sql.branches(source, self._counter.context, asked, instances=True):
                for row in engine.query(branch).to_pylist():
                    against.setdefault(row["row"], []).append(self._instance(source.shape, row))
        engine.run(drop(sql.LISTED))
        return against

    def _instance(self, shape: ConditionShape, row: dict[str, int]) -> _Refuter:
        def value(slot: ShapeSlot) -> int | None:
            match slot:
                case Bound(index):
                    return row[claim_sql.head_argument(index)] if index < shape.arity else row[f"x{index}"]
                case Parameter(index):
                    return row[f"c{index}"]
                case Free():
                    return None

        facts = [
            self._fact(row[f"l{i}"], [value(slot) for slot in atom.slots]) for i, atom in enumerate((*shape.atoms, *shape.negated))
        ]
        return _Refuter(tuple(facts[: len(shape.atoms)]), tuple(facts[len(shape.atoms) :]))

    def _texts(self, rows: list[dict[str, int]], refuters: dict[int, list[_Refuter]]) -> Texts:
        wanted = {value for row in rows for field, value in row.items() if field[0] in "vt" and field[1:].isdigit()}
        facts = [fact for found in refuters.values() for one in found for fact in (*one.facts, *one.absent)]
        wanted |= {value for fact in facts for value in fact.values if value is not None}
        return texts_of(self._counter.engine, self._counter.loaded, wanted)


def groundings(counter: Counter, group: Group, number: int, asked: Asked, columns: Sequence[str]) -> Select | None:
    """The groundings of a group's rules that `asked` selects, one row each: these columns, and by the appendix the `opponent`."""
    if counter.context.appendix:
        return _by_the_appendix(counter, group, number, asked, columns)
    context, predictions = counter.context, asked.predictions
    sources = condition_sources(number, group)
    parts: list[tuple[str, Select]] = []
    if not predictions:
        if claim_sql.possible(group, context, None):
            parts.append((Role.BODY, claim_sql.rows(claim_sql.dataset_groundings(group, number, context))))
    else:
        for entry in claim_sql.body_entries(group):
            if claim_sql.possible(group, context, entry):
                parts.append((Role.BODY, claim_sql.rows(claim_sql.body_groundings(group, number, context, entry))))
        if group.judge is not Judge.DENIAL and claim_sql.possible(group, context, Entry()):
            parts.append((Role.HEAD, claim_sql.rows(claim_sql.head_groundings(group, number, context))))
        if Role.REFUTER in counter.roles and group.judge is not Judge.DENIAL and not asked.confirmed:
            refuter = condition_sql.refuter_claims(group, number, context, sources, keep=True)
            if refuter is not None:
                parts.append((Role.REFUTER, refuter))
    roles = frozenset(str(role) for role in counter.roles)
    if asked.confirmed:
        return sql.confirmed_rows(parts, group, context, roles, predictions=predictions)
    return sql.definition_rows(parts, group, context, sources, roles, columns, predictions=predictions)


def _by_the_appendix(counter: Counter, group: Group, number: int, asked: Asked, columns: Sequence[str]) -> Select | None:
    context, predictions = counter.context, asked.predictions
    observed: list[Select] = []
    others: list[Select] = []
    if len(group.shape.head or ()) in context.fact_arities:
        if not predictions:
            if claim_sql.possible(group, context, None):
                observed.append(claim_sql.rows(claim_sql.dataset_groundings(group, number, context)))
        elif Role.BODY in counter.roles:
            for index in range(len(group.shape.atoms)):
                if claim_sql.possible(group, context, Entry((index,))):
                    observed.append(claim_sql.rows(claim_sql.body_groundings(group, number, context, Entry((index,)))))
    role, opposes = (Role.HEAD, None) if asked.confirmed else (Role.REFUTER, evidence_sql.OPPOSES)
    if predictions and role in counter.roles and claim_sql.possible(group, context, Entry()):
        others.append(claim_sql.rows(claim_sql.head_groundings(group, number, context, opposes)))
    rows = sql.confirmed_appendix_rows if asked.confirmed else sql.appendix_rows
    return rows(observed, others, group, context, columns)


def texts_of(engine: Engine, loaded: Loaded, wanted: set[int]) -> Texts:
    engine.load(sql.WANTED, pa.table({"id": pa.array(sorted(wanted), pa.int32())}))
    keys = engine.query(sql.constants_by_id())
    engine.run(drop(sql.WANTED))
    known = {number: key for key, number in loaded.constant_ids.items()}
    return Texts(known | dict(zip(keys["id"].to_pylist(), keys["key"].to_pylist(), strict=True)))


@dataclass(frozen=True, slots=True)
class Texts:
    """Facts in words, by the keys of their constants."""

    keys: dict[int, str]

    def value(self, number: int) -> Value:
        return value_of(self.keys[number])

    def fact(self, fact: _Fact) -> Fact:
        values = tuple(None if one is None else self.value(one) for one in fact.values)
        return Fact(fact.predicate, values, negative=fact.negative)

    def refuters(self, found: Sequence[_Refuter], head: _Fact | None) -> tuple[Refuter, ...]:
        """The facts that refute the head. Its absence, by `closed`, is shown only if no fact refutes it."""
        closed = _Refuter((), () if head is None else (head,))
        shown = [one for one in found if one != closed] or found
        return tuple(
            dict.fromkeys(
                Refuter(
                    tuple(map(self.fact, one.facts)),
                    tuple(map(self.fact, one.absent)),
                    "closed" if one == closed and one.absent else None,
                )
                for one in shown
            )
        )


def _binding(names: Sequence[str], values: Sequence[Value]) -> dict[str, Value]:
    """Variables and their values; a wildcard is named by its place among them."""
    return {name if name != "_" else f"_{i + 1}": value for i, (name, value) in enumerate(zip(names, values, strict=True))}


def _roles(violation: Violation, against: Sequence[Fact]) -> tuple[str, ...]:
    """The roles of the prediction. We compare facts as they are written: to Python, 1 and true are equal."""
    own = str(violation.prediction)
    played = {
        Role.BODY: own in map(str, violation.facts),
        Role.HEAD: own == violation.head,
        Role.REFUTER: own in map(str, against),
    }
    return tuple(role.value for role, plays in played.items() if plays)
