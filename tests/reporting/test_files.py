"""Files appear complete or not at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow.parquet
import pytest

from rulescore.errors import InputError
from rulescore.reporting.audit import audit_listing
from rulescore.reporting.files import write_files, write_listing, write_outputs
from rulescore.scoring.evaluation import Evaluation
from rulescore.setting.choices import OutputFormat


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_an_evaluation_becomes_files(evaluation: Evaluation, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "results"
    written = write_outputs(evaluation, folder)
    expected = {"rules.csv", "models.csv", "evaluation.json", "rules.parquet", "models.parquet", "contributions.parquet"}
    assert {path.name for path in written} == names(folder) == expected
    assert json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))["version"] == 1
    assert pyarrow.parquet.read_table(folder / "rules.parquet") == evaluation.rules
    assert pyarrow.parquet.read_table(folder / "contributions.parquet").schema == evaluation.contributions.schema


def test_every_format_can_be_asked_for(evaluation: Evaluation, tmp_path: Path) -> None:
    write_outputs(evaluation, tmp_path, list(OutputFormat))
    assert {"evaluation.txt", "evaluation.md", "models.tex", "rules.tex", "evaluation.json"} < names(tmp_path)


def test_a_listing_becomes_files_named_after_it(audit: Evaluation, tmp_path: Path) -> None:
    write_listing(audit_listing(audit.rule_results), tmp_path, ["csv", "markdown", "parquet"])
    assert names(tmp_path) == {"audit.csv", "audit.md"}


def test_an_interruption_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    class Interrupting:
        """A table that is interrupted while it is written."""

        @property
        def schema(self) -> None:
            raise KeyboardInterrupt

    (tmp_path / "rules.csv").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_files(tmp_path, {"rules.csv": "new", "rules.parquet": Interrupting()})
    assert names(tmp_path) == {"rules.csv"}
    assert (tmp_path / "rules.csv").read_text() == "old"


def test_files_written_before_are_replaced(tmp_path: Path) -> None:
    for text in ("first", "second"):
        write_files(tmp_path, {"a.txt": text})
    assert (tmp_path / "a.txt").read_text() == "second"
    assert names(tmp_path) == {"a.txt"}


def test_results_are_readable_by_whom_ordinary_files_are(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.txt": "text"})
    (tmp_path / "ordinary").touch()
    assert (tmp_path / "a.txt").stat().st_mode == (tmp_path / "ordinary").stat().st_mode


def test_a_folder_that_cannot_be_made_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    with pytest.raises(InputError, match=r"E601.*taken"):
        write_files(tmp_path / "taken", {"a.txt": "text"})


def test_an_unknown_format_is_an_error_with_a_suggestion(evaluation: Evaluation, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean `parquet`"):
        write_outputs(evaluation, tmp_path, ["parket"])
    assert names(tmp_path) == set()


def test_a_link_is_followed_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "real.md").write_text("old")
    (tmp_path / "link.md").symlink_to("there/real.md")
    assert write_files(tmp_path, {"link.md": "new"}) == (tmp_path / "link.md",)
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "there" / "real.md").read_text() == "new"
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as other:
        read = other.submit((tmp_path / "pipe").read_text)
        write_files(tmp_path, {"pipe": "told"})
        assert read.result(20) == "told"
    assert (tmp_path / "pipe").is_fifo()
    with pytest.raises(InputError, match="E601"):
        write_files(tmp_path, {"there": "a folder"})


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs the names of streams")
@pytest.mark.parametrize("stream", ["/dev/stdout", "/dev/stderr", "/dev/fd/1"])
@pytest.mark.parametrize("into", ["pipe", "file"])
def test_a_stream_of_ours_is_written_to_by_its_name(stream: str, into: str, tmp_path: Path) -> None:
    path = Path(stream)
    program = (
        "import sys; from pathlib import Path; from rulescore.reporting.files import write_files; print('before');"
        f"print('before', file=sys.stderr); write_files(Path({str(path.parent)!r}), {{{path.name!r}: 'told '}});"
        "print('after'); print('after', file=sys.stderr)"
    )
    with (tmp_path / "1").open("wb") as out, (tmp_path / "2").open("wb") as err:
        given = {"stdout": out, "stderr": err} if into == "file" else {"capture_output": True}
        result = subprocess.run([sys.executable, "-c", program], check=True, **given)  # type: ignore[call-overload]
    texts = (result.stdout, result.stderr) if into == "pipe" else tuple((tmp_path / name).read_bytes() for name in "12")
    assert texts[stream == "/dev/stderr"].split() == [b"before", b"told", b"after"]
    assert texts[stream != "/dev/stderr"].split() == [b"before", b"after"]


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="needs pipes of a shell")
def test_a_pipe_of_a_shell_is_written_to(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from rulescore.reporting.files import write_files;"
        "path = Path(sys.argv[1]); write_files(path.parent, {path.name: 'told'})"
    )
    line = '"$0" -c "$1" >(cat > told); wait $!'
    subprocess.run(["/bin/bash", "-c", line, sys.executable, program], check=True, cwd=tmp_path)
    assert (tmp_path / "told").read_text() == "told"
