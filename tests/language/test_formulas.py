"""Conditions and expressions, as trees and as text again."""

import datetime

import pytest

from rulescore.errors import Source
from rulescore.language.declarations.closed import Closed
from rulescore.language.declarations.functional import Functional
from rulescore.language.declarations.incompatible import IncompatibleGroup
from rulescore.language.declarations.refute import Refute
from rulescore.language.parser import parse, parse_rule
from rulescore.language.printer import print_condition, print_expression, print_rule, print_statement
from rulescore.language.syntax import (
    Aggregate,
    Aggregation,
    And,
    Arithmetic,
    Atom,
    Call,
    Comparison,
    Constant,
    Falsity,
    Let,
    Membership,
    Negative,
    Not,
    Operation,
    Operator,
    Or,
    PredicateDeclaration,
    RowAtom,
    Variable,
    Wildcard,
)

# Under its own name pytest would take it for a class of tests.
from rulescore.language.syntax import Test as ValueTest

X, Y, Z, P, Q = (Variable(name) for name in "XYZPQ")
ONE, TWO, THREE = Constant(1), Constant(2), Constant(3)


def body(text: str) -> And:
    return parse_rule(f"false <- {text}").body


def condition(text: str):
    (part,) = body(text).conditions
    return part


def value(text: str):
    return condition(f"{text} = 0").left


def p(*terms):
    return Atom("p", terms or (X,))


def q(*terms):
    return Atom("q", terms or (X,))


def s(*terms):
    return Atom("s", terms or (X,))


def add(left, right):
    return Operation(Arithmetic.ADD, left, right)


def subtract(left, right):
    return Operation(Arithmetic.SUBTRACT, left, right)


def multiply(left, right):
    return Operation(Arithmetic.MULTIPLY, left, right)


