"""Weights & Biases: logs a result to a run."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rulescore.errors import Diagnostic, InputError, MissingExtraError
from rulescore.integrations.measures import logged_measures, logged_options
from rulescore.session.result import Result

try:
    import wandb
except ImportError as error:
    raise MissingExtraError("`rulescore.integrations.wandb`", "wandb") from error


__all__ = ["log_result"]


def log_result(result: Result, run: Any = None, *, prefix: str = "", step: int | None = None, name: str = "rulescore") -> None:
    """Logs a result to a run of Weights & Biases.

    Scores become metrics (`rvs_hard`, or `transe/rvs_hard` if there are several models), options go into the run's configuration.
    Undefined scores are left out. The whole result becomes an artifact; `rulescore.load_result` reads its `result.json`.

    Args:
        result: what `rulescore.score` or `rulescore.load_result` returns.
        run: the run; the current run unless given.
        prefix: put before the names of metrics.
        step: the step of the metrics.
        name: the name of the artifact.

    Raises:
        InputError: there is no run.
    """
    chosen = wandb.run if run is None else run
    if chosen is None:
        helps = ("start one with `wandb.init()`, or pass one: `log_result(result, run)`",)
        raise InputError(Diagnostic("E404", "there is no run to log to", helps=helps))
    chosen.log(logged_measures(result, prefix), step=step)
    chosen.config.update({"rulescore": logged_options(result)}, allow_val_change=True)
    artifact = wandb.Artifact(name, type="rulescore")
    with TemporaryDirectory() as here:
        for path in result.save(Path(here) / "result.json"):
            # By default, W&B copies the files, so they outlive the temporary folder.
            artifact.add_file(str(path))
    chosen.log_artifact(artifact)
