"""The graphs of `mending.py`: triples of ids, their labels, and rules."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from rulescore.reproduction.family import rule_text

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@dataclass(frozen=True)
class Graph:
    """Triples of ids, what ids stand for, and rules."""

    train: Any
    valid: Any
    test: Any
    entities: list[str]
    relations: list[str]
    rules: str

    def labels(self, triples: Any) -> list[tuple[str, str, str]]:
        return [(self.entities[h], self.relations[r], self.entities[t]) for h, r, t in triples.tolist()]


def graph_named(name: str) -> Graph:
    """Family from the data beside the repository, with its published rules; or a data set that PyKEEN brings, with rules that we
    find in its training facts."""
    if name == "family":
        return _of_folder(SHARED / "family", rule_text(SHARED / "family" / "MLN_rule.txt"))
    from pykeen.datasets import get_dataset

    dataset = get_dataset(dataset=name)
    training = dataset.training
    entities = [training.entity_id_to_label[i] for i in range(training.num_entities)]
    relations = [training.relation_id_to_label[i] for i in range(training.num_relations)]
    parts = [part.mapped_triples for part in (training, dataset.validation, dataset.testing)]
    return Graph(*parts, entities, relations, found_rules(training.mapped_triples, entities, relations))


def _of_folder(folder: Path, rules: str) -> Graph:
    parts = [
        [line.split("\t") for line in (folder / f"{part}.txt").read_text().splitlines()] for part in ("train", "valid", "test")
    ]
    entities = sorted({entity for part in parts for head, _, tail in part for entity in (head, tail)})
    relations = sorted({relation for part in parts for _, relation, _ in part})
    numbers, names = ({label: i for i, label in enumerate(labels)} for labels in (entities, relations))
    triples = [torch.tensor([[numbers[h], names[r], numbers[t]] for h, r, t in part]) for part in parts]
    return Graph(*triples, entities, relations, rules)


def found_rules(train: Any, entities: list[str], relations: list[str], support: int = 10, most: int = 50) -> str:
    """The rules of two atoms that training facts confirm most often and never refute, if predicates that share no pair are
    incompatible."""
    held = torch.zeros(len(relations), len(entities), len(entities), dtype=torch.bool)
    h, r, t = train.T
    held[r, h, t] = True
    apart = ~(held.flatten(1).float() @ held.flatten(1).float().T > 0)
    rules = []
    for first in range(len(relations)):
        for second in range(len(relations)):
            paths = held[first].float() @ held[second].float()
            for head in range(len(relations)):
                refuted = held[apart[head]].any(dim=0)
                confirmed = int((paths * held[head]).sum())
                if confirmed >= support and bool(apart[head].any()) and not (paths * refuted).any():
                    rules.append((-confirmed, *(f"`{relations[number]}`" for number in (head, first, second))))
    chosen = enumerate(sorted(rules)[:most])
    lines = [f"r{number}: {head}(X, Z) <- {first}(X, Y), {second}(Y, Z)." for number, (_, head, first, second) in chosen]
    return "\n".join(["extract incompatible.", *lines])
