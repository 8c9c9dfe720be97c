"""A session: what it explains, prints and lists agrees with what it counts."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, note
from sqlglot import exp, parse_one

import engine_side
from generate import formulas as formula_strategies
from generate import plain as strategies
from generate.drawing import Generated
from generate.few import FEW
from oracle.writing import write_fact
from rulescore.arguments.python import make_setting
from rulescore.counting.horn import dataset_statement, prediction_statements, statements_with_predictions
from rulescore.errors import InputError
from rulescore.language.parser import parse_atom
from rulescore.language.printer import print_condition
from rulescore.language.syntax import Atom, Falsity
from rulescore.scoring.violation import CountedBy, Pattern, Violation
from rulescore.session.session import Session
from rulescore.sql.horn.triangles import is_triangle

pytestmark = pytest.mark.slow

Counts = tuple[int, int, int]


def opened(generated: Generated, *, horn: bool = True) -> Session:
    note(generated.text)
    setting = generated.setting
    predictions = {model: engine_side.tables(facts) for model, facts in setting.predictions.items()}
    options = engine_side.options(setting)
    text = f"{generated.text}\n{engine_side.declarations(setting, generated.text)}"
    return Session(make_setting(engine_side.tables(setting.observed), predictions, text, **options), horn=horn)


def parsed(text: str) -> exp.Expr | None:
    """A printed statement; None for a remark that there is none."""
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    return parse_one("\n".join(lines), dialect="duckdb") if lines else None


def counted(session: Session, statements: Iterable[exp.Expr], *keys: str) -> dict[tuple[int, ...], Counts]:
    """The counts of several statements together, by these keys; without those that are all 0."""
    found: Tally[tuple[tuple[int, ...], str]] = Tally()
    for statement in statements:
        for row in session.engine.query(statement).to_pylist():
            for which in ("confirmed", "refuted", "evaluable"):
                found[tuple(row[key] for key in keys), which] += row[which]
    rows = {key: (found[key, "confirmed"], found[key, "refuted"], found[key, "evaluable"]) for key, _ in found}
    return {key: counts for key, counts in rows.items() if any(counts)}


def dataset_counts(session: Session) -> dict[str, Counts]:
    return {
        rule.info.name: (rule.dataset.confirmed, rule.dataset.refuted, rule.dataset.evaluable)
        for rule in session.audit().rule_results
    }


# The statement of one rule

EVERY_KIND = """
single: p(X, Y) <- q(X, Y).
turned: p(X, Y) <- q(Y, X).
wedge: p(X, Y) <- q(X, Z), s(Z, Y).
chain: s(X, W) <- p(X, Y), q(Y, Z), s(Z, W).
looped: p(X, X) <- q(X, X).
denial: false <- p(X, Y), q(Y, X).
constants: p(X, "a") <- q("b", X).
ground: p("a", "b") <- q("a", "b").
negated: p(X, Y) <- q(X, Y), not s(Y, _).
compared: p(X, Y) <- q(X, Z), s(Z, Y), X != Y, Z = "b".
existential: t(X) <- q(X, _).
wide: w(X, Y, Z) <- w(Y, Z, X), t(X).
closed_head: c(X, Y) <- q(X, Y).
functional_head: f(X, Y) <- q(X, Y).
auxiliary_head: a(X, Y) <- q(X, Y).
known_false: n(X, Y) <- q(X, Y).
without_facts: p(X, Y) <- nobody(X, Y).
without_head: nobody(X, Y) <- p(X, Y).
incompatible p, s. incompatible p(X, Y), q(Y, X). incompatible w(X, Y, Z), w(Z, Y, X).
closed c. functional f(X -> Y). refute a(X, Y) <- s(Y, Z), not t(Z), X != Z. refute a("a", Y) <- t(Y).
"""


def every_kind(engine: str = "duckdb", predicted: float = 0.0) -> Session:
    random = Random(7)
    names = "abcde"

    def some(arity: int, share: float) -> list[tuple[str, ...]]:
        return [one for one in product(names, repeat=arity) if random.random() < share]

    binary = {predicate: some(2, 0.4) for predicate in ("p", "q", "s", "c", "f", "a", "n")}
    observed = {**binary, "t": some(1, 0.5), "w": some(3, 0.4)}
    negatives = {"n": some(2, 0.4)}
    predictions = {"model": {one: some(2, predicted) for one in ("p", "q", "s", "c")}} if predicted else None
    return Session(make_setting(observed, predictions, EVERY_KIND, negatives=negatives, threads=1, engine=engine))


def test_the_statement_of_every_kind_of_rule_gives_its_counts():
    with every_kind() as session:
        audited = dataset_counts(session)
        vacuous = {name for name, counts in audited.items() if not any(counts)}
        assert vacuous == {"without_facts", "without_head"}
        for name, counts in audited.items():
            statement = parsed(session.statement(name))
            assert statement is not None
            found = counted(session, [statement], "rule")
            assert found == ({(0,): counts} if any(counts) else {}), name


@FEW
@given(strategies.settings() | strategies.settings(appendix=True))
def test_the_statement_of_a_rule_gives_its_counts(generated: Generated):
    with opened(generated) as session:
        for name, counts in dataset_counts(session).items():
            statement = parsed(session.statement(name))
            found = counted(session, [statement], "rule") if statement is not None else {}
            assert found == ({(0,): counts} if any(counts) else {}), name


def test_a_statement_names_predicates_and_leaves_no_table_behind():
    with every_kind() as session:
        tables = parse_one("SELECT table_name AS name FROM duckdb_tables() ORDER BY 1", dialect="duckdb")
        engine = session.counted.counter.engine
        before = engine.query(tables)["name"].to_pylist()
        text = session.statement("wedge")
        assert "/* q */" in text
        assert "/* s, reversed */" in text
        assert engine.query(tables)["name"].to_pylist() == before


def test_a_rule_that_no_table_has_facts_for_says_so():
    with Session(make_setting({"p": [("a",)]}, None, "one: q(X, Y) <- r(X, Y).")) as session:
        assert session.statement("one").startswith("-- no facts")


# What is explained


@FEW
@given(strategies.settings(models=1, most_rules=3) | strategies.settings(appendix=True, models=1, most_rules=3))
def test_every_explained_statement_runs_and_together_they_give_the_counts(generated: Generated):
    with opened(generated) as session:
        explained = session.explain()
        assert sum(shape.rules for shape in explained) == len(session.rules)
        assert all(shape.estimated_groundings is not None and shape.estimated_groundings >= 0 for shape in explained)
        texts = [text for shape in explained for text in shape.statements]
        over_data = [text for text in texts if text.startswith("-- over the data\n")]
        on_data = counted(session, map(parse_duckdb, over_data), "rule")
        audited = list(dataset_counts(session).values())
        assert on_data == {(number,): counts for number, counts in enumerate(audited) if any(counts)}
        on_predictions = counted(session, map(parse_duckdb, (text for text in texts if text not in over_data)), "rule")
        totals = [rule.models["model0"].counts for rule in session.evaluate().rule_results]
        expected = {(i,): (one.confirmed, one.refuted, one.evaluable) for i, one in enumerate(totals) if one.evaluable}
        assert on_predictions == expected


def parse_duckdb(text: str) -> exp.Expr:
    statement = parsed(text)
    assert statement is not None
    return statement


def test_an_explanation_counts_nothing():
    with every_kind() as session:
        session.explain()
        tables = session.engine.query(parse_one("SELECT table_name AS name FROM duckdb_tables()", dialect="duckdb"))
        assert not [name for name in tables["name"].to_pylist() if "contribution" in name]


def test_estimates_are_exact_for_single_atoms():
    facts = {"q": [("a", "b"), ("b", "c"), ("c", "c")], "r": [("a", "a")]}
    with Session(make_setting(facts, None, "p(X, Y) <- q(Y, X). p(X, Y) <- r(X, Y). p(X, Y) <- nobody(X, Y).")) as session:
        (shape,) = session.explain()
        assert (shape.title, shape.rules, shape.estimated_groundings) == ("h(X, Y) <- p1(X, Y)", 3, 4)


# What is listed


@FEW
@given(strategies.settings(most_rules=3) | strategies.settings(appendix=True, most_rules=3))
def test_totals_of_listed_violations_are_the_refuted_counts(generated: Generated):
    with opened(generated) as session:
        for rule in session.evaluate().rule_results:
            for model, counts in [(None, rule.dataset), *((name, found.counts) for name, found in rule.models.items())]:
                listed = session.violations(rule=rule.info.name, model=model, prediction=None, limit=10_000)
                assert (listed.total, len(listed.rows)) == (counts.refuted, counts.refuted), (rule.info.name, model)


@pytest.mark.parametrize("horn", [True, False])
@FEW
@given(strategies.settings(most_rules=3) | strategies.settings(appendix=True, most_rules=3))
def test_listed_confirmations_are_the_confirmed_counts_of_rules_that_are_met(horn: bool, generated: Generated):
    assume(horn or engine_side.counts_as_formulas(generated.setting))
    with opened(generated, horn=horn) as session:
        for fact in {one for facts in generated.setting.predictions.values() for one in facts}:
            found = session.explained(parse_atom(write_fact(fact)))
            met = {rule: confirmed for rule, (confirmed, refuted, _) in found.counts.items() if confirmed and not refuted}
            assert Tally(row.rule for row in found.confirmations.rows) == met
            assert all(row.confirmed and not row.refuters for row in found.confirmations.rows)
            if engine_side.counts_as_formulas(generated.setting):  # by the appendix, once for each place that the prediction fills
                assert len({(row.rule, str(row.binding)) for row in found.confirmations.rows}) == sum(met.values())


TRIANGLES = {"p": [], "q": [(str(i), str(i + 1)) for i in range(50)], "s": [(str(i), str(i + 1)) for i in range(50)]}
TWO_RULES = "one: p(X, Y) <- q(X, Y). two: p(X, Y) <- q(X, Z), q(Z, Y). incompatible p, s. closed p."


@pytest.mark.parametrize("limit", [0, 1, 49, 50, 51, 99, 100])
def test_the_limit_holds_over_all_rules_and_the_total_does_not_depend_on_it(limit: int):
    with Session(make_setting(TRIANGLES, None, TWO_RULES)) as session:
        found = session.violations(rule=None, model=None, prediction=None, limit=limit)
        assert (found.total, len(found.rows)) == (99, min(limit, 99))


def test_listed_violations_of_one_prediction_are_its_own():
    predictions = {"model": {"q": [("a", "b"), ("c", "d")]}}
    with Session(make_setting({"p": [("x", "x")]}, predictions, "one: p(X, Y) <- q(X, Y). closed p.")) as session:
        found = session.violations(rule=None, model="model", prediction=parse_atom("q(c, d)"), limit=10)
        assert [(str(row.prediction), row.binding) for row in found.rows] == [("q(c, d)", {"X": "c", "Y": "d"})]
        for text in ("q(a, c)", "q(a)", "nobody(a, b)", "q(a, elsewhere)", "p(x, x)"):
            with pytest.raises(InputError, match="E262"):
                session.violations(rule=None, model="model", prediction=parse_atom(text), limit=10)


def test_an_integer_column_beside_strings_is_said_aloud():
    """Nothing would be equal, and scores would be about nothing."""
    rules = "one: p(X, Y) <- q(X, Y). closed p."
    with Session(make_setting({"p": [(1, 2)], "q": [(1, 2)]}, {"model": {"q": [("1", "3")]}}, rules)) as session:
        assert [problem.code for problem in session.warnings] == ["W323", "W323"]
    with Session(make_setting({"p": [(1, 2)], "q": [(1, 2)]}, {"model": {"q": [(1.0, 3)]}}, rules)) as session:
        assert session.warnings == ()


def test_rule_files_without_rules_are_an_error():
    with pytest.raises(InputError, match=r"E404.*no rules") as raised:
        Session(make_setting({"p": [("a", "b")]}, None, "extract incompatible."))
    assert "rulescore discover" in " ".join(raised.value.problems[0].helps)


@pytest.mark.parametrize(
    ("asked", "message", "helps"),
    [
        ({"rule": "kinshp", "model": None}, "there is no rule `kinshp`", "did you mean `kinship`?"),
        ({"rule": "zebra", "model": None}, "there is no rule `zebra`", "there are `kinship`, `other`"),
        ({"rule": None, "model": "modle"}, "there is no model `modle`", "did you mean `model`?"),
        ({"rule": None, "model": "zebra"}, "there is no model `zebra`", "there are `model`"),
    ],
)
def test_e261_an_unknown_rule_or_model_is_told_with_a_suggestion(asked: dict[str, str | None], message: str, helps: str):
    rules = "kinship: p(X, Y) <- q(X, Y). other: false <- q(X, X)."
    with Session(make_setting({"p": [("a", "b")]}, {"model": {"q": [("a", "b")]}}, rules)) as session:
        with pytest.raises(InputError) as raised:
            session.violations(**asked, prediction=None, limit=1)
        (problem,) = raised.value.problems
        assert (problem.code, problem.message, problem.helps) == ("E261", message, (helps,))


def test_e261_is_the_answer_to_a_statement_of_an_unknown_rule_too():
    with (
        Session(make_setting({"p": [("a", "b")]}, None, "kinship: false <- p(X, X).")) as session,
        pytest.raises(InputError, match="did you mean `kinship`"),
    ):
        session.statement("kinshp")


@pytest.mark.parametrize(("model", "atom"), [(None, "q(a, b)"), ("model", "q(a, X)"), ("model", "q(a, _)")])
def test_e262_a_prediction_is_a_fact_of_a_model(model: str | None, atom: str):
    with Session(make_setting({"p": [("a", "b")]}, {"model": {"q": [("a", "b")]}}, "p(X, Y) <- q(X, Y).")) as session:
        with pytest.raises(InputError) as raised:
            session.violations(rule=None, model=model, prediction=parse_atom(atom), limit=1)
        (problem,) = raised.value.problems
        assert (problem.code, f"`{atom}`" in problem.message) == ("E262", True)


# Extracted pairs


def test_w322_extracted_pairs_are_told_by_an_audit_and_not_by_a_score():
    facts = {"p": [("a", "b")], "q": [("a", "b"), ("c", "d")], "r": [("c", "d")], "t": [("a",)], "u": [("b",)]}
    rules = "p(X, Y) <- q(X, Y). p(X, Y) <- late(X, Y). extract incompatible."
    with Session(make_setting(facts, {"model": {"late": [("a", "b")]}}, rules)) as session:
        assert session.warnings == ()
        (warning,) = session.told_pairs
        assert (warning.code, warning.notes) == ("W322", ("`p` and `r`, `t` and `u`",))
        assert warning.message.startswith("2 pairs")
        assert [one.code for one in session.audit().warnings] == ["W322"]
        assert session.evaluate().warnings == ()
        assert session.refutations.groups == (("p", "r"), ("t", "u"))


def test_w322_shows_five_pairs_and_the_number_of_the_others():
    facts = {f"p{i}": [(str(i), str(i))] for i in range(6)}
    with Session(make_setting(facts, None, "p0(X, Y) <- p1(Y, X). extract incompatible.")) as session:
        (warning,) = session.told_pairs
        assert warning.message.startswith("15 pairs")
        assert warning.notes[0].count(" and ") == 6
        assert warning.notes[0].endswith(", and 10 more")


def test_incompatibilities_count_every_pair_of_one_arity():
    facts = {"p": [("a", "b"), ("b", "c")], "q": [("a", "b")], "r": [("b", "a")], "t": [("a",)]}
    with Session(make_setting(facts, None, "p(X, Y) <- q(X, Y).")) as session:
        found = [(one.left, one.right, one.together, one.left_facts, one.right_facts) for one in session.incompatibilities()]
    assert found == [("p", "q", 1, 2, 1), ("p", "r", 0, 2, 1), ("q", "r", 0, 1, 1)]


def test_what_could_carry_a_fact_is_counted_by_arity():
    facts = {
        "p": [("a", "b"), ("b", "c")],
        "q": [("a", "b"), ("c", "b"), ("d", "d")],  # with p: ab, ba, bc, cb, dd
        "s": [("a", "b", "c")],
        "t": [("a", "b", "c"), ("c", "b", "a")],
        "u": [("a",)],
        "v": [("e",), ("f",)],  # constants a to f
    }
    predictions = {"model": {"p": [("x", "y")], "u": [("z",)]}}
    with Session(make_setting(facts, predictions, "p(X, Y) <- q(X, Y). s(X, Y, Z) <- t(Z, Y, X).")) as session:
        found = {(one.left, one.right): one.tuples for one in session.incompatibilities()}
    assert found == {("p", "q"): 5, ("s", "t"): 2, ("u", "v"): 6}


# Order of asking


def test_a_session_answers_in_any_order_and_more_than_once():
    with every_kind() as session:
        listed = session.violations(rule="wedge", model=None, prediction=None, limit=5)
        first = dataset_counts(session)
        statement = session.statement("wedge")
        session.explain()
        assert dataset_counts(session) == first
        assert session.statement("wedge") == statement
        again = session.violations(rule="wedge", model=None, prediction=None, limit=5)
        assert (again.total, len(again.rows)) == (listed.total, len(listed.rows))


def test_an_evaluation_can_be_repeated():
    with Session(make_setting({"p": [("a", "b")]}, {"model": {"q": [("a", "b")]}}, "p(X, Y) <- q(X, Y). closed p.")) as session:
        assert session.evaluate().rule_results == session.evaluate().rule_results


# Two plans for one shape

GRAPHS = 60
DECLARATIONS = {
    "group": "incompatible p, s.",
    "reversed": "incompatible p(X, Y), q(Y, X). incompatible q(X, Y), s(X, Y).",
    "asymmetry": "incompatible p(X, Y), p(Y, X). incompatible q, s.",
    "both ways": "incompatible p, s. incompatible p(X, Y), s(Y, X). incompatible q(X, Y), q(Y, X).",
}


def wedge_rules() -> str:
    """Every rule of two binary atoms between its head's arguments, over three predicates and both directions."""
    firsts = [f"{name}({ends})" for name in "pqs" for ends in ("X, Z", "Z, X")]
    seconds = [f"{name}({ends})" for name in "pqs" for ends in ("Z, Y", "Y, Z")]
    return "\n".join(f"{head}(X, Y) <- {one}, {two}." for head in "pq" for one in firsts for two in seconds)


