"""Inputs that nobody writes on purpose end with a message of ours, never with a traceback, and at once."""

from __future__ import annotations

import decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import rulescore

FACTS = [("a", "p", "b"), ("a", "q", "b")]
PREDICTIONS = {"model": [("b", "q", "c")]}
RULES = "closed p.\np(X, Y) <- q(X, Y)."


def codes_of(error: pytest.ExceptionInfo[rulescore.InputError]) -> list[str]:
    return [problem.code for problem in error.value.problems]


def test_a_path_with_a_nul() -> None:
    with pytest.raises(rulescore.InputError, match="null byte") as caught:
        rulescore.score("a\0b.tsv", PREDICTIONS, RULES)
    assert codes_of(caught) == ["E302"]
    with pytest.raises(rulescore.InputError, match="null byte") as caught:
        rulescore.score(FACTS, PREDICTIONS, Path("a\0b.rules"))
    assert codes_of(caught) == ["E406"]


def test_rules_from_a_device() -> None:
    with pytest.raises(rulescore.InputError, match="`/dev/zero` is a device, not a rule file"):
        rulescore.score(FACTS, PREDICTIONS, Path("/dev/zero"))


@pytest.mark.parametrize("number", ["1e99999999", "-1e99999999", "1e5001"])
def test_decimals_that_would_take_minutes_to_write_out(number: str) -> None:
    with pytest.raises(rulescore.InputError, match="is not a constant") as caught:
        rulescore.score([("a", "q", decimal.Decimal(number))], PREDICTIONS, RULES)
    assert codes_of(caught) == ["E314"]


def test_a_decimal_that_is_nearly_nothing_is_zero() -> None:
    tiny = [("a", "q", decimal.Decimal("1e-99999999")), ("b", "q", 1.5)]
    (rule,) = rulescore.audit(tiny, "r: N > 0 <- q(X, N).").rule_results
    assert (rule.dataset.confirmed, rule.dataset.refuted) == (1, 1)


def test_a_decimal_literal_that_no_decimal_is(tmp_path: Path) -> None:
    literal = '"0e-9999999999999999999"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    (tmp_path / "facts.nt").write_text(f"<a> <q> {literal} .\n")
    with pytest.raises(rulescore.InputError) as caught:
        rulescore.score(tmp_path / "facts.nt", PREDICTIONS, RULES)
    assert codes_of(caught) == ["E314"]


def test_more_threads_than_any_machine_has() -> None:
    with pytest.raises(rulescore.InputError, match="threads"):
        rulescore.score(FACTS, PREDICTIONS, RULES, threads=10**9)


def test_every_byte_of_a_parquet_file_may_be_damaged(tmp_path: Path) -> None:
    """Names of columns and texts that are not UTF-8 among them, which Arrow reads without a word."""
    whole, broken = tmp_path / "whole.parquet", tmp_path / "broken.parquet"
    parquet.write_table(pa.table({"head": ["a"], "relation": ["q"], "tail": ["b"]}), whole, compression="none")
    content = whole.read_bytes()
    told = 0
    for place in range(4, len(content), 11):
        broken.write_bytes(content[:place] + b"\xff" + content[place + 1 :])
        try:
            rulescore.audit(broken, RULES)
        except rulescore.RulescoreError:
            told += 1
    assert told > 20
