"""Every way to find the groundings of a formula. A prediction stands at an atom that binds variables, at an atom that binds none,
in a refutation of the head, or within an aggregate (0007); atoms before its place read observed facts, atoms behind it facts or the
prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rulescore.logic.formula import All, AnyOf, Disjunct, Exists, Judgement, Leaf, Opposite, ResolvedAtom, atoms_of
from rulescore.setting.choices import Role
from rulescore.sql.formula.scope import FormulaContext, Joins, RowSource, Scope
from rulescore.sql.query import exists
from rulescore.sql.words import Sql, all_of, any_of

# If many queries are nested in one statement, planning takes out of proportion long: hours for several hundred.
MOST_NESTED = 12


@dataclass(frozen=True, slots=True)
class Branch:
    """One way to find groundings: a disjunct, the joins that read its atoms, and the place of the prediction in words. `binds`: the
    prediction stands at the first atom that it fits, so no other such branch has the same grounding. `repeats`: the branch may find
    one grounding several times."""

    disjunct: Disjunct
    joins: Joins
    title: str
    binds: bool = False
    repeats: bool = False


def branches(context: FormulaContext) -> Iterator[Branch]:
    """Every way to find the groundings of a rule, without the tests of the body. `changes` finds the groundings with a prediction
    in an aggregate; here they are included only while we ask registered predicates, whose answers it needs."""
    for disjunct in context.possible(context.rule.disjuncts):
        if context.predictions:
            yield from _prediction_branches(context, disjunct)
        else:
            yield Branch(disjunct, _observed(context, disjunct), "over the data")


def _prediction_branches(context: FormulaContext, disjunct: Disjunct) -> Iterator[Branch]:
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


def _binding(context: FormulaContext, disjunct: Disjunct, index: int) -> Joins:
    """The prediction at one of the atoms that bind."""
    joins = Joins(Scope(context, {}, None))
    joins.read(disjunct.atoms[index], RowSource.PREDICTED)
    for other, atom in enumerate(disjunct.atoms):
        if other != index:
            behind = other > index and context.predictable(atom)
            joins.read(atom, RowSource.EITHER if behind else RowSource.OBSERVED)
    joins.compute(disjunct)
    return joins


def _other_atoms(context: FormulaContext, disjuncts: Sequence[Disjunct], disjunct: Disjunct) -> list[ResolvedAtom]:
    """Atoms of a condition that bind nothing in one of its disjuncts and may be the prediction."""
    others: list[ResolvedAtom] = []
    for other in disjuncts:
        others += [atom for test in other.tests for atom in atoms_of(test)]
        others += other.atoms if other is not disjunct else ()
    return list(dict.fromkeys(part for atom in others for part in context.participating(atom)))


def _observed(context: FormulaContext, disjunct: Disjunct) -> Joins:
    joins = Joins(Scope(context, {}, None))
    joins.read_observed(disjunct)
    return joins


def _beside(context: FormulaContext, disjunct: Disjunct, atom: ResolvedAtom) -> Joins:
    """Observed facts in the body, and the prediction at an atom that binds nothing."""
    joins = _observed(context, disjunct)
    joins.read(atom, RowSource.PREDICTED)
    return joins


def _refuting(context: FormulaContext, judgement: Judgement, around: Callable[[], Joins]) -> Iterator[Joins]:
    """Ways for a prediction to be one of the facts that make a judgement hold of a grounding; `around` reads the grounding."""
    match judgement:
        case Leaf(ResolvedAtom() as atom) if context.predictable(atom):
            joins = around()
            joins.read(atom, RowSource.PREDICTED)
            yield joins
        case Exists(disjuncts):
            for inner in context.possible(disjuncts):
                for index, atom in enumerate(inner.atoms):
                    if context.predictable(atom):
                        yield _within(around(), inner, index)
        case AnyOf(parts):
            for part in parts:
                yield from _refuting(context, part, around)
        case All(parts):
            for index, part in enumerate(parts):
                for joins in _refuting(context, part, around):
                    # While we collect questions for registered predicates, their answers are unknown, so we ask about more
                    # groundings than will hold.
                    for other in () if context.asking else (*parts[:index], *parts[index + 1 :]):
                        joins.condition(joins.scope.judgement(other))
                    yield joins
        case Leaf() | Opposite():
            return


def refutes(scope: Scope, judgement: Judgement) -> list[Sql]:
    """Ways in which the prediction is one of the facts that make a judgement hold of the grounding at hand."""
    match judgement:
        case Leaf() | Exists():
            return [exists(joins.query(1)) for joins in _refuting(scope.context, judgement, lambda: Joins(scope))]
        case AnyOf(parts):
            return [way for part in parts for way in refutes(scope, part)]
        case All(parts):
            ways = [way for part in parts for way in refutes(scope, part)]
            return [all_of(any_of(*ways), *map(scope.judgement, parts)).paren()] if ways else []
        case Opposite():
            return []


def _measure_branches(context: FormulaContext, disjunct: Disjunct) -> Iterator[Branch]:
    for joins, alone in in_measures(context, taken_part_through(context), lambda: _observed(context, disjunct)):
        yield Branch(disjunct, joins, "prediction in an aggregate", repeats=not alone)


def taken_part_through(context: FormulaContext) -> tuple[str, ...]:
    """The aggregates that predictions take part through."""
    body = context.rule.body_measures if Role.BODY in context.roles else ()
    return (*body, *(context.rule.head_measures if Role.HEAD in context.roles else ()))


def in_measures(context: FormulaContext, names: Sequence[str], around: Callable[[], Joins]) -> Iterator[tuple[Joins, bool]]:
    """The ways for a prediction to change an aggregate: it stands at an atom of an inner grounding that holds with it, or that held
    without it. `around` reads the grounding itself. The flag says that the inner condition has one atom, so a prediction is in
    at most one inner grounding."""
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
    joins.read(inner.atoms[index], RowSource.PREDICTED)
    for other, atom in enumerate(inner.atoms):
        if other != index:
            joins.read(atom, RowSource.EITHER if context.predictable(atom) else RowSource.OBSERVED)
    joins.compute(inner)
    for test in context.tests(inner):
        joins.condition(joins.scope.judgement(test))
    joins.forget(context.rule.variables)
    return joins


def _beside_measure(joins: Joins, inner: Disjunct, atom: ResolvedAtom) -> Joins:
    context = joins.scope.context
    joins.read_observed(inner)
    joins.read(atom, RowSource.PREDICTED)
    before = replace(joins.scope, prediction=None)
    ways = [all_of(*map(scope.judgement, context.tests(inner))) for scope in (joins.scope, before)]
    joins.condition(any_of(*(way.paren() for way in ways)).paren())
    joins.forget(context.rule.variables)
    return joins
