"""What is said of text that is no rule file."""

import re
from pathlib import Path

import pytest

import rulescore.language.parser as parser
from rulescore.errors import Diagnostic, InputError, Source
from rulescore.errors.codes import CODES
from rulescore.language.parser import parse

MISTAKES = [
    ("E101", "p(X) <- q(X) r(X).", "expected `,` or `.`, found `r`"),
    ("E101", "p(X) <= q(X).", "expected `<-`, found `<=`"),
    ("E101", "p(X) => q(X).", "expected `<-`, found `=>`"),
    ("E101", "p(X, ) <- q(X).", "expected a variable or a constant, found `)`"),
    ("E101", "p(X) <- q(X), Y == X.", "expected a comparison, such as `=` or `<`, found `==`"),
    ("E101", "p(X) <- !q(X).", "expected an atom or a comparison, found `!`"),
    ("E101", "p(X) <- q(X) <- r(X).", "expected `,` or `.`, found `<-`"),
    ("E101", "p(X) <- q(X, -a).", "expected a number, found `a`"),
    ("E101", "p(X) <- X.", "expected a comparison, such as `=` or `<`, found `.`"),
    ("E101", "p(X) <- _(X).", "expected an atom, found `_`"),
    ("E101", "rule-1: p(X) <- q(X).", "expected `<-`, found `:`"),
    ("E101", "12: p(X) <- q(X).", "expected the name of a rule, found `12`"),
    ("E101", "incompatable p, q.", "expected a rule or a declaration, found `incompatable`"),
    ("E101", "extract p.", "expected `incompatible`, found `p`"),
    ("E101", "closed p, *.", "expected a predicate, found `*`"),
    ("E101", "predicate p/2.5.", "expected the number of arguments, found `2.5`"),
    ("E101", "p(X) <- q(X)..", "expected a rule or a declaration, found `.`"),
    ("E101", "@hard", "expected a rule or a declaration, found the end of the text"),
    ("E101", "p(X) <- q(X), 1 < X < 3.", "expected `,` or `.`, found `<`"),
    ("E101", "p(X) <- q(X), X <-1.", "expected a comparison, such as `=` or `<`, found `<-`"),
    ("E101", "p(X) <- q(X), abs(X - 1).", "expected a comparison, such as `=` or `<`, found `.`"),
    ("E101", "p(X) <- q(X), X = .", "expected a value, found `.`"),
    ("E101", "p(X) <- q(X), X + = 1.", "expected a value, found `=`"),
    ("E101", "p(X) <- (q(X), r(X).", "expected `)`, found `.`"),
    ("E101", "p(X) <- q(X), X in Y.", "expected a set of constants, such as `{a, b}`, found `Y`"),
    ("E101", "p(X) <- q(X), X in {Y}.", "expected a constant, found `Y`"),
    ("E101", "p(X) <- q(X), X in {?y}.", "expected a constant, found `?y`"),
    ("E101", "p(X) <- q(X), X in {}.", "expected a constant, found `}`"),
    ("E101", "p(X) <- q(X), X = -true.", "expected a number, found `true`"),
    ("E101", "p(X) <- q(X), let y = X.", "expected a variable, found `y`"),
    ("E101", "p(X) <- q(X), let Y > X.", "expected `=`, found `>`"),
    ("E101", "p(X) <- q(X), not let Y = X.", "expected a condition, found `let`"),
    ("E101", "p(X) <- count(C : ) > 1.", "expected an atom or a comparison, found `)`"),
    ("E101", "p(X) <- q(X), X % 2 = 0.", "expected a comparison, such as `=` or `<`, found `%`"),
    ("E101", "p(X) <- q(X), near(X, 10%).", "expected `,` or `)`, found `%`"),
    ("E101", "refute sale(price: P) <- q(P).", "expected an atom of variables and constants"),
    ("E101", "closed sale.price(X).", "expected `,` or `.`, found `(`"),
    ("E101", "for X in {a}: p(X) <- q(X).", "expected a rule or a declaration, found `for`"),
    ("E101", "for $p in a: $p(X) <- q(X).", "expected a set of values or the name of a file, found `a`"),
    ("E101", "for $p in {}: $p(X) <- q(X).", "expected a constant, found `}`"),
    ("E101", "for $p in {a} $p(X) <- q(X).", "expected `:`, found `$p`"),
    ("E101", "for $p in {1}: $p(X) <- q(X).", "expected a comparison, such as `=` or `<`, found `(`"),
    ("E102", "p(X) <- “New York”(X).", "unknown character `“` (U+201C)"),
    ("E102", "p(X) <- q('a').", "unknown character `'`"),
    ("E102", "p(X) <- q(X, \u200b).", "unknown character U+200B"),
    ("E102", 'p(X) <- q("abc).', "a quotation is not closed on its line"),
    ("E102", "p(X) <- `abc", "a quotation is not closed on its line"),
    ("E102", 'p(X) <- q("abc\\', "a quotation is not closed on its line"),
    ("E102", r'p(X) <- q("C:\data").', r"`\d` is not an escape"),
    ("E102", r'p(X) <- q("\u12").', r"`\u` is not an escape"),
    ("E102", r'p(X) <- q("\ud83d").', r"`\ud83d` is not an escape"),
    ("E105", "p(X) <- q(2nd).", "`2nd` is neither a number nor a date nor a name"),
    ("E105", "p(X) <- q(1.5.5).", "`1.5` is neither a number nor a date nor a name"),
    ("E105", "p(X) <- q(.5).", "`.5` is neither a number nor a date nor a name"),
    ("E105", "p(X) <- q(2020-1-31).", "`2020-1-31` is neither a number nor a date nor a name"),
    ("E105", "p(X) <- q(2020-01-31T10).", "`2020-01-31T10` is neither a number nor a date nor a name"),
    ("E105", "p(X) <- q(2023-02-29).", "there is no day `2023-02-29`"),
    ("E105", "p(X) <- q(-1e999).", "the number is too large"),
    ("E105", f"p(X) <- q({'1' * 5000}).", "the number is too large"),
    ("E105", f"predicate p/{'1' * 5000}.", "the number is too large"),
    ("E105", "p(X) <- q(X), X > 30days.", "`30days` is neither a number nor a date nor a name"),
    ("E105", "p(X) <- q(X), X > 1.5 days.", "`1.5 days` is not a duration"),
    ("E105", "p(X) <- q(X), X > 3 months.", "`3 months` is not a duration"),
    ("E105", "p(X) <- q(X), X > 1.5 hours.", "`1.5 hours` is not a duration"),
    ("E105", "p(X) <- q(X, 2020-01-31T24:00:00).", "`2020-01-31T24:00:00` is not a date-time: there is no such day or time"),
    ("E105", "p(X) <- q(X, 2020-02-30T10:00).", "`2020-02-30T10:00` is not a date-time: there is no such day or time"),
    (
        "E105",
        "p(2020-01-31T10:00:00.0000001) <- q(X).",
        "`2020-01-31T10:00:00.0000001` is not a date-time: it is finer than a microsecond",
    ),
    (
        "E105",
        "p(X) <- q(X, 0001-01-01T00:00+01:00).",
        "`0001-01-01T00:00+01:00` is not a date-time: its instant is in no year from 1 to 9999",
    ),
    ("E105", "p(X) <- q(X, 2020-01-31T10).", "`2020-01-31T10` is neither a number nor a date nor a name"),
    ("E105", "p(X) <- q(X), X > 999999999 weeks.", "the duration is too long"),
    ("E101", "p(X) <- q(X)\nX < 3 <- r(X).", "a full stop is missing before `X`"),
    ("E101", "p(X) <- q(X)\nnot r(X) <- r(X).", "a full stop is missing before `not`"),
    ("E101", "p(X) <- q(X)\nfor $p in {a}: $p(X) <- r(X).", "a full stop is missing before `for`"),
    ("E101", "for $p in {a}: $p(X) <- q(X)\nr(X) <- s(X).", "a full stop is missing before `r`"),
    ("E101", "p(X) <- q(X)", "a full stop is missing at the end of the text"),
    ("E101", "p(X) <- q(X)\nq(X) <- r(X).", "a full stop is missing before `q`"),
    ("E101", "p(X) <- q(X),\nr(X) <- s(X).", "a full stop is missing before `r`"),
    ("E101", "p(X) <- q(X),\nname: r(X) <- s(X).", "a full stop is missing before `name`"),
    ("E101", "p(X) <- q(X)\n@hard r(X) <- s(X).", "a full stop is missing before `@`"),
    ("E101", "p(X) <- q(X),\n@hard r(X) <- s(X).", "a full stop is missing before `@`"),
    ("E101", "incompatible p, q\nclosed p.", "a full stop is missing before `closed`"),
    ("E107", "p(a, b).", "the rule has no body"),
    ("E107", "p(X) <- .", "the body of the rule is empty"),
    ("E107", "p(X)\nq(X) <- r(X).", "the rule has no body"),
    ("E101", "p <- q(X).", "`p` has no arguments"),
    ("E101", "p(X) <- q, r(X).", "`q` has no arguments"),
    ("E101", "p(X) <- `q r`().", "`q r` has no arguments"),
    ("E101", "predicate p/0.", "`p` has no arguments"),
    ("E109", "p(X), q(X) <- r(X).", "a comma cannot stand between the conditions of a head"),
    ("E109", "(p(X), q(X)) <- r(X).", "a comma cannot stand between the conditions of a head"),
    ("E109", "let M = 3 <- r(X).", "a definition with `let` cannot stand in a head"),
    ("E109", "refute false <- q(X).", "the head of `refute` is one atom"),
    ("E101", "p(X) <-> q(X).", "an equivalence is not part of the rule language"),
    ("E101", "p(X) <- q([X]).", "a list is not part of the rule language"),
    ("E101", "p(X) <- q(X), X ^ 2 = 4.", "the operator `^` is not part of the rule language"),
    ("E101", "p(X) <- q(X), X ** 2 = 4.", "the operator `**` is not part of the rule language"),
    ("E102", "p(X) <- q(X, a.b).", "`a.b` contains a full stop and has to be quoted to be used as a name"),
    ("E102", "a.b.c(X) <- q(X).", "`a.b.c` contains a full stop and has to be quoted to be used as a name"),
    ("E102", "a.b: p(X) <- q(X).", "`a.b` contains a full stop and has to be quoted to be used as a name"),
    ("E102", "p(X) <- in(X, Y).", "`in` is a reserved word and has to be quoted to be used as a name"),
    ("E102", "false(X) <- q(X).", "`false` is a reserved word and has to be quoted to be used as a name"),
    ("E102", "false: p(X) <- q(X).", "`false` is a reserved word and has to be quoted to be used as a name"),
    ("E102", "p(X) <- q(X, not).", "`not` is a reserved word and has to be quoted to be used as a name"),
    ("E112", "@hart p(X) <- q(X).", "unknown annotation `@hart`"),
    ("E112", "@weight(-1) p(X) <- q(X).", "the arguments of `@weight` do not fit"),
    ("E112", f"@weight({10**400}) p(X) <- q(X).", "the arguments of `@weight` do not fit"),
    ("E112", "@weight(true) p(X) <- q(X).", "the arguments of `@weight` do not fit"),
    ("E112", "@weight p(X) <- q(X).", "the arguments of `@weight` do not fit"),
    ("E112", "@hard(1) p(X) <- q(X).", "the arguments of `@hard` do not fit"),
    ("E112", "@description(2) p(X) <- q(X).", "the arguments of `@description` do not fit"),
    ("E112", "@confidence(1.5) p(X) <- q(X).", "the arguments of `@confidence` do not fit"),
    ("E112", "@support(1.5) p(X) <- q(X).", "the arguments of `@support` do not fit"),
    ("E112", "@support(-1) p(X) <- q(X).", "the arguments of `@support` do not fit"),
    ("E112", "@tags() p(X) <- q(X).", "the arguments of `@tags` do not fit"),
    ("E112", "@tags(a, 2) p(X) <- q(X).", "the arguments of `@tags` do not fit"),
    ("E112", "@hard closed p.", "annotations are for rules; `closed` takes none"),
    ("E112", "@hard @soft p(X) <- q(X).", "a rule cannot be both `@hard` and `@soft`"),
    ("E112", "@weight(1) @weight(2) p(X) <- q(X).", "the annotation `@weight` is given twice"),
    ("E116", "incompatible p.", "`incompatible` takes two names or more, or exactly two atoms"),
    ("E116", "incompatible p, q(X).", "`incompatible` takes two names or more, or exactly two atoms"),
    ("E116", "incompatible p(X), q(X), r(X).", "`incompatible` takes two names or more, or exactly two atoms"),
    ("E116", "incompatible p, q, p.", "`p` cannot be incompatible with itself"),
    ("E116", "incompatible p(X, Y), p(X, Y).", "`p` cannot be incompatible with itself"),
    ("E116", "incompatible p(X, a), q(X, a).", "the two atoms of `incompatible` do not match"),
    ("E116", "incompatible p(X, Y), q(X, Z).", "the two atoms of `incompatible` do not match"),
    ("E116", "incompatible p(X, X), q(X, X).", "the two atoms of `incompatible` do not match"),
    ("E116", "functional p.", "`functional` does not say what determines what"),
    ("E116", "pca p(X, Y).", "`pca` does not say what determines what"),
    ("E116", "functional p(X, Y).", "`functional` does not say what determines what"),
    ("E116", "functional p(-> Y).", "`functional` has no key"),
    ("E116", "functional p(X ->).", "`functional` has no value"),
    ("E116", "functional p(X, Y) on -> X.", "`functional` has no key"),
    ("E116", "functional p(X -> X).", "the variable `X` is repeated"),
    ("E116", "functional p(X, Y) on X -> X.", "the variable `X` is repeated"),
    ("E116", "functional p(X, a -> Y).", "keys and values of `functional` are variables"),
    ("E116", "functional p(X, a, Y) on X -> Y.", "the arguments of `functional` are variables"),
    ("E116", "functional p(X, Y) on Z -> X.", "`Z` is not an argument of the predicate"),
    ("E101", "p(X) <- q(X), r(X) or s(X).", "`,` and `or` stand side by side without parentheses"),
    ("E101", "p(X) <- q(X) or r(X), s(X).", "`,` and `or` stand side by side without parentheses"),
    ("E101", "p(X) <- not (q(X), r(X) or s(X)).", "`,` and `or` stand side by side without parentheses"),
    ("E119", "p(X) <- q(X, f(Y)).", "there is no function `f`"),
    ("E119", "p(X) <- q(X) < 1.", "there is no function `q`"),
    ("E119", "p(X) <- N = count(q(X)).", "`count` takes a value and, behind a colon, a condition"),
    ("E119", "p(X) <- q(X), sum(X) > 1.", "`sum` takes a value and, behind a colon, a condition"),
    ("E119", "p(X) <- q(X), sqrt(X, 2) > 1.", "`sqrt` takes 1 argument"),
    ("E119", "p(X) <- q(X), power(X) > 1.", "`power` takes 2 arguments"),
    ("E119", "p(X) <- q(X), min(X) > 1.", "`min` takes 2 arguments or more"),
    ("E119", "p(X) <- q(X), round(X, 1, 2) > 1.", "`round` takes 1 or 2 arguments"),
    ("E119", "p(X) <- q(X), spread(2) > X.", "`spread` is a tolerance, which only `within` takes"),
    ("E119", "p(X) <- q(X), within(X, 1, quantile(90)).", "`quantile` takes one number between 0 and 1"),
    ("E119", "p(X) <- q(X), within(X, 1, spread(X)).", "`spread` takes one number that is not negative"),
    ("E119", "p(X) <- q(X), within(X, 1, -5%).", "a tolerance in percent takes one number that is not negative"),
    ("E120", "p(X) <- sale(id: A, X).", "arguments with names and without are mixed"),
    ("E120", "p(X) <- sale(X, id: A).", "arguments with names and without are mixed"),
    ("E120", "p(X) <- sale(id: X, id: A).", "the argument `id` is given twice"),
    ("E120", "p(X) <- sale(id: X + 1).", "the value of the argument `id` is neither a variable nor a constant"),
    ("E120", "p(X) <- mean(X : q(X)) > 1.", "the value of the argument `X` is neither a variable nor a constant"),
    ("E109", "p(X) <- q(X), X = _.", "`_` has no value to compare or to compute with"),
    ("E109", "p(X) <- q(X), abs(_) > 1.", "`_` has no value to compare or to compute with"),
    ("E109", "p(X) <- (q(X) or r(X)) = true.", "a condition stands where a value is needed"),
    ("E109", "p(X) <- sale(id: X) > 1.", "a condition stands where a value is needed"),
    ("E122", f"p(X) <- {'(' * 101}q(X){')' * 101}.", "the condition is nested more than 100 deep"),
    ("E122", f"p(X) <- {'not ' * 101}q(X).", "the condition is nested more than 100 deep"),
    ("E122", f"p(X) <- q(X), X = {'+'.join(['X'] * 102)}.", "the condition is nested more than 100 deep"),
    ("E122", f"p(X) <- q(X), X = {'abs(' * 60}{'X' + ' + X' * 60}{')' * 60}.", "the condition is nested more than 100 deep"),
    ("E123", "p(X) <- $q(X).", "`$q` is a parameter, but this is not a template"),
    ("E123", "p(X) <- sale.$q(X).", "`sale.$q` is a parameter, but this is not a template"),
    ("E123", "for $p in {a}: $p(X) <- $q(X).", "the template has no parameter `$q`"),
    ("E123", "for $p in {a}: $p(X) <- sale.$q(X).", "the template has no parameter `$q`"),
    ("E123", "for $p in {a}: q(X) <- r(X).", "the parameter `$p` is not used"),
    ("E123", "for $p, $p in {(a, b)}: $p(X) <- r(X).", "the parameter `$p` is given twice"),
    ("E123", "for $p, q in {(a, b)}: $p(X) <- r(X).", "a parameter begins with a dollar sign"),
    ("E123", "for $p, $q in {(a, b), c}: $p(X) <- $q(X).", "there is 1 value for 2 parameters"),
    ("E123", "for $p in {(a, b)}: $p(X) <- q(X).", "there are 2 values for 1 parameter"),
    ("E123", "for $p in {a}: @hard $p(X) <- q(X).", "annotations stand before `for`"),
    ("E124", 'for $p in "no such file.csv": $p(X) <- q(X).', "there is no file `no such file.csv`"),
    ("E124", 'for $p in "/etc/passwd": $p(X) <- q(X).', "`/etc/passwd` does not lie within the folder of the rule file"),
    ("E124", 'for $p in "t.csv": $p(X) <- q(X).', "rules given as text read no files"),
    ("E122", f"p(X) <- {', '.join(['q(X)'] * 101)}.", "the body has more than 100 atoms"),
    ("E122", f"p(X) <- q(X), {', '.join(['X != a'] * 10_000)}.", "the body has more than 10,000 conditions"),
]


