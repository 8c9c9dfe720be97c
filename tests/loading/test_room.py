"""What will not fit is told from the sizes of files, before they are read."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

from rulescore.arguments.python import make_setting
from rulescore.engines.base import connect, warn_of_too_little_room
from rulescore.errors import Diagnostic, Severity
from rulescore.readers.inputs import Inputs
from rulescore.setting.options import EngineOptions
from rulescore.waiting import warning

FACTS = "a\tp\tb\nb\tp\tc\n"
RULES = "p(X, Y) <- p(Y, X). closed p."


def facts_of(size: int, folder: Path) -> Path:
    """A file of so many bytes, nearly all of them holes, which take no room on the disk."""
    path = folder / "facts.tsv"
    path.write_text(FACTS)
    os.truncate(path, size)
    return path


def warnings(setting, **options: object) -> list[Diagnostic]:
    told: list[Diagnostic] = []
    engine = connect(EngineOptions(**options))
    with warning(told.append):
        warn_of_too_little_room(engine, Inputs(setting).text_size())
    engine.close()
    return told


def test_facts_that_fit_nowhere_are_told(tmp_path: Path) -> None:
    facts = facts_of(10**13, tmp_path)
    (told,) = warnings(make_setting(facts, {}, RULES), spill_folder=tmp_path / "spill")
    assert (told.code, told.severity) == ("W369", Severity.WARNING)
    assert told.message.startswith("the data may need 30,000.0 GB of memory and disk, and there are ")


def test_facts_that_fit_are_not_told(tmp_path: Path) -> None:
    assert warnings(make_setting(facts_of(10**6, tmp_path), {}, RULES)) == []


def test_all_files_of_facts_and_predictions_count_unpacked(tmp_path: Path) -> None:
    facts, answers = tmp_path / "facts.tsv.gz", tmp_path / "answers.tsv"
    facts.write_bytes(gzip.compress(FACTS.encode()))
    answers.write_text("c\tp\ta\n")
    setting = make_setting(facts, {"model": answers}, RULES)
    assert Inputs(setting).text_size() == 6 * facts.stat().st_size + answers.stat().st_size


def test_rows_of_this_program_s_memory_have_no_size() -> None:
    assert Inputs(make_setting([("p", "a", "b")], {}, RULES)).text_size() == 0
