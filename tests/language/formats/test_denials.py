"""HoloClean and Desbordante: denial constraints over a table."""

from __future__ import annotations

import pyarrow as pa
import pytest

import rulescore
from other_rules import problem, rules
from rulescore.language.formats.base import TableName

HOSPITAL = (TableName("hospital", ("id",)),)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "t1&t2&EQ(t1.HospitalName,t2.HospitalName)&IQ(t1.ZipCode,t2.ZipCode)",
            "false <- hospital(HospitalName: HospitalName, ZipCode: ZipCode1), "
            "hospital(HospitalName: HospitalName, ZipCode: ZipCode2), ZipCode1 != ZipCode2",
        ),
        (
            "t1&t2&EQ(t1.Phone,t2.Phone)&LTE(t1.Beds,t2.Rooms)",
            "false <- hospital(id: Id1, Phone: Phone, Beds: Beds1), "
            "hospital(id: Id2, Phone: Phone, Rooms: Rooms2), Beds1 <= Rooms2, Id1 != Id2",
        ),
        ('t1&EQ(t1.State,"XX")&GT(t1.Beds,10)', 'false <- hospital(State: "XX", Beds: Beds), Beds > 10'),
        ("t1&t2&EQ(t1.a b,t2.a b)&IQ(t1.c,t2.c)", "false <- hospital(`a b`: A_b, c: C1), hospital(`a b`: A_b, c: C2), C1 != C2"),
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


def test_two_rows_that_must_not_be_equal_are_told_apart_by_all_of_their_key() -> None:
    table = (TableName("sale", ("year", "number")),)
    assert rules("!(s.Parcel == t.Parcel)", tables=table) == [
        "false <- sale(year: Year1, number: Number1, Parcel: Parcel), sale(year: Year2, number: Number2, Parcel: Parcel), "
        "(Year1 != Year2 or Number1 != Number2)"
    ]


@pytest.mark.parametrize("tables", [(), (TableName("a", ()),), (TableName("a", ("id",)), TableName("b", ("id",)))])
def test_the_table_has_to_be_clear(tables: tuple[TableName, ...]) -> None:
    found = problem("!(s.A == t.A)", tables=tables)
    assert found.code == "E155"
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
