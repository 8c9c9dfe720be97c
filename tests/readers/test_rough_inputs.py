"""Inputs that nobody writes on purpose end with a message of ours, never with a traceback, and at once."""

from __future__ import annotations

import decimal
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

import rulescore
from rulescore.arguments.project_file import read_project
from rulescore.cli.main import program

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


@pytest.mark.slow
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


@pytest.mark.parametrize("path", ["/dev/zero", "a\0b.toml"])
def test_a_project_file_that_is_none(path: str) -> None:
    with pytest.raises(rulescore.InputError) as caught:
        read_project(Path(path))
    assert codes_of(caught) == ["E403"]
    with pytest.raises(rulescore.InputError):
        rulescore.open(path)


@pytest.mark.parametrize("path", ["/dev/zero", "a\0b.json"])
def test_a_saved_result_that_is_none(path: str) -> None:
    with pytest.raises(rulescore.InputError) as caught:
        rulescore.load_result(path)
    assert codes_of(caught) == ["E504"]


def test_results_are_not_written_to_a_path_with_a_nul() -> None:
    with pytest.raises(rulescore.InputError, match="null byte") as caught:
        rulescore.score(FACTS, PREDICTIONS, RULES).save("a\0b")
    assert codes_of(caught) == ["E601"]
    with pytest.raises(rulescore.InputError, match="null byte") as caught:
        rulescore.score(FACTS, PREDICTIONS, RULES, contributions="a\0b")
    assert codes_of(caught) == ["E601"]


@pytest.mark.parametrize(
    "section",
    [
        r'facts = "a\u0000b"',
        r'rules = "a\u0000b"',
        r'negatives = "a\u0000b"',
        "[predictions]\n" r'm = "a\u0000b"',
        "[tables.t]\n" r'path = "a\u0000b"' "\n" 'key = "id"',
        "[tables.t]\n" r'database = "a\u0000b"' "\n" 'key = "id"',
        "[truth]\n" r'path = "a\u0000b"',
        "[output]\n" r'folder = "a\u0000b"',
        "[engine]\n" r'spill_folder = "a\u0000b"',
        "[functions]\n" r'f = "a\u0000b:f"',
    ],
)
def test_no_path_of_a_project_file_has_a_nul(section: str, tmp_path: Path) -> None:
    (tmp_path / "f.tsv").write_text("a\tp\tb\na\tq\tb\n")
    (tmp_path / "r.rules").write_text(RULES)
    (tmp_path / "m.tsv").write_text("b\tq\tc\n")
    first = "".join(f"{line}\n" for line in ('facts = "f.tsv"', 'rules = "r.rules"') if line[:5] != section[:5])
    models = "" if "[predictions]" in section else '\n[predictions]\nm = "m.tsv"'
    (tmp_path / "rulescore.toml").write_text(f"{first}{section}{models}\n")
    for trust in ([], ["--trust"]):
        found = CliRunner().invoke(program, ["score", str(tmp_path / "rulescore.toml"), *trust])
        assert found.exit_code == 2, found.output
        assert "error[E" in found.stderr


@pytest.mark.parametrize("columns", [101, 20_000])
def test_facts_of_very_many_columns(tmp_path: Path, columns: int) -> None:
    (tmp_path / "wide.tsv").write_text("\t".join(f"c{i}" for i in range(columns)) + "\n")
    expected = f"a fact has {columns:,} arguments, and a predicate has at most 100"
    for facts in ({"wide": tmp_path / "wide.tsv"}, {"wide": [tuple(range(columns))]}):
        with pytest.raises(rulescore.InputError, match=expected) as caught:
            rulescore.score(facts, PREDICTIONS, RULES)
        assert codes_of(caught) == ["E369"]
        assert caught.value.problems[0].place is not None


def test_a_field_of_nine_megabytes_is_read(tmp_path: Path) -> None:
    (tmp_path / "facts.tsv").write_text(f"a\tp\tb\na\tq\t{'x' * 9_000_000}\na\tq\tb\n")
    (rule,) = rulescore.audit(tmp_path / "facts.tsv", RULES).rule_results
    assert (rule.dataset.confirmed, rule.dataset.refuted) == (1, 1)


def test_an_integer_of_more_than_64_bits_in_a_table(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("id,price\n1,10\n2,9223372036854775808\n")
    table = rulescore.Table(tmp_path / "sales.csv", key="id", types={"price": "integer"})
    with pytest.raises(
        rulescore.InputError, match="the value is `9223372036854775808` in column `price`, which is too large"
    ) as caught:
        rulescore.audit(None, "P > 0 <- sales(id: S, price: P).", tables={"sales": table})
    assert codes_of(caught) == ["E314"]
