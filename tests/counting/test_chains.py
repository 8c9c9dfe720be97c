"""Bodies that are chains of two atoms or more are walked from their cheaper end, in pieces: the counts are those of the rules
counted one by one as formulas are."""

from __future__ import annotations

from itertools import pairwise, product
from random import Random

import pytest
from hypothesis import settings
from sqlglot import exp, parse_one

from generate import plain as strategies
from rulescore.arguments.python import make_setting
from rulescore.counting import chains, horn
from rulescore.logic.normal import Bound
from rulescore.logic.plan import Shape, ShapeAtom
from rulescore.session.session import Session
from rulescore.setting.model import Setting
from rulescore.sql.horn.chains import is_chain, way_through
from rulescore.sql.horn.triangles import EDGE, is_triangle
from rulescore.sql.query import row, select
from rulescore.sql.words import count_rows
from together import batches, gathered, require_the_oracle_s_numbers

pytestmark = pytest.mark.slow

Counts = list[tuple[int, int, int]]

DECLARED = "extract incompatible. incompatible p(X, Y), q(Y, X).\n"
LETTERS = "XABCD"


def chain(random: Random, length: int) -> str:
    """A rule whose body goes from X to Y over as many atoms, each in some direction, in some order."""
    variables = [*LETTERS[:length], "Y"]
    atoms = []
    for left, right in pairwise(variables):
        pair = [left, right] if random.random() < 0.5 else [right, left]
        atoms.append(f"{random.choice('pqrs')}({', '.join(pair)})")
    random.shuffle(atoms)
    return f"{random.choice('pqrs')}({random.choice(('X, Y', 'Y, X'))}) <- {', '.join(atoms)}."


def rules(random: Random) -> str:
    return DECLARED + "\n".join(chain(random, random.choice((2, 2, 3, 3, 3, 4, 5))) for _ in range(12))


def facts(random: Random, number: int = 14) -> dict[str, list[tuple[str, str]]]:
    """Few constants, one of which has many neighbours."""
    names = ["hub", "hub", *"abcdefg"]
    return {one: [(random.choice(names), random.choice(names)) for _ in range(number)] for one in "pqrs"}


def predicted(random: Random, observed: dict[str, list[tuple[str, str]]]) -> dict[str, list[tuple[str, str]]]:
    """New facts, loops among them, and a few observed ones."""
    names = ["hub", *"abcdefg"]
    new = {one: [(random.choice(names), random.choice(names)) for _ in range(6)] for one in "pqrs"}
    return {one: [*rows, ("a", "a"), *random.sample(observed[one], 2)] for one, rows in new.items()}


def contributions(session: Session) -> dict[tuple[str, ...], tuple[int, int, int]]:
    rows = session.evaluate(contributions=True).contributions.to_pylist()
    return {
        (row["rule"], row["predicate"], *row["arguments"]): (row["confirmed"], row["refuted"], row["evaluable"]) for row in rows
    }


def counts(session: Session) -> Counts:
    found = [rule.dataset for rule in session.audit().rule_results]
    return [(one.confirmed, one.refuted, one.evaluable) for one in found]


@pytest.mark.parametrize("most_paths", [50, 10_000_000])
@pytest.mark.parametrize("distinct", [False, True])
def test_the_counts_are_those_of_formulas(most_paths: int, distinct: bool, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "MOST_PATHS", most_paths)
    seen = 0
    for seed in range(3 if engine == "duckdb" else 1):
        random = Random(seed)
        setting = make_setting(facts(random), None, rules(random), distinct_variables=distinct, engine=engine)
        with Session(setting) as session, Session(setting, horn=False) as other:
            assert any(is_chain(group) for group in session.counted.counter.plan.groups)
            assert not other.counted.counter.plan.groups
            found = counts(session)
            assert found == counts(other)
        seen += sum(refuted > 0 and confirmed > 0 for confirmed, refuted, _ in found)
    assert seen


@pytest.mark.parametrize(
    ("most_paths", "roles"), [(50, None), (10_000_000, None), (50, ["body"]), (10_000_000, ["head", "refuter"])]
)
@pytest.mark.parametrize("distinct", [False, True])
def test_the_contributions_are_those_of_formulas(
    most_paths: int, roles: list[str] | None, distinct: bool, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chains, "MOST_PATHS", most_paths)
    random = Random(len(roles or ()))
    observed = facts(random)
    setting = make_setting(
        observed, {"model": predicted(random, observed)}, rules(random), distinct_variables=distinct, roles=roles, engine=engine
    )
    with Session(setting) as session, Session(setting, horn=False) as other:
        found = contributions(session)
        assert found == contributions(other)
    assert any(confirmed for confirmed, _, _ in found.values())


