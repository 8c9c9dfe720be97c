"""What is written is read again as the same rules."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulescore.errors import InputError, Source
from rulescore.language.parser import parse, parse_rule
from rulescore.language.rule_formats import UnfitError, converted, recognise, rule_format, written
from rulescore.language.syntax import And, Atom, Constant, Falsity, Or, Program, Rule, Variable
from rulescore.language.words import OWN_FORMAT

PREDICATES = st.sampled_from(
    ["aunt", "/a/b./c-d", "http://x.org/p#q", "born in", "r(s)", "inv_r", "a, b", "p v q", "!p", "x_v", "ü"]
)
ENTITIES = st.sampled_from(["ann", "921", "Paris, France", "Lee (actor)", "/m/0", "me", "A b", "Q1", "it's", 'a"b'])
VARIABLES = st.sampled_from(["X", "Y", "Z", "Long"]).map(Variable)
ATOMS = st.builds(lambda p, a, b: Atom(p, (a, b)), PREDICATES, VARIABLES | ENTITIES.map(Constant), VARIABLES)
HEADS = ATOMS | st.just(Falsity()) | st.tuples(ATOMS, ATOMS).map(Or)
RULES = st.builds(
    lambda head, body, confidence, support: Rule(head, And(tuple(body)), confidence=confidence, support=support),
    HEADS,
    st.lists(ATOMS, min_size=1, max_size=3),
    st.sampled_from([0.0, 0.25, 1 / 3, 1.0]),
    st.integers(0, 1000),
)


def variants(rule: Rule) -> str:
    """The rule up to the names of its variables."""
    names: dict[str, int] = {}
    heads = rule.head.conditions if isinstance(rule.head, Or) else () if isinstance(rule.head, Falsity) else (rule.head,)
    said = []
    for atom in (*heads, *rule.body.conditions):
        assert isinstance(atom, Atom)
        terms = [names.setdefault(one.name, len(names)) if isinstance(one, Variable) else one for one in atom.terms]
        said.append((atom.predicate, terms))
    return repr((len(heads), said))


@pytest.mark.parametrize("form", ["anyburl", "mln", "uniker"])
@given(rule=RULES)
def test_a_rule_comes_back_or_is_refused(form: str, rule: Rule) -> None:
    name = rule_format(form)
    try:
        line = written(rule, name)
    except UnfitError:
        return
    found = name.read(Source("f", line), ())
    (again,) = found.rules
    assert variants(again) == variants(rule)
    if form == "anyburl":
        assert (again.confidence, again.support) == (rule.confidence, rule.support)


@given(st.lists(RULES, max_size=4))
def test_our_own_language_takes_everything(rules: list[Rule]) -> None:
    text, told = converted(Program(tuple(rules)), OWN_FORMAT)
    assert parse(Source("f", text)).rules == tuple(rules)
    assert told == ()
    assert recognise(text) is None


@pytest.mark.parametrize(
    ("form", "rule", "line"),
    [
        ("anyburl", "p(U, V) <- q(U, W), r(W, V)", "8\t4\t0.5\tp(X,Y) <= q(X,A), r(A,Y)"),
        ("anyburl", 'p(U, "921") <- q(U, U)', "8\t4\t0.5\tp(X,921) <= q(X,me_myself_i)"),
        ("mln", "p(U, V) or s(U) <- q(U, V)", "1.0 !q(V1, V2) v p(V1, V2) v s(V1)"),
        ("mln", "false <- q(U, V), p(V)", "1.0 !q(V1, V2) v !p(V2)"),
        ("uniker", "p(U, V) <- q(U, W), r(V, W)", "1.0\tp\tq\tr_v"),
    ],
)
def test_lines(form: str, rule: str, line: str) -> None:
    assert written(replace(parse_rule(rule), confidence=0.5, support=4), rule_format(form)) == line


@pytest.mark.parametrize(
    ("form", "rule", "reason"),
    [
        ("anyburl", "p(X) <- q(X, Y)", "only two"),
        ("anyburl", "p(X, Y) <- q(X, Y), not r(X, Y)", "atoms alone"),
        ("anyburl", "p(X, 921) <- q(X, Y)", "not a text"),
        ("anyburl", 'p(X, "a") <- q(X, "B")', "read as something else"),
        ("mln", "p(X, Y) <- q(X, Y), X != Y", "atoms alone"),
        ("mln", "p(X, Y) <- `q v(r) v s`(X, Y)", "read as something else"),
        ("uniker", "p(X, Y) <- q(Y, X), r(X, Y)", "not a chain"),
        ("uniker", "p(X, Y) <- q(X, Z)", "not a chain"),
        ("uniker", "p(X, X) <- q(X, X)", "two different variables"),
        ("uniker", "p_v(X, Y) <- q(X, Y)", "read as something else"),
    ],
)
def test_refusals_say_why(form: str, rule: str, reason: str) -> None:
    with pytest.raises(UnfitError, match=reason):
        written(replace(parse_rule(rule), confidence=0.5, support=4), rule_format(form))


def test_all_rules_that_do_not_fit_are_told_with_their_places() -> None:
    program = parse(Source("f.rules", "a: p(X, Y) <- q(X, Y).\nb: p(X) <- q(X, X).\nc: p(X, 1) <- q(X, Y).\n"))
    with pytest.raises(InputError) as raised:
        converted(program, "uniker")
    assert [str(one.place) for one in raised.value.problems] == ["f.rules:2:1", "f.rules:3:1"]


def test_what_cannot_be_said_is_told() -> None:
    program = parse(Source("f.rules", "@hard a: p(X, Y) <- q(X, Y). closed p."))
    text, (told,) = converted(program, "mln")
    assert text == "1.0 !q(V1, V2) v p(V1, V2)\n"
    assert told.message == "MLN rules cannot say these: names (1), kinds (1), declarations (1)"


def test_weights_of_other_tools_are_written_again() -> None:
    (rule,) = rule_format("mln").read(Source("f", "2.5 !q(x) v p(x)"), ()).rules
    assert written(rule, rule_format("mln")) == "2.5 !q(V1) v p(V1)"
