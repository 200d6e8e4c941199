"""The main job on real Keepa bodies: serve, record, promote, verify, replay, each in a process of its own."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.cassettes.codec import parse_cassette
from tests.support.sandbox import KEY, running_sandbox

BODIES = {
    "product-B0D8W1YVBX-US-20260510.json": ["--stats", "180", "--rating", "--buybox", "--videos", "--aplus"],
    "product-B0D8W1YVBX-US-20260510-stats0.json": ["--stats", "0", "--videos", "--aplus"],
}
TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[^\s\[\]{},:"]+|[\[\]{},:]')


def tokens(body: bytes) -> list[Any]:
    """The JSON tokens of a body; strings by what they say, everything else as it is spelled."""
    return [json.loads(t) if t.startswith(b'"') else t for t in TOKEN.findall(body)]


@pytest.mark.parametrize("file", BODIES)
def test_a_real_body_is_recorded_promoted_verified_and_replayed(
    shared_data: Path, kc: Any, home: Path, file: str
) -> None:
    original = (shared_data / file).read_bytes()
    call = ["products", "get", "B0D8W1YVBX", *BODIES[file]]
    (home / "work" / "cassettes").mkdir()
    with running_sandbox(data=shared_data) as box:
        env = {"KEEPA_BASE_URL": box.base_url, "KEEPA_API_KEY": KEY}
        live = kc("--json", *call, "--record=real_product", "--out", str(home / "live.json"), env=env)
        assert live.returncode == 0, live.stdout[:2000] + live.stderr
        assert len(box.log) == 1
    assert (home / "live.json").read_bytes() == original
    recording = next((home / "state" / "inbox").glob("real_product-*.yaml"))
    promoted = kc("--json", "cassettes", "promote-and-verify", str(recording), "--name", "real_product")
    assert promoted.returncode == 0, promoted.stdout[:3000]
    replay = kc("--json", *call, "--out", str(home / "replay.json"))
    assert replay.returncode == 0, replay.stdout[:3000]
    body = (home / "replay.json").read_bytes()
    assert tokens(body) == tokens(original)
    fixture = kc("--json", *call, "--fixture", "real_product", "--out", str(home / "fixture.json"))
    assert fixture.returncode == 0 and (home / "fixture.json").read_bytes() == body
    cassette = next((home / "work" / "cassettes" / "product").glob("real_product.*.yaml"))
    assert parse_cassette(cassette.read_bytes(), cassette.name)[0].body == body
    result = json.loads(replay.stdout)
    assert result["provenance"]["sha256"] == hashlib.sha256(body).hexdigest()
    assert result["provenance"]["origin"] == "sandbox" and result["token_bucket"]["charged"] == 0
    assert kc("--json", "cassettes", "verify").returncode == 0
    leaked = [p for p in home.rglob("*") if p.is_file() and KEY.encode() in p.read_bytes()]
    assert not leaked


def test_the_envelope_carries_the_replayed_body_token_by_token(shared_data: Path, kc: Any, home: Path) -> None:
    (home / "work" / "cassettes").mkdir()
    body = shared_data / "product-B0D8W1YVBX-US-20260510-stats0.json"
    request = "/product?domain=1&asin=B0D8W1YVBX&history=1&stats=0&videos=1&aplus=1"
    done = kc("--json", "cassettes", "promote", str(body), "--name", "imported", "--request", request)
    assert done.returncode == 0, done.stdout
    replay = kc("--json", "products", "get", "B0D8W1YVBX", "--domain", "US", "--full")
    assert replay.returncode == 0, replay.stdout[:2000]
    result = json.loads(replay.stdout)
    assert result["data"]["body"] == json.loads(body.read_bytes())
    assert result["provenance"]["origin"] == "import"
    at = replay.stdout.index('"body": ') + len('"body": ')
    end = json.JSONDecoder().raw_decode(replay.stdout, at)[1]
    assert tokens(replay.stdout[at:end].encode()) == tokens(body.read_bytes())
