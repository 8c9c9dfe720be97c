"""What rule files say, as trees."""

import datetime

import pytest

from rulescore.errors import InputError, Source
from rulescore.language.declarations.closed import Closed
from rulescore.language.declarations.functional import Functional
from rulescore.language.declarations.incompatible import IncompatibleGroup, IncompatiblePair
from rulescore.language.declarations.pca import PartiallyComplete
from rulescore.language.declarations.refute import Refute
from rulescore.language.parser import parse, parse_all, parse_atom, parse_rule
from rulescore.language.syntax import (
    And,
    Atom,
    Comparison,
    Constant,
    Definition,
    ExtractIncompatible,
    Falsity,
    Kind,
    Membership,
    Not,
    Operator,
    PredicateDeclaration,
    Rule,
    Statement,
    Variable,
    Wildcard,
)
from rulescore.values import Value

X, Y, Z = Variable("X"), Variable("Y"), Variable("Z")


def read(text: str) -> tuple[Statement, ...]:
    return parse(Source("test.rules", text)).statements


def test_a_rule_has_head_body_name_and_annotations():
    text = """
    # a comment before
    @hard @weight(2) @description("a father's sister is an aunt") @tags(kinship, "of age")  # a comment behind
    aunt_by_father: aunt(X, Z) <- sister(X, Y),
        father(Y, Z).
    """
    body = And((Atom("sister", (X, Y)), Atom("father", (Y, Z))))
    description = "a father's sister is an aunt"
    tags = ("kinship", "of age")
    assert read(text) == (Rule(Atom("aunt", (X, Z)), body, "aunt_by_father", Kind.HARD, 2.0, description, tags),)


def test_a_rule_without_annotations_has_weight_one_and_no_kind():
    (rule,) = read("p(X) <- q(X).")
    assert rule == Rule(Atom("p", (X,)), And((Atom("q", (X,)),)), None, None, 1.0, None, ())


@pytest.mark.parametrize("head", ["false", "⊥"])
def test_a_denial_constraint_has_the_head_falsity(head):
    assert parse_rule(f"{head} <- p(X)").head == Falsity()


@pytest.mark.parametrize("arrow", ["<-", ":-", "←"])
@pytest.mark.parametrize("conjunction", [",", " and ", "∧", "&"])
@pytest.mark.parametrize("negation", ["not ", "¬"])
def test_every_spelling_of_a_connective_reads_the_same(arrow, conjunction, negation):
    rule = parse_rule(f"p(X){arrow}q(X){conjunction}{negation}s(X).")
    assert rule.body == And((Atom("q", (X,)), Not(Atom("s", (X,)))))


@pytest.mark.parametrize(("operator", "meaning"), [("=", "="), ("!=", "!="), ("≠", "!="), ("<>", "!=")])
def test_terms_are_compared_by_equality_and_difference(operator, meaning):
    assert parse_rule(f"false <- X {operator} Y").body == And((Comparison(Operator(meaning), X, Y),))


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("english", "english"),
        ("été", "été"),
        ("भाषा", "भाषा"),
        ("closed", "closed"),
        ('"New York"', "New York"),
        ('"say \\"hi\\"\\\\\\n\\t\\r\\u00e9"', 'say "hi"\\\n\t\ré'),
        ('"a # b. c"', "a # b. c"),
        ("`born in`", "born in"),
        ('""', ""),
        ("0", 0),
        ("-7", -7),
        ("+7", 7),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("1" * 400, int("1" * 400)),
        ("1.5", 1.5),
        ("-1.5e-3", -0.0015),
        ("1e300", 1e300),
        ("1E2", 100.0),
        ("2020-01-31", datetime.date(2020, 1, 31)),
        ("true", True),
        ("false", False),
    ],
)
def test_a_constant_has_the_value_and_type_it_is_written_as(written, value: Value):
    (term,) = parse_atom(f"p({written})").terms
    assert isinstance(term, Constant)
    assert term.value == value
    assert type(term.value) is type(value)


@pytest.mark.parametrize(
    ("written", "term"),
    [
        ("X", X),
        ("?X", X),
        ("?x", Variable("x")),
        ("?1", Variable("1")),
        ("_x", Variable("_x")),
        ("Élan", Variable("Élan")),
        ("Ω", Variable("Ω")),
        ("_", Wildcard()),
        ("?_", Variable("_")),
    ],
)
def test_variables_begin_with_upper_case_or_underscore_or_a_question_mark(written, term):
    assert parse_atom(f"p({written})").terms == (term,)


