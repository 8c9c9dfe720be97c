"""`python worker.py CONTENDER FOLDER`: run one contender on one workload and print a report as JSON."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from measure import Report, peak_memory, tell
from workload import encode, read_rules


def main(contender: str, folder: Path) -> None:
    # Imported where needed: a contender's memory is not to include the others' libraries.
    match contender:
        case "published":
            tell(_published(folder))
        case "kernel":
            tell(_kernel(folder))
        case "ours" | "ours, dataset":
            from ours import ours, ours_dataset

            outcome = ours(folder) if contender == "ours" else ours_dataset(folder)
            seconds = {"loading": outcome.loading_seconds, "counting": outcome.counting_seconds}
            tell(Report(seconds, peak_memory(), dict(enumerate(outcome.rows))))
        case "sorted" | "joined":
            import proximity

            tell(proximity.count(folder, sorted_plans=contender == "sorted"))
        case "published, PostgreSQL" | "published, DuckDB" | "pandas" | "query a rule" | "Logica":
            import peers

            tell(peers.count(folder, contender))
        case "average" | "greatest" | "values" | "number":
            import aggregates

            tell(aggregates.count(folder, contender))
        case _:
            raise SystemExit(
                f"no contender `{contender}`: published, ours, kernel, sorted, joined, average, greatest, values or number"
            )


def _published(folder: Path) -> Report:
    from published import Published, read_sample

    started = time.perf_counter()
    database = Published(encode(folder))
    loading = time.perf_counter() - started
    outcome = database.run(read_rules(folder), read_sample(folder / "sample.json"))
    database.close()
    seconds = {"loading": loading, "dataset": outcome.dataset_seconds, "model": outcome.model_seconds}
    return Report(seconds | {"counting": outcome.dataset_seconds + outcome.model_seconds}, peak_memory(), outcome.rows)


def _kernel(folder: Path) -> Report:
    import kernel

    started = time.perf_counter()
    data = encode(folder)
    loading = time.perf_counter() - started
    outcome = kernel.run(data, read_rules(folder))
    seconds = {"loading": loading, "index": outcome.index_seconds, "counting": outcome.count_seconds}
    return Report(seconds, peak_memory(), dict(enumerate(outcome.rows)))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
