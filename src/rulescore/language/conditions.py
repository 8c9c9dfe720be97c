"""Atoms, rows, expressions and conditions: each function reads one of them and leaves the cursor behind it."""

from __future__ import annotations

from itertools import islice

from rulescore.errors import Span
from rulescore.language import builtins, syntax
from rulescore.language.cursor import FUNCTIONS as NAMES_ELSEWHERE
from rulescore.language.cursor import NAME_KINDS, Cursor, StatementError, Token, is_variable_word
from rulescore.language.terms import PLAIN_KINDS, plain_term, read_constant, read_name, read_predicate, read_term
from rulescore.language.trees import atoms_in, conditions_in

_FORM = "write all arguments with names, `sale(id: A, price: P)`, or none"


def at_argument_name(cursor: Cursor) -> bool:
    return cursor.following.kind == ":" and cursor.token.kind in NAME_KINDS


def read_row(cursor: Cursor, table: str, start: int) -> syntax.RowAtom:
    """The arguments of `table` and the closing parenthesis. The cursor stands at the first name."""
    arguments: dict[str, syntax.Term] = {}
    cursor.several(lambda cursor: _read_row_argument(cursor, table, arguments))
    cursor.expect(")", "`,` or `)`")
    return syntax.RowAtom(table, tuple(arguments.items()), cursor.span_from(start))


def _read_row_argument(cursor: Cursor, table: str, arguments: dict[str, syntax.Term]) -> None:
    name_token = cursor.token
    if not at_argument_name(cursor):
        if cursor.following.kind in {",", ")"}:
            raise mixed_arguments(cursor, cursor.token_span(name_token))
        raise cursor.unexpected("a name, a colon and a value", operand=True)
    name = read_name(cursor, "the name of an argument")
    cursor.advance()
    if name in arguments:
        message = f"the argument `{name}` is given twice"
        cursor.report("E120", message, cursor.token_span(name_token), help="keep one of them, and compare its value if need be")
    arguments[name] = read_term(cursor)
    if cursor.token.kind not in {",", ")"}:
        raise _computed(cursor, table, name)


def mixed_arguments(cursor: Cursor, span: Span) -> StatementError:
    return cursor.failure("E120", "arguments with names and without are mixed", span, help=_FORM)


def _computed(cursor: Cursor, table: str, name: str) -> StatementError:
    token = cursor.token
    if token.kind not in {"+", "-", "*", "/", "(", "word"}:
        return cursor.unexpected("`,` or `)`")
    message = f"the value of the argument `{name}` is neither a variable nor a constant"
    advice = f"give it a variable, `{name}: V`, and compare that: `V = …`"
    if token.kind == "(" and table.lower() in NAMES_ELSEWHERE:
        advice = f"for the aggregate, write `{NAMES_ELSEWHERE[table.lower()]}`"
    return cursor.failure("E120", message, cursor.token_span(token), label="expected `,` or `)`", help=advice)


_COMPARISONS = {operator.value: operator for operator in syntax.Operator}
_ARITHMETIC = {operator.value: operator for operator in syntax.Arithmetic if operator is not syntax.Arithmetic.MODULO}
_POWERS = {
    syntax.Arithmetic.ADD: 1,
    syntax.Arithmetic.SUBTRACT: 1,
    syntax.Arithmetic.MULTIPLY: 2,
    syntax.Arithmetic.DIVIDE: 2,
    syntax.Arithmetic.MODULO: 2,
}
JOINTS = frozenset({",", "and", "or"})
_ENDS = frozenset({",", ")"})
PREDICATE_KINDS = NAME_KINDS | {"dotted"}
# These tokens need a second look: `not` may begin `not in`, and a word may be `mod`.
_AFTER_VALUES = frozenset({*_COMPARISONS, *_ARITHMETIC, "in", "not", "word"})


