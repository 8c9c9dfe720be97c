"""Results in a real notebook."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.slow

CELL = """
import time
import rulescore

def patient(person):
    time.sleep(0.7)
    return True

facts = {"sister": [("alice", "daniel"), ("eve", "adam")]}
rules = "never: false <- wife(X, Y), sister(X, Y), patient(X).\\nfriends: patient(X) <- sister(X, Y)."
result = rulescore.score(facts, {"m": {"wife": [("alice", "daniel")]}}, rules, functions={"patient": patient})
"""


@pytest.fixture(scope="module")
def outputs() -> list[list[Any]]:
    cells = [
        nbformat.v4.new_code_cell(source)
        for source in (CELL, "result", "rulescore.audit(facts, rules, functions={'patient': len})", "result.violations()")
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, kernel_name="python3", allow_errors=True).execute()
    return [cell.outputs for cell in notebook.cells]


def test_work_that_takes_its_time_says_so(outputs: list[list[Any]]) -> None:
    shown = [one.data["text/plain"] for one in outputs[0] if one.output_type == "display_data"]
    # On a busy machine, opening takes its time, too.
    assert shown
    assert all(text.startswith("done in ") for text in shown)


def test_a_result_is_the_short_answer(outputs: list[list[Any]]) -> None:
    (shown,) = outputs[1]
    assert shown.data["text/plain"].startswith("<Result of 2 rules and 1 model")
    assert "<table" in shown.data["text/html"]
    assert "1 of 1 (100.0%)" in shown.data["text/html"]


def test_errors_and_warnings_are_ours(outputs: list[list[Any]]) -> None:
    assert [one.ename for one in outputs[2] if one.output_type == "error"] == ["InputError"]


def test_violations_are_a_table_of_sentences(outputs: list[list[Any]]) -> None:
    shown = outputs[3][-1]
    assert shown.data["text/plain"] == "<1 row of 1 violation>"
    assert "1 row of 1 violation</caption>" in shown.data["text/html"]
    assert "m predicts wife(alice, daniel), but sister(alice, daniel) is observed" in shown.data["text/html"]
