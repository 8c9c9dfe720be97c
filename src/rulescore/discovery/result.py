"""What `rulescore.discover` returns: one discovery of facts and tables, as text, as files and in notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from rulescore.arguments.project_file import checked
from rulescore.discovery.discovering import discover_graph, shown
from rulescore.discovery.listings import for_people, for_programs, rule_text
from rulescore.discovery.model import DiscoveredRule, DiscoverOptions, Discovery, Form
from rulescore.discovery.tables import discover_tables
from rulescore.errors import Diagnostic, InputError
from rulescore.errors.texts import visible
from rulescore.readers.sources import FactsLike, prediction_streams
from rulescore.reporting.files import write_files
from rulescore.reporting.html import render_html
from rulescore.reporting.listing import Appearance, CellKind, Format, counted
from rulescore.reporting.render import render
from rulescore.scoring.evaluation import pandas_frame, polars_frame
from rulescore.setting.model import FactSource, Setting

_ARROW_TYPES = {CellKind.COUNT: pa.int64(), CellKind.RATE: pa.float64(), CellKind.SCORE: pa.float64()}


@dataclass(frozen=True, slots=True, repr=False)
class Discovered:
    """Rules that hold in the facts. `discovery` has all of them; the methods show and write the most useful."""

    discovery: Discovery

    @property
    def listed(self) -> tuple[DiscoveredRule, ...]:
        """The rules that we show and write."""
        return shown(self.discovery)

    @property
    def rules(self) -> str:
        """The rules as text, with the declarations that they need: what `score` and `audit` take."""
        return rule_text(self.discovery, [rule for rule in self.listed if rule.left_out is None])

    @property
    def table(self) -> pa.Table:
        """A row for each rule that we show, with all its figures."""
        listing = for_programs(self.discovery, self.listed)
        kinds = [_ARROW_TYPES.get(column.kind, pa.string()) for column in listing.columns]
        cells = list(zip(*listing.rows, strict=True)) or [()] * len(kinds)
        columns = [pa.array(values, kind) for values, kind in zip(cells, kinds, strict=True)]
        return pa.table(columns, names=[column.key for column in listing.columns])

    def to_pandas(self) -> Any:
        """The table as a pandas frame of nullable types."""
        return pandas_frame(self.table)

    def to_polars(self) -> Any:
        """The table as a Polars frame."""
        return polars_frame(self.table)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)

    def save(self, path: str | Path) -> Path:
        """Write the rules as a rule file.

        Args:
            path: The file, which we replace if it exists.

        Returns:
            The path of the file.
        """
        target = Path(path)
        write_files(target.parent, {target.name: self.rules})
        return target

    def to_text(self, *, width: int = 100) -> str:
        """The rules as `rulescore discover` prints them.

        Args:
            width: How many characters a line may have.
        """
        return self._rendered(Format.TABLE, width)

    def to_markdown(self) -> str:
        """The rules as Markdown."""
        return self._rendered(Format.MARKDOWN)

    def to_json(self) -> str:
        """The rules as JSON: a row for each rule, with all its figures."""
        return self._rendered(Format.JSON)

    def _rendered(self, form: Format, width: int = 100) -> str:
        listing = (for_programs if form is Format.JSON else for_people)(self.discovery, self.listed)
        return render(listing, form, appearance=Appearance(width))

    def __repr__(self) -> str:
        discovery = self.discovery
        what = counted(len(discovery.rules), "rule") if discovery.rules else "; ".join(discovery.reasons)
        return visible(f"<Discovered {what}>")

    def _repr_html_(self) -> str:
        listing = for_people(self.discovery, self.listed)
        return render_html((listing, *listing.beside))


def discovered(setting: Setting, valid: FactsLike | None, values: Mapping[str, object]) -> Discovered:
    """The discovery of a setting. `values`: options as a caller gives them, which we check here; None is the default."""
    problems: list[Diagnostic] = []
    if valid is not None and values.get("hold_out"):
        problems.append(Diagnostic("E327", "`valid` names facts that are held out: it cannot be combined with `hold_out`"))
    named = {name: value for name, value in values.items() if value is not None}
    options = checked(DiscoverOptions, named, problems)
    if options is not None and Form.LONGER in options.forms:
        helps = ("it extends rules of the other forms: give `longer=True`",)
        problems.append(Diagnostic("E402", "`forms` cannot be `longer`", helps=helps))
    if options is None or problems:
        raise InputError(problems)
    return Discovered(discover_data(setting, options, () if valid is None else prediction_streams(valid)))


def discover_data(setting: Setting, options: DiscoverOptions, valid: Sequence[FactSource] = ()) -> Discovery:
    """Find the rules of a graph, of tables, or of both.

    Args:
        setting: Its observed facts, its tables and its engine; the rest is ignored.
        options: What to look for and what to keep.
        valid: Facts to rate the rules of the graph on; they pick no rule.

    Returns:
        The discovery: rules of the graph before rules of tables.

    Raises:
        InputError: Facts or tables cannot be read, no table has a key, or the options do not suit the data.
    """
    wanted = options.forms or frozenset(Form)
    in_tables = bool(setting.tables) and any(form.is_of_tables for form in wanted)
    in_facts = bool(setting.observed or not setting.tables) and not all(form.is_of_tables for form in wanted)
    if not in_tables and not in_facts:
        asked, given = ("facts", "tables") if setting.tables else ("tables", "facts")
        raise InputError(Diagnostic("E327", f"forms of rules about {asked} are asked for, and there are only {given}"))
    if valid and not in_facts:
        helps = ("hold out a share of the rows: `--hold-out 0.1`",)
        raise InputError(Diagnostic("E327", "`--valid` names facts, and only tables are searched", helps=helps))
    if not in_facts:
        return discover_tables(setting, options)
    graph = discover_graph(replace(setting, tables=()), options, valid)
    if not in_tables:
        return graph
    of_tables = discover_tables(setting, options)
    return replace(
        graph,
        rules=graph.rules + of_tables.rules,
        left_out=graph.left_out + of_tables.left_out,
        reasons=graph.reasons + of_tables.reasons,
        notes=graph.notes + of_tables.notes,
        facts=graph.facts + of_tables.facts,
        held_out_facts=graph.held_out_facts + of_tables.held_out_facts,
    )