@pytest.mark.parametrize("most_paths", [1_000, 10_000_000])
@pytest.mark.parametrize("length", [2, 3, 4, 5])
def test_the_appendix_counts_of_each_length_are_those_of_paths_one_by_one(
    most_paths: int, length: int, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chains, "MOST_PATHS", most_paths)
    random = Random(length)
    observed = facts(random, 24)
    text = DECLARED + "\n".join(chain(random, length) for _ in range(4))
    setting = make_setting(observed, {"model": predicted(random, observed)}, text, convention="appendix", engine=engine)
    with Session(setting) as session:
        found = counts(session), contributions(session)
    monkeypatch.setattr(horn, "is_chain", is_triangle)
    monkeypatch.setattr(chains, "counts_roles", lambda roles, context: False)
    with Session(setting) as session:
        assert found == (counts(session), contributions(session))
    assert any(evaluable for _, _, evaluable in found[0])


@pytest.mark.parametrize("appendix", [False, True], ids=["definition", "appendix"])
def test_generated_chains_have_the_oracle_s_numbers(appendix: bool, engine: str) -> None:
    members = gathered(strategies.chains(appendix=appendix), 2 * settings().max_examples if engine == "duckdb" else 5)
    for batch in batches(members, size=8):
        require_the_oracle_s_numbers(batch, engine)


NODES = 20


def one_predicate(length: int, predictions: list[tuple[str, str]]) -> Setting:
    """A chain over one predicate, and a dense graph: from a constant, facts lead to all others but itself and the next two."""
    pairs = [(f"c{i}", f"c{(i + step) % NODES}") for i in range(NODES) for step in range(3, NODES)]
    atoms = ", ".join(f"p(X{i}, X{i + 1})" for i in range(length))
    rule = f"p(X0, X{length}) <- {atoms}. incompatible p, q."
    return make_setting({"p": pairs, "q": [("c0", "c1")]}, {"model": {"p": predictions}}, rule)


def paths(length: int, *further: tuple[int, int]) -> list[list[int]]:
    """How many paths of that length lead from each constant to each, over the facts of `one_predicate` and further ones."""
    leads = [[right for right in range(NODES) if (right - left) % NODES > 2 or (left, right) in further] for left in range(NODES)]
    found = [[int(left == right) for right in range(NODES)] for left in range(NODES)]
    for _ in range(length):
        found = [[sum(row[before] for before in range(NODES) if right in leads[before]) for right in range(NODES)] for row in found]
    return found


@pytest.mark.parametrize("length", [8, 11])
def test_the_cost_of_long_chains_grows_with_their_atoms(length: int) -> None:
    new = (0, 1)
    with Session(one_predicate(length, [(f"c{left}", f"c{right}") for left, right in [new]])) as session:
        statements = [text for shape in session.explain() for text in shape.statements]
        (observed,) = counts(session)
        (given,) = contributions(session).values()
    assert len(statements) == 3
    assert max(map(len, statements)) < 10_000 * length
    before, after = paths(length), paths(length, new)
    confirming = [(left, right) for left in range(NODES) for right in range(NODES) if (right - left) % NODES > 2]
    confirmed = sum(before[left][right] for left, right in confirming)
    assert observed == (confirmed, before[0][1], confirmed + before[0][1])
    # Groundings with the prediction: those that use it in the body, and all whose head it is.
    using = sum(after[left][right] - before[left][right] for left, right in confirming)
    assert given == (using + after[0][1], after[0][1], using + after[0][1])


def test_large_pieces_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(1)
    with Session(make_setting(facts(random), None, rules(random))) as session:
        statements = [text for shape in session.explain() for text in shape.statements]
        monkeypatch.setattr(chains, "MOST_PATHS", 20)
        cut = [text for shape in session.explain() for text in shape.statements]
    assert len(cut) > 2 * len(statements)
    assert any("% 3 = 2" in text for text in cut)


def test_many_predictions_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    observed = {"p": [("a", "b")], "q": [("b", "c")], "h": [("a0", "c")], "i": [("a1", "c")]}
    predictions = {"model": {"p": [(f"a{number}", "b") for number in range(60)]}}
    with Session(make_setting(observed, predictions, "h(X, Z) <- p(X, Y), q(Y, Z). incompatible h, i.")) as session:
        statements = [text for shape in session.explain() for text in shape.statements]
        monkeypatch.setattr(chains, "MOST_PATHS", 20)
        cut = [text for shape in session.explain() for text in shape.statements]
        found = contributions(session)
    assert len(cut) > len(statements)
    assert found == {("rules:1", "p", "a0", "b"): (1, 0, 1), ("rules:1", "p", "a1", "b"): (0, 1, 1)}


