"""The arm of wrong rules of `mending.py`: what rules cost that are declared hard and are wrong."""

from __future__ import annotations

import random
import re
import time
from typing import Any

import numpy as np
import torch

import rulescore
from mending_graphs import Graph
from mending_models import Training, answers, known_answers, scored, trained
from rulescore.mending.table import CandidateTable

_RULE = re.compile(r"`(?P<name>[^`]+)`: (?P<head>\w+)\(")
WRONG = 5


def of_wrong_rules(graph: Graph, trainings: dict[str, Training], seed: int = 0) -> dict[str, Any]:
    """What masks by hard rules do to models of one seed: by the rules as they are; and with five wrong heads among them, if the
    kinds come from the declaration, and if they come from the data."""
    started = time.process_time()
    right = rulescore.candidates(graph.labels(graph.train), graph.rules)
    hard = [right.rules[rule].name for rule in right.hard]
    text, names = with_wrong_heads(graph.rules, hard, seed)
    tables = {
        "right": right,
        "trusted": rulescore.candidates(graph.labels(graph.train), text, trust_declared=True),
        "by the data": rulescore.candidates(graph.labels(graph.train), text),
    }
    refuted = {rule.name: rule.dataset.refuted for rule in tables["trusted"].rules}
    masks = {arm: _masks(table, graph) for arm, table in tables.items()}
    known = known_answers(graph.test, graph.train, graph.valid)
    mrr: dict[str, dict[str, float]] = {}
    for kind, training in trainings.items():
        scores = scored(trained(graph, kind, None, seed, training)[0], graph.test)
        mrr[kind] = {}
        for arm, mask in {"base": None, **masks}.items():
            ranks, _ = answers(scores, graph.test, known, mask)
            mrr[kind][arm] = float((1 / ranks).mean())
    return {
        "seed": seed,
        "hard": len(hard),
        "mrr": mrr,
        "rules": {name: {"refuted": refuted[name], "forbidden": _forbidden(graph, text, name)} for name in names},
        "validation": len(graph.valid),
        "forbidden": {arm: _truths(table, graph) for arm, table in tables.items()},
        "seconds": time.process_time() - started,
    }


def with_wrong_heads(rules: str, hard: list[str], seed: int) -> tuple[str, list[str]]:
    """The rules with hard ones declared hard, of which five have another predicate in their head; and the names of these."""
    generator = random.Random(seed)
    wrong = generator.sample(hard, WRONG)
    heads = sorted({match["head"] for match in _RULE.finditer(rules)})

    def line(text: str) -> str:
        match = _RULE.match(text)
        if match is None or match["name"] not in hard:
            return text
        if match["name"] not in wrong:
            return f"@hard {text}"
        other = generator.choice([head for head in heads if head != match["head"]])
        return f"@hard `{match['name']}`: {other}({text[match.end() :]}"

    return "\n".join(map(line, rules.splitlines())), wrong


def _forbidden(graph: Graph, rules: str, name: str) -> int:
    """The validation facts that one rule alone would forbid."""
    own = [line for line in rules.splitlines() if not _RULE.search(line) or f"`{name}`" in line]
    return _truths(rulescore.candidates(graph.labels(graph.train), "\n".join(own), trust_declared=True), graph)


def _truths(table: CandidateTable, graph: Graph) -> int:
    return sum((table.price(graph.labels(graph.valid), reasons=["breaks a rule"]).lost or {}).values())


def _masks(table: CandidateTable, graph: Graph) -> list[Any]:
    numbered = table.numbered(graph.entities, graph.relations)
    h, r, t = (column.numpy() for column in graph.test.T)
    directions = ((h, True), (t, False))
    forbidden = [numbered.forbidden(r, given, heads=heads, reasons=["breaks a rule"]) for given, heads in directions]
    return [torch.from_numpy(np.asarray(mask)) for mask in forbidden]
