"""What is printed can be read again, and gives the same tree."""

import datetime
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulescore.errors import InputError, Source
from rulescore.language.builtins import FUNCTIONS
from rulescore.language.declarations.closed import Closed
from rulescore.language.declarations.functional import Functional
from rulescore.language.declarations.incompatible import IncompatibleGroup, IncompatiblePair
from rulescore.language.declarations.pca import PartiallyComplete
from rulescore.language.declarations.refute import Refute
from rulescore.language.parser import parse, parse_atom, parse_rule
from rulescore.language.printer import print_atom, print_program, print_rule, print_statement, print_term
from rulescore.language.syntax import (
    Aggregate,
    Aggregation,
    And,
    Arithmetic,
    Atom,
    Call,
    Comparison,
    Constant,
    ExtractIncompatible,
    Falsity,
    Kind,
    Let,
    Membership,
    Negative,
    Not,
    Operation,
    Operator,
    Or,
    PredicateDeclaration,
    Program,
    RowAtom,
    Rule,
    Variable,
    Wildcard,
)

# Under its own name pytest would take it for a class of tests.
from rulescore.language.syntax import Test as ValueTest

WORDS = [
    "p", "q", "aunt", "born_in", "x1", "été", "भाषा", "年齢", "P31", "X", "_", "_x", "__", "false", "true", "not",
    "and", "or", "in", "let", "on", "closed", "incompatible", "functional", "pca", "refute", "extract", "predicate",
    "hard", "count", "null", "nan", "inf", "infinity", "e5", "Ω", "ª", "²", "ǅ", "mod", "days", "day", "for", "min",
    "abs", "within", "quantile", "if",
]  # fmt: skip
AWKWARD = [
    "", " ", "a.b", "a:b", "2nd", "1", "-1", "1e5", "2020-01-31", "a b", "a\nb", "\\", "\"", "`", "\\n", "#", "?x",
    "'", "“”", "sale.price", "a.b.c", "false.in", "a.", "$x", "10%", "30 days",
]  # fmt: skip
MANY = max(300, settings().max_examples)  # no database here: more examples than elsewhere cost little
ALPHABET = st.characters(exclude_categories=["Cs"])

texts = (
    st.sampled_from(WORDS + AWKWARD) | st.text(ALPHABET, max_size=6) | st.text('\\"`nut0\n\r\t\x00\x7f\x85\u2028\ufeff', max_size=6)
)
variable_names = st.sampled_from(["X", "Y", "_x", "x", "_", "1", "Élan", "été", "false", "ǅ"]) | st.text(
    string.ascii_letters + string.digits + "_éΩ年", min_size=1, max_size=4
)
values = (
    texts
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(10**400), max_value=10**400)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([1e300, 1e22, 1e16, -0.0, 5e-324])
    | st.dates()
    | st.datetimes(timezones=st.just(datetime.UTC) | st.none()).map(lambda moment: moment.replace(fold=0))
)
durations = st.timedeltas().map(lambda duration: datetime.timedelta(days=duration.days)) | st.just(datetime.timedelta(days=-1))
durations |= st.integers(-(2**63), 2**63 - 1).map(lambda count: datetime.timedelta(microseconds=count))
durations |= st.integers(-1000, 1000).map(lambda count: datetime.timedelta(minutes=count))
variables = st.builds(Variable, variable_names)
constants = st.builds(Constant, values | durations)
terms = variables | st.just(Wildcard()) | constants
atoms = st.builds(Atom, texts, st.lists(terms, min_size=1, max_size=4).map(tuple))
row_atoms = st.builds(
    RowAtom, texts, st.lists(st.tuples(texts, terms), min_size=1, max_size=3, unique_by=lambda argument: argument[0]).map(tuple)
)


def calls(arguments):
    """Calls of functions with as many arguments as they take."""
    return st.one_of(
        st.builds(
            Call,
            st.just(name),
            st.lists(arguments, min_size=one.least, max_size=one.most or one.least + 2).map(tuple),
        )
        for name, one in FUNCTIONS.items()
    )


def is_number(expression):
    """Whether a minus can stand before it: no text and no boolean."""
    return not (isinstance(expression, Constant) and isinstance(expression.value, str | bool))


