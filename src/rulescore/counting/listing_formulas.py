"""The groundings behind a formula's counts."""

from __future__ import annotations

import math
from collections import ChainMap
from collections import Counter as Tally
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import pyarrow as pa

from rulescore.counting.formulas import Formulas
from rulescore.counting.listing import Asked, Counts, ModelPrediction, asked_rows, told_apart
from rulescore.errors import Span
from rulescore.language import syntax
from rulescore.language.printer import print_condition, print_expression
from rulescore.language.trees import nodes_in, replace_variables
from rulescore.logic.disjuncts import is_fresh
from rulescore.logic.formula import NEGATIVE, Exists, FormulaRule, Leaf, Opposite, ResolvedAtom, with_values
from rulescore.logic.tolerances import is_in_percent
from rulescore.scoring.violation import A_COMPARISON, Aggregated, ComparedValues, CountedBy, Fact, Refuter, Violation
from rulescore.setting.choices import Role
from rulescore.sql.formula import listing as sql
from rulescore.sql.formula.counts import fields_of, variable
from rulescore.sql.formula.scope import FormulaContext
from rulescore.sql.horn.listing import MODEL
from rulescore.sql.names import name
from rulescore.sql.query import Select, drop
from rulescore.values import Value, restored

_LISTED = name("listed_groundings")
_ROLES = (Role.BODY, Role.HEAD, Role.REFUTER)
_MOST_INSTANCES = 10
"""How many refuting instances of one declaration we show for one head at most."""

Ground = Mapping[syntax.Variable, syntax.Expression]
Row = Mapping[str, Value]


