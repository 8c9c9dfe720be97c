"""Files that are no facts are named."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

import pytest

import rulescore
from rulescore.errors import InputError
from rulescore.language.rule_formats import rule_formats
from rulescore.readers.foreign import readers

DOCS = Path(__file__).parents[2] / "docs"

FILES = {
    "rules of AnyBURL": "2000\t216\t0.108\tgo(X,Y) <= catalysis(X,A), go(A,Y)\n",
    "rules of AMIE": "?g  wasBornIn  ?m   => ?a  hasNeighbor  ?b\t0.14\t1.0\t1.0\t77\t77\t77\t?b\n",
    "clauses of Markov logic": "1.0 !p(A, B) v q(B, A)\n",
    "rules of Neural-LP or NCRL": "0.412 (1.000)\taunt(C, A) <-- father(B, A), sister(C, B)\n",
    "rules of UniKER": "1.0\taunt\tsister\tfather\n1.0\twife\thusband_v\n",
    "rules of PSL": "20: Lived(P1, L) & Lived(P2, L) & (P1 != P2) -> Knows(P1, P2) ^2\n",
    "rules of Prolog or of ours": "f(A,B):- tail(A,C),f(C,B).\n",
    "denial constraints of HoloClean": "t1&t2&EQ(t1.HospitalName,t2.HospitalName)&IQ(t1.ZipCode,t2.ZipCode)\n",
    "denial constraints of Desbordante": "!(s.State == t.State and s.Salary < t.Salary and s.FedTaxRate > t.FedTaxRate)\n",
    "rules of RNNLogic": "0 268 237 0 5 7\n1 268 2 7 8 9\n",
    "a dictionary of ids": "0\talice\n1\tbob\n",
    "JSON": '{"head": "a",\n "relation": "p", "tail": "b"}\n',
    "Turtle": "@prefix ex: <http://example.org/> .\nex:a ex:p ex:b .\n",
    "N-Triples": "<http://e/a> <http://e/p> <http://e/b> .\n",
    "XML or HTML": '<?xml version="1.0"?>\n<rdf/>\n',
    "ids and predictions of a table's target": "id\tprediction\n20\t353283.89\n",
    "triples by ids as OpenKE has them": "2\n0 1 5\n3 1 5\n",
}


@pytest.mark.parametrize("what", FILES)
@pytest.mark.parametrize("predictions", [True, False])
def test_a_file_that_is_no_facts_is_named(tmp_path, what: str, predictions: bool) -> None:
    path = tmp_path / "file.txt"
    path.write_text(FILES[what])
    facts = [("a", "p", "b")]
    with pytest.raises(InputError, match=f"the file looks like {what}"):
        rulescore.score(facts if predictions else path, {"m": path if predictions else facts}, "q(X, Y) <- p(X, Y). closed q.")


@pytest.mark.parametrize(
    ("text", "predictions", "message"),
    [
        ("5 aunt 76\nHeads: 5\t1\t\nTails: \n", False, "an AnyBURL ranking.*give it as predictions"),
        ("wife,ina,bob,bob,ina\ninv_wife,bob,ina,bob\n", False, "a prediction file of Neural-LP.*give it as predictions"),
        ("<id_1>\tann\twife\tbob\n<id_2>\tcid\twife\tdan\n", True, "a fact file of AMIE.*give it as facts"),
    ],
)
def test_predictions_that_are_given_as_facts_are_named(tmp_path, text: str, predictions: bool, message: str) -> None:
    path = tmp_path / "file.txt"
    path.write_text(text)
    facts = [("a", "p", "b")]
    with pytest.raises(InputError, match=f"(?s)the file looks like {message}"):
        rulescore.score(facts if predictions else path, {"m": path if predictions else facts}, "q(X, Y) <- p(X, Y). closed q.")


def test_what_is_wrong_with_a_row_of_facts_is_told_as_ever(tmp_path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("a\tp\tb\nc\tp\n")
    with pytest.raises(InputError, match="expected 3 columns, found 2") as error:
        rulescore.audit(path, "q(X, Y) <- p(X, Y). closed q.")
    assert "looks like" not in str(error.value)


OF_LINES = [name for name, form in rule_formats().items() if not form.endings]
"""Ontologies have a page of their own."""


@pytest.mark.parametrize(("page", "formats"), [("formats.md", OF_LINES), ("predictions.md", readers())])
def test_every_format_has_a_section_with_a_session_and_traps(page: str, formats: Collection[str]) -> None:
    text = (DOCS / "how-to" / page).read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    anchors = {re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-"): found for title, found in sections.items()}
    for form in formats:
        row = re.search(rf"^\| \[[^\]]+\]\(#([a-z-]+)\)[^|]*\| `{form}` \|", text, re.MULTILINE)
        assert row is not None, form
        section = anchors[row[1]]
        # The first session of the page of rules is AnyBURL's.
        assert "```console" in section or form == "anyburl", form
        assert "\n- " in section, form
