"""MLflow: logs a result to a run."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from rulescore.errors import MissingExtraError
from rulescore.integrations.measures import logged_measures, logged_options
from rulescore.session.result import Result

try:
    import mlflow
except ImportError as error:
    raise MissingExtraError("`rulescore.integrations.mlflow`", "mlflow") from error

__all__ = ["log_result"]


def log_result(result: Result, *, prefix: str = "", step: int | None = None, folder: str = "rulescore") -> None:
    """Logs a result to the active run; if there is none, MLflow starts one.

    Scores become metrics (`rvs_hard`, or `transe/rvs_hard` if there are several models), options become parameters. Undefined
    scores are left out. The whole result becomes artifacts; `rulescore.load_result` reads the `result.json` among them.

    Args:
        result: what `rulescore.score` or `rulescore.load_result` returns.
        prefix: put before the names of metrics.
        step: the step of the metrics.
        folder: the folder of the artifacts.
    """
    mlflow.log_metrics(logged_measures(result, prefix), step=step)
    mlflow.log_params({f"rulescore.{name}": value for name, value in logged_options(result).items()})
    with TemporaryDirectory() as here:
        result.save(Path(here) / "result.json")
        mlflow.log_artifacts(here, folder)
