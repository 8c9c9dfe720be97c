"""The table of papers for the Family graph: accuracy beside rule violation scores, for every model whose predictions are there.

`python examples/family/table.py FOLDER` reads `family/train.txt`, `test.txt` and `MLN_rule.txt`, UniKER's rules, and
`predictions/family-MODEL.tsv.gz` with the rank of each truth.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import rulescore

# These five, on aunts and uncles by marriage, are not among the published rules, and the last one is not in the file.
LEFT_OUT = {"aunt wife uncle", "uncle husband aunt", "uncle husband nephew_v", "aunt wife niece_v", "uncle husband niece_v"}
ADDED = "father(X, Y) <- son(Y, X)."


def scored(folder: Path) -> rulescore.Result:
    """Every model of the folder, by the published rules. No two relations hold of one pair of people."""
    facts = folder / "family" / "train.txt"
    models = {_model(path): path for path in sorted((folder / "predictions").glob("family-*.tsv.gz")) if ".top10." not in path.name}
    relations = sorted({line.split("\t")[1] for line in facts.read_text(encoding="utf-8").splitlines()})
    rules = [_published(folder / "family" / "MLN_rule.txt"), f"{ADDED} incompatible {', '.join(relations)}."]
    truth = rulescore.Truth(folder / "family" / "test.txt", domains="observed")
    return rulescore.score(facts, models, rules, truth=truth)


def _model(path: Path) -> str:
    return path.name.removeprefix("family-").removesuffix(".tsv.gz")


def _published(path: Path) -> str:
    """The lines of UniKER's file that are kept; `rulescore` reads them as they are."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if " ".join(line.split()[1:]) not in LEFT_OUT)


def main() -> None:
    parser = argparse.ArgumentParser(description="Accuracy and rule violation scores of models on the Family graph.")
    parser.add_argument("folder", type=Path, help="where `family` and `predictions` are")
    parser.add_argument("--format", choices=("markdown", "latex", "csv", "text"), default="markdown")
    chosen = parser.parse_args()
    result = scored(chosen.folder)
    print(getattr(result, f"to_{chosen.format}")("models"), end="")


if __name__ == "__main__":
    main()
