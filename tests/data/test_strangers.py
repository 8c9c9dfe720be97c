"""Files that are no facts are named."""

from __future__ import annotations

import pytest

import rulescore
from rulescore.errors import InputError

FILES = {
    "rules of AnyBURL": "2000\t216\t0.108\tgo(X,Y) <= catalysis(X,A), go(A,Y)\n",
    "rules of AMIE": "?g  wasBornIn  ?m   => ?a  hasNeighbor  ?b\t0.14\t1.0\t1.0\t77\t77\t77\t?b\n",
    "clauses of Markov logic": "1.0 !p(A, B) v q(B, A)\n",
    "rules of Neural-LP or NCRL": "0.412 (1.000)\taunt(C, A) <-- father(B, A), sister(C, B)\n",
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


def test_what_is_wrong_with_a_row_of_facts_is_told_as_ever(tmp_path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("a\tp\tb\nc\tp\n")
    with pytest.raises(InputError, match="expected 3 columns, found 2") as error:
        rulescore.audit(path, "q(X, Y) <- p(X, Y). closed q.")
    assert "looks like" not in str(error.value)
