"""What an answer of Keepa means: its body, its token bucket, and the error it reports.

Order of judgement (source: keepa-api.md §1.5-1.6): the JSON, then its `error`, then the status, only then the payload.
Every error carries `http_status`, `error_type` and `charged` ("no", "yes" or "unknown") in its details.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.registry import Request
from keepa_cli.keepa.strictjson import load_json
from keepa_cli.keepa.wire import WireResponse

_BUCKET = (
    ("tokens_left", "tokensLeft"),
    ("tokens_consumed", "tokensConsumed"),
    ("refill_rate", "refillRate"),
    ("refill_in_ms", "refillIn"),
    ("token_flow_reduction", "tokenFlowReduction"),
)
_READINGS = ("tokensLeft", "refillRate", "refillIn", "tokensConsumed")
_PAYLOADS = (
    "products",
    "asinList",
    "categories",
    "deals",
    "bestSellersList",
    "sellers",
    "sellerIdList",
    "lightningDeals",
    "trackings",
    "notifications",
    "trackingListNames",
)
_BY_ASIN = ("products", "trackings", "lightningDeals")
"""Results that belong to one ASIN each."""
_KIND_OF_STATUS = {
    400: Kind.REQUEST_REJECTED,
    401: Kind.AUTH_ERROR,
    402: Kind.AUTH_ERROR,
    403: Kind.AUTH_ERROR,
    404: Kind.API_ERROR,
    405: Kind.REQUEST_REJECTED,
    408: Kind.UPSTREAM_UNAVAILABLE,
    413: Kind.REQUEST_REJECTED,
    414: Kind.REQUEST_REJECTED,
    422: Kind.REQUEST_REJECTED,
    431: Kind.REQUEST_REJECTED,
}
_KIND_OF_TYPE = {
    "invalidparameter": Kind.REQUEST_REJECTED,
    "unauthorized": Kind.AUTH_ERROR,
    "notenoughtoken": Kind.NOT_ENOUGH_TOKEN,
    "notenoughtokens": Kind.NOT_ENOUGH_TOKEN,
}
_TYPE_OF_STATUS = {402: "payment_required", 404: "not_found", 405: "not_allowed", 429: "too_many_requests"}
_SENTENCES = {
    Kind.REQUEST_REJECTED: "Keepa refused the request",
    Kind.AUTH_ERROR: "Keepa refused the API key",
    Kind.API_ERROR: "Keepa answered with an error",
    Kind.UPSTREAM_UNAVAILABLE: "Keepa or a gateway before it failed",
    Kind.NOT_ENOUGH_TOKEN: "The token bucket is empty",
    Kind.RATE_LIMITED: "The server asked to slow down",
}
_CHECK_TOKENS = "kc tokens status --live"
WAIT_MARGIN_MS = 100


def parse_body(response: WireResponse) -> dict[str, Any]:
    """The JSON object of an answer. Another body is `outcome_unknown` under status 200, else the status's error."""
    body, problem = _load(response.body)
    if problem is None and isinstance(body, dict):
        return body
    if 200 < response.status < 400:
        raise _not_an_answer(response)
    if response.status != 200:
        raise _failure(response, {}, _excerpt(response), None)
    if problem is None:
        raise _unusable(response, "contract", Kind.CONTRACT_ERROR, f"a JSON {_json_type(body)} instead of an object")
    raise _unusable(response, "bad_payload", Kind.OUTCOME_UNKNOWN, f"{len(response.body)} bytes that are {problem}")


def bucket_of(body: Mapping[str, Any], status: int = 200) -> dict[str, Any]:
    """The token figures of an answer. A refusal whose figures are all zero says nothing about the bucket: {}."""
    figures = {name: body[field] for name, field in _BUCKET if _is_number(body.get(field))}
    if status != 200 and all(not body.get(field) for field in _READINGS):
        return {}
    return figures


def check_answer(response: WireResponse, body: Mapping[str, Any], now: datetime | None = None) -> None:
    """Raise the typed error that the answer reports, if any. `now` dates a Retry-After given as a date."""
    error = error_of(response, body, now)
    if error is not None:
        raise error


def error_of(response: WireResponse, body: Mapping[str, Any], now: datetime | None = None) -> KeepaCliError | None:
    """The error that an answer reports. An error beside a payload is none: see `partial_failure`."""
    reported = _reported(body)
    if response.status == 200 and (reported is None or has_payload(body)):
        return None
    if 200 < response.status < 400:
        return _not_an_answer(response)
    return _failure(response, body, reported or {}, now)


def partial_failure(body: Mapping[str, Any]) -> str | None:
    """What Keepa says failed although the answer holds results (some sellers or trackings of several), else None."""
    reported = _reported(body)
    if reported is None or not has_payload(body):
        return None
    return f"Keepa answered in part: {_spoken(reported) or 'it names no reason'}"


