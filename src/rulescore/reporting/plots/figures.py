"""All figures of a result: one by one in Python, and together as files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from rulescore.reporting.files import write_all
from rulescore.reporting.folder import CURVE_FILES, PLOT_FILES, new_folder
from rulescore.reporting.plots.curve import curve_chart
from rulescore.reporting.plots.dataset_rates import dataset_rates_chart
from rulescore.reporting.plots.models import models_chart, tradeoff_chart
from rulescore.reporting.plots.published import NothingToDrawError
from rulescore.reporting.plots.rules import rules_chart
from rulescore.scoring.curve import CurveOver, curve_over
from rulescore.scoring.evaluation import Evaluation


@dataclass(frozen=True, slots=True)
class Plots:
    """The figures of a result as Altair's charts. `published`: an Arrow table of values that are drawn beside ours, hollow."""

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

    def curve(self, published: Any = None, *, over: str = CurveOver.RANK, at: Sequence[int | float] | None = None) -> Any:
        """What `result.curve(over, at)` has, as lines. `published`: `at`, `model`, `measure`, `value`."""
        return curve_chart(self.evaluation, published, curve_over(over), at)


@dataclass(frozen=True, slots=True)
class WrittenFigures:
    """The files of the figures, and why the others do not apply."""

    paths: tuple[Path, ...]
    left_out: dict[str, str]


def write_figures(evaluation: Evaluation, folder: Path) -> WrittenFigures:
    """Every figure that applies but the curve, as SVG, PNG and PDF, into a folder that is swapped whole."""
    plots = Plots(evaluation)
    figures = {"dataset_rates": plots.dataset_rates, "rules": plots.rules, "models": plots.models, "tradeoff": plots.tradeoff}
    return _written(figures, folder, PLOT_FILES)


def write_curve(evaluation: Evaluation, folder: Path, over: CurveOver) -> WrittenFigures:
    """The curve alone: it is of all answers, the other figures of those that `score` counts."""
    return _written({"curve": lambda: curve_chart(evaluation, None, over)}, folder, CURVE_FILES)


def _written(figures: Mapping[str, Callable[[], Any]], folder: Path, own: Collection[str]) -> WrittenFigures:
    left_out: dict[str, str] = {}
    contents: dict[str, str | Any] = {}
    for name, draw in figures.items():
        try:
            chart = draw()
        except NothingToDrawError as error:
            left_out[name] = error.reason
            continue
        contents |= {f"{name}.{ending}": content for ending, content in rendered(chart).items()}
    with new_folder(folder, own) as draft:
        return WrittenFigures(write_all(draft, folder, contents), left_out)


def rendered(chart: Any) -> dict[str, str | bytes]:
    """A chart as SVG, and as PNG and PDF of the same drawing. It loads neither data nor fonts from any address."""
    spoken = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    version = spoken if spoken in vl_convert.get_vegalite_versions() else None  # then the newest it has
    svg = vl_convert.vegalite_to_svg(chart.to_dict(), vl_version=version, allowed_base_urls=[])
    return {"svg": svg, "png": vl_convert.svg_to_png(svg, scale=2), "pdf": vl_convert.svg_to_pdf(svg)}
