"""Date-times in rules: what is refused, and that the machine's time zone has no say."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys

import pytest

import rulescore
from rulescore.errors import InputError

NOON = datetime.datetime(2020, 1, 31, 12)
FACTS = {
    "at": [("a", NOON)],
    "seen": [("a", NOON.replace(tzinfo=datetime.UTC))],
    "on": [("a", NOON.date())],
    "mixed": [("a", NOON), ("b", NOON.replace(tzinfo=datetime.UTC))],
}


@pytest.mark.parametrize(
    ("rule", "code", "words"),
    [
        ("T < 2020-02-01 <- at(X, T).", "E206", "`date(T)` is the day of a date-time"),
        ("T < 2020-02-01T00:00Z <- at(X, T).", "E206", "zone"),
        ("T < 2020-02-01T00:00 <- mixed(X, T).", "E271", "declare"),
        ("D + 6 hours > D <- on(X, D).", "E271", "a date has no time of day"),
        ("T - U > 3 hours <- at(X, T), seen(X, U).", "E271", "one of them has a zone"),
        ("T - D > 3 hours <- at(X, T), on(X, D).", "E271", "`date(T)`"),
        ("T - 2020-01-01T00:00 > 3 <- at(X, T).", "E206", "write a duration with its unit"),
        ("at(X, 3 hours) <- on(X, _). closed at.", "E206", "compare the difference"),
    ],
)
def test_what_never_agrees_is_refused_with_its_cure(rule: str, code: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        rulescore.audit(FACTS, rule, threads=1)
    (problem,) = error.value.problems
    assert problem.code == code
    assert words in problem.helps[0]


@pytest.mark.parametrize(
    "rule", ["at(X, 2020-01-31) <- on(X, _). closed at.", "seen(X, 2020-01-31T12:00) <- on(X, _). closed seen."]
)
def test_a_literal_of_another_kind_of_time_is_refused(rule: str) -> None:
    with pytest.raises(InputError, match="E206"):
        rulescore.audit(FACTS, rule, threads=1)


def test_hours_that_are_whole_days_move_a_date() -> None:
    found = rulescore.audit(FACTS, "D + 24 hours = 2020-02-01 <- on(X, D).", threads=1)
    assert found.rule_results[0].dataset.confirmed == 1


def test_predicted_date_times_are_right_or_wrong_and_no_numbers() -> None:
    table = rulescore.Table({"id": [1, 2], "at": [NOON, None]}, key="id", target="at", hidden=[2])
    rule = "T > 2020-01-01T00:00 <- trip(at: T)."
    later = NOON + datetime.timedelta(hours=1)
    found = rulescore.score(None, {"m": {2: later}}, rule, tables={"trip": table}, truth={"trip": {2: later}}, threads=1)
    assert found.accuracy is not None
    assert ("accuracy", 1.0) in set(zip(found.accuracy["metric"].to_pylist(), found.accuracy["value"].to_pylist(), strict=True))


PROGRAM = """
import datetime, pandas, rulescore
noon = datetime.datetime(2024, 3, 31, 2, 30)
rows = {"wall": [noon], "instant": pandas.to_datetime(["2024-10-27T02:30:00+02:00"])}
rule = "T = 2024-03-31T02:30 and I = 2024-10-27T00:30Z and day(I) = 27 <- at(T, I)."
found = rulescore.audit({"at": pandas.DataFrame(rows)}, rule, threads=1)
print(found.rule_results[0].dataset.confirmed)
"""


@pytest.mark.slow
@pytest.mark.parametrize("zone", ["Europe/Berlin", "Pacific/Kiritimati", "America/St_Johns"])
def test_the_time_zone_of_the_machine_does_not_matter(zone: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={**os.environ, "TZ": zone}, capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.split() == ["1"]
