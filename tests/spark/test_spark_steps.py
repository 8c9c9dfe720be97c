"""Which steps of a statement become tables on Spark."""

from __future__ import annotations

from rulescore.spark.dialect import SPARK
from rulescore.spark.steps import taken_apart
from rulescore.sql.dialect import text
from rulescore.sql.query import Select, row, select


def twice(step: str) -> Select:
    """A query that reads a step twice."""
    left, right = row(step, "l"), row(step, "r")
    return select(left.n).from_(left).join(right, right.n == left.n)


def test_a_step_that_is_read_twice_is_a_table_and_one_that_is_read_once_stays() -> None:
    t = row("t", "t")
    inner = select(row("i", "i").n).with_step("i", select(t.n).from_(t)).from_(row("i", "i"))
    steps, rest = taken_apart(twice("s").with_step("s", inner).tree(), 7)
    ((table, query),) = steps.items()
    assert text(query, SPARK) == "WITH `i_0_0` AS (SELECT `t`.`n` FROM `t` AS `t`) SELECT `i`.`n` FROM `i_0_0` AS `i`"
    assert text(rest, SPARK) == f"SELECT `l`.`n` FROM `{table}` AS `l` JOIN `{table}` AS `r` ON `r`.`n` = `l`.`n`"


def test_a_step_that_is_only_named_for_the_reader_stays() -> None:
    t = row("t", "t")
    steps, _ = taken_apart(twice("s").with_named("s", select(t.n).from_(t)).tree(), 7)
    assert not steps


def test_a_step_that_two_readings_of_another_read_is_a_table_too() -> None:
    t, k = row("t", "t"), row("k", "k")
    statement = twice("s").with_step("k", select(t.n).from_(t)).with_named("s", select(k.n).from_(k))
    steps, rest = taken_apart(statement.tree(), 7)
    ((table, _),) = steps.items()
    assert text(rest, SPARK).count(f"`{table}`") == 1
    assert text(rest, SPARK).startswith("WITH")


def test_tables_come_before_those_that_read_them() -> None:
    t = row("t", "t")
    statement = twice("b").with_step("a", select(t.n).from_(t)).with_step("b", twice("a"))
    first, second = taken_apart(statement.tree(), 7)[0].items()
    assert first[0] in text(second[1], SPARK)