@pytest.mark.parametrize(
    ("written", "operator"),
    [
        ("=", "="),
        ("!=", "!="),
        ("≠", "!="),
        ("<>", "!="),
        ("<", "<"),
        ("<=", "<="),
        ("≤", "<="),
        (">", ">"),
        (">=", ">="),
        ("≥", ">="),
    ],
)
def test_every_operator_compares(written, operator):
    assert condition(f"X {written} Y") == Comparison(Operator(operator), X, Y)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("X + 1", add(X, ONE)),
        ("X - 1", subtract(X, ONE)),
        ("X-1", subtract(X, ONE)),
        ("X - -1", subtract(X, Constant(-1))),
        ("X * Y / 2", Operation(Arithmetic.DIVIDE, multiply(X, Y), TWO)),
        ("X mod 3", Operation(Arithmetic.MODULO, X, THREE)),
        ("1 + 2 * 3", add(ONE, multiply(TWO, THREE))),
        ("1 * 2 + 3", add(multiply(ONE, TWO), THREE)),
        ("1 - 2 - 3", subtract(subtract(ONE, TWO), THREE)),
        ("1 - (2 - 3)", subtract(ONE, subtract(TWO, THREE))),
        ("(1 + 2) * 3", multiply(add(ONE, TWO), THREE)),
        ("1 + 2 mod 3", add(ONE, Operation(Arithmetic.MODULO, TWO, THREE))),
        ("-X * Y", multiply(Negative(X), Y)),
        ("-(X * Y)", Negative(multiply(X, Y))),
        ("-2 * X", multiply(Constant(-2), X)),
        ("-(2)", Negative(TWO)),
        ("mod mod mod", Operation(Arithmetic.MODULO, Constant("mod"), Constant("mod"))),
        ("abs(P - Q)", Call("abs", (subtract(P, Q),))),
        ("min(X, Y)", Call("min", (X, Y))),
        ("max(X, Y, 1)", Call("max", (X, Y, ONE))),
        ("round(X, 1)", Call("round", (X, ONE))),
        ("abs(min(X, Y)) + 1", add(Call("abs", (Call("min", (X, Y)),)), ONE)),
        ("count(X : p(X))", Aggregate(Aggregation.COUNT, X, And((p(),)))),
        ("min(X : p(X), X > 1)", Aggregate(Aggregation.LEAST, X, And((p(), Comparison(Operator.GREATER, X, ONE))))),
        ("sum(X + 1 : p(X) or q(X))", Aggregate(Aggregation.SUM, add(X, ONE), And((Or((p(), q())),)))),
        ("2 * avg(X : p(X))", multiply(TWO, Aggregate(Aggregation.AVERAGE, X, And((p(),))))),
        ("30 days", Constant(datetime.timedelta(days=30))),
        ("X - 1 day", subtract(X, Constant(datetime.timedelta(days=1)))),
        ("-2 weeks", Constant(datetime.timedelta(days=-14))),
    ],
)  # fmt: skip
def test_expressions_have_the_usual_precedence(text, tree):
    assert value(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("p(X), q(X)", And((p(), q()))),
        ("p(X) and q(X), s(X)", And((p(), q(), s()))),
        ("p(X) or q(X)", And((Or((p(), q())),))),
        ("p(X) ∨ q(X) | s(X)", And((Or((p(), q(), s())),))),
        ("p(X) and q(X) or s(X)", And((Or((And((p(), q())), s())),))),
        ("p(X) or q(X) and s(X)", And((Or((p(), And((q(), s())))),))),
        ("(p(X) or q(X)) and s(X)", And((Or((p(), q())), s()))),
        ("(p(X) or q(X)), s(X)", And((Or((p(), q())), s()))),
        ("(p(X), q(X)) or s(X)", And((Or((And((p(), q())), s())),))),
        ("(p(X), q(X))", And((p(), q()))),
        ("((p(X)))", And((p(),))),
        ("p(X) or (q(X) or s(X))", And((Or((p(), Or((q(), s())))),))),
        ("not p(X) and q(X)", And((Not(p()), q()))),
        ("not p(X) or q(X)", And((Or((Not(p()), q())),))),
        ("not (p(X) or q(X))", And((Not(Or((p(), q()))),))),
        ("not not p(X)", And((Not(Not(p())),))),
        ("not X < 3", And((Not(Comparison(Operator.LESS, X, THREE)),))),
        ("(X) < (3)", And((Comparison(Operator.LESS, X, THREE),))),
        ("X in {a, 1, \"b c\", 2020-01-31, -1}", And((Membership(X, (
            Constant("a"), ONE, Constant("b c"), Constant(datetime.date(2020, 1, 31)), Constant(-1))),))),
        ("X + 1 in {1}", And((Membership(add(X, ONE), (ONE,)),))),
        ("X not in {a}", And((Not(Membership(X, (Constant("a"),))),))),
        ("not X in {a}", And((Not(Membership(X, (Constant("a"),))),))),
        ("let Y = X + 1", And((Let(Y, add(X, ONE)),))),
        ("let ?y = X", And((Let(Variable("y"), X),))),
    ],
)  # fmt: skip
def test_conditions_are_joined_loosest_first(text, tree):
    assert body(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("starts_with(X, \"A\")", Atom("starts_with", (X, Constant("A")))),
        ("abs(X)", Atom("abs", (X,))),
        ("count(X, Y)", Atom("count", (X, Y))),
        ("p((X), -1)", p(X, Constant(-1))),
        ("within(P, Q, 30 days)", Atom("within", (P, Q, Constant(datetime.timedelta(days=30))))),
        ("within(P, Q, 10%)", ValueTest("within", (P, Q, Call("percent", (Constant(10),))))),
        ("within(P, Q, 2.5%)", ValueTest("within", (P, Q, Call("percent", (Constant(2.5),))))),
        ("within(P, Q, quantile(0.9))", ValueTest("within", (P, Q, Call("quantile", (Constant(0.9),))))),
        ("within(P, Q, spread(2))", ValueTest("within", (P, Q, Call("spread", (TWO,))))),
        ("plausible(P / Q, X)", ValueTest("plausible", (Operation(Arithmetic.DIVIDE, P, Q), X))),
        ("starts_with(lower(X), a)", ValueTest("starts_with", (Call("lower", (X,)), Constant("a")))),
        ("`abs`(X + 1)", ValueTest("abs", (add(X, ONE),))),
        ("sale(id: X, type: house, zip: _)", RowAtom("sale", (("id", X), ("type", Constant("house")), ("zip", Wildcard())))),
        ("sale(Id: X, `the zip`: -1)", RowAtom("sale", (("Id", X), ("the zip", Constant(-1))))),
        ("`count`(id: X)", RowAtom("count", (("id", X),))),
        ("sale.price(X, P)", Atom("sale.price", (X, P))),
        ("`sale.price`(X, P)", Atom("sale.price", (X, P))),
    ],
)  # fmt: skip
def test_a_name_with_arguments_is_an_atom_a_test_or_a_row(text, tree):
    assert condition(text) == tree


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("abs(P - Q) < 5", Comparison(Operator.LESS, Call("abs", (subtract(P, Q),)), Constant(5))),
        ("p(X) or q(X)", Or((p(), q()))),
        ("p(X) and q(X)", And((p(), q()))),
        ("not p(X)", Not(p())),
        ("X in {a}", Membership(X, (Constant("a"),))),
        ("sale(id: X)", RowAtom("sale", (("id", X),))),
        ("within(P, Q, 10%)", ValueTest("within", (P, Q, Call("percent", (Constant(10),))))),
        ("count(Y : p(Y), q(Y)) <= 2", Comparison(Operator.AT_MOST, Aggregate(Aggregation.COUNT, Y, And((p(Y), q(Y)))), TWO)),
        ("false", Falsity()),
        ("false = X", Comparison(Operator.EQUAL, Constant(False), X)),
    ],
)  # fmt: skip
def test_a_head_is_any_condition_or_false(text, head):
    assert parse_rule(f"{text} <- s(X, P, Q)").head == head
    assert parse_rule(f"name: {text} <- s(X, P, Q)").head == head


