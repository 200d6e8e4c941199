"""The comparison as an operation: what is asked, what it costs, what replays, what is shown."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from keepa_cli import ops
from keepa_cli.core.context import Context
from keepa_cli.engine import Flags, Options, run
from tests.conftest import REPO
from tests.research.product.made import product
from tests.support.remote import BUCKET, call, refusal
from tests.support.scripted_server import ScriptedServer
from tests.support.views import problems

NAME = "products.compare"
A, B, C = "B00AAAAAA1", "B00BBBBBB2", "B00CCCCCC3"


def test_it_asks_what_a_full_get_asks_for_the_same_price(home: Path) -> None:
    compared = call(NAME, home, {"asin": [A, B, A], "domain": "DE"}, dry_run=True)
    full = call("products.get", home, {"asin": [A, B], "domain": "DE", "full": True}, dry_run=True)
    assert compared["request"]["query"] == full["request"]["query"]
    assert compared["token_bucket"]["estimated"]["estimated_tokens"] == 2


def test_options_add_to_the_request_and_the_price(home: Path) -> None:
    more = call(NAME, home, {"asin": [A], "buybox": True, "rating": True, "update": 1}, dry_run=True)
    asked = more["request"]["query"]
    assert (asked["buybox"], asked["rating"], asked["update"], asked["history"]) == ("1", "1", "1", "1")
    with_offers = call(NAME, home, {"asin": [A], "offers": 20}, dry_run=True)
    assert with_offers["request"]["query"]["offers"] == "20"
    cheaper = more["token_bucket"]["estimated"]["worst_case_tokens"]
    assert cheaper < with_offers["token_bucket"]["estimated"]["worst_case_tokens"]


def test_rows_in_the_order_asked_with_what_became_of_each_asin(home: Path) -> None:
    products = [{"asin": C, "productType": 3}, product(asin=B), product(asin=A)]
    body = BUCKET | {"products": products}
    with ScriptedServer([{"json": body}]) as server:
        result = call(NAME, home, {"asin": [A, B, C, "B00DDDDDD4"]}, server)
    data = result["data"]
    assert [(r["asin"], r["status"]) for r in data["rows"]] == [
        (A, "found"), (B, "found"), (C, "invalid"), ("B00DDDDDD4", "not_found"),
    ]  # fmt: skip
    assert [i["status"] for i in data["items"]] == ["found", "found", "invalid", "not_found"]
    assert (data["view"], data["count"]) == ("products_compare", 4)
    assert "body" not in data
    assert problems(data, body) == []
    assert data["data_quality"]["not_requested"] == ["live_offer_count"]


def test_content_that_was_asked_for_and_is_not_there_is_not_called_not_requested(home: Path) -> None:
    """The full preset asks for videos and A+ content; what the answer leaves out was not collected."""
    body = BUCKET | {"products": [product(asin=A, videos=None, aPlus=None)]}
    with ScriptedServer([{"json": body}]) as server:
        (row,) = call(NAME, home, {"asin": [A]}, server)["data"]["rows"]
    assert row["absent"]["video_count"] == row["absent"]["has_aplus"] == "not_collected"


def test_more_than_a_hundred_are_asked_in_batches_and_make_one_comparison(home: Path) -> None:
    names = [f"B00AAAA{i:03}" for i in range(101)]
    first = BUCKET | {"products": [product(asin=n) for n in names[:100]]}
    second = BUCKET | {"products": [product(asin=names[100])]}
    with ScriptedServer([{"json": first}, {"json": second}]) as server:
        result = call(NAME, home, {"asin": names}, server, yes=True)
    assert [r["asin"] for r in result["data"]["rows"]] == names
    assert result["data"]["rows"][100]["evidence_path"] == "$.products[100]"


def test_rows_are_ordered_on_request(home: Path) -> None:
    cheap = product(asin=B)
    cheap["csv"][18] = [cheap["lastUpdate"] - 90_000, 999, 0]
    with ScriptedServer([{"json": BUCKET | {"products": [product(asin=A), cheap]}}]) as server:
        result = call(NAME, home, {"asin": [A, B], "sort_by": "buy_box_price"}, server)
    assert [r["asin"] for r in result["data"]["rows"]] == [B, A]


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "asin"),
        ({"asin": []}, "asin"),
        ({"asin": ["B00"]}, "asin"),
        ({"asin": A, "sort_by": "title"}, "sort_by"),
        ({"asin": A, "offers": 5}, "offers"),
        ({"asin": A, "domain": "CN"}, "domain"),
    ],
)
def test_what_makes_no_sense_is_refused(home: Path, params: dict[str, Any], field: str) -> None:
    error = refusal(call(NAME, home, params, dry_run=True))
    assert field in json.dumps(error["details"])


def test_the_sample_of_the_checkout_is_compared_without_tokens(home: Path) -> None:
    ctx = Context(env={"KEEPA_CLI_CONFIG": str(home / "c"), "KEEPA_CLI_STATE_DIR": str(home / "state")}, cwd=REPO)
    flags = (Flags(replay=True), Flags(fixture="product_B0PPJ248DY_full"))
    replayed, fixed = (
        run(ops.find(NAME), {"asin": ["B0PPJ248DY"]}, ctx, Options(flags=f, find=ops.find)) for f in flags
    )
    assert replayed["ok"], replayed.get("error")
    (row,) = replayed["data"]["rows"]
    assert (row["asin"], row["status"]) == ("B0PPJ248DY", "found")
    assert fixed["data"]["rows"] == replayed["data"]["rows"]
    assert replayed["token_bucket"]["charged"] == 0


def test_every_next_action_runs_as_a_dry_run(home: Path) -> None:
    body = BUCKET | {"products": [product(asin=A), product(asin=B)]}
    with ScriptedServer([{"json": body}]) as server:
        actions = call(NAME, home, {"asin": [A, B]}, server)["data"]["next_actions"]
    assert actions
    for action in actions:
        if ops.find(action["command"]).remote:
            assert call(action["command"], home, action["params"], dry_run=True)["ok"]


def test_the_family_is_registered_whichever_module_is_imported_first() -> None:
    code = "import keepa_cli.ops._products_compare; from keepa_cli import ops; print(ops.find('products.get').name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "products.get"
