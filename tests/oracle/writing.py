"""Rules of the whole language as rule text. Everything nested stands in parentheses, so that no precedence is relied on."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterable
from fractions import Fraction

from oracle.facts import Constant, Double, Fact
from oracle.refutation import incompatible_group
from oracle.tree import (
    Aggregate,
    And,
    Atom,
    AttributeName,
    Call,
    Comparison,
    Condition,
    Expression,
    Functional,
    Let,
    Member,
    Negative,
    Not,
    Operation,
    Or,
    Refutation,
    RowAtom,
    Rule,
    Setting,
    Some,
    Term,
    Test,
    Variable,
    Wildcard,
)
from oracle.values import DAY


def write_name(name: str) -> str:
    """Attributes of tables are written as they are, with their point; other names are quoted, whatever they are."""
    return name if re.fullmatch(r"[a-z]\w*\.[a-z]\w*", name) else f"`{name}`"


def write_value(one: Constant) -> str:
    match one.type:
        case "string":
            return json.dumps(one.value)
        case "boolean":
            return str(one.value).lower()
        case "number":
            whole = one.value.denominator == 1 and not isinstance(one, Double)
            whole = whole and (abs(one.value) <= 2**63 or Fraction(float(one.value)) != one.value)
            return str(one.value) if whole else repr(float(one.value))
        case _:
            return str(one.value.isoformat()).replace("+00:00", "Z")


def write_constant(one: Constant) -> str:
    if one.type != "duration":
        return write_value(one)
    if one.value % DAY:
        return f"{one.value // datetime.timedelta(microseconds=1)} microseconds"
    return f"{one.value.days} {'day' if one.value.days == 1 else 'days'}"


def write_term(term: Term) -> str:
    match term:
        case Variable(name):
            return name
        case Wildcard():
            return "_"
        case Constant():
            return write_constant(term)


def write_expression(expression: Expression) -> str:
    match expression:
        case Variable(name) | AttributeName(name):
            return name
        case Constant():
            return write_constant(expression)
        case Operation(operator, left, right):
            return f"({write_operand(left)} {operator} {write_operand(right)})"
        case Negative(Constant() as operand):
            # Without parentheses the minus would be part of the number.
            return f"(-({write_expression(operand)}))"
        case Negative(operand):
            return f"(-{write_operand(operand)})"
        case Call("percent", (share,)):
            return f"{write_expression(share)}%"
        case Call(function, arguments):
            return f"{function}({', '.join(map(write_expression, arguments))})"
        case Aggregate(function, value, condition):
            return f"{function}({write_expression(value)} : {write_conditions(condition)})"


def write_operand(expression: Expression) -> str:
    text = write_expression(expression)
    return f"({text})" if text.startswith("-") else text


def write_atom(atom: Atom) -> str:
    return f"{write_name(atom.predicate)}({', '.join(map(write_term, atom.terms))})"


def write_fact(one: Fact) -> str:
    return write_atom(Atom(one[0], one[1:]))


def write_condition(condition: Condition) -> str:
    """A condition that can stand anywhere."""
    match condition:
        case Atom():
            return write_atom(condition)
        case RowAtom(table, arguments):
            return f"{table}({', '.join(f'{name}: {write_term(term)}' for name, term in arguments)})"
        case Test(predicate, arguments):
            return f"{predicate}({', '.join(map(write_expression, arguments))})"
        case Comparison(operator, left, right):
            return f"{write_expression(left)} {operator} {write_expression(right)}"
        case Member(value, constants):
            return f"{write_expression(value)} in {{{', '.join(map(write_constant, constants))}}}"
        case Let(variable, value):
            return f"let {variable.name} = {write_expression(value)}"
        case Not(Member(value, constants)):
            return f"{write_expression(value)} not in {{{', '.join(map(write_constant, constants))}}}"
        case Not(inner):
            return f"not {write_condition(inner)}" if isinstance(inner, Atom | RowAtom | Not) else f"not ({write_condition(inner)})"
        case And(parts):
            return f"({' and '.join(map(write_condition, parts))})"
        case Or(parts):
            return f"({' or '.join(map(write_condition, parts))})"
        case Some():
            raise TypeError("`Some` is no part of the language")


def write_conditions(condition: Condition) -> str:
    """A body: the parts of a conjunction separated by commas."""
    parts = condition.parts if isinstance(condition, And) else (condition,)
    return ", ".join(map(write_condition, parts))


def write_rule(one: Rule) -> str:
    marks = (f"@{one.kind} " if one.kind else "") + (f"@weight({float(one.weight)!r}) " if one.weight != 1 else "")
    head = "false" if one.head is None else write_condition(one.head)
    return f"{marks}{one.name}: {head} <- {write_conditions(one.body)}."


def write_dependency(word: str, one: Functional, arity: int) -> str:
    columns = [f"X{i}" for i in range(arity)]
    keys, values = (", ".join(columns[i] for i in positions) for positions in (one.keys, one.values))
    return f"{word} {write_name(one.predicate)}({', '.join(columns)}) on {keys} -> {values}."


def write_refutation(one: Refutation) -> str:
    return f"refute {write_atom(one.head)} <- {write_conditions(one.body)}."


def write_program(setting: Setting, arities: dict[str, int], groups: Iterable[tuple[str, ...]] = ()) -> str:
    """A setting's rules and refutations. `arities` are those of plain predicates, which are declared, and of attributes. Pairs that
    a group says already are not written again."""
    attributes = {table.predicate(name) for table in setting.tables for name in table.attributes}
    said = {pair for group in groups for pair in incompatible_group(arities[group[0]], *group)}
    lines = [f"predicate {write_name(name)}/{arity}." for name, arity in sorted(arities.items()) if name not in attributes]
    lines += map(write_rule, setting.rules)
    lines += (f"closed {write_name(name)}." for name in sorted(setting.closed))
    lines += ["closed *."] if setting.closed_all else []
    lines += (f"incompatible {', '.join(map(write_name, group))}." for group in groups)
    pairs = (pair for pair in setting.incompatible if pair not in said)
    lines += (f"incompatible {write_atom(pair.left)}, {write_atom(pair.right)}." for pair in pairs)
    lines += (write_dependency("functional", one, arities[one.predicate]) for one in setting.functional)
    lines += (write_dependency("pca", one, arities[one.predicate]) for one in setting.complete)
    lines += ["pca *."] if setting.complete_all else []
    lines += map(write_refutation, setting.auxiliary)
    lines += ["extract incompatible."] if setting.extract else []
    return "\n".join(lines)
