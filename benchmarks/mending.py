"""Training and decoding with rules: what each is worth.

    python benchmarks/mending.py --keep benchmarks/results/mending.json      # everything, or what the file lacks
    python benchmarks/mending.py --data nations --models transe --seeds 1    # some of it
    python benchmarks/mending.py --tables benchmarks/results/mending.json    # print kept results, measure nothing

Trains ComplEx and TransE plainly, one softmax over all entities for each query in both directions, on Family (beside the
repository) and on small data sets that PyKEEN brings. There is a row for each arm: the model alone, reflexive answers left out
alone, answers left out that break a hard rule (`mask`) or that anything speaks against, the model with the term, both, and the
term over a table whose tails are shuffled. The weight of hard rules is chosen with seed 0 by the MRR of validation facts, without
a mask. On Family, models of one seed are also masked by rules of which five are wrong. Then published lists of answers are put in
another order. Each run of a seed is kept when it is done, so a run that is stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

import rulescore
from measure import peak_memory
from mending_graphs import SHARED, Graph, graph_named
from mending_models import Known, Training, answers, known_answers, scored, trained
from mending_tables import PARTS, best_weight, tables
from mending_wrong import of_wrong_rules
from rulescore.arguments.python import make_setting
from rulescore.integrations.training import ExpectedViolations
from rulescore.mending.list_files import read_lists
from rulescore.mending.numbered import NumberedTable
from rulescore.mending.reasons import AGAINST
from rulescore.mending.rerank import rerank
from rulescore.mending.table import CandidateTable

SMALL = Training(epochs=40, batch=128, rate=0.01, penalty=0.002, tried=(0.0, 0.03, 0.1, 0.3, 1.0))
LARGE = Training(epochs=16, batch=1024, rate=0.03, penalty=0.01, tried=(0.0, 0.1, 0.3, 1.0))
TRAININGS = {
    **{(data, kind): SMALL for data in ("nations", "umls") for kind in ("complex", "transe")},
    ("family", "complex"): LARGE,
    ("family", "transe"): replace(LARGE, penalty=0.0),
}
DATA = ("nations", "umls", "family")
LISTS = ("family-transe", "family-uniker", "family-compgcn", "family-anyburl", "fb15k-237-compgcn")

Result = dict[str, Any]


def main() -> None:
    options = _options()
    if options.tables is not None:
        print(tables(json.loads(options.tables.read_text()), options.show), end="")
        return
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    result: Result = {
        "machine": platform.machine(),
        "torch": torch.__version__,
        "tables": {},
        "weights": [],
        "runs": [],
        "lists": [],
    }
    if options.keep is not None and options.keep.exists():
        result = json.loads(options.keep.read_text())

    def keep() -> None:
        if options.keep is not None:
            options.keep.write_text(json.dumps(result, indent=1) + "\n")

    for data in options.data:
        _measure(data, options.models, options.seeds, result, keep)
    if "family" in options.data and "wrong" not in result:
        result["wrong"] = of_wrong_rules(graph_named("family"), {kind: TRAININGS["family", kind] for kind in options.models})
        keep()
    for name in options.lists:
        if name not in {kept["lists"] for kept in result["lists"]}:
            result["lists"].append({"lists": name, **_reordered(name)})
            keep()
    print(tables(result, options.show), end="")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", default=DATA, choices=DATA)
    parser.add_argument("--models", nargs="+", default=["complex", "transe"], choices=["complex", "transe"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--lists", nargs="*", default=[name for name in LISTS if SHARED.exists()], choices=LISTS)
    parser.add_argument(
        "--keep", type=Path, metavar="RESULTS", help="write results as JSON, and do not repeat those that are there"
    )
    parser.add_argument("--tables", type=Path, metavar="RESULTS", help="print the tables of kept results, and measure nothing")
    parser.add_argument("--show", nargs="+", default=list(PARTS), choices=list(PARTS), help="print these tables only")
    return parser.parse_args()


def _measure(data: str, models: Sequence[str], seeds: int, result: Result, keep: Any) -> None:
    done = {(run["data"], run["model"], run["seed"]) for run in result["runs"]}
    lacking = [(kind, seed) for kind in models for seed in range(seeds) if (data, kind, seed) not in done]
    if not lacking:
        return
    graph = graph_named(data)
    started = time.process_time()
    table = rulescore.candidates(graph.labels(graph.train), graph.rules)
    seconds = time.process_time() - started
    numbered = table.numbered(graph.entities, graph.relations)
    result["tables"][data] = {
        "facts": len(graph.train),
        "rules": len(table.rules),
        "hard": len(table.hard),
        "rows": len(table.rows),
        "symbolic": len(table.symbolic),
        "seconds": seconds,
        "memory": peak_memory(),
        "validation": len(graph.valid),
        "forbidden": {reason: _forbidden_truths(numbered, graph.valid, [reason]) for reason in AGAINST},
    }
    known = known_answers(graph.test, graph.train, graph.valid)
    masks = {
        name: _masks(numbered, graph.test, reasons)
        for name, reasons in (("reflexive", ["reflexive"]), ("hard", ["breaks a rule"]), ("all", AGAINST))
    }
    for kind, seed in lacking:
        training = TRAININGS[data, kind]
        if not any((tried["data"], tried["model"]) == (data, kind) for tried in result["weights"]):
            tried = {"data": data, "model": kind, "training": asdict(training), "mrr": _tried(graph, table, kind, training)}
            result["weights"].append(tried)
            keep()
        by_weight = next(tried["mrr"] for tried in result["weights"] if (tried["data"], tried["model"]) == (data, kind))
        hard = best_weight(by_weight)
        rows = _arms(graph, table, kind, seed, training, hard, known, masks)
        result["runs"] += [{"data": data, "model": kind, "seed": seed, "hard": hard, **row} for row in rows]
        keep()


def _term(graph: Graph, table: CandidateTable, training: Training, hard: float) -> ExpectedViolations:
    soft = training.soft if table.soft else 0.0
    return ExpectedViolations(table, entities=graph.entities, relations=graph.relations, hard=hard, soft=soft)


def _tried(graph: Graph, table: CandidateTable, kind: str, training: Training) -> dict[str, float]:
    """The MRR of validation facts by the weight of hard rules; without the term for weight 0."""
    known, by_weight = known_answers(graph.valid, graph.train), {}
    for hard in training.tried:
        model, _ = trained(graph, kind, _term(graph, table, training, hard) if hard else None, 0, training)
        ranks, _ = answers(scored(model, graph.valid), graph.valid, known)
        by_weight[str(hard)] = float((1 / ranks).mean())
    return by_weight


def _forbidden_truths(numbered: NumberedTable, facts: Any, reasons: Sequence[str]) -> int:
    h, r, t = (column.numpy() for column in facts.T)
    return int(numbered.forbidden(r, h, heads=True, reasons=reasons)[np.arange(len(h)), t].sum())


def _masks(numbered: NumberedTable, facts: Any, reasons: Sequence[str]) -> list[Any]:
    h, r, t = (column.numpy() for column in facts.T)
    forbidden = [numbered.forbidden(r, given, heads=heads, reasons=reasons) for given, heads in ((h, True), (t, False))]
    return [torch.from_numpy(mask) for mask in forbidden]


def _arms(
    graph: Graph,
    table: CandidateTable,
    kind: str,
    seed: int,
    training: Training,
    hard: float,
    known: Known,
    masks: dict[str, list[Any]],
) -> list[Result]:
    terms = {
        "base": None,
        "trained": _term(graph, table, training, hard),
        "shuffled": _term(graph, shuffled(table), training, hard),
    }
    wanted = [
        ("base", "base", None),
        ("reflexive alone", "base", "reflexive"),
        ("mask", "base", "hard"),
        ("mask of all reasons", "base", "all"),
        ("trained", "trained", None),
        ("trained, mask", "trained", "hard"),
        ("trained, mask of all reasons", "trained", "all"),
        ("shuffled table", "shuffled", None),
    ]
    seconds, ranks, first = {}, {}, {}
    for name, term in terms.items():
        model, seconds[name] = trained(graph, kind, term, seed, training)
        scores = scored(model, graph.test)
        for arm, own, mask in wanted:
            if own == name:
                ranks[arm], triples = answers(scores, graph.test, known, None if mask is None else masks[mask])
                first[arm] = graph.labels(triples)
    judged = rulescore.score(graph.labels(graph.train), first, graph.rules)
    results = {model.name: model for model in judged.model_results}
    return [_row(arm, ranks[arm], results[arm], seconds[name]) for arm, name, _ in wanted]


def _row(arm: str, ranks: Any, result: Any, seconds: float) -> Result:
    return {
        "arm": arm,
        "mrr": float((1 / ranks).mean()),
        "hits_at_1": float((ranks <= 1).double().mean()),
        "hits_at_10": float((ranks <= 10).double().mean()),
        "violating": result.violating,
        "predictions": result.predictions.distinct,
        "rvs_hard": _number(result.hard_score.value),
        "rvs_soft": _number(result.soft_score.value),
        "seconds": seconds,
    }


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def shuffled(table: CandidateTable, seed: int = 0) -> CandidateTable:
    """The same table with tails in another order: it knows as much of predicates and nothing of facts."""
    values = table.rows.arguments.copy()
    generator = np.random.default_rng(seed)
    for predicate in np.unique(table.rows.predicate):
        places = np.flatnonzero(table.rows.predicate == predicate)
        values[places, 1] = values[generator.permutation(places), 1]
    order = np.argsort(table.rows.rule, kind="stable")
    return replace(table, rows=replace(table.rows, arguments=values).taken(order))


def _reordered(name: str) -> Result:
    """Published top-ten lists before, with reflexive answers moved, with those that break a hard rule, and with all."""
    graph, _, _ = name.rpartition("-")
    folder, ending = SHARED / graph, ".txt" if graph == "family" else ".txt.gz"
    rules: Any = graph_named("family").rules
    if graph != "family":
        rules = [folder / "rules.mln.txt", "extract incompatible."]
    setting = make_setting(folder / f"train{ending}", None, rules, truth=folder / f"test{ending}")
    lists, valid = read_lists(SHARED / "predictions" / f"{name}.top10.tsv.gz"), folder / f"valid{ending}"
    started = time.process_time()
    hard, every = (rerank(setting, lists, reasons=reasons, valid=valid) for reasons in (["breaks a rule"], AGAINST))
    outcomes = {"base": hard.outcomes[0], "reflexive alone": hard.outcomes[1], "hard rules": hard.outcomes[2]}
    outcomes["all reasons"] = every.outcomes[2]
    return {
        "seconds": time.process_time() - started,
        "queries": hard.price.queries,
        "nothing_to_win": hard.price.nothing_to_win,
        "validation": hard.price.validation,
        "lost": {"hard rules": sum((hard.price.lost or {}).values()), "all reasons": sum((every.price.lost or {}).values())},
        "outcomes": {
            arm: {**outcome.accuracy, "violating": outcome.violating, "predictions": outcome.predictions}
            for arm, outcome in outcomes.items()
        },
    }


if __name__ == "__main__":
    main()
