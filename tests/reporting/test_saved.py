"""Results that last: what is written is read again, and what is no result is refused."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import jsonschema
import pyarrow as pa
import pytest
from pyarrow import parquet

import rulescore
from rulescore.errors import InputError
from rulescore.readers.inputs import Inputs
from rulescore.reporting.files import write_outputs
from rulescore.reporting.json import schema
from rulescore.reporting.saved import load, save
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import run_of
from rulescore.setting.model import FactFile, FactTable, Request, Setting
from rulescore.setting.options import EngineOptions

KEPT = Path(__file__).parent / "kept" / "result.json"
KEPT_ACCURACY = KEPT.with_name("accuracy.json")
FACTS = "alice\twife\tchristopher\nchristopher\tfather\tbob\nalice\tmother\tbob\nalice\tsister\tdaniel\ndaniel\tfather\temma\n"
RULES = """mother_by_wife: mother(X, Z) <- wife(X, Y), father(Y, Z).
no_sibling_marriage: false <- sister(X, Y), wife(X, Y).
incompatible aunt, mother, sister, wife.
"""
PREDICTIONS = "alice\twife\tdaniel\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "facts.tsv").write_text(FACTS)
    (tmp_path / "family.rules").write_text(RULES)
    (tmp_path / "careless.tsv").write_text(PREDICTIONS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scored() -> rulescore.Result:
    return rulescore.score("facts.tsv", {"careless": "careless.tsv"}, Path("family.rules"))


def inputs(path: Path) -> dict[str, dict[str, Any]]:
    found = json.loads(path.read_text(encoding="utf-8"))["run"]["inputs"]
    return {one["name"]: one for one in found}


def test_what_is_saved_is_loaded(evaluation: Evaluation, tmp_path: Path) -> None:
    path, contributions = save(evaluation, tmp_path / "new" / "result.json")
    assert (path.name, contributions.name) == ("result.json", "result.contributions.parquet")
    found = load(path)
    assert found.contributions == evaluation.contributions
    assert replace(found, warnings=()) == replace(evaluation, warnings=())
    assert [str(one.place) for one in found.warnings] == [str(one.place) for one in evaluation.warnings]
    jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), schema())


def test_a_kept_result_of_version_1_is_read() -> None:
    """The session of README, saved once and for all: every later program has to read it."""
    result = rulescore.load_result(KEPT)
    assert result.run is not None
    assert [(one.name, one.rows) for one in result.run.inputs] == [
        ("family.rules", 3),
        ("facts.csv", 9),
        ("careful.csv", 3),
        ("careless.csv", 2),
    ]
    found = {model.name: (model.violating, model.hard_score.value, model.soft_score.value) for model in result.model_results}
    assert found == {"careful": (0, 0.0, 2 / 3), "careless": (2, 1.0, 2 / 3)}
    assert [rule.info.name for rule in result.rule_results] == ["aunt_by_father", "mother_by_wife", "no_sibling_marriage"]
    refuted = [row["arguments"] for row in result.contributions.to_pylist() if row["refuted"]]
    assert sorted(refuted) == [["alice", "daniel"], ["alice", "daniel"], ["fiona", "daniel"], ["ina", "christopher"]]
    jsonschema.validate(json.loads(KEPT.read_text(encoding="utf-8")), schema())


def test_a_kept_result_with_accuracy_is_read() -> None:
    """The project of docs/reference/accuracy.md with two models, saved once and for all."""
    result = rulescore.load_result(KEPT_ACCURACY)
    found = {(one.model, one.task.value): one for one in result.accuracy_results}
    ranked, ranking = found["ranked", "link prediction"], found["rankings", "link prediction"]
    assert ranked.measure("mrr").value == pytest.approx(7 / 12)
    assert (ranking.measure("mrr").least, ranking.measure("mrr").greatest) == (0.5, 0.625)
    assert found["rankings", "types of answers"].measure("sem_at_1").value == 0.75
    jsonschema.validate(json.loads(KEPT_ACCURACY.read_text(encoding="utf-8")), schema())


def test_an_audit_is_loaded_too(audit: Evaluation, tmp_path: Path) -> None:
    save(audit, tmp_path / "audit.json")
    assert load(tmp_path / "audit.json").rule_results == audit.rule_results


def test_a_folder_of_outputs_is_a_saved_result(evaluation: Evaluation, tmp_path: Path) -> None:
    write_outputs(evaluation, tmp_path / "results")
    found = load(tmp_path / "results")
    assert found.contributions == evaluation.contributions
    assert found.model_results == evaluation.model_results


def test_it_says_what_it_came_from(files: Path) -> None:
    path, _ = save(scored(), files / "result.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(document, schema())
    assert document["run"]["engine"]["name"] == "duckdb"
    assert document["run"]["engine"]["version"].lstrip("v")[0].isdigit()
    assert document["run"]["rulescore"] == rulescore.__version__
    found = inputs(path)
    assert {name: (one["kind"], one["of"], one["rows"]) for name, one in found.items()} == {
        "family.rules": ("rules", None, 2),
        "facts.tsv": ("facts", None, 5),
        "careless.tsv": ("predictions", "careless", 1),
    }
    for name, one in found.items():
        content = (files / name).read_bytes()
        assert (one["size"], one["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())


def test_python_saves_and_loads(files: Path) -> None:
    result = scored()
    result.save("result.json")
    found = rulescore.load_result("result.json")
    assert isinstance(found, rulescore.Result)
    assert found == result
    assert found.run is not None
    assert result.run is not None
    assert found.run.date == result.run.date
    found.save("again.json")
    assert inputs(files / "again.json") == inputs(files / "result.json")
    with pytest.raises(InputError, match="E502"), found.session():
        pass


def test_a_file_that_was_changed_since_has_no_digest(files: Path) -> None:
    result = scored()
    (files / "careless.tsv").write_text(PREDICTIONS * 2)
    path, _ = save(result, files / "result.json")
    one = inputs(path)["careless.tsv"]
    assert (one["rows"], one["size"], one["sha256"]) == (1, len(PREDICTIONS), None)
    assert one["sha256_reason"] == "the file has been changed since it was read"


def test_a_pipe_is_read_once(files: Path) -> None:
    os.mkfifo(files / "pipe")
    writer = Thread(target=(files / "pipe").write_text, args=(PREDICTIONS,))
    writer.start()
    result = rulescore.score("facts.tsv", {"careless": "pipe"}, RULES)
    writer.join()
    path, _ = save(result, files / "result.json")
    one = inputs(path)["pipe"]
    assert (one["rows"], one["sha256"], one["sha256_reason"]) == (1, None, "a pipe can be read only once")
    assert inputs(path)["<rules>"]["sha256"] == hashlib.sha256(RULES.encode()).hexdigest()


def test_rows_of_memory_are_counted(files: Path) -> None:
    result = rulescore.score("facts.tsv", {"careless": [("alice", "wife", "daniel")]}, RULES)
    path, _ = save(result, files / "result.json")
    one = inputs(path)["<list>"]
    assert (one["rows"], one["sha256"]) == (1, None)
    assert "memory" in one["sha256_reason"]


def test_parquet_and_tables_are_counted(files: Path) -> None:
    sales = pa.table({"id": [1, 2, 3], "price": [10, 20, None]})
    pa.parquet.write_table(sales, files / "sales.parquet")
    table = rulescore.Table("sales.parquet", key="id", target="price", hidden="id = 3")
    result = rulescore.score(None, {"ridge": {3: 5}}, "@hard low: P <= 30 <- sale(price: P).", tables={"sale": table})
    assert [(one.name, one.of, one.rows) for one in result.run.inputs if one.kind == "table"] == [("sales.parquet", "sale", 3)]


def test_passwords_are_not_saved() -> None:
    address = "postgresql://ann:secret@host/family"
    observed = FactTable(address, Request(address, FactFile(address)))
    engine = EngineOptions(url=address)
    setting = Inputs(Setting((observed,), (), engine=engine))
    run = run_of(setting.setting, "postgres", "18", setting.read(lambda _: 0))
    assert "secret" not in repr(run)
    assert [one.name for one in run.inputs] == ["postgresql://ann:***@host/family"]


@pytest.mark.parametrize(
    ("content", "code", "why"),
    [
        ("not json", "E504", "it is not JSON"),
        ("[1]", "E504", "JSON of another program"),
        ('{"version": 1, "rules": []}', "E504", "JSON of another program"),
        ('{"program": "rulescore", "version": 2}', "E504", "version 2"),
        ('{"program": "rulescore", "version": 1}', "E504", "it is damaged"),
    ],
)
def test_what_is_no_result_is_refused(content: str, code: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(content)
    with pytest.raises(InputError, match=why) as caught:
        load(tmp_path / "result.json")
    assert caught.value.problems[0].code == code


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"E504.*no such file"):
        load(tmp_path / "result.json")


def test_a_result_is_loaded_without_contributions(evaluation: Evaluation, tmp_path: Path) -> None:
    path, contributions = save(evaluation, tmp_path / "result.json")
    contributions.unlink()
    found = load(path)
    assert found.models == evaluation.models
    with pytest.raises(InputError, match="E502"):
        _ = found.contributions


def test_contributions_of_another_result_are_refused(evaluation: Evaluation, tmp_path: Path) -> None:
    path, contributions = save(evaluation, tmp_path / "result.json")
    pa.parquet.write_table(evaluation.contributions.slice(0, 1), contributions)
    with pytest.raises(InputError, match="E504"):
        load(path)


def test_a_name_of_contributions_leads_nowhere_else(evaluation: Evaluation, tmp_path: Path) -> None:
    path, _ = save(evaluation, tmp_path / "result.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    document["contributions"]["file"] = "../elsewhere.parquet"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match="E504"):
        load(path)


def test_json_that_is_nested_too_deeply_is_no_result(tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match="E504"):
        load(tmp_path / "deep.json")


# Saves results of different contributions to one path, again and again.
SAVES = """
import sys
from dataclasses import replace
from pathlib import Path
from rulescore.reporting.saved import load, save
result, number = load(Path(sys.argv[1])), int(sys.argv[2])
for turn in range(25):
    table = result.contributions_table
    save(replace(result, contributions_table=table.slice((number + turn) % 2)), Path("one.json"))