def problems_of(text: str, folder: Path | None = None) -> tuple[Diagnostic, ...]:
    with pytest.raises(InputError) as caught:
        parse(Source("test.rules", text, folder))
    return caught.value.problems


def folder_of(message: str) -> Path | None:
    """Where rules may look for tables: nowhere, if that is the mistake."""
    return None if message == "rules given as text read no files" else Path()


@pytest.mark.parametrize(("code", "text", "message"), MISTAKES)
def test_each_mistake_is_one_problem_with_its_code_and_message(code, text, message):
    """In lower case, without a full stop."""
    (problem,) = problems_of(text, folder_of(message))
    assert (problem.code, problem.message) == (code, message)
    for line in (problem.message, *problem.notes, *problem.helps):
        assert not line[0].isupper()
        assert not line.endswith(".")


def test_every_code_has_a_mistake_that_shows_it():
    assert {code for code, _, _ in MISTAKES} == {code for code in CODES if "E101" <= code <= "E149"}


def test_every_code_in_the_source_is_in_the_table_of_codes():
    folder = Path(parser.__file__).parent
    files = [*folder.glob("*.py"), *folder.glob("declarations/*.py")]
    used = {code for file in files for code in re.findall(r'"(E\d{3})"', file.read_text(encoding="utf-8"))}
    assert used == {"E151", "E152", "E156", "E402", *(code for code in CODES if "E101" <= code <= "E149")}


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("p(X) <= q(X).", "the arrow between head and body is `<-`, with the head on its left"),
        ("p(X) <- q(X) AND r(X).", "did you mean `and`?"),
        ("p(X) <- !q(X).", "negation is written `not`, as in `not p(X)`"),
        ("p(X) <- q(X) && r(X).", "conditions are joined by `,` or `and`"),
        ("p(X) <- q(X) % said", "a comment begins with `#`; the remainder of a division is written `X mod Y`"),
        ("P > 0 <= price(X, P).", "the arrow between head and body is `<-`, with the head on its left"),
        ("p(X) <- q(“a”).", 'use straight double quotes: `"New York"`'),
        ("p(X) <- q(‘a’).", 'use straight double quotes: `"New York"`'),
        ("p(X) <- q('a').", 'use straight double quotes: `"New York"`'),
        ("@weigth(2) p(X) <- q(X).", "did you mean `@weight`?"),
        ("incompatble p, q.", "did you mean `incompatible`?"),
        ("p(X) <- q(X, a.b).", 'write `"a.b"`'),
        ("p(X) if q(X).", "the arrow between head and body is `<-`, with the head on its left"),
        ("if q(X) then p(X).", "the arrow between head and body is `<-`, with the head on its left"),
        ("q(X) implies p(X).", "a rule is written with its head first: `head <- body`"),
        ("q(X) -> p(X).", "write the head first, then `<-` and the body: `p(X) <- q(X).`"),
        ("q(X, Y), p(Y, Z) -> p(X, Z).", "write the head first, then `<-` and the body: `p(X, Z) <- q(X, Y), p(Y, Z).`"),
        ("name: q(X) &\n  s(X) => p(X).", "write the head first, then `<-` and the body: `p(X) <- q(X) & s(X).`"),
        ("q(X) -> p(X) -> s(X).", "write the head first, then `<-` and the body"),
        ("q(X) ->.", "write the head first, then `<-` and the body"),
        ("p(X) ⇐ q(X).", "the arrow between head and body is `<-`; at most is written `<=`"),
        ("p(X) <- q(X) || r(X).", "alternatives are joined by `or`"),
        ("p(X) <- q(X); r(X).", "alternatives are joined by `or`; a statement ends with a full stop"),
        ("p(X) <- q(X), X == 1.", "equality is written `=`"),
        ("p(X) <- q(X), X =< 1.", "at most is written `<=`"),
        ("p(X) <- q(X), X => 1.", "a rule is written with its head first: `head <- body`; at least is written `>=`"),
        ("p(X) <- q(X), X between 1 and 3.", "write two comparisons: `1 <= X and X <= 9`"),
        ("p(X) <- q(X), 1 < X < 3.", "write two comparisons: `1 < X and X < 9`"),
        ("p(X) <- q(X), X <-1.", "`<-` is the arrow of a rule; with a space it is a comparison: `< -1`"),
        ("p(X) <- q(X), log(X) > 1.", "did you mean `ln`?"),
        ("p(X) <- q(X), lenght(X) > 1.", "did you mean `length`?"),
        ("p(X) <- mean(X : q(X)) > 1.", "for the aggregate, write `avg`"),
        ("p(X) <- q(X), X ^ 2 = 4.", "a power is written `power(X, 2)`"),
        ("p(X) <- q(X), max(X) > 1.", "an aggregate has a colon: `max(X : p(X))`"),
        ("refute sale(price: P) <- q(P).", "an attribute of a table is written as an atom like this: `sale.price(A, P)`"),
        ("for $type in {a}: p($tpye) <- q(X).", "did you mean `$type`?"),
        ("p(X) <- q(2020-1-31).", 'to use it as text, quote it: `"2020-1-31"`'),
    ],
)
def test_help_says_how_to_mend_it(text, advice):
    (problem,) = problems_of(text)
    assert problem.helps == (advice,)


