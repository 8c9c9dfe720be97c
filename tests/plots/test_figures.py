"""Figures draw the values of the result and those published, stay small, ask no network, and are files that others can read."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import altair
import numpy as np
import pyarrow as pa
import pytest

import rulescore
from made_results import SUMMARY
from rulescore.errors import InputError
from rulescore.plots.figures import lines_chart, rendered, write_curve, write_figures
from rulescore.plots.look import COLOURS, DASHES, SHAPES, WEIGHTS, few, labels, thinned, wide
from rulescore.reporting.files import CURVE_FILES, PLOT_FILES
from rulescore.scoring.curve import CurveOver
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import Counts, PredictionCounts, PredictionFindings, RuleInfo
from rulescore.scoring.score import score
from rulescore.session.result import Result

pytestmark = pytest.mark.slow

PUBLISHABLE = ("dataset_rates", "rules", "models", "tradeoff", "curve")
FIGURES = (*PUBLISHABLE, "heat_map")
MODELS = ("transe", "complex", "anyburl")
HOSTILE = '<script>"&\x1b[31m\u202e]]>{{a}} datum.value'


def made(rules: int, models: tuple[str, ...] = MODELS) -> Result:
    """Half of the rules are hard. The models break them by chance."""
    chance = np.random.default_rng(rules)
    rate = np.where(np.arange(rules) % 2, chance.beta(0.4, 3, rules), 0)

    def counted(evaluable: np.ndarray[Any, Any], share: np.ndarray[Any, Any]) -> list[Counts]:
        refuted = (evaluable * share).astype(int)
        return [Counts(int(e - v), int(v), int(e)) for e, v in zip(evaluable, refuted, strict=True)]

    dataset = counted(chance.integers(1, 5000, rules), rate)
    infos = [RuleInfo(f"r{number}", f"p{number}(X) <- q(X)") for number in range(rules)]
    counts = {model: counted(chance.integers(0, 900, rules), np.clip(rate + chance.beta(0.2, 9, rules), 0, 1)) for model in models}
    read = dict.fromkeys(models, PredictionCounts(9, 9, 9, 0, 0, queries=9))
    findings = dict.fromkeys(models, PredictionFindings(5, 2, 3, measured=True))
    return Result.of(Evaluation("definition", *score(infos, dataset, counts, read, findings), SUMMARY), None)


@pytest.fixture(scope="module")
def few_rules() -> Result:
    return made(20)


@pytest.fixture(scope="module")
def many_rules() -> Result:
    return made(20_000)


@pytest.fixture(scope="module")
def family() -> Result:
    """Rankings, with what was held out: every figure applies."""
    facts = [
        ("a", "sister", "d"),
        ("d", "father", "e"),
        ("a", "aunt", "e"),
        ("f", "mother", "e"),
        ("g", "sister", "d"),
        ("g", "mother", "e"),
    ]
    rules = "aunts: aunt(X, Z) <- sister(X, Y), father(Y, Z). @hard none: false <- father(X, Y), sister(Y, X)."
    answers = {
        model: pa.table(
            {
                "head": ["a"] * 3,
                "relation": ["sister"] * 3,
                "tail": tails,
                "score": [0.9, 0.5, 0.1],
                "rank": [1, 2, 3],
                "query_direction": ["tail"] * 3,
            }
        )
        for model, tails in {"one": ["d", "e", "f"], HOSTILE: ["f", "d", "g"]}.items()
    }
    truth = rulescore.Truth([("a", "sister", "d")])
    return rulescore.score(facts, answers, f"{rules} incompatible aunt, mother.", truth=truth, top_k="all")


def spec(chart: Any) -> dict[str, Any]:
    """What Altair makes of a chart once its schema allows it."""
    found: dict[str, Any] = chart.to_dict(validate=True)
    return found


def parts(tree: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(tree, Mapping):
        yield tree
        for one in tree.values():
            yield from parts(one)
    elif isinstance(tree, list):
        for one in tree:
            yield from parts(one)


def rows(chart: Any) -> list[dict[str, Any]]:
    """All rows of data that a chart holds."""
    values = (part["values"] for part in parts(spec(chart)) if isinstance(part.get("values"), list))
    return [row for some in values for row in some if isinstance(row, dict)]


@pytest.mark.parametrize("figure", FIGURES)
def test_every_figure_is_a_chart_that_the_schema_allows_and_loads_nothing(family: Result, figure: str) -> None:
    chart = getattr(family.plot, figure)()
    found = spec(chart)
    assert isinstance(chart, altair.TopLevelMixin)
    assert found["$schema"].startswith("https://vega.github.io/schema/")
    assert str(found).count("http") == 1
    assert not any(key in part for part in parts(found) for key in ("url", "href"))


def test_rates_are_those_of_the_data(few_rules: Result) -> None:
    drawn = {row["rule"]: (row["rate"], row["counts"]) for row in rows(few_rules.plot.dataset_rates())}
    table = few_rules.rules.to_pylist()
    assert drawn == {
        row["rule"]: (row["dataset_rate"], f"{row['dataset_refuted']:,} of {row['dataset_evaluable']:,}") for row in table
    }


def test_scores_of_rules_are_those_of_the_result(few_rules: Result) -> None:
    drawn = {(row["rule"], row["model"]): row["score"] for row in rows(few_rules.plot.rules()) if "source" in row}
    table = few_rules.rules.to_pylist()
    assert drawn == {(row["rule"], row["model"]): row["score"] for row in table if row["score"] is not None}
    assert {row["rule"] for row in table} == {rule for rule, _ in drawn}


def test_scores_of_models_and_their_accuracy_are_those_of_the_result(family: Result) -> None:
    table = family.models.to_pylist()
    values = [(row["model"], row["value"]) for row in rows(family.plot.models()) if "shown" in row]
    label = labels(row["model"] for row in table)
    assert values == [(label[row["model"]], row[name]) for name in ("hard_score", "soft_score") for row in table]
    drawn = {(row["model"], row["accuracy"], row["score"]) for row in rows(family.plot.tradeoff(metric="mrr")) if "source" in row}
    assert drawn == {(label[row["model"]], row["mrr"], row[name]) for name in ("hard_score", "soft_score") for row in table}


@pytest.fixture(scope="module")
def queried() -> Result:
    """Enough queries for intervals, a rule that nobody can judge under one model, and a rule without a name."""
    facts = [(f"a{n}", "p", f"b{n}") for n in range(200)] + [("a0", "s", "b0"), ("a1", "r", "b1")]
    facts += [(f"{head}{n}", relation, "y") for head, relation in (("e", "s"), ("g", "r"), ("x", "w")) for n in range(60)]
    rules = """false <- p(X, Y), q(X, Y). soft: r(X, Y) <- p(X, Y). @hard none: t(X, Y) <- u(X, Y).
    incompatible r, s, q. incompatible t, w. predicate t/2."""
    models = {
        "good": [*((f"g{n}", "p", "y") for n in range(60)), *((f"e{n}", "p", "y") for n in range(9)), ("a2", "q", "b2")],
        "poor": [*((f"e{n}", "p", "y") for n in range(60)), *((f"x{n}", "u", "y") for n in range(9)), ("a2", "q", "b2")],
    }
    return rulescore.score(facts, models, rules)


def test_intervals_are_those_of_the_comparison(queried: Result) -> None:
    compared = queried.compare()
    wanted = {
        (row["model"], row["low"], row["high"])
        for row in compared.models.to_pylist()
        if row["low"] is not None and row["measure"] in {"hard_score", "soft_score"}
    }
    assert len(wanted) > 2
    assert wanted == {(row["model"], row["value"], row["high"]) for row in rows(queried.plot.models()) if "high" in row}
    of_rules = {
        (row["model"], row["score_low"], row["score_high"]) for row in compared.rules.to_pylist() if row["score_low"] is not None
    }
    drawn = {(row["model"], row["score"], row["high"]) for row in rows(queried.plot.rules()) if "high" in row}
    assert drawn
    assert drawn <= of_rules
    assert "thin lines: 95% intervals" in spec(queried.plot.rules())["title"]["subtitle"]


def test_a_cell_of_the_heat_map_is_how_much_more_often_the_rule_is_broken(queried: Result) -> None:
    cells = {(row["rule"], row["model"]): row["shade"] for row in rows(queried.plot.heat_map())}
    wanted = {}
    words = [
        (0.0, "not"),
        (0.01, "by up to 1"),
        (0.05, "by up to 5"),
        (0.25, "by up to 25"),
        (0.5, "by up to 50"),
        (1.0, "by more"),
    ]
    for rule in queried.rule_results:
        for model, found in rule.models.items():
            if found.counts.evaluable and not rule.info.unrefutable:
                excess = (found.counts.rate or 0) - (rule.dataset.rate or 0)
                name = rule.info.text if rule.info.name.startswith("rules:") else rule.info.name
                wanted[name, model] = next(word for limit, word in words if excess <= limit)
    assert cells == wanted
    assert ("none", "poor") in cells
    assert ("none", "good") not in cells, "no case to judge is no cell"


@pytest.mark.parametrize("figure", FIGURES)
def test_axes_are_linear_or_say_that_they_are_not(family: Result, queried: Result, figure: str) -> None:
    for result in (family, queried, made(60)):
        try:
            drawn = spec(getattr(result.plot, figure)())
        except InputError:
            continue
        for part in parts(drawn):
            kind = part["scale"].get("type") if isinstance(part.get("scale"), Mapping) else None
            assert kind in {None, "linear", "log", "symlog"}
            if kind in {"log", "symlog"}:
                assert "log scale" in part["title"]
                assert len(part["axis"]["values"]) > 1


def test_bars_stand_on_linear_axes(queried: Result) -> None:
    for chart in (queried.plot.dataset_rates(), queried.plot.models(), made(60).plot.dataset_rates()):
        bars = [part for part in parts(spec(chart)) if isinstance(part.get("mark"), Mapping) and part["mark"]["type"] == "bar"]
        assert bars
        assert {part["encoding"]["x"]["scale"].get("type") for part in bars} == {None}
        assert {part["encoding"]["x"]["scale"]["domain"][0] for part in bars} == {0}


def test_the_data_s_1_is_marked_wherever_soft_scores_are(queried: Result) -> None:
    for chart in (queried.plot.rules(), queried.plot.models()):
        assert "dashed: as often as the data" in spec(chart)["title"]["subtitle"]
        assert any(row in ({"score": 1}, {"value": 1}) for row in rows(chart))


def test_shapes_of_all_models_weigh_alike() -> None:
    areas = {"circle": 0.79, "square": 1, "diamond": 0.5, "cross": 0.64, "triangle": 0.43}
    weights = [areas[shape.partition("-")[0]] * weight for shape, weight in zip(SHAPES, WEIGHTS, strict=True)]
    assert max(weights) < 1.3 * min(weights)


def test_every_position_of_a_curve_has_a_mark() -> None:
    line = [(float(k), float(k)) for k in range(1, 31)]
    assert few(line, log=True) == line


def test_a_curve_has_the_points_of_the_result(family: Result) -> None:
    table = family.curve().to_pylist()
    label = labels(row["model"] for row in table)
    wanted = {(row["k"], label[row["model"]], row[name]) for row in table for name in ("hard_score", "soft_score")}
    drawn = {(row["at"], row["model"], row["value"]) for row in rows(family.plot.curve())}
    assert drawn == {one for one in wanted if one[2] is not None}
    assert {row["at"] for row in rows(family.plot.curve(at=[2]))} == {2}
    assert {row["at"] for row in rows(family.plot.curve(over="score", at=[0.5]))} == {0.5}


PUBLISHED = {
    "dataset_rates": {"rule": ["aunts"], "value": [0.125]},
    "rules": {"rule": ["aunts"], "model": ["one"], "value": [0.125]},
    "models": {"model": ["one", "of others"], "measure": ["hard_score", "hits_at_1"], "value": [0.125, 0.125]},
    "tradeoff": {"model": ["one"] * 2, "measure": ["hard_score", "hits_at_1"], "value": [0.125, 0.125]},
    "curve": {"at": [2], "model": ["one"], "measure": ["soft_score"], "value": [0.125]},
}


@pytest.mark.parametrize("figure", PUBLISHABLE)
def test_published_values_are_drawn_beside_ours(family: Result, figure: str) -> None:
    draw = getattr(family.plot, figure)
    beside = rows(draw(published=pa.table(PUBLISHED[figure])))
    ours = [row for row in rows(draw()) if row not in beside]
    assert any(0.125 in row.values() for row in beside)
    assert not any(0.125 in row.values() for row in rows(draw()))
    assert all("published" in row for row in ours)  # rates have both in one row


@pytest.mark.parametrize("figure", PUBLISHABLE)
def test_what_is_given_as_published_is_checked(family: Result, figure: str) -> None:
    draw, given = getattr(family.plot, figure), PUBLISHED[figure]
    name = "rule" if "rule" in given else "measure"
    wrong = [[given], pa.table({"value": [1.0]}), pa.table({**given, "value": ["much"] * len(given["value"])})]
    assert rows(draw(published=pa.table({**given, "value": [float("nan")] * len(given["value"])}))) == rows(draw())
    wrong.append(pa.table({**given, name: ["soft_scor"] * len(given["value"])}))
    for published in wrong:
        with pytest.raises(InputError, match="E791"):
            draw(published=published)


def test_the_publication_s_rules_are_drawn_by_name_among_many() -> None:
    many_rules = made(200)
    names = [f"r{number}" for number in range(0, 60, 2)]
    rates = rows(many_rules.plot.dataset_rates(pa.table({"rule": names, "value": [0.5] * 30})))
    assert set(names) <= {row["rule"] for row in rates if "rule" in row}
    table = pa.table({"rule": names, "model": ["transe"] * 30, "value": [7.0] * 30})
    assert set(names) <= {row["rule"] for row in rows(many_rules.plot.rules(table)) if "rule" in row}


@pytest.mark.parametrize("figure", ["dataset_rates", "rules"])
def test_20_000_rules_give_a_small_file_and_the_worst_of_them_by_name(many_rules: Result, figure: str) -> None:
    chart = getattr(many_rules.plot, figure)()
    named = {row["rule"] for row in rows(chart) if "rule" in row}
    assert len(named) == 24
    files = rendered(chart)
    assert max(map(len, files.values())) < 1_500_000
    assert len(files["svg"]) < 300_000
    if figure == "dataset_rates":
        worst = sorted(many_rules.rule_results, key=lambda rule: -(rule.dataset.rate or 0))[:24]
        assert named == {rule.info.name for rule in worst}


def test_files_are_svg_png_and_pdf_and_those_of_an_earlier_run_go(family: Result, few_rules: Result, tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    assert write_figures(family, folder).left_out == {}
    assert {path.name for path in folder.iterdir()} == PLOT_FILES
    for path in folder.iterdir():
        raw = path.read_bytes()
        match path.suffix:
            case ".svg":
                assert ElementTree.fromstring(raw).tag == "{http://www.w3.org/2000/svg}svg"
                assert not any(word in raw for word in (b"<script", b"\x1b", "\u202e".encode(), b"<image", b"@import", b"url(http"))
            case ".png":
                assert raw.startswith(b"\x89PNG\r\n\x1a\n")
                assert raw.endswith(b"IEND\xaeB`\x82")
            case ".pdf":
                assert raw.startswith(b"%PDF-")
                assert raw.rstrip().endswith(b"%%EOF")
    written = write_figures(few_rules, folder)
    assert written.left_out == {"tradeoff": "no accuracy was measured"}
    assert {path.name for path in folder.iterdir()} == {path.name for path in written.paths}
    assert {path.name for path in write_curve(family, folder, CurveOver.RANK).paths} == CURVE_FILES
    assert {path.name for path in folder.iterdir()} == {*CURVE_FILES, *(path.name for path in written.paths)}


def test_drawing_needs_no_network(family: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither Python's sockets nor, told by what they would load, those of the drawing library."""

    def refused(*_: object) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", refused)
    chart = altair.Chart(altair.UrlData("http://127.0.0.1:9/rows.csv")).mark_point().encode(x="a:Q")
    with pytest.raises(ValueError, match=r"127\.0\.0\.1"):
        rendered(chart)
    assert rendered(family.plot.models())["svg"]


