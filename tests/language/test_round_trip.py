"""What is printed can be read again, and gives the same tree."""

import string

from hypothesis import given, settings
from hypothesis import strategies as st

from rulescore.errors import InputError, Source
from rulescore.language.parser import parse, parse_atom, parse_rule
from rulescore.language.printer import print_atom, print_program, print_rule, print_statement, print_term
from rulescore.language.syntax import (
    And,
    Atom,
    Closed,
    Comparison,
    Constant,
    ExtractIncompatible,
    Falsity,
    Functional,
    IncompatibleGroup,
    IncompatiblePair,
    Kind,
    Not,
    Operator,
    PredicateDeclaration,
    Program,
    Refute,
    Rule,
    Variable,
    Wildcard,
)

WORDS = [
    "p", "q", "aunt", "born_in", "x1", "été", "भाषा", "年齢", "P31", "X", "_", "_x", "__", "false", "true", "not",
    "and", "or", "in", "let", "on", "closed", "incompatible", "functional", "refute", "extract", "predicate",
    "hard", "count", "null", "nan", "inf", "infinity", "e5", "Ω", "ª", "²", "ǅ",
]  # fmt: skip
AWKWARD = [
    "", " ", "a.b", "a:b", "2nd", "1", "-1", "1e5", "2020-01-31", "a b", "a\nb", "\\", "\"", "`", "\\n", "#", "?x",
    "'", "“”",
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
)
variables = st.builds(Variable, variable_names)
terms = variables | st.just(Wildcard()) | st.builds(Constant, values)
atoms = st.builds(Atom, texts, st.lists(terms, min_size=1, max_size=4).map(tuple))
literals = atoms | st.builds(Not, atoms) | st.builds(Comparison, st.sampled_from(Operator), terms, terms)
bodies = st.builds(And, st.lists(literals, min_size=1, max_size=4).map(tuple))
rules = st.builds(
    Rule,
    head=atoms | st.just(Falsity()),
    body=bodies,
    name=st.none() | texts,
    kind=st.none() | st.sampled_from(Kind),
    weight=st.floats(min_value=0, allow_nan=False, allow_infinity=False),
    description=st.none() | texts,
    tags=st.lists(texts, max_size=3).map(tuple),
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
    return Functional(draw(texts), arity, tuple(positions[:keys]), tuple(positions[keys:used]))


statements = st.one_of(
    rules,
    st.builds(IncompatibleGroup, st.lists(texts, min_size=2, max_size=4, unique=True).map(tuple)),
    incompatible_pairs(),
    functionals(),
    st.builds(Closed, st.none() | texts),
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
    "2020-02-31", "2nd", ".5", "a.b", "\n",
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


def test_the_canonical_text_is_the_one_people_write():
    rule = parse_rule('`aunt`( X,Z ):-sister(X,Y)∧father(Y,Z) & ¬ "born in"(X, "x"), X≠?y, _a=_.')
    assert print_rule(rule) == "aunt(X, Z) <- sister(X, Y), father(Y, Z), not `born in`(X, x), X != ?y, _a = _"


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