class FormulaListing:
    """Lists violations of one formula."""

    def __init__(self, formulas: Formulas, number: int, rule_name: str, rule: syntax.Rule) -> None:
        self._formulas, self._number = formulas, number
        self._name, self._rule = rule_name, rule

    @cached_property
    def _percentages(self) -> dict[Span, syntax.Test]:
        """The tests of the rule whose tolerance is in percent, by their places: the engine compares logarithms for them."""
        tests = [node for part in (self._rule.head, self._rule.body) for node in nodes_in(part) if is_in_percent(node)]
        return {test.span: test for test in tests if test.span is not None}

    def _context(self, *, predictions: bool) -> FormulaContext:
        return self._formulas.context(self._number, predictions=predictions)

    def columns(self, asked: Asked) -> Sequence[str]:
        return fields_of(self._context(predictions=asked.predictions))

    def rows(self, asked: Asked) -> Select | None:
        context = self._context(predictions=asked.predictions)
        return sql.listed(context, "confirmed" if asked.confirmed else "refuted")

    def described(self, asked: Asked, table: pa.Table, made: Sequence[ModelPrediction]) -> list[Violation]:
        engine = self._formulas.engine
        context = self._context(predictions=asked.predictions)
        columns = [column for column in self.columns(asked) if column in table.column_names]
        numbered = table.select(columns).append_column("row", pa.array(range(table.num_rows), pa.int32()))
        with engine.scratch_tables():
            engine.load(_LISTED, numbered)
            try:
                explained = sql.explained(context, _LISTED)
                known = [engine.query(statement).to_pylist() for statement in explained]
                instances = self._instances(context)
            finally:
                engine.run(drop(_LISTED))
        rows = [dict(ChainMap(*parts)) for parts in zip(table.to_pylist(), *known, strict=True)]
        described = [self._violation(context, row, prediction, instances) for row, prediction in zip(rows, made, strict=True)]
        if not asked.confirmed:
            return described
        # The head is confirmed. Something may refute a part of it, but not the whole head.
        return [replace(violation, confirmed=True, refuters=(), compared=()) for violation in described]

    def counted(self, by: CountedBy, asked: Asked) -> Counts | None:
        rows = asked_rows(self, asked)
        if rows is None:
            return Tally()
        return self._by_refuter(asked, rows) if by is CountedBy.REFUTER else self._by_value(asked)

    def _by_value(self, asked: Asked) -> Counts:
        """Counts by the values of the data's groundings, each value once for a grounding."""
        context = self._context(predictions=False)
        rows = self.rows(asked)
        assert rows is not None
        counts: Counts = Tally()
        for index, named in enumerate(context.rule.variables):
            for row in self._formulas.engine.query(sql.by_value(context, rows, index)).to_pylist():
                counts[told_apart(restored(row["value"], context.rule.types.get(named))), None] += int(row["n"])
        return counts

    def _by_refuter(self, asked: Asked, rows: Select) -> Counts | None:
        """Counts by refuter: the engine counts groundings by the reasons that hold, and the reasons name the refuters."""
        context = self._context(predictions=asked.predictions)
        statement = sql.by_reasons(context, rows)
        counts: Counts = Tally()
        for row in [] if statement is None else self._formulas.engine.query(statement).to_pylist():
            labels = self._labels(context, row)
            if labels is None:
                return None
            counts.update({(told_apart(label), row.get(MODEL)): int(row["n"]) for label in labels})
        return None if statement is None else counts

    def _labels(self, context: FormulaContext, row: Row) -> set[str] | None:
        """The labels of the refuters if these reasons hold; None if they depend on the values of each grounding."""
        if isinstance(self._rule.head, syntax.Falsity):
            return {"false"}
        holding = [(i, reason) for i, reason in enumerate(sql.reasons(context.rule)) if row[f"r{i}"]]
        by_facts = {reason.group for _, reason in holding if not isinstance(reason.judgement, Opposite)}
        if not holding:
            return {A_COMPARISON} if any(row[f"c{i}"] for i in range(len(sql.comparisons(context)))) else None
        labels: set[str] = set()
        for index, reason in holding:
            match reason.judgement:
                case Leaf(ResolvedAtom() as atom):
                    labels |= self._label(atom)
                case Opposite(Leaf(ResolvedAtom() as atom)):
                    labels |= {f"closed {self._fact(atom.relation, []).predicate}"} if reason.group not in by_facts else set()
                case Exists(title=title) as judgement:
                    ways = sql.with_atoms(context, judgement)
                    of_ways = {
                        label
                        for j, way in enumerate(ways)
                        if row[f"d{index}_{j}"]
                        for atom in way.atoms
                        for label in self._label(atom)
                    }
                    labels |= of_ways or {title}
                case _:
                    return None
        return labels

    def _label(self, atom: ResolvedAtom) -> set[str]:
        return set(Refuter((self._fact(atom.relation, []),)).labels)

    def _instances(self, context: FormulaContext) -> dict[tuple[int, int], list[Refuter]]:
        """Some refuting conditions have variables of their own. These are the facts that make them true, by the numbers of the
        reason and of the row."""
        refuters: dict[tuple[int, int], list[Refuter]] = {}
        for index, reason in enumerate(sql.reasons(context.rule)):
            for disjunct in sql.with_atoms(context, reason.judgement) if isinstance(reason.judgement, Exists) else ():
                query = sql.instances(context, disjunct, _LISTED, most=_MOST_INSTANCES)
                for row in self._formulas.engine.query(query).to_pylist():
                    values = iter([row[f"f{i}"] for i in range(len(row) - 1)])
                    facts = tuple(self._filled(context, atom, values) for atom in disjunct.atoms)
                    refuters.setdefault((index, row["row"]), []).append(Refuter(facts))
        return refuters

    def _filled(self, context: FormulaContext, atom: ResolvedAtom, values: Iterator[Value]) -> Fact:
        relation = context.relation(atom)
        terms = [
            (attribute, None if isinstance(term, syntax.Wildcard) else restored(next(values), relation.columns[attribute].type))
            for attribute, term in atom.arguments
        ]
        return self._fact(atom.relation, terms)

    def _violation(
        self, context: FormulaContext, row: Row, prediction: ModelPrediction, instances: Mapping[tuple[int, int], list[Refuter]]
    ) -> Violation:
        rule = context.rule
        values = {name: restored(row[variable(i)], rule.types.get(name)) for i, name in enumerate(rule.variables)}
        ground: dict[syntax.Variable, syntax.Expression] = {
            syntax.Variable(name): syntax.Constant(value) for name, value in values.items()
        }
        head = self._rule.head
        conditions = self._body(rule).conditions
        body = tuple(print_condition(replace_variables(condition, ground)) for condition in conditions)
        facts, absent = tuple(self._body_facts(rule, ground)), tuple(self._absent_facts(rule, ground))
        known = {*map(str, facts), *(f"not {fact}" for fact in absent)}
        others = [
            text
            for condition, text in zip(conditions, body, strict=True)
            if not isinstance(condition, syntax.Comparison | syntax.Let)
        ]
        return Violation(
            rule=self._name,
            binding=dict(zip(_variables(context), values.values(), strict=True)),
            body=body,
            head="false" if isinstance(head, syntax.Falsity) else print_condition(replace_variables(head, ground)),
            facts=tuple(self._told(body_fact, prediction.fact) for body_fact in facts),
            absent=absent,
            tested=tuple(text for text in others if text not in known) if isinstance(head, syntax.Falsity) else (),
            refuters=tuple(
                replace(refuter, facts=tuple(self._told(fact, prediction.fact) for fact in refuter.facts))
                for refuter in dict.fromkeys(self._refuters(context, row, ground, instances))
            ),
            compared=tuple(_compared(context, row, ground, self._percentages)),
            aggregated=tuple(_aggregated(context, row, ground)),
            model=prediction.model,
            prediction=prediction.fact,
            score=prediction.score,
            rank=prediction.rank,
            roles=() if prediction.fact is None else tuple(role.value for role in _ROLES if _plays(role, row)),
        )

    def _body(self, rule: FormulaRule) -> syntax.And:
        """The body as written, with variables in place of `_` and of unnamed keys."""
        resolved = {id(atom.written): atom for disjunct in rule.disjuncts for atom in disjunct.atoms}
        return syntax.And(tuple(_filled(condition, resolved) for condition in self._rule.body.conditions))

    def _body_facts(self, rule: FormulaRule, ground: Ground) -> Iterator[Fact]:
        """The facts of the atoms that bind. If the body is a disjunction, there are none, since we do not know which part holds."""
        for atom in rule.disjuncts[0].atoms if len(rule.disjuncts) == 1 else ():
            yield self._ground_fact(with_values(atom, ground))

    def _absent_facts(self, rule: FormulaRule, ground: Ground) -> Iterator[Fact]:
        for test in rule.disjuncts[0].tests if len(rule.disjuncts) == 1 else ():
            match test:
                case Opposite(Leaf(ResolvedAtom() as atom)):
                    yield self._ground_fact(with_values(atom, ground))
                case _:
                    pass

    def _refuters(
        self, context: FormulaContext, row: Row, ground: Ground, instances: Mapping[tuple[int, int], list[Refuter]]
    ) -> Iterator[Refuter]:
        """What refutes the head. Shows "absent" (from `closed`) only if no fact refutes it."""
        holding = [(i, reason) for i, reason in enumerate(sql.reasons(context.rule)) if row[f"r{i}"]]
        by_facts = {reason.group for _, reason in holding if not isinstance(reason.judgement, Opposite)}
        for index, reason in holding:
            match reason.judgement:
                case Leaf(ResolvedAtom() as atom):
                    yield Refuter((self._ground_fact(with_values(atom, ground)),))
                case Opposite(Leaf(ResolvedAtom() as atom)):
                    if reason.group not in by_facts:
                        yield Refuter((), (self._ground_fact(with_values(atom, ground)),), "closed")
                case Exists(title=title):
                    yield from instances.get((index, int(row["row"])), [Refuter(declared=title)])  # type: ignore[arg-type]
                case Leaf(syntax.Comparison() | syntax.Membership() | syntax.Test() as test):
                    yield Refuter(declared=f"{print_condition(replace_variables(test, ground))} is true")
                case Opposite(Leaf(syntax.Comparison() | syntax.Membership() | syntax.Test() as test)):
                    yield Refuter(declared=f"{print_condition(replace_variables(test, ground))} is false")
                case _:
                    raise AssertionError("not a reason")

    def _told(self, fact: Fact, prediction: Fact | None) -> Fact:
        """The fact. We mark it as predicted if it has the predicted row's key and names an attribute that the prediction gives."""
        if prediction is None or not fact.names or not prediction.predicate.startswith(f"{fact.predicate}."):
            return fact
        relation = self._formulas.schema.relations[fact.predicate]
        values = dict(zip(fact.names, fact.values, strict=True))
        same = tuple(values.get(attribute) for attribute in relation.key) == prediction.values[:-1]
        return replace(fact, predicted=same and not relation.from_prediction.isdisjoint(values))

    def _ground_fact(self, atom: ResolvedAtom) -> Fact:
        terms = [(name, term.value if isinstance(term, syntax.Constant) else None) for name, term in atom.arguments]
        return self._fact(atom.relation, terms)

    def _fact(self, relation: str, terms: Sequence[tuple[str, Value | None]]) -> Fact:
        values = tuple(value for _, value in terms)
        if self._formulas.schema.relations[relation].is_table:
            return Fact(relation, values, tuple(name for name, _ in terms))
        return Fact(relation.removeprefix(NEGATIVE), values, negative=relation.startswith(NEGATIVE))