def test_an_integer_before_the_full_stop_is_not_a_float():
    assert parse_rule("false <- X = 1.").body == And((Comparison(Operator.EQUAL, X, Constant(1)),))
    assert len(read("false <- X = 1. false <- X = 1.5.")) == 2


@pytest.mark.parametrize(
    "name", ["incompatible", "functional", "pca", "closed", "refute", "extract", "predicate", "on", "hard", "P31"]
)
def test_a_keyword_before_a_parenthesis_or_a_colon_is_an_ordinary_name(name):
    rule = parse_rule(f"{name}: {name}(X, {name.lower()}) <- {name}(X, Y)")
    assert rule.name == name
    assert rule.head == Atom(name, (X, Constant(name.lower())))


@pytest.mark.parametrize("name", ["/people/person", "born in", "false", "sale.price", "2nd", "a`b", 'a"b', "é\n"])
def test_any_name_can_be_used_when_quoted(name):
    for mark in '"`':
        quoted = mark + name.replace(mark, "\\" + mark).replace("\n", "\\n") + mark
        rule = parse_rule(f"{quoted}: {quoted}(X) <- {quoted}(X)")
        assert (rule.name, rule.head) == (name, Atom(name, (X,)))


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("incompatible aunt, `born in`, father.", [IncompatibleGroup(("aunt", "born in", "father"))]),
        ("incompatible closed, functional.", [IncompatibleGroup(("closed", "functional"))]),
        ("incompatible p(X, Y), q(Y, X).", [IncompatiblePair(Atom("p", (X, Y)), Atom("q", (Y, X)))]),
        ("incompatible p(X, Y), p(Y, X).", [IncompatiblePair(Atom("p", (X, Y)), Atom("p", (Y, X)))]),
        ("functional born_in(X -> Y).", [Functional("born_in", 2, (0,), (1,))]),
        ("functional p(X, Y → Z).", [Functional("p", 3, (0, 1), (2,))]),
        ("functional p(X, Y, Z) on Z -> X.", [Functional("p", 3, (2,), (0,))]),
        ("functional p(X, _, Z, _) on Z -> X.", [Functional("p", 4, (2,), (0,))]),
        ("functional on(X, Y) on Y -> X.", [Functional("on", 2, (1,), (0,))]),
        ("pca p, on.", [PartiallyComplete("p"), PartiallyComplete("on")]),
        ("pca p(X -> Y).", [PartiallyComplete("p")]),
        ("pca p(X, Y) on Y -> X.", [PartiallyComplete("p", 2, (1,), (0,))]),
        ("pca p(X, Y -> Z).", [PartiallyComplete("p", 3, (0, 1), (2,))]),
        ("pca *.", [PartiallyComplete(None)]),
        ("closed parent.", [Closed("parent")]),
        ("closed p, q.", [Closed("p"), Closed("q")]),
        ("closed *.", [Closed(None)]),
        ("refute p(X, a) <- q(X), not s(X, _).", [
            Refute(Atom("p", (X, Constant("a"))), And((Atom("q", (X,)), Not(Atom("s", (X, Wildcard()))))))
        ]),
        ("define pet(X) <- is_a(X, K, 1), K in {cat, dog}.", [
            Definition(
                Atom("pet", (Variable("X"),)),
                Atom("is_a", (Variable("X"), Variable("K"), Constant(1))),
                (Membership(Variable("K"), (Constant("cat"), Constant("dog"))),),
            )
        ]),
        ("define reaches(X, Y) <- chain leads(X, Y).", [
            Definition(Atom("reaches", (X, Y)), Atom("leads", (X, Y)), chained=True)
        ]),
        ("define one(X) <- chain(X, _).", [Definition(Atom("one", (X,)), Atom("chain", (X, Wildcard())))]),
        ("extract incompatible.", [ExtractIncompatible()]),
        ('predicate wife/2. predicate "born in"/3.', [PredicateDeclaration("wife", 2), PredicateDeclaration("born in", 3)]),
        ("", []),
        ("\ufeff# only a comment", []),
    ],
)  # fmt: skip
def test_declarations_say_what_the_reference_says(text, statements):
    assert list(read(text)) == statements


