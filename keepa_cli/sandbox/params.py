"""The parameters of a request, refused where Keepa refuses them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from keepa_cli.keepa.clock import from_datetime, from_unix_ms
from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.keepa.stats import Interval
from keepa_cli.sandbox.catalogue.options import Options
from keepa_cli.sandbox.messages import invalid_parameter

MAX_ITEMS = 100
MAX_CATEGORIES = 10
OFFERS = range(20, 101)
ASIN = re.compile(r"[A-Z0-9]{10}")
_CODE = re.compile(r"[0-9]{8,14}")
_MS = re.compile(r"[0-9]{12,14}")

Params = Mapping[str, str]


def domain(params: Params, endpoint: str) -> int:
    found = _int(params, "domain")
    if found is None or found not in DOMAINS or not DOMAINS[found].has(endpoint):
        raise invalid_parameter("domain")
    return found


def items(params: Params) -> tuple[str, list[str]]:
    """("asin" or "code", the values). One of the two is required, never both."""
    given = [name for name in ("asin", "code") if params.get(name, "").strip(",")]
    if len(given) != 1:
        raise invalid_parameter("asin")
    values = [v.strip() for v in params[given[0]].split(",") if v.strip()]
    if len(values) > MAX_ITEMS:
        raise invalid_parameter(given[0])
    if given[0] == "code" and not all(_CODE.fullmatch(v) for v in values):
        raise invalid_parameter("code")
    return given[0], values


def options(params: Params) -> Options:
    """What the request asks of each product. Offers out of range are refused with status 200."""
    offers = _int(params, "offers", None)
    if offers is not None and offers not in OFFERS:
        raise invalid_parameter("offers", status=200)
    with_stats, interval = _stats(params.get("stats"))
    return Options(
        with_stats=with_stats,
        stats=interval,
        update=_int(params, "update", 1) or 0,
        history=_flag(params, "history", default=True),
        days=_int(params, "days", None),
        offers=offers,
        only_live_offers=_flag(params, "only-live-offers"),
        rating=_flag(params, "rating"),
        buybox=_flag(params, "buybox"),
        stock=_flag(params, "stock"),
        videos=_flag(params, "videos"),
        aplus=_flag(params, "aplus"),
        historical_variations=_flag(params, "historical-variations"),
    )


def code_limit(params: Params) -> int | None:
    limit = _int(params, "code-limit", None)
    if limit is not None and limit < 1:
        raise invalid_parameter("code-limit")
    return limit


def categories(params: Params) -> list[int]:
    given = [v for v in params.get("category", "").split(",") if v.strip()]
    if not 1 <= len(given) <= MAX_CATEGORIES or not all(re.fullmatch(r"\s*[0-9]{1,19}\s*", v) for v in given):
        raise invalid_parameter("category")
    return [int(v) for v in given]


def term(params: Params) -> list[str]:
    """The words of a search, in lower case."""
    words = params.get("term", "").lower().split()
    if not words:
        raise invalid_parameter("term")
    return words


def flag(params: Params, name: str) -> bool:
    return _flag(params, name)


def integer(params: Params, name: str) -> int | None:
    """A whole number, None when it is not given."""
    return _int(params, name, None)


def _flag(params: Params, name: str, *, default: bool = False) -> bool:
    text = params.get(name, "")
    if text.lower() not in {"", "0", "1", "true", "false"}:
        raise invalid_parameter(name)
    return text.lower() in {"1", "true"} if text else default


def _int(params: Params, name: str, default: int | None = -1) -> int | None:
    text = params.get(name, "").strip()
    if not text:
        return default
    if not re.fullmatch(r"-?[0-9]{1,9}", text):
        raise invalid_parameter(name)
    return int(text)


def _stats(text: str | None) -> tuple[bool, Interval]:
    """Days back, or a range of two ISO dates or Unix times in ms."""
    if not text:
        return False, None
    if re.fullmatch(r"[0-9]{1,5}", text):
        return True, int(text)
    start, comma, end = text.partition(",")
    try:
        interval = (_moment(start.strip()), _moment(end.strip()))
    except (ValueError, OverflowError):
        raise invalid_parameter("stats") from None
    if not comma or interval[0] > interval[1]:
        raise invalid_parameter("stats")
    return True, interval


def _moment(text: str) -> int:
    if _MS.fullmatch(text):
        return from_unix_ms(int(text))
    moment = datetime.fromisoformat(text)
    return from_datetime(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