def larger_expressions(smaller):
    return st.one_of(
        st.builds(Operation, st.sampled_from(Arithmetic), smaller, smaller),
        st.builds(Negative, smaller.filter(is_number)),
        calls(smaller),
        st.builds(Aggregate, st.sampled_from(Aggregation), smaller, simple_bodies),
    )


def joined(node, parts):
    return st.builds(node, st.lists(parts, min_size=2, max_size=3).map(tuple))


def comparisons_of(values):
    """Conditions on values: comparisons, sets, and tests of which one argument at least is computed."""
    computed = values.filter(lambda value: not isinstance(value, Variable | Constant))
    return st.one_of(
        st.builds(Comparison, st.sampled_from(Operator), values, values),
        st.builds(Membership, values, st.lists(constants, min_size=1, max_size=3).map(tuple)),
        st.builds(lambda name, first, rest: ValueTest(name, (first, *rest)), texts, computed, st.lists(values, max_size=2)),
        st.builds(lambda first, second, tolerance: ValueTest("within", (first, second, tolerance)), values, values, tolerances),
    )


tolerances = st.one_of(
    st.builds(Call, st.sampled_from(["percent", "spread"]), st.tuples(st.builds(Constant, st.integers(min_value=0)))),
    st.builds(Call, st.just("percent"), st.tuples(st.builds(Constant, st.floats(min_value=0, allow_infinity=False)))),
    st.builds(Call, st.just("quantile"), st.tuples(st.builds(Constant, st.floats(min_value=0, max_value=1)))),
)
plain_values = variables | constants
simple_conditions = (
    atoms | row_atoms | st.builds(Not, atoms) | st.builds(Comparison, st.sampled_from(Operator), plain_values, plain_values)
)
simple_bodies = st.builds(And, st.lists(simple_conditions, min_size=1, max_size=2).map(tuple))
expressions = st.recursive(plain_values, larger_expressions, max_leaves=6)
head_conditions = st.recursive(
    atoms | row_atoms | comparisons_of(expressions),
    lambda smaller: st.builds(Not, smaller) | joined(And, smaller) | joined(Or, smaller),
    max_leaves=6,
)
conditions = st.recursive(
    atoms | row_atoms | comparisons_of(expressions) | st.builds(Let, variables, expressions),
    lambda smaller: (
        st.builds(Not, smaller.filter(lambda one: not isinstance(one, Let))) | joined(And, smaller) | joined(Or, smaller)
    ),
    max_leaves=6,
)


def as_body(parts):
    """A conjunction of one part has another part than a conjunction, or is that conjunction."""
    return parts[0] if len(parts) == 1 and isinstance(parts[0], And) else And(tuple(parts))


bodies = st.lists(conditions, min_size=1, max_size=4).map(as_body)
rules = st.builds(
    Rule,
    head=atoms | st.just(Falsity()) | head_conditions,
    body=bodies,
    name=st.none() | texts,
    kind=st.none() | st.sampled_from(Kind),
    weight=st.floats(min_value=0, allow_nan=False, allow_infinity=False),
    description=st.none() | texts,
    tags=st.lists(texts, max_size=3).map(tuple),
    confidence=st.none() | st.floats(0, 1),
    support=st.none() | st.integers(0),
)


@st.composite
def incompatible_pairs(draw):
    names = draw(st.lists(variables, min_size=2, max_size=4, unique=True))
    left = Atom(draw(texts), tuple(names))
    right = Atom(draw(texts), tuple(draw(st.permutations(names))))
    return IncompatibleGroup(("p", "q")) if left == right else IncompatiblePair(left, right)


@st.composite
def functionals(draw):
    arity = draw(st.integers(min_value=2, max_value=5))
    positions = draw(st.permutations(range(arity)) | st.just(range(arity)))
    used = draw(st.integers(min_value=2, max_value=arity))
    keys = draw(st.integers(min_value=1, max_value=used - 1))
    declared = draw(st.sampled_from((Functional, PartiallyComplete)))
    return declared(draw(texts), arity, tuple(positions[:keys]), tuple(positions[keys:used]))


statements = st.one_of(
    rules,
    st.builds(IncompatibleGroup, st.lists(texts, min_size=2, max_size=4, unique=True).map(tuple)),
    incompatible_pairs(),
    functionals(),
    st.builds(Closed, st.none() | texts),
    st.just(PartiallyComplete(None)),
    st.builds(Refute, atoms, bodies),
    st.just(ExtractIncompatible()),
    st.builds(PredicateDeclaration, texts, st.integers(min_value=1, max_value=99)),
)


