"""What is wrong with rules and what is suspicious about them: code, place and helpful words, all at once."""

from __future__ import annotations

import pyarrow as pa
import pytest

from rulescore.arguments.python import make_setting
from rulescore.errors import Diagnostic, InputError, Severity, Source
from rulescore.errors.codes import CODES
from rulescore.evaluate import Session
from rulescore.language.declarations.incompatible import IncompatibleGroup, IncompatiblePair
from rulescore.language.syntax import Atom, Program, Variable
from rulescore.logic import checks
from rulescore.logic.rule_files import check_rule_files
from rulescore.logic.vocabulary import Names

FACTS = {
    "mother": [("anna", "bert")],
    "father": [("carl", "bert")],
    "age": [("anna", 30)],
    "adult": [("anna",)],
}


def place(problem: Diagnostic) -> str:
    return str(problem.place)


def test_e201_a_head_variable_that_the_body_does_not_bind(problems):
    found = problems("mother(X, Z) <- father(X, Y).", FACTS)["E201"]
    assert (place(found), found.place.text[found.place.column - 1]) == ("family.rules:1:11", "Z")
    assert "`Z`" in found.message
    assert found.helps == ("add a body atom that mentions `Z`, or use a constant",)


def test_e202_a_head_variable_that_only_a_negated_atom_has_is_unsafe_there(all_problems):
    """It is reported once, where it can be mended."""
    found = all_problems("mother(X, Z) <- father(X, Y), not father(Y, Z).", FACTS)
    assert [(p.code, place(p)) for p in found] == [("E202", "family.rules:1:45")]


@pytest.mark.parametrize(
    ("body", "column", "word"),
    [
        ("father(X, Y), not father(Z, Y)", 42, "`not`"),
        ("father(X, Y), Z != X", 31, "a comparison"),
        ("father(X, Y), X = Z, Z != W", 43, "a comparison"),
    ],
)
def test_e202_a_variable_that_nothing_binds(problems, body: str, column: int, word: str):
    found = problems(f"mother(X, Y) <- {body}.", FACTS)["E202"]
    assert place(found) == f"family.rules:1:{column}"
    assert word in found.message
    assert "unsafe" in found.message
    assert found.helps


def test_e202_two_variables_that_only_equal_each_other_are_both_unsafe(all_problems):
    found = all_problems("mother(X, Y) <- father(X, Y), V = W.", FACTS)
    assert [(p.code, place(p)) for p in found] == [("E202", "family.rules:1:31"), ("E202", "family.rules:1:35")]


def test_e202_variables_of_a_refuted_head_are_bound_and_others_are_not(problems):
    assert "E202" not in problems("mother(X, Y) <- father(X, Y). refute mother(X, Y) <- X != Y.", FACTS)
    found = problems("mother(X, Y) <- father(X, Y).\nrefute mother(X, Y) <- X != Z.", FACTS)["E202"]
    assert (place(found), "`Z`" in found.message) == ("family.rules:2:29", True)


