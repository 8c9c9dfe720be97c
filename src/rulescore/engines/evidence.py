"""Evidence: which sets of literals hold of tuples, and which predicates share tuples."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from rulescore.engines.base import Engine
from rulescore.engines.loading import Loaded
from rulescore.engines.parameters import empty_columns
from rulescore.sql import signatures as signature_sql
from rulescore.sql.build import drop


def number_evidence(engine: Engine, loaded: Loaded, *, marked: bool) -> None:
    """Give every set of literals that holds of some tuple a number. Once, after loading."""
    arities = sorted(loaded.fact_arities)
    for arity in arities:
        orders = loaded.orders_of(arity)
        engine.run(signature_sql.create_extremes(arity, orders, loaded.stride, marked=marked))
        engine.run(signature_sql.create_sets(arity, orders, loaded.stride, marked=marked))
    if arities:
        engine.run(signature_sql.create_signatures(arities, 2 * loaded.stride * len(loaded.predicate_ids)))
        engine.run(signature_sql.create_members(arities))
    else:
        engine.load(signature_sql.MEMBER, empty_columns("signature", "literal"))
    for arity in sorted(loaded.fact_arities | loaded.candidate_arities):
        facts, candidates = arity in loaded.fact_arities, arity in loaded.candidate_arities
        engine.run(signature_sql.create_tuples(arity, facts=facts, candidates=candidates))
    for arity in arities:
        for table in signature_sql.intermediate_tables(arity):
            engine.run(drop(table))


def never_together(engine: Engine, loaded: Loaded) -> list[tuple[str, str]]:
    """Pairs of observed predicates of one arity that share no tuple."""
    together = {(left, right) for left, right, _ in together_counts(engine, loaded)}
    observed = sorted(p.name for p in loaded.vocabulary.predicates.values() if p.observed)
    arity = {name: loaded.vocabulary.predicates[name].arity for name in observed}
    return [(a, b) for a, b in combinations(observed, 2) if arity[a] == arity[b] and (a, b) not in together]


def together_counts(engine: Engine, loaded: Loaded) -> Iterable[tuple[str, str, int]]:
    """Pairs of observed predicates that share tuples, in alphabetical order, with the number of those."""
    names = {number: name for name, number in loaded.predicate_ids.items()}
    for arity in sorted(loaded.fact_arities):
        rows = engine.query(signature_sql.cooccurrences(arity, loaded.stride, len(loaded.predicate_ids)))
        for left, right, n in zip(*(rows[c].to_pylist() for c in ("left", "right", "n")), strict=True):
            yield names[left // loaded.stride], names[right // loaded.stride], int(n)


def tuples_with_facts(engine: Engine, loaded: Loaded) -> dict[int, int]:
    """How many tuples of each arity could carry a fact, since their constants stand together in one."""
    predicates = len(loaded.predicate_ids)
    arities = sorted(loaded.fact_arities)
    statements = {arity: signature_sql.tuples_with_facts(arity, arities, loaded.stride, predicates) for arity in arities}
    return {arity: int(engine.query(one)["n"].to_pylist()[0]) for arity, one in statements.items()}
