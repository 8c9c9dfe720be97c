"""Property sales as a model sees them, whichever tables they come from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq


class Kind(StrEnum):
    """Kinds of premises, as the register writes them."""

    HOUSE = "Maison"
    APARTMENT = "Appartement"
    OUTBUILDING = "Dépendance"
    COMMERCIAL = "Local industriel. commercial ou assimilé"


SLICE_TYPES = {
    "house": Kind.HOUSE,
    "apartment": Kind.APARTMENT,
    "outbuilding": Kind.OUTBUILDING,
    "industrial": Kind.COMMERCIAL,
}
"""How a slice of the register in English names them."""


@dataclass(frozen=True, slots=True)
class Sales:
    """Columns of equal length. `surfaces` are 0 for outbuildings, of which `units` are counted instead."""

    ids: np.ndarray
    kinds: np.ndarray
    postal_codes: np.ndarray
    years: np.ndarray
    surfaces: np.ndarray
    units: np.ndarray
    prices: np.ndarray
    hidden: np.ndarray

    @property
    def quantities(self) -> np.ndarray:
        """What a price is divided by to compare it with others: square metres, or a number of outbuildings."""
        return np.where(self.kinds == Kind.OUTBUILDING, self.units, self.surfaces)

    @property
    def labels(self) -> dict[int, float]:
        """The prices of hidden sales."""
        return dict(zip(self.ids[self.hidden].tolist(), self.prices[self.hidden].tolist(), strict=True))


def read_slice(path: Path, random: np.random.Generator, *, hidden_share: float = 0.1) -> Sales:
    """A Parquet file with the columns id, type, postal_code, year, price, surface, n_outbuildings."""
    rows = pq.read_table(path, columns=["id", "type", "postal_code", "year", "price", "surface", "n_outbuildings"])
    kinds = np.array([str(SLICE_TYPES[name]) for name in rows["type"].to_pylist()])
    return Sales(
        ids=rows["id"].to_numpy(),
        kinds=kinds,
        postal_codes=rows["postal_code"].to_numpy().astype(str),
        years=rows["year"].to_numpy(),
        surfaces=pc.fill_null(rows["surface"], 0).to_numpy(),
        units=rows["n_outbuildings"].to_numpy(),
        prices=rows["price"].cast("float64").to_numpy(),
        hidden=random.random(rows.num_rows) < hidden_share,
    )


def write_slice(path: Path, database: Path) -> None:
    """A database with one table of the rows of such a file, in which its columns and kinds have the register's names."""
    database.unlink(missing_ok=True)
    kinds = " ".join(f"WHEN '{name}' THEN '{kind}'" for name, kind in SLICE_TYPES.items())
    file = path.resolve().as_posix().replace("'", "''")
    with duckdb.connect(database) as connection:
        connection.execute(f"""
            CREATE TABLE sale AS
            SELECT id AS idmutation, CASE type {kinds} END AS libtyploc, postal_code AS codepostal, year AS anneemut,
                price AS valeurfonc, surface, n_outbuildings AS nblocdep
            FROM read_parquet('{file}')
        """)
