"""Prints kept results of `mending.py` as the tables of the page on mending."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import mean, stdev
from typing import Any

NAMES = {"nations": "Nations", "umls": "UMLS", "family": "Family", "complex": "ComplEx", "transe": "TransE"}
FIGURES = ("mrr", "hits_at_1", "hits_at_10", "violating", "rvs_hard", "rvs_soft", "seconds")


def _data(result: dict[str, Any]) -> str:
    head = ("data", "facts", "rules", "hard", "rows", "s", "validation facts", "break a rule", "other reasons")
    rows = []
    for data, table in result["tables"].items():
        lost = table["forbidden"]
        others = sum(lost.values()) - lost["breaks a rule"]
        numbers = (table["facts"], table["rules"], table["hard"], table["rows"] + table["symbolic"])
        seconds = f"{table['seconds']:.1f}"
        rows.append(
            (
                NAMES[data],
                *map(_count, numbers),
                seconds,
                _count(table["validation"]),
                _count(lost["breaks a rule"]),
                _count(others),
            )
        )
    return _table(head, rows)


def best_weight(by_weight: dict[str, float]) -> float:
    return max(filter(None, map(float, by_weight)), key=lambda weight: by_weight[str(weight)])


def _weights(result: dict[str, Any]) -> str:
    """What was tried and chosen: the best weight above 0, also where none would be better."""
    rows = []
    for tried in result["weights"]:
        by_weight = tried["mrr"]
        best = f"{best_weight(by_weight):g}" + (", none is better" if max(by_weight, key=by_weight.__getitem__) == "0.0" else "")
        words = ", ".join(f"{float(weight):g}: {mrr:.4f}" for weight, mrr in by_weight.items())
        rows.append((NAMES[tried["data"]], NAMES[tried["model"]], words, best))
    return _table(("data", "model", "MRR of validation facts by weight", "chosen"), rows)


def _runs(result: dict[str, Any], data: str) -> str:
    head = (NAMES[data], "arm", "MRR", "Hits@1", "Hits@10", "violating", "RVS hard", "RVS soft", "s an epoch")
    rows = []
    for model in dict.fromkeys(run["model"] for run in result["runs"] if run["data"] == data):
        runs = [run for run in result["runs"] if (run["data"], run["model"]) == (data, model)]
        for arm in dict.fromkeys(run["arm"] for run in runs):
            own = [run for run in runs if run["arm"] == arm]
            predictions = _count(mean(run["predictions"] for run in own))
            mrr, first, ten, violating, hard, soft, seconds = ([run[figure] for run in own] for figure in FIGURES)
            rows.append(
                (
                    NAMES[model] if arm == "base" else "",
                    arm,
                    f"{mean(mrr):.4f}" + (f" ± {stdev(mrr):.4f}" if len(mrr) > 1 else ""),
                    f"{mean(first):.4f}",
                    f"{mean(ten):.4f}",
                    f"{_count(mean(violating))} of {predictions}",
                    _score(hard),
                    _score(soft),
                    f"{mean(seconds):.2f}",
                )
            )
    return _table(head, rows)


def _paired(result: dict[str, Any]) -> str:
    """The gain of training and of both over the mask, seed by seed."""
    head = ("data", "model", "trained less base, MRR by seed", "violating", "shuffled less base", "trained and mask less mask")
    rows = []
    for data, model in dict.fromkeys((run["data"], run["model"]) for run in result["runs"]):
        runs = [run for run in result["runs"] if (run["data"], run["model"]) == (data, model)]
        changes = (_less(runs, "trained", "base"), _less(runs, "trained", "base", "violating", "+d"))
        others = (_less(runs, "shuffled table", "base"), _less(runs, "trained, mask", "mask"))
        rows.append((NAMES[data], NAMES[model], *changes, *others))
    return _table(head, rows)


def _less(runs: Sequence[dict[str, Any]], arm: str, other: str, figure: str = "mrr", form: str = "+.4f") -> str:
    by = {(run["arm"], run["seed"]): run[figure] for run in runs}
    return " ".join(format(by[arm, seed] - by[other, seed], form) for seed in sorted({run["seed"] for run in runs}))


def _wrong(result: dict[str, Any]) -> str:
    """What wrong rules cost in MRR, and how each shows before."""
    wrong = result.get("wrong")
    if wrong is None:
        return ""
    rows = [
        (NAMES[kind], *(f"{mrr[arm]:.4f}" for arm in ("base", "right", "trusted", "by the data")))
        for kind, mrr in wrong["mrr"].items()
    ]
    lost = [f"{_count(wrong['forbidden'][arm])} of {_count(wrong['validation'])}" for arm in ("right", "trusted", "by the data")]
    head = ("Family, MRR", "no mask", "right rules", "five wrong, declared hard", "five wrong, kinds from the data")
    rules = [(f"`{name}`", *map(_count, rule.values())) for name, rule in wrong["rules"].items()]
    return (
        _table(head, [*rows, ("validation facts forbidden", "0", *lost)])
        + "\n"
        + _table(("wrong rule", "refuted by the data", "validation facts that it alone forbids"), rules)
    )


def _lists(result: dict[str, Any]) -> str:
    head = (
        "lists",
        "as they are",
        "reflexive alone",
        "hard rules",
        "all reasons",
        "break a hard rule",
        "valid. lost",
        "nothing to win",
    )
    rows = []
    for lists in result["lists"]:
        outcomes = lists["outcomes"]
        hits = [f"{outcome['hits_at_1']:.4f}" for outcome in outcomes.values()]
        base, lost = outcomes["base"], lists["lost"]
        broken = f"{_count(base['violating'])} of {_count(base['predictions'])}"
        price = f"{lost['hard rules']}, {lost['all reasons']} of {_count(lists['validation'])}"
        rows.append((lists["lists"], *hits, broken, price, "yes" if lists["nothing_to_win"] else ""))
    return _table(head, rows)


def _count(number: float) -> str:
    return f"{number:,.0f}"


def _score(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{mean(known):.2f}" if known else "–"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rows = list(rows)
    if not rows:
        return ""

    def lines() -> Iterator[str]:
        yield f"| {' | '.join(head)} |"
        yield f"| {' | '.join('---' if place == 0 else '--:' for place in range(len(head)))} |"
        for row in rows:
            yield f"| {' | '.join(row)} |"

    return "\n".join(lines()) + "\n"


def _every_run(result: dict[str, Any]) -> str:
    return "\n".join(_runs(result, data) for data in result["tables"])


PARTS = {"data": _data, "weights": _weights, "runs": _every_run, "paired": _paired, "lists": _lists, "wrong": _wrong}


def tables(result: dict[str, Any], parts: Sequence[str]) -> str:
    """Some of the tables of a result, as Markdown."""
    return "\n".join(table for table in (PARTS[part](result) for part in parts) if table)
