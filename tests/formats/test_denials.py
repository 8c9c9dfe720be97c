"""HoloClean and Desbordante: denial constraints over a table."""

from __future__ import annotations

import random
import warnings
from itertools import permutations

import pyarrow as pa
import pytest

import rulescore
from other_rules import problem, rules
from rulescore.language.rule_formats import TableName

HOSPITAL = (TableName("hospital", ("id",)),)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "t1&t2&EQ(t1.HospitalName,t2.HospitalName)&IQ(t1.ZipCode,t2.ZipCode)",
            "ZipCode1 = ZipCode2 <- hospital(id: Id1, HospitalName: HospitalName, ZipCode: ZipCode1), "
            "hospital(id: Id2, HospitalName: HospitalName, ZipCode: ZipCode2), Id1 != Id2",
        ),
        (
            "t1&t2&EQ(t1.Phone,t2.Phone)&LTE(t1.Beds,t2.Rooms)",
            "false <- hospital(id: Id1, Phone: Phone, Beds: Beds1), "
            "hospital(id: Id2, Phone: Phone, Rooms: Rooms2), Beds1 <= Rooms2, Id1 != Id2",
        ),
        ('t1&EQ(t1.State,"XX")&GT(t1.Beds,10)', 'false <- hospital(State: "XX", Beds: Beds), Beds > 10'),
        (
            "t1&t2&EQ(t1.a b,t2.a b)&IQ(t1.c,t2.c)",
            "C1 = C2 <- hospital(id: Id1, `a b`: A_b, c: C1), hospital(id: Id2, `a b`: A_b, c: C2), Id1 != Id2",
        ),
        ('t1&EQ(t1.State,"XX")&IQ(t1.Zip,"9")', 'Zip = "9" <- hospital(State: "XX", Zip: Zip)'),
        ("t1&t2&EQ(t1.a,t2.a)&IQ(t1.id,t2.id)", "false <- hospital(a: A, id: Id1), hospital(a: A, id: Id2), Id1 != Id2"),
        (
            "t1&t2&IQ(t1.a,t2.a)&IQ(t1.b,t2.b)",
            "false <- hospital(a: A1, b: B1), hospital(a: A2, b: B2), A1 != A2, B1 != B2",
        ),
    ],
)
def test_holoclean(line: str, expected: str) -> None:
    assert rules(line, tables=HOSPITAL) == [expected]


@pytest.mark.parametrize(
    "line",
    [
        "!(s.State == t.State and s.Salary < t.Salary and s.FedTaxRate > t.FedTaxRate)",
        "¬{ s.State == t.State ∧ s.Salary < t.Salary ∧ s.FedTaxRate > t.FedTaxRate }",
    ],
)
def test_desbordante(line: str) -> None:
    assert rules(line, tables=(TableName("tax", ("id",)), TableName("zips", ()))) == [
        "false <- tax(State: State, Salary: Salary1, FedTaxRate: FedTaxRate1), "
        "tax(State: State, Salary: Salary2, FedTaxRate: FedTaxRate2), Salary1 < Salary2, FedTaxRate1 > FedTaxRate2"
    ]


def test_desbordante_with_signs_of_mathematics_and_and_in_quotes() -> None:
    table = (TableName("t", ("id",)),)
    assert rules('¬{ s.A == t.A ∧ s.B ≥ t.B ∧ s.C ≠ t.C ∧ s.D ≤ 3 ∧ s.E == "salt and pepper" }', tables=table) == [
        'false <- t(A: A, B: B1, C: C1, D: D1, E: "salt and pepper"), t(A: A, B: B2, C: C2), B1 >= B2, C1 != C2, D1 <= 3'
    ]


def test_two_rows_that_must_not_be_equal_are_told_apart_by_all_of_their_key() -> None:
    table = (TableName("sale", ("year", "number")),)
    assert rules("!(s.Parcel == t.Parcel)", tables=table) == [
        "false <- sale(year: Year1, number: Number1, Parcel: Parcel), sale(year: Year2, number: Number2, Parcel: Parcel), "
        "(Year1 != Year2 or Number1 != Number2)"
    ]


