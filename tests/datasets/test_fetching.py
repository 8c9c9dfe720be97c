"""Downloads from a real server that breaks off, sends elsewhere, ignores what it is asked and sends wrong bytes: what comes into
the cache is right, or nothing does."""

from __future__ import annotations

import fcntl
import os
import socket
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from unittest.mock import ANY

import pytest

from rulescore import InputError, datasets
from rulescore import waiting as locks
from rulescore.datasets import download as downloading
from rulescore.datasets.catalogue import DATA_SETS, DataSet, File
from servers.web import Site

Sent = tuple[str, int, int]


@pytest.fixture
def train(offered: DataSet) -> File:
    return offered.files[0]


@pytest.fixture
def part(cache: Path) -> Path:
    return cache / "family" / "train.txt.part"


def refused(code: str) -> str:
    """What is told when the data set cannot be fetched."""
    with pytest.raises(InputError) as error:
        datasets.fetch("family")
    assert [problem.code for problem in error.value.problems] == [code]
    return str(error.value)


def assert_whole(site: Site, cache: Path) -> None:
    folder = datasets.fetch("family")
    assert folder == datasets.path("family") == cache / "family"
    assert sorted(path.name for path in folder.iterdir()) == ["test.txt", "train.txt"]
    assert (folder / "train.txt").read_bytes() == site.files["train.txt"]
    assert (folder / "test.txt").read_bytes() == b"alice\taunt\temma\n"


def break_off(site: Site, after: int = 100_000) -> None:
    """Fetches until the server closes the connection, and has it behave from then on."""
    site.stop_after = after
    refused("E756")
    site.stop_after = None
    site.asked.clear()


def test_files_and_members_of_archives_come_into_the_cache(offered: DataSet, site: Site, cache: Path) -> None:
    told: list[Sent] = []
    datasets.fetch("family", lambda *sent: told.append(sent))
    assert [sent for sent in told if sent[1] == sent[2]] == [("train.txt", 400_000, 400_000), ("test.zip", ANY, ANY)]
    assert [here for name, here, _ in told if name == "train.txt"] == sorted(
        {here for name, here, _ in told if name == "train.txt"}
    )
    assert_whole(site, cache)
    assert site.names == ["train.txt", "test.zip"]


def test_a_damaged_file_alone_is_fetched_again(offered: DataSet, site: Site, cache: Path) -> None:
    folder = datasets.fetch("family")
    content = site.files["train.txt"]
    (folder / "train.txt").write_bytes(content[:-1] + b"!")
    assert_whole(site, cache)
    assert site.names == ["train.txt", "test.zip", "train.txt"]


@pytest.mark.parametrize("ending", ["close", "reset"])
@pytest.mark.parametrize("length", [True, False])
def test_a_download_that_broke_off_is_gone_on_with(
    offered: DataSet, site: Site, cache: Path, part: Path, ending: str, length: bool
) -> None:
    site.stop_after, site.ending, site.length = 100_000, ending, length
    text = refused("E756")
    assert "of 400,000 bytes of `train.txt` are here and are kept" in text
    here = part.stat().st_size
    # A reset may overtake what was sent before it.
    assert here == 100_000 or ending == "reset"
    assert site.files["train.txt"].startswith(part.read_bytes())
    assert not (cache / "family" / "train.txt").exists()
    site.stop_after, site.length = None, True
    assert_whole(site, cache)
    assert site.header("Range") == [None, f"bytes={here}-" if here else None, None]
    assert site.header("If-Range") == [None, '"first"' if here else None, None]


def test_a_part_that_is_whole_is_not_asked_for(offered: DataSet, site: Site, cache: Path, part: Path) -> None:
    part.parent.mkdir(parents=True)
    part.write_bytes(site.files["train.txt"])
    assert_whole(site, cache)
    assert site.names == ["test.zip"]


def test_a_server_that_ignores_ranges_sends_everything(offered: DataSet, site: Site, cache: Path) -> None:
    break_off(site)
    site.ranges = False
    assert_whole(site, cache)
    assert site.header("Range")[0] == "bytes=100000-"


def test_a_file_that_changed_meanwhile_is_sent_from_its_beginning(offered: DataSet, site: Site, cache: Path, part: Path) -> None:
    site.files["train.txt"], right = b"#" * 400_000, site.files["train.txt"]
    break_off(site)
    assert part.read_bytes() == b"#" * 100_000
    site.files["train.txt"], site.etag = right, '"second"'
    assert_whole(site, cache)
    assert site.header("If-Range")[0] == '"first"'


def test_a_weak_mark_is_not_asked_for(offered: DataSet, site: Site, cache: Path) -> None:
    site.etag = 'W/"first"'
    break_off(site)
    assert_whole(site, cache)
    assert (site.header("Range")[0], site.header("If-Range")[0]) == ("bytes=100000-", None)


def test_a_server_whose_file_ends_before_the_part_is_asked_for_everything(
    offered: DataSet, site: Site, cache: Path, part: Path
) -> None:
    break_off(site)
    site.files["train.txt"], right = b"short", site.files["train.txt"]
    text = refused("E756")
    assert "`train.txt` has 400,000 bytes, but the server sends 5" in text
    assert site.header("Range") == ["bytes=100000-", None]
    assert list(part.parent.iterdir()) == []
    site.files["train.txt"] = right
    assert_whole(site, cache)