def unasked(request: Request, body: Mapping[str, Any]) -> list[dict[str, str]]:
    """What the answer holds of ASINs that nobody asked for, as contract errors: wrong, whatever its source."""
    if not request.asked or "code" in request.query:
        return []
    return [
        {"path": f"$.{name}[{i}].asin", "message": f"{asin} was not asked for"}
        for name, i, asin in _asins(body)
        if asin not in request.asked
    ]


def unanswered(request: Request, body: Mapping[str, Any]) -> list[str]:
    """The ASINs or sellers that were asked for and of which the answer holds nothing."""
    sellers = body.get("sellers")
    held = {asin for _, _, asin in _asins(body)} | set(sellers if isinstance(sellers, Mapping) else ())
    return [] if "code" in request.query else [item for item in request.asked if item not in held]


def _asins(body: Mapping[str, Any]) -> Iterator[tuple[str, int, Any]]:
    for name in _BY_ASIN:
        found = body.get(name)
        for i, item in enumerate(found if isinstance(found, list) else []):
            if isinstance(item, Mapping):
                yield name, i, item.get("asin")


def has_payload(body: Mapping[str, Any]) -> bool:
    """Whether the answer holds any result."""
    return any(body.get(name) for name in _PAYLOADS)


def charged_by(response: WireResponse) -> str:
    """Whether the answer cost tokens: "yes", "no", or "unknown" when it does not say."""
    body, _ = _load(response.body)
    return _charged(response, body if isinstance(body, dict) else {})


def figures_in(response: WireResponse) -> dict[str, Any]:
    """The token figures of an answer that was not read yet; {} when it holds none."""
    body, _ = _load(response.body)
    return bucket_of(body, response.status) if isinstance(body, dict) else {}


def refill_wait_ms(bucket: Mapping[str, Any]) -> int | None:
    """Milliseconds until a request is admitted again: the next refill, plus what a debt takes; None when unknown."""
    refill_in, left = bucket.get("refill_in_ms"), bucket.get("tokens_left")
    if refill_in is None or left is None:
        return None
    if left > 0:
        return 0
    rate = (bucket.get("refill_rate") or 0) - round(bucket.get("token_flow_reduction") or 0)
    if rate <= 0:
        return None
    return max(0, math.ceil(float(refill_in))) + math.ceil(max(0.0, -float(left)) * 60_000 / rate)


def retry_after_ms(response: WireResponse, now: datetime | None = None) -> int | None:
    """The Retry-After header, in seconds or as a date (measured from the Date header, else from `now`)."""
    value = (response.header("retry-after") or "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d+)?", value):
        return math.ceil(float(value) * 1000)
    until, start = _date(value), _date(response.header("date") or "") or now
    if until is None or start is None:
        return None
    return max(0, math.ceil((until - start).total_seconds() * 1000))


def waiting(wait_ms: int | None) -> dict[str, Any]:
    """How long to wait and what to do meanwhile, as error details."""
    hints = ["check_tokens_status", "wait_for_plan_refill", "use_cache_fixture_or_dry_run"]
    strategy = "wait_retry_after" if wait_ms is not None else "check_tokens_status"
    guidance = {
        "status_command": _CHECK_TOKENS,
        "wait_strategy": strategy,
        "hints": hints,
        "next_actions": [
            {"action": "retry_when_tokens_available"},
            {"action": "reduce_request_scope"},
            {"action": "use_cache_fixture_or_dry_run"},
        ],
    }
    seconds = None if wait_ms is None else math.ceil(wait_ms / 1000)
    return {"retry_after_ms": wait_ms, "retry_after_seconds": seconds, "token_refill_guidance": guidance}


def _failure(
    response: WireResponse, body: Mapping[str, Any], reported: Mapping[str, Any], now: datetime | None
) -> KeepaCliError:
    bucket = bucket_of(body, response.status)
    kind = _kind(response.status, str(reported.get("type") or ""), bucket)
    kind_of_error = reported.get("type") or _TYPE_OF_STATUS.get(response.status) or f"http_{response.status}"
    details: dict[str, Any] = {
        "http_status": response.status,
        "error_type": _clean(kind_of_error, 80),
        "charged": _charged(response, body),
    }
    for name in ("message", "details"):
        if reported.get(name):
            details[f"error_{name}"] = _clean(reported[name], 500)
    parameters = _parameters(reported)
    if parameters:
        details["parameters"] = sorted(parameters)
    sentence = f"{_SENTENCES[kind]} (HTTP {response.status})"
    if kind in {Kind.NOT_ENOUGH_TOKEN, Kind.RATE_LIMITED}:
        wait = _wait(response, bucket, now)
        details |= waiting(wait) | {"tokens_left": bucket.get("tokens_left")}
        sentence += "; nothing was charged" if details["charged"] == "no" else ""
        sentence += f"; the next request is admitted in {math.ceil(wait / 1000)} s" if wait is not None else ""
    elif (asked := retry_after_ms(response, now)) is not None:
        details |= {"retry_after_ms": asked, "retry_after_seconds": math.ceil(asked / 1000)}
    spoken = _spoken(reported)
    message = f"{sentence}: {spoken}" if spoken else f"{sentence}."
    return KeepaCliError(kind, message, details=details, next_actions=_next_actions(kind, bucket), token_bucket=bucket)


