"""Bodies as disjuncts."""

from __future__ import annotations

import pytest

from rulescore.errors import Diagnostic, Source
from rulescore.language.parser import parse
from rulescore.logic.formula import FormulaRule, Relation, RelationColumn, Schema
from rulescore.logic.judgement import formula
from rulescore.logic.refutation import Declared
from rulescore.values import ValueType

COLUMNS = {"a0": RelationColumn("a0", ValueType.INTEGER), "a1": RelationColumn("a1", ValueType.INTEGER)}
SCHEMA = Schema({name: Relation(name, COLUMNS, name) for name in ("p", "q", "r", "s")})


def resolved(text: str) -> FormulaRule:
    problems: list[Diagnostic] = []
    (rule,) = parse(Source("rules", text)).rules
    found = formula(rule, SCHEMA, Declared(), problems)
    assert not problems
    return found


@pytest.mark.parametrize(
    ("body", "disjuncts"),
    [
        ("p(X, Y), (q(X, Y) or r(Y, X)), (X > 1 or not s(X, _)), (X < 2 or s(Y, Y))", 1),
        ("p(X, Y), M = X + Y, (q(X, M) or r(M, X)), (M > 1 or Y = 2)", 1),
        ("p(X, Y), (q(X, Z) or r(Z, X)), (Z > 1 or Y = 2)", 2),
        ("p(X, Y), (q(X, Z) or Z = X), (s(Y, V) or V = Z)", 4),
        ("(p(X, Y) and (X > 1 or Y > 1)) or q(X, Y)", 2),
    ],
)
def test_an_or_is_spelt_out_only_where_it_binds_variables(body: str, disjuncts: int) -> None:
    assert len(resolved(f"X < Y <- {body}.").disjuncts) == disjuncts


def test_a_variable_bound_in_different_ways_is_one_of_the_grounding() -> None:
    found = resolved("Z > X <- p(X, Y), (q(X, Z) or Z = X + 1).")
    assert set(found.variables) == {"X", "Y", "Z"}


def test_a_variable_that_abbreviates_the_same_everywhere_is_none_of_the_grounding() -> None:
    found = resolved("M > X <- p(X, Y), M = X + Y, (q(X, Z) or r(Z, X)).")
    assert set(found.variables) == {"X", "Y", "Z"}
