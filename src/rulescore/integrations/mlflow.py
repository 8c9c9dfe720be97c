"""MLflow: a result in a run beside everything else that is logged there."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from rulescore.errors import MissingExtraError
from rulescore.integrations.measures import logged_measures, logged_options
from rulescore.result import Result

try:
    import mlflow
except ImportError as error:
    raise MissingExtraError("`rulescore.integrations.mlflow`", "mlflow") from error

__all__ = ["log_result"]


def log_result(result: Result, *, prefix: str = "", step: int | None = None, folder: str = "rulescore") -> None:
    """Logs a result to the active run, or to a new one as MLflow does: scores as metrics (`rvs_hard`, or `transe/rvs_hard` if there
    are several models), options as parameters, and the whole result as artifacts in `folder`: `rulescore.load_result` reads its
    `result.json`. What is undefined is left out.

    `prefix`: stands before the names of metrics. `step`: of the metrics."""
    mlflow.log_metrics(logged_measures(result, prefix), step=step)
    mlflow.log_params({f"rulescore.{name}": value for name, value in logged_options(result).items()})
    with TemporaryDirectory() as here:
        result.save(Path(here) / "result.json")
        mlflow.log_artifacts(here, folder)