def test_spans_point_at_the_text_they_were_read_from():
    source = Source("test.rules", 'n: p(X, "a b") <- not q(X), X != -1.5 .')
    (rule,) = parse(source).rules
    negation, comparison = rule.body.conditions
    shown = [
        source.text[node.span.start : node.span.end]
        for node in (rule, rule.head, *rule.head.terms, rule.body, negation, negation.condition, comparison, comparison.right)
    ]
    assert shown == [
        'n: p(X, "a b") <- not q(X), X != -1.5',
        'p(X, "a b")',
        "X",
        '"a b"',
        "not q(X), X != -1.5",
        "not q(X)",
        "q(X)",
        "X != -1.5",
        "-1.5",
    ]


def test_windows_line_ends_are_white_space():
    assert len(read("p(X) <-\r\n  q(X). # said\r\nclosed p.\r\n")) == 2


def test_several_files_are_one_program_in_order():
    program = parse_all([Source("a", "closed p."), Source("b", ""), Source("c", "p(X) <- q(X).")])
    assert [type(statement) for statement in program.statements] == [Closed, Rule]


def test_problems_of_several_files_are_raised_together():
    with pytest.raises(InputError) as caught:
        parse_all([Source("a", "closed."), Source("b", "p(X) <- q(X)."), Source("c", "p(X).")])
    assert [problem.place.name for problem in caught.value.problems] == ["a", "c"]


@pytest.mark.parametrize("text", ["p(X) <- q(X)", "p(X) <- q(X).", "p(X) <- q(X). # behind"])
def test_one_rule_needs_no_full_stop(text):
    assert parse_rule(text) == Rule(Atom("p", (X,)), And((Atom("q", (X,)),)))


@pytest.mark.parametrize(
    "text", ["", "p(X) <- q(X). p(X) <- q(X).", "p(X)", "closed p.", "p(X) <- q(X) s(X)", "p(X) <- q(2020-13-01)"]
)
def test_what_is_not_one_rule_is_refused(text):
    with pytest.raises(InputError):
        parse_rule(text)


def test_one_atom_can_be_read_alone():
    assert parse_atom('wife(alice, "Mr. B")') == Atom("wife", (Constant("alice"), Constant("Mr. B")))


@pytest.mark.parametrize("text", ["", "wife", "wife()", "p(a), q(b)", "p(a). q(b).", "p(a", "not p(a)", "p(a) <- q(a)"])
def test_what_is_not_one_atom_is_refused(text):
    with pytest.raises(InputError):
        parse_atom(text)


@pytest.mark.parametrize(
    ("checked", "rules"),
    [
        ("functional p(X -> Y).", ['"functional p(X -> Y)": false <- p(X, Y), p(X, OtherY), Y != OtherY.']),
        (
            "functional p(X, Y, Z) on Z -> X, Y.",
            [
                '"functional p(X, Y, Z) on Z -> X": false <- p(X, Y, Z), p(OtherX, OtherY, Z), X != OtherX.',
                '"functional p(X, Y, Z) on Z -> Y": false <- p(X, Y, Z), p(OtherX, OtherY, Z), Y != OtherY.',
            ],
        ),
        ("incompatible p(X), q(X).", ['"incompatible p(X), q(X)": false <- p(X), q(X).']),
        ("incompatible p, q.", ['"incompatible p, q": false <- p(X, Y), q(X, Y).']),
        ("refute p(X, 1) <- q(X), X > 2.", ['"refute p(X, 1) <- q(X), X > 2": false <- p(X, 1), q(X), X > 2.']),
    ],
)
def test_a_checked_declaration_is_a_hard_denial_constraint_too(checked, rules):
    assert read(f"@check {checked}") == read(checked + "".join(f"@hard {rule}" for rule in rules))
    assert read(f"@soft @check one: {checked}")[1].name == "one"


@pytest.mark.parametrize("text", ["@check p(X) <- q(X).", "@check closed p.", "@check pca p.", "@hard functional p(X -> Y)."])
def test_only_what_facts_can_break_is_checked(text):
    with pytest.raises(InputError, match="E112"):
        read(text)


@pytest.mark.parametrize("word", ["functional", "pca"])
def test_the_second_argument_determines_the_first_if_the_names_say_so(word: str) -> None:
    assert (
        parse_all([Source("a", f"{word} p(Y -> X).")]).statements
        == parse_all([Source("b", f"{word} p(X, Y) on Y -> X.")]).statements
    )
    assert parse_all([Source("a", f"{word} p(B -> A).")]).statements == parse_all([Source("b", f"{word} p(X -> Y).")]).statements
