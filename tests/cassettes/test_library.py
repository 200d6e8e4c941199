"""The library finds answers by fingerprint, opens only what it must, and explains what it does not have."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.cassettes import loading
from keepa_cli.cassettes.codec import dump_cassette
from keepa_cli.cassettes.fingerprint import of_request
from keepa_cli.cassettes.library import Hit, Library
from keepa_cli.cassettes.names import SIDECAR, file_name
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import Transaction, lock
from tests.cassettes.made import KEY, answer, ask, broken, miss, promote, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "cassettes"
    folder.mkdir()
    return folder


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that were opened."""
    seen: list[str] = []
    real = os.open

    def noting(path: Any, *args: Any, **kwargs: Any) -> int:
        seen.append(Path(path).name)
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", noting)
    return seen


def test_a_hit_says_what_was_played(root: Path) -> None:
    when = "2026-05-10T08:00:00Z"
    evidence = {"promotion": {"origin": "sandbox"}, "interactions": [{"recorded_at": when}, {}]}
    path = promote(root, "one", ask(), b"[1]", b"[2]", evidence=evidence)
    library = Library([root])
    hit = library.play(ask())
    assert hit == Hit(
        answer(ask(), b"[1]"),
        path,
        "one",
        root,
        0,
        of_request(ask()),
        when,
        "sandbox",
        f"cassettes/product/{path.name}",
    )
    again = library.play(ask())
    assert (again.exchange.body, again.ordinal, again.recorded_at) == (b"[2]", 1, None)


@pytest.mark.parametrize("evidence", [None, [], {"origin": "moon"}, {"promotion": 1, "interactions": 2}])
def test_without_usable_evidence_the_origin_is_unknown(root: Path, evidence: Any) -> None:
    promote(root, "one", ask(), evidence=evidence)
    hit = Library([root]).play(ask())
    assert (hit.origin, hit.recorded_at) == ("unknown", None)


def test_flat_evidence_is_read_too(root: Path) -> None:
    promote(root, "one", ask(), evidence={"origin": "live", "recorded_at": "2026-01-01T00:00:00Z"})
    hit = Library([root]).play(ask())
    assert (hit.origin, hit.recorded_at) == ("live", "2026-01-01T00:00:00Z")


def test_answers_are_played_in_order_and_the_last_is_held(root: Path) -> None:
    promote(root, "one", ask(), b"[1]", b"[2]", b"[3]")
    library = Library([root])
    assert [library.play(ask()).exchange.body for _ in range(5)] == [b"[1]", b"[2]", b"[3]", b"[3]", b"[3]"]
    assert Library([root]).play(ask()).exchange.body == b"[1]"


def test_once_means_once(root: Path) -> None:
    promote(root, "one", ask(), b"[1]", b"[2]")
    library = Library([root], repeats="once")
    assert [library.play(ask()).exchange.body for _ in range(2)] == [b"[1]", b"[2]"]
    error = miss(library, ask())
    assert "all 2 recorded answers for this request have been used" in error.message
    assert "hold_last" in error.message
    assert error.details["reason"] == "used_up"
    with pytest.raises(KeepaCliError, match="repeats"):
        Library([root], repeats="twice")


def test_only_the_answering_file_is_opened(root: Path, opened: list[str]) -> None:
    path = promote(root, "one", ask())
    promote(root, "two", ask("B00BBBBBB2"))
    write(root / "foreign.yaml", answer(ask("B00CCCCCC3")))
    Library([root]).play(ask())
    assert {name for name in opened if not name.endswith(SIDECAR)} == {path.name}


