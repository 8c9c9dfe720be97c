"""The rows and cells of tables that the violations of a rule over the data name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rulescore.engines.base import Engine
from rulescore.language.syntax import Constant, Expression, Variable, Wildcard
from rulescore.logic.formula import FormulaRule, ResolvedAtom
from rulescore.scoring.dirt import Cells, TableRow
from rulescore.sql.formula import listing as sql
from rulescore.sql.formula.counts import variable
from rulescore.sql.formula.scope import FormulaContext
from rulescore.values import Value, restored

# The number of groundings that we turn into Python values at a time.
_PIECE = 100_000


@dataclass(frozen=True, slots=True)
class _NamedRow:
    """A row that every grounding of a rule names: its key, and the columns named with it, with their values if known."""

    table: str
    key: tuple[Expression, ...]
    columns: tuple[tuple[str, Expression | None], ...]


def cells_of_violations(engine: Engine, context: FormulaContext) -> Iterator[Cells]:
    """For each violation of a rule over the data the rows that it names, and their cells."""
    named = _named_rows(context)
    rows = sql.listed(context, "refuted")
    if rows is None or not named:
        return
    rule = context.rule
    table = engine.query(rows)
    for start in range(0, table.num_rows, _PIECE):
        piece = table.slice(start, _PIECE)
        values = [
            [restored(value, rule.types.get(name)) for value in piece.column(variable(place)).to_pylist()]
            for place, name in enumerate(rule.variables)
        ]
        for grounding in zip(*values, strict=True):
            yield _cells(named, dict(zip(rule.variables, grounding, strict=True)))


def _cells(named: Sequence[_NamedRow], values: dict[str, Value]) -> Cells:
    cells: dict[TableRow, dict[str, Value | None]] = {}
    for row in named:
        columns = cells.setdefault(TableRow(row.table, tuple(_value(term, values) for term in row.key)), {})
        for name, term in row.columns:
            columns[name] = None if term is None else _value(term, values)
    return cells


def _value(term: Expression, values: dict[str, Value]) -> Value:
    match term:
        case Constant(value):
            return value
        case Variable(name):
            return values[name]
        case _:
            raise AssertionError("a key is a variable or a constant")


def _named_rows(context: FormulaContext) -> list[_NamedRow]:
    """The rows of the body's atoms. If the body has alternatives, the rows that all of them name. A row also stands in the head, or
    in an aggregate, if a row of the body has its key: `count(P : sale(id: A, price: P)) >= 1 <- sale(id: A)`."""
    rule = context.rule
    of_each = [[row for atom in disjunct.atoms if (row := _row(context, atom))] for disjunct in rule.disjuncts]
    first, *others = of_each or [[]]
    named = [row for row in first if all(row in other for other in others)]
    keys = {(row.table, row.key) for row in named}
    further = [row for atom in _further_atoms(rule) if (row := _row(context, atom)) and (row.table, row.key) in keys]
    return [*named, *further]


def _further_atoms(rule: FormulaRule) -> Iterator[ResolvedAtom]:
    yield from rule.head_atoms
    for name in (*rule.body_measures, *rule.head_measures):
        for disjunct in rule.measures[name].disjuncts:
            yield from disjunct.atoms


def _row(context: FormulaContext, atom: ResolvedAtom) -> _NamedRow | None:
    """The row that an atom names; None if the atom belongs to no table, or computes its key."""
    relation = context.relation(atom)
    terms = {name: term for name, term in atom.arguments if isinstance(term, Variable | Constant)}
    if not relation.is_table or not terms.keys() >= set(relation.key):
        return None
    columns = [
        (name, terms.get(name) if _is_outer(terms.get(name), context.rule) else None)
        for name, term in atom.arguments
        if name not in relation.key and not isinstance(term, Wildcard)
    ]
    return _NamedRow(relation.name, tuple(terms[name] for name in relation.key), tuple(columns))


def _is_outer(term: Expression | None, rule: FormulaRule) -> bool:
    """Whether a term has a value in every grounding: an aggregate's own variable has none."""
    return isinstance(term, Constant) or (isinstance(term, Variable) and term.name in rule.variables)
