"""The project files of this example, and what lies beside them."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable
from pathlib import Path

from regressors import Prices
from sales import Sales

RULES = Path(__file__).with_name("proximity.rules")
PARQUET = 'path = "tables/{name}.parquet"'

# The register's own tables, joined as it links them. `sale` is a row of `mutation` with what is reached from it.
REGISTER_PROJECT = """\
rules = "proximity.rules"
truth = "prices.csv"

[tables.sale]
{mutation}
key = "idmutation"
target = "valeurfonc"
hidden = {{ path = "hidden.csv" }}

[tables.sale.reached]
libtyploc = "idmutation = local.idmutation, libtyploc"
surface = "idmutation = local.idmutation, sbati"
codepostal = "idmutation = local.idmutation, iddispoloc = adresse_local.iddispoloc, idadresse = adresse.idadresse, codepostal"

[tables.sale.derived]
price_per_m2 = "valeurfonc / surface"
price_per_unit = "valeurfonc / nblocdep"

[tables.local]
{local}

[tables.adresse_local]
{adresse_local}

[tables.adresse]
{adresse}
"""

# A slice with columns of its own: a table of a database has them under the register's names.
SLICE_PROJECT = """\
rules = "proximity.rules"
truth = "prices.csv"

[tables.sale]
database = "slice.duckdb"
table = "sale"
key = "idmutation"
target = "valeurfonc"
hidden = { path = "hidden.csv" }

[tables.sale.derived]
price_per_m2 = "valeurfonc / surface"
price_per_unit = "valeurfonc / nblocdep"
"""


def register_project(source: str) -> str:
    """The project file of a register. `source`: the keys that say where the table of a name is."""
    tables = ("mutation", "local", "adresse_local", "adresse")
    return REGISTER_PROJECT.format(**{name: source.format(name=name) for name in tables})


def write_project(folder: Path, sales: Sales, predictions: dict[str, Prices], project: str) -> None:
    """Rules, the sales that are hidden and their prices, what models say of them, and the project file."""
    shutil.copyfile(RULES, folder / RULES.name)
    _write_csv(folder / "hidden.csv", ("idmutation",), ((number,) for number in sales.labels))
    _write_csv(folder / "prices.csv", ("idmutation", "valeurfonc"), sales.labels.items())
    for model, prices in predictions.items():
        _write_csv(folder / f"{model}.csv", ("idmutation", "prediction"), prices.items())
    models = "\n".join(f'[predictions.{model}]\ntable = "sale"\npath = "{model}.csv"\n' for model in predictions)
    (folder / "rulescore.toml").write_text(f"{project}\n{models}", encoding="utf-8")


def _write_csv(path: Path, header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
