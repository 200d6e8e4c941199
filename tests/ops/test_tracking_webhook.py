"""The address of a webhook is a secret: it goes to Keepa and nowhere else."""

from __future__ import annotations

import json
import logging
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from keepa_cli.cassettes.urls import stored_url
from keepa_cli.core.redact import REDACTED, Redactor
from tests.support.remote import BUCKET, KEY, call, context, refusal
from tests.support.scripted_server import ScriptedServer, Step

NAME = "tracking.webhook"
SECRET = "c4n4ry-path-91f2"
URL = f"https://hooks.example.com/keepa/{SECRET}?to=a%20b"
FREE = BUCKET | {"tokensConsumed": 0}
ECHO = FREE | {"error": {"type": "invalidParameter", "message": f"cannot reach {URL}", "details": URL}}


def files_with(home: Path, needle: str) -> list[Path]:
    forms = [needle.encode(), quote(needle, safe="").encode()]
    return [p for p in home.rglob("*") if p.is_file() and any(f in p.read_bytes() for f in forms)]


@pytest.mark.parametrize(
    "step",
    [{"json": FREE}, {"json": ECHO}, {"status": 400, "json": ECHO}, {"json": ECHO | {"trackingListNames": ["x"]}},
     {"status": 500, "text": URL}, {"text": f"<html>{URL}</html>"}, {"fault": "reset_before_answer"},
     {"json": FREE | {"trackings": URL}}],
)  # fmt: skip
def test_neither_the_answer_nor_a_file_repeats_it(home: Path, step: Step, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), ScriptedServer([step]) as server:
        result = call(NAME, home, {"url": URL}, server, yes=True)
    assert server.seen[0].value("url") == URL
    assert SECRET not in json.dumps(result) and SECRET not in (result.raw_body or b"").decode()
    assert not files_with(home, SECRET)
    assert SECRET not in caplog.text


def test_a_dry_run_and_a_refusal_show_a_mark(home: Path) -> None:
    dry = call(NAME, home, {"url": URL}, dry_run=True)
    assert dry["request"]["query"] == {"type": "webhook", "url": REDACTED}
    with ScriptedServer([]) as server:
        unsure = call(NAME, home, {"url": URL}, server)
    assert refusal(unsure)["kind"] == "confirmation_required"
    assert SECRET not in json.dumps([dry, unsure])


@pytest.mark.parametrize(
    "url",
    [f"http://example.com/{SECRET}", f"ftp://example.com/{SECRET}", f"//example.com/{SECRET}", f"https:///{SECRET}",
     f"https://example.com:x/{SECRET}", f"https://exa mple.com/{SECRET}", f"https://localhost/{SECRET}",
     f"https://[::1/{SECRET}", f"https://exämple.com/{SECRET}", f"javascript:{SECRET}", SECRET, "", " ",
     f"https://example.com/{SECRET}\n{SECRET}", f"https://example.com/{SECRET}" + "x" * 2000],
)  # fmt: skip
def test_what_is_no_public_https_address_is_refused_without_repeating_it(home: Path, url: str) -> None:
    with ScriptedServer([]) as server:
        result = call(NAME, home, {"url": url}, server, yes=True)
    error = refusal(result)
    assert error["kind"] == "invalid_arguments" and error["details"]["field"] == "url"
    assert not server.seen and SECRET not in json.dumps(result)


def test_it_may_come_from_standard_input(cli: Any) -> None:
    done = cli("--json", "tracking", "webhook", "--url-file", "-", "--dry-run", stdin=URL + "\n")
    assert done.returncode == 0 and SECRET not in done.stdout
    given = cli("--json", "-vv", "tracking", "webhook", URL, "--dry-run")
    assert given.returncode == 0 and SECRET not in given.stdout + given.stderr


def test_a_recording_holds_a_mark_and_answers_any_address(home: Path, cli: Any) -> None:
    with ScriptedServer([{"json": FREE}]) as server:
        env = {"KEEPA_BASE_URL": server.url, "KEEPA_API_KEY": KEY}
        done = cli("--json", "tracking", "webhook", URL, "--record=hook", "--yes", env=env)
    recorded = json.loads(done.stdout)
    assert recorded["ok"] and not [w for w in recorded["warnings"] if w["code"] == "recording"], recorded
    assert server.seen[0].value("url") == URL
    assert not files_with(home, SECRET) and "example.com" not in done.stdout
    (home / "work" / "cassettes").mkdir()
    promoted = json.loads(cli("--json", "cassettes", "promote", "hook", "--name", "hook").stdout)
    assert promoted["ok"], promoted
    assert not files_with(home, SECRET)
    for url in (URL, "https://another.example.org/"):
        replayed = call(NAME, home, {"url": url}, ctx=context(home))
        assert replayed["ok"] and replayed["data"]["done"], replayed
        assert call(NAME, home, {"url": url}, fixture="hook")["ok"]


def test_the_nearest_recording_is_described_without_it(home: Path) -> None:
    error = refusal(call(NAME, home, {"url": URL}))
    assert error["kind"] == "cassette_miss" and SECRET not in json.dumps(error)


@pytest.mark.parametrize("base", ["http://127.0.0.1:8791", "https://api.keepa.com", "https://proxy.example"])
def test_of_the_request_only_the_address_is_masked_through_any_base_url(base: str) -> None:
    stored = stored_url(f"{base}/tracking?key={KEY}&type=webhook&url={quote(URL, safe='')}", Redactor(KEY), Counter())
    assert stored == "https://api.keepa.com/tracking?type=webhook&url=%5BREDACTED%5D"


def test_an_address_that_ends_like_the_endpoint_is_masked_whole() -> None:
    stored = stored_url(f"https://hooks.example.com/tracking?s={SECRET}", Redactor(), Counter())
    assert SECRET not in stored