def test_names_are_safe_and_no_two_labels_are_the_same(family: Result) -> None:
    label = labels([HOSTILE, "x" * 60 + "1", "x" * 60 + "2", "y" * 99, "y" * 98, ""])
    assert "\x1b" not in label[HOSTILE]
    assert "\\x1b" in label[HOSTILE]
    assert len(set(label.values())) == len(label)
    assert max(map(len, label.values())) <= 52
    svg = rendered(family.plot.models())["svg"]
    assert isinstance(svg, str)
    assert "&lt;script&gt;" in svg


def test_models_differ_in_lightness_shape_and_dash() -> None:
    def lightness(colour: str) -> float:
        red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
        return 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2

    looks = [(COLOURS[one % len(COLOURS)], SHAPES[one % len(SHAPES)]) for one in range(56)]
    assert len(set(looks)) == 56
    assert len({DASHES[one % len(DASHES)] for one in range(8)}) == 8
    grey = [lightness(colour) for colour in COLOURS]
    assert all(abs(one - other) > 0.1 for one, other in pairwise(grey[:4]))
    assert max(grey) < 0.5  # dark enough on white


@pytest.mark.parametrize("draw", ["rules", "models", "curve", "heat_map"])
def test_an_audit_has_no_figures_of_models(draw: str) -> None:
    audit = rulescore.audit([("a", "p", "b")], "q(X, Y) <- p(X, Y). closed q.")
    with pytest.raises(InputError, match="E791"):
        getattr(audit.plot, draw)()
    assert len(rows(audit.plot.dataset_rates())) == 1


