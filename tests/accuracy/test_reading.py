"""Accuracy reads the columns of tables as scores do."""

from __future__ import annotations

from pathlib import Path

import pytest

import rulescore
from rulescore import Table

ROWS = "sale,price,split\n1,10,train\n2,20,test\n3,30,test\n"
RULE = "P <= 25 <- t(sale: A, price: P)."


@pytest.mark.parametrize("header", ["sale,prediction", "id,prediction", "sale,price", "id,price"])
@pytest.mark.parametrize("hidden", ["sale", "id", "row", None])
def test_keys_and_values_may_have_the_names_that_scores_know(tmp_path: Path, header: str, hidden: str | None) -> None:
    truths, predicted = "sale,price\n1,1\n2,20\n3,30\n", f"{header}\n2,21\n3,31\n"
    for name, text in (("t", ROWS), ("p", predicted), ("h", f"{hidden}\n2\n3\n"), ("truth", truths)):
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    said: object = {"column": "split", "values": ["test"]} if hidden is None else {"path": tmp_path / "h.csv"}
    tables = {"t": Table(tmp_path / "t.csv", key="sale", target="price", hidden=said)}
    truth = {"t": tmp_path / "truth.csv"}
    result = rulescore.score(None, {"m": {"t": tmp_path / "p.csv"}}, RULE, tables=tables, truth=truth)
    rows = {row["metric"]: row for row in result.accuracy.to_pylist()}
    assert rows["mean_absolute_error"]["value"] == 1
    assert rows["mean_absolute_error"]["answered"] == 2
    assert rows["mean_absolute_error"]["asked"] == (3 if hidden is None else 2)