"""


def test_several_processes_save_to_one_path(files: Path) -> None:
    own, _ = save(scored(), files / "own.json")
    save(scored(), files / "one.json")
    words = [sys.executable, "-c", SAVES, str(own)]
    savers = [subprocess.Popen([*words, str(i)], stderr=subprocess.PIPE, text=True) for i in range(3)]
    while any(one.poll() is None for one in savers):
        assert load(files / "one.json").contributions_table is not None
    assert [one.communicate()[1] for one in savers] == ["", "", ""]


def changed(path: Path, change: Any) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document).replace('"INFINITE"', "1e999"))


@pytest.mark.parametrize("value", ["INFINITE", 2**63, -(2**63) - 1])
def test_e504_numbers_that_no_table_can_hold(evaluation: Evaluation, tmp_path: Path, value: object) -> None:
    save(evaluation, tmp_path / "r.json")
    changed(tmp_path / "r.json", lambda found: next(iter(found["models"].values())).update(soft_score=value))
    with pytest.raises(InputError, match=r"E504.*soft_score"):
        load(tmp_path / "r.json")


def test_e504_halves_of_characters(evaluation: Evaluation, tmp_path: Path) -> None:
    save(evaluation, tmp_path / "r.json")
    changed(tmp_path / "r.json", lambda found: found["rules"][0].update(text="\ud800"))
    with pytest.raises(InputError, match="E504"):
        load(tmp_path / "r.json")


def test_e504_contributions_without_a_name(evaluation: Evaluation, tmp_path: Path) -> None:
    save(evaluation, tmp_path / "r.json")
    changed(tmp_path / "r.json", lambda found: found["contributions"].update(file=""))
    with pytest.raises(InputError, match=r"E504.*contributions\.file"):
        load(tmp_path / "r.json")


def test_a_pipe_is_no_result_and_no_contributions(evaluation: Evaluation, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(InputError, match=r"E504.*not a regular file"):
        load(tmp_path / "pipe.json")
    save(evaluation, tmp_path / "r.json")
    (tmp_path / "r.contributions.parquet").unlink()
    os.mkfifo(tmp_path / "r.contributions.parquet")
    with pytest.raises(InputError, match=r"(?s)E504.*not a regular file"):
        load(tmp_path / "r.json")


def contributions(*names: str, rows: int = 1) -> bytes:
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table([pa.array([True] * rows)] * len(names), names=list(names)), sink)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"rubbish", "it cannot be read"),
        (b"PAR1" * 100, "it cannot be read"),
        (contributions("model", "model"), "it cannot be read"),
        (contributions("model", "rule"), "it cannot be read"),
        (contributions(), "it cannot be read"),
        (contributions("model", rows=1_000_000), "it has 1,000,000 rows, and the result at most"),
    ],
)
def test_e506_contributions_that_are_none(evaluation: Evaluation, tmp_path: Path, content: bytes, why: str) -> None:
    save(evaluation, tmp_path / "r.json")
    (tmp_path / "r.contributions.parquet").write_bytes(content)
    changed(tmp_path / "r.json", lambda found: found["contributions"].update(sha256=hashlib.sha256(content).hexdigest()))
    with pytest.raises(InputError, match="E504") as refused:
        load(tmp_path / "r.json")
    assert why in str(refused.value)
