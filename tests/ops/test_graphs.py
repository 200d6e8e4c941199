"""Pictures: every parameter, what is refused, and the same bytes on every way."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli import ops
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.sanitize import sanitize
from keepa_cli.core.errors import KeepaCliError
from keepa_cli.core.redact import REDACTED, Redactor
from keepa_cli.keepa import graph
from tests.support.pictures import SIGNATURE, png
from tests.support.remote import BUCKET, KEY, call, context, refusal
from tests.support.scripted_server import ScriptedServer, Step

NAME = "graphs.image"
ASIN = "B000000001"
PICTURE = png(30, 20, pixels=random.Random(7).randbytes(600))
STEP: Step = {"body": PICTURE, "headers": {"Content-Type": "image/png"}}


def query(home: Path, **params: Any) -> dict[str, str]:
    result = call(NAME, home, {"asin": ASIN} | params, dry_run=True)
    assert result["ok"], result
    return dict(result["request"]["query"])


def test_every_parameter_goes_over_the_wire(home: Path) -> None:
    switches = dict.fromkeys(sorted(graph.SWITCHES), True)
    colours = dict.fromkeys(ops.find(NAME).run.__globals__["COLOURS"], "A1b2C3")
    numbers = {"range": 365, "width": 1800, "height": 150, "lw": 2.5}
    sent = query(home, domain="DE", types=[0, 34], **switches, **colours, **numbers)
    expected = {
        "domain": "3",
        "asin": ASIN,
        "types": "0,34",
        "range": "365",
        "width": "1800",
        "height": "150",
        "lw": "2.5",
    }
    expected |= dict.fromkeys(graph.SWITCHES, "1") | dict.fromkeys(graph.COLOURS, "a1b2c3")
    assert sent == expected and len(sent) == 36


def test_what_is_not_given_is_not_sent(home: Path) -> None:
    assert query(home) == {"domain": "1", "asin": ASIN}
    assert query(home, amazon=False, c_bb="#FF8800", lw=3) == {
        "domain": "1", "asin": ASIN, "amazon": "0", "cBB": "ff8800", "lw": "3",
    }  # fmt: skip


def test_parameters_by_hand_are_checked_where_they_are_known(home: Path) -> None:
    assert query(home, param=["amazon=0", "cBB=#AABBCC", "width=800", "types=1,2", "new2027=x=y"]) == {
        "domain": "1", "asin": ASIN, "amazon": "0", "cBB": "aabbcc", "width": "800", "types": "1,2", "new2027": "x=y",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"width": 299}, "width"),
        ({"width": 1801}, "width"),
        ({"height": 149}, "height"),
        ({"height": 1801}, "height"),
        ({"range": 0}, "range"),
        ({"range": -1}, "range"),
        ({"lw": 0}, "lw"),
        ({"lw": 11}, "lw"),
        ({"c_amazon": "red"}, "c_amazon"),
        ({"c_amazon": "fff"}, "c_amazon"),
        ({"c_amazon": "ff88001"}, "c_amazon"),
        ({"types": [31]}, "types"),
        ({"types": [36]}, "types"),
        ({"types": [-1]}, "types"),
        ({"amazon": 2}, "amazon"),
        ({"domain": "BR"}, "domain"),
        ({"asin": "B0"}, "asin"),
        ({"param": ["width=200"]}, "width"),
        ({"param": ["amazon=yes"]}, "amazon"),
        ({"param": ["cBB=blue"]}, "cBB"),
        ({"param": ["types=0,x"]}, "types"),
        ({"param": ["asin=B000000002"]}, "asin"),
        ({"param": ["width=500"], "width": 600}, "width"),
        ({"param": ["key=abc"]}, "param"),
        ({"param": ["nothing"]}, "param"),
    ],
)
def test_what_is_out_of_range_is_refused_before_anything_is_sent(
    home: Path, params: dict[str, Any], field: str, tmp_path: Path
) -> None:
    with ScriptedServer([]) as server:
        error = refusal(call(NAME, home, {"asin": ASIN} | params, server, out=tmp_path / "x.png"))
    assert error["kind"] == "invalid_arguments" and error["details"]["field"] == field
    assert not server.seen


@given(st.text(max_size=12))
@settings(max_examples=100, deadline=None)
def test_any_text_is_a_checked_value_or_a_refusal(text: str) -> None:
    for name in ("width", "lw", "types", "cBB", "amazon"):
        try:
            found = graph.query({"asin": ASIN}, {name: text})[name]
        except KeepaCliError as error:
            assert error.details["field"] == name
        else:
            assert graph.query({}, {name: str(found) if name != "types" else ",".join(map(str, found))})[name] == found


def test_a_live_picture_needs_a_file_and_goes_there_byte_for_byte(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "graph.png"
    with ScriptedServer([STEP]) as server:
        error = refusal(call(NAME, home, {"asin": ASIN}, server))
        assert error["details"]["field"] == "out" and "--out" in error["details"]["next_command"]
        assert not server.seen
        result = call(NAME, home, {"asin": ASIN}, server, out=out)
    assert out.read_bytes() == PICTURE
    assert result["data"]["output"] == {
        "path": str(out), "format": "png", "size_bytes": len(PICTURE), "result_count": None,
        "sha256": hashlib.sha256(PICTURE).hexdigest(),
    }  # fmt: skip
    assert (result["data"]["width"], result["data"]["height"]) == (30, 20)
    assert KEY not in json.dumps(result) and "body" not in result["data"]


def test_what_a_picture_cost_stays_open_beside_the_estimate(home: Path, tmp_path: Path) -> None:
    with ScriptedServer([STEP]) as server:
        result = call(NAME, home, {"asin": ASIN}, server, out=tmp_path / "x.png")
    bucket = result["token_bucket"]
    assert bucket["charged"] is None and "tokens_left" not in bucket
    assert bucket["estimated"]["worst_case_tokens"] == 1
    assert [w["code"] for w in result["warnings"]] == ["charge_unknown"]


ERROR = {"error": {"type": "invalidParameter", "message": "no such product", "details": ""}}


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        ({"json": BUCKET | ERROR}, "request_rejected"),
        ({"json": BUCKET | ERROR, "headers": {"Content-Type": "image/png"}}, "request_rejected"),
        ({"json": BUCKET}, "contract_error"),
        ({"text": "<html><title>Sign in</title></html>", "headers": {"Content-Type": "image/png"}}, "outcome_unknown"),
        ({"body": b"GIF89a" + b"\0" * 40, "headers": {"Content-Type": "image/gif"}}, "outcome_unknown"),
        ({"body": b""}, "outcome_unknown"),
        ({"body": SIGNATURE[:7]}, "outcome_unknown"),
        ({"status": 400, "json": BUCKET | ERROR}, "request_rejected"),
        ({"status": 402, "json": BUCKET | {"error": {"type": "unauthorized", "message": "no"}}}, "auth_error"),
        ({"status": 404, "body": PICTURE, "headers": {"Content-Type": "image/png"}}, "api_error"),
    ],
)
def test_what_is_no_picture_is_an_error_and_never_a_file(home: Path, tmp_path: Path, step: Step, kind: str) -> None:
    out = tmp_path / "x.png"
    with ScriptedServer([step]) as server:
        error = refusal(call(NAME, home, {"asin": ASIN}, server, out=out))
    assert error["kind"] == kind
    unreadable = kind in {"contract_error", "outcome_unknown"} and step.get("body") != b""
    assert ("kept_at" in error["details"]) == unreadable
    assert not out.exists() and len(server.seen) == 1


@pytest.mark.parametrize(("cut", "word"), [(PICTURE[:-20], "ends early"), (SIGNATURE + b"rest", "head")])
def test_a_damaged_picture_comes_with_a_warning(home: Path, tmp_path: Path, cut: bytes, word: str) -> None:
    with ScriptedServer([{"body": cut}]) as server:
        result = call(NAME, home, {"asin": ASIN}, server, out=tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes() == cut
    assert any(w["code"] == "picture" and word in w["message"] for w in result["warnings"])


def test_a_picture_that_tells_the_key_is_not_written(home: Path, tmp_path: Path) -> None:
    told = png(text=f"https://api.keepa.com/graphimage?key={KEY}".encode())
    with ScriptedServer([{"body": told}]) as server:
        error = refusal(call(NAME, home, {"asin": ASIN}, server, out=tmp_path / "x.png"))
    assert error["kind"] == "secret_detected" and not (tmp_path / "x.png").exists()


LOOKS = b'\x01mail someone@example.com or https://hooks.example.com/x "key": "abc" a=1&token=22 '
PICTURES = {
    "stored pixels that look like addresses": png(len(LOOKS), 1, pixels=LOOKS, level=0),
    "packed pixels that look like addresses": png(len(LOOKS), 30, pixels=LOOKS * 30),
    "large noise": png(300, 300, pixels=random.Random(1).randbytes(90_000), level=1),
    "a harmless text": png(text=b"drawn by Keepa"),
}


@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)
def test_the_same_bytes_live_recorded_promoted_replayed_and_as_a_fixture(home: Path, cli: Any, picture: bytes) -> None:
    work = home / "work"
    (work / "cassettes").mkdir()
    command = ("--json", "graphs", "image", ASIN, "--salesrank")
    with ScriptedServer([{"body": picture, "headers": {"Content-Type": "image/png"}}] * 2) as server:
        env = {"KEEPA_BASE_URL": server.url, "KEEPA_API_KEY": KEY}
        live = json.loads(cli(*command, "--live", "--out", "live.png", env=env).stdout)
        recorded = json.loads(cli(*command, "--record=graph", "--out", "recorded.png", env=env).stdout)
    assert live["ok"] and recorded["ok"]
    assert not [w for w in recorded["warnings"] if w["code"] == "recording"]
    promoted = json.loads(cli("--json", "cassettes", "promote", "graph", "--name", "graph").stdout)
    assert promoted["ok"], promoted
    (cassette,) = (work / "cassettes").rglob("graph.*.yaml")
    assert b"!!binary" in cassette.read_bytes() and KEY.encode() not in cassette.read_bytes()
    assert json.loads(cli(*command, "--out", "replayed.png").stdout)["ok"]
    assert json.loads(cli(*command, "--fixture", "graph", "--out", "fixture.png").stdout)["ok"]
    assert json.loads(cli("--json", "cassettes", "verify").stdout)["ok"]
    for name in ("live", "recorded", "replayed", "fixture"):
        assert (work / f"{name}.png").read_bytes() == picture, name


def test_without_a_file_replay_tells_the_size_and_costs_nothing(home: Path, cli: Any) -> None:
    (home / "work" / "cassettes").mkdir()
    with ScriptedServer([STEP]) as server:
        env = {"KEEPA_BASE_URL": server.url, "KEEPA_API_KEY": KEY}
        assert cli("--json", "graphs", "image", ASIN, "--record=graph", env=env).returncode == 0
    assert cli("--json", "cassettes", "promote", "graph", "--name", "graph").returncode == 0
    result = call(NAME, home, {"asin": ASIN}, ctx=context(home))
    assert result["data"] == {"format": "png", "width": 30, "height": 20, "size_bytes": len(PICTURE)}
    assert result["token_bucket"]["charged"] == 0 and result["warnings"] == []
    text = cli("graphs", "image", ASIN).stdout
    assert "width: 30" in text and "\x89" not in text


@pytest.mark.parametrize(
    "told", ["someone@example.com", "https://hooks.example.com/x", f"https://x.example/?key={KEY}"]
)
def test_a_recording_loses_only_the_text_that_tells_something(told: str) -> None:
    picture, plain = png(text=told.encode(), pixels=LOOKS[:8]), png(pixels=LOOKS[:8])
    headers = {"Content-Type": ["image/png"]}
    exchange = Exchange("GET", "https://api.keepa.com/graphimage?asin=B000000001", {}, b"", 200, "OK", headers, picture)
    kept, counts = sanitize(exchange, Redactor(KEY))
    assert kept.body == plain and counts["picture_text"] == 1
    assert sanitize(kept, Redactor(KEY))[0].body == plain


def test_pixels_that_hold_the_key_are_not_kept() -> None:
    for level in (0, 9):
        picture = png(64, 1, pixels=KEY.encode(), level=level)
        exchange = Exchange("GET", "https://api.keepa.com/graphimage", {}, b"", 200, "OK", {}, picture)
        kept, counts = sanitize(exchange, Redactor(KEY))
        assert kept.body == REDACTED.encode() and counts["opaque"] == 1
