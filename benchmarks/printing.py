"""Tables of plain text, and targets with whether they are met."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from measure import Report, Spread, spread

MEBIBYTE, GIBIBYTE, GIGABYTE = 2**20, 2**30, 10**9

Table = list[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Target:
    """A promise of the package, what was measured, and whether it was kept (by the median)."""

    claim: str
    found: Spread
    limit: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.found.middle >= self.limit if self.at_least else self.found.middle <= self.limit


def show_targets(targets: Sequence[Target]) -> None:
    table: Table = [("target", "found", "limit", "")]
    for t in targets:
        limit = f"{'at least' if t.at_least else 'at most'} {t.limit:,g}"
        table.append((t.claim, spread_text(t.found), limit, "met" if t.met else "NOT MET"))
    if targets:
        show(table)


def memory(reports: Iterable[Report]) -> Spread:
    return spread([report.peak_memory / MEBIBYTE for report in reports])


def memory_text(reports: Iterable[Report]) -> str:
    return f"{memory(reports).high:,.0f}"


def spread_text(found: Spread) -> str:
    return f"{_number(found.middle)} [{_number(found.low)}..{_number(found.high)}]"


def _number(value: float) -> str:
    """Three digits that matter."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown: the first column to the left, the others to the right."""
    lines = [header, ["---"] + ["--:"] * (len(header) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def show(table: Table) -> None:
    """Columns of plain text: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for first, *others in table:
        cells = [first.ljust(widths[0]), *(text.rjust(width) for text, width in zip(others, widths[1:], strict=True))]
        print("  ".join(cells).rstrip())
    print(flush=True)