def random_graphs(seed: str) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Facts and predictions of many small graphs that share no constant, loops and repetitions among them."""
    random = Random(seed)
    observed: dict[str, list[Any]] = {name: [] for name in "pqs"}
    predicted: dict[str, list[Any]] = {name: [] for name in "pqs"}
    for graph in range(GRAPHS):
        constants = [f"{graph}.{corner}" for corner in range(random.choice((2, 3, 4)))]
        share = random.choice((0.1, 0.3, 0.5))
        for name in "pqs":
            for pair in product(constants, repeat=2):
                if random.random() < share:
                    observed[name].append(pair)
                if random.random() < 0.2:
                    predicted[name].append(pair)
    return observed, predicted


@pytest.mark.parametrize("declared", list(DECLARATIONS))
@pytest.mark.parametrize("distinct_variables", [False, True])
@pytest.mark.parametrize("convention", ["definition", "appendix"])
def test_triangles_and_plain_joins_agree_on_many_graphs(convention: str, distinct_variables: bool, declared: str):
    """Per rule over the data, and per rule and prediction, of which each belongs to one graph."""
    observed, predicted = random_graphs(f"{convention} {distinct_variables} {declared}")
    rules = f"{wedge_rules()}\n{DECLARATIONS[declared]}"
    options: dict[str, Any] = {"convention": convention, "distinct_variables": distinct_variables, "threads": 1}
    with Session(make_setting(observed, {"model": predicted}, rules, **options)) as session:
        counter = session.counted.counter
        (group,) = counter.plan.groups
        assert is_triangle(group)
        data = [dataset_statement(0, group, counter.context, one_rule=plain) for plain in (False, True)]
        assert None not in data
        by_triangles, by_joins = (counted(session, [one], "rule") for one in data if one is not None)
        assert by_triangles == by_joins != {}
        by_halves = statements_with_predictions(counter, 0)
        by_paths = prediction_statements(0, group, counter.context, counter.roles)
        one, other = (
            counted(session, (statement for _, statement in titled), "rule", "prediction") for titled in (by_halves, by_paths)
        )
        assert one == other != {}


# What violations are counted by


def patterns_of(session: Session, row: Violation) -> list[str]:
    """What should hold with each of what refutes it. The rules that are generated have atoms or `false` for heads."""
    head = dict(zip((rule.name for rule in session.rules), (rule.head for rule in session.program.rules), strict=True))[row.rule]
    if isinstance(head, Falsity):
        return [str(Pattern("", row.rule))]
    should = head.predicate if isinstance(head, Atom) else print_condition(head)
    return [str(Pattern(should, label)) for label in row.labels]


def constant(value: object) -> tuple[bool, object]:
    """A key for a constant: an integer and a float of one value are one, 1 and true are two."""
    return isinstance(value, bool), value


def by_rows(session: Session, by: CountedBy, model: str | None) -> Tally[tuple[tuple[bool, object], str | None]]:
    """Counted violation by violation."""
    counts: Tally[tuple[tuple[bool, object], str | None]] = Tally()
    for row in session.violations(model=model, limit=None).rows:
        of_row: dict[CountedBy, Iterable[object]] = {CountedBy.ENTITY: row.binding.values(), CountedBy.REFUTER: row.labels}
        parts = patterns_of(session, row) if by is CountedBy.PATTERN else of_row[by]
        counts.update((key, row.model) for key in {constant(part) for part in parts})
    return counts


def require_the_counts_of_rows(session: Session) -> None:
    for by, model in [
        (CountedBy.ENTITY, None),
        *((by, one) for by in (CountedBy.REFUTER, CountedBy.PATTERN) for one in (None, *session.predictions)),
    ]:
        counted = {(constant(row.what), row.model): row.violations for row in session.violation_counts(by, model=model)}
        assert counted == by_rows(session, by, model), (by, model)
        for rule in session.rules[:1]:
            alone = session.violation_counts(by, model=model, rule=rule.name)
            assert sum(one.violations for one in alone) <= sum(counted.values())


@FEW
@given(strategies.settings(most_rules=4) | strategies.settings(appendix=True, most_rules=4))
def test_violations_are_counted_as_they_are_listed(generated: Generated):
    with opened(generated) as session:
        require_the_counts_of_rows(session)


@FEW
@given(strategies.settings(most_rules=3))
def test_violations_of_horn_rules_as_formulas_are_counted_as_they_are_listed(generated: Generated):
    with opened(generated, horn=False) as session:
        require_the_counts_of_rows(session)


@FEW
@given(formula_strategies.settings(most_rules=3))
def test_violations_of_formulas_are_counted_as_they_are_listed(generated: Generated):
    note(generated.text)
    with engine_side.session(generated.setting, generated.text) as session:
        require_the_counts_of_rows(session)


def test_violations_of_every_kind_of_rule_are_counted_as_they_are_listed(engine: str):
    with every_kind(engine, predicted=0.3) as session:
        require_the_counts_of_rows(session)
