"""What is wrong with rules of any form: each problem with its code, its words and the words of the rule it points at.

All rules of this page are one file, opened once: their problems are told together."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from itertools import groupby

import pytest

import rulescore
from rulescore.arguments.python import make_setting
from rulescore.errors import Diagnostic, InputError, Severity, Source
from rulescore.language import syntax
from rulescore.language.syntax import Arithmetic, Comparison, Constant, Operation, Operator, Variable
from rulescore.logic.types import Typing
from rulescore.session.session import Session

DAY = datetime.date(2020, 1, 31)
FACTS = {
    "person": [("ann",), ("bob",)],
    "parent": [("ann", "bob"), ("ann", "cy")],
    "age": [("ann", 50), ("bob", 30)],
    "weight": [("ann", 60.5)],
    "born": [("ann", DAY), ("bob", DAY)],
    "adult": [("ann", True), ("bob", False)],
    "code": [("ann", 7), ("bob", "b7")],
    "size": [("ann", 2**53 + 1), ("bob", 0.5)],
}
SALES = {"id": [1, 2, 3], "zip": ["a", "a", "b"], "price": [100.0, 200.0, 300.0], "rooms": [2, 3, None], "day": [DAY] * 3}


def tables() -> dict[str, rulescore.Table]:
    return {"sale": rulescore.Table(SALES, key="id", target="price", derived={"unit": "price / rooms"})}


def problems_of(text: str, **options: object) -> list[Diagnostic]:
    setting = make_setting(FACTS, None, tables=tables(), **options)  # type: ignore[arg-type]
    try:
        with Session(replace(setting, rules=(Source("any.rules", text),))) as session:
            return list(session.warnings)
    except InputError as error:
        return list(error.problems)


def pointed_at(problem: Diagnostic) -> str:
    """The words above the caret."""
    place = problem.place
    assert place is not None
    assert place.text is not None
    assert place.column is not None
    start = place.column - 1 - (place.start or 0)
    return place.text[start : start + place.length]


@dataclass(frozen=True)
class Wrong:
    """A rule, and its problems: code, the words pointed at, the message."""

    rule: str
    problems: tuple[tuple[str, str, str], ...]

    def __str__(self) -> str:
        return self.rule


def wrong(rule: str, *problems: tuple[str, str, str]) -> Wrong:
    return Wrong(rule, problems)


def unsafe(variable: str, why: str) -> tuple[str, str, str]:
    return "E201", variable, f"variable `{variable}` is unsafe: {why}"


TYPES = [
    wrong("B + C = B <- born(_, B), born(_, C).", ("E271", "B + C", "`+` does not take a date and a date")),
    wrong("B + 3 > B <- born(_, B).", ("E271", "B + 3", "`+` does not take a date and an integer")),
    wrong("X + 1 > 3 <- person(X).", ("E271", "X + 1", "`+` does not take a string and an integer")),
    wrong("W mod 2 = 0 <- weight(_, W).", ("E271", "W mod 2", "`mod` does not take a float and an integer")),
    wrong("N mod 2.5 = 0 <- age(_, N).", ("E271", "N mod 2.5", "`mod` does not take an integer and a float")),
    wrong("T < U <- adult(_, T), adult(_, U).", ("E271", "T < U", "`<` does not take a boolean")),
    wrong("-X > 3 <- person(X).", ("E271", "X", "`-` takes an integer, a float or a duration, not a string")),
    wrong("lower(N) = a <- age(_, N).", ("E271", "N", "`lower` takes a string, not an integer")),
    wrong("year(N) > 1 <- age(_, N).", ("E271", "N", "`year` takes a date, a date-time or an instant, not an integer")),
    wrong("abs(B) = B <- born(_, B).", ("E271", "B", "`abs` takes an integer, a float or a duration, not a date")),
    wrong("round(W, 1.5) = 1 <- weight(_, W).", ("E271", "1.5", "`round` takes an integer, not a float")),
    wrong("round(W, 16) = 1 <- weight(_, W).", ("E271", "16", "the second argument of `round` is not a number of digits")),
    wrong("round(W, N) = 1 <- weight(_, W), age(_, N).", ("E271", "N", "the second argument of `round` is not a number of digits")),
    wrong("sum(B : born(_, B)) > 3 <- person(_).", ("E271", "B", "`sum` takes an integer, a float or a duration, not a date")),
    wrong("avg(Y : parent(X, Y)) > 3 <- person(X).", ("E271", "Y", "`avg` takes an integer or a float, not a string")),
    wrong(
        "max(T : adult(_, T)) = true <- person(_).",
        ("E271", "T", "`max` takes a string, an integer, a float, a date, a date-time, an instant or a duration, not a boolean"),
    ),
    wrong('starts_with(N, "a") <- age(_, N).', ("E271", "N", "`starts_with` takes a string, not an integer")),
    wrong(
        "within(X, Y, 3) <- parent(X, Y).",
        (
            "E271",
            "within(X, Y, 3)",
            "`within` takes two numbers, two dates, two date-times or two durations, not a string and a string",
        ),
    ),
    wrong(
        "within(B, C, 10%) <- born(_, B), born(_, C).",
        ("E271", "within(B, C, 10%)", "`within` takes two numbers and a percentage, not a date and a date"),
    ),
    wrong("starts_with(X) <- person(X).", ("E119", "starts_with(X)", "`starts_with` takes 2 arguments, not 1")),
    wrong('N < "x" <- age(_, N).', ("E206", 'N < "x"', "an integer is compared with a string")),
    wrong("N != Y <- age(X, N), parent(X, Y).", ("W210", "N != Y", "an integer is compared with a string, and the two are never")),
    wrong("T = 1 <- adult(_, T).", ("E206", "T = 1", "a boolean is compared with an integer")),
    wrong("B < 30 days <- born(_, B).", ("E206", "B < 30 days", "a date is compared with a duration")),
    wrong("B - C < 30 <- born(_, B), born(_, C).", ("E206", "B - C < 30", "a duration is compared with an integer")),
    wrong("within(B, C, 30) <- born(_, B), born(_, C).", ("E206", "within(B, C, 30)", "a duration is compared with an integer")),
    wrong(
        "X in {1, ann, true} <- person(X).",
        ("E206", "1", "a string is compared with an integer"),
        ("E206", "true", "a string is compared with a boolean"),
    ),
    wrong('min(N, "a") > 3 <- age(_, N).', ("E206", '"a"', "an integer is compared with a string")),
    wrong(
        "false <- person(X), let N = length(X), person(N).", ("E206", "let N = length(X)", "a string is compared with an integer")
    ),
    wrong('false <- age(X, "30"), length(X) > 3.', ("E206", '"30"', '`"30"` is a string, but argument 2 of `age` is an integer')),
    wrong("false <- sale(zip: 7).", ("E206", "7", "`7` is an integer, but `sale.zip` is a string")),
    wrong("person(7) <- age(X, N), N > 3.", ("E206", "7", "`7` is an integer, but argument 1 of `person` is a string")),
    wrong("false <- age(X, 30 days).", ("E206", "30 days", "`30 days` is a duration, which no fact holds")),
    wrong("age(X, 1 day) <- age(X, _).", ("E206", "1 day", "`1 day` is a duration, which no fact holds")),
    wrong("nothing(X, 1 day) <- person(X), length(X) > 3.", ("E206", "1 day", "`1 day` is a duration, which no fact holds")),
    wrong("false <- age(X, N), let M = N / 2, not person(M).", ("E206", "N / 2", "argument 1 of `person` has another type")),
    wrong("false <- age(X, N), person(N), length(X) > 3.", ("W210", "N", "nothing can be `N`: its values have one type here")),
    wrong("false <- sale(id: I), sale(zip: I).", ("W210", "I", "nothing can be `I`: its values have one type here")),
    wrong("N > 3 <- code(_, N).", ("E271", "N", "`N` stands for values of several types")),
    wrong("N + 1 = 3 <- code(_, N).", ("E271", "N", "`N` stands for values of several types")),
    wrong("max(N : code(_, N)) = 3 <- person(_).", ("E271", "N", "`N` stands for values of several types")),
    wrong("N > 3 <- size(_, N).", ("E271", "N", "`N` stands for values of several types")),
    wrong("N = true <- code(_, N), 1 < 2.", ("E206", "N = true", "a boolean is compared with what is a string and an integer")),
    wrong("1 < 2 <- code(_, true).", ("E206", "true", "`true` is a boolean, but argument 2 of `code` is a string or an integer")),
    wrong("N > 9223372036854775808 <- age(_, N).", ("E105", "9223372036854775808", "this integer is too large")),
    wrong("N in {99999999999999999999} <- age(_, N).", ("E105", "99999999999999999999", "this integer is too large")),
    wrong("N - 99999999999999999999 > 3 <- age(_, N).", ("E105", "99999999999999999999", "this integer is too large")),
]
NAMES = [
    wrong("age(X, N + 1) <- age(X, N).", ("E109", "N + 1", "an argument of `age` is computed")),
    wrong("false <- person(X), not parent(X, lower(X)).", ("E109", "lower(X)", "an argument of `parent` is computed")),
    wrong("false <- sale.price(I, P), sale.zip(I + 1, Z).", ("E109", "I + 1", "an argument of `sale.zip` is computed")),
    wrong("plausible(N / 2) <- age(_, N).", ("E205", "plausible", "`plausible` is no predicate of the data, no test")),
    wrong("starts_wth(X, lower(X)) <- person(X).", ("E205", "starts_wth", "`starts_wth` is no predicate of the data, no test")),
    wrong("false <- sael(id: I).", ("E205", "sael", "there is no table `sael`")),
    wrong("false <- parent(id: I).", ("E120", "parent", "`parent` is a predicate of facts, whose arguments have no names")),
    wrong("false <- sale(I, P).", ("E120", "sale(I, P)", "`sale` is a table: name its attributes")),
    wrong("false <- sale(id: I, prise: P).", ("E205", "prise", "table `sale` has no attribute `prise`")),
    wrong("false <- sale.prise(I, P).", ("E205", "sale.prise", "table `sale` has no attribute `prise`")),
    wrong("sale(id: I, prise: P) <- sale(id: I, price: P).", ("E205", "prise", "table `sale` has no attribute `prise`")),
    wrong("not sale(id: I, sael: P) or P > 3 <- sale(id: I, price: P).", ("E205", "sael", "table `sale` has no attribute `sael`")),
    wrong("false <- sale.price(I).", ("E203", "sale.price(I)", "`sale.price` has 2 arguments, the key and the value, not 1")),
    wrong("sale(price: P) <- sale(price: P).", ("E120", "sale(price: P)", "the head does not name the key `id` of `sale`")),
    wrong("not sale(id: I) <- sale(id: I).", ("E120", "sale(id: I)", "the head names nothing but the key of `sale`")),
    wrong("within(N, M) <- age(_, N), age(_, M).", ("E119", "within(N, M)", "`within` takes two values and a tolerance")),
    wrong(
        "false <- sale(price: P), sale(price: Q), within(P, Q, spread(2)).",
        ("E119", "within(P, Q, spread(2))", "the tolerance `spread` cannot stand here"),
    ),
    wrong(
        "within(N, M, quantile(0.9)) <- age(_, N), age(_, M).",
        ("E119", "within(N, M, quantile(0.9))", "the tolerance by `quantile` cannot be taken from the data"),
    ),
    wrong("not starts_wih(X, a) <- person(X).", ("E205", "starts_wih(X, a)", "predicate `starts_wih` has no facts anywhere")),
]
SAFETY = [
    wrong("false <- person(X) or parent(X, Y).", unsafe("Y", "one side of `or` does not bind it")),
    wrong("N > 3 <- age(X, N) or person(X).", unsafe("N", "one side of `or` does not bind it")),
    wrong("Y = N <- age(X, N), (age(X, Y) or Y > 3).", unsafe("Y", "one side of `or` does not bind it")),
    wrong("false <- (person(X) or parent(X, _)), length(X) > 3.", ("E201", "parent(X, _)", "`_` is unsafe here")),
    wrong(
        "false <- person(X), (sale(zip: X) or parent(X, X)).", ("E201", "sale(zip: X)", "a key that is not named is unsafe here")
    ),
    wrong("false <- age(X, N), N > 3, not parent(Y, X).", unsafe("Y", "`not` binds nothing")),
    wrong(
        "false <- age(X, N), not (N > M and parent(X, Y)).", unsafe("M", "`not` binds nothing"), unsafe("Y", "`not` binds nothing")
    ),
    wrong("false <- person(X), Y in {ann}.", unsafe("Y", "`in` binds nothing")),
    wrong("false <- age(X, N), M > N.", unsafe("M", "a comparison binds nothing")),
    wrong("false <- person(X), starts_with(X, Y).", unsafe("Y", "a test binds nothing")),
    wrong("false <- person(X), starts_with(X, _).", ("E201", "_", "`_` in a test is unsafe: it is bound by nothing")),
    wrong("false <- age(X, N), let M = M + 1.", unsafe("M", "what `let` makes of it is not bound")),
    wrong(
        "false <- age(X, N), let M = K + 1, let K = M - 1.",
        unsafe("M", "what `let` makes of it is not bound"),
        unsafe("K", "what `let` makes of it is not bound"),
    ),
    wrong(
        "false <- age(X, N), M = K + 1, N > 3.",
        unsafe("M", "a comparison binds nothing"),
        unsafe("K", "a comparison binds nothing"),
    ),
    wrong("M > 3 <- age(X, N).", ("E201", "M", "head variable `M` is not bound by the body")),
    wrong("parent(X, Z) and person(Z) <- age(X, N).", ("E201", "Z", "head variable `Z` is not bound by the body")),
    wrong("not parent(X, Z) <- age(X, N), N > 3.", ("E201", "Z", "head variable `Z` is not bound by the body")),
    wrong("person(X) or parent(_, X) <- age(X, N), N > 3.", ("E201", "_", "a head cannot have `_`")),
    wrong("sale(id: I, price: _) <- sale(id: I, price: P).", ("E201", "_", "a head cannot have `_`")),
]
AGGREGATES = [
    wrong("count(C : parent(X, C), D > 3) <= 2 <- person(X).", unsafe("D", "the aggregate does not bind it")),
    wrong("count(C : parent(X, C), not parent(C, D)) <= 2 <- person(X).", unsafe("D", "the aggregate does not bind it")),
    wrong("count(C : person(X)) <= 2 <- person(X).", unsafe("C", "the aggregate does not bind it")),
    wrong("sum(M : age(X, N), let M = M + N) <= 2 <- person(X).", unsafe("M", "the aggregate does not bind it")),
    wrong(
        "count(C : parent(X, C) or parent(X, D)) <= 2 <- person(X).",
        unsafe("D", "the aggregate does not bind it"),
        unsafe("C", "the aggregate does not bind it"),
    ),
    wrong("count(X : parent(X, _) or person(X)) <= 2 <- age(_, 3).", ("E201", "parent(X, _)", "`_` is unsafe here")),
    wrong("false <- person(X), count(C : parent(X, C)) > D.", unsafe("D", "a comparison binds nothing")),
    wrong(
        "parent(C, X) <- person(X), count(C : parent(X, C)) > 1.",
        unsafe("C", "an aggregate binds nothing outside of itself"),
        ("W207", "count(C : parent(X, C))", "this `count` has no variable of its own"),
    ),
    wrong(
        "count(C : parent(X, C)) <= count(C : parent(C, X)) <- person(X).",
        ("E274", "C", "variable `C` occurs in two aggregates and nowhere else"),
    ),
    wrong(
        "count(C : parent(X, C), count(D : parent(C, D)) > 1) <= 2 <- person(X).",
        ("E274", "count(D : parent(C, D))", "an aggregate cannot stand within another"),
    ),
    wrong(
        "count(C : parent(X, C)) <= 2 <- person(X), parent(X, C).",
        ("W207", "count(C : parent(X, C))", "this `count` has no variable of its own"),
    ),
]
RIGHT = [
    "N > 9223372036854775807 <- age(_, N).",
    "N > -9223372036854775808 <- age(_, N).",
    "W > 99999999999999999999.0 <- weight(_, W).",
    "false <- age(X, N), weight(X, N), N > 3.",
    "sum(M : age(X, N), let K = M, let M = N + 1, K > 3) <= 2 <- person(X).",
    "count(C : parent(X, C)) <= count(D : parent(D, X)) <- person(X).",
    "count(X : parent(X, C)) <= 2 <- person(X).",
    "count(1 : parent(X, _)) <= 2 <- person(X).",
    "count(1 : sale(price: P)) <= 2 <- sale(id: I, price: P).",
    "Y = N <- age(X, N), (age(X, Y) or Y = 3).",
    "false <- (parent(X, Y) or parent(Y, X)), X != Y.",
    "not not person(X) <- age(X, N), let M = N / 0, M > 3.",
    "within(B, C, 2 weeks) <- born(_, B), born(_, C).",
    "round(W, 15) = 1 <- weight(_, W).",
    "closed person.",
]


@pytest.fixture(scope="module")
def by_line() -> dict[int, list[Diagnostic]]:
    text = "\n".join(one.rule for one in (*TYPES, *NAMES, *SAFETY, *AGGREGATES))
    found = [problem for problem in problems_of(text) if problem.code not in {"W202", "W203"}]
    assert all(problem.place is not None for problem in found)
    ordered = sorted(found, key=lambda problem: problem.place.line or 0)  # type: ignore[union-attr]
    return {line: list(own) for line, own in groupby(ordered, lambda one: one.place.line)}  # type: ignore[union-attr, misc]


@pytest.mark.parametrize(("line", "one"), list(enumerate((*TYPES, *NAMES, *SAFETY, *AGGREGATES), 1)), ids=str)
def test_a_problem_points_at_the_words_that_are_wrong(by_line: dict[int, list[Diagnostic]], line: int, one: Wrong) -> None:
    found = by_line[line]
    assert [(problem.code, pointed_at(problem)) for problem in found] == [(code, words) for code, words, _ in one.problems]
    for problem, (_, _, message) in zip(found, one.problems, strict=True):
        assert problem.message.startswith(message)


def test_problems_read_like_all_others(by_line: dict[int, list[Diagnostic]]) -> None:
    for problem in (problem for own in by_line.values() for problem in own):
        for text in (problem.message, *problem.notes, *problem.helps):
            assert text == text.strip()
            assert not text.endswith(".")
            assert text[0].islower() or text[0] in "`("
            assert "a integer" not in text
            assert "Variable(" not in text


def test_nothing_is_said_of_rules_that_are_right() -> None:
    assert problems_of("\n".join(RIGHT)) == []


def helps_of(rule: str) -> tuple[str, ...]:
    (problem,) = problems_of(rule)
    return (*problem.helps, problem.label)[:1]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("false <- sael(id: I).", "did you mean `sale`?"),
        ("false <- house(id: I).", "the tables are `sale`"),
        ("false <- sale(prise: P).", "did you mean `price`?"),
        ("false <- sale(zzz: P).", "its attributes are `id`, `zip`, `price`, `rooms`, `day`, `unit`"),
        ("false <- sale(I, P).", "write `sale(id: I, zip: Z, price: P)`"),
        ("starts_wth(X, lower(X)) <- person(X).", "did you mean `starts_with`?"),
        ("age(X, N + 1) <- age(X, N).", "name the value in the body, `let V = …`, and write `V` here"),
        ("B - C < 30 <- born(_, B), born(_, C).", "write a duration with its unit: `30 days`"),
        ("W mod 2 = 0 <- weight(_, W).", "`mod` is for integers; round first"),
        ("T < U <- adult(_, T), adult(_, U).", "use `=` or `!=`"),
        ("N > 9223372036854775808 <- age(_, N).", "write it as a float, with a point or an exponent"),
        ("within(N) <- age(_, N).", "write `within(P, Q, 500)`, or `within(P, Q, 10%)`"),
    ],
)
def test_the_help_says_what_to_write(rule: str, text: str) -> None:
    assert helps_of(rule) == (text,)


def test_without_tables_a_row_is_told_that_there_are_none() -> None:
    with pytest.raises(InputError) as raised:
        Session(make_setting(FACTS, None, "false <- sale(id: I)."))
    (problem,) = raised.value.problems
    assert (problem.code, problem.helps) == ("E205", ("no table with a key is given",))


# Declarations about tables, and refutations


@pytest.mark.parametrize(
    ("declaration", "code", "words", "message"),
    [
        ("closed sale.prise.", "E205", "sale.prise", "table `sale` has no attribute `prise`"),
        ("incompatible person, sale.prise.", "E205", "sale.prise", "table `sale` has no attribute `prise`"),
        ("incompatible sale.prise(X, Y), parent(Y, X).", "E205", "sale.prise", "table `sale` has no attribute `prise`"),
        ("functional sale.prise(X -> Y).", "E205", "sale.prise", "table `sale` has no attribute `prise`"),
        (
            "functional sale.price(X, Y -> Z).",
            "E203",
            "functional sale.price(X, Y -> Z)",
            "`sale.price` has 2 arguments, the key and the value, not 3",
        ),
        (
            "incompatible sale.price, person.",
            "E203",
            "incompatible sale.price, person",
            "incompatible predicates must have one number of arguments",
        ),
        ("refute sale.prise(X, Y) <- Y < 0.", "E205", "sale.prise", "table `sale` has no attribute `prise`"),
        ("refute sale.price(X, Y) <- sale(prise: Y).", "E205", "prise", "table `sale` has no attribute `prise`"),
        ("refute sale.price(X) <- X < 0.", "E203", "sale.price(X)", "`sale.price` has 2 arguments"),
        ('refute sale.price("a", Y) <- Y < 0.', "E206", '"a"', "`a` is a string, but `sale.id` is an integer"),
        ("refute sale.price(X, Y) <- Y < a.", "E206", "Y < a", "a float is compared with a string"),
        ("refute sale.price(X, Y) <- Y < Z.", "E201", "Z", "variable `Z` is unsafe: a comparison binds nothing"),
        ("refute person(X) <- length(X) > N.", "E201", "N", "variable `N` is unsafe: a comparison binds nothing"),
    ],
)
def test_declarations_are_checked_whether_or_not_a_head_is_concerned(declaration: str, code: str, words: str, message: str) -> None:
    for head in ("sale.price(I, P)", "sale.zip(I, Z)"):
        found = [
            one for one in problems_of(f"{head} <- sale(id: I, price: P, zip: Z).\n{declaration}") if one.severity is Severity.ERROR
        ]
        assert [(one.code, pointed_at(one)) for one in found] == [(code, words)]
        assert found[0].message.startswith(message)


def test_a_refutation_that_no_values_meet_is_a_warning() -> None:
    found = problems_of("sale.zip(I, Z) <- sale(id: I, zip: Z). refute sale.zip(X, X) <- X > 0.")
    assert [(one.code, pointed_at(one)) for one in found] == [("W210", "X")]


def test_a_refutation_of_other_types_than_the_head_never_holds() -> None:
    """Nothing tells the types of a predicate without facts, so the refutation is no error."""
    rules = """
        thing(X, N) <- age(X, N), N > 3.
        predicate thing/2.
        refute thing(X, X) <- person(X), length(X) > 1.
        refute thing(X, a) <- person(X), length(X) > 1.
    """
    with Session(make_setting(FACTS, None, rules)) as session:
        (result,) = session.audit().rule_results
    assert result.dataset.evaluable == 0


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("N > 3 <- age(_, N).", "its head is not one atom"),
        ("person(X) or adult(X, true) <- age(X, _).", "its head is not one atom"),
        ("person(X) <- age(X, N), N > 3.", "its body has more than positive atoms"),
        ("person(X) <- (adult(X, true) or parent(X, X)).", "its body has more than positive atoms"),
        (
            "person(X) <- parent(X, X). refute person(X) <- length(X) > 9.",
            "`person` is refuted by more than incompatible predicates",
        ),
    ],
)
def test_e251_the_appendix_counts_no_rules_of_other_forms(rule: str, reason: str) -> None:
    problem = next(one for one in problems_of(f"r: {rule}", convention="appendix") if one.code == "E251")
    assert problem.notes == (f"`r`: {reason}",)


def test_problems_of_every_family_come_together() -> None:
    """A rule of the fast family, one of the other, a declaration and a rule in SQL."""
    rules = "parent(X, Z) <- parent(X, Y).\nN > a <- age(_, N).\nclosed sale.prise."
    found = problems_of(rules, sql_rules=[rulescore.SqlRule("s", "SELECT 1 AS prediction")])
    assert [one.code for one in found if one.severity is Severity.ERROR] == ["E201", "E205", "E206", "E293"]


def doubled(steps: int, joint: str = "let A{} = A{}") -> str:
    """Equations of which each doubles what stands for its variable."""
    first = joint.partition(" = ")[0].format(0)
    return ", ".join([f"{first} = N", *(f"{joint.format(i, i - 1)} + A{i - 1}" for i in range(1, steps + 1))])


@pytest.mark.parametrize(
    "rule",
    [
        f"A60 > 3 <- age(X, N), {doubled(60)}.",
        f"A60 > 3 <- age(X, N), {doubled(60, 'A{} = A{}')}.",
        f"false <- age(X, N), (({doubled(60)}, A60 > 3) or A60 = N).",
        f"count(X : age(X, N), {doubled(60)}, A60 > 3) > 3 <- person(_).",
    ],
)
def test_e282_what_grows_by_abbreviations_is_counted_before_it_is_built(rule: str) -> None:
    found = [one for one in problems_of(rule) if one.code == "E122"]
    assert found
    assert found[0].place is not None


def test_e282_a_long_chain_of_abbreviations_is_too_deep() -> None:
    chain = ", ".join(f"let A{i} = A{i - 1} + 1" for i in range(1, 200))
    (found,) = problems_of(f"A199 > 3 <- age(X, N), let A0 = N, {chain}.")
    assert (found.code, pointed_at(found)) == ("E122", "A99 + 1")


def test_e282_alternatives_multiply() -> None:
    ways = ", ".join(f"(parent(X, V{i}) or parent(V{i}, X))" for i in range(40))
    (found,) = problems_of(f"false <- person(X), {ways}.")
    assert (found.code, found.message.split(",")[0]) == ("E122", f"the condition has {2**40:,} ways to hold".split(",")[0])


def test_e282_the_more_atoms_the_fewer_ways() -> None:
    """A statement joins each atom of each way with the others: 64 ways of seven atoms took the database minutes to plan."""
    several = ", ".join(f"(parent(X, V{i}) or parent(V{i}, X))" for i in range(6))
    (found,) = problems_of(f"false <- person(X), {several}.")
    assert found.code == "E122"
    assert found.message == "the condition has 64 ways to hold, of which at most 51 can be told apart if they have 7 atoms"
    assert found.place is not None
    assert problems_of(f"false <- person(X), {several.rpartition(', (')[0]}.") == []
    threefold = ", ".join(f"(parent(X, V{i}) or parent(V{i}, X) or parent(V{i}, V{i}))" for i in range(4))
    assert problems_of(f"false <- person(X), {threefold}.") == []
    many = " or ".join(f"(parent(X, V), V != e{i})" for i in range(90))
    assert problems_of(f"false <- person(X), ({many}).") == []


# Trees that no rule file gives


def test_an_unknown_type_fits_everywhere() -> None:
    problems: list[Diagnostic] = []
    typing = Typing(lambda _: None, problems)
    typing.comparison(Comparison(Operator.LESS, Variable("X"), Constant("a")))
    typing.expression(Operation(Arithmetic.ADD, Variable("X"), Constant("a")))
    typing.test(syntax.Test("contains", (Variable("X"), Constant("a"))))
    assert problems == []


def test_every_code_has_a_test() -> None:
    tested = {code for one in (*TYPES, *NAMES, *SAFETY, *AGGREGATES) for code, _, _ in one.problems}
    assert tested >= {"E105", "E109", "E119", "E120", "E201", "E205", "E206", "E271", "E274", "W210"}
