"""A first look at the package: the motivating example, then a kinship graph and three models, whose files lie beside this one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from rulescore.arguments.project import load_project
from rulescore.arguments.python import make_setting
from rulescore.errors import Diagnostic, InputError
from rulescore.reporting.files import write_files, write_outputs
from rulescore.scoring.evaluation import Evaluation
from rulescore.session.session import Session
from rulescore.setting.model import Setting

MOTIVATING_FACTS = (("alice", "mother", "bob"), ("christopher", "father", "bob"), ("alice", "sister", "daniel"))
MOTIVATING_RULE = "false <- sister(X, Y), wife(X, Y)."
MOTIVATING_PREDICTIONS = {
    "first": ("alice", "wife", "christopher"),
    "second": ("alice", "wife", "daniel"),
}

Triple = tuple[str, ...]
"""Head, relation, tail."""


@dataclass(frozen=True, slots=True)
class RightShare:
    right: int
    queries: int

    @property
    def share(self) -> float:
        return self.right / self.queries


@dataclass(frozen=True, slots=True)
class Demo:
    """What the demo found and wrote. Each held-out fact is a query: who is the relation of its tail? `accuracies`: by model. Only
    these figures use the held-out facts."""

    motivating: Evaluation
    observed: tuple[Triple, ...]
    held_out: tuple[Triple, ...]
    kinship: Evaluation
    accuracies: dict[str, RightShare]
    project: Path
    written: tuple[Path, ...]


def run(folder: Path) -> Demo:
    """Scores the motivating example and the kinship graph, and writes data and results into the folder."""
    files, predictions = _texts("kinship"), _texts("kinship", "predictions")
    _refuse_foreign(folder, files["rulescore.toml"])
    inputs = (*write_files(folder, files), *write_files(folder / "predictions", predictions))
    project = load_project(folder / "rulescore.toml")
    evaluation = _evaluate(project.setting)
    held_out = _triples(files["held-out.tsv"])
    answers = {name.removesuffix(".tsv"): _triples(text) for name, text in predictions.items()}
    return Demo(
        motivating=score_motivating_example(),
        observed=_triples(files["facts.tsv"]),
        held_out=held_out,
        kinship=evaluation,
        accuracies={model: _accuracy(held_out, triples) for model, triples in answers.items()},
        project=folder / "rulescore.toml",
        written=(*inputs, *write_outputs(evaluation, folder / "results", project.formats)),
    )


def score_motivating_example() -> Evaluation:
    predictions = {model: [prediction] for model, prediction in MOTIVATING_PREDICTIONS.items()}
    return _evaluate(make_setting(list(MOTIVATING_FACTS), predictions, MOTIVATING_RULE))


def _texts(*folder: str) -> dict[str, str]:
    """The files of a folder of ours. `held-out.tsv` is only for the user to look at: the project file does not name it."""
    files = resources.files("rulescore.demo").joinpath(*folder).iterdir()
    return {file.name: file.read_text(encoding="utf-8") for file in sorted(files, key=lambda file: file.name) if file.is_file()}


def _triples(text: str) -> tuple[Triple, ...]:
    return tuple(tuple(line.split("\t")) for line in text.splitlines()[1:])


def _accuracy(held_out: Sequence[Triple], predictions: Sequence[Triple]) -> RightShare:
    right = sum(prediction == truth for prediction, truth in zip(predictions, held_out, strict=True))
    return RightShare(right, len(held_out))


def _evaluate(setting: Setting) -> Evaluation:
    with Session(setting) as session:
        return session.evaluate()


def _refuse_foreign(folder: Path, text: str) -> None:
    """Raises an error if the folder holds anything but an earlier demo: we do not overwrite the user's files."""
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    project = folder / "rulescore.toml"
    if project.is_file() and project.read_bytes().startswith(text.partition("\n")[0].encode()):
        return
    message = f"`{folder}` holds files that the demo did not write"
    raise InputError(Diagnostic("E601", message, helps=("choose a new folder with `--folder`",)))
