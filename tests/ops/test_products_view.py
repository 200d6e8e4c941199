"""Views of products from the command line to the files: profiles, sections, chunks, the raw answer beside them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.research.product.profiles import LIMITS, SECTIONS
from keepa_cli.research.product.view import size
from tests.support.products import made
from tests.support.remote import BUCKET, call, refusal
from tests.support.scripted_server import ScriptedServer
from tests.support.views import problems

ASIN = "B0PPJ248DY"
"""A product whose full answer is shipped as a cassette."""
GET = {"asin": [ASIN], "full": True}


def shown(home: Path, name: str = "products.get", **params: Any) -> dict[str, Any]:
    result = call(name, home, GET | params if name == "products.get" else params)
    assert result["ok"], result["error"]
    return dict(result)


def answered(home: Path, products: list[Any], name: str = "products.get", **params: Any) -> dict[str, Any]:
    """The envelope of a live call that Keepa answers with `products`."""
    with ScriptedServer([{"json": BUCKET | {"products": products}}]) as server:
        result = call(name, home, params, server, yes=True)
    assert result["ok"], result["error"]
    return dict(result)


def product(asin: str = "B0LARGES01", **query: str) -> dict[str, Any]:
    found: dict[str, Any] = made(asin, **query)["products"][0]
    return found


def test_the_raw_answer_is_the_default(home: Path) -> None:
    for params in ({}, {"view": "raw"}):
        data = shown(home, **params)["data"]
        assert list(data) == ["items", "body"]


@pytest.mark.parametrize("profile", ["summary", "deal", "research", "audit"])
def test_a_profile_replaces_the_body(home: Path, profile: str) -> None:
    body = shown(home)["data"]["body"]
    data = shown(home, view=profile)["data"]
    assert list(data) == ["view", "profile", "count", "items", "products"]
    assert (data["view"], data["profile"], data["count"]) == ("product", profile, 1)
    assert data["items"][0] == {
        "asked": ASIN,
        "status": "found",
        "asins": [ASIN],
        "title": body["products"][0]["title"],
    }
    assert problems(data, body) == []
    assert size(data["products"][0]) <= LIMITS.get(profile, 10**6)


@pytest.mark.parametrize(
    "params",
    [
        {"agent_view": True},
        {"fields": ["pricing"]},
        {"history_limit": 3},
        {"temporal_window_days": [14]},
    ],
)
def test_what_shapes_a_view_implies_the_research_view(home: Path, params: dict[str, Any]) -> None:
    assert shown(home, **params)["data"]["profile"] == "research"
    assert shown(home, **params, view="summary")["data"]["profile"] == "summary"
    error = refusal(call("products.get", home, GET | params | {"view": "raw"}))
    assert (error["kind"], error["details"]["field"]) == ("invalid_arguments", next(iter(params)))


def test_agent_view_is_the_research_view(home: Path) -> None:
    assert shown(home, agent_view=True)["data"] == shown(home, view="research")["data"]


def test_fields_history_limit_and_windows_reach_the_view(home: Path) -> None:
    data = shown(
        home, fields=["history_summary", "temporal-features"], history_limit=2, temporal_window_days=[14, 60, 14]
    )["data"]
    view = data["products"][0]
    assert list(view) == ["history_summary", "temporal_features"]
    assert view["history_summary"]["history_limit"] == 2
    assert view["temporal_features"]["inputs"]["windows_days"] == [14, 60]


@pytest.mark.parametrize("name", ["products.get", "products.by-code", "products.search"])
def test_a_wrong_section_is_refused_before_a_token_is_spent(home: Path, name: str) -> None:
    asked = {"products.get": GET, "products.by-code": {"code": ["0747474801770"]}, "products.search": {"term": "mill"}}
    with ScriptedServer([{"json": BUCKET}]) as server:
        error = refusal(call(name, home, asked[name] | {"fields": ["prising"]}, server, yes=True))
        assert not server.seen
    assert "Did you mean pricing?" in error["message"]


def test_a_search_that_gives_asins_only_has_nothing_to_view(home: Path) -> None:
    error = refusal(call("products.search", home, {"term": "mill", "asins_only": True, "view": "summary"}))
    assert (error["kind"], error["details"]["field"]) == ("invalid_arguments", "view")


def test_products_found_by_code_or_search_are_viewed_too(home: Path) -> None:
    found = product()
    by_code = answered(home, [found], "products.by-code", code=[found["eanList"][0]], view="summary")["data"]
    assert (by_code["items"][0]["asins"], by_code["count"]) == (["B0LARGES01"], 1)
    searched = answered(home, [found, product("B0COUPON01")], "products.search", term="mill", view="deal")["data"]
    assert [p["identity"]["asin"] for p in searched["products"]] == ["B0LARGES01", "B0COUPON01"]
    assert "items" not in searched


def test_options_of_the_request_tell_what_was_asked(home: Path) -> None:
    bare = product("B0SINGLE01") | {"videos": None, "aPlus": None}
    data = answered(home, [bare], asin=["B0SINGLE01"], full=True, fields=["media"])["data"]
    assert data["products"][0]["media"]["absent"]["video_count"] == "not_collected"
    data = answered(home, [bare], asin=["B0SINGLE01"], fields=["media"])["data"]
    assert data["products"][0]["media"]["absent"]["video_count"] == "not_requested"


def test_out_keeps_the_raw_answer_beside_the_view(home: Path) -> None:
    out = home / "work" / "raw.json"
    result = call("products.get", home, GET | {"view": "summary"}, out=out)
    data, plain = result["data"], call("products.get", home, GET)
    assert data["output"] == data["raw"]["output"]
    assert data["output"]["path"] == str(out)
    assert json.loads(out.read_bytes()) == plain["data"]["body"]
    assert data["products"][0]["identity"]["asin"] == ASIN


def test_every_section_of_every_product_becomes_a_file(home: Path) -> None:
    asked = ["B0LARGES01", "B0COUPON01"]
    data = answered(home, [product(a) for a in asked], asin=asked, view="summary", chunks_dir="parts")["data"]
    assert [(c["asin"], c["section"]) for c in data["chunks"]] == [(a, s) for a in asked for s in SECTIONS]
    for chunk in data["chunks"]:
        path = Path(chunk["path"])
        raw = path.read_bytes()
        assert path == home / "work" / "parts" / f"{chunk['asin']}-{chunk['section']}.json"
        assert (chunk["size_bytes"], chunk["sha256"]) == (len(raw), hashlib.sha256(raw).hexdigest())
        json.loads(raw)
    assert "buy_box_highest_ever" in json.loads((home / "work/parts/B0LARGES01-pricing.json").read_bytes())
    assert "buy_box_highest_ever" not in data["products"][0]["pricing"]


def test_chunks_of_chosen_sections(home: Path) -> None:
    data = shown(home, fields=["pricing"], chunks_dir="parts")["data"]
    assert [Path(c["path"]).name for c in data["chunks"]] == [f"{ASIN}-pricing.json"]
    assert json.loads(Path(data["chunks"][0]["path"]).read_bytes()) == data["products"][0]["pricing"]


@pytest.mark.parametrize("asin", ["../../etc/x", "B0LARGES0/", "b0larges01", "", "CON", "B0LARGES01\n"])
def test_an_asin_that_is_none_names_no_file(home: Path, asin: str) -> None:
    odd = [product() | {"asin": asin}, product()]
    result = answered(home, odd, code=["0747474801770"], fields=["pricing"], chunks_dir="parts")
    assert [c["asin"] for c in result["data"]["chunks"]] == ["B0LARGES01"]
    assert [w["code"] for w in result["warnings"]].count("chunks") == 1
    assert [p.name for p in home.rglob("*pricing.json")] == ["B0LARGES01-pricing.json"]


def test_two_products_of_one_asin_keep_their_files_apart(home: Path) -> None:
    twice = [product(), product() | {"title": "Another"}]
    result = answered(home, twice, code=["0747474801770"], fields=["identity"], chunks_dir="parts")
    names = [Path(c["path"]).name for c in result["data"]["chunks"]]
    assert names == ["B0LARGES01-identity.json", "B0LARGES01-2-identity.json"]


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_folder_that_cannot_be_written_is_refused_before_a_token_is_spent(home: Path, dry_run: bool) -> None:
    (home / "work" / "file").write_text("x")
    with ScriptedServer([{"json": BUCKET}]) as server:
        error = refusal(
            call("products.get", home, GET | {"chunks_dir": "file"}, None if dry_run else server, dry_run=dry_run)
        )
        assert (error["kind"], server.seen) == ("invalid_arguments", [])


def test_a_dry_run_writes_nothing_and_asks_for_nothing_else(home: Path) -> None:
    result = call("products.get", home, GET | {"view": "deal", "chunks_dir": "parts"}, dry_run=True)
    plain = call("products.get", home, GET, dry_run=True)
    assert result["request"]["query"] == plain["request"]["query"]
    assert not (home / "work" / "parts").exists()


def test_facts_that_were_left_out_are_warned_of(home: Path) -> None:
    long = product(history="1", stats="90", offers="20") | {"brand": "\U0001f600" * 500, "manufacturer": "x" * 500}
    result = answered(home, [long | {"title": "\U0001f600" * 500}], asin=["B0LARGES01"], view="summary")
    assert result["data"]["products"][0]["truncated"]
    assert "truncated" in [w["code"] for w in result["warnings"]]


def test_summary_asks_what_full_asks_and_offers_a_comparison(home: Path) -> None:
    one = shown(home, "products.summary", asin=[ASIN])
    full = shown(home)
    assert one["request"]["query"] == full["request"]["query"]
    assert one["provenance"]["source"] == full["provenance"]["source"]
    assert one["data"]["profile"] == "summary"
    assert "next_actions" not in one["data"]
    asked = ["B0LARGES01", "B0NODATA01", "B0COUPON01", "B0AMAZON01"]
    with ScriptedServer([{"json": BUCKET | {"products": [product(a) for a in asked[:3]]}}]) as server:
        data = call("products.summary", home, {"asin": asked}, server, yes=True)["data"]
        assert server.seen[0].value("videos") == "1"
    assert [row["status"] for row in data["items"]] == ["found", "invalid", "found", "not_found"]
    assert [p["identity"]["asin"] for p in data["products"]] == asked[:3]
    (step,) = data["next_actions"]
    assert step["params"]["asin"] == ["B0LARGES01", "B0COUPON01"]
    assert problems(data) == []


def test_summary_knows_that_videos_were_asked(home: Path) -> None:
    bare = product("B0SINGLE01") | {"videos": None}
    data = answered(home, [bare], "products.summary", asin=["B0SINGLE01"])["data"]
    assert "video_count" not in data["products"][0]["data_quality"].get("not_requested", [])
