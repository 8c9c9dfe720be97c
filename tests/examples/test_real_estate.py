"""Property sales: the generated register hangs together, models learn from what is not hidden, and scores are counted right."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from dvf import Register, make_register
from example_runs import EXAMPLES, run_example, score_project
from market import SIZES, Size
from regressors import Prices, group_median, neighbours, ridge
from sales import Kind, Sales, read_slice
from shared_data import shared

pytestmark = pytest.mark.slow

LIMITS = {
    "near-house": (Kind.HOUSE, 1_500),
    "near-apartment": (Kind.APARTMENT, 1_500),
    "near-outbuilding": (Kind.OUTBUILDING, 20_000),
    "near-commercial": (Kind.COMMERCIAL, 3_000),
}
RULES = EXAMPLES / "real-estate" / "proximity.rules"
TABLES = {
    "mutation",
    "mutation_article_cgi",
    "disposition",
    "disposition_parcelle",
    "parcelle",
    "suf",
    "lot",
    "volume",
    "local",
    "adresse",
    "adresse_local",
    "adresse_dispoparc",
    "ann_nature_mutation",
}

Counts = tuple[int, int]
"""Refuted and evaluable groundings."""


@pytest.fixture(scope="module")
def register() -> Register:
    return make_register(SIZES["small"], np.random.default_rng(1))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("real-estate")
    run_example("real-estate", "--out", str(folder))
    return folder


@pytest.fixture(scope="module")
def scored(folder: Path) -> dict[str, Any]:
    return score_project(folder)


def read_prices(path: Path) -> Prices:
    with path.open(encoding="utf-8", newline="") as file:
        return {int(number): float(price) for number, price in list(csv.reader(file))[1:]}


def expected(sales: Sales, models: dict[str, Prices]) -> dict[str, dict[str, Counts]]:
    """Violations by comparing every pair of a group: over the data (`dataset`) and for each model."""
    unit = sales.prices / np.maximum(sales.quantities, 1)
    row = {number: index for index, number in enumerate(sales.ids.tolist())}
    groups = np.array([f"{postal} {year}" for postal, year in zip(sales.postal_codes, sales.years, strict=True)])
    found: dict[str, dict[str, Counts]] = {}
    for rule, (kind, limit) in LIMITS.items():
        of_kind = sales.kinds == kind
        members = {name: unit[of_kind & ~sales.hidden & (groups == name)] for name in np.unique(groups)}
        pairs = [far(prices[:, None], prices[None, :], limit) for prices in members.values()]
        counts = {"dataset": (sum(pairs), sum(len(prices) * (len(prices) - 1) for prices in members.values()))}
        for model, prices in models.items():
            asked = [(row[number], price) for number, price in prices.items() if of_kind[row[number]]]
            # The predicted sale stands on either side of a pair.
            refuted = sum(far(price / sales.quantities[at], members[groups[at]], limit) for at, price in asked)
            counts[model] = (2 * refuted, 2 * sum(len(members[groups[at]]) for at, _ in asked))
        found[rule] = counts
    return found


def far(one: np.ndarray | float, other: np.ndarray, limit: float) -> int:
    return int((np.abs(one - other) > limit).sum())


def counted(scored: dict[str, Any]) -> dict[str, dict[str, Counts]]:
    def counts(found: dict[str, Any]) -> Counts:
        return found["refuted"], found["evaluable"]

    return {
        rule["name"]: {name: counts(found) for name, found in {"dataset": rule["dataset"], **rule["models"]}.items()}
        for rule in scored["rules"]
    }


def test_the_register_has_thirteen_tables(register: Register) -> None:
    assert set(register.tables) == TABLES
    assert all(table.num_rows for table in register.tables.values())


def test_the_full_register_has_about_4_8_million_rows() -> None:
    """Tables grow with the sales, so a twentieth of the full size tells."""
    full = SIZES["full"]
    part = make_register(Size(full.sales // 20, 100, full.postal_codes // 20), np.random.default_rng(1))
    assert 20 * part.tuples == pytest.approx(4_800_000, rel=0.02)


def test_one_seed_makes_one_register(register: Register) -> None:
    again = make_register(SIZES["small"], np.random.default_rng(1))
    other = make_register(SIZES["small"], np.random.default_rng(2))
    assert again.tables == register.tables
    assert other.tables["mutation"] != register.tables["mutation"]


@pytest.mark.parametrize(
    ("table", "column", "other"),
    [
        ("local", "idmutation", "mutation"),
        ("adresse_local", "iddispoloc", "local"),
        ("adresse_local", "idadresse", "adresse"),
        ("adresse_dispoparc", "iddispopar", "disposition_parcelle"),
        ("disposition_parcelle", "idparcelle", "parcelle"),
        ("suf", "iddispopar", "disposition_parcelle"),
        ("lot", "idmutation", "mutation"),
        ("mutation", "idnatmut", "ann_nature_mutation"),
    ],
)
def test_foreign_keys_lead_to_one_row(register: Register, table: str, column: str, other: str) -> None:
    keys = register.tables[other][column]
    assert pc.count_distinct(keys).as_py() == len(keys)
    assert pc.all(pc.is_in(register.tables[table][column], value_set=keys.combine_chunks())).as_py()


def test_most_sales_of_a_group_cost_much_the_same(register: Register) -> None:
    for rule, counts in expected(register.sales, {}).items():
        refuted, evaluable = counts["dataset"]
        assert 0.02 < refuted / evaluable < 0.3, rule


@pytest.mark.parametrize("model", [ridge, neighbours, group_median])
def test_a_model_never_looks_at_hidden_prices(register: Register, model: object) -> None:
    assert callable(model)
    sales = register.sales
    prices = sales.prices.copy()
    prices[sales.hidden] = np.flip(prices[sales.hidden])
    assert model(replace(sales, prices=prices)) == model(sales)


def test_the_counts_are_those_of_comparing_every_pair(register: Register, folder: Path, scored: dict[str, Any]) -> None:
    models = {name: read_prices(folder / f"{name}.csv") for name in ("ridge", "neighbours", "group-median", "truth")}
    assert counted(scored) == expected(register.sales, models)


def test_hidden_prices_change_no_score(folder: Path, scored: dict[str, Any], tmp_path: Path, register: Register) -> None:
    """The labels of hidden sales lie in the very table that is scored; permuting them changes nothing."""
    for path in folder.rglob("*"):
        if path.is_file():
            copy = tmp_path / path.relative_to(folder)
            copy.parent.mkdir(exist_ok=True)
            copy.write_bytes(path.read_bytes())
    prices = register.sales.prices.copy()
    prices[register.sales.hidden] = np.flip(prices[register.sales.hidden])
    table = register.tables["mutation"]
    permuted = table.set_column(table.column_names.index("valeurfonc"), "valeurfonc", pa.array(prices))
    assert permuted != table
    pq.write_table(permuted, tmp_path / "tables" / "mutation.parquet")
    assert score_project(tmp_path) == scored


def test_a_database_scores_like_files(scored: dict[str, Any], tmp_path: Path) -> None:
    run_example("real-estate", "--out", str(tmp_path), "--database")
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".duckdb"] == ["dvf.duckdb"]
    assert score_project(tmp_path)["rules"] == scored["rules"]


def test_the_group_median_breaks_fewer_rules_than_the_truth(scored: dict[str, Any]) -> None:
    models = scored["models"]
    assert models["group-median"]["soft_score"] < models["ridge"]["soft_score"] < models["truth"]["soft_score"]


def test_the_real_slice_is_scored_by_the_same_rules(tmp_path: Path) -> None:
    path = shared("dvf-nantes/sales.parquet")
    printed = run_example("real-estate", "--out", str(tmp_path), "--sales", str(path))
    assert "35,103 sales" in printed
    assert (tmp_path / "proximity.rules").read_bytes() == (
        Path(__file__).parents[2] / "examples/real-estate/proximity.rules"
    ).read_bytes()
    sales = read_slice(path, np.random.default_rng(1))
    models = {name: read_prices(tmp_path / f"{name}.csv") for name in ("ridge", "truth")}
    found = {
        rule: {name: counts[name] for name in ("dataset", *models)} for rule, counts in counted(score_project(tmp_path)).items()
    }
    assert found == expected(sales, models)