def test_another_part_than_the_one_asked_for_is_refused(offered: DataSet, site: Site, cache: Path, part: Path) -> None:
    break_off(site)
    site.shifted = 1
    assert "it sends another part: `bytes 100001-399999/400000`" in refused("E756")
    assert not part.exists()


def test_wrong_bytes_are_refused_and_both_digests_told(offered: DataSet, site: Site, cache: Path, train: File, part: Path) -> None:
    right = site.files["train.txt"]
    site.files["train.txt"] = right[:-1] + b"!"
    text = refused("E756")
    assert f"SHA-256 should be {train.sha256}" in text
    assert f"it is              {sha256(site.files['train.txt']).hexdigest()}" in text
    assert list(part.parent.iterdir()) == []
    site.files["train.txt"] = right
    assert_whole(site, cache)


@pytest.mark.parametrize("length", [True, False])
def test_more_bytes_than_there_should_be_are_refused(offered: DataSet, site: Site, part: Path, length: bool) -> None:
    site.files["train.txt"] += b"!"
    site.length = length
    assert f"but the server sends {'400,001' if length else 'more'}" in refused("E756")
    assert list(part.parent.iterdir()) == []


def test_redirects_on_this_machine_are_followed_with_the_range(offered: DataSet, site: Site, cache: Path) -> None:
    site.files["moved.txt"] = site.files["train.txt"]
    site.redirects["train.txt"] = site.url("moved.txt")
    break_off(site)
    assert_whole(site, cache)
    assert site.names == ["train.txt", "moved.txt", "test.zip"]
    assert site.header("Range") == ["bytes=100000-", "bytes=100000-", None]


@pytest.mark.parametrize("target", ["http://example.org/train.txt", "ftp://127.0.0.1/train.txt", "file:///etc/hostname"])
def test_redirects_without_https_are_not_followed(offered: DataSet, site: Site, target: str) -> None:
    site.redirects["train.txt"] = target
    assert "we follow only addresses with https" in refused("E756")
    assert site.names == ["train.txt"]


def test_a_redirect_to_no_address(offered: DataSet, site: Site) -> None:
    site.redirects["train.txt"] = "http://["
    assert "an address that cannot be read" in refused("E756")


def test_redirects_that_never_end_are_not_followed_for_ever(offered: DataSet, site: Site) -> None:
    site.redirects["train.txt"] = site.url("train.txt")
    refused("E756")
    assert len(site.asked) < 20


@pytest.mark.parametrize(("status", "said"), [(404, "404 Not Found"), (503, "503 Service Unavailable")])
def test_a_server_that_has_no_file(offered: DataSet, site: Site, status: int, said: str) -> None:
    site.status = status
    assert f"{site.url('train.txt')} gives no file: {said}" in refused("E756")


def test_a_server_that_is_not_there(offered: DataSet, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        point_at(offered, f"http://127.0.0.1:{free.getsockname()[1]}/train.txt", monkeypatch)
        text = refused("E756")
    assert "connection refused" in text
    assert "set RULESCORE_DATA" in text


def test_a_name_that_cannot_be_looked_up(offered: DataSet, monkeypatch: pytest.MonkeyPatch) -> None:
    point_at(offered, "https://nowhere.invalid/train.txt", monkeypatch)
    assert "the name `nowhere.invalid` cannot be looked up; is this machine offline?" in refused("E756")


def point_at(offered: DataSet, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first, *others = offered.downloads
    monkeypatch.setitem(DATA_SETS, "family", replace(offered, downloads=(replace(first, url=url), *others)))


def test_a_server_that_is_silent_is_not_waited_for_for_ever(site: Site, train: File, tmp_path: Path) -> None:
    site.silent = True
    with pytest.raises(InputError, match=r"E756.*no answer within 0.2 seconds"):
        downloading.download(site.url("train.txt"), train, tmp_path / "train.txt", timeout=0.2)


def test_a_server_that_stalls_is_not_waited_for_for_ever(site: Site, train: File, tmp_path: Path) -> None:
    site.stop_after, site.ending = 100_000, "stall"
    with pytest.raises(InputError, match=r"E756.*nothing more came"):
        downloading.download(site.url("train.txt"), train, tmp_path / "train.txt", timeout=0.2)
    assert (tmp_path / "train.txt.part").stat().st_size == 100_000


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk(offered: DataSet, part: Path) -> None:
    part.parent.mkdir(parents=True)
    part.symlink_to("/dev/full")
    assert f"`{part}` cannot be written: no space left on device" in refused("E601")


def test_a_cache_that_cannot_be_written(offered: DataSet, cache: Path) -> None:
    cache.parent.parent.mkdir(parents=True)
    cache.parent.write_text("a file")
    assert "cannot be written: not a directory" in refused("E601")


def test_two_processes_do_not_fetch_one_data_set_at_once(
    offered: DataSet, site: Site, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "PATIENCE", 0.1)
    (cache / "family").mkdir(parents=True)
    handle = os.open(cache / "family", os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert "another process is fetching `family`" in refused("E756")
        assert site.asked == []
    finally:
        os.close(handle)
    assert_whole(site, cache)
