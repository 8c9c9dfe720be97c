"""What is wrong with rules and what is suspicious about them: code, place and helpful words, all at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rulescore.arguments.python import make_setting
from rulescore.errors import Diagnostic, InputError, Severity, Source
from rulescore.errors.codes import CODES
from rulescore.language.declarations.incompatible import IncompatibleGroup, IncompatiblePair
from rulescore.language.syntax import Atom, Program, Variable
from rulescore.logic import checks
from rulescore.logic.checks import check_rule_files
from rulescore.logic.vocabulary import Names
from rulescore.session.session import Session

FACTS = {
    "mother": [("anna", "bert")],
    "father": [("carl", "bert")],
    "age": [("anna", 30)],
    "adult": [("anna",)],
}
ANSWERS = pa.table({"head": ["a"] * 3, "relation": ["father", "fahter", "cousin"], "tail": ["b", "c", "d"], "rank": [1, 2, 3]})
TABLE = Path(__file__).parent / "checks.txt"
NOWHERE = "predicate `{}` has no facts in the data or in any model's predictions"
KEPT = "`top_k` keeps 1 of 3 predictions of `model`, and no other is read"
OWN = "mother(X, Y) <- father(X, Y).\n"


def place(problem: Diagnostic) -> str:
    return str(problem.place)


def tabled() -> Iterator[Any]:
    """The blocks of `checks.txt`: rules, and their problems."""
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    for is_said, block in groupby(lines, lambda line: re.match(r"    (nothing$|[EW]\d|    )", line) is not None):
        if not is_said:
            text = "\n".join(block)
            continue
        problems: list[list[str]] = []
        for line in block:
            if line.startswith(" " * 8):
                problems[-1].append(line.strip())
            elif line.strip() != "nothing":
                problems.append(line.strip().split(" ", 2))
        yield said(text, *problems)


def said(text: str, *problems: Sequence[str], observed: Any = FACTS, **options: Any) -> Any:
    """Rules beside other data or options, and what is said of them."""
    return pytest.param(text, problems, observed, options, id=text[:60])


BESIDE = [
    said("mother(X, Y) <- fahter(X, Y).", predictions={"model": {"fahter": [("carl", "anna")]}}),
    said("mother(X, Y) <- fahter(X, Y).", ("W203", "1:17", NOWHERE.format("fahter")), negatives={"fahter": [("carl", "anna")]}),
    said(
        "mother(X, Y) <- fahter(X, Y).",
        ("E205", "1:17", "predicate `fahter` has no facts anywhere", KEPT),
        predictions={"model": ANSWERS},
    ),
    said("mother(X, Y) <- cousin(X, Y).", ("W203", "1:17", NOWHERE.format("cousin"), KEPT), predictions={"model": ANSWERS}),
    said(
        "brother_in_law(X, Y) <- sister_in_law(Y, X).",
        ("W203", "1:1", NOWHERE.format("brother_in_law")),
        observed={"sister_in_law": [("anna", "bert")]},
    ),
    said(
        "plausibel(X) <- adult(X).",
        ("E205", "1:1", "predicate `plausibel` has no facts anywhere", "did you mean `plausible`?"),
        functions={"plausible": bool},
    ),
    said(
        OWN,
        ("W208", "-", "the registered predicate `father` is never called: the data have a predicate of that name"),
        functions={"father": bool, "adult": bool},
    ),
    said(
        "kinship: mother(X, Y) <- father(Y, X).",
        ("E261", "-", "a weight is given for `kinshp`, but no rule has that name", "did you mean `kinship`?"),
        ("E261", "-", "a kind is given for `zebra`, but no rule has that name"),
        weights={"kinshp": 2.0},
        kinds={"zebra": "hard"},
    ),
    said(
        "mother(X, Y) <- father(X, Y), size(X, 7).",
        ("E206", "1:39", "`7` is an integer, but argument 2 of `size` is a string"),
        predictions={"model": {"size": [("anna", "7")]}},
    ),
    said("mother(X, Y) <- father(X, Y), size(X, 7).", predictions={"model": {"size": [("anna", 7)]}}),
    said(
        'mother(X, Y) <- father(X, Y), age(X, 30), age(Y, "unknown").',
        observed={**FACTS, "age": [("anna", 30), ("bert", "unknown")]},
    ),
    said(
        "mother(X, Z) <- father(X, Y).",
        ("E201", "1:11", "head variable `Z` is not bound by the body"),
        ("E203", "-", "`mother` occurs with 1 and 2 arguments"),
        observed={**FACTS, "mother": [("anna", "bert"), ("anna",)]},
    ),
    said("old: N > 3 <- age(_, N).\nboth: mother(X, Y) or father(Y, X) <- father(X, Y).", roles=["body", "head", "refuter"]),
    said(OWN, convention="appendix", negatives={"age": [("bert", 3)]}),
    *(
        said(OWN, ("E204", "-", f"`{name}` is built in and cannot be registered"), functions={name: bool})
        for name in ("contains", "within", "abs", "count")
    ),
]
SAID = [*tabled(), *BESIDE]


@pytest.mark.parametrize(("text", "expected", "observed", "options"), SAID)
def test_each_problem_has_its_code_its_place_and_its_words(all_problems, text, expected, observed, options):
    found = all_problems(text, observed, **options)
    told = [(problem.code, place(problem).removeprefix("family.rules:") if problem.place else "-") for problem in found]
    assert told == [(code, at) for code, at, *_ in expected]
    for problem, (code, _, message, *words) in zip(found, expected, strict=True):
        assert problem.message == message
        assert set(words) <= {problem.label, *problem.notes, *problem.helps}
        assert (problem.severity is Severity.WARNING) == code.startswith("W")


@pytest.mark.parametrize(
    ("rule", "unsafe"),
    [
        ("X > Z <- father(X, Y), Z < 3.", [("E201", "f.rules:1:24")]),
        ("mother(X, Z) and X > 1 <- father(X, Y).", [("E201", "f.rules:1:11")]),
        ("false <- father(X, _), (age(X, V) or adult(X)).", [("E201", "f.rules:1:32")]),
        ("count(C : father(X, _), D > C) > 1 <- adult(X).", [("E201", "f.rules:1:7"), ("E201", "f.rules:1:25")]),
        ("refute mother(X, Y) <- X < Z.", [("E201", "f.rules:1:28")]),
        ("false <- contains(X, Y), X > Y.", []),
        ("false <- near(X, Y), taller(Z, 2 * Y), Z > X.", []),
        ("false <- sale(zip: Z, price: P), (sale(zip: Z, price: P) or P > 3).", []),
    ],
)
def test_unsafe_variables_of_rules_of_any_form_are_found_without_data(rule: str, unsafe: list[tuple[str, str]]):
    """What may be a predicate of the data, or a row with its key, binds; nothing else is said of names."""
    try:
        check_rule_files([Source("f.rules", rule)])
        found: tuple[Diagnostic, ...] = ()
    except InputError as error:
        found = error.problems
    assert [(one.code, place(one)) for one in found] == unsafe


def test_a_predicate_is_not_incompatible_with_itself():
    """A rule file is refused by the parser already; trees come from anywhere."""
    atom = Atom("p", (Variable("X"), Variable("Y")))
    trees = Program((IncompatiblePair(atom, atom), IncompatibleGroup(("p", "q", "p"))))
    pair, group = checks.structure(trees, [], Names({}, frozenset()))
    assert (pair.code, group.code) == ("E116", "E116")
    assert "the other way round" in pair.helps[0]
    assert group.helps == ("name each predicate once",)


def test_rules_that_the_appendix_cannot_count_are_one_error_that_lists_each_and_why(problems):
    rules = """\
        fine: mother(X, Y) <- father(X, _), age(_, Y).
        denial: false <- father(X, Y).
        compared: mother(X, Y) <- father(X, Y), X != Y.
        negated: mother(X, Y) <- father(X, Y), not adult(X).
        closed_head: father(X, Y) <- mother(X, Y).
        known_false: age(X, Y) <- age(X, Y).
        closed father.
    """
    found = problems(rules, FACTS, convention="appendix", negatives={"age": [("bert", 3)]})["E251"]
    assert found.message == "the appendix convention cannot count 5 rules"
    assert [note.split(":")[0] for note in found.notes] == [
        f"`{name}`" for name in ("denial", "compared", "negated", "closed_head", "known_false")
    ]
    assert "`father` is refuted by more than incompatible predicates" in found.notes[3]
    assert "`age` is refuted by negative facts" in found.notes[4]
    assert '"definition"' in found.helps[0]


def test_problems_of_two_rule_files_name_their_file(tmp_path):
    for name, body in (("first.rules", "father"), ("second.rules", "age")):
        (tmp_path / name).write_text(f"mother(X, Z) <- {body}(X, Y).\n", encoding="utf-8")
    setting = make_setting(FACTS, None, [tmp_path / "first.rules", tmp_path / "second.rules"])
    with pytest.raises(InputError) as raised:
        Session(setting)
    assert [place(p).rpartition("/")[2] for p in raised.value.problems] == ["first.rules:1:11", "second.rules:1:11"]


def test_every_code_has_a_row():
    tested = {code for row in SAID for code, *_ in row.values[1]}
    wanted = {code for code in CODES if "E201" <= code <= "E204" or "W201" <= code <= "W208"}
    assert tested >= wanted - {"E202"}