def test_all_problems_of_a_file_are_found_at_once():
    text = """
    p(X) <- q(X), r(X) or r(X).
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
        ("E101", 2),
        ("E107", 4),
        ("E102", 5),
        ("E112", 6),
        ("E112", 6),
        ("E102", 6),
        ("E101", 7),
        ("E119", 8),
        ("E101", 9),
        ("E101", 10),
    ]


def test_a_problem_is_shown_with_its_line_and_a_caret():
    (problem,) = problems_of("closed p.\naunt(X, Z) <- sister(X, Y), father(Y, Z) or mother(Y, Z).")
    assert str(problem) == (
        "error[E101]: `,` and `or` stand side by side without parentheses\n"
        " --> test.rules:2:42\n"
        "  |\n"
        "2 | aunt(X, Z) <- sister(X, Y), father(Y, Z) or mother(Y, Z).\n"
        "  |                                          ^^\n"
        "  = note: `a, b or c` could mean `(a and b) or c` as well as `a and (b or c)`\n"
        "  = help: put the alternatives into parentheses, or write `and` for `,`"
    )


def test_a_missing_full_stop_is_shown_where_it_belongs():
    (problem,) = problems_of("p(X) <- q(X)   # said\n\nq(X) <- r(X).")
    assert (problem.place.line, problem.place.column) == (1, 13)
