"""--from-cassettes: recordings are the only answers, byte for byte."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path

import pytest
import requests
import vcr

from keepa_cli.cassettes.codec import dump_cassette, parse_cassette
from keepa_cli.cassettes.fingerprint import fingerprint
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.relayout import relayout
from keepa_cli.sandbox import Sandbox
from tests.conftest import REPO
from tests.sandbox.conftest import ask
from tests.support.sandbox import KEY, running_sandbox

PRODUCT = "https://api.keepa.com/product?domain=1&asin=B0AMAZON01"
BODY = relayout('{"products" : [ 1.10, 123456789012345678901234567890 ],\n "tokensConsumed":7}').encode()


def put(root: Path, url: str, *answers: tuple[int, str, bytes, dict[str, list[str]]], name: str = "one") -> Path:
    exchanges = [Exchange("GET", url, {}, b"", status, reason, head, body) for status, reason, body, head in answers]
    path = root / "product" / f"{name}.{fingerprint('GET', url)}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(dump_cassette(exchanges)))
    return path


def test_status_headers_and_body_are_those_recorded(tmp_path: Path) -> None:
    head = {"Content-Type": ["application/json;charset=UTF-8"], "X-Kept": ["a", "b"], "Content-Length": ["999"]}
    put(tmp_path, PRODUCT, (203, "Odd Reason", BODY, head))
    with running_sandbox(cassettes=tmp_path) as sandbox:
        answer = ask(sandbox, "/product/", asin="B0AMAZON01", domain="1")
    assert (answer.status_code, answer.reason, answer.content) == (203, "Odd Reason", BODY)
    assert dict(answer.headers) == {
        "Content-Type": "application/json;charset=UTF-8",
        "X-Kept": "a, b",
        "Content-Length": str(len(BODY)),
    }


def test_answers_to_one_request_come_in_their_order(tmp_path: Path) -> None:
    put(tmp_path, PRODUCT, (429, "Too Many Requests", b"{}", {}), (200, "OK", BODY, {}))
    with running_sandbox(cassettes=[tmp_path]) as sandbox:
        assert [ask(sandbox, "/product", domain=1, asin="B0AMAZON01").status_code for _ in range(3)] == [429, 200, 200]


def test_a_body_that_was_recorded_compressed_stays_so(tmp_path: Path) -> None:
    put(tmp_path, PRODUCT, (200, "OK", gzip.compress(BODY, mtime=0), {"Content-Encoding": ["gzip"]}))
    with running_sandbox(cassettes=tmp_path) as sandbox:
        assert ask(sandbox, "/product", domain=1, asin="B0AMAZON01").content == BODY


def test_a_body_that_was_stored_decoded_is_not_announced_as_compressed(tmp_path: Path) -> None:
    put(tmp_path, PRODUCT, (200, "OK", BODY, {"Content-Encoding": ["gzip"]}))
    with running_sandbox(cassettes=tmp_path) as sandbox:
        assert ask(sandbox, "/product", domain=1, asin="B0AMAZON01").content == BODY


def test_a_miss_names_the_fingerprint_and_never_the_key(tmp_path: Path) -> None:
    put(tmp_path, PRODUCT, (200, "OK", BODY, {}))
    with running_sandbox(cassettes=tmp_path) as sandbox:
        answer = ask(sandbox, "/product", domain=1, asin="B0SINGLE01")
        error = answer.json()["error"]
        assert (answer.status_code, error["type"]) == (404, "cassetteMiss")
        assert error["details"]["fingerprint"] == fingerprint("GET", PRODUCT.replace("AMAZON", "SINGLE"))
        assert KEY not in answer.text


def test_no_key_is_needed_and_nothing_is_charged(tmp_path: Path) -> None:
    put(tmp_path, PRODUCT, (200, "OK", BODY, {}))
    with running_sandbox(cassettes=tmp_path, tokens=-5) as sandbox:
        answer = requests.get(f"{sandbox.base_url}/product?domain=1&asin=B0AMAZON01", timeout=10)
        assert answer.content == BODY
        assert sandbox.log[0].tokens == 0
        assert sandbox.bucket.state().tokens_left == -5


def test_a_broken_cassette_is_500_and_named(tmp_path: Path) -> None:
    put(tmp_path, PRODUCT, (200, "OK", BODY, {})).write_bytes(b"version: 999\n")
    with running_sandbox(cassettes=tmp_path) as sandbox:
        answer = ask(sandbox, "/product", domain=1, asin="B0AMAZON01")
        assert (answer.status_code, answer.json()["error"]["type"]) == (500, "cassetteInvalid")


def test_header_values_cannot_break_out(tmp_path: Path) -> None:
    put(tmp_path, PRODUCT, (200, "OK", BODY, {"X-Kept": ["a\r\nX-Injected: b"]}))
    with running_sandbox(cassettes=tmp_path) as sandbox:
        assert ask(sandbox, "/product", domain=1, asin="B0AMAZON01").headers.get("X-Injected") is None


def test_a_recording_made_while_running_is_found(tmp_path: Path) -> None:
    with running_sandbox(cassettes=tmp_path) as sandbox:
        assert ask(sandbox, "/product", domain=1, asin="B0AMAZON01").status_code == 404
        put(tmp_path, PRODUCT, (200, "OK", BODY, {}))
        assert ask(sandbox, "/product", domain=1, asin="B0AMAZON01").status_code == 200


@pytest.mark.parametrize("fault", ["500", "reset-after-request"])
def test_faults_work_on_recordings(tmp_path: Path, fault: str) -> None:
    put(tmp_path, PRODUCT, (200, "OK", BODY, {}))
    with running_sandbox(cassettes=tmp_path, faults=[f"{fault}x1"]) as sandbox:
        assert _outcome(sandbox) != 200
        assert _outcome(sandbox) == 200


def _outcome(sandbox: Sandbox) -> int:
    try:
        return ask(sandbox, "/product", domain=1, asin="B0AMAZON01").status_code
    except requests.ConnectionError:
        return 0


SAMPLES = sorted((REPO / "cassettes").rglob("*.yaml"))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_the_samples_sound_the_same_from_the_sandbox_and_from_plain_vcrpy(path: Path) -> None:
    recorded = parse_cassette(path.read_bytes(), path.name)[0]
    with vcr.use_cassette(str(path), record_mode="none", match_on=["method", "path", "query"]):
        from_vcr = _sent_again(recorded, recorded.url)
    with running_sandbox(cassettes=REPO / "cassettes") as sandbox:
        ours = _sent_again(recorded, recorded.url.replace("https://api.keepa.com", sandbox.base_url))
    assert (ours.status_code, ours.reason, ours.content) == (from_vcr.status_code, from_vcr.reason, from_vcr.content)
    assert ours.content == recorded.body
    assert _lower(ours.headers) == _lower(from_vcr.headers) | {"content-length": str(len(recorded.body))}


def _sent_again(recorded: Exchange, url: str) -> requests.Response:
    headers = {"Content-Type": "application/json"} if recorded.request_body else {}
    return requests.request(recorded.method, url, data=recorded.request_body, headers=headers, timeout=10)


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
