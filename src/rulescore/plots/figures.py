"""All figures of a result, each alone in Python or all as files. Also draws scores over a quantity that was varied."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import pyarrow as pa
import vl_convert

from rulescore.plots import look
from rulescore.plots.heat import heat_map_chart
from rulescore.plots.models import measure_title, models_chart, tradeoff_chart
from rulescore.plots.rules import dataset_rates_chart, rules_chart
from rulescore.reporting.files import CURVE_FILES, PLOT_FILES, new_folder, write_all
from rulescore.scoring.curve import CurveOver, CurvePoint, curve_over, curve_points
from rulescore.scoring.evaluation import Evaluation

POINT_COLUMNS = ("at", "model", "measure", "value")


def curve_chart(
    evaluation: Evaluation, published: Any = None, over: CurveOver = CurveOver.RANK, at: Sequence[int | float] | None = None
) -> Any:
    """The two scores over the best k predictions of each query, for every k, or over predictions with at least a certain score."""
    if not evaluation.model_results:
        raise look.NothingToDrawError("curve", "there are no models")
    points = curve_points(evaluation, over, at)
    table = _point_table(points)
    if not table.num_rows:
        raise look.NothingToDrawError("curve", "no model has a score")
    if over is CurveOver.RANK:
        what = "answers to each query that count, the best first (k)"
        is_long = max(point.at for point in points) > 10
        what = f"{what}, log scale" if is_long else what
        return lines_chart(table, what, title="Scores by number of answers", published=published, log=is_long)
    return lines_chart(table, "least score of the answers that count", title="Scores by threshold", published=published)


def lines_chart(
    points: pa.Table,
    over: str,
    *,
    title: str,
    measures: Mapping[str, str] | None = None,
    published: Any = None,
    log: bool = False,
) -> Any:
    """A line for each model, in a panel for each measure: of a table with the columns `at`, `model`, `measure` and `value`; nulls
    are left out. `over`: the title of the varied quantity. `measures`: the titles of the measures. `log`: use a logarithmic axis,
    if all of `at` is above 0."""
    ours, theirs = look.published_rows(points, POINT_COLUMNS), look.published_rows(published, POINT_COLUMNS)
    names = list(dict.fromkeys(row["measure"] for row in ours))
    look.refuse_unknown(theirs, "measure", names)
    models = look.labels(row["model"] for row in (*ours, *theirs))
    log = log and all(row["at"] > 0 for row in (*ours, *theirs))
    titles = {name: (measures or {}).get(name, measure_title(name)) for name in names}
    parts = [_lines(_of(ours, name), _of(theirs, name), over, titles[name], models, log=log) for name in names]
    return look.finished(alt.hconcat(*parts), title, *([look.BESIDE] if theirs else []))


def _point_table(points: Sequence[CurvePoint]) -> pa.Table:
    rows = [
        {"at": float(point.at), "model": point.model, "measure": measure, "value": value}
        for point in points
        for measure, value in (("hard_score", point.hard), ("soft_score", point.soft))
        if value is not None
    ]
    schema = pa.schema([("at", pa.float64()), ("model", pa.string()), ("measure", pa.string()), ("value", pa.float64())])
    return pa.Table.from_pylist(rows, schema)


def _of(rows: Sequence[Mapping[str, Any]], measure: str) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["measure"] == measure]


def _lines(
    ours: Sequence[Mapping[str, Any]],
    theirs: Sequence[Mapping[str, Any]],
    over: str,
    title: str,
    models: Mapping[str, str],
    *,
    log: bool,
) -> Any:
    lines, marks = [], []
    for model, label in models.items():
        line = look.thinned(sorted((row["at"], row["value"]) for row in ours if row["model"] == model))
        lines += [{"at": at, "value": value, "model": label} for at, value in line]
        marks += [{"at": at, "value": value, "model": label} for at, value in look.few(line, log=log)]
    rings = [{"at": row["at"], "value": row["value"], "model": models[row["model"]]} for row in theirs]
    names = list(models.values())
    places = [row["at"] for row in (*ours, *theirs)]
    span = [min(places), max(places)] if min(places) < max(places) else [min(places), min(places) + 1]
    scale = alt.Scale(type="log" if log else "linear", domain=span, nice=False, zero=False)
    ticks = {"values": look.powers(span[1])} if log else {"tickCount": 8}
    across = alt.X("at:Q", title=over, scale=scale, axis=alt.Axis(format=look.NUMBERS, **ticks))
    greatest = max(row["value"] for row in (*ours, *theirs))
    up = alt.Y("value:Q", title=f"{title}{look.log_words(greatest)}", **look.wide(greatest))
    colour = alt.Color("model:N", scale=look.colours(names), legend=look.legend())
    shape = alt.Shape("model:N", scale=look.shapes(names), legend=look.legend())
    dash = alt.StrokeDash("model:N", scale=look.dashes(names), legend=None)
    drawn = alt.Chart(look.data(lines)).mark_line(strokeWidth=1.8).encode(x=across, y=up, color=colour, strokeDash=dash)
    heavy, ring = (alt.Size("model:N", scale=look.sizes(names, size), legend=None) for size in (50, 130))
    marked = {"x": across, "y": up, "color": colour, "shape": shape}
    points = alt.Chart(look.data(marks)).mark_point(filled=True, opacity=1).encode(**marked, size=heavy)
    hollow = alt.Chart(look.data(rings)).mark_point(strokeWidth=1.4, opacity=1).encode(**marked, size=ring)
    layers = [drawn, points, *([hollow] if rings else [])]
    return alt.layer(*layers).resolve_scale(size="independent").properties(width=290, height=240)


@dataclass(frozen=True, slots=True)
class Plots:
    """The figures of a result as Altair's charts. `published`: an Arrow table of values that we draw next to ours, hollow."""

    evaluation: Evaluation

    def dataset_rates(self, published: Any = None) -> Any:
        """How often the data violate each rule. `published`: `rule`, `value`."""
        return dataset_rates_chart(self.evaluation, published)

    def rules(self, published: Any = None) -> Any:
        """The score of each rule under each model. `published`: `rule`, `model`, `value`."""
        return rules_chart(self.evaluation, published)

    def models(self, published: Any = None) -> Any:
        """The scores of each model. `published`: `model`, `measure`, `value`; measures are columns of `result.models`."""
        return models_chart(self.evaluation, published)

    def tradeoff(self, published: Any = None, *, metric: str | None = None) -> Any:
        """Accuracy against scores. `metric`: Hits@1, MRR or R² if it was measured, unless another is named, as in `result.models`.
        `published`: `model`, `measure`, `value`."""
        return tradeoff_chart(self.evaluation, published, metric)

    def heat_map(self) -> Any:
        """How much more often than the data each model breaks each rule."""
        return heat_map_chart(self.evaluation)

    def curve(self, published: Any = None, *, over: str = CurveOver.RANK, at: Sequence[int | float] | None = None) -> Any:
        """The numbers of `result.curve(over, at)` as lines. `published`: `at`, `model`, `measure`, `value`."""
        return curve_chart(self.evaluation, published, curve_over(over), at)