def read_conjunction(cursor: Cursor) -> syntax.And:
    """A condition as a conjunction. If it is none, it becomes the only part."""
    start = cursor.token.start
    condition = builtins.condition_of(cursor, read_formula(cursor))
    return condition if isinstance(condition, syntax.And) else syntax.And((condition,), cursor.span_from(start))


def read_formula(cursor: Cursor) -> builtins.Node:
    """Conditions joined by `,`, `and` and `or`; or a single condition, or a value."""
    start = cursor.token.start
    begin = 0
    node = _read_part(cursor)
    if cursor.token.kind in JOINTS:
        parts = [builtins.condition_of(cursor, node)]
        alternatives: list[syntax.Condition] = []
        joints: set[str] = set()
        while (joint := cursor.token.kind) in JOINTS:
            if joint not in joints:
                joints.add(joint)
                _check_joint(cursor, joints)
            if joint == "or":
                alternatives.append(_joined(parts))
                parts = []
            cursor.advance()
            begin = cursor.index
            parts.append(builtins.condition_of(cursor, _read_part(cursor)))
        span = cursor.span_from(start)
        node = syntax.Or((*alternatives, _joined(parts)), span) if alternatives else syntax.And(tuple(parts), span)
    cursor.begin = begin
    return node


def _joined(parts: list[syntax.Condition]) -> syntax.Condition:
    """The parts between two `or`."""
    if len(parts) == 1:
        return parts[0]
    first, last = parts[0].span, parts[-1].span
    return syntax.And(tuple(parts), Span(first.source, first.start, last.end) if first and last else None)


def _check_joint(cursor: Cursor, joints: set[str]) -> None:
    """Raises if a word that joins conditions does not fit the other joining words of its list."""
    joint = cursor.token
    if joint.kind == "," and cursor.in_head:
        raise cursor.failure(
            "E109",
            "a comma cannot stand between the conditions of a head",
            cursor.token_span(joint),
            note="some languages read it as `and`, others as `or`",
            help="write `and` or `or`, or a rule of its own for each of them",
        )
    if joints >= {",", "or"}:
        raise cursor.failure(
            "E101",
            "`,` and `or` stand side by side without parentheses",
            cursor.token_span(joint),
            note="`a, b or c` could mean `(a and b) or c` as well as `a and (b or c)`",
            help="put the alternatives into parentheses, or write `and` for `,`",
        )


def _read_part(cursor: Cursor) -> builtins.Node:
    """A condition without `,`, `and` and `or`, or a value."""
    token = cursor.token
    kind = token.kind
    # A name is never the last token.
    if kind in PREDICATE_KINDS and cursor.tokens[cursor.index + 1].kind == "(":
        node: builtins.Node = read_application(cursor)
        if cursor.token.kind not in _AFTER_VALUES:
            return node
        node = _continue_operation(cursor, node, token.start, 0)
    elif kind == "not":
        return _read_negation(cursor)
    elif kind == "let":
        return _read_definition(cursor)
    else:
        if cursor.following.kind == ":" and kind in NAME_KINDS and cursor.at_statement():
            raise cursor.missing_full_stop(cursor.index)
        node = _read_operation(cursor, 0, "an atom or a comparison")
    return _read_comparison(cursor, node, token.start)


def _read_negation(cursor: Cursor) -> syntax.Not:
    start = cursor.token.start
    cursor.enter()
    cursor.advance()
    if cursor.token.kind == "let" and cursor.following.kind != "(":
        raise cursor.unexpected("a condition", help="`let` only names a value, so it cannot be negated")
    condition = builtins.condition_of(cursor, _read_part(cursor))
    cursor.leave()
    return syntax.Not(condition, cursor.span_from(start))


def _read_definition(cursor: Cursor) -> syntax.Let:
    if cursor.following.kind in {"(", *_ENDS}:
        raise cursor.unexpected("an atom or a comparison", operand=True)
    if cursor.in_head:
        message = "a definition with `let` cannot stand in a head"
        raise cursor.failure("E109", message, cursor.token_span(cursor.token), help="write it in the body; the head can use it")
    start = cursor.advance().start
    variable_token = cursor.token
    is_variable = variable_token.kind == "variable" or (variable_token.kind == "word" and is_variable_word(variable_token.text))
    if not is_variable:
        raise cursor.unexpected("a variable", operand=True)
    variable = read_term(cursor)
    assert isinstance(variable, syntax.Variable)
    cursor.expect("=", "`=`")
    return syntax.Let(variable, read_expression(cursor), cursor.span_from(start))


