"""Statements that find groundings: the bodies that hold, and what they claim of their heads.

A *claim* is a rule, a head tuple `t0 …`, the prediction that takes part (none over the data alone) and the number `n` of
groundings behind it. `own` is the prediction as a literal on the tuple `o0 …`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from sqlglot import exp

from rulescore.logic.plan import Bound, Free, Group, Parameter, Shape, ShapeAtom, ShapeSlot, ShapeTest
from rulescore.sql.build import (
    Query,
    Select,
    all_of,
    any_of,
    argument,
    arguments,
    candidate_table,
    column,
    count_rows,
    different,
    equal,
    exists,
    fact_table,
    name,
    named,
    negation,
    number,
    select,
    table,
    tuple_table,
    union_all,
)
from rulescore.sql.horn.context import HornContext


@dataclass(frozen=True, slots=True)
class Entry:
    """Where the prediction stands: at the body atoms `atoms` or, if there are none, on the head's tuple. No entry (None): no
    prediction takes part.

    At the atoms `also`, either the prediction or a fact may stand."""

    atoms: tuple[int, ...] = ()
    also: tuple[int, ...] = ()


def body_table(group: int) -> str:
    return name(f"body_{group}")


def head_table(group: int) -> str:
    return name(f"head_{group}")


def head_argument(index: int) -> str:
    return f"t{index}"


def own_argument(index: int) -> str:
    return f"o{index}"


def variable(index: int) -> str:
    return f"v{index}"


def body_entries(group: Group) -> list[Entry]:
    """One entry for each body atom, as the first that the prediction fills; later atoms may be the prediction or facts."""
    atoms = group.shape.atoms
    bodies = [tuple(literal.predicate for literal in body.literals) for body in group.bodies]

    def together(i: int, j: int) -> bool:
        return atoms[i].arity == atoms[j].arity and any(body[i] == body[j] for body in bodies)

    return [Entry((i,), tuple(j for j in range(i + 1, len(atoms)) if together(i, j))) for i in range(len(atoms))]


def flipped(literal: exp.Expr, stride: int) -> exp.Expr:
    """The literal of the reversed tuple: binary predicates have exactly two orders."""
    turn = exp.Mul(this=number(2), expression=exp.Paren(this=exp.Mod(this=literal, expression=number(stride))))
    return exp.Paren(this=exp.Sub(this=exp.Add(this=literal.copy(), expression=number(1)), expression=turn))


@dataclass(slots=True)
class _Join:
    """A select that grows one table at a time; conditions go to the join that makes them decidable."""

    context: HornContext
    shape: Shape
    query: Select = field(default_factory=Select)
    columns: dict[int, exp.Expr] = field(default_factory=dict)
    started: bool = False

    def add(self, source: str | Query, alias: str, conditions: Iterable[exp.Expr]) -> None:
        found = list(conditions)
        if not isinstance(source, str):
            self.query = self.query.join(source.subquery(alias), on=all_of(found))
        elif self.started:
            self.query = self.query.join(table(source, alias), on=all_of(found))
        else:
            self.query = self.query.from_(table(source, alias))
            if found:
                self.query = self.query.where(*found)
            self.started = True

    def match(self, alias: str, slots: Sequence[ShapeSlot], parameters: str, prefix: str) -> list[exp.Expr]:
        """Conditions under which the arguments of a row fit the slots; unbound variables become bound to it."""
        conditions = []
        for position, slot in enumerate(slots):
            here = column(alias, argument(position))
            match slot:
                case Parameter(index):
                    conditions.append(equal(here, column(parameters, f"{prefix}{index}")))
                case Bound(index) if index in self.columns:
                    conditions.append(equal(here, self.columns[index].copy()))
                case Bound(index):
                    self.columns[index] = here
                case Free():
                    pass
        return conditions

    def value(self, slot: ShapeSlot, parameters: str = "b", prefix: str = "c") -> exp.Expr:
        match slot:
            case Parameter(index):
                return column(parameters, f"{prefix}{index}")
            case Bound(index):
                return self.columns[index].copy()
            case Free():
                raise AssertionError("a free slot has no value")


def facts_or_predictions(context: HornContext, arity: int) -> Query:
    """Facts, whose `prediction` is null, and predictions that are not facts."""
    fields = ["literal", *arguments(arity)]
    new = select(*(column("c", c) for c in fields), column("c", "prediction")).from_(table(candidate_table(arity), "c"))
    new = new.where(equal(column("c", "observed"), number(0)))
    if arity not in context.fact_arities:
        return new
    old = select(*(column("f", c) for c in fields), named(exp.cast(exp.null(), "INT"), "prediction"))
    return union_all([old.from_(table(fact_table(arity), "f")), new])


def fact_or_own(alias: str, prediction: exp.Expr) -> exp.Expr:
    """Whether a row is a fact, or the one prediction that takes part."""
    here = column(alias, "prediction")
    return exp.Paren(this=any_of((exp.Is(this=here, expression=exp.null()), equal(here.copy(), prediction))))


def _atom(join: _Join, index: int, source: str | Query, *, with_body: bool) -> None:
    """Join a body atom; its literal and constants come from the body parameters once these are joined."""
    alias = f"f{index}"
    atom = join.shape.atoms[index]
    conditions = [equal(column(alias, "literal"), column("b", f"l{index}"))] if with_body else []
    conditions += join.match(alias, atom.slots, "b", "c") if with_body else _variables_only(join, alias, atom)
    join.add(source, alias, conditions)


def _variables_only(join: _Join, alias: str, atom: ShapeAtom) -> list[exp.Expr]:
    slots = tuple(slot if isinstance(slot, Bound) else Free() for slot in atom.slots)
    return join.match(alias, slots, "b", "c")


def _parameters_of(join: _Join, atoms: Iterable[int]) -> list[exp.Expr]:
    """Conditions under which a row of body parameters fits atoms that are joined already."""
    found = []
    for index in atoms:
        found.append(equal(column(f"f{index}", "literal"), column("b", f"l{index}")))
        for position, slot in enumerate(join.shape.atoms[index].slots):
            if isinstance(slot, Parameter):
                found.append(equal(column(f"f{index}", argument(position)), column("b", f"c{slot.index}")))
    return found


def facts_first(shape: Shape) -> bool:
    """Whether to join predictions with facts before the rules: two atoms without constants have few matches, however many rules
    there are."""
    slots = [slot for atom in shape.atoms for slot in atom.slots] + list(shape.head or ())
    return len(shape.atoms) <= 2 and not any(isinstance(slot, Parameter) for slot in slots)


def _test(join: _Join, test: ShapeTest) -> exp.Expr:
    compare = equal if test.equal else different
    return compare(join.value(test.left), join.value(test.right))


def _absent(join: _Join, index: int, prediction: exp.Expr | None) -> list[exp.Expr]:
    """Conditions of a negated atom: neither a fact nor the prediction matches it."""
    atom = join.shape.negated[index]
    literal = column("b", f"l{len(join.shape.atoms) + index}")
    found = []
    for source, arities in ((fact_table, join.context.fact_arities), (candidate_table, join.context.candidate_arities)):
        if atom.arity not in arities or (source is candidate_table and prediction is None):
            continue
        conditions = [equal(column("x", "literal"), literal.copy())]
        for position, slot in enumerate(atom.slots):
            if not isinstance(slot, Free):
                conditions.append(equal(column("x", argument(position)), join.value(slot)))
        if source is candidate_table and prediction is not None:
            conditions.append(equal(column("x", "prediction"), prediction.copy()))
        query = select(number(1)).from_(table(source(atom.arity), "x")).where(*conditions)
        found.append(negation(exists(query)))
    return found


def same_fact(context: HornContext, arity: int, left: str, right: str) -> exp.Expr:
    """Whether two rows of literals are one fact; binary rows may be turned against each other."""
    straight = all_of(equal(column(left, c), column(right, c)) for c in ("literal", *arguments(arity)))
    if arity != 2:
        return straight
    turned = all_of(
        (
            equal(column(left, "literal"), flipped(column(right, "literal"), context.stride)),
            equal(column(left, "a0"), column(right, "a1")),
            equal(column(left, "a1"), column(right, "a0")),
        )
    )
    return any_of((straight, turned))


def _filters(join: _Join, own: str | None, filled: Sequence[int], own_arity: int) -> list[exp.Expr]:
    """Tests, negated atoms, distinct variables; and that observed atoms are facts other than the prediction."""
    shape, context = join.shape, join.context
    found = [_test(join, test) for test in shape.tests]
    prediction = column(own, "prediction") if own is not None else None
    for index in range(len(shape.negated)):
        found.extend(_absent(join, index, prediction))
    if context.distinct_variables:
        pairs = combinations(range(shape.variables), 2)
        found.extend(different(join.columns[i].copy(), join.columns[j].copy()) for i, j in pairs)
    if own is not None and not context.appendix and context.any_observed_prediction:
        for index, atom in enumerate(shape.atoms):
            if index not in filled and atom.arity == own_arity:
                found.append(negation(same_fact(context, own_arity, f"f{index}", own)))
    return found


def possible(group: Group, context: HornContext, entry: Entry | None) -> bool:
    """Whether every table the statement needs exists; if one is missing, there is nothing to find."""
    shape = group.shape
    filled = (*entry.atoms, *entry.also) if entry is not None else ()
    for index, atom in enumerate(shape.atoms):
        if atom.arity not in (context.candidate_arities if index in filled else context.fact_arities):
            return False
    if entry is not None and not entry.atoms:
        return shape.head is not None and len(shape.head) in context.candidate_arities
    return True


def _head_slots(join: _Join, parameters: str = "h") -> list[exp.Expr]:
    return [join.value(slot, parameters, "h") for slot in join.shape.head or ()]


@dataclass(frozen=True, slots=True)
class Grounded:
    """A join that finds groundings: of the data alone, or with a prediction (`own`, a row's alias) in some place."""

    join: _Join
    number: int
    own: str | None = None
    own_arity: int = 0
    head_joined: bool = False


def dataset_groundings(group: Group, number_of_group: int, context: HornContext) -> Grounded:
    """Groundings over the data alone."""
    join = _Join(context, group.shape)
    join.add(body_table(number_of_group), "b", ())
    for index, atom in enumerate(group.shape.atoms):
        _atom(join, index, fact_table(atom.arity), with_body=True)
    join.query = join.query.where(*_filters(join, None, (), 0))
    return Grounded(join, number_of_group)


def body_groundings(group: Group, number_of_group: int, context: HornContext, entry: Entry) -> Grounded:
    """Groundings in which the prediction stands at the body atoms of an entry."""
    join = _Join(context, group.shape)
    first, *others = entry.atoms
    arity = group.shape.atoms[first].arity
    own = f"f{first}"
    _atom(join, first, context.predictions(arity), with_body=False)
    late = facts_first(group.shape)
    if not late:
        join.add(body_table(number_of_group), "b", _parameters_of(join, [first]))
    for index in others:
        _atom(join, index, context.predictions(arity), with_body=not late)
        join.query = join.query.where(equal(column(f"f{index}", "prediction"), column(own, "prediction")))
    for index, atom in enumerate(group.shape.atoms):
        if index in entry.also:
            _atom(join, index, facts_or_predictions(context, arity), with_body=not late)
            join.query = join.query.where(fact_or_own(f"f{index}", column(own, "prediction")))
        elif index not in entry.atoms:
            _atom(join, index, context.facts(atom.arity), with_body=not late)
    if late:
        join.add(body_table(number_of_group), "b", _parameters_of(join, range(len(group.shape.atoms))))
    join.query = join.query.where(*_filters(join, own, (*entry.atoms, *entry.also), arity))
    return Grounded(join, number_of_group, own, arity)


def head_groundings(group: Group, number_of_group: int, context: HornContext, opposes: str | None = None) -> Grounded:
    """Groundings in which the prediction stands on the head's tuple and nowhere in the body: as the head itself or, if `opposes`
    names a table of oppositions, as a fact that is incompatible with the head."""
    join = _Join(context, group.shape)
    head = group.shape.head or ()
    own = "p"
    fits = join.match(own, head, "h", "h")
    join.add(context.predictions(len(head)), own, ())
    said = equal(column("h", "literal"), column(own, "literal") if opposes is None else column("o", "head"))
    opposed = [equal(column("o", "l0"), column(own, "literal"))]
    body_of_head = equal(column("b", "body"), column("h", "body"))
    if facts_first(group.shape):
        join.query = join.query.where(*fits)
        for index, atom in enumerate(group.shape.atoms):
            _atom(join, index, context.facts(atom.arity), with_body=False)
        join.add(body_table(number_of_group), "b", _parameters_of(join, range(len(group.shape.atoms))))
        join.add(head_table(number_of_group), "h", [body_of_head, said] if opposes is None else [body_of_head])
        if opposes is not None:
            join.add(opposes, "o", [*opposed, said])
    else:
        if opposes is not None:
            join.add(opposes, "o", opposed)
        join.add(head_table(number_of_group), "h", [said, *fits])
        join.add(body_table(number_of_group), "b", [body_of_head])
        for index, atom in enumerate(group.shape.atoms):
            _atom(join, index, fact_table(atom.arity), with_body=True)
    if opposes is not None and context.ambiguous:
        join.query = join.query.where(negation(_read_before(opposes, len(head))))
    join.query = join.query.where(*_filters(join, own, (), len(head)))
    return Grounded(join, number_of_group, own, len(head), head_joined=True)


def _read_before(opposes: str, arity: int) -> exp.Expr:
    """Whether the prediction, read in another order on the same tuple, is a refuting literal of a lower number."""
    twin = [equal(column("x", c), column("p", c)) for c in ("prediction", *arguments(arity))]
    earlier = (
        select(number(1))
        .from_(table(opposes, "q"))
        .join(table(candidate_table(arity), "x"), on=equal(column("x", "literal"), column("q", "l0")))
        .where(equal(column("q", "head"), column("o", "head")), exp.LT(this=column("q", "l0"), expression=column("o", "l0")), *twin)
    )
    return exists(earlier)


def _carried(found: Grounded) -> list[tuple[str, exp.Expr]]:
    if found.own is None:
        return []
    carried: list[tuple[str, exp.Expr]] = [
        ("prediction", column(found.own, "prediction")),
        ("own", column(found.own, "literal")),
    ]
    return carried + [(own_argument(i), column(found.own, argument(i))) for i in range(found.own_arity)]


def rows(found: Grounded) -> Select:
    """A row for each grounding, with all its variables."""
    join, query = found.join, found.join.query
    if not found.head_joined:
        query = query.join(table(head_table(found.number), "h"), on=equal(column("h", "body"), column("b", "body")))
    fields = [("rule", column("h", "rule")), ("head", column("h", "literal")), *_carried(found)]
    fields += [(head_argument(i), value) for i, value in enumerate(_head_slots(join))]
    fields += [(variable(i), join.columns[i].copy()) for i in range(join.shape.variables)]
    return query.select(*(named(value, alias) for alias, value in fields))


def claims(found: Grounded) -> Select:
    """Groundings counted per claim; we count per body before we join the rules that share it."""
    join, shape = found.join, found.join.shape
    carried = _carried(found)
    if found.head_joined:
        fields = [("rule", column("h", "rule")), ("head", column("h", "literal")), *carried]
        return _grouped(join.query, fields + [(head_argument(i), value) for i, value in enumerate(_head_slots(join))])
    needed = [(variable(i), join.columns[i].copy()) for i in shape.head_variables]
    inner = [("body", column("b", "body")), *carried, *needed]
    if found.own is None and len(needed) == shape.variables:
        matches = join.query.select(*(named(value, alias) for alias, value in [*inner, ("n", number(1))]))
    else:
        matches = _grouped(join.query, inner)
    return _with_heads(shape, found.number, matches, [alias for alias, _ in carried])


def located(found: Grounded, *, readings: bool) -> Select:
    """Groundings counted per rule, prediction and signature of the head's tuple: `rule`, `head`, `signature`, `n`.

    `readings` adds `reading0` …: the prediction as a literal on the head's tuple, if it is one."""
    join, shape = found.join, found.join.shape
    head = shape.head or ()
    if not found.head_joined and any(isinstance(slot, Parameter) for slot in head):
        return _located_claims(found, readings=readings)
    values = _head_slots(join)
    join.add(join.context.tuples(len(head)), "t", [equal(column("t", argument(i)), value) for i, value in enumerate(values)])
    fields: list[tuple[str, exp.Expr]] = [("signature", column("t", "signature"))]
    if found.own is not None:
        fields.append(("prediction", column(found.own, "prediction")))
        if readings:
            own = [column(found.own, argument(i)) for i in range(found.own_arity)]
            fields += _readings(join.context, column(found.own, "literal"), own, values)
    if found.head_joined:
        return _grouped(join.query, [("rule", column("h", "rule")), ("head", column("h", "literal")), *fields])
    counted = _grouped(join.query, [("body", column("b", "body")), *fields])
    query = select(column("h", "rule"), named(column("h", "literal"), "head"))
    query = query.select(*(column("m", alias) for alias, _ in fields), column("m", "n")).with_step("counted", counted)
    query = query.from_(table("counted", "m"))
    return query.join(table(head_table(found.number), "h"), on=equal(column("h", "body"), column("m", "body")))


def _located_claims(found: Grounded, *, readings: bool) -> Select:
    """As `located`, for heads with constants: only the rules know these constants, so we join the rules before the head's tuple."""
    arity = len(found.join.shape.head or ())
    fields: list[tuple[str, exp.Expr]] = [("rule", column("k", "rule")), ("head", column("k", "head"))]
    fields.append(("signature", column("t", "signature")))
    if found.own is not None:
        fields.append(("prediction", column("k", "prediction")))
        if readings:
            own = [column("k", own_argument(i)) for i in range(found.own_arity)]
            fields += _readings(found.join.context, column("k", "own"), own, [column("k", head_argument(i)) for i in range(arity)])
    query = select(*(named(value, alias) for alias, value in fields), named(exp.Sum(this=column("k", "n")), "n"))
    query = query.with_named("claims", claims(found)).from_(table("claims", "k"))
    on = [equal(column("t", argument(i)), column("k", head_argument(i))) for i in range(arity)]
    query = query.join(table(tuple_table(arity), "t"), on=all_of(on))
    return query.group_by(*(value.copy() for _, value in fields))


def _readings(
    context: HornContext, own: exp.Expr, values: Sequence[exp.Expr], head: Sequence[exp.Expr]
) -> list[tuple[str, exp.Expr]]:
    found = own_readings(context, own, values, head)
    return [(f"reading{i}", exp.Case(ifs=[exp.If(this=holds, true=literal)])) for i, (holds, literal) in enumerate(found)]


def own_readings(
    context: HornContext, own: exp.Expr, values: Sequence[exp.Expr], head: Sequence[exp.Expr]
) -> list[tuple[exp.Expr, exp.Expr]]:
    """The ways in which a prediction, the literal `own` on the tuple `values`, can be a literal on the head's tuple: a condition,
    and that literal."""
    arity = len(head)
    if arity == 2:
        straight = all_of(equal(values[i].copy(), head[i].copy()) for i in (0, 1))
        turned = all_of(equal(values[i].copy(), head[1 - i].copy()) for i in (0, 1))
        return [(straight, own), (turned, flipped(own.copy(), context.stride))]
    readings: list[tuple[exp.Expr, exp.Expr]] = []
    for index, order in enumerate(context.orders_of(arity)):
        holds = all_of(equal(head[order[j]].copy(), values[j].copy()) for j in range(arity))
        readings.append((holds, exp.Add(this=own.copy(), expression=number(index))))
    return readings


def _grouped(query: Select, carried: Sequence[tuple[str, exp.Expr]]) -> Select:
    selected = [named(value, alias) for alias, value in carried]
    return query.select(*selected, named(count_rows(), "n")).group_by(*(value.copy() for _, value in carried))


def _with_heads(shape: Shape, number_of_group: int, matches: Select, carried: Sequence[str]) -> Select:
    """Matches of bodies, as claims of each rule that has the body."""
    values = []
    for position, slot in enumerate(shape.head or ()):
        value = column("m", variable(slot.index)) if isinstance(slot, Bound) else column("h", f"h{_index(slot)}")
        values.append(named(value, head_argument(position)))
    return (
        select(
            column("h", "rule"),
            named(column("h", "literal"), "head"),
            *(column("m", c) for c in carried),
            *values,
            column("m", "n"),
        )
        .with_named("matches", matches)
        .from_(table("matches", "m"))
        .join(table(head_table(number_of_group), "h"), on=equal(column("h", "body"), column("m", "body")))
    )


def _index(slot: ShapeSlot) -> int:
    assert isinstance(slot, Parameter)
    return slot.index
