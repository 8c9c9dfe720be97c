"""The groundings behind a formula's counts, as people read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rulescore.data.constants import MARKER, key_of, text_of
from rulescore.data.setting import Role
from rulescore.engines.base import for_a_while
from rulescore.engines.formulas import Formulas
from rulescore.engines.listing import Violation, predictions_in_words
from rulescore.engines.loading import Loaded
from rulescore.errors import Span
from rulescore.language.formulas import print_condition
from rulescore.language.syntax import (
    And,
    Atom,
    Condition,
    Constant,
    Expression,
    Falsity,
    Or,
    RowAtom,
    Rule,
    Term,
    Value,
    Variable,
    Wildcard,
)
from rulescore.language.trees import replace_variables
from rulescore.logic.disjuncts import is_fresh
from rulescore.logic.formula import Exists, FormulaRule, Judgement, Leaf, Opposite
from rulescore.sql import formula_listing as sql
from rulescore.sql.build import Select, create, drop, name
from rulescore.sql.formula import Context
from rulescore.sql.formula_counts import fields_of, variable
from rulescore.sql.listing import counted, limited, restricted

_LISTED = name("listed_groundings")
_ROLES = (Role.BODY, Role.HEAD, Role.REFUTER)


class FormulaListing:
    """Lists violations of one formula rule."""

    def __init__(self, formulas: Formulas, loaded: Loaded, number: int, rule_name: str, rule: Rule) -> None:
        self._formulas, self._loaded, self._number = formulas, loaded, number
        self._name, self._rule = rule_name, rule

    def find(self, *, model: int | None, prediction: int | None, limit: int) -> tuple[int, list[Violation]]:
        """How many violations there are, and the first of them. Model None: those of the data alone."""
        predictions = model is not None
        context = self._formulas.context(self._number, predictions=predictions)
        engine = self._formulas.engine
        rows, again = (self._rows(context, model, prediction) for _ in range(2))
        if rows is None or again is None:
            return 0, []
        total = int(engine.query(counted(rows))["n"][0].as_py())
        if not total or not limit:
            return total, []
        columns = fields_of(context, predictions=predictions)
        if not columns:  # a rule without variables
            return total, [self._violation(context.rule, {}, None, None)]
        with for_a_while(engine):
            engine.run(create(_LISTED, limited(again, columns, limit)))
            try:
                found = engine.query(sql.explained(context, _LISTED, predictions=predictions)).to_pylist()
            finally:
                engine.run(drop(_LISTED))
        words = predictions_in_words(engine, self._loaded, {row["prediction"] for row in found if "prediction" in row})
        model_name = self._loaded.models[model] if model is not None else None
        return total, [self._violation(context.rule, row, model_name, words.get(row.get("prediction", -1))) for row in found]

    def _rows(self, context: Context, model: int | None, prediction: int | None) -> Select | None:
        rows = sql.violations(context, predictions=model is not None)
        return rows if rows is None or model is None else restricted(rows, model=model, prediction=prediction)

    def _violation(self, rule: FormulaRule, row: Mapping[str, Value], model: str | None, prediction: str | None) -> Violation:
        values = {one: row[variable(i)] for i, one in enumerate(rule.variables)}
        ground: dict[Variable, Expression] = {Variable(one): Constant(value) for one, value in values.items()}
        head = self._rule.head
        return Violation(
            rule=self._name,
            binding={_variable(one, i): _shown(value) for i, (one, value) in enumerate(values.items(), 1)},
            model=model,
            prediction=prediction,
            roles=() if prediction is None else tuple(role.value for role in _ROLES if row[role.value]),
            body=tuple(print_condition(replace_variables(one, ground)) for one in self._body(rule).conditions),
            head="false" if isinstance(head, Falsity) else print_condition(replace_variables(head, ground)),
            refuted_by=tuple(dict.fromkeys(self._reasons(rule, row, ground))),
        )

    def _body(self, rule: FormulaRule) -> And:
        """The body as written, with the variables that `_` and keys that are not named stand for."""
        resolved = {atom.span: atom for disjunct in rule.disjuncts for atom in disjunct.atoms if atom.span is not None}
        return And(tuple(_filled(one, resolved) for one in self._rule.body.conditions))

    def _reasons(self, rule: FormulaRule, row: Mapping[str, Value], ground: Mapping[Variable, Expression]) -> Iterator[str]:
        for index, reason in enumerate(sql.reasons(rule.refuted)):
            if row.get(f"r{index}"):
                yield self._reason(reason, ground)

    def _reason(self, reason: Judgement, ground: Mapping[Variable, Expression]) -> str:
        match reason:
            case Leaf(RowAtom() as atom):
                return self._fact(replace_variables(atom, ground))
            case Opposite(Leaf(RowAtom() as atom)):
                return f"not {self._fact(replace_variables(atom, ground))}"
            case Exists(title=title):
                return title
            case _:
                raise AssertionError("not a reason")

    def _fact(self, atom: RowAtom) -> str:
        relation = self._formulas.schema.relations[atom.table]
        if relation.is_table:
            return print_condition(atom)
        return print_condition(Atom(atom.table, tuple(term for _, term in atom.arguments)))


def _filled(condition: Condition, resolved: Mapping[Span, RowAtom]) -> Condition:
    match condition:
        case And(conditions):
            return And(tuple(_filled(one, resolved) for one in conditions))
        case Or(conditions):
            return Or(tuple(_filled(one, resolved) for one in conditions))
        case Atom(predicate, terms, Span() as span) if span in resolved:
            return Atom(predicate, tuple(map(_filled_term, terms, (term for _, term in resolved[span].arguments))))
        case RowAtom(table, arguments, Span() as span) if span in resolved:
            written = dict(arguments)
            found = resolved[span].arguments
            return RowAtom(table, tuple((name, _filled_term(written.get(name, Wildcard()), term)) for name, term in found))
        case _:
            return condition


def _filled_term(written: Term, found: Term) -> Term:
    return found if isinstance(written, Wildcard) else written


def _variable(name: str, number: int) -> str:
    """A variable as it is called in the rule; `_` with its number among the variables."""
    return f"_{number}" if is_fresh(name) else name


def _shown(value: Value) -> str:
    """A value as people read it. Where a position has constants of several types, their keys stand for them."""
    if isinstance(value, str) and value.startswith(MARKER):
        return text_of(value)
    return text_of(key_of(value))