def _read_comparison(cursor: Cursor, left: builtins.Node, start: int) -> builtins.Node:
    """The rest of a comparison behind its first value: an operator and another value, a set, or nothing."""
    kind = cursor.token.kind
    operator = _COMPARISONS.get(kind)
    if operator is not None:
        _check_arrow(cursor, left)
        value = builtins.expression_of(cursor, left)
        cursor.advance()
        comparison = syntax.Comparison(operator, value, read_expression(cursor), cursor.span_from(start))
        if cursor.token.kind in _COMPARISONS:
            _check_arrow(cursor, comparison)
            raise cursor.unexpected("`,` or `.`", help="write two comparisons: `1 < X and X < 9`")
        return comparison
    if kind == "in":
        return read_membership(cursor, builtins.expression_of(cursor, left), start)
    if kind == "not" and cursor.following.kind == "in":
        value = builtins.expression_of(cursor, left)
        cursor.advance()
        membership = read_membership(cursor, value, start)
        return syntax.Not(membership, membership.span)
    return left


def _check_arrow(cursor: Cursor, left: builtins.Node) -> None:
    """Raises if the sign of a comparison in a head is meant as an arrow: `p(X) <= q(X).`"""
    is_condition = isinstance(left, syntax.Comparison) or (
        isinstance(left, syntax.Atom) and left.predicate not in builtins.FUNCTIONS
    )
    if cursor.in_head and is_condition and not cursor.has_arrow():
        raise cursor.unexpected("`<-`", help="the arrow between head and body is `<-`, with the head on its left")


def read_membership(cursor: Cursor, value: syntax.Expression, start: int) -> syntax.Membership:
    """`in {a, b}` behind a value."""
    cursor.advance()
    cursor.expect("{", "a set of constants, such as `{a, b}`")
    constants = cursor.several(read_constant)
    cursor.expect("}", "`,` or `}`")
    return syntax.Membership(value, tuple(constants), cursor.span_from(start))


def read_expression(cursor: Cursor) -> syntax.Expression:
    return builtins.expression_of(cursor, _read_operation(cursor, 0, "a value"))


def _read_operation(cursor: Cursor, power: int, expected: str) -> builtins.Node:
    """Operands joined by operators that bind more tightly than `power`; or one operand, which may also be a condition."""
    start = cursor.token.start
    return _continue_operation(cursor, _read_operand(cursor, expected), start, power)


def _continue_operation(cursor: Cursor, node: builtins.Node, start: int, power: int) -> builtins.Node:
    while (operator := _operator(cursor.token)) is not None and _POWERS[operator] > power:
        left, height = builtins.expression_of(cursor, node), cursor.height
        cursor.advance()
        right = builtins.expression_of(cursor, _read_operation(cursor, _POWERS[operator], "a value"))
        node = syntax.Operation(operator, left, right, cursor.span_from(start))
        cursor.grow(max(height, cursor.height) + 1)
    return node


def _operator(token: Token) -> syntax.Arithmetic | None:
    if token.kind == "word":
        return syntax.Arithmetic.MODULO if token.text == "mod" else None
    return _ARITHMETIC.get(token.kind)


def _read_operand(cursor: Cursor, expected: str) -> builtins.Node:
    token = cursor.token
    following = cursor.following.kind
    if token.kind in PREDICATE_KINDS and following == "(":
        return read_application(cursor)
    if token.kind == "(":
        return _read_parentheses(cursor)
    if token.kind == "-" and following != "number":
        return _read_negative(cursor)
    cursor.height = 0
    if token.kind == "attribute":
        cursor.advance()
        return syntax.Attribute(token.text, cursor.token_span(token))
    term = read_term(cursor, expected)
    return builtins.expression_of(cursor, term)


