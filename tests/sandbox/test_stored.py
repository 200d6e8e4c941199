"""--data: raw Keepa bodies answer for their product, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import requests

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.sandbox import Sandbox, SandboxConfig
from keepa_cli.sandbox.catalogue.options import Options
from keepa_cli.sandbox.stored import Stored, features_asked, features_held
from tests.sandbox.conftest import ask
from tests.sandbox.test_catalogue import product
from tests.support.sandbox import KEY, running_sandbox

REAL = {
    "product-B0D8W1YVBX-US-20260510.json": ({"stats": 180, "rating": 1, "buybox": 1, "videos": 1, "aplus": 1}, 4),
    "product-B0D8W1YVBX-US-20260510-stats0.json": ({"stats": 0, "videos": 1, "aplus": 1, "history": 1}, 1),
}


def body_of(*products: dict[str, Any], tokens: int = 1) -> bytes:
    """Pretty, with a number that a JSON round trip would change."""
    text = json.dumps({"products": list(products), "tokensConsumed": tokens, "tokensLeft": 5}, indent=2)
    return text.replace('"tokensLeft": 5', '"big": 123456789012345678901234567890, "rate": 1.10').encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rich = product("B0AMAZON01", with_stats=True, stats=90, rating=True, buybox=True)
    (tmp_path / "rich.json").write_bytes(body_of(rich, tokens=4))
    (tmp_path / "plain.json").write_bytes(body_of(product("B0AMAZON01")))
    (tmp_path / "two.json").write_bytes(body_of(product("B0SINGLE01"), product("B0COUPON01"), tokens=2))
    (tmp_path / "japan.json").write_bytes(body_of(product("B0AMAZON01", domain=5)))
    (tmp_path / "category.json").write_bytes(b'{"categories": {}}')
    (tmp_path / "README.md").write_text("no body")
    return tmp_path


@pytest.mark.parametrize("name", REAL)
def test_real_bodies_are_served_untouched_and_charged(shared_data: Path, name: str) -> None:
    params, tokens = REAL[name]
    with running_sandbox(data=shared_data, rate=60) as sandbox:
        answer = ask(sandbox, "/product/", domain=1, asin="B0D8W1YVBX", **params)
        assert answer.content == (shared_data / name).read_bytes()
        assert answer.headers["Content-Encoding"] == "gzip"
        assert sandbox.bucket.state().tokens_left == 3600 - tokens


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"domain": 1, "asin": "B0AMAZON01"}, "plain.json"),
        ({"domain": 1, "asin": "B0AMAZON01", "stats": 90, "rating": 1, "buybox": 1}, "rich.json"),
        ({"domain": 1, "asin": "B0AMAZON01", "stats": 180}, "rich.json"),
        ({"domain": 5, "asin": "B0AMAZON01"}, "japan.json"),
        ({"domain": 1, "asin": "B0SINGLE01,B0COUPON01"}, "two.json"),
    ],
)
def test_the_body_that_fits_the_request_best_is_chosen(folder: Path, params: dict[str, Any], name: str) -> None:
    with running_sandbox(data=folder) as sandbox:
        answer = requests.get(
            f"{sandbox.base_url}/product", {"key": KEY, **params}, headers={"Accept-Encoding": "identity"}, timeout=10
        )
        assert answer.content == (folder / name).read_bytes()


def test_other_products_come_from_the_catalogue(folder: Path) -> None:
    with running_sandbox(data=folder) as sandbox:
        assert ask(sandbox, "/product", domain=1, asin="B0FAMILY01").json()["tokensLeft"] == 1199
        assert ask(sandbox, "/product", domain=1, asin="B0COUPON01,B0SINGLE01").json()["tokensConsumed"] == 2
        assert sandbox.notes[1] == "category.json is no answer of /product and is not served."


def test_an_empty_bucket_refuses_stored_bodies_too(folder: Path) -> None:
    with running_sandbox(data=folder, tokens=0) as sandbox:
        assert ask(sandbox, "/product", domain=1, asin="B0AMAZON01").status_code == 429


def test_faults_change_stored_bodies_only_when_asked(folder: Path) -> None:
    with running_sandbox(data=folder, faults=["extra-csvx1"]) as sandbox:
        changed = ask(sandbox, "/product", domain=1, asin="B0AMAZON01")
        assert len(changed.json()["products"][0]["csv"]) == 37
        assert "123456789012345678901234567890" in changed.text
        assert ask(sandbox, "/product", domain=1, asin="B0AMAZON01").content == (folder / "plain.json").read_bytes()


def test_a_body_written_while_running_is_read_again(folder: Path) -> None:
    with running_sandbox(data=folder) as sandbox:
        ask(sandbox, "/product", domain=1, asin="B0AMAZON01")
        new = body_of(product("B0AMAZON01") | {"title": "new"})
        (folder / "plain.json").write_bytes(new)
        assert ask(sandbox, "/product", domain=1, asin="B0AMAZON01").content == new


@pytest.mark.parametrize(
    ("content", "word"),
    [(b"{", "not JSON"), (b"\xff", "UTF-8"), (b'{"a": NaN}', "NaN"), (b"", "not JSON"), (b"null", "holds no")],
)
def test_a_broken_file_is_named_before_anything_is_served(tmp_path: Path, content: bytes, word: str) -> None:
    (tmp_path / "broken.json").write_bytes(content)
    with pytest.raises(KeepaCliError, match=word) as caught:
        Sandbox(SandboxConfig(data=tmp_path))
    assert caught.value.kind is Kind.INVALID_ARGUMENTS
    assert "broken.json" in str(caught.value.message) + str(caught.value.details)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(KeepaCliError, match="is not a folder"):
        Stored(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"with_stats": True, "stats": 90},
        {"with_stats": True, "stats": 0, "rating": True},
        {"with_stats": True, "stats": 90, "buybox": True, "rating": True},
        {"offers": 20, "history": False},
    ],
)
def test_what_was_asked_can_be_read_off_a_body(asked: dict[str, Any]) -> None:
    options = Options(**asked)
    wire = {name: "1" for name in ("rating", "buybox") if getattr(options, name)}
    wire |= {"stats": str(options.stats)} if options.with_stats else {}
    wire |= {"offers": "20", "history": "0"} if options.offers else {}
    held, wanted = features_held(product("B0AMAZON01", **asked)), features_asked(wire)
    assert (held.stats, held.history) == (wanted.stats, wanted.history)
    assert held.flags == wanted.flags | ({"rating"} if options.offers else set())
