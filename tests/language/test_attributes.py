"""Expressions and conditions over the attributes of a row."""

import datetime

import pytest

from rulescore.errors import InputError, Source
from rulescore.language.attributes import parse_condition, parse_expression
from rulescore.language.syntax import (
    And,
    Arithmetic,
    Attribute,
    Call,
    Comparison,
    Constant,
    Membership,
    Not,
    Operation,
    Operator,
    Or,
)

# Under its own name pytest would take it for a class of tests.
from rulescore.language.syntax import Test as ValueTest

PRICE, YEAR = Attribute("price"), Attribute("year")


def expression(text: str):
    return parse_expression(Source("project", text))


def condition(text: str):
    return parse_condition(Source("project", text))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("price", PRICE),
        ("Price", Attribute("Price")),
        ("`the price`", Attribute("the price")),
        ('"price"', Constant("price")),
        ("_", Attribute("_")),
        ("price / surface", Operation(Arithmetic.DIVIDE, PRICE, Attribute("surface"))),
        ("price mod mod", Operation(Arithmetic.MODULO, PRICE, Attribute("mod"))),
        ("days + 30 days", Operation(Arithmetic.ADD, Attribute("days"), Constant(datetime.timedelta(days=30)))),
        ("year(year)", Call("year", (YEAR,))),
        ("max(price, 1)", Call("max", (PRICE, Constant(1)))),
        ("(price)", PRICE),
        ("price.", PRICE),
        ("for", Attribute("for")),
        ("closed", Attribute("closed")),
    ],
)
def test_bare_words_and_names_in_backticks_are_attributes(text, tree):
    assert expression(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("year >= 2019", And((Comparison(Operator.AT_LEAST, YEAR, Constant(2019)),))),
        ('year = 1, split = "test"', And((
            Comparison(Operator.EQUAL, YEAR, Constant(1)), Comparison(Operator.EQUAL, Attribute("split"), Constant("test"))))),
        ("split in {test, \"b c\"}", And((Membership(Attribute("split"), (Constant("test"), Constant("b c"))),))),
        ("not year = 1 or price < 2", And((Or((
            Not(Comparison(Operator.EQUAL, YEAR, Constant(1))), Comparison(Operator.LESS, PRICE, Constant(2)))),))),
        ('starts_with(name, "A")', And((ValueTest("starts_with", (Attribute("name"), Constant("A"))),))),
        ("within(price, 5, 10%)", And((ValueTest("within", (PRICE, Constant(5), Call("percent", (Constant(10),)))),))),
    ],
)  # fmt: skip
def test_conditions_are_those_of_rules_without_atoms(text, tree):
    assert condition(text) == tree


@pytest.mark.parametrize("read", [expression, condition])
@pytest.mark.parametrize(
    "text",
    ["", "price. a", "price a", "?price", "price +", "sum(a)", "foo(a)", "count(x : p(x))", "sale(id: a)", "a.b"],
)  # fmt: skip
def test_what_is_no_expression_of_a_row_is_refused_with_its_place(read, text):
    with pytest.raises(InputError) as caught:
        read(text)
    assert [problem.place.name for problem in caught.value.problems] == ["project"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('starts_with("a", "b")', "E101"),
        ("plausible(price)", "E101"),
        ("let M = price", "E101"),
        ("?x = 1", "E101"),
        ("count(x : x = 1) = 1", "E101"),
        ("price", "E101"),
        ("`a\\q` = 1", "E102"),
    ],
)
def test_a_condition_on_a_row_has_attributes_and_built_in_tests_only(text, code):
    with pytest.raises(InputError) as caught:
        condition(text)
    assert [problem.code for problem in caught.value.problems] == [code]
