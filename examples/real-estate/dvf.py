"""Property sales in the tables of DVF+, the French register of sales: its names, keys and most of its columns.

A sale is of one kind of premises, so that its price belongs to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from market import DEPARTMENT, Size, make_sales
from sales import Kind, Sales

Rows = dict[str, np.ndarray]
"""Columns of one table, by name."""

NATURES = ("Vente", "Vente en l'état futur d'achèvement", "Adjudication", "Echange", "Expropriation", "Vente terrain à bâtir")
STREETS = ("RUE DES LILAS", "RUE DU PORT", "ALLEE DES TILLEULS", "QUAI NEUF", "RUE HAUTE", "PLACE DU MARCHE", "RUE DE LA GARE")
COUNTERS = {Kind.HOUSE: "nblocmai", Kind.APARTMENT: "nblocapt", Kind.OUTBUILDING: "nblocdep", Kind.COMMERCIAL: "nblocact"}


@dataclass(frozen=True, slots=True)
class Register:
    """The tables, and the sales as a model sees them. Prices of hidden sales are in the tables: they are the labels."""

    tables: dict[str, pa.Table]
    sales: Sales

    @property
    def tuples(self) -> int:
        return sum(table.num_rows for table in self.tables.values())


@dataclass(frozen=True, slots=True)
class Parts:
    """How many of each thing belong to each sale."""

    premises: np.ndarray
    parcels: np.ndarray
    dispositions: np.ndarray
    lots: np.ndarray
    volumes: np.ndarray
    articles: np.ndarray


def make_register(size: Size, random: np.random.Generator) -> Register:
    sales = make_sales(size, random)
    ids, parts = sales.ids, _make_parts(sales, random)
    local = _local(sales, parts.premises, random)
    parcel = _parcels(ids, parts.parcels, random)
    address, local_address, parcel_address = _addresses(sales, local, parcel, random)
    tables: dict[str, Rows] = {
        "mutation": _mutation(sales, parts, random),
        "mutation_article_cgi": _articles(ids, parts.articles, random),
        "disposition": _numbered("iddispo", ids, parts.dispositions) | {"nodispo": _position(parts.dispositions)},
        "disposition_parcelle": parcel,
        "parcelle": _plots(parcel),
        "suf": _subdivisions(parcel, random),
        "lot": _lots(ids, parts.lots, random),
        "volume": _numbered("iddispovol", ids, parts.volumes) | {"novolume": _position(parts.volumes)},
        "local": local,
        "adresse": address,
        "adresse_local": local_address,
        "adresse_dispoparc": parcel_address,
        "ann_nature_mutation": {"idnatmut": np.arange(len(NATURES)) + 1, "libnatmut": np.array(NATURES)},
    }
    return Register({name: pa.table(rows) for name, rows in tables.items()}, sales)


def write_parquet(register: Register, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in register.tables.items():
        pq.write_table(table, folder / f"{name}.parquet")


def write_database(register: Register, path: Path) -> None:
    path.unlink(missing_ok=True)
    with duckdb.connect(path) as connection:
        for name, table in register.tables.items():
            connection.register("rows", table)
            connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM "rows"')
            connection.unregister("rows")


def _make_parts(sales: Sales, random: np.random.Generator) -> Parts:
    number = len(sales.ids)
    house = sales.kinds == Kind.HOUSE
    return Parts(
        premises=np.where(sales.kinds == Kind.OUTBUILDING, sales.units, 1),
        parcels=1 + random.poisson(np.where(house, 0.5, 0.15)),
        dispositions=1 + (random.random(number) < 0.04),
        lots=np.where(house, 0, 1 + random.poisson(0.6, number)),
        volumes=(random.random(number) < 0.004).astype(np.int64),
        articles=1 + (random.random(number) < 0.1),
    )


def _mutation(sales: Sales, parts: Parts, random: np.random.Generator) -> Rows:
    number = len(sales.ids)
    months, days = random.integers(1, 13, number), random.integers(1, 29, number)
    nature = random.choice(len(NATURES), number, p=[0.9, 0.07, 0.01, 0.01, 0.005, 0.005])
    return {
        "idmutation": sales.ids,
        "idmutinvar": _coded("m", sales.ids),
        "idnatmut": nature + 1,
        "libnatmut": np.array(NATURES)[nature],
        "datemut": _dates(sales.years, months, days),
        "anneemut": sales.years,
        "moismut": months,
        "coddep": np.full(number, DEPARTMENT),
        "vefa": nature == 1,
        "valeurfonc": sales.prices,
        "nbdispo": parts.dispositions,
        "nblot": parts.lots,
        "nbpar": parts.parcels,
        "nbvolmut": parts.volumes,
        "nblocmut": parts.premises,
        **{column: np.where(sales.kinds == kind, parts.premises, 0) for kind, column in COUNTERS.items()},
        "sbati": sales.surfaces,
    }


def _articles(ids: np.ndarray, articles: np.ndarray, random: np.random.Generator) -> Rows:
    """The articles of the tax code that a sale falls under."""
    number = int(articles.sum())
    return {"idmutation": np.repeat(ids, articles), "idartcgi": random.integers(1, 40, number), "ordarticgi": _position(articles)}


def _local(sales: Sales, premises: np.ndarray, random: np.random.Generator) -> Rows:
    """One row for each of the premises of a sale; outbuildings have no surface in the register."""
    rows = _numbered("iddispoloc", sales.ids, premises)
    kinds, surfaces = np.repeat(sales.kinds, premises), np.repeat(sales.surfaces, premises)
    lived_in = (kinds == Kind.HOUSE) | (kinds == Kind.APARTMENT)
    return {
        **rows,
        "idloc": _coded(DEPARTMENT, random.permutation(len(kinds))),
        "codtyploc": np.array([list(Kind).index(Kind(kind)) + 1 for kind in kinds]),
        "libtyploc": np.array([str(kind) for kind in kinds]),
        "nbpprinc": np.where(lived_in, np.maximum(1, surfaces // 22), 0),
        "sbati": surfaces,
        "coddep": _department(rows),
    }


def _parcels(ids: np.ndarray, parcels: np.ndarray, random: np.random.Generator) -> Rows:
    """Parcels as they occur in sales; one parcel may be sold again, or in parts."""
    rows = _numbered("iddispopar", ids, parcels)
    number = len(rows["iddispopar"])
    return {**rows, "idparcelle": random.integers(1, int(1.6 * number), number), "parcvendue": random.random(number) < 0.95}


def _plots(parcel: Rows) -> Rows:
    numbers = np.unique(parcel["idparcelle"])
    return {
        "idparcelle": numbers,
        "idpar": _coded(f"{DEPARTMENT}109000", numbers),
        "coddep": np.full(len(numbers), DEPARTMENT),
        "codcomm": np.full(len(numbers), "109"),
        "nosect": _coded("S", numbers // 500),
        "noplan": numbers % 500,
    }


def _subdivisions(parcel: Rows, random: np.random.Generator) -> Rows:
    times = 1 + random.poisson(0.65, len(parcel["iddispopar"]))
    rows = _numbered("iddisposuf", parcel["idmutation"], times)
    cultures = np.array(["sols", "jardins", "terrains d'agrément", "terres", "prés"])
    number = len(rows["iddisposuf"])
    return {
        **rows,
        "iddispopar": np.repeat(parcel["iddispopar"], times),
        "natcult": cultures[random.choice(len(cultures), number, p=[0.7, 0.1, 0.1, 0.06, 0.04])],
        "sterr": random.integers(20, 1_500, number),
    }


def _lots(ids: np.ndarray, lots: np.ndarray, random: np.random.Generator) -> Rows:
    rows = _numbered("iddispolot", ids, lots)
    number = len(rows["iddispolot"])
    return {**rows, "nolot": random.integers(1, 400, number), "scarrez": np.round(random.gamma(4, 14, number), 2)}


def _addresses(sales: Sales, local: Rows, parcel: Rows, random: np.random.Generator) -> tuple[Rows, Rows, Rows]:
    """Addresses of a postal code are shared by its sales; premises and parcels of one sale stand at one address."""
    codes, place = np.unique(sales.postal_codes, return_inverse=True)
    each = max(1, round(0.9 * len(sales.ids) / len(codes)))
    chosen = place * each + random.integers(0, each, len(sales.ids))
    used, address = np.unique(chosen, return_inverse=True)
    addresses: Rows = {
        "idadresse": np.arange(1, len(used) + 1),
        "novoie": random.integers(1, 150, len(used)),
        "voie": np.array(STREETS)[random.integers(0, len(STREETS), len(used))],
        "codepostal": codes[used // each],
        "commune": np.array([f"COMMUNE {code}" for code in codes])[used // each],
        "coddep": np.full(len(used), DEPARTMENT),
    }
    # Sales are numbered from 1 in the order of their rows.
    of_sale = address + 1

    def links(rows: Rows, key: str) -> Rows:
        ids = rows["idmutation"]
        return {key: rows[key], "idadresse": of_sale[ids - 1], "idmutation": ids, "coddep": _department(rows)}

    return addresses, links(local, "iddispoloc"), links(parcel, "iddispopar")


def _numbered(key: str, ids: np.ndarray, times: np.ndarray) -> Rows:
    """Rows that belong to sales, some to each, with a key of their own."""
    return {key: np.arange(1, int(times.sum()) + 1), "idmutation": np.repeat(ids, times)}


def _position(times: np.ndarray) -> np.ndarray:
    """1, 2, … within each sale."""
    starts = np.repeat(np.cumsum(times) - times, times)
    return np.arange(int(times.sum())) - starts + 1


def _department(rows: Rows) -> np.ndarray:
    return np.full(len(rows["idmutation"]), DEPARTMENT)


def _coded(prefix: str, numbers: np.ndarray) -> np.ndarray:
    return np.char.add(prefix, np.char.zfill(numbers.astype(str), 7))


def _dates(years: np.ndarray, months: np.ndarray, days: np.ndarray) -> np.ndarray:
    begin = (years - 1970).astype("datetime64[Y]").astype("datetime64[M]")
    return (begin + (months - 1)).astype("datetime64[D]") + (days - 1)
