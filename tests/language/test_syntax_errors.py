"""What is said of text that is no rule file."""

import re
from pathlib import Path

import pytest

import rulescore.language.parser as parser
from rulescore.errors import Diagnostic, InputError, Source
from rulescore.language.parser import CODES, parse

MISTAKES = [
    ("E101", "p(X) <- q(X) r(X).", "expected `,` or `.`, found `r`"),
    ("E101", "p(X) <= q(X).", "expected `<-`, found `<=`"),
    ("E101", "p(X) => q(X).", "expected `<-`, found `=>`"),
    ("E101", "p(X, ) <- q(X).", "expected a variable or a constant, found `)`"),
    ("E101", "p(X) <- q(X), Y == X.", "expected `=` or `!=`, found `==`"),
    ("E101", "p(X) <- !q(X).", "expected an atom or a comparison, found `!`"),
    ("E101", "p(X) <- q(X) <- r(X).", "expected `,` or `.`, found `<-`"),
    ("E101", "p(X) <- q(X, -a).", "expected a number, found `a`"),
    ("E101", "p(X) <- X.", "expected `=` or `!=`, found `.`"),
    ("E101", "p(X) <- _(X).", "expected an atom, found `_`"),
    ("E101", "rule-1: p(X) <- q(X).", "expected `(`, found `-`"),
    ("E101", "12: p(X) <- q(X).", "expected the name of a rule, found `12`"),
    ("E101", "incompatable p, q.", "expected a rule or a declaration, found `incompatable`"),
    ("E101", "extract p.", "expected `incompatible`, found `p`"),
    ("E101", "closed p, *.", "expected a predicate, found `*`"),
    ("E101", "predicate p/2.5.", "expected the number of arguments, found `2.5`"),
    ("E101", "p(X) <- q(X)..", "expected a rule or a declaration, found `.`"),
    ("E101", "@hard", "expected a rule or a declaration, found the end of the text"),
    ("E102", "p(X) <- “New York”(X).", "unknown character `“` (U+201C)"),
    ("E102", "p(X) <- q('a').", "unknown character `'`"),
    ("E102", "p(X) <- q(X, \u200b).", "unknown character U+200B"),
    ("E103", 'p(X) <- q("abc).', "a quotation is not closed on its line"),
    ("E103", "p(X) <- `abc", "a quotation is not closed on its line"),
    ("E103", 'p(X) <- q("abc\\', "a quotation is not closed on its line"),
    ("E104", r'p(X) <- q("C:\data").', r"`\d` is not an escape"),
    ("E104", r'p(X) <- q("\u12").', r"`\u` is not an escape"),
    ("E104", r'p(X) <- q("\ud83d").', r"`\ud83d` is not an escape"),
    ("E105", "p(X) <- q(2nd).", "`2nd` is neither a number nor a date nor a name"),
    ("E105", "p(X) <- q(1.5.5).", "`1.5` is neither a number nor a date nor a name"),
    ("E105", "p(X) <- q(.5).", "`.5` is neither a number nor a date nor a name"),
    ("E105", "p(X) <- q(2020-1-31).", "`2020-1-31` is neither a number nor a date nor a name"),
    ("E105", "p(X) <- q(2020-01-31T10).", "`2020-01-31T10` is neither a number nor a date nor a name"),
    ("E105", "p(X) <- q(2023-02-29).", "there is no day `2023-02-29`"),
    ("E105", "p(X) <- q(-1e999).", "the number is too large"),
    ("E105", f"p(X) <- q({'1' * 5000}).", "the number is too large"),
    ("E105", f"predicate p/{'1' * 5000}.", "the number is too large"),
    ("E106", "p(X) <- q(X)", "a full stop is missing at the end of the text"),
    ("E106", "p(X) <- q(X)\nq(X) <- r(X).", "a full stop is missing before `q`"),
    ("E106", "p(X) <- q(X),\nr(X) <- s(X).", "a full stop is missing before `r`"),
    ("E106", "p(X) <- q(X),\nname: r(X) <- s(X).", "a full stop is missing before `name`"),
    ("E106", "p(X) <- q(X)\n@hard r(X) <- s(X).", "a full stop is missing before `@`"),
    ("E106", "p(X) <- q(X),\n@hard r(X) <- s(X).", "a full stop is missing before `@`"),
    ("E106", "incompatible p, q\nclosed p.", "a full stop is missing before `closed`"),
    ("E107", "p(a, b).", "the rule has no body"),
    ("E107", "p(X) <- .", "the body of the rule is empty"),
    ("E107", "p(X)\nq(X) <- r(X).", "the rule has no body"),
    ("E108", "p <- q(X).", "`p` has no arguments"),
    ("E108", "p(X) <- q, r(X).", "`q` has no arguments"),
    ("E108", "p(X) <- `q r`().", "`q r` has no arguments"),
    ("E108", "predicate p/0.", "`p` has no arguments"),
    ("E109", "not p(X) <- q(X).", "a negated atom cannot be the head of a rule"),
    ("E109", "X = Y <- q(X, Y).", "a comparison cannot be the head of a rule"),
    ("E109", "p(X), q(X) <- r(X).", "more than one atom cannot be the head of a rule"),
    ("E109", "p(X) or q(X) <- r(X).", "more than one atom cannot be the head of a rule"),
    ("E109", "refute false <- q(X).", "what `refute` refutes is one atom"),
    ("E110", "p(X) <- q(X) or r(X).", "a disjunction is not part of the rule language"),
    ("E110", "p(X) <- q(X) ∨ r(X).", "a disjunction is not part of the rule language"),
    ("E110", "p(X) <- q(X, Y), X < Y.", "a comparison of order is not part of the rule language"),
    ("E110", "p(X) <- q(X, Y), X + 1 = Y.", "arithmetic is not part of the rule language"),
    ("E110", "p(X) <- q(X, Y - 1).", "arithmetic is not part of the rule language"),
    ("E110", "p(X) <- q(X, f(Y)).", "a function or an aggregate is not part of the rule language"),
    ("E110", "p(X) <- N = count(q(X)).", "a function or an aggregate is not part of the rule language"),
    ("E110", "p(X) <- q(id: X).", "an argument with a name is not part of the rule language"),
    ("E110", "p(X) <- not (q(X)).", "a condition in parentheses is not part of the rule language"),
    ("E110", "p(X) <- not not q(X).", "a negation of a negation is not part of the rule language"),
    ("E110", "p(X) <- q(X), not X = a.", "a negation of a comparison is not part of the rule language"),
    ("E110", "p(X) <- q(X), X in {a}.", "a set or list is not part of the rule language"),
    ("E110", "p(X) <- q([X]).", "a set or list is not part of the rule language"),
    ("E110", "p(X) <- let Y = X, q(X).", "a definition with `let` is not part of the rule language"),
    ("E111", "p(X) <- in(X, Y).", "`in` is a reserved word and has to be quoted to be used as a name"),
    ("E111", "false(X) <- q(X).", "`false` is a reserved word and has to be quoted to be used as a name"),
    ("E111", "false: p(X) <- q(X).", "`false` is a reserved word and has to be quoted to be used as a name"),
    ("E111", "p(X) <- q(X, not).", "`not` is a reserved word and has to be quoted to be used as a name"),
    ("E111", "sale.price(X) <- q(X).", "`sale.price` contains a full stop and has to be quoted to be used as a name"),
    ("E112", "@hart p(X) <- q(X).", "unknown annotation `@hart`"),
    ("E113", "@weight(-1) p(X) <- q(X).", "the arguments of `@weight` do not fit"),
    ("E113", f"@weight({10**400}) p(X) <- q(X).", "the arguments of `@weight` do not fit"),
    ("E113", "@weight(true) p(X) <- q(X).", "the arguments of `@weight` do not fit"),
    ("E113", "@weight p(X) <- q(X).", "the arguments of `@weight` do not fit"),
    ("E113", "@hard(1) p(X) <- q(X).", "the arguments of `@hard` do not fit"),
    ("E113", "@description(2) p(X) <- q(X).", "the arguments of `@description` do not fit"),
    ("E113", "@tags() p(X) <- q(X).", "the arguments of `@tags` do not fit"),
    ("E113", "@tags(a, 2) p(X) <- q(X).", "the arguments of `@tags` do not fit"),
    ("E114", "@hard closed p.", "annotations are for rules; `closed` takes none"),
    ("E115", "@hard @soft p(X) <- q(X).", "a rule cannot be both `@hard` and `@soft`"),
    ("E115", "@weight(1) @weight(2) p(X) <- q(X).", "the annotation `@weight` is given twice"),
    ("E116", "incompatible p.", "`incompatible` takes two names or more, or exactly two atoms"),
    ("E116", "incompatible p, q(X).", "`incompatible` takes two names or more, or exactly two atoms"),
    ("E116", "incompatible p(X), q(X), r(X).", "`incompatible` takes two names or more, or exactly two atoms"),
    ("E116", "incompatible p, q, p.", "`p` cannot be incompatible with itself"),
    ("E116", "incompatible p(X, Y), p(X, Y).", "`p` cannot be incompatible with itself"),
    ("E116", "incompatible p(X, a), q(X, a).", "the two atoms of `incompatible` do not match"),
    ("E116", "incompatible p(X, Y), q(X, Z).", "the two atoms of `incompatible` do not match"),
    ("E116", "incompatible p(X, X), q(X, X).", "the two atoms of `incompatible` do not match"),
    ("E117", "functional p.", "`functional` does not say what determines what"),
    ("E117", "functional p(X, Y).", "`functional` does not say what determines what"),
    ("E117", "functional p(-> Y).", "`functional` has no key"),
    ("E117", "functional p(X ->).", "`functional` has no value"),
    ("E117", "functional p(X, Y) on -> X.", "`functional` has no key"),
    ("E117", "functional p(X -> X).", "the variable `X` is repeated"),
    ("E117", "functional p(X, Y) on X -> X.", "the variable `X` is repeated"),
    ("E117", "functional p(X, a -> Y).", "keys and values of `functional` are variables"),
    ("E117", "functional p(X, a, Y) on X -> Y.", "the arguments of `functional` are variables"),
    ("E117", "functional p(X, Y) on Z -> X.", "`Z` is not an argument of the predicate"),
]


