"""Recordings wait in a private inbox; two recorders of one moment never write over one another."""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keepa_cli.cassettes.codec import parse_cassette
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.recordings import find_recording, private_folder, recordings, store
from keepa_cli.core.errors import KeepaCliError, Kind

NOW = datetime(2026, 5, 10, 4, 19, 28, 884000, tzinfo=UTC)
META = {"origin": "sandbox", "recorded_at": "2026-05-10T04:19:28Z"}


def exchange(body: bytes = b'{"tokensLeft": 1}') -> Exchange:
    return Exchange("GET", "https://api.keepa.com/token", {}, b"", 200, "OK", {}, body)


def test_a_recording_is_private_and_complete(tmp_path: Path) -> None:
    path = store(tmp_path / "state", [exchange()], "kettle", META, NOW)
    assert path.parent == tmp_path / "state" / "inbox"
    assert path.name.startswith("kettle-20260510T041928884000Z-")
    assert json.loads(parse_cassette(path.read_bytes(), "x")[0].body) == {"tokensLeft": 1}
    (found,) = recordings(tmp_path / "state")
    assert (found.name, found.path, found.meta["origin"]) == ("kettle", path, "sandbox")
    if os.name == "posix":
        for each in (path, path.with_name(path.stem + ".meta.json")):
            assert stat.S_IMODE(each.stat().st_mode) == 0o600
        for folder in (path.parent, path.parent.parent):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name != "posix", reason="folder modes are a POSIX matter")
def test_an_open_folder_is_closed(tmp_path: Path) -> None:
    (tmp_path / "inbox").mkdir(mode=0o755)
    assert stat.S_IMODE(private_folder(tmp_path, "inbox").stat().st_mode) == 0o700


def test_many_recorders_of_one_moment_lose_nothing(tmp_path: Path) -> None:
    bodies = [b'{"tokensLeft": %d}' % n for n in range(24)]
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda b: store(tmp_path, [exchange(b)], "kettle", META, NOW), bodies))
    assert len(set(paths)) == 24
    kept = {json.loads(parse_cassette(p.read_bytes(), "x")[0].body)["tokensLeft"] for p in paths}
    assert kept == set(range(24))
    assert len(list(recordings(tmp_path))) == 24


def test_a_name_finds_its_newest_recording(tmp_path: Path) -> None:
    store(tmp_path, [exchange()], "kettle", META, NOW)
    store(tmp_path, [exchange()], "kettle", META, NOW)
    store(tmp_path, [exchange()], "kettle-2", META, NOW + timedelta(days=1))
    newest = store(tmp_path, [exchange()], "kettle", META, NOW + timedelta(seconds=1))
    assert find_recording(tmp_path, "kettle", tmp_path) == newest
    assert find_recording(tmp_path, newest.name, tmp_path) == newest
    direct = tmp_path / "kettle"
    direct.write_bytes(b"x")
    assert find_recording(tmp_path, "kettle", tmp_path) == direct


def test_an_unknown_name_lists_what_there_is(tmp_path: Path) -> None:
    store(tmp_path, [exchange()], "kettle", META, NOW)
    with pytest.raises(KeepaCliError) as caught:
        find_recording(tmp_path, "pan", tmp_path)
    assert caught.value.kind is Kind.IO_ERROR
    assert caught.value.details["recordings"] == ["kettle"]


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "con"])
def test_a_name_is_a_plain_file_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(KeepaCliError) as caught:
        store(tmp_path, [exchange()], name, META, NOW)
    assert caught.value.kind is Kind.INVALID_ARGUMENTS
    assert not list(recordings(tmp_path))


def test_a_claim_without_its_recording_is_not_listed(tmp_path: Path) -> None:
    path = store(tmp_path, [exchange()], "kettle", META, NOW)
    path.unlink()
    assert not list(recordings(tmp_path))
    assert store(tmp_path, [exchange()], "kettle", META, NOW) != path


def test_a_full_disk_leaves_no_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(KeepaCliError) as caught:
        store(tmp_path, [exchange()], "kettle", META, NOW)
    assert caught.value.kind is Kind.IO_ERROR
    assert not list(recordings(tmp_path))
    assert not list((tmp_path / "inbox").glob(".tmp*"))
