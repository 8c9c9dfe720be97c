"""A cache of the test's own, no folder of the user's, and nothing between a test and the server on its own machine."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

from rulescore.datasets.catalogue import DATA_SETS, DataSet, Download, File
from servers.web import Site, running_site

TRAIN = b"alice\tsister\tdaniel\n" * 20_000
TEST = b"alice\taunt\temma\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("RULESCORE_DATA", raising=False)
    return tmp_path / "cache" / "rulescore" / "datasets"


@pytest.fixture
def site() -> Iterator[Site]:
    with running_site() as site:
        yield site


@pytest.fixture
def offered(site: Site, monkeypatch: pytest.MonkeyPatch) -> DataSet:
    """The data set `family`, as small files of the site, and one more in an archive."""
    packed = io.BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr("inside/test.txt", TEST)
    site.files |= {"train.txt": TRAIN, "test.zip": packed.getvalue()}
    downloads = (
        Download(site.url("train.txt"), described("train.txt", TRAIN)),
        Download(
            site.url("test.zip"), described("test.zip", packed.getvalue()), (("inside/test.txt", described("test.txt", TEST)),)
        ),
    )
    one = replace(DATA_SETS["family"], files=tuple(file for one in downloads for file in one.files), downloads=downloads)
    monkeypatch.setitem(DATA_SETS, "family", one)
    return one


def described(name: str, content: bytes) -> File:
    return File(name, len(content), sha256(content).hexdigest())
