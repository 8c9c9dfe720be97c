"""Which test facts head a grounding with an observed fact in its body."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from rulescore.reproduction.published import heads_a_grounding


def triples(*rows: str) -> pa.Table:
    parts = [row.split() for row in rows]
    return pa.table({name: [part[place] for part in parts] for place, name in enumerate(("head", "relation", "tail"))})


def test_one_observed_body_atom_with_the_arguments_of_the_head_is_enough(tmp_path: Path) -> None:
    rules = tmp_path / "rules.mln.txt"
    rules.write_text("1.0 !q(A, B) v !s(B, C) v p(A, C)\n1.0 !q(B, A) v r(A, B)\n")
    train = triples("a q b", "c s d", "x q y")
    test = triples("a p z", "z p d", "z p a", "b r a", "a r b", "a q b")
    assert heads_a_grounding(rules, train, test).to_pylist() == [True, True, False, True, False, False]