def _plays(role: Role, row: Row) -> bool:
    """Whether a prediction plays a role. If the row has no column for the refuter's role, it has a column for each reason."""
    if role.value in row:
        return bool(row[role.value])
    return any(value for name, value in row.items() if name[0] == "p" and name[1:].isdigit())


def _compared(
    context: FormulaContext, row: Row, ground: Ground, percentages: Mapping[Span, syntax.Test]
) -> Iterator[ComparedValues]:
    """The comparisons that refute the head, with the values of both sides."""
    measured = _measured(context, row)
    known = {**ground, **measured}
    for index, comparison in enumerate(sql.comparisons(context)):
        compared = comparison.comparison
        left, right = (restored(row[f"{mark}{index}"], kind) for mark, kind in zip("ls", comparison.types, strict=True))
        if not row[f"c{index}"] or left is None or right is None:
            continue
        written = None if compared.span is None else percentages.get(compared.span)
        if written is not None and compared.operator is syntax.Operator.AT_MOST:
            yield _in_percent(written, left, known, holds=comparison.holds)
        else:
            text = print_condition(replace_variables(compared, {**ground, **_rounded(measured, left, right)}))
            yield ComparedValues(text, left, right, comparison.holds, named=_is_named(compared, context.rule))


def _is_named(compared: syntax.Comparison, rule: FormulaRule) -> bool:
    """Whether a comparison equates values of the data with each other or with constants, and computes nothing."""
    sides = compared.left, compared.right
    as_they_are = all(
        isinstance(side, syntax.Constant) or (isinstance(side, syntax.Variable) and side.name not in rule.measures)
        for side in sides
    )
    return compared.operator in {syntax.Operator.EQUAL, syntax.Operator.DIFFERENT} and as_they_are


