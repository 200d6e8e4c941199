"""Faults on demand: their notation, whom they meet, and what each does to an answer."""

from __future__ import annotations

import gzip
import socket
import threading
import time
import zlib
from urllib.parse import urlsplit

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.sandbox import Sandbox
from keepa_cli.sandbox.faults import KINDS, Fault, Faults, parse_fault
from tests.sandbox.conftest import ask
from tests.support.sandbox import KEY, Clock, running_sandbox


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ("429x3", Fault("429", count=3)),
        ("503x2@/product", Fault("503", count=2, path="/product")),
        ("500", Fault("500")),
        ("500%12.5@search/", Fault("500", percent=12.5, path="/search")),
        ("slow=0.5x2", Fault("slow", 0.5, 2)),
        ("extra-csv", Fault("extra-csv")),
        ("429=250x2%50@/token", Fault("429", 250, 2, 50, "/token")),
        (" html=502 ", Fault("html", 502)),
    ],
)
def test_the_notation_is_read(spec: str, fault: Fault) -> None:
    assert parse_fault(spec) == fault


@pytest.mark.parametrize(
    "spec",
    ["", "418", "x3", "429x", "429y3", "500=2", "500%101", "html=99", "slow=-1", "slow=abc", "500@/a/b", "429 x3"],
)
def test_what_is_no_fault_is_refused_with_the_ones_there_are(spec: str) -> None:
    with pytest.raises(KeepaCliError) as caught:
        parse_fault(spec)
    assert caught.value.kind is Kind.INVALID_ARGUMENTS
    assert caught.value.details["field"] == "fault"
    assert caught.value.details["allowed"]


def test_an_unknown_fault_object_is_refused_too() -> None:
    with pytest.raises(KeepaCliError):
        Faults([Fault("none such")])


@given(st.sampled_from(sorted(KINDS)), st.integers(0, 20), st.integers(0, 30))
def test_a_fault_meets_as_many_requests_as_it_says(name: str, count: int, requests_made: int) -> None:
    faults = Faults([f"{name}x{count}"])
    met = [bool(faults.take("/product")) for _ in range(requests_made)]
    assert met == [i < count for i in range(requests_made)]


def test_one_broken_answer_at_a_time_in_the_order_given() -> None:
    faults = Faults(["503x1", "slowx2", "429x1", "new-enumx1", "500x1@/token"])
    taken = [[f.name for f in faults.take("/product")] for _ in range(3)]
    assert taken == [["503", "slow", "new-enum"], ["slow", "429"], []]
    assert [f.name for f in faults.take("/token")] == ["500"]


def test_chance_follows_the_seed() -> None:
    def met(seed: int) -> list[bool]:
        faults = Faults(["500%30"], seed)
        return [bool(faults.take("/token")) for _ in range(300)]

    assert met(1) == met(1) != met(2)
    assert 50 < sum(met(1)) < 130
    assert not any(Faults(["500%0"]).take("/token") for _ in range(50))


def product(sandbox: Sandbox, **params: int) -> requests.Response:
    return ask(sandbox, "/product", domain=1, asin="B0AMAZON01", **params)


@pytest.mark.parametrize(
    ("spec", "status", "error"),
    [
        ("429x1", 429, "notEnoughToken"),
        ("500x1", 500, "internalServerError"),
        ("200-with-errorx1", 200, "invalidParameter"),
    ],
)
def test_refusals_are_json_and_cost_nothing(spec: str, status: int, error: str, clock: Clock) -> None:
    with running_sandbox(faults=[spec], clock=clock) as sandbox:
        answer = product(sandbox)
        body = answer.json()
        assert (answer.status_code, body["error"]["type"]) == (status, error)
        assert "products" not in body and body.get("tokensConsumed", 0) == 0
        assert ("tokensLeft" in body) is (status != 500)
        assert product(sandbox).json()["tokensLeft"] == 1199
        assert [e.fault for e in sandbox.log] == [spec.split("x1")[0], ""]


def test_a_storm_of_429_names_a_wait_and_no_tokens(clock: Clock) -> None:
    with running_sandbox(faults=["429=250x2"], clock=clock) as sandbox:
        bodies = [product(sandbox).json() for _ in range(3)]
    assert [b["refillIn"] for b in bodies] == [250, 250, 60_000]
    assert [b["tokensLeft"] for b in bodies] == [0, 0, 1199]


