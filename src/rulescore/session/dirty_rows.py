"""The rows and cells that violations of the data name."""

from __future__ import annotations

from collections.abc import Iterator

from rulescore.counting.listing_rows import cells_of_violations
from rulescore.engines.base import purpose
from rulescore.scoring.dirt import Cells, Dirty, DirtyBy, counted_by
from rulescore.session.session import Session


def dirt_of(session: Session, by: DirtyBy, rule: str | None = None) -> list[Dirty]:
    """The rows, cells or groups of rows that violations of one rule, or of all, name. Rules in SQL name no rows. The session must
    count every rule as a formula (`horn=False`): these know which rows their atoms are about."""
    return counted_by(by, _named(session, rule))


def _named(session: Session, wanted: str | None) -> Iterator[tuple[str, Cells]]:
    for number, info in enumerate(session.rules[: len(session.program.rules)]):
        if wanted in (None, info.name):
            with purpose(f"listing the rows of rule `{info.name}`"):
                context = session.formulas.context(number, predictions=False)
                yield from ((info.name, cells) for cells in cells_of_violations(session.engine, context))
