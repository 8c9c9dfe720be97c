"""Statements that find groundings: bodies that hold, and the claims that they make about heads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from rulescore.logic.normal import Bound, Free
from rulescore.logic.plan import Group, Parameter, Shape, ShapeSlot, ShapeTest
from rulescore.logic.refutation import Orders
from rulescore.sql.names import argument, arguments, fact_table, name, prediction_table, tuple_table
from rulescore.sql.query import Query, Row, Select, alias, exists, row, same, select, union_all
from rulescore.sql.words import NULL, Sql, all_of, any_of, count_rows, when


@dataclass(frozen=True, slots=True)
class HornContext:
    """What the statements of one evaluation have in common."""

    stride: int
    orders: Orders
    fact_arities: frozenset[int]
    prediction_arities: frozenset[int]
    distinct_variables: bool
    appendix: bool
    ambiguous: bool
    any_observed_prediction: bool


# Short names for rows that nearly every statement here reads: parameters of a body, and parameters of a head with this body.
b, h = alias("b"), alias("h")


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
    """One entry for each body atom at which the prediction can stand first. Later atoms may be the prediction or facts."""
    atoms = group.shape.atoms
    bodies = [tuple(literal.predicate for literal in body.literals) for body in group.bodies]

    def together(i: int, j: int) -> bool:
        return atoms[i].arity == atoms[j].arity and any(body[i] == body[j] for body in bodies)

    return [Entry((i,), tuple(j for j in range(i + 1, len(atoms)) if together(i, j))) for i in range(len(atoms))]


def flipped(literal: Sql, stride: int) -> Sql:
    """The literal of the reversed tuple: binary predicates have exactly two orders."""
    return (literal + 1 - 2 * (literal % stride)).paren()


def fact_at(index: int) -> Row:
    """The rows that can stand at an atom of the body."""
    return alias(f"f{index}")


@dataclass(slots=True)
class _Join:
    """A select that grows one table at a time; conditions go to the join that makes them decidable."""

    context: HornContext
    shape: Shape
    query: Select = field(default_factory=Select)
    columns: dict[int, Sql] = field(default_factory=dict)

    def add(self, source: Row, conditions: Iterable[Sql]) -> None:
        if self.query.source is None:
            self.query = self.query.from_(source).where(*conditions)
        else:
            self.query = self.query.join(source, *conditions)

    def match(self, fact: Row, slots: Sequence[ShapeSlot], parameters: Row, prefix: str) -> list[Sql]:
        """Conditions under which the arguments of a row fit the slots. Unbound variables become bound to the row."""
        conditions = []
        for position, slot in enumerate(slots):
            here = fact[argument(position)]
            match slot:
                case Parameter(index):
                    conditions.append(here == parameters[f"{prefix}{index}"])
                case Bound(index) if index in self.columns:
                    conditions.append(here == self.columns[index])
                case Bound(index):
                    self.columns[index] = here
                case Free():
                    pass
        return conditions

    def value(self, slot: ShapeSlot, parameters: Row = b, prefix: str = "c") -> Sql:
        match slot:
            case Parameter(index):
                return parameters[f"{prefix}{index}"]
            case Bound(index):
                return self.columns[index]
            case Free():
                raise AssertionError("a free slot has no value")


def facts_or_predictions(context: HornContext, arity: int) -> Query:
    """Facts, whose `prediction` is null, and predictions that are not facts."""
    fields = ["literal", *arguments(arity)]
    c, f = row(prediction_table(arity), "c"), row(fact_table(arity), "f")
    new = select(*c[fields], c.prediction).from_(c).where(c.observed == 0)
    if arity not in context.fact_arities:
        return new
    return union_all([select(*f[fields], prediction=NULL.integer()).from_(f), new])


def fact_or_own(fact: Row, prediction: Sql) -> Sql:
    """Whether a row is a fact, or the one prediction that takes part."""
    return any_of(fact.prediction.is_null(), fact.prediction == prediction).paren()


def _atom(join: _Join, index: int, source: str | Query, *, with_body: bool) -> None:
    """Join a body atom; its literal and constants come from the body parameters once these are joined."""
    fact = row(source, f"f{index}") if isinstance(source, str) else source.as_(f"f{index}")
    slots = join.shape.atoms[index].slots
    if with_body:
        join.add(fact, [fact.literal == b[f"l{index}"], *join.match(fact, slots, b, "c")])
    else:
        join.add(fact, join.match(fact, [slot if isinstance(slot, Bound) else Free() for slot in slots], b, "c"))


def _add_body(join: _Join, number: int, atoms: Iterable[int]) -> None:
    """Join the parameters of bodies to the atoms that were joined before."""
    conditions = []
    for index in atoms:
        fact = fact_at(index)
        conditions.append(fact.literal == b[f"l{index}"])
        for position, slot in enumerate(join.shape.atoms[index].slots):
            if isinstance(slot, Parameter):
                conditions.append(fact[argument(position)] == b[f"c{slot.index}"])
    join.add(row(body_table(number), "b"), conditions)


def facts_first(shape: Shape) -> bool:
    """Whether to join predictions with facts before the rules. Two atoms without constants have few matches, even if there are many
    rules."""
    slots = [slot for atom in shape.atoms for slot in atom.slots] + list(shape.head or ())
    return len(shape.atoms) <= 2 and not any(isinstance(slot, Parameter) for slot in slots)


def _test(join: _Join, test: ShapeTest) -> Sql:
    left, right = join.value(test.left), join.value(test.right)
    return left == right if test.equal else left != right


def _absent(join: _Join, index: int, prediction: Sql | None) -> list[Sql]:
    """Conditions of a negated atom: neither a fact nor the prediction matches it."""
    atom, x = join.shape.negated[index], alias("x")
    conditions = [x.literal == b[f"l{len(join.shape.atoms) + index}"]]
    for position, slot in enumerate(atom.slots):
        if not isinstance(slot, Free):
            conditions.append(x[argument(position)] == join.value(slot))
    absent = []
    if atom.arity in join.context.fact_arities:
        absent.append(~exists(row(fact_table(atom.arity), "x"), *conditions))
    if atom.arity in join.context.prediction_arities and prediction is not None:
        absent.append(~exists(row(prediction_table(atom.arity), "x"), *conditions, x.prediction == prediction))
    return absent


def same_fact(context: HornContext, arity: int, left: Row, right: Row) -> Sql:
    """Whether two rows of literals are one fact. Rows with two arguments may have them in opposite orders."""
    straight = all_of(*same(left, right, ["literal", *arguments(arity)]))
    if arity != 2:
        return straight
    turned = left.literal == flipped(right.literal, context.stride), left.a0 == right.a1, left.a1 == right.a0
    return any_of(straight, all_of(*turned))


def _filters(join: _Join, own: Row | None, filled: Sequence[int], own_arity: int) -> list[Sql]:
    """Conditions for tests, negated atoms and distinct variables, and the condition that observed atoms are facts other than the
    prediction."""
    shape, context = join.shape, join.context
    conditions = [_test(join, test) for test in shape.tests]
    for index in range(len(shape.negated)):
        conditions.extend(_absent(join, index, None if own is None else own.prediction))
    if context.distinct_variables:
        conditions.extend(join.columns[i] != join.columns[j] for i, j in combinations(range(shape.variables), 2))
    if own is not None and not context.appendix and context.any_observed_prediction:
        for index, atom in enumerate(shape.atoms):
            if index not in filled and atom.arity == own_arity:
                conditions.append(~same_fact(context, own_arity, fact_at(index), own))
    return conditions


def possible(group: Group, context: HornContext, entry: Entry | None) -> bool:
    """Whether every table the statement needs exists; if one is missing, there is nothing to find."""
    shape = group.shape
    filled = (*entry.atoms, *entry.also) if entry is not None else ()
    for index, atom in enumerate(shape.atoms):
        if atom.arity not in (context.prediction_arities if index in filled else context.fact_arities):
            return False
    if entry is not None and not entry.atoms:
        return shape.head is not None and len(shape.head) in context.prediction_arities
    return True


def _head_slots(join: _Join) -> list[Sql]:
    return [join.value(slot, h, "h") for slot in join.shape.head or ()]


@dataclass(frozen=True, slots=True)
class Grounded:
    """A join that finds groundings: of the data alone, or with a prediction (`own`) in some place."""

    join: _Join
    number: int
    own: Row | None = None
    own_arity: int = 0
    head_joined: bool = False


def dataset_groundings(group: Group, number_of_group: int, context: HornContext) -> Grounded:
    """Groundings over the data alone."""
    join = _Join(context, group.shape)
    _add_body(join, number_of_group, ())
    for index, atom in enumerate(group.shape.atoms):
        _atom(join, index, fact_table(atom.arity), with_body=True)
    join.query = join.query.where(*_filters(join, None, (), 0))
    return Grounded(join, number_of_group)


def body_groundings(group: Group, number_of_group: int, context: HornContext, entry: Entry) -> Grounded:
    """Groundings in which the prediction stands at the body atoms of an entry."""
    join = _Join(context, group.shape)
    first, *others = entry.atoms
    arity, own = group.shape.atoms[first].arity, fact_at(first)
    _atom(join, first, prediction_table(arity), with_body=False)
    late = facts_first(group.shape)
    if not late:
        _add_body(join, number_of_group, [first])
    for index in others:
        _atom(join, index, prediction_table(arity), with_body=not late)
        join.query = join.query.where(fact_at(index).prediction == own.prediction)
    for index, atom in enumerate(group.shape.atoms):
        if index in entry.also:
            _atom(join, index, facts_or_predictions(context, arity), with_body=not late)
            join.query = join.query.where(fact_or_own(fact_at(index), own.prediction))
        elif index not in entry.atoms:
            _atom(join, index, fact_table(atom.arity), with_body=not late)
    if late:
        _add_body(join, number_of_group, range(len(group.shape.atoms)))
    join.query = join.query.where(*_filters(join, own, (*entry.atoms, *entry.also), arity))
    return Grounded(join, number_of_group, own, arity)


def head_groundings(group: Group, number_of_group: int, context: HornContext, opposes: str | None = None) -> Grounded:
    """Groundings in which the prediction stands on the head's tuple and nowhere in the body: as the head itself or, if `opposes`
    names a table of oppositions, as a fact that is incompatible with the head."""
    join = _Join(context, group.shape)
    head = group.shape.head or ()
    p, o = row(prediction_table(len(head)), "p"), alias("o")
    heads = row(head_table(number_of_group), "h")
    fits = join.match(p, head, h, "h")
    join.add(p, ())
    said = h.literal == (p.literal if opposes is None else o.head)
    if facts_first(group.shape):
        join.query = join.query.where(*fits)
        for index, atom in enumerate(group.shape.atoms):
            _atom(join, index, fact_table(atom.arity), with_body=False)
        _add_body(join, number_of_group, range(len(group.shape.atoms)))
        join.add(heads, [b.body == h.body, said] if opposes is None else [b.body == h.body])
        if opposes is not None:
            join.add(row(opposes, "o"), [o.l0 == p.literal, said])
    else:
        if opposes is not None:
            join.add(row(opposes, "o"), [o.l0 == p.literal])
        join.add(heads, [said, *fits])
        join.add(row(body_table(number_of_group), "b"), [b.body == h.body])
        for index, atom in enumerate(group.shape.atoms):
            _atom(join, index, fact_table(atom.arity), with_body=True)
    if opposes is not None and context.ambiguous:
        join.query = join.query.where(~_read_before(opposes, p, o, len(head)))
    join.query = join.query.where(*_filters(join, p, (), len(head)))
    return Grounded(join, number_of_group, p, len(head), head_joined=True)


def _read_before(opposes: str, p: Row, o: Row, arity: int) -> Sql:
    """Whether the prediction `p`, read in another order on the same tuple, is a refuting literal of a lower number than `o`."""
    q, x = row(opposes, "q"), row(prediction_table(arity), "x")
    earlier = select(1).from_(q).join(x, x.literal == q.l0)
    return exists(earlier.where(q.head == o.head, q.l0 < o.l0, *same(x, p, ["prediction", *arguments(arity)])))


def _carried(grounded: Grounded) -> dict[str, Sql]:
    own = grounded.own
    if own is None:
        return {}
    values = {own_argument(i): own[argument(i)] for i in range(grounded.own_arity)}
    return {"prediction": own.prediction, "own": own.literal, **values}


def rows(grounded: Grounded) -> Select:
    """A row for each grounding, with all its variables."""
    join, query = grounded.join, grounded.join.query
    if not grounded.head_joined:
        query = query.join(row(head_table(grounded.number), "h"), h.body == b.body)
    query = query.select(rule=h.rule, head=h.literal, **_carried(grounded), **_head_values(join))
    return query.select(**{variable(i): join.columns[i] for i in range(join.shape.variables)})


def _head_values(join: _Join) -> dict[str, Sql]:
    return {head_argument(i): value for i, value in enumerate(_head_slots(join))}


def claims(grounded: Grounded) -> Select:
    """Groundings counted per claim; we count per body before we join the rules that share it."""
    join, shape = grounded.join, grounded.join.shape
    carried = _carried(grounded)
    if grounded.head_joined:
        return _grouped(join.query, {"rule": h.rule, "head": h.literal, **carried, **_head_values(join)})
    needed = {variable(i): join.columns[i] for i in shape.head_variables}
    inner = {"body": b.body, **carried, **needed}
    if grounded.own is None and len(needed) == shape.variables:
        matches = join.query.select(**inner, n=1)
    else:
        matches = _grouped(join.query, inner)
    return _with_heads(shape, grounded.number, matches, list(carried))


def located(grounded: Grounded, *, readings: bool) -> Select:
    """Groundings counted per rule, prediction and signature of the head's tuple: `rule`, `head`, `signature`, `n`.

    `readings` adds `reading0` …: the prediction as a literal on the head's tuple, if it is one."""
    join, own = grounded.join, grounded.own
    head = join.shape.head or ()
    if not grounded.head_joined and any(isinstance(slot, Parameter) for slot in head):
        return _located_claims(grounded, readings=readings)
    values, t = _head_slots(join), row(tuple_table(len(head)), "t")
    join.add(t, [t[argument(i)] == value for i, value in enumerate(values)])
    fields = {"signature": t.signature}
    if own is not None:
        fields["prediction"] = own.prediction
        if readings:
            fields |= _readings(join.context, own.literal, own[arguments(grounded.own_arity)], values)
    if grounded.head_joined:
        return _grouped(join.query, {"rule": h.rule, "head": h.literal, **fields})
    counted, m = _grouped(join.query, {"body": b.body, **fields}), row("counted", "m")
    query = select(h.rule, h.literal.named("head"), *m[list(fields)], m.n).with_step("counted", counted).from_(m)
    return query.join(row(head_table(grounded.number), "h"), h.body == m.body)