@pytest.mark.parametrize("tables", [(), (TableName("a", ()),), (TableName("a", ("id",)), TableName("b", ("id",)))])
def test_the_table_has_to_be_clear(tables: tuple[TableName, ...]) -> None:
    found = problem("!(s.A == t.A)", tables=tables)
    assert found.code == "E333"
    assert "Desbordante" in found.message


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("t1&t2&EQ(t1.A,t2.A)&XX(t1.B,t2.B)", 21),
        ("t1&EQ(t1.A,t2.A)", 12),
        ("t2&EQ(t2.A,t2.B)", 1),
        ("t1&t2&EQ(t1.A)", 7),
    ],
)
def test_holoclean_lines_that_are_not_understood_are_located(line: str, column: int) -> None:
    good = "t1&t2&EQ(t1.A,t2.A)&IQ(t1.B,t2.B)\n"
    found = problem(f"{good}{good}{line}", tables=HOSPITAL)
    assert found.place is not None
    assert (found.code, found.place.line) == ("E152", 3)
    assert found.place.column == column


@pytest.mark.parametrize(("line", "column"), [("!(s.A == t.A and s.B)", 18), ("!(s.A == x.A)", 10), ("!s.A == t.A", 1)])
def test_desbordante_lines_that_are_not_understood_are_located(line: str, column: int) -> None:
    good = "!(s.A == t.A and s.B != t.B)\n"
    found = problem(f"{good}{good}{line}", tables=HOSPITAL)
    assert found.place is not None
    assert (found.place.line, found.place.column) == (3, column)


def test_constraints_are_counted() -> None:
    """Of three hospitals two share a name and differ in the code: one pair, read both ways."""
    rows = {"id": [1, 2, 3], "HospitalName": ["a", "a", "b"], "ZipCode": ["1", "2", "2"]}
    constraints = "t1&t2&EQ(t1.HospitalName,t2.HospitalName)&IQ(t1.ZipCode,t2.ZipCode)\nt1&t2&EQ(t1.ZipCode,t2.ZipCode)\n"
    tables = {"hospital": rulescore.Table(pa.table(rows), key="id")}
    with pytest.warns(rulescore.RulescoreWarning, match="HoloClean rules, 2 read"):
        result = rulescore.audit(None, constraints, tables=tables)
    assert [one.dataset.refuted for one in result.rule_results] == [2, 2]


@pytest.mark.parametrize("seed", range(4))
def test_a_dependency_has_the_violations_of_its_constraint_and_a_rate(seed: int) -> None:
    """Of every two different rows that agree in the first attributes, and that have a value in all of them."""
    draw = random.Random(seed)
    rows = {"id": [*range(20)], **{name: [draw.choice(["x", "y", "z", None]) for _ in range(20)] for name in ("a", "b", "c")}}
    whole = [one for one in zip(*(rows[name] for name in "abc"), strict=True) if None not in one]
    alike = [(one, other) for one, other in permutations(whole, 2) if one[:2] == other[:2]]
    broken = sum(one[2] != other[2] for one, other in alike)
    constraint = "t1&t2&EQ(t1.a,t2.a)&EQ(t1.b,t2.b)&IQ(t1.c,t2.c)\n"
    written = "false <- t(a: A, b: B, c: C1), t(a: A, b: B, c: C2), C1 != C2."
    counts = []
    for given in (constraint, written):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rulescore.RulescoreWarning)
            (result,) = rulescore.audit(None, given, tables={"t": rulescore.Table(pa.table(rows), key="id")}).rule_results
        counts.append((result.dataset.confirmed, result.dataset.refuted, result.dataset.evaluable))
    assert counts == [(len(alike) - broken, broken, len(alike)), (0, broken, broken)]


@pytest.mark.parametrize("line", ["t1&t2&EQ(t1.name,t2.name)&LT(t1.zip,t2.zip)", "!(s.name == t.name and s.zip < t.zip)"])
def test_each_row_of_a_violation_has_its_own_key(line: str) -> None:
    """Neither names a key, and both atoms have the place of the whole line."""
    tables = {"t": rulescore.Table(pa.table({"id": [1, 2], "name": ["a", "a"], "zip": [10, 11]}), key="id")}
    (row,) = rulescore.violations(None, None, f"{line}\n", tables=tables, dataset=True).to_pylist()
    assert row["body"] == ["t(id: 1, name: a, zip: 10)", "t(id: 2, name: a, zip: 11)", "10 < 11"]
    assert (row["id"], row["id_4"]) == (1, 2)
