"""A million made triples, read as facts: `python benchmarks/rdf.py [FILE]`. Without a file it writes one, in a temporary folder."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

from rulescore.readers.sources import observed_streams

_XSD = "http://www.w3.org/2001/XMLSchema#"
_PLACE = "http://example.org"


def write(path: Path, triples: int = 1_000_000) -> None:
    """N-Triples: four of five objects are entities, the others names, whole numbers, floats and dates."""
    chance = random.Random(7)

    def term(relation: int) -> str:
        match relation:
            case 16:
                return f'"name {chance.randrange(10**6)}"@en'
            case 17:
                return f'"{chance.randrange(100)}"^^<{_XSD}integer>'
            case 18:
                return f'"{chance.random()}"^^<{_XSD}double>'
            case 19:
                return f'"19{chance.randrange(10, 99)}-05-03"^^<{_XSD}date>'
            case _:
                return f"<{_PLACE}/entity/{chance.randrange(200_000)}>"

    with path.open("w", encoding="utf-8") as file:
        for _ in range(triples):
            relation = chance.randrange(20)
            head = f"<{_PLACE}/entity/{chance.randrange(200_000)}>"
            file.write(f"{head} <{_PLACE}/relation/{relation}> {term(relation)} .\n")


def measure(path: Path) -> None:
    start = time.process_time()
    rows = sum(batch.rows.num_rows for stream in observed_streams(path) for batch in stream.open())
    print(f"{path.name}: {rows:,} facts in {time.process_time() - start:.2f} s of processor time")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder) / "made.nt"
            write(made)
            measure(made)
