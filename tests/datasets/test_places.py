"""Data sets are found in the user's folder, in the cache and in PyKEEN, in this order; errors say how to get them."""

from __future__ import annotations

import gzip
from hashlib import sha256
from pathlib import Path

import pytest

from rulescore import InputError, datasets
from rulescore.datasets.catalogue import DATA_SETS, DataSet
from shared_data import SHARED, shared


def lay_out(folder: Path, wanted: DataSet, *, size: bool = True) -> Path:
    folder.mkdir(parents=True)
    for file in wanted.files:
        (folder / file.name).write_bytes(b"x" * (file.size if size else 1))
    return folder


def problem(call: object, *arguments: str) -> tuple[str, str]:
    with pytest.raises(InputError) as error:
        call(*arguments)  # type: ignore[operator]
    return error.value.problems[0].code, str(error.value)


def test_there_are_six() -> None:
    assert datasets.names() == ("family", "fb15k-237", "umls", "kinships", "nations", "dvf-nantes")


def test_addresses_have_https_and_name_a_commit() -> None:
    for one in DATA_SETS.values():
        for download in one.downloads:
            assert download.url.startswith("https://raw.githubusercontent.com/")
            assert len(download.url.split("/")[5]) == 40


def test_what_is_nowhere_is_an_error_that_says_how_to_get_it() -> None:
    code, text = problem(datasets.path, "family")
    assert code == "E752"
    assert "`rulescore datasets fetch family`" in text


def test_what_nobody_offers_is_an_error_that_says_where_to_put_it() -> None:
    for call in (datasets.path, datasets.fetch):
        code, text = problem(call, "dvf-nantes")
        assert code == "E752"
        assert "put `sales.parquet` into a folder `dvf-nantes`" in text
        assert "https://www.data.gouv.fr/" in text


def test_a_name_that_is_misspelt() -> None:
    code, text = problem(datasets.path, "kinship")
    assert code == "E751"
    assert "did you mean `kinships`?" in text


def test_the_cache_has_it_if_every_file_has_its_size(cache: Path) -> None:
    folder = lay_out(cache / "family", DATA_SETS["family"])
    assert datasets.path("family") == folder
    (folder / "test.txt").write_bytes(b"half")
    assert problem(datasets.path, "family")[0] == "E752"


def test_the_users_folder_comes_first_and_may_hold_what_it_likes(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(cache / "family", DATA_SETS["family"])
    folder = lay_out(tmp_path / "own" / "family", DATA_SETS["family"], size=False)
    monkeypatch.setenv("RULESCORE_DATA", str(tmp_path / "own"))
    assert datasets.path("family") == datasets.fetch("family") == folder
    (folder / "train.txt").unlink()
    assert datasets.path("family") == datasets.fetch("family") == cache / "family"


def test_files_of_the_users_folder_may_be_compressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = lay_out(tmp_path / "own" / "fb15k-237", DATA_SETS["fb15k-237"], size=False)
    monkeypatch.setenv("RULESCORE_DATA", str(tmp_path / "own"))
    (folder / "train.txt").unlink()
    (folder / "train.txt.gz").write_bytes(gzip.compress(b"a\tb\tc\n"))
    assert datasets.path("fb15k-237") == folder
    assert datasets.file("fb15k-237", "train.txt") == folder / "train.txt.gz"
    assert datasets.file("fb15k-237", "test.txt") == folder / "test.txt"
    assert problem(datasets.file, "fb15k-237", "tests.txt")[0] == "E751"


def test_nothing_is_downloaded_if_the_users_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own" / "family").mkdir(parents=True)
    (tmp_path / "own" / "family" / "train.txt").write_text("a\tb\tc\n")
    monkeypatch.setenv("RULESCORE_DATA", str(tmp_path / "own"))
    for call in (datasets.path, datasets.fetch):
        code, text = problem(call, "family")
        assert code == "E752"
        assert "has no `valid.txt` and no `test.txt` and no `MLN_rule.txt`" in text
        assert "unset RULESCORE_DATA, then" in text


def test_the_users_folder_has_to_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULESCORE_DATA", str(tmp_path / "nowhere"))
    for call in (datasets.path, datasets.fetch):
        assert problem(call, "family")[0] == "E302"


@pytest.mark.parametrize("name", ["umls", "kinships", "nations"])
def test_pykeen_has_files_of_the_digests_that_are_known(name: str) -> None:
    folder = datasets.path(name)
    assert "pykeen" in folder.parts
    assert datasets.fetch(name) == folder
    for file in DATA_SETS[name].files:
        assert sha256((folder / file.name).read_bytes()).hexdigest() == file.sha256


def test_predictions_lie_beside_the_data_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert problem(datasets.predictions_folder)[0] == "E752"
    monkeypatch.setenv("RULESCORE_DATA", str(tmp_path))
    assert problem(datasets.predictions_folder)[0] == "E752"
    (tmp_path / "predictions").mkdir()
    assert datasets.predictions_folder() == tmp_path / "predictions"


@pytest.mark.parametrize("name", ["family", "fb15k-237", "dvf-nantes"])
def test_the_digests_are_those_of_the_published_files(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shared(name)
    monkeypatch.setenv("RULESCORE_DATA", str(SHARED))
    for file in DATA_SETS[name].files:
        path = datasets.file(name, file.name)
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        assert (len(content), sha256(content).hexdigest()) == (file.size, file.sha256)