def _in_percent(written: syntax.Test, distance: Value, known: Ground, *, holds: bool) -> ComparedValues:
    """By how many percent the greater value exceeds the lesser, against the tolerance as written."""
    assert isinstance(distance, float)
    _, _, tolerance = written.arguments
    assert isinstance(tolerance, syntax.Call)
    (limit,) = tolerance.arguments
    assert isinstance(limit, syntax.Constant)
    return ComparedValues(
        print_condition(replace_variables(written, known)), 100 * math.expm1(distance), limit.value, holds, percent=True
    )


def _measured(context: FormulaContext, row: Row) -> dict[syntax.Variable, syntax.Constant]:
    """The values of aggregates, for the variables that stand for them."""
    types = context.rule.types
    values = {measure: restored(row[f"m{i}"], types.get(measure)) for i, measure in enumerate(sql.measures(context))}
    return {syntax.Variable(name): syntax.Constant(value) for name, value in values.items() if value is not None}


def _rounded(
    measured: Mapping[syntax.Variable, syntax.Constant], left: Value, right: Value
) -> dict[syntax.Variable, syntax.Constant]:
    """Means and sums of floats as people read them, with six digits; all digits if the sides differ by less than that shows."""
    if not isinstance(left, float | int) or not isinstance(right, float | int) or math.isclose(left, right, rel_tol=1e-4):
        return dict(measured)
    return {variable: syntax.Constant(_six_digits(constant.value)) for variable, constant in measured.items()}


def _six_digits(value: Value) -> Value:
    if not isinstance(value, float) or not math.isfinite(value) or value == 0:
        return value
    return round(value, max(0, 5 - math.floor(math.log10(abs(value)))))


def _aggregated(context: FormulaContext, row: Row, ground: Ground) -> Iterator[Aggregated]:
    for index, measure in enumerate(sql.measures(context)):
        written = context.rule.measures[measure].written
        assert written is not None
        value, before = (restored(row[f"{mark}{index}"], context.rule.types.get(measure)) for mark in "mb")
        yield Aggregated(print_expression(replace_variables(written, ground)), value, before)


def _filled(condition: syntax.Condition, resolved: Mapping[int, ResolvedAtom]) -> syntax.Condition:
    match condition:
        case syntax.And(conditions):
            return syntax.And(tuple(_filled(condition, resolved) for condition in conditions))
        case syntax.Or(conditions):
            return syntax.Or(tuple(_filled(condition, resolved) for condition in conditions))
        case syntax.Atom(predicate, terms) if id(condition) in resolved:
            return syntax.Atom(predicate, tuple(map(_filled_term, terms, (term for _, term in resolved[id(condition)].arguments))))
        case syntax.RowAtom(table, arguments) if id(condition) in resolved:
            written = dict(arguments)
            ground = resolved[id(condition)].arguments
            return syntax.RowAtom(
                table, tuple((name, _filled_term(written.get(name, syntax.Wildcard()), term)) for name, term in ground)
            )
        case _:
            return condition


def _filled_term(written: syntax.Term, term: syntax.Expression | syntax.Wildcard) -> syntax.Term:
    return term if isinstance(written, syntax.Wildcard) and isinstance(term, syntax.Variable) else written


def _variables(context: FormulaContext) -> list[str]:
    """The names of variables as in the rule. An unnamed key has the name of its column, with a number if that is taken; `_` has its
    number among the variables."""
    atoms = [atom for disjunct in context.rule.disjuncts for atom in disjunct.atoms]
    keys = {term: name for atom in atoms for name, term in atom.arguments if name in context.relation(atom).key}
    taken = {variable for variable in context.rule.variables if not is_fresh(variable)}
    names: list[str] = []
    for number, variable_name in enumerate(context.rule.variables, 1):
        column = keys.get(syntax.Variable(variable_name)) if is_fresh(variable_name) else None
        free = f"_{number}" if column is None else column if column not in taken else f"{column}_{number}"
        names.append(free if is_fresh(variable_name) else variable_name)
        taken.add(names[-1])
    return names
