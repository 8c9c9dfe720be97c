"""Checks of columns count as the rules count that people would write for them, and print as these rules."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import rulescore
from rulescore.errors import InputError, Source
from rulescore.language.parser import parse
from rulescore.language.printer import print_program, print_rule

KEYS = {"sale": ("id",), "customer": ("id",), "line": ("order", "number")}
CHECKS = {
    "sale.price not null": "count(P : sale(id: A, price: P)) >= 1 <- sale(id: A).",
    "sale.email unique": "count(B : sale(id: B, email: E)) <= 1 <- sale(id: A, email: E).",
    "sale(email, zip) unique": "count(B : sale(id: B, email: E, zip: Z)) <= 1 <- sale(id: A, email: E, zip: Z).",
    "sale.state in {al, ak}": "S = al or S = ak <- sale(id: A, state: S).",
    "sale.price between 5 and 12": "P >= 5 and P <= 12 <- sale(id: A, price: P).",
    'sale.zip matches "[0-9]{2}"': 'length(Z) = 2 <- sale(id: A, zip: Z), Z != "".',
    "sale.customer references customer.id": "count(N : customer(id: C, name: N)) >= 1 <- sale(id: A, customer: C).",
    "sale(email, zip) references customer(name, zip)": (
        "count(D : customer(id: D, name: E, zip: Z)) >= 1 <- sale(id: A, email: E, zip: Z)."
    ),
    "sale.state depends on zip": "S = T <- sale(id: A, zip: Z, state: S), sale(id: B, zip: Z, state: T), A != B.",
    "sale.state depends on (zip, start)": (
        "S = T <- sale(id: A, zip: Z, start: E, state: S), sale(id: B, zip: Z, start: E, state: T), A != B."
    ),
    "sale(start, stop) ordered": "A <= B <- sale(id: I, start: A, stop: B).",
    "line.price depends on product": (
        "P = Q <- line(order: A, number: B, product: X, price: P), line(order: C, number: D, product: X, price: Q), "
        "(A != C or B != D)."
    ),
    "line.price not null": "count(P : line(order: A, number: B, price: P)) >= 1 <- line(order: A, number: B).",
}


def tables() -> dict[str, rulescore.Table]:
    """Rows with every mixture of equal, different and missing values."""
    random = Random(1)
    choices = {
        "zip": ["10", "11", "1x0", None],
        "state": ["al", "al", "al", "ny", None],
        "email": ["a", "b", "c", "d", "e", "f", "g", None],
        "price": [5, 12, 13, None, 4],
        "customer": [1, 2, 3, None],
        "start": [0, 1, 2],
        "stop": [1, None, 2],
    }
    sales = [{"id": number} | {name: random.choice(values) for name, values in choices.items()} for number in range(12)]
    customers = [{"id": 1, "name": "a", "zip": "10"}, {"id": 2, "name": "b", "zip": "11"}, {"id": 4, "name": "b", "zip": "10"}]
    lines = [
        {"order": order, "number": number, "product": (order + number) % 2, "price": [1, 1, 2, None][order + number]}
        for order in range(2)
        for number in range(3)
    ]
    return {
        "sale": rulescore.Table(sales, key="id"),
        "customer": rulescore.Table(customers, key="id"),
        "line": rulescore.Table(lines, key=["order", "number"]),
    }


def counts(rules: str) -> tuple[int, int, int]:
    audit = rulescore.audit(None, rulescore.RuleText(rules), tables=tables())
    (row,) = audit.rules.to_pylist()
    return row["dataset_confirmed"], row["dataset_refuted"], row["dataset_evaluable"]


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_counts_as_a_rule_written_by_hand(check: str) -> None:
    ours = counts(f"{check}.\n")
    assert ours == counts(CHECKS[check])
    assert ours[1], "the data break each check"
    assert ours[0], "and keep it, too"


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_prints_as_rules_that_read_the_same(check: str) -> None:
    program = parse(Source("text", f"{check}."), KEYS)
    (rule,) = program.rules
    assert rule.name == check
    assert print_rule(parse(Source("text", print_program(program))).rules[0]) == print_rule(rule)


def test_several_columns_are_several_rules() -> None:
    text = "@hard mine: sale(state, zip) not null.\nsale(a, b, c) ordered.\nsale(x, y) depends z.\n"
    named = [(rule.name, rule.kind) for rule in parse(Source("text", text), KEYS).rules]
    assert named == [
        ("mine", "hard"),
        ("mine 2", "hard"),
        ("sale(a, b) ordered", None),
        ("sale(b, c) ordered", None),
        ("sale.x depends on z", None),
        ("sale.y depends on z", None),
    ]


def test_a_template_fills_in_columns() -> None:
    text = "for $column in {price, zip}: sale.$column not null.\n"
    assert [rule.name for rule in parse(Source("text", text), KEYS).rules] == ["sale.price not null", "sale.zip not null"]


def test_heads_of_rules_are_no_checks() -> None:
    text = "length(X) in {1, 2} <- sale(zip: X).\nunique(X) <- sale(zip: X).\nsale.price(X, 1) <- sale(id: X).\n"
    assert len(parse(Source("text", text), KEYS).rules) == 3


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("sale.price not null\nsale.zip unique.", "a full stop is missing before `sale.zip`", "1:20"),
        ("@check sale.price not null.", "`@check` is for declarations; this is a rule already", "1:1"),
        ("sale.price between 1.", "expected `and` and the upper limit, found `.`", "1:21"),
        ('sale.zip matches "[0-9".', "the pattern cannot be read: unterminated character set at position 0", "1:18"),
        ("sale.start ordered.", "`ordered` takes two columns or more", "1:1"),
        ("sale(zip, zip) unique.", "a column is named twice", "1:1"),
        ("sale.zip depends on zip.", "`zip` depends on itself", "1:1"),
        ("sale.zip references customer(id, zip).", "1 and 2 columns do not belong together", "1:21"),
    ],
)
def test_a_check_that_cannot_be_read_says_where_and_why(text: str, message: str, at: str) -> None:
    with pytest.raises(InputError) as raised:
        parse(Source("text", text), KEYS)
    (problem,) = raised.value.problems
    assert problem.message == message
    assert problem.place is not None
    assert f"{problem.place.line}:{problem.place.column}" == at


def test_a_column_that_matches_is_text(tmp_path: Path) -> None:
    (tmp_path / "sale.csv").write_text("id,zip\n1,10\n2,7\n", encoding="utf-8")
    table = rulescore.Table(tmp_path / "sale.csv", key="id")
    audit = rulescore.audit(None, rulescore.RuleText('sale.zip matches "[0-9]{2}".'), tables={"sale": table})
    (row,) = audit.rules.to_pylist()
    assert (row["dataset_confirmed"], row["dataset_refuted"]) == (1, 1)


def test_a_project_file_has_checks(tmp_path: Path) -> None:
    (tmp_path / "sale.csv").write_text("zip,city\n10,a\n10,b\n", encoding="utf-8")
    text = '[rules]\nchecks = ["sale.city depends on zip", "sale.zip not null."]\n[tables.sale]\npath = "sale.csv"\nkey = "row"\n'
    (tmp_path / "rulescore.toml").write_text(text, encoding="utf-8")
    audit = rulescore.open(tmp_path / "rulescore.toml").audit()
    refuted = {row["rule"]: row["dataset_refuted"] for row in audit.rules.to_pylist()}
    assert refuted == {"sale.city depends on zip": 2, "sale.zip not null": 0}