def problems_of(text: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(InputError) as caught:
        parse(Source("test.rules", text))
    return caught.value.problems


@pytest.mark.parametrize(("code", "text", "message"), MISTAKES)
def test_each_mistake_is_one_problem_with_its_code_and_message(code, text, message):
    assert [(problem.code, problem.message) for problem in problems_of(text)] == [(code, message)]


def test_every_code_has_a_mistake_that_shows_it():
    assert {code for code, _, _ in MISTAKES} == set(CODES)


def test_every_code_in_the_source_is_in_the_table_of_codes():
    folder = Path(parser.__file__).parent
    used = {code for file in folder.glob("*.py") for code in re.findall(r'"(E\d{3})"', file.read_text(encoding="utf-8"))}
    assert used == set(CODES)


@pytest.mark.parametrize(("code", "text", "message"), MISTAKES)
def test_messages_are_lower_case_without_a_full_stop(code, text, message):
    (problem,) = problems_of(text)
    for line in (problem.message, *problem.notes, *problem.helps):
        assert not line[0].isupper()
        assert not line.endswith(".")


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("p(X) <= q(X).", "the arrow between head and body is `<-`, with the head on its left"),
        ("p(X) <- q(X) AND r(X).", "did you mean `and`?"),
        ("p(X) <- !q(X).", "negation is written `not`, as in `not p(X)`"),
        ("p(X) <- q(X) && r(X).", "conditions are joined by `,` or `and`"),
        ("p(X) <- q(X) % said", "a comment begins with `#`"),
        ("p(X) <- q(“a”).", 'use straight quotes: `"New York"`'),
        ("p(X) <- q(‘a’).", 'use straight quotes: `"New York"`'),
        ("@weigth(2) p(X) <- q(X).", "did you mean `@weight`?"),
        ("incompatble p, q.", "did you mean `incompatible`?"),
        ("sale.price(X) <- q(X).", 'write `"sale.price"`'),
        ("p(X) <- q(2020-1-31).", 'to use it as text, quote it: `"2020-1-31"`'),
    ],
)
def test_help_says_how_to_mend_it(text, advice):
    (problem,) = problems_of(text)
    assert problem.helps == (advice,)