def _read_parentheses(cursor: Cursor) -> builtins.Node:
    cursor.enter()
    cursor.advance()
    node = read_formula(cursor)
    cursor.expect(")", "`)`")
    cursor.leave()
    return node


def _read_negative(cursor: Cursor) -> syntax.Negative:
    start = cursor.token.start
    cursor.enter()
    cursor.advance()
    token = cursor.token
    operand = builtins.expression_of(cursor, _read_operand(cursor, "a number"))
    if isinstance(operand, syntax.Constant) and isinstance(operand.value, str | bool):
        message = f"expected a number, found `{token.text}`"
        raise cursor.failure("E101", message, cursor.token_span(token), label="expected a number")
    cursor.leave()
    cursor.grow(cursor.height + 1)
    return syntax.Negative(operand, cursor.span_from(start))


def read_application(cursor: Cursor) -> syntax.Atom | syntax.RowAtom | syntax.Test | syntax.Aggregate:
    """A name with its arguments in parentheses. The cursor stands at the name, and a parenthesis follows."""
    token, tokens = cursor.token, cursor.tokens
    index = cursor.index + 2
    name = token.text if token.kind == "word" and token.text != "_" else read_predicate(cursor, "an atom")
    terms: list[syntax.Term] = []
    # The plain case comes first, for speed: rule miners write millions of such arguments.
    while tokens[index].kind in PLAIN_KINDS and (end := tokens[index + 1].kind) in _ENDS:
        terms.append(plain_term(cursor, tokens[index]))
        index += 2
        if end == ")":
            cursor.jump(index)
            cursor.height = 1
            return syntax.Atom(name, tuple(terms), Span(cursor.source, token.start, tokens[index - 1].end))
    cursor.jump(index)
    if cursor.token.kind == ")" and not terms:
        raise builtins.without_arguments(cursor, name, cursor.token_span(token))
    aggregates = token.kind == "word" and name in builtins.AGGREGATES
    if not terms and at_argument_name(cursor) and not aggregates:
        return read_row(cursor, name, token.start)
    cursor.enter()
    arguments, height = _read_arguments(cursor, name, terms)
    if cursor.token.kind == ":" and aggregates and len(arguments) == 1:
        aggregate = _read_aggregate(cursor, syntax.Aggregation(name), builtins.expression_of(cursor, arguments[0]), token.start)
        cursor.leave()
        return aggregate
    if (
        aggregates
        and name not in builtins.FUNCTIONS
        and not all(isinstance(argument, syntax.Variable | syntax.Constant | syntax.Wildcard) for argument in arguments)
    ):
        raise builtins.without_colon(cursor, name, cursor.token_span(token))
    if cursor.token.kind == ":":
        raise mixed_arguments(cursor, cursor.token_span(cursor.tokens[cursor.index - 1]))
    cursor.expect(")", "`,` or `)`")
    cursor.leave()
    cursor.grow(height + 1)
    return _applied(cursor, name, arguments, cursor.span_from(token.start))


def _read_arguments(cursor: Cursor, name: str, before: list[syntax.Term]) -> tuple[list[builtins.Node | syntax.Wildcard], int]:
    """All arguments, those in `before` included, and the height of the highest argument read here."""
    arguments: list[builtins.Node | syntax.Wildcard] = [*before]
    highest = 0
    while True:
        arguments.append(_read_argument(cursor, name))
        highest = max(highest, cursor.height)
        if cursor.token.kind != ",":
            return arguments, highest
        cursor.advance()


