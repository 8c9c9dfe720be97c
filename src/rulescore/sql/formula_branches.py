"""Every way to come by the groundings of a formula. A prediction stands at an atom that binds, at one that binds nothing, in what
refutes the head, or within an aggregate; the atoms read before its place are observed facts, those behind it either."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rulescore.data.setting import Role
from rulescore.language.syntax import RowAtom
from rulescore.language.trees import nodes_in
from rulescore.logic.formula import All, Any, Disjunct, Exists, Judgement, Leaf, Opposite
from rulescore.sql.build import all_of, any_of, exists, number
from rulescore.sql.formula import Context, Joins, Scope, Source

# Planners take time that grows out of proportion with queries nested in one statement: hours for several hundred.
MOST_NESTED = 12


@dataclass(frozen=True, slots=True)
class Branch:
    """One way to come by groundings: a disjunct, its atoms read, and the place of the prediction in words. `binds`: the prediction
    is the first atom that can be it, so that no other such branch has the same grounding. `repeats`: one grounding may come
    several times."""

    disjunct: Disjunct
    joins: Joins
    title: str
    binds: bool = False
    repeats: bool = False


def branches(context: Context, *, predictions: bool) -> Iterator[Branch]:
    """Every way to come by the groundings of a rule, before the tests of the body are asked. Those in which a prediction is in an
    aggregate are told elsewhere, by what they change; what registered predicates say of them has to be asked before."""
    for disjunct in context.possible(context.rule.disjuncts):
        if predictions:
            yield from _prediction_branches(context, disjunct)
        else:
            yield Branch(disjunct, _observed(context, disjunct), "over the data")


def _prediction_branches(context: Context, disjunct: Disjunct) -> Iterator[Branch]:
    rule = context.rule
    for index, atom in enumerate(disjunct.atoms):
        if context.predictable(atom):
            yield Branch(disjunct, _binding(context, disjunct, index), f"prediction at body atom {index + 1}", binds=True)
    for atom in _other_atoms(context, rule.disjuncts, disjunct):
        yield Branch(disjunct, _beside(context, disjunct, atom), "prediction at an atom that binds nothing")
    if Role.HEAD in context.roles:
        for atom in dict.fromkeys(filter(context.predictable, rule.head_atoms)):
            yield Branch(disjunct, _beside(context, disjunct, atom), "prediction in the head")
    if Role.REFUTER in context.roles:
        for joins in _refuting(context, rule.refuted, lambda: _observed(context, disjunct)):
            yield Branch(disjunct, joins, "prediction refutes the head", repeats=True)
    if context.asking:
        yield from _measure_branches(context, disjunct)


def _binding(context: Context, disjunct: Disjunct, index: int) -> Joins:
    """The prediction at one of the atoms that bind."""
    joins = Joins(Scope(context, {}, None))
    joins.read(disjunct.atoms[index], Source.PREDICTED)
    for other, atom in enumerate(disjunct.atoms):
        if other != index:
            behind = other > index and context.predictable(atom)
            joins.read(atom, Source.EITHER if behind else Source.OBSERVED)
    joins.compute(disjunct)
    return joins


def _other_atoms(context: Context, disjuncts: Sequence[Disjunct], disjunct: Disjunct) -> list[RowAtom]:
    """Atoms of a condition that bind nothing in one of its disjuncts and may be the prediction."""
    found: list[RowAtom] = []
    for other in disjuncts:
        found += [node for test in other.tests for node in nodes_in(test) if isinstance(node, RowAtom)]
        found += other.atoms if other is not disjunct else ()
    return list(dict.fromkeys(one for atom in found for one in context.participating(atom)))


def _observed(context: Context, disjunct: Disjunct) -> Joins:
    joins = Joins(Scope(context, {}, None))
    joins.read_observed(disjunct)
    return joins


def _beside(context: Context, disjunct: Disjunct, atom: RowAtom) -> Joins:
    """Observed facts in the body, and the prediction at an atom that binds nothing."""
    joins = _observed(context, disjunct)
    joins.read(atom, Source.PREDICTED)
    return joins


def _refuting(context: Context, judgement: Judgement, around: Callable[[], Joins]) -> Iterator[Joins]:
    """Ways for a prediction to be a fact of what makes a judgement hold of a grounding, which `around` reads."""
    match judgement:
        case Leaf(RowAtom() as atom) if context.predictable(atom):
            joins = around()
            joins.read(atom, Source.PREDICTED)
            yield joins
        case Exists(disjuncts):
            for inner in context.possible(disjuncts):
                for index, atom in enumerate(inner.atoms):
                    if context.predictable(atom):
                        yield _within(around(), inner, index)
        case Any(parts):
            for part in parts:
                yield from _refuting(context, part, around)
        case All(parts):
            for index, part in enumerate(parts):
                for joins in _refuting(context, part, around):
                    # Before registered predicates are asked their answers are unknown; what is found in excess is asked in vain.
                    for other in () if context.asking else (*parts[:index], *parts[index + 1 :]):
                        joins.condition(joins.scope.judgement(other))
                    yield joins
        case Leaf() | Opposite():
            return


def refutes(scope: Scope, judgement: Judgement) -> list[exp.Expr]:
    """Ways in which the prediction is a fact of what makes a judgement hold of the grounding at hand."""
    match judgement:
        case Leaf() | Exists():
            return [exists(joins.query(number(1))) for joins in _refuting(scope.context, judgement, lambda: Joins(scope))]
        case Any(parts):
            return [way for part in parts for way in refutes(scope, part)]
        case All(parts):
            ways = [way for part in parts for way in refutes(scope, part)]
            return [exp.Paren(this=all_of([any_of(ways), *map(scope.judgement, parts)]))] if ways else []
        case Opposite():
            return []


def _measure_branches(context: Context, disjunct: Disjunct) -> Iterator[Branch]:
    for joins, alone in in_measures(context, taken_part_through(context), lambda: _observed(context, disjunct)):
        yield Branch(disjunct, joins, "prediction in an aggregate", repeats=not alone)


def taken_part_through(context: Context) -> tuple[str, ...]:
    """The aggregates that predictions take part through."""
    body = context.rule.body_measures if Role.BODY in context.roles else ()
    return (*body, *(context.rule.head_measures if Role.HEAD in context.roles else ()))


def in_measures(context: Context, names: Sequence[str], around: Callable[[], Joins]) -> Iterator[tuple[Joins, bool]]:
    """Ways for a prediction to take part in aggregates of a grounding, which `around` reads: at an atom of an inner grounding
    that holds, or held before. With each whether that atom is alone, so that there is one inner grounding at most."""
    for measure in (context.rule.measures[name] for name in names):
        for inner in context.possible(measure.disjuncts):
            for index, atom in enumerate(inner.atoms):
                if context.predictable(atom):
                    yield _within(around(), inner, index), len(inner.atoms) == 1
            for atom in _other_atoms(context, measure.disjuncts, inner):
                yield _beside_measure(around(), inner, atom), False


def _within(joins: Joins, inner: Disjunct, index: int) -> Joins:
    """The prediction at an atom of a condition with variables of its own."""
    context = joins.scope.context
    joins.read(inner.atoms[index], Source.PREDICTED)
    for other, atom in enumerate(inner.atoms):
        if other != index:
            joins.read(atom, Source.EITHER if context.predictable(atom) else Source.OBSERVED)
    joins.compute(inner)
    for test in context.tests(inner):
        joins.condition(joins.scope.condition(test))
    joins.forget(context.rule.variables)
    return joins


def _beside_measure(joins: Joins, inner: Disjunct, atom: RowAtom) -> Joins:
    context = joins.scope.context
    joins.read_observed(inner)
    joins.read(atom, Source.PREDICTED)
    before = replace(joins.scope, prediction=None)
    ways = [all_of([scope.condition(test) for test in context.tests(inner)]) for scope in (joins.scope, before)]
    joins.condition(exp.Paren(this=any_of([exp.Paren(this=way) for way in ways])))
    joins.forget(context.rule.variables)
    return joins