def test_declarations_take_attributes_of_tables():
    text = (
        "closed sale.price. functional sale.price(A -> P). incompatible a.b, c. predicate a.b/2. refute a.b(X, P) <- P < 0 or p(X)."
    )
    refuted = Refute(Atom("a.b", (X, P)), And((Or((Comparison(Operator.LESS, P, Constant(0)), p())),)))
    assert parse(Source("test.rules", text)).statements == (
        Closed("sale.price"),
        Functional("sale.price", 2, (0,), (1,)),
        IncompatibleGroup(("a.b", "c")),
        PredicateDeclaration("a.b", 2),
        refuted,
    )


@pytest.mark.parametrize(
    "text",
    [
        'abs(P - Q) < 500 <- sale(id: A, type: house, zip: Z, price_m2: P), sale(id: B, zip: Z, price_m2: Q), A != B',
        "father(X, Y) or mother(X, Y) <- son(Y, X)",
        "not smoker(X) <- athlete(X), not retired(X)",
        "count(C : parent(X, C)) <= 2 <- person(X)",
        "P <= 3 * avg(Q : sale(zip: Z, price: Q), Q > 0) <- sale(id: A, zip: Z, price: P)",
        "false <- p(X) or q(X) and s(X)",
        "false <- (p(X) or q(X)), s(X)",
        "false <- not (p(X) and q(X)), not not s(X), X not in {a, \"B\", 1.5}",
        "false <- let M = P / S, M - (P - S) > -M * -2, D - E <= 30 days, E - D < -1 day",
        "within(P, Q, 10%) <- sale.price(A, P), sale.price(B, Q), within(P, Q, quantile(0.9))",
        "false <- X mod 2 = 1, (X + 1) * 2 / (3 - 1) = -(-1)",
        "p(X) and q(X) or s(X) <- t(X)",
    ],
)  # fmt: skip
def test_the_canonical_text_has_no_needless_parentheses(text):
    assert print_rule(parse_rule(text)) == text


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("((X)) < (3 + (4 * 5))", "X < 3 + 4 * 5"),
        ("(X + 1) + 2 = 0", "X + 1 + 2 = 0"),
        ("(p(X))", "p(X)"),
        ("not (p(X))", "not p(X)"),
        ("not (X in {a})", "X not in {a}"),
        ("2 weeks > X", "14 days > X"),
        ("(p(X) and q(X)) or s(X)", "p(X) and q(X) or s(X)"),
        ("`sale.price`(X, Y)", "sale.price(X, Y)"),
        ('sale("id": X)', "sale(id: X)"),
        ("X≤1", "X <= 1"),
    ],
)
def test_a_condition_is_printed_in_one_way(written, canonical):
    assert print_condition(condition(written)) == canonical


def test_a_function_is_printed_by_its_name_and_a_test_of_that_name_in_quotes():
    call, test = Call("abs", (add(X, ONE),)), ValueTest("abs", (add(X, ONE),))
    assert print_expression(call) == "abs(X + 1)"
    assert print_condition(test) == "`abs`(X + 1)"


def test_spans_of_conditions_point_at_the_text_they_were_read_from():
    text = "false <- (p(X) or sale(id: X)) and not (X + 1) * 2 < count(Y : q(Y)), let M = - X."
    source = Source("test.rules", text)
    (rule,) = parse(source).rules
    either, negation, definition = rule.body.conditions
    product, aggregate = negation.condition.left, negation.condition.right
    nodes = (either, *either.conditions, negation, negation.condition, product, product.left, aggregate, aggregate.condition,
             definition, definition.value)  # fmt: skip
    assert [text[node.span.start : node.span.end] for node in nodes] == [
        "p(X) or sale(id: X)",
        "p(X)",
        "sale(id: X)",
        "not (X + 1) * 2 < count(Y : q(Y))",
        "(X + 1) * 2 < count(Y : q(Y))",
        "(X + 1) * 2",
        "X + 1",
        "count(Y : q(Y))",
        "q(Y)",
        "let M = - X",
        "- X",
    ]


def test_conditions_may_be_nested_to_the_limit():
    for text in ("(" * 100 + "p(X)" + ")" * 100, "not " * 100 + "p(X)", "X = " + "+".join(["X"] * 101)):
        rule = parse_rule(f"false <- {text}")
        assert parse_rule(print_rule(rule)) == rule


def test_a_long_list_is_not_nested():
    text = " or ".join(f"X + {number} = 1" for number in range(1000))
    assert len(condition(text).conditions) == 1000


def test_a_statement_with_a_formula_is_printed_with_name_and_annotations():
    text = "@hard\n`no more`: count(C : parent(X, C)) <= 2 <- person(X)."
    assert print_statement(parse_rule(text)) == text