@pytest.mark.parametrize(("spec", "status"), [("503", 503), ("html", 200), ("html=502", 502)])
def test_pages_for_people_instead_of_json(spec: str, status: int) -> None:
    with running_sandbox(faults=[spec]) as sandbox:
        answer = product(sandbox)
        assert (answer.status_code, answer.headers["Content-Type"]) == (status, "text/html;charset=UTF-8")
        assert "<html>" in answer.text
        assert sandbox.bucket.state().tokens_left == 1200


def test_slow_waits_then_answers() -> None:
    with running_sandbox(faults=["slow=0.3x1"]) as sandbox:
        started = time.monotonic()
        assert product(sandbox).status_code == 200
        assert time.monotonic() - started >= 0.3


def test_a_stop_does_not_wait_for_slow_answers() -> None:
    before = threading.active_count()
    with running_sandbox(faults=["slow=60"]) as sandbox:
        url = urlsplit(sandbox.base_url)
        connection = socket.create_connection((url.hostname or "", url.port or 0))
        connection.sendall(f"GET /token?key={KEY} HTTP/1.1\r\n\r\n".encode())
        time.sleep(0.1)
        started = time.monotonic()
    connection.close()
    while threading.active_count() > before and time.monotonic() - started < 5:
        time.sleep(0.01)
    assert time.monotonic() - started < 5


def test_a_reset_after_the_request_is_charged_and_answers_nothing() -> None:
    with running_sandbox(faults=["reset-after-requestx1"]) as sandbox:
        with pytest.raises(requests.ConnectionError):
            product(sandbox)
        assert sandbox.log[0].tokens == 1
        assert product(sandbox).json()["tokensLeft"] == 1198


def test_a_body_cut_short_is_charged_and_ends_the_connection() -> None:
    with running_sandbox(faults=["cut-bodyx1"]) as sandbox:
        with pytest.raises(requests.exceptions.ChunkedEncodingError):
            product(sandbox)
        assert product(sandbox).json()["tokensLeft"] == 1198


def test_a_truncated_gzip_stream_agrees_with_its_length() -> None:
    with running_sandbox(faults=["truncated-gzipx1"]) as sandbox:
        url = f"{sandbox.base_url}/product?key={KEY}&domain=1&asin=B0AMAZON01"
        answer = requests.get(url, stream=True, timeout=10, headers={"Accept-Encoding": "identity"})
        wire = answer.raw.read(decode_content=False)
        assert len(wire) == int(answer.headers["Content-Length"])
        assert answer.headers["Content-Encoding"] == "gzip"
        with pytest.raises((EOFError, zlib.error)):
            gzip.decompress(wire)
        assert product(sandbox).json()["tokensLeft"] == 1198


def test_products_are_missing_but_charged() -> None:
    with running_sandbox(faults=["missing-productsx1"]) as sandbox:
        body = product(sandbox).json()
        assert "products" not in body and "error" not in body
        assert body["tokensConsumed"] == 1


def test_an_extra_index_appears_in_csv_and_statistics() -> None:
    with running_sandbox(faults=["extra-csvx1"]) as sandbox:
        changed, usual = (product(sandbox, stats=90).json()["products"][0] for _ in range(2))
    assert len(changed["csv"]) == 37 and changed["csv"][:36] == usual["csv"]
    wide = {name for name, value in usual["stats"].items() if isinstance(value, list) and len(value) == 36}
    assert len(wide) > 15
    assert all(len(changed["stats"][name]) == 37 for name in wide)
    assert changed["stats"]["min"][36] is None and changed["stats"]["isLowest"][36] is False


def test_unknown_members_and_flipped_types_appear() -> None:
    with running_sandbox(faults=["new-enumx1", "type-flipx1"]) as sandbox:
        changed = product(sandbox, stats=90).json()["products"][0]
        assert changed["promotions"][0]["type"] == changed["deals"][0]["dealType"] == "SANDBOX_UNKNOWN"
        assert changed["stats"]["buyBoxAvailabilityMessage"] == "SANDBOX_UNKNOWN"
        assert isinstance(changed["websiteDisplayGroup"], list)
        usual = product(sandbox, stats=90).json()["products"][0]
        assert isinstance(usual["websiteDisplayGroup"], str) and "deals" not in usual


def test_faults_can_be_added_and_cleared_while_running(sandbox: Sandbox) -> None:
    sandbox.inject("500", Fault("429", count=1))
    assert product(sandbox).status_code == 500
    sandbox.app.faults.clear()
    assert product(sandbox).status_code == 200