def _read_argument(cursor: Cursor, name: str) -> builtins.Node | syntax.Wildcard:
    if cursor.token.text == "_" and cursor.following.kind in _ENDS:
        cursor.height = 0
        return read_term(cursor)
    start = cursor.token.start
    node = _read_operation(cursor, 0, "a variable or a constant")
    if name == "within":
        if cursor.token.kind == "%":
            cursor.advance()
            return builtins.tolerance(cursor, "percent", (builtins.expression_of(cursor, node),), cursor.span_from(start))
        if isinstance(node, syntax.Atom) and node.predicate in builtins.TOLERANCES:
            arguments = tuple(builtins.expression_of(cursor, term) for term in node.terms)
            return builtins.tolerance(cursor, node.predicate, arguments, cursor.span_from(start))
    return node


def _applied(cursor: Cursor, name: str, arguments: list[builtins.Node | syntax.Wildcard], span: Span) -> syntax.Atom | syntax.Test:
    terms = tuple(argument for argument in arguments if isinstance(argument, syntax.Variable | syntax.Constant | syntax.Wildcard))
    if len(terms) == len(arguments):
        return syntax.Atom(name, terms, span)
    return syntax.Test(name, tuple(builtins.expression_of(cursor, argument) for argument in arguments), span)


def _read_aggregate(cursor: Cursor, function: syntax.Aggregation, value: syntax.Expression, start: int) -> syntax.Aggregate:
    """The condition of an aggregate, behind its colon. In a head, its commas mean what they mean in a body."""
    in_head = cursor.in_head
    cursor.in_head = False
    cursor.advance()
    condition = read_conjunction(cursor)
    cursor.in_head = in_head
    cursor.expect(")", "`,` or `)`")
    cursor.grow(cursor.peak + 1)
    return syntax.Aggregate(function, value, condition, cursor.span_from(start))


MOST_ATOMS = 100
MOST_CONDITIONS = 10_000
"""The most that a body may have. Rules of people and of miners have far fewer; engines would join more of them for hours."""


def read_body(cursor: Cursor) -> syntax.And:
    """One condition or more. Does not check what follows, except for a further arrow: it means a forgotten full stop."""
    if cursor.token.kind in {".", "end"}:
        raise cursor.failure(
            "E107",
            "the body of the rule is empty",
            cursor.token_span(cursor.token),
            label="expected an atom",
            note="a rule says what follows from its body: `head <- body.`",
            help="facts belong into the data, not among the rules",
        )
    begin = cursor.index
    body = read_conjunction(cursor)
    if cursor.index - begin > MOST_ATOMS:  # a body with more conditions also has more tokens
        _refuse_too_long(cursor, body)
    if cursor.token.kind == "<-" and cursor.begin:
        raise cursor.missing_full_stop(cursor.begin)
    return body


def _refuse_too_long(cursor: Cursor, body: syntax.And) -> None:
    for what, most, parts in (("atoms", MOST_ATOMS, atoms_in(body)), ("conditions", MOST_CONDITIONS, conditions_in(body))):
        beyond = next(islice(parts, most, None), None)
        if beyond is not None:
            span = beyond.span or cursor.token_span(cursor.token)
            advice = "write several rules, or `X in {…}` instead of many comparisons"
            raise cursor.failure("E122", f"the body has more than {most:,} {what}", span, label="one too many", help=advice)


def read_atom(cursor: Cursor) -> syntax.Atom:
    """An atom of plain terms, nothing else."""
    if cursor.token.kind in PREDICATE_KINDS and cursor.following.kind == "(":
        atom = read_application(cursor)
        if isinstance(atom, syntax.Atom):
            return atom
        advice = (
            "an attribute of a table is written as an atom like this: `sale.price(A, P)`"
            if isinstance(atom, syntax.RowAtom)
            else ""
        )
        message = "expected an atom of variables and constants"
        raise cursor.failure("E101", message, atom.span or cursor.token_span(cursor.token), help=advice)
    token = cursor.token
    name = read_predicate(cursor, "an atom")
    if cursor.token.kind in JOINTS or cursor.token.kind in {".", "end", "<-"}:
        raise builtins.without_arguments(cursor, name, cursor.token_span(token))
    raise cursor.unexpected("`(`", help="a name of other characters than letters, digits and underscores is quoted")
