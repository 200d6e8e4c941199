"""The shared SQLite file: private, transactional, set aside when it is damaged, never touched when it is newer."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.store.db import Database
from tests.conftest import REPO

TABLE = "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)"


def database(path: Path, *more: str) -> Database:
    return Database(path, (TABLE, *more), what="The book")


def add(book: Database, text: str) -> None:
    with book.write() as connection:
        connection.execute("INSERT INTO notes (text) VALUES (?)", (text,))


def texts(book: Database) -> list[str]:
    return [row["text"] for row in book.read("SELECT text FROM notes ORDER BY id")]


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
def test_the_file_and_its_folders_are_private(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "book.sqlite3"
    add(database(path), "x")
    assert [f.stat().st_mode & 0o777 for f in (path.parent.parent, path.parent, path)] == [0o700, 0o700, 0o600]
    path.chmod(0o644)
    add(database(path), "y")
    assert path.stat().st_mode & 0o777 == 0o600


def test_commits_are_synced_in_wal_mode(tmp_path: Path) -> None:
    book = database(tmp_path / "book")
    assert book.read("PRAGMA journal_mode")[0][0] == "wal"
    assert book.read("PRAGMA synchronous")[0][0] == 2
    assert book.read("PRAGMA busy_timeout")[0][0] >= 10_000
    assert Database(tmp_path / "fast", (TABLE,), what="x", durable=False).read("PRAGMA synchronous")[0][0] == 1


def test_a_transaction_is_all_or_nothing(tmp_path: Path) -> None:
    book = database(tmp_path / "book")
    with pytest.raises(KeyboardInterrupt), book.write() as connection:
        connection.execute("INSERT INTO notes (text) VALUES ('half')")
        raise KeyboardInterrupt
    add(book, "whole")
    assert texts(book) == ["whole"]


def test_migrations_run_once_and_in_order(tmp_path: Path) -> None:
    add(database(tmp_path / "book"), "old")
    newer = database(tmp_path / "book", "ALTER TABLE notes ADD COLUMN kind TEXT DEFAULT 'plain'")
    assert [tuple(r) for r in newer.read("SELECT text, kind FROM notes")] == [("old", "plain")]
    assert newer.read("PRAGMA user_version")[0][0] == 2


def test_a_failed_migration_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    add(database(tmp_path / "book"), "old")
    with pytest.raises(KeepaCliError, match="cannot be used"):
        database(tmp_path / "book", "ALTER TABLE notes ADD COLUMN kind TEXT; SELECT nonsense").read("SELECT 1")
    again = database(tmp_path / "book")
    assert texts(again) == ["old"] and again.read("PRAGMA user_version")[0][0] == 1


def test_a_newer_file_is_refused_and_untouched(tmp_path: Path) -> None:
    add(database(tmp_path / "book", "CREATE TABLE more (id)"), "new")
    with pytest.raises(KeepaCliError, match="newer") as caught:
        texts(database(tmp_path / "book"))
    assert caught.value.kind is Kind.IO_ERROR
    assert sorted(p.name for p in tmp_path.iterdir() if "damaged" in p.name) == []


@pytest.mark.parametrize("content", [b"not a database, but long enough to be read as one" * 40, b"SQLite format 3\0"])
def test_a_damaged_file_is_set_aside_and_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "book"
    path.write_bytes(content)
    book = database(path)
    add(book, "fresh")
    assert texts(book) == ["fresh"]
    kept = [p for p in tmp_path.iterdir() if p.name.startswith("book.damaged-")]
    assert [p.read_bytes() for p in kept] == [content]
    assert kept[0].name in book.notes[0]


def test_damage_found_in_use_is_set_aside_and_the_command_is_to_be_repeated(tmp_path: Path) -> None:
    path = tmp_path / "book"
    book = database(path)
    for n in range(400):
        add(book, f"{n}" * 50)
    book.close()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))
    with pytest.raises(KeepaCliError, match="set aside") as caught:
        for n in range(400):
            add(book, f"{n}")
    assert caught.value.retryable
    add(book, "after")
    assert texts(book) == ["after"]


def test_a_link_is_never_written_through(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(KeepaCliError, match="symbolic link"):
        add(database(tmp_path / "link"), "x")
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_cannot_be_made_is_an_io_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(KeepaCliError) as caught:
        add(database(tmp_path / "file" / "book"), "x")
    assert caught.value.kind is Kind.IO_ERROR


def test_a_file_in_use_for_too_long_is_a_retryable_error(tmp_path: Path) -> None:
    book = Database(tmp_path / "book", (TABLE,), what="The book", patience=0.1)
    add(book, "x")
    other = sqlite3.connect(tmp_path / "book", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(KeepaCliError, match="in use by another process") as caught:
        add(book, "y")
    assert caught.value.retryable
    other.execute("ROLLBACK")
    other.close()
    add(book, "z")


def test_threads_share_one_connection(tmp_path: Path) -> None:
    book = database(tmp_path / "book")
    threads = [threading.Thread(target=lambda n=n: [add(book, f"{n}") for _ in range(25)]) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts(book)) == 200


def test_processes_that_begin_at_once_share_one_new_file(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from keepa_cli.store.db import Database\n"
        f"book = Database(Path(sys.argv[1]), ({TABLE!r},), what='x')\n"
        "for n in range(20):\n"
        "    with book.write() as c: c.execute('INSERT INTO notes (text) VALUES (?)', (sys.argv[2],))\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "deep" / "book")]
    running = [subprocess.Popen([*command, str(n)], cwd=REPO) for n in range(4)]
    assert [p.wait(60) for p in running] == [0] * 4
    assert len(texts(database(tmp_path / "deep" / "book"))) == 80


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_opens_its_own_connection(tmp_path: Path) -> None:
    book = database(tmp_path / "book")
    add(book, "parent")
    child = os.fork()
    if not child:
        try:
            add(book, "child")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    add(book, "parent")
    assert texts(book) == ["parent", "child", "parent"]
