"""cassettes diff and refresh in CI: drift ends with contract_error, and the report is kept first."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.cassettes import recordings
from keepa_cli.cassettes.codec import parse_cassette
from tests.cassettes.promoting import exchange, product_body, raw

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


@pytest.fixture
def fixture(cli: Any, home: Path) -> Path:
    """A library with the fixture kettle."""
    (home / "work" / "cassettes").mkdir()
    raw(home / "work" / "old.json", product_body())
    done = cli(
        "--json",
        "cassettes",
        "promote",
        "old.json",
        "--name",
        "kettle",
        "--request",
        "/product?domain=1&asin=B0AAAAAAA1",
    )
    assert done.returncode == 0, done.stdout
    return home / "work"


def answer(cli: Any, *args: str) -> tuple[int, dict[str, Any]]:
    done = cli("--json", "cassettes", *args)
    return done.returncode, json.loads(done.stdout)


CHANGES = [
    ({"title": "pan"}, "fine", 0),
    ({"brand": 1}, "warning", 0),
    ({"title": None}, "warning", 0),
    ({"csv": [[1, 2], None, None]}, "warning", 0),
    ({"title": ["kettle"]}, "error", 7),
]


@pytest.mark.parametrize(("change", "word", "code"), CHANGES)
def test_diff_fails_on_drift_only_where_the_contract_breaks(
    cli: Any, fixture: Path, change: dict[str, Any], word: str, code: int
) -> None:
    raw(fixture / "new.json", product_body(**change))
    plain, shown = answer(cli, "diff", "kettle", "new.json")
    assert (plain, shown["data"]["contract"]) == (0, word)
    failing, strict = answer(cli, "diff", "kettle", "new.json", "--fail-on-drift")
    assert failing == code
    if code:
        assert strict["error"]["kind"] == "contract_error"
        assert [row["path"] for row in strict["error"]["details"]["errors"]] == ["products[].title"]
        assert "products[].title (type_changed)" in strict["error"]["message"]


def test_a_field_that_vanished_is_named(cli: Any, fixture: Path) -> None:
    body = product_body()
    del body["products"][0]["title"]
    raw(fixture / "new.json", body)
    code, found = answer(cli, "diff", "kettle", "new.json", "--fail-on-drift")
    assert (code, found["error"]["details"]["contract"]) == (7, "error")
    assert "products[].title (removed)" in found["error"]["message"]


def test_refresh_keeps_the_report_before_it_fails(cli: Any, fixture: Path, home: Path) -> None:
    new = exchange(product_body(title=["kettle"]))
    recordings.store(home / "state", [new], "again", {"origin": "live"}, NOW)
    [kept] = recordings.recordings(home / "state")
    [stored] = parse_cassette(kept.path.read_bytes(), kept.path.name)
    code, found = answer(cli, "refresh", "kettle", "--fail-on-drift", "--whole")
    assert code == 7
    assert "--replace" in found["error"]["next_actions"][0]
    report = json.loads((fixture / found["error"]["details"]["report"]).read_bytes())
    assert (report["verdict"], report["contract"], report["breaking"]) == ("shape_moved", "error", True)
    assert report["compared"]["new_sha256"] == hashlib.sha256(stored.body).hexdigest()
    assert report["compared"]["recording"] == found["error"]["details"]["recording"]
    assert report["lists"] == ["whole"]
    assert report["shape"][0]["type_changed"][0]["path"] == "products[].title"
    assert answer(cli, "refresh", "kettle")[0] == 0


def test_values_that_moved_pass(cli: Any, fixture: Path, home: Path) -> None:
    recordings.store(home / "state", [exchange(product_body(title="pan"))], "again", {"origin": "live"}, NOW)
    code, found = answer(cli, "refresh", "kettle", "--fail-on-drift")
    assert (code, found["data"]["verdict"], found["data"]["contract"]) == (0, "values_moved", "fine")
