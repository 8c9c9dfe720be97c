"""Results in runs of MLflow and W&B, in files of this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rulescore
from rulescore.errors import InputError
from rulescore.integrations.measures import logged_measures

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("trackers"),
    # Theirs, and those of what they use.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"),
]

FACTS = [("alice", "mother", "bob"), ("christopher", "father", "bob"), ("alice", "sister", "daniel")]
RULES = "@hard siblings: false <- sister(X, Y), wife(X, Y)."


def result(*models: str) -> rulescore.Result:
    predicted = {name: [("alice", "wife", "daniel" if place else "christopher")] for place, name in enumerate(models, 1)}
    return rulescore.score(FACTS, predicted, RULES, weights={"siblings": 2.0})


def test_names_are_the_model_s_if_there_are_several() -> None:
    assert logged_measures(result("a")) == {"rvs_hard": 1, "violating_predictions": 1}
    assert logged_measures(result("a", "b/c?"), "test ") == {
        "test a/rvs_hard": 1,
        "test a/violating_predictions": 1,
        "test b_2f_c_3f_/rvs_hard": 1,
        "test b_2f_c_3f_/violating_predictions": 1,
    }
    unmeasured = rulescore.score(FACTS, {"a": [("alice", "mother", "daniel")]}, RULES)
    assert logged_measures(unmeasured) == {}


def test_mlflow_has_scores_options_and_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Files are what MLflow begins with nowhere but here: it wants to be told.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    import mlflow

    from rulescore.integrations.mlflow import log_result

    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    found = result("a", "b/c?")
    with mlflow.start_run() as run:
        mlflow.log_metric("accuracy", 0.5)
        log_result(found, step=3)
    logged = mlflow.get_run(run.info.run_id).data
    assert logged.metrics == {"accuracy": 0.5, **logged_measures(found)}
    assert logged.params["rulescore.convention"] == "definition"
    assert json.loads(logged.params["rulescore.weights"]) == {"siblings": 2.0}
    (path,) = (tmp_path / "runs").rglob("result.json")
    assert path.parent.name == "rulescore"
    assert rulescore.load_result(path).model_results == found.model_results
    assert rulescore.load_result(path).contributions.num_rows == 2


def test_wandb_has_scores_options_and_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WANDB_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
        (tmp_path / name).mkdir()
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    import wandb

    from rulescore.integrations.wandb import log_result

    found = result("a")
    with pytest.raises(InputError, match="E404"):
        log_result(found)
    with wandb.init(project="rulescore", dir=tmp_path) as run:
        log_result(found)
        assert dict(run.summary)["rvs_hard"] == 1
        assert run.config["rulescore"]["convention"] == "definition"
    kept = [path for path in (tmp_path / "WANDB_DATA_DIR").rglob("*") if path.is_file()]
    assert any(b'"program": "rulescore"' in path.read_bytes() for path in kept), kept
