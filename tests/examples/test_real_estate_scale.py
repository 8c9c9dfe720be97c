"""The register of any size: 13 tables that grow with the scale, the same files from one seed, a project that is scored as it is."""

from __future__ import annotations

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import rulescore

KINDS = ("house", "apartment", "outbuilding", "commercial")
SCRIPT = Path(__file__).parents[2] / "benchmarks" / "real_estate.py"


def make(folder: Path, *options: str) -> str:
    command = [sys.executable, SCRIPT, folder, "--scale", "0.004", *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("register")
    make(folder)
    return folder


def digests(folder: Path) -> dict[str, str]:
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*.*") if path.is_file()}


def test_it_grows_with_the_scale(folder: Path) -> None:
    rows = {path.stem: pq.read_metadata(path).num_rows for path in (folder / "tables").iterdir()}
    assert len(rows) == 13
    assert rows["mutation"] == round(0.004 * 392_809)
    assert sum(rows.values()) == pytest.approx(0.004 * 4_800_000, rel=0.05)
    assert len((folder / "hidden.csv").read_text().splitlines()) == 1 + round(0.004 * 2_213)


def test_one_seed_makes_the_same_files(folder: Path, tmp_path: Path) -> None:
    make(tmp_path / "again")
    make(tmp_path / "other", "--seed", "2")
    assert digests(tmp_path / "again") == digests(folder)
    assert digests(tmp_path / "other")["mutation.parquet"] != digests(folder)["mutation.parquet"]


def test_it_is_scored_as_it_is(folder: Path) -> None:
    with rulescore.open(folder / "rulescore.toml") as session:
        result = session.score()
    assert {rule.info.name for rule in result.rule_results} == {f"near-{kind}" for kind in KINDS}
    assert [model.name for model in result.model_results] == ["group-median", "truth"]
    median, truth = (model.soft_score.value for model in result.model_results)
    assert median is not None
    assert truth is not None
    assert 0 < median < truth
