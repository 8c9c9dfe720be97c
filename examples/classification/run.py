"""Classes of the nodes of a graph: incompatible classes, domains and ranges.

Two classifiers predict the classes of hidden nodes: one from their descriptions, one from their edges.
"""

from __future__ import annotations

import argparse
import csv
import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from catalogue import WORDS, Catalogue, disjoint_classes, make_catalogue
from classifiers import Classes, descriptions, edges

SIZES = {"small": 1_000, "full": 50_000}
MODELS = {"descriptions": descriptions, "edges": edges}
RULES = Path(__file__).with_name("catalogue.rules")

PROJECT = """\
facts = ["edges.csv", "disjoint.csv"]
rules = "catalogue.rules"
truth = "truth.csv"

[tables.node]
path = "nodes.csv"
key = "id"
target = "class"
hidden = { column = "split", values = ["test"] }

[predictions.descriptions]
table = "node"
path = "descriptions.csv"

[predictions.edges]
table = "node"
path = "edge-classes.csv"
"""


def main() -> None:
    options = _options()
    catalogue = make_catalogue(SIZES[options.size], np.random.default_rng(options.seed))
    print(f"{len(catalogue.names):,} nodes, {len(catalogue.labels):,} with a hidden class, and {len(catalogue.edges):,} edges\n")
    predictions = {name: model(catalogue) for name, model in MODELS.items()}
    _write(options.out, catalogue, predictions)
    print(f"Type next: rulescore score {options.out}/rulescore.toml")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("classification"), help="where data and project file are written")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", choices=SIZES, default="small", help="how many nodes are made up")
    return parser.parse_args()


def _write(folder: Path, catalogue: Catalogue, predictions: dict[str, Classes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    splits = np.where(catalogue.hidden, "test", "train").tolist()
    nodes = zip(catalogue.names, catalogue.classes, splits, *catalogue.words.T.tolist(), strict=True)
    _write_csv(folder / "nodes.csv", ("id", "class", "split", *WORDS), nodes)
    _write_csv(folder / "edges.csv", ("head", "relation", "tail"), catalogue.edges)
    _write_csv(folder / "disjoint.csv", ("head", "relation", "tail"), disjoint_classes())
    _write_csv(folder / "descriptions.csv", ("id", "prediction"), predictions["descriptions"].items())
    _write_csv(folder / "edge-classes.csv", ("id", "prediction"), predictions["edges"].items())
    _write_csv(folder / "truth.csv", ("id", "class"), catalogue.labels.items())
    shutil.copyfile(RULES, folder / RULES.name)
    (folder / "rulescore.toml").write_text(PROJECT, encoding="utf-8")


def _write_csv(path: Path, header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


if __name__ == "__main__":
    main()