LAYERS = 12
"""How many constants each layer of `layered` has; every constant has a fact with every one of the next layer."""


def layered(length: int) -> dict[str, list[tuple[str, str]]]:
    layers = [[f"{letter}{i}" for i in range(LAYERS)] for letter in LETTERS[:length] + "Y"]
    found = {name: list(product(left, right)) for name, (left, right) in zip("pqrs", pairwise(layers), strict=False)}
    return found | {"h": list(product(layers[0], layers[-1])), "i": [(layers[0][0], layers[-1][0])]}


@pytest.mark.parametrize("length", [3, 4])
@pytest.mark.parametrize(
    ("convention", "title", "most"),
    [
        ("definition", "over the data", LAYERS**2),
        ("appendix", "over the data", LAYERS**2),
        ("appendix", "prediction is the incompatible fact", LAYERS),
    ],
)
def test_no_step_keeps_a_row_for_each_path_unless_variables_must_be_distinct(
    length: int, convention: str, title: str, most: int
) -> None:
    body = ", ".join(f"{name}({', '.join(pair)})" for name, pair in zip("pqrs", pairwise(LETTERS[:length] + "Y"), strict=False))
    rules = f"h(X, Y) <- {body}. incompatible h, i."
    predictions = {"model": {"i": [("X1", "Y1")]}}
    setting = make_setting(layered(length), predictions, rules, convention=convention, distinct_variables=False)
    with Session(setting) as session:
        (shape,) = session.explain()
        shown = dict(one.removeprefix("-- ").split("\n", 1) for one in shape.statements)
        rows = step_rows(session, shown[title])
    assert {"walked_2", "ended", "met"} <= set(rows)
    assert max(rows.values()) == most


def step_rows(session: Session, statement: str) -> dict[str, int]:
    """How many rows each step of a statement has."""
    steps = parse_one(statement, dialect="duckdb").args["with_"].expressions
    found = {}
    for number, step in enumerate(steps, start=1):
        count = exp.select("count(*) AS n").from_(step.alias)
        count.set("with_", exp.With(expressions=[one.copy() for one in steps[:number]]))
        found[step.alias] = session.engine.query(count)["n"][0].as_py()
    return found


def atom(left: int, right: int) -> ShapeAtom:
    return ShapeAtom((Bound(left), Bound(right)))


def shape(*atoms: ShapeAtom, variables: int) -> Shape:
    return Shape(atoms, (), (), variables, (Bound(0), Bound(1)))


@pytest.mark.parametrize(
    ("body", "way"),
    [
        (shape(atom(0, 2), atom(1, 3), atom(2, 3), variables=4), ((0, False), (2, False), (1, True))),
        (shape(atom(0, 2), atom(1, 2), variables=3), ((0, False), (1, True))),
        (shape(atom(0, 1), variables=2), None),
        (shape(atom(0, 1), atom(0, 2), atom(2, 3), variables=4), None),
        (shape(atom(0, 2), atom(2, 0), atom(1, 2), variables=3), None),
        (shape(atom(0, 2), atom(2, 2), atom(1, 2), variables=3), None),
        (shape(atom(0, 2), atom(2, 3), atom(3, 4), variables=5), None),
        (shape(atom(0, 1), atom(2, 3), atom(3, 2), variables=4), None),
    ],
)
def test_what_is_a_chain(body: Shape, way: tuple[tuple[int, bool], ...] | None) -> None:
    assert way_through(body) == way


@pytest.mark.parametrize("seed", range(3))
def test_facts_that_no_rule_looks_at_make_no_edge_and_change_no_count(seed: int) -> None:
    random = Random(seed)
    observed = {name: pairs for name, pairs in facts(random).items() if name != "s"}
    noise = [*observed["p"], *((f"n{i}", "hub") for i in range(50))]
    rules = "incompatible p, q.\n" + "\n".join(f"{head}(X, Y) <- q(X, Z), r(Z, Y)." for head in "pqr")
    found = []
    for data in (observed, {**observed, "s": noise}):
        with Session(make_setting(data, {"m": {"p": [("a", "b"), ("c", "hub")]}}, rules)) as session:
            counts = [result.dataset for result in session.evaluate(contributions=False).rule_results]
            (edges,) = session.engine.query(select(n=count_rows()).from_(row(EDGE, "e")))["n"].to_pylist()
            found.append((contributions(session), counts, edges))
    assert found[0] == found[1]
    assert found[0][2] > 0
