"""What an answer means: body, bucket, typed error, whether tokens were spent."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.keepa import answer
from keepa_cli.keepa.wire import Source, WireResponse

BUCKET = {"tokensLeft": 41, "refillIn": 30000, "refillRate": 5, "tokensConsumed": 0, "tokenFlowReduction": 0.0}
ZEROS = {"tokensLeft": 0, "refillIn": 0, "refillRate": 0, "tokensConsumed": 0, "tokenFlowReduction": 0.0}
INVALID = {"type": "invalidParameter", "message": "You used an invalid parameter.", "details": ""}


def response(body: Any = b"", status: int = 200, kind: str = "live", **headers: str) -> WireResponse:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lower = {name.replace("_", "-"): (value,) for name, value in headers.items()}
    return WireResponse(status, "", lower, data, Source(kind))


def error(body: Any, status: int, now: datetime | None = None, **headers: str) -> KeepaCliError:
    with pytest.raises(KeepaCliError) as caught:
        made = response(body, status, **headers)
        answer.check_answer(made, answer.parse_body(made), now)
    return caught.value


def test_a_good_answer_is_no_error_and_gives_the_bucket() -> None:
    made = response(BUCKET | {"products": []})
    body = answer.parse_body(made)
    answer.check_answer(made, body)
    assert answer.bucket_of(body, 200) == {
        "tokens_left": 41,
        "tokens_consumed": 0,
        "refill_rate": 5,
        "refill_in_ms": 30000,
        "token_flow_reduction": 0.0,
    }


def test_all_zero_figures_of_a_refusal_are_no_reading_but_of_an_answer_they_are() -> None:
    assert answer.bucket_of(ZEROS, 400) == {}
    assert answer.bucket_of(ZEROS, 200)["tokens_left"] == 0
    assert answer.bucket_of(ZEROS | {"refillRate": 20}, 429)["tokens_left"] == 0
    assert answer.bucket_of({"tokensLeft": "9", "refillRate": True, "refillIn": None, "tokensConsumed": 10**400}) == {}


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Kind.REQUEST_REJECTED),
        (401, Kind.AUTH_ERROR),
        (402, Kind.AUTH_ERROR),
        (403, Kind.AUTH_ERROR),
        (404, Kind.API_ERROR),
        (405, Kind.REQUEST_REJECTED),
        (414, Kind.REQUEST_REJECTED),
        (418, Kind.API_ERROR),
        (429, Kind.RATE_LIMITED),
        (500, Kind.UPSTREAM_UNAVAILABLE),
        (503, Kind.UPSTREAM_UNAVAILABLE),
        (504, Kind.UPSTREAM_UNAVAILABLE),
        (520, Kind.UPSTREAM_UNAVAILABLE),
    ],
)
@pytest.mark.parametrize("body", [b"", b"<html><title>Oops</title></html>", {}, [1]])
def test_status_decides_where_the_body_is_silent(status: int, kind: Kind, body: Any) -> None:
    failure = error(body, status)
    assert failure.kind is kind
    assert failure.details["http_status"] == status
    assert failure.details["charged"] == "no"
    assert failure.details["error_type"]


def test_400_with_zero_figures_names_the_key_and_the_parameters_as_suspects() -> None:
    failure = error(ZEROS | {"error": INVALID}, 400)
    assert failure.kind is Kind.REQUEST_REJECTED
    assert failure.token_bucket == {}
    advice = " ".join(failure.next_actions)
    assert "parameter" in advice
    assert "key" in advice
    known_key = error(BUCKET | {"error": INVALID}, 400)
    assert "set-token" not in " ".join(known_key.next_actions)


def test_details_that_hold_json_name_the_parameter() -> None:
    details = '[{"type":"domain","message":"invalid"},{"name":"asin"}]'
    failure = error(ZEROS | {"error": INVALID | {"details": details}}, 400)
    assert failure.details["parameters"] == ["asin", "domain"]
    assert "domain: invalid" in failure.message
    plain = error(ZEROS | {"error": INVALID | {"details": "domain 77"}}, 400)
    assert "domain 77" in plain.message


@pytest.mark.parametrize("details", [None, 5, [1, None], {"a": 1}, "[", "{}", '"x"', [{"message": "m"}]])
def test_odd_details_are_no_defect(details: Any) -> None:
    assert error(ZEROS | {"error": INVALID | {"details": details}}, 400).kind is Kind.REQUEST_REJECTED


def test_an_error_in_a_200_is_an_error_of_its_type() -> None:
    assert error(BUCKET | {"error": INVALID}, 200).kind is Kind.REQUEST_REJECTED
    other = error(BUCKET | {"error": {"type": "somethingNew", "message": "m"}}, 200)
    assert other.kind is Kind.API_ERROR
    assert other.details["error_type"] == "somethingNew"
    assert other.details["charged"] == "no"
    assert error({"error": "just text"}, 200).details["charged"] == "unknown"
    assert error(BUCKET | {"tokensConsumed": 3, "error": "x"}, 200).details["charged"] == "yes"


def test_an_error_beside_results_is_a_partial_answer() -> None:
    body = BUCKET | {"error": {"message": "A0BAD is invalid"}, "sellers": {"A0GOOD": {}}}
    answer.check_answer(response(body), body)
    assert "A0BAD is invalid" in (answer.partial_failure(body) or "")
    assert answer.partial_failure(BUCKET) is None
    assert answer.partial_failure(BUCKET | {"error": INVALID, "sellers": {}}) is None


def test_an_empty_bucket_says_how_long_to_wait() -> None:
    failure = error(BUCKET | {"tokensLeft": -118, "refillIn": 12000}, 429)
    assert failure.kind is Kind.NOT_ENOUGH_TOKEN
    assert 1_392_000 <= failure.details["retry_after_ms"] <= 1_488_000
    assert failure.details["retry_after_seconds"] * 1000 >= failure.details["retry_after_ms"]
    assert failure.details["tokens_left"] == -118
    assert failure.details["token_refill_guidance"]["status_command"]
    assert failure.retryable


def test_the_wait_grows_with_the_debt_and_is_unknown_without_a_refill() -> None:
    def bucket(left: int, rate: int = 5, less: float = 0.0) -> dict[str, Any]:
        return {"tokens_left": left, "refill_rate": rate, "refill_in_ms": 12000, "token_flow_reduction": less}

    assert answer.refill_wait_ms(bucket(-3)) == 48000
    assert answer.refill_wait_ms(bucket(0)) == 12000
    assert answer.refill_wait_ms(bucket(7)) == 0
    assert answer.refill_wait_ms(bucket(-5, less=4.0)) == 12000 + 300_000
    assert answer.refill_wait_ms(bucket(-5, less=5.0)) is None
    assert answer.refill_wait_ms({}) is None


def test_retry_after_is_honoured_as_seconds_and_as_a_date() -> None:
    assert error(b"", 429, retry_after="7").details["retry_after_ms"] == 7000 + answer.WAIT_MARGIN_MS
    assert error(BUCKET | {"tokensLeft": 0}, 429, retry_after="90").details["retry_after_ms"] > 90_000
    until = "Fri, 02 Jan 2026 10:00:30 GMT"
    assert answer.retry_after_ms(response(retry_after=until, date="Fri, 02 Jan 2026 10:00:00 GMT")) == 30_000
    assert answer.retry_after_ms(response(retry_after=until), datetime(2026, 1, 2, 10, 0, 29, tzinfo=UTC)) == 1000
    assert answer.retry_after_ms(response(retry_after=until), datetime(2027, 1, 2, tzinfo=UTC)) == 0
    assert answer.retry_after_ms(response(retry_after="soon")) is None
    assert error(b"busy", 503, retry_after="3").details["retry_after_ms"] == 3000


def test_a_page_is_quoted_by_a_line_at_most() -> None:
    page = b"<html><head><title>503 Service\n Unavailable</title></head>" + b"<p>secret page</p>" * 500
    failure = error(page, 503)
    assert "503 Service Unavailable" in failure.message
    assert "secret page" not in failure.message
    assert len(failure.message) < 250


@pytest.mark.parametrize(
    "data",
    [b"", b'{"tokensLeft":39,"products":[{"asin', b"\xff\xfe{}", b'{"a":NaN}', b'{"a":1}x', b"[" * 100_000, b"<html>"],
)
def test_an_unreadable_200_has_an_unknown_outcome(data: bytes) -> None:
    failure = error(data, 200)
    assert failure.kind is Kind.OUTCOME_UNKNOWN
    assert failure.details == {"http_status": 200, "error_type": "bad_payload", "charged": "unknown"}
    assert not failure.retryable
    assert "may have been spent" in failure.message


def test_a_200_that_is_no_object_breaks_the_contract() -> None:
    assert error([], 200).kind is Kind.CONTRACT_ERROR
    assert error(b"null", 200).kind is Kind.CONTRACT_ERROR


def test_a_replayed_answer_never_charged_anything() -> None:
    made = response(b"cut", kind="cassette")
    with pytest.raises(KeepaCliError) as caught:
        answer.parse_body(made)
    assert caught.value.details["charged"] == "no"
    assert "spent" not in caught.value.message


def test_a_redirect_names_the_host_and_not_the_key() -> None:
    failure = error(b"", 302, location="https://elsewhere.example/token?key=SECRET")
    assert failure.kind is Kind.API_ERROR
    assert failure.details["host"] == "elsewhere.example"
    assert "SECRET" not in failure.message + repr(failure.details)
    assert "malformed" in error(b"", 301, location="http://[broken").message
    assert error(b"", 204).kind is Kind.OUTCOME_UNKNOWN


def test_a_5xx_that_charged_says_so() -> None:
    assert error(BUCKET | {"tokensConsumed": 2}, 500).details["charged"] == "yes"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(
    body=st.dictionaries(
        st.sampled_from(["error", "tokensLeft", "refillRate", "refillIn", "tokensConsumed", "products"]), JSON
    ),
    status=st.sampled_from([200, 204, 302, 400, 402, 404, 429, 500, 503]),
    retry_after=st.text(max_size=12),
)
def test_any_answer_is_judged_without_a_defect(body: dict[str, Any], status: int, retry_after: str) -> None:
    made = response(body, status, retry_after=retry_after)
    try:
        answer.check_answer(made, answer.parse_body(made))
    except KeepaCliError as failure:
        assert failure.details["charged"] in {"no", "yes", "unknown"}
        assert len(failure.message) < 2000
        json.dumps(failure.details)
    else:
        assert status == 200