def _located_claims(grounded: Grounded, *, readings: bool) -> Select:
    """Like `located`, for heads with constants. Only the rules have these constants, so we join the rules before the head's
    tuple."""
    arity = len(grounded.join.shape.head or ())
    k, t = row("claims", "k"), row(tuple_table(arity), "t")
    head = [k[head_argument(i)] for i in range(arity)]
    fields = {"rule": k.rule, "head": k.head, "signature": t.signature}
    if grounded.own is not None:
        fields["prediction"] = k.prediction
        if readings:
            own = [k[own_argument(i)] for i in range(grounded.own_arity)]
            fields |= _readings(grounded.join.context, k.own, own, head)
    query = select(**fields, n=k.n.sum()).with_named("claims", claims(grounded)).from_(k)
    query = query.join(t, *(t[argument(i)] == value for i, value in enumerate(head)))
    return query.group_by(*fields.values())


def _readings(context: HornContext, own: Sql, values: Sequence[Sql], head: Sequence[Sql]) -> dict[str, Sql]:
    readings = own_readings(context, own, values, head)
    return {f"reading{i}": when(holds, literal) for i, (holds, literal) in enumerate(readings)}


def own_readings(context: HornContext, own: Sql, values: Sequence[Sql], head: Sequence[Sql]) -> list[tuple[Sql, Sql]]:
    """The ways in which a prediction, the literal `own` on the tuple `values`, can be a literal on the head's tuple: a condition,
    and that literal."""
    arity = len(head)
    if arity == 2:
        straight = all_of(values[0] == head[0], values[1] == head[1])
        turned = all_of(values[0] == head[1], values[1] == head[0])
        return [(straight, own), (turned, flipped(own, context.stride))]
    readings = []
    for index, order in enumerate(context.orders[arity]):
        holds = all_of(*(head[order[j]] == values[j] for j in range(arity)))
        readings.append((holds, own + index))
    return readings


def _grouped(query: Select, carried: Mapping[str, Sql]) -> Select:
    return query.select(**carried, n=count_rows()).group_by(*carried.values())


def _with_heads(shape: Shape, number_of_group: int, matches: Select, carried: Sequence[str]) -> Select:
    """Matches of bodies, as claims of each rule that has the body."""
    m, heads = row("matches", "m"), row(head_table(number_of_group), "h")
    values = []
    for position, slot in enumerate(shape.head or ()):
        value = m[variable(slot.index)] if isinstance(slot, Bound) else h[f"h{_index(slot)}"]
        values.append(value.named(head_argument(position)))
    query = select(h.rule, h.literal.named("head"), *m[carried], *values, m.n).with_named("matches", matches)
    return query.from_(m).join(heads, h.body == m.body)


def _index(slot: ShapeSlot) -> int:
    assert isinstance(slot, Parameter)
    return slot.index