def test_foreign_cassettes_are_opened_only_when_they_may_answer(root: Path, opened: list[str]) -> None:
    write(root / "a.yaml", answer(ask("B00CCCCCC3")))
    write(root / "sub" / "b.yml", answer(ask("B00DDDDDD4")), answer(ask("B00EEEEEE5")))
    document = {
        "version": 1,
        "interactions": [
            {
                "request": {
                    "method": "GET",
                    "uri": ask("B00FFFFFF6").url() + "&key=" + KEY,
                    "headers": {},
                    "body": None,
                },
                "response": {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": "[6]"}},
            }
        ],
    }
    (root / "z.json").write_text(json.dumps(document))
    library = Library([root])
    assert library.play(ask("B00EEEEEE5")).name == "b"
    assert "z.json" not in opened
    assert library.play(ask("B00FFFFFF6")).exchange.body == b"[6]"
    assert library.play(ask("B00CCCCCC3")).name == "a"
    assert miss(library, ask(path="/search")).details["nearest"]["path"] == "/product"


def test_cassettes_of_other_services_are_not_taken_for_keepas(root: Path) -> None:
    hosts = ["https://id.example.com", "http://127.0.0.1:8000", "http://[::1]:1", "http://localhost", "http://keepa:80"]
    for number, host in enumerate(hosts):
        write(root / f"{number}.yaml", answer(ask(f"B00000000{number}"), host=host))
    library = Library([root])
    miss(library, ask("B000000000"))
    for number in range(1, len(hosts)):
        assert library.play(ask(f"B00000000{number}")).name == str(number)


def test_the_first_root_wins_and_promoted_cassettes_come_before_others(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    write(first / "foreign.yaml", answer(ask(), b"[0]"))
    promote(second, "one", ask(), b"[1]")
    assert Library([tmp_path / "none", first, second]).play(ask()).exchange.body == b"[1]"
    promote(first, "other", ask(), b"[2]")
    assert Library([first, second]).play(ask()).exchange.body == b"[2]"
    assert Library([second, first]).play(ask()).exchange.body == b"[1]"


def test_the_first_foreign_file_wins_whatever_was_asked_before(root: Path) -> None:
    write(root / "a.yaml", answer(ask(), b"[1]"))
    write(root / "b.yaml", answer(ask(), b"[2]"), answer(ask("B00BBBBBB2", "/search")))
    library = Library([root])
    assert library.play(ask("B00BBBBBB2", "/search")).name == "b"
    assert library.play(ask()).name == "a"


def test_a_name_must_agree_with_the_content(root: Path) -> None:
    path = promote(root, "one", ask("B00BBBBBB2"))
    path.rename(path.with_name(file_name("one", of_request(ask()))))
    error = broken(Library([root]), ask())
    assert of_request(ask()) in error.message and of_request(ask("B00BBBBBB2")) in error.message
    path = promote(root, "two", ask("B00CCCCCC3"))
    path.write_bytes(b"interactions: []\nversion: 1\n")
    assert "no interaction" in broken(Library([root]), ask("B00CCCCCC3")).message


def test_a_cassette_that_lost_interactions_is_noticed_by_its_evidence(root: Path) -> None:
    path = promote(root, "one", ask(), b"[1]", b"[2]", evidence={"identity": {"interaction_count": 2}})
    assert Library([root]).play(ask()).ordinal == 0
    write(path, answer(ask(), b"[1]"))
    assert "evidence says 2" in broken(Library([root]), ask()).message


@pytest.mark.parametrize("content", [b"", b"null", b"interactions:\n- request:\n", b"\xff\xfe", b"{}"])
def test_a_broken_promoted_cassette_is_an_error_and_a_broken_stray_is_named(root: Path, content: bytes) -> None:
    path = promote(root, "one", ask())
    path.write_bytes(content)
    assert path.name in broken(Library([root]), ask()).message
    path.unlink()
    (root / "stray.yaml").write_bytes(content + (b" # product" if content else b""))
    error = miss(Library([root]), ask())
    assert "cassettes/stray.yaml" in error.details["unreadable"]
    assert "cassettes/stray.yaml" in error.message
    promote(root, "two", ask())
    assert Library([root]).play(ask()).name == "two"


@pytest.mark.skipif(sys.platform == "win32", reason="links and FIFOs need rights there")
def test_links_fifos_and_hidden_files_are_never_opened(root: Path, tmp_path: Path) -> None:
    outside = write(tmp_path / "outside" / file_name("one", of_request(ask())), answer(ask()))
    (root / outside.name).symlink_to(outside)
    (root / "linked").symlink_to(outside.parent, target_is_directory=True)
    os.mkfifo(root / file_name("pipe", of_request(ask())))
    os.mkfifo(root / "pipe.yaml")
    write(root / ".hidden" / outside.name, answer(ask()))
    write(root / ".tmp-x.yaml", answer(ask()))
    library = Library([root])
    assert list(library.entries()) == []
    miss(library, ask())
    for name, why in (("one", "link"), ("pipe", "not a file")):
        with pytest.raises(KeepaCliError, match=why) as failure:
            library.fixture(name)
        assert failure.value.kind is Kind.FIXTURE_NOT_FOUND


@pytest.mark.skipif(sys.platform == "win32", reason="links and FIFOs need rights there")
@pytest.mark.parametrize("swap", [lambda p, o: p.symlink_to(o), lambda p, _: os.mkfifo(p)], ids=["link", "fifo"])
def test_a_file_that_turned_into_something_else_is_not_opened(
    root: Path, tmp_path: Path, swap: Callable[[Path, Path], None]
) -> None:
    path = promote(root, "one", ask())
    library = Library([root], monotonic=lambda: 0.0)
    library.play(ask())
    outside = write(tmp_path / "outside.yaml", answer(ask(), b"[666]"))
    path.unlink()
    swap(path, outside)
    with pytest.raises(KeepaCliError) as failure:
        library.play(ask())
    assert failure.value.kind is Kind.IO_ERROR


def test_the_root_itself_may_be_a_link(root: Path, tmp_path: Path) -> None:
    promote(root, "one", ask())
    link = tmp_path / "link"
    try:
        link.symlink_to(root, target_is_directory=True)
    except OSError:
        pytest.skip("no links here")
    assert Library([link]).play(ask()).name == "one"


def test_a_changed_file_is_read_again_and_starts_over(root: Path) -> None:
    path = promote(root, "one", ask(), b"[1]", b"[2]")
    library = Library([root])
    assert [library.play(ask()).ordinal for _ in range(3)] == [0, 1, 1]
    fresh = write(root / ".new", answer(ask(), b"[3]"), answer(ask(), b"[4]"))
    fresh.replace(path)
    assert [library.play(ask()).exchange.body for _ in range(2)] == [b"[3]", b"[4]"]


def test_new_and_deleted_files_are_noticed(root: Path) -> None:
    library = Library([root])
    assert miss(library, ask()).details["reason"] == "empty_library"
    path = promote(root, "one", ask())
    assert library.play(ask()).name == "one"
    path.unlink()
    miss(library, ask())
    stray = write(root / "stray.yaml", answer(ask("B00BBBBBB2")))
    miss(library, ask())
    write(stray, answer(ask()), answer(ask("B00BBBBBB2")))
    assert library.play(ask()).name == "stray"
    stray.unlink()
    miss(library, ask())


def test_a_better_root_is_noticed_after_a_moment(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    promote(second, "one", ask(), b"[1]")
    now = [0.0]
    library = Library([first, second], monotonic=lambda: now[0])
    assert library.play(ask()).root == second
    promote(first, "one", ask(), b"[2]")
    now[0] = 1.5
    assert library.play(ask()).root == first


def test_parsed_cassettes_are_dropped_beyond_the_limit_and_keep_their_turn(root: Path) -> None:
    for number in range(5):
        promote(root, f"p{number}", ask(f"B00000000{number}"), b"[%s1]" % (b"1," * 2500), b"[2]")
    library = Library([root], keep_bytes=6000)
    for ordinal in (0, 1, 1):
        assert [library.play(ask(f"B00000000{n}")).ordinal for n in range(5)] == [ordinal] * 5
    assert library._loader._bytes < 12_000
    assert len(library._loader._kept) <= 2


def test_an_interrupted_commit_is_finished_before_reading(root: Path) -> None:
    path = promote(root, "one", ask(), b"[1]")
    new = b"".join(dump_cassette([answer(ask(), b"[2]")]))
    (path.parent / ".tmp-x").write_bytes(new)
    moves = [["product/.tmp-x", f"product/{path.name}"]]
    (root / ".commit-intent.json").write_text(json.dumps({"version": 1, "moves": moves}))
    assert Library([root]).play(ask()).exchange.body == b"[2]"
    assert not (root / ".commit-intent.json").exists()


def test_a_commit_under_way_is_waited_for(root: Path) -> None:
    path = promote(root, "one", ask(), b"[1]")
    intent = root / ".commit-intent.json"
    started = threading.Event()

    def writer() -> None:
        with lock(root, what="test"):
            intent.write_text(json.dumps({"version": 1, "moves": []}))
            started.set()
            time.sleep(0.2)
            write(path, answer(ask(), b"[2]"))
            intent.unlink()

    thread = threading.Thread(target=writer)
    thread.start()
    started.wait()
    assert Library([root]).play(ask()).exchange.body == b"[2]"
    thread.join()


def test_a_transaction_is_seen_whole(root: Path) -> None:
    transaction = Transaction(root)
    path = root / "product" / file_name("one", of_request(ask()))
    transaction.add(path, b"".join(dump_cassette([answer(ask())])))
    transaction.add(path.with_name(path.stem + SIDECAR), json.dumps({"origin": "live"}).encode())
    library = Library([root])
    miss(library, ask())
    with lock(root, what="test"):
        transaction.commit()
    assert library.play(ask()).origin == "live"


def test_a_writer_that_never_ends_does_not_block_for_ever(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    promote(root, "one", ask())
    monkeypatch.setattr(loading, "_WRITER_PATIENCE", 0.1)
    with lock(root, what="test"):
        (root / ".commit-intent.json").write_text("{}")
        assert Library([root]).play(ask()).name == "one"


def test_many_threads_get_each_recorded_turn_once(root: Path) -> None:
    turns = 400
    promote(root, "one", ask(), *(b"[%d]" % n for n in range(turns)))
    library = Library([root])
    got: list[bytes] = []

    def run() -> None:
        mine = [library.play(ask()).exchange.body for _ in range(turns // 16)]
        got.extend(mine)

    threads = [threading.Thread(target=run) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == sorted(b"[%d]" % n for n in range(turns))