@dataclass(frozen=True, slots=True)
class WrittenFigures:
    """The files of the figures, and why the others do not apply."""

    paths: tuple[Path, ...]
    left_out: dict[str, str]


def write_figures(evaluation: Evaluation, folder: Path) -> WrittenFigures:
    """Writes every figure that applies, except the curve, as SVG, PNG and PDF into a folder that we swap as a whole."""
    plots = Plots(evaluation)
    drawn = (plots.dataset_rates, plots.rules, plots.heat_map, plots.models, plots.tradeoff)
    return _written({draw.__name__: draw for draw in drawn}, folder, PLOT_FILES)


def write_curve(evaluation: Evaluation, folder: Path, over: CurveOver) -> WrittenFigures:
    """The curve alone: it shows all predictions, the other figures only predictions that `score` counts."""
    return _written({"curve": lambda: curve_chart(evaluation, None, over)}, folder, CURVE_FILES)


def _written(figures: Mapping[str, Callable[[], Any]], folder: Path, own: Collection[str]) -> WrittenFigures:
    left_out: dict[str, str] = {}
    contents: dict[str, str | Any] = {}
    for name, draw in figures.items():
        try:
            chart = draw()
        except look.NothingToDrawError as error:
            left_out[name] = error.reason
            continue
        contents |= {f"{name}.{ending}": content for ending, content in rendered(chart).items()}
    with new_folder(folder, own) as draft:
        return WrittenFigures(write_all(draft, folder, contents), left_out)


def rendered(chart: Any) -> dict[str, str | bytes]:
    """A chart as SVG, and as PNG and PDF of the same drawing. It loads neither data nor fonts from any address."""
    spoken = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    version = spoken if spoken in vl_convert.get_vegalite_versions() else None  # None: the newest version that it has
    svg = vl_convert.vegalite_to_svg(chart.to_dict(), vl_version=version, allowed_base_urls=[])
    return {"svg": svg, "png": vl_convert.svg_to_png(svg, scale=2), "pdf": vl_convert.svg_to_pdf(svg)}