@pytest.mark.parametrize(
    ("rule", "unsafe"),
    [
        ("X > Z <- father(X, Y), Z < 3.", [("E202", "f.rules:1:24")]),
        ("mother(X, Z) and X > 1 <- father(X, Y).", [("E201", "f.rules:1:11")]),
        ("false <- father(X, _), (age(X, V) or adult(X)).", [("E202", "f.rules:1:32")]),
        ("count(C : father(X, _), D > C) > 1 <- adult(X).", [("E202", "f.rules:1:7"), ("E202", "f.rules:1:25")]),
        ("refute mother(X, Y) <- X < Z.", [("E202", "f.rules:1:28")]),
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


def test_an_equation_chain_to_a_bound_variable_is_safe(problems):
    assert problems("mother(W, Y) <- father(X, Y), W = V, V = X.", FACTS) == {}


def test_e203_another_number_of_arguments_than_in_the_data(problems):
    found = problems("mother(X, Y) <- father(X, Y), adult(X, Y).", FACTS)["E203"]
    assert place(found) == "family.rules:1:31"
    assert found.message == "`adult` has 2 arguments here and 1 in the data"
    assert found.helps == ("write `adult` with 1 argument",)


def test_e203_two_rules_disagree_about_a_predicate_without_facts(problems):
    found = problems("cousin(X, Y) <- father(X, Y).\nmother(X, Y) <- father(X, Y), cousin(X).", FACTS)["E203"]
    assert place(found) == "family.rules:2:31"
    assert "family.rules:1:1" in found.message


def test_e203_a_predicate_is_reported_once_for_each_wrong_number(all_problems):
    rules = "mother(X, Y) <- father(X, Y), adult(X, Y).\nfather(X, Y) <- mother(X, Y), adult(X, Y), adult(X, Y, X)."
    found = [place(p) for p in all_problems(rules, FACTS) if p.code == "E203"]
    assert found == ["family.rules:1:31", "family.rules:2:44"]


@pytest.mark.parametrize("declaration", ["incompatible mother, adult.", "incompatible mother, father, adult."])
def test_e203_incompatible_predicates_of_two_arities(problems, declaration: str):
    found = problems(f"mother(X, Y) <- father(Y, X).\n{declaration}", FACTS)["E203"]
    assert place(found) == "family.rules:2:1"
    assert "`mother` has 2" in found.notes[0]
    assert "`adult` has 1" in found.notes[0]


def test_e204_two_rules_of_one_name(problems):
    found = problems("one: mother(X, Y) <- father(X, Y).\none: father(X, Y) <- mother(X, Y).", FACTS)["E204"]
    assert place(found) == "family.rules:2:1"
    assert "`one`" in found.message
    assert found.notes == ("the first is at family.rules:1:1",)


def test_e205_a_predicate_that_resembles_a_known_one(problems):
    found = problems("mother(X, Y) <- fahter(X, Y).", FACTS)["E205"]
    assert place(found) == "family.rules:1:17"
    assert found.label == "did you mean `father`?"
    assert found.helps == ("if the name is right, declare it: `predicate fahter/2.`",)


@pytest.mark.parametrize(
    ("declaration", "at"),
    [
        ("closed fahter.", "2:8"),
        ("incompatible mother, fahter.", "2:22"),
        ("incompatible\n  mother,\n  `fahter`.", "4:4"),
        ("functional fahter(X -> Y).", "2:12"),
        ("pca fahter(X -> Y).", "2:5"),
        ("pca fahter.", "2:5"),
    ],
)
def test_e205_a_declaration_may_misspell_too(problems, declaration: str, at: str):
    found = problems(f"mother(X, Y) <- father(X, Y).\n{declaration}", FACTS)["E205"]
    assert (place(found), found.place.length, found.label) == (f"family.rules:{at}", 6, "did you mean `father`?")


def test_e205_a_declared_predicate_is_no_typing_mistake(problems):
    assert set(problems("mother(X, Y) <- fahter(X, Y). predicate fahter/2.", FACTS)) == {"W203"}


def test_e205_a_predicate_of_some_predictions_or_negative_facts_is_known(problems):
    rules = "mother(X, Y) <- fahter(X, Y)."
    assert problems(rules, FACTS, predictions={"model": {"fahter": [("carl", "anna")]}}) == {}
    assert set(problems(rules, FACTS, negatives={"fahter": [("carl", "anna")]})) == {"W203"}


@pytest.mark.parametrize(("predicate", "code"), [("fahter", "E205"), ("cousin", "W203")])
def test_a_predicate_may_be_that_of_answers_that_are_not_kept(problems, predicate: str, code: str):
    answers = pa.table({"head": ["a", "a"], "relation": ["father", predicate], "tail": ["b", "c"], "rank": [1, 2]})
    found = problems(f"mother(X, Y) <- {predicate}(X, Y).", FACTS, predictions={"model": answers})[code]
    assert found.notes == ("`top_k` keeps 1 of 2 predictions of `model`, and no other is read",)


def test_similar_names_that_are_both_right_are_no_error(problems):
    facts = {"sister_in_law": [("anna", "bert")]}
    assert set(problems("brother_in_law(X, Y) <- sister_in_law(Y, X).", facts)) == {"W203"}


@pytest.mark.parametrize(
    ("atom", "column", "message"),
    [
        ('age(X, "30")', 38, '`"30"` is a string, but argument 2 of `age` is an integer'),
        ("age(X, true)", 38, "`true` is a boolean, but argument 2 of `age` is an integer"),
        ("adult(7)", 37, "`7` is an integer, but argument 1 of `adult` is a string"),
    ],
)
def test_e206_a_constant_of_another_type_than_its_position(problems, atom: str, column: int, message: str):
    found = problems(f"mother(X, Y) <- father(X, Y), {atom}.", FACTS)["E206"]
    assert (place(found), found.message) == (f"family.rules:1:{column}", message)


@pytest.mark.parametrize("comparison", ['A = "30"', '"30" != A'])
def test_e206_a_variable_is_compared_with_another_type_than_its_position_has(problems, comparison: str):
    found = problems(f"mother(X, Y) <- father(X, Y), age(X, A), {comparison}.", FACTS)["E206"]
    assert "argument 2 of `age` is an integer" in found.message


def test_e206_says_how_to_write_a_string(problems):
    (text,) = problems("mother(X, Y) <- father(X, Y), adult(7).", FACTS)["E206"].helps
    assert '"7"' in text


def test_e206_looks_at_predictions_too(problems):
    rules = "mother(X, Y) <- father(X, Y), size(X, 7)."
    assert "E206" in problems(rules, FACTS, predictions={"model": {"size": [("anna", "7")]}})
    assert problems(rules, FACTS, predictions={"model": {"size": [("anna", 7)]}}) == {}


def test_e206_a_float_of_an_integer_position_is_a_number(problems):
    assert problems("mother(X, Y) <- father(X, Y), age(X, 30.5).", FACTS).keys() == {"W217"}


def test_e206_a_position_of_two_types_accepts_both(problems):
    facts = {**FACTS, "age": [("anna", 30), ("bert", "unknown")]}
    assert problems('mother(X, Y) <- father(X, Y), age(X, 30), age(Y, "unknown").', facts) == {}


def test_e207_a_predicate_is_not_incompatible_with_itself():
    """A rule file is refused by the parser already; trees come from anywhere."""
    atom = Atom("p", (Variable("X"), Variable("Y")))
    trees = Program((IncompatiblePair(atom, atom), IncompatibleGroup(("p", "q", "p"))))
    pair, group = checks.structure(trees, [], Names({}, frozenset()))
    assert (pair.code, group.code) == ("E207", "E207")
    assert "the other way round" in pair.helps[0]
    assert group.helps == ("name each predicate once",)


def test_e208_a_wildcard_in_a_head(problems):
    found = problems("mother(X, _) <- father(X, Y).", FACTS)["E208"]
    assert (place(found), found.helps) == ("family.rules:1:11", ("name the variable and bind it in the body",))


def test_e209_a_weight_and_a_kind_for_rules_that_do_not_exist(all_problems):
    rules = "kinship: mother(X, Y) <- father(Y, X)."
    weight, kind = all_problems(rules, FACTS, weights={"kinshp": 2.0}, kinds={"zebra": "hard"})
    assert (weight.code, weight.helps) == ("E209", ("did you mean `kinship`?",))
    assert (kind.code, kind.helps) == ("E209", ())
    assert "a weight is given for `kinshp`" in weight.message
    assert "a kind is given for `zebra`" in kind.message


def test_w201_two_rules_that_say_the_same_whatever_their_variables_are_called(problems):
    found = problems("one: mother(X, Y) <- father(Y, X).\ntwo: mother(A, B) <- father(B, A).", FACTS)["W201"]
    assert (found.severity, place(found)) == (Severity.WARNING, "family.rules:2:1")
    assert found.message == "rule `two` says the same as rule `one`"
    assert found.notes == ("both count",)


@pytest.mark.parametrize(
    "other",
    [
        "mother(X, Y) <- father(X, Y)",
        "mother(Y, X) <- father(Y, X)",
        "mother(X, Y) <- father(Y, X), X != Y",
        "mother(X, Y) <- father(Y, X), not adult(X)",
        "false <- father(Y, X)",
    ],
)
def test_w201_is_not_said_of_rules_that_differ(problems, other: str):
    assert problems(f"mother(X, Y) <- father(Y, X).\n{other}.", FACTS) == {}


def test_w205_single_letters_in_lower_case_were_probably_meant_as_variables(problems):
    found = problems("mother(x, y) <- father(y, x).", FACTS)["W205"]
    assert (found.severity, place(found)) == (Severity.WARNING, "family.rules:1:1")
    assert "begin with a capital letter" in found.notes[0]
    assert "W205" not in problems("mother(alice, bob) <- father(bob, alice).", FACTS)


@pytest.mark.parametrize(
    ("declaration", "words"),
    [
        ("closed adult.", "no rule's head"),
        ("functional age(X -> Y).", "no rule's head"),
        ("incompatible father, age.", "no rule's head"),
        ("incompatible father(X, Y), age(Y, X).", "no rule's head"),
        ("refute father(X, Y) <- mother(X, Y).", "no rule's head"),
        ("predicate wife/2.", "no rule uses `wife`"),
    ],
)
def test_w202_a_declaration_that_concerns_no_rule(problems, declaration: str, words: str):
    found = problems(f"mother(X, Y) <- father(Y, X).\n{declaration}", FACTS)["W202"]
    assert (found.severity, found.place.line) == (Severity.WARNING, 2)
    assert words in found.message


def test_w202_says_how_a_declaration_becomes_a_rule(problems):
    declaration = "functional father(X -> Y)."
    found = problems(f"mother(X, Y) <- father(Y, X).\n{declaration}", FACTS)["W202"]
    assert f"`@check {declaration}`" in found.helps[0]
    assert "W202" not in problems(f"mother(X, Y) <- father(Y, X).\n@check {declaration}", FACTS)


@pytest.mark.parametrize(
    "declaration",
    [
        "closed mother.",
        "pca mother.",
        "pca *.",
        "closed *.",
        "extract incompatible.",
        "incompatible mother, age.",
        "predicate father/2.",
    ],
)
def test_w202_is_not_said_of_declarations_in_use(problems, declaration: str):
    assert "W202" not in problems(f"mother(X, Y) <- father(Y, X).\n{declaration}", FACTS)


def test_w203_a_predicate_without_facts(problems):
    found = problems("mother(X, Y) <- father(X, Y).\ncousin(X, Y) <- mother(X, Y).", FACTS)["W203"]
    assert (found.severity, place(found)) == (Severity.WARNING, "family.rules:2:1")
    assert "`cousin`" in found.message


def test_w203_is_said_once_for_a_predicate(problems):
    assert set(problems("cousin(X, Y) <- mother(X, Y), not cousin(Y, X).", FACTS)) == {"W203"}


@pytest.mark.parametrize(
    ("body", "declaration"),
    [
        ("father(X, Y)", "incompatible mother, father."),
        ("father(Y, X)", "incompatible mother(X, Y), father(Y, X)."),
        ("father(Z, X), father(X, Y)", "incompatible mother(X, Y), father(X, Y)."),
        ("mother(Y, X)", "incompatible mother(X, Y), mother(Y, X)."),
        ("father(X, Y), age(X, A), A > 3", "incompatible mother, father."),
    ],
)
def test_w204_a_head_that_its_own_body_refutes(problems, body: str, declaration: str):
    found = problems(f"one: mother(X, Y) <- {body}.\n{declaration}", FACTS)["W204"]
    assert (found.severity, place(found)) == (Severity.WARNING, "family.rules:1:1")
    assert found.message.startswith("rule `one` contradicts itself")
    assert found.notes == ("every grounding of it is refuted, whatever the data",)


@pytest.mark.parametrize(
    ("body", "declaration"),
    [
        ("father(Y, X)", "incompatible mother, father."),
        ("father(X, Y)", "incompatible mother(X, Y), father(Y, X)."),
        ("not father(X, Y), age(X, Y)", "incompatible mother, father."),
        ("mother(X, Y)", "incompatible mother(X, Y), mother(Y, X)."),
    ],
)
def test_w204_is_not_said_of_other_arguments(problems, body: str, declaration: str):
    assert "W204" not in problems(f"mother(X, Y) <- {body}.\n{declaration}", FACTS)


def test_w204_counts_extracted_pairs(problems):
    assert "W204" in problems("mother(X, Y) <- father(X, Y). extract incompatible.", FACTS)


def test_e251_is_one_error_that_lists_every_rule_and_why(problems):
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


def test_e251_negative_facts_of_no_head_are_no_obstacle(problems):
    rules = "mother(X, Y) <- father(X, Y)."
    assert problems(rules, FACTS, convention="appendix", negatives={"age": [("bert", 3)]}) == {}


@pytest.mark.parametrize("name", ["contains", "within", "abs", "count"])
def test_e210_what_is_built_in_cannot_be_registered(problems, name: str):
    found = problems("mother(X, Y) <- father(X, Y).", FACTS, functions={name: bool})["E210"]
    assert found.message == f"`{name}` is built in and cannot be registered"


def test_e205_a_registered_predicate_may_be_what_was_meant(problems):
    found = problems("plausibel(X) <- adult(X).", FACTS, functions={"plausible": bool})["E205"]
    assert (place(found), found.label) == ("family.rules:1:1", "did you mean `plausible`?")


def test_w207_an_aggregate_over_variables_of_the_body_has_one_grounding_at_most(problems):
    found = problems("count(Y : father(X, Y)) <= 2 <- adult(X), father(X, Y).", FACTS)["W207"]
    assert (found.severity, place(found)) == (Severity.WARNING, "family.rules:1:1")
    assert found.helps == ("give the variable that it is to range over another name",)


@pytest.mark.parametrize("value", ["count(Z : father(X, Z))", "count(1 : father(X, _))", "count(X : father(X, Z))"])
def test_w207_is_not_said_of_an_aggregate_with_a_variable_of_its_own(problems, value: str):
    assert problems(f"{value} <= 2 <- adult(X), father(X, Y).", FACTS) == {}


def test_w208_the_data_go_before_a_registered_predicate_that_a_rule_names(problems):
    found = problems("mother(X, Y) <- father(X, Y).", FACTS, functions={"father": bool, "adult": bool})["W208"]
    assert found.severity is Severity.WARNING
    assert "`father` is never asked" in found.message


def test_rules_of_every_form_have_the_role_of_refuters(problems):
    rules = "old: N > 3 <- age(_, N).\nboth: mother(X, Y) or father(Y, X) <- father(X, Y)."
    assert not [code for code in problems(rules, FACTS, roles=["body", "head", "refuter"]) if code.startswith("E")]


def test_all_problems_of_a_file_come_at_once_errors_first(all_problems):
    rules = """\
one: mother(X, Z) <- father(X, Y).
one: mother(X, Y) <- fahter(X, Y), not father(W, Y).
two: mother(X, _) <- age(X, "30"), adult(X, Y).
cousin(X, Y) <- mother(X, Y).
closed adult.
"""
    found = all_problems(rules, FACTS)
    assert [p.code for p in found] == ["E201", "E202", "E208", "E204", "E203", "E205", "E206", "W203", "W202"]


def test_problems_of_rules_come_together_with_those_of_the_data(all_problems):
    facts = {**FACTS, "mother": [("anna", "bert"), ("anna",)]}
    found = all_problems("mother(X, Z) <- father(X, Y).", facts)
    assert [p.code for p in found] == ["E201", "E324"]


def test_problems_of_two_rule_files_name_their_file(tmp_path):
    for name, body in (("first.rules", "father"), ("second.rules", "age")):
        (tmp_path / name).write_text(f"mother(X, Z) <- {body}(X, Y).\n", encoding="utf-8")
    setting = make_setting(FACTS, None, [tmp_path / "first.rules", tmp_path / "second.rules"])
    with pytest.raises(InputError) as raised:
        Session(setting)
    assert [place(p).rpartition("/")[2] for p in raised.value.problems] == ["first.rules:1:11", "second.rules:1:11"]


def test_every_code_has_a_test():
    tested = {word.upper() for name in globals() for word in name.split("_") if name.startswith("test_")}
    assert tested >= {"E251", *(code for code in CODES if "E201" <= code <= "E210" or "W201" <= code <= "W208")} - {"W206"}
