"""Fixtures by name, the list of cassettes, and where the library looks."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from keepa_cli.cassettes.fingerprint import of_request
from keepa_cli.cassettes.library import Library, bundled_root, library_roots
from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind
from tests.cassettes.made import answer, ask, promote, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "cassettes"
    folder.mkdir()
    return folder


def test_a_fixture_is_found_by_name(root: Path) -> None:
    path = promote(root, "one", ask(), b"[1]")
    library = Library([root])
    for name in ("one", "one.yaml", "one.json", f"one.{of_request(ask())}"):
        cassette = library.fixture(name)
        assert (cassette.path, cassette.name, cassette.root) == (path, "one", root)
    assert cassette.exchanges[0].body == b"[1]"
    assert (cassette.sha256, cassette.size) == (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size)


@pytest.mark.parametrize("name", ["", "../one", "/etc/passwd", "product/one", ".one", "one\x00", "..", "a" * 200])
def test_fixture_names_are_plain(root: Path, name: str) -> None:
    with pytest.raises(KeepaCliError) as failure:
        Library([root]).fixture(name)
    assert failure.value.kind is Kind.INVALID_ARGUMENTS
    assert failure.value.details["field"] == "fixture"


def test_an_unknown_fixture_names_what_comes_close(root: Path) -> None:
    promote(root, "kettle-us", ask())
    with pytest.raises(KeepaCliError) as failure:
        Library([root]).fixture("kettle-uk")
    assert failure.value.kind is Kind.FIXTURE_NOT_FOUND
    assert failure.value.details["near"] == ["kettle-us"]
    assert failure.value.next_actions == ["kc cassettes list"]


def test_two_fixtures_of_one_name_need_the_fingerprint(root: Path) -> None:
    promote(root, "one", ask())
    other = promote(root, "one", ask(path="/search"))
    library = Library([root])
    with pytest.raises(KeepaCliError, match="fingerprint") as failure:
        library.fixture("one")
    assert len(failure.value.details["allowed"]) == 2
    assert library.fixture(other.name).path == other


def test_fixtures_of_the_first_root_win_and_strays_serve_too(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    promote(first, "one", ask())
    promote(second, "one", ask())
    write(second / "stray.yaml", answer(ask()))
    library = Library([first, second])
    assert library.fixture("one").root == first
    assert library.fixture("stray").name == "stray"


def test_entries_are_listed_root_by_root(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    promote(second, "b", ask())
    promote(first, "z", ask(), evidence={})
    promote(first, "a", ask("B00BBBBBB2"))
    write(first / "stray.json", answer(ask()))
    found = [(e.root.name, e.name, bool(e.fingerprint)) for e in Library([first, second]).entries()]
    assert found == [("first", "a", True), ("first", "z", True), ("first", "stray", False), ("second", "b", True)]


def test_roots_come_in_order_and_once(tmp_path: Path) -> None:
    work, data = tmp_path / "work", tmp_path / "data"
    (work / "cassettes").mkdir(parents=True)
    given = os.pathsep.join([str(tmp_path / "a"), "relative", str(tmp_path / "a"), str(work / "cassettes")])
    env = {"KEEPA_CLI_CASSETTES": given, "KEEPA_CLI_DATA_DIR": str(data), "KEEPA_CLI_CONFIG": str(tmp_path / "c.toml")}
    ctx = Context(env=env, cwd=work)
    assert library_roots(ctx) == [
        tmp_path / "a",
        work / "relative",
        work / "cassettes",
        data / "cassettes",
        bundled_root(),
    ]
    del env["KEEPA_CLI_CASSETTES"]
    assert library_roots(Context(env=env, cwd=tmp_path)) == [data / "cassettes", bundled_root()]


def test_the_bundled_samples_are_not_written(tmp_path: Path) -> None:
    assert Library([tmp_path / "new" / "deep", bundled_root()]).first_writable() == tmp_path / "new" / "deep"
    assert Library([bundled_root()]).first_writable() == bundled_root()
    (tmp_path / "file").write_text("")
    with pytest.raises(KeepaCliError) as failure:
        Library([tmp_path / "file" / "x", bundled_root()]).first_writable()
    assert failure.value.kind is Kind.IO_ERROR


def test_a_root_that_is_a_file_or_a_loop_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    roots = [tmp_path / "file", tmp_path / "loop"]
    try:
        roots[1].symlink_to(roots[1])
    except OSError:
        roots.pop()
    assert list(Library(roots).entries()) == []
    env = {
        "KEEPA_CLI_CASSETTES": os.pathsep.join(map(str, roots)),
        "KEEPA_CLI_DATA_DIR": str(tmp_path),
        "KEEPA_CLI_CONFIG": str(tmp_path / "c.toml"),
    }
    assert library_roots(Context(env=env, cwd=tmp_path))[: len(roots)] == roots
