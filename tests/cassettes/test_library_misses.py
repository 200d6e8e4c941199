"""A miss says what is nearest, what differs and how to record it, and shows no secret."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.cassettes import misses
from keepa_cli.cassettes.fingerprint import of_request
from keepa_cli.cassettes.library import Library
from keepa_cli.keepa.wire import WireRequest
from tests.cassettes.made import KEY, answer, ask, miss, promote, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "cassettes"
    folder.mkdir()
    return folder


def test_a_miss_names_the_nearest_recording_and_what_differs(root: Path) -> None:
    promote(root, "far", ask("B00CCCCCC3", stats="90", history="1"))
    near = promote(root, "near", ask("B00AAAAAA1", stats="90"))
    promote(root, "token", WireRequest("GET", "/token"))
    error = miss(Library([root]), ask("B00AAAAAA1", history="0"))
    assert error.details["nearest"] == {
        "name": "near",
        "file": f"cassettes/product/{near.name}",
        "method": "GET",
        "path": "/product",
        "differences": [
            {"parameter": "history", "asked": "0", "recorded": None},
            {"parameter": "stats", "asked": None, "recorded": "90"},
        ],
    }
    for part in ("GET /product", "mode replay", "near", near.name, "history", "stats is 90"):
        assert part in error.message
    assert error.details["mode"] == "replay"
    assert error.details["reason"] == "parameters_differ"
    assert error.details["fingerprint"] == of_request(ask("B00AAAAAA1", history="0"))
    assert error.next_actions == [error.details["record_command"]]
    assert shlex.split(error.details["record_command"]) == [
        *("kc", "request", "get", "/product", "--param", "domain=1", "--param", "asin=B00AAAAAA1"),
        *("--param", "history=0", "--record"),
    ]


def test_a_miss_never_shows_a_key_or_a_value_that_may_be_one(root: Path) -> None:
    write(
        root / "x.yaml", answer(WireRequest("GET", "/tracking", (("type", "webhook"), ("url", "https://h/secretpath"))))
    )
    hidden = WireRequest(
        "GET",
        f"/tracking/{KEY}",
        (("key", KEY), ("KEY", KEY), (KEY, "1"), ("asin", KEY), ("url", "https://hook/x"), ("note", "private")),
    )
    for request in (hidden, WireRequest("GET", "/tracking", hidden.query), WireRequest("POST", "/x", (), KEY.encode())):
        error = miss(Library([root]), request)
        told = error.message + json.dumps(error.details) + " ".join(error.next_actions) + repr(error)
        for secret in (KEY, "private", "secretpath", "hook/x"):
            assert secret not in told
    assert "--body VALUE" in error.details["record_command"]


def test_members_of_a_selection_are_compared_one_by_one(root: Path) -> None:
    def query(**selection: Any) -> WireRequest:
        return WireRequest("GET", "/query", (("domain", "1"), ("selection", json.dumps(selection))))

    promote(root, "q", query(title="kettle", perPage=50))
    error = miss(Library([root]), query(title="kettle", perPage=100, page=1))
    assert error.details["nearest"]["differences"] == [
        {"parameter": "selection.perPage", "asked": "100", "recorded": "50"},
        {"parameter": "selection.page", "asked": "1", "recorded": None},
    ]


def test_another_method_another_body_and_another_path_are_told_apart(root: Path) -> None:
    post = WireRequest("POST", "/query", (("domain", "1"),), b'{"a":1}')
    promote(root, "q", post)
    library = Library([root])
    assert miss(library, WireRequest("GET", "/query", post.query)).details["reason"] == "other_method"
    other_body = miss(library, WireRequest("POST", "/query", post.query, b'{"a":2}'))
    assert other_body.details["nearest"]["differences"][0]["parameter"] == "(body)"
    assert miss(library, ask()).details["reason"] == "other_path"


def test_each_recording_is_looked_into_once_however_many_misses_there_are(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    read_head = misses.read_head
    monkeypatch.setattr(misses, "read_head", lambda path, size: opened.append(path.name) or read_head(path, size))
    for number in range(30):
        promote(root, f"p{number}", ask(f"B{number:09d}"))
    library = Library([root])
    for number in range(20):
        error = miss(library, ask(f"C{number:09d}"))
    assert error.details["nearest"]["name"] == "p0"
    assert len(opened) == len(set(opened)) == 30
    promote(root, "closer", ask("C999999999", history="0"))
    assert miss(library, ask("C999999999", history="1")).details["nearest"]["name"] == "closer"


def test_the_key_never_reaches_the_library(root: Path) -> None:
    promote(root, "one", ask())
    keyed = WireRequest("GET", "/product", (("key", KEY), *ask().query))
    assert Library([root]).play(keyed).name == "one"


def test_an_empty_library_says_where_it_looked(root: Path, tmp_path: Path) -> None:
    error = miss(Library([root, tmp_path / "missing"]), ask())
    assert error.details["reason"] == "empty_library"
    assert error.details["searched"] == [str(root), str(tmp_path / "missing")]
    assert str(root) in error.message and "holds no cassettes" in error.message
    assert error.details["nearest"] is None