def _kind(status: int, error_type: str, bucket: Mapping[str, Any]) -> Kind:
    if status >= 500:
        return Kind.UPSTREAM_UNAVAILABLE
    by_type = _KIND_OF_TYPE.get(error_type.lower())
    if status == 429 or by_type is Kind.NOT_ENOUGH_TOKEN:
        return Kind.NOT_ENOUGH_TOKEN if "tokens_left" in bucket else Kind.RATE_LIMITED
    return by_type or _KIND_OF_STATUS.get(status, Kind.API_ERROR)


def _next_actions(kind: Kind, bucket: Mapping[str, Any]) -> list[str] | None:
    if kind is Kind.REQUEST_REJECTED and not bucket:
        return [
            "Keepa gives this answer for a wrong parameter and for a malformed key alike; "
            "compare the parameters first: repeat the command with --dry-run",
            "Then check the key: kc config set-token",
        ]
    return None


def _charged(response: WireResponse, body: Mapping[str, Any]) -> str:
    if response.source.kind not in {"live", "record"}:
        return "no"
    consumed = body.get("tokensConsumed")
    if consumed is not None and _is_number(consumed):
        return "yes" if consumed > 0 else "no"
    return "unknown" if response.status == 200 else "no"


def _wait(response: WireResponse, bucket: Mapping[str, Any], now: datetime | None) -> int | None:
    refill, asked = refill_wait_ms(bucket), retry_after_ms(response, now)
    known = [ms for ms in (refill, asked) if ms is not None]
    return max(known) + WAIT_MARGIN_MS if known else None


def _unusable(response: WireResponse, error_type: str, kind: Kind, what: str) -> KeepaCliError:
    charged = "unknown" if response.source.kind in {"live", "record"} else "no"
    spent = "; tokens may have been spent" if charged == "unknown" else ""
    return KeepaCliError(
        kind,
        f"The answer (HTTP {response.status}) cannot be used: it holds {what}{spent}.",
        details={"http_status": response.status, "error_type": error_type, "charged": charged},
    )


def _not_an_answer(response: WireResponse) -> KeepaCliError:
    if response.status < 300:
        return _unusable(response, "bad_payload", Kind.OUTCOME_UNKNOWN, "no result")
    host = _host(response.header("location") or "")
    return KeepaCliError(
        Kind.API_ERROR,
        f"The server answered HTTP {response.status} and points to {host}; the key follows no redirect.",
        details={
            "http_status": response.status,
            "error_type": "redirect",
            "charged": _charged(response, {}),
            "host": host,
        },
        next_actions=["Check KEEPA_BASE_URL, a proxy or a captive portal of this network."],
    )


def _host(url: str) -> str:
    try:
        return _clean(urlsplit(url).hostname or "another address", 100)
    except ValueError:
        return "a malformed address"


def _reported(body: Mapping[str, Any]) -> dict[str, Any] | None:
    error = body.get("error")
    if error in (None, "", {}, [], False):
        return None
    return error if isinstance(error, dict) else {"message": error}


def _spoken(reported: Mapping[str, Any]) -> str:
    """Message and details as one line for people; details may be text that holds JSON."""
    message = _clean(reported.get("message") or reported.get("type") or "", 500)
    named = "; ".join(f"{name}: {text}" if text else name for name, text in _parameters(reported).items())
    more = named or _clean(reported.get("details") or "", 300)
    return f"{message} ({more})" if message and more else message or more


def _parameters(reported: Mapping[str, Any]) -> dict[str, str]:
    """The parameters that `details` names, with what is said about each."""
    details = reported.get("details")
    if isinstance(details, str):
        details, problem = _load(details.encode("utf-8", "replace"))
        if problem is not None:
            return {}
    named: dict[str, str] = {}
    for row in details if isinstance(details, list) else [details]:
        if isinstance(row, dict):
            name = next((row[k] for k in ("parameter", "field", "name", "type") if isinstance(row.get(k), str)), "")
            if name:
                named[_clean(name, 80)] = _clean(row.get("message") or "", 200)
    return named


def _excerpt(response: WireResponse) -> dict[str, Any]:
    """What a page that is not JSON says, in at most a line."""
    text = response.body[:4000].decode("utf-8", "replace")
    title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
    plain = title[1] if title else re.sub(r"<[^>]*>", " ", text)
    return {"message": _clean(plain, 120)}


def _clean(value: Any, limit: int) -> str:
    text = "".join(c if c.isprintable() else " " for c in str(value))
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _load(data: bytes) -> tuple[Any, str | None]:
    try:
        return load_json(data), None
    except ValueError as error:
        return None, str(error) if data else "empty"


def _date(text: str) -> datetime | None:
    from email.utils import parsedate_to_datetime  # loads the socket module

    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**53


def _json_type(value: Any) -> str:
    return {list: "list", str: "string", bool: "boolean", type(None): "null"}.get(type(value), "number")