def test_a_metric_that_was_not_measured_is_told(family: Result) -> None:
    with pytest.raises(InputError, match="did you mean `mrr`"):
        family.plot.tradeoff(metric="mr")


def test_undefined_scores_are_words_and_rules_without_values_are_counted() -> None:
    result = rulescore.score([("a", "p", "b")], {"m": [("b", "p", "c")]}, "q(X, Y) <- p(X, Y). r(X, Y) <- s(X, Y). closed q.")
    assert [row["shown"] for row in rows(result.plot.models()) if row.get("value", 0) is None] == ["undefined"]
    title = spec(result.plot.dataset_rates())["title"]
    assert "not drawn: 1 rule without evaluable groundings" in title["subtitle"]


def test_lines_over_anything(family: Result) -> None:
    points = pa.table({"at": [0, 1, 2], "model": ["m"] * 3, "measure": ["rate"] * 3, "value": [0.5, None, 0.25]})
    chart = lines_chart(points, "ε", title="Over ε", measures={"rate": "d"}, log=True)
    assert {(row["at"], row["value"]) for row in rows(chart)} == {(0, 0.5), (2, 0.25)}
    assert "log" not in {part.get("type") for part in parts(spec(chart))}  # 0 has no place there


def test_a_long_line_is_thinned_where_nothing_happens() -> None:
    flat = [(float(x), float(x > 5000)) for x in range(10_000)]
    kept = thinned(flat)
    assert len(kept) < 400
    assert (kept[0], kept[-1]) == (flat[0], flat[-1])
    assert {(5000.0, 0.0), (5001.0, 1.0)} <= set(kept)  # the jump is where it was
    assert len(thinned([(float(x), float(x % 2)) for x in range(50_000)])) < 1000
    assert len(few(kept, log=False)) <= 8


@pytest.mark.parametrize("greatest", [0, 0.3, 5, 6, 999, 5e6, 1e15])
def test_a_scale_of_scores_has_few_ticks_and_room_for_the_greatest(greatest: float) -> None:
    axis = wide(greatest)
    assert axis["scale"]["domain"][1] >= greatest
    assert greatest <= 5 or 3 < len(axis["axis"]["values"]) < 20


@pytest.mark.slow
def test_only_a_figure_needs_the_extra_and_the_command_is_told() -> None:
    audit = "result = rulescore.audit([('a', 'p', 'b')], 'p(X, Y) <- p(Y, X).')"
    program = f"import sys, rulescore; {audit}; print('altair' in sys.modules); sys.modules['altair'] = None; result.plot"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False\n"
    assert "E938" in done.stderr
    assert "pip install '.[plots]'" in done.stderr
