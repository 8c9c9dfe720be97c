"""Facts as AMIE takes them."""

from __future__ import annotations

from pathlib import Path

import pytest

import rulescore
from rulescore.errors import InputError
from rulescore.formats.facts.amie import looks_like, read
from rulescore.readers.foreign import Fault


def rows(text: str) -> list[tuple[str, str, str]]:
    [facts] = read(text.splitlines())
    return list(zip(facts.predicates, *facts.arguments, strict=True))


@pytest.mark.parametrize(
    "line",
    [
        "<Elvis>\t<wasBornIn>\t<Tupelo> .",
        "<id_1u2v_3k>\t<Elvis>\t<wasBornIn>\t<Tupelo>",
        "<id_1u2v_3k>\t<Elvis>\t<wasBornIn>\t<Tupelo>\t.",
    ],
)
def test_ids_and_full_stops_are_no_part_of_facts(line: str) -> None:
    assert looks_like([line])
    assert rows(line) == [("<wasBornIn>", "<Elvis>", "<Tupelo>")]


@pytest.mark.parametrize(
    "lines",
    [
        ["a\tp\tb"],
        ["a\tp\tb .", "a\tp\tc"],
        ["a\tp\tMr."],
        # Triples with a time: the first column is no id.
        ["1\tp\tb\t2014-01-01", "2\tp\tb\t2014-01-02"],
        ["id_1\ta\tp\tb", "id_1\ta\tp\tc"],
        ["<http://x.org/a>\t<http://x.org/p>\t<http://x.org/b> ."],
    ],
)
def test_other_files_are_not_taken_for_them(lines: list[str]) -> None:
    assert not looks_like(lines)


def test_a_line_that_is_not_understood_is_told_with_its_place() -> None:
    found = list(read(["a\tp\tb .", "a\tp .", "id_1\ta\t\tb"]))
    assert [(one.line, one.column, one.message) for one in found if isinstance(one, Fault)] == [
        (2, 1, "expected three fields, or four with an id before them, found 2"),
        (3, 8, "a name is empty"),
    ]


def test_it_is_said_aloud_and_predictions_are_none(tmp_path: Path) -> None:
    (tmp_path / "facts.tsv").write_text("id_1\tann\tsister\tbob .\nid_2\tbob\tfather\tcid .\n")
    rules = "aunt(X, Z) <- sister(X, Y), father(Y, Z). closed aunt."
    with pytest.warns(rulescore.RulescoreWarning, match="W361.*a fact file of AMIE"):
        result = rulescore.audit(tmp_path / "facts.tsv", rules)
    assert result.rule_results[0].dataset.refuted == 1
    with pytest.raises(InputError, match=r"E363.*holds no predictions"):
        rulescore.score([("ann", "sister", "bob")], {"m": rulescore.FactFile(tmp_path / "facts.tsv", format="amie")}, rules)