def test_all_problems_of_a_file_are_found_at_once():
    text = """
    p(X) <- q(X) or r(X).
    ok(X) <- q(X).
    p(a, b).
    p(X) <- q("open).
    @hart @weight(-1) p(X) <- q(X, "\\q").
    p(X) <- q(X)
    p(X) <- q(X) < 1.
    closed.
    last(X) <- q(X)"""
    found = [(problem.code, problem.place.line) for problem in problems_of(text)]
    assert found == [
        ("E110", 2),
        ("E107", 4),
        ("E103", 5),
        ("E112", 6),
        ("E113", 6),
        ("E104", 6),
        ("E106", 7),
        ("E110", 8),
        ("E101", 9),
        ("E106", 10),
    ]


def test_a_problem_is_shown_with_its_line_and_a_caret():
    (problem,) = problems_of("closed p.\naunt(X, Z) <- sister(X, Y) or father(Y, Z).")
    assert str(problem) == (
        "error[E110]: a disjunction is not part of the rule language\n"
        " --> test.rules:2:28\n"
        "  |\n"
        "2 | aunt(X, Z) <- sister(X, Y) or father(Y, Z).\n"
        "  |                            ^^ expected `,` or `.`\n"
        "  = help: write a rule of its own for each alternative"
    )


def test_a_missing_full_stop_is_shown_where_it_belongs():
    (problem,) = problems_of("p(X) <- q(X)   # said\n\nq(X) <- r(X).")
    assert (problem.place.line, problem.place.column) == (1, 13)
