"""The recorder's journal: nothing that was appended is lost, nothing torn is believed."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import stat
import threading
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.cassettes import journal
from keepa_cli.cassettes.journal import Journal
from keepa_cli.cassettes.model import Exchange
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import lock

EXCHANGE = Exchange(
    "GET", "https://api.keepa.com/token", {"Accept": ["*/*"]}, b"", 200, "OK", {"X": ["a", "b"]}, b'{"tokensLeft":1}'
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "product").mkdir()
    return tmp_path / "product" / "one.jsonl"


def written(path: Path, *exchanges: Exchange) -> Journal:
    made = Journal.create(path, {"name": "product"})
    for exchange in exchanges:
        made.sending(1)
        made.append(exchange, {"duration_ms": 5})
    return made


BYTES = st.binary(max_size=40) | st.text(max_size=40).map(str.encode)
HEADERS = st.dictionaries(st.text(max_size=8), st.lists(st.text(max_size=8), max_size=2), max_size=3)


@settings(max_examples=60, deadline=None)
@given(body=BYTES, request=BYTES, headers=HEADERS, url=st.text(max_size=30), status=st.integers(100, 599))
def test_an_exchange_comes_back_as_it_was(
    tmp_path_factory: Any, body: bytes, request: bytes, headers: Any, url: str, status: int
) -> None:
    path = tmp_path_factory.mktemp("j") / "a.jsonl"
    exchange = Exchange("POST", url, headers, request, status, "é", headers, body)
    written(path, exchange).close()
    assert journal.read(path).exchanges == [exchange]


def test_it_tells_what_was_sent_kept_and_ended(path: Path) -> None:
    made = written(path, EXCHANGE, replace(EXCHANGE, status=429))
    made.sending(3)
    found = journal.read(path)
    assert (found.meta, found.sent, len(found.exchanges), found.ended) == ({"name": "product"}, 3, 2, False)
    assert found.notes == [{"duration_ms": 5}] * 2
    made.end({"status": 200})
    made.close()
    assert journal.read(path).ended


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_only_its_owner_reads_it(path: Path) -> None:
    written(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_existing_journal_is_never_written_over(path: Path) -> None:
    written(path, EXCHANGE).close()
    with pytest.raises(KeepaCliError) as caught:
        Journal.create(path, {})
    assert caught.value.kind is Kind.IO_ERROR
    assert len(journal.read(path).exchanges) == 1


def test_a_cut_at_any_byte_loses_no_earlier_exchange(path: Path) -> None:
    written(path, EXCHANGE, replace(EXCHANGE, body=b"\xff\x00")).close()
    whole = path.read_bytes()
    ends = [i + 1 for i, c in enumerate(whole) if c == ord("\n")]
    for size in range(ends[0], len(whole)):
        path.write_bytes(whole[:size])
        found = journal.read(path)
        complete = (size >= ends[2] - 1) + (size >= ends[4] - 1)
        assert len(found.exchanges) == complete
        assert found.meta == {"name": "product"}


@pytest.mark.parametrize("junk", [b"\x00\xff", b"[1]", b'{"exchange":{}}', b'{"exchange":5,"notes":{}}', b"{"])
def test_lines_that_are_no_rows_are_skipped(path: Path, junk: bytes) -> None:
    written(path, EXCHANGE).close()
    path.write_bytes(path.read_bytes() + junk + b"\n")
    found = journal.read(path)
    assert len(found.exchanges) == 1
    assert found.torn


def _fill(path: Path, limit: int, answer: Any) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    made = Journal.create(path, {"name": "product"})
    made.append(EXCHANGE, {})
    try:
        made.append(replace(EXCHANGE, body=b"x" * limit), {})
    except KeepaCliError as error:
        made.append(replace(EXCHANGE, status=404), {})
        answer.put(error.kind.value)


@pytest.mark.skipif(os.name != "posix", reason="file size limits")
def test_a_full_disk_tears_no_line_and_later_lines_are_whole(path: Path) -> None:
    context = multiprocessing.get_context("fork")
    answer = context.Queue()
    child = context.Process(target=_fill, args=(path, 4096, answer))
    child.start()
    assert answer.get(timeout=20) == "io_error"
    child.join()
    found = journal.read(path)
    assert [e.status for e in found.exchanges] == [200, 404]
    assert not found.torn


def test_recovery_hands_out_what_dead_recorders_left(path: Path, tmp_path: Path) -> None:
    written(path, EXCHANGE).close()
    (tmp_path / "token").mkdir()
    written(tmp_path / "token" / "two.jsonl").close()
    found = {j.path.parent.name: j for j in journal.recover(tmp_path)}
    assert [len(found[n].exchanges) for n in ("product", "token")] == [1, 0]
    for each in found.values():
        each.discard()
    assert list(journal.recover(tmp_path)) == []


def test_recovery_removes_the_folder_once_it_is_empty(path: Path, tmp_path: Path) -> None:
    written(path, EXCHANGE).close()
    for each in journal.recover(tmp_path):
        each.discard()
    assert not path.parent.exists() or os.name != "posix"


@pytest.mark.parametrize("holder", ["", journal.RECORDER])
def test_recovery_leaves_a_running_recorder_alone(path: Path, tmp_path: Path, holder: str) -> None:
    written(path, EXCHANGE).close()
    with lock(path.parent / holder, what="a recording"):
        assert list(journal.recover(tmp_path)) == []
    assert len(list(journal.recover(tmp_path))) == 1


def test_a_recording_has_one_recorder(path: Path) -> None:
    with ExitStack() as first, ExitStack() as second:
        journal.claim(path.parent, first)
        with pytest.raises(KeepaCliError) as caught:
            journal.claim(path.parent, second)
    assert caught.value.kind is Kind.IO_ERROR
    assert caught.value.retryable


def test_a_row_is_one_line_of_ascii(path: Path) -> None:
    written(path, replace(EXCHANGE, body='{"t":"ü\n"}'.encode(), reason="a\nb")).close()
    lines = path.read_bytes().splitlines()
    assert len(lines) == 3
    assert all(json.loads(line) and line.isascii() for line in lines)


def test_folders_may_go_while_others_look(tmp_path: Path) -> None:
    def come_and_go() -> None:
        folders = [tmp_path / f"token-{n}" for n in range(40)]
        for _ in range(40):
            for folder in folders:
                folder.mkdir(exist_ok=True)
            for folder in folders:
                shutil.rmtree(folder, ignore_errors=True)

    going = threading.Thread(target=come_and_go)
    going.start()
    while going.is_alive():
        list(journal.recover(tmp_path))
    going.join()