@settings(max_examples=MANY)
@given(statements)
def test_every_statement_is_read_back_as_it_was(statement):
    """Compared with their types too: Python holds `1`, `1.0` and `True` to be equal."""
    (again,) = parse(Source("printed", print_statement(statement))).statements
    assert again == statement
    assert repr(again) == repr(statement)


@given(st.lists(statements, max_size=5))
def test_every_program_is_read_back_as_it_was(many):
    program = Program(tuple(many))
    assert parse(Source("printed", print_program(program))) == program


@given(rules)
def test_the_canonical_text_is_head_and_body_alone(rule):
    again = parse_rule(print_rule(rule))
    assert again == Rule(rule.head, rule.body)


@given(atoms)
def test_every_atom_is_read_back_as_it_was(atom):
    assert parse_atom(print_atom(atom)) == atom


@given(statements)
def test_a_statement_stays_on_one_line_but_for_its_annotations(statement):
    """Line breaks within names and strings are escaped, so that listings keep one line a rule."""
    *annotations, _ = print_statement(statement).splitlines()
    assert len(annotations) <= 1
    assert all(line.startswith("@") for line in annotations)


PIECES = [
    "(", ")", ",", ".", ":", ";", "<-", ":-", "->", "<=", "=", "!=", "<", ">", "+", "-", "*", "/", "@", "@hard",
    "@weight(", "@tags(", "!", "|", "&", "{", "[", "?", "%", "$", "“", "\"", "`", "\\", "#", "1", "1.5", "1e999",
    "2020-02-31", "2nd", ".5", "a.b", "\n", "}", "count(", "min(", "p(X)", "q(", "in {", "a: ", "mod", "days", "for $p in {a}:",
    "$p", "$p(X)", "not in", "10%", "within(", "let X =", ">=", "or",
]  # fmt: skip


@settings(max_examples=MANY)
@given(st.lists(st.sampled_from(WORDS + PIECES), max_size=25), st.sampled_from(["", " "]))
def test_any_text_is_either_read_or_refused_with_places(pieces, between):
    """No text makes the parser fail in another way than by problems that have a code and a place."""
    try:
        program, problems = parse(Source("random", between.join(pieces))), ()
    except InputError as error:
        program, problems = Program(()), error.problems
    assert all(problem.place is not None and problem.place.line is not None for problem in problems)
    assert parse(Source("printed", print_program(program))) == program


@pytest.mark.parametrize("head", ["(X + 1) mod 7 < 3", "(not p(X) or q(X)) and r(X)", "(X) = 1"])
@pytest.mark.parametrize("annotations", ["@hard", "@soft", "@weight(2.0) @hard", "@hard @weight(2.0)"])
def test_a_head_in_parentheses_is_no_argument_of_an_annotation(head, annotations):
    rule = parse_rule(f"{annotations} {head} <- p(X).")
    assert rule.head == parse_rule(f"{head} <- p(X).").head
    assert parse_rule(print_statement(rule)) == rule


def test_the_canonical_text_is_the_one_people_write():
    rule = parse_rule('`aunt`( X,Z ):-sister(X,Y)∧father(Y,Z) & ¬ "born in"(X, "x"), X≠?y, _a=_b.')
    assert print_rule(rule) == "aunt(X, Z) <- sister(X, Y), father(Y, Z), not `born in`(X, x), X != ?y, _a = _b"


def test_terms_are_printed_as_they_are_written():
    written = [
        "X",
        "?x",
        "_x",
        "_",
        "english",
        '"New York"',
        '"X"',
        '"true"',
        "true",
        "1",
        "-1.5",
        "1e+300",
        "2020-01-31",
        '"2020-01-31"',
    ]
    assert [print_term(term) for term in parse_atom(f"p({', '.join(written)})").terms] == written


def test_annotations_and_name_stand_before_the_rule():
    text = '@soft @weight(0.5) @description("why \\"so\\"") @tags(a, "b c")\n`rule 1`: p(X) <- q(X).'
    assert print_statement(parse_rule(text)) == text
