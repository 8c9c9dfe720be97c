"""The groundings behind the counts of a Horn rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from rulescore.counting.horn import condition_sources
from rulescore.counting.listing import Asked, Counts, ModelPrediction
from rulescore.counting.parameters import Counter, load_group
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
from rulescore.values import Value, value_of


class _Fact(NamedTuple):  # we make several of these for each of many rows, and a tuple is made ten times as fast as a dataclass
    """A ground atom: a predicate and the numbers of its constants in the order written; None stands for any constant."""

    predicate: str
    values: tuple[int | None, ...]
    negative: bool = False


class _Refuter(NamedTuple):
    """A refuting instance: facts that hold, and facts that are absent."""

    facts: tuple[_Fact, ...]
    absent: tuple[_Fact, ...] = ()


class _GroundedAtom(NamedTuple):
    """An atom, and for each argument its place among the known values of a row."""

    predicate: str
    places: tuple[int, ...]

    def of(self, known: Sequence[int | None]) -> _Fact:
        return _Fact(self.predicate, tuple([known[place] for place in self.places]))


@dataclass(frozen=True, slots=True)
class _Grounded:
    """A rule, read once for many rows. `columns`: of its variables. `further`: constants, and None for any."""

    columns: tuple[str, ...]
    further: tuple[int | None, ...]
    atoms: tuple[_GroundedAtom, ...]
    negated: tuple[_GroundedAtom, ...]
    head: _GroundedAtom | None

    @classmethod
    def of(cls, rule: NormalRule, loaded: Loaded) -> _Grounded:
        columns = tuple(claim_sql.variable(number) for number in variable_numbers(rule))
        further: dict[int | None, int] = {}

        def place(slot: Slot) -> int:
            match slot:
                case Bound(index):
                    return index
                case Fixed(key):
                    return further.setdefault(loaded.constant_ids[key], len(columns) + len(further))
                case Free():
                    return further.setdefault(None, len(columns) + len(further))

        def grounded(atom: PatternAtom) -> _GroundedAtom:
            return _GroundedAtom(atom.predicate, tuple(map(place, atom.slots)))

        atoms, negated = (tuple(map(grounded, part)) for part in (rule.pattern.atoms, rule.pattern.negated))
        head = None if rule.head is None else grounded(rule.head)
        return cls(columns, tuple(further), atoms, negated, head)


def alike(rules: Mapping[int, NormalRule], refutations: Refutations) -> list[list[int]]:
    """The rules, by their numbers, that one listing can list together."""
    groups = plan(list(rules.items()), refutations).groups
    return [list(dict.fromkeys(head.rule for head in group.heads)) for group in groups]


class HornListing:
    """Lists violations of one Horn rule, or of several that are `alike`. We plan these as a group of their own. `rules`: the names
    and the descriptions of the rules, by their numbers."""

    def __init__(self, counter: Counter, refutations: Refutations, rules: Mapping[int, tuple[str, NormalRule]]) -> None:
        self._counter = counter
        self._rules = rules
        self._number = len(counter.plan.groups)
        self._group: Group = plan([(number, rule) for number, (_, rule) in rules.items()], refutations).groups[0]
        self._tables = load_group(counter.engine, counter.loaded, self._number, self._group)

    def close(self) -> None:
        for table in self._tables:
            self._counter.engine.run(drop(table))

    def columns(self, asked: Asked) -> Sequence[str]:
        columns = sql.row_columns(self._group, predictions=asked.predictions)
        return [*columns, "opponent"] if self._counter.context.appendix and not asked.confirmed else columns

    def rows(self, asked: Asked) -> Select | None:
        columns = sql.row_columns(self._group, predictions=asked.predictions)
        return groundings(self._counter, self._group, self._number, asked, ["rule", *columns])

    def counted(self, by: CountedBy, asked: Asked) -> Counts | None:
        """None: `horn_counts` counts many rules at once, unless the engine cannot tell their refuters."""
        return None

    def _sources(self) -> list[condition_sql.ConditionSource]:
        return condition_sources(self._number, self._group)

    def described(self, asked: Asked, table: pa.Table, predictions: Sequence[ModelPrediction]) -> list[Violation]:
        rows = table.to_pylist()
        grounded = {number: _Grounded.of(rule, self._counter.loaded) for number, (_, rule) in self._rules.items()}
        first = next(iter(self._rules))
        refuters = {} if asked.confirmed else self._refuters(table, rows)
        texts = self._texts(rows, refuters)
        listed = []
        for index, (row, prediction) in enumerate(zip(rows, predictions, strict=True)):
            rule_number = row.get(sql.RULE, first)
            name, rule = self._rules[rule_number]
            pattern = rule.pattern
            slots = grounded[rule_number]
            values = [row[column] for column in slots.columns]
            known = [*values, *slots.further]
            facts = tuple([texts.fact(atom.of(known)) for atom in slots.atoms])
            absent = tuple([texts.fact(atom.of(known)) for atom in slots.negated])
            head = None if slots.head is None else slots.head.of(known)
            against = refuters.get(index, [])
            head_text = "false" if head is None else str(texts.fact(head))
            instances = [texts.fact(fact) for refuter in against for fact in refuter.facts]
            violation = Violation(
                rule=name,
                binding=_binding(pattern.variables, [texts.value(value) for value in values]),
                body=(*map(str, facts), *(f"not {fact}" for fact in absent)),
                head=head_text,
                facts=facts,
                absent=absent,
                refuters=texts.refuters(against, head),
                model=prediction.model,
                prediction=prediction.fact,
                score=prediction.score,
                rank=prediction.rank,
                roles=_roles(str(prediction.fact), facts, head_text, instances),
                confirmed=asked.confirmed,
            )
            listed.append(violation)
        return listed

    def _fact(self, literal: int, values: Sequence[int | None]) -> _Fact:
        """The fact that a literal on a tuple stands for."""
        name = self._counter.loaded.literal_name(literal, len(values))
        return _Fact(name.predicate, tuple(values[position] for position in name.order), name.negative)

    def _refuters(self, table: pa.Table, rows: list[dict[str, int]]) -> dict[int, list[_Refuter]]:
        """What refutes the head of each listed row."""
        if self._group.judge is Judge.DENIAL:
            return {}
        arity = len(self._group.shape.head or ())
        if self._counter.context.appendix:
            tuples = [[row[claim_sql.head_argument(i)] for i in range(arity)] for row in rows]
            return {i: [_Refuter((self._fact(row["opponent"], tuples[i]),))] for i, row in enumerate(rows)}
        engine = self._counter.engine
        predictions = "prediction" in table.column_names
        keys = condition_sql.asked_keys(arity, predictions=predictions)
        engine.load(sql.LISTED, table.select(keys).append_column("row", pa.array(range(len(rows)), pa.int32())))
        against: dict[int, list[_Refuter]] = {}
        asked = condition_sql.AskedHeads(sql.LISTED, predictions, extra=("row",))
        for source in self._sources():
            for branch in condition_sql.branches(source, self._counter.context, asked, instances=True):
                # In order: a display with room for one fact shows the first.
                instances = engine.query(branch)
                for row in instances.sort_by([(column, "ascending") for column in instances.column_names]).to_pylist():
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
        facts = [fact for of_row in refuters.values() for refuter in of_row for fact in (*refuter.facts, *refuter.absent)]
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
    """Facts in words, by the keys of their constants. If many violations have the same fact, we put it in words once."""

    keys: dict[int, str]
    facts: dict[_Fact, Fact] = field(default_factory=dict)

    def value(self, number: int) -> Value:
        return value_of(self.keys[number])

    def fact(self, fact: _Fact) -> Fact:
        if fact not in self.facts:
            values = tuple(None if value is None else self.value(value) for value in fact.values)
            self.facts[fact] = Fact(fact.predicate, values, negative=fact.negative)
        return self.facts[fact]

    def refuters(self, refuters: Sequence[_Refuter], head: _Fact | None) -> tuple[Refuter, ...]:
        """The facts that refute the head. Shows "absent" (from `closed`) only if no fact refutes it."""
        closed = _Refuter((), () if head is None else (head,))
        shown = [refuter for refuter in refuters if refuter != closed] or refuters
        return tuple(
            Refuter(
                tuple(map(self.fact, refuter.facts)),
                tuple(map(self.fact, refuter.absent)),
                "closed" if refuter == closed and refuter.absent else None,
            )
            for refuter in dict.fromkeys(shown)
        )


def _binding(names: Sequence[str], values: Sequence[Value]) -> dict[str, Value]:
    """Variables and their values; a wildcard is named by its place among them."""
    return {name if name != "_" else f"_{i + 1}": value for i, (name, value) in enumerate(zip(names, values, strict=True))}


def _roles(own: str, facts: Sequence[Fact], head: str, against: Sequence[Fact]) -> tuple[str, ...]:
    """The roles of the prediction. We compare facts as they are written: to Python, 1 and true are equal."""
    played = {
        Role.BODY: own in map(str, facts),
        Role.HEAD: own == head,
        Role.REFUTER: own in map(str, against),
    }
    return tuple(role.value for role, plays in played.items() if plays)
