"""The request that a raw Keepa body answers: given by hand, or read off the body where it says enough."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from keepa_cli.cassettes.fingerprint import query_pairs
from keepa_cli.core.errors import KeepaCliError, invalid
from keepa_cli.core.redact import SECRET_NAMES
from keepa_cli.keepa.wire import HOST, WireRequest

Pairs = tuple[tuple[str, str], ...]
_EXAMPLE = "--request '/product?domain=1&asin=B001GZ6QEC&stats=180'"


def given_request(text: str) -> WireRequest:
    """The GET request of `/path?query` or of a full URL, without the key. Raises `invalid_arguments`."""
    parts = urlsplit(text.strip())
    away = parts.netloc and (parts.hostname or "").lower() != HOST
    if away or parts.scheme not in {"", "https"} or not parts.path.startswith("/") or parts.path == "/":
        raise invalid(
            f"A request is written as a path of {HOST} with its query, for example {_EXAMPLE}.", field="request"
        )
    pairs = tuple((name, value) for name, value in query_pairs(text.strip()) if name.lower() not in SECRET_NAMES)
    return WireRequest("GET", parts.path.rstrip("/"), pairs)


def infer_request(body: Mapping[str, Any], file: str) -> WireRequest:
    """The plainest request that `body` answers. Raises `invalid_arguments` where a body does not tell."""
    found = _product(body) or _category(body) or _seller(body) or _bestsellers(body) or _token(body)
    if found is None:
        raise _cannot_tell(body, file)
    path, pairs = found
    return WireRequest("GET", path, pairs)


def _cannot_tell(body: Mapping[str, Any], file: str) -> KeepaCliError:
    names = ", ".join(sorted(map(str, body))[:8]) or "none"
    error = invalid(
        f"{file} does not say which request it answers (its fields: {names}); name the request.", field="request"
    )
    error.next_actions = [f"Repeat the command with {_EXAMPLE}"]
    return error


def _product(body: Mapping[str, Any]) -> tuple[str, Pairs] | None:
    products = _dicts(body.get("products"))
    asins = [p["asin"] for p in products if isinstance(p.get("asin"), str)]
    domain = _domain(products)
    if not asins or domain is None or len(asins) != len(products):
        return None
    return "/product", (("domain", domain), ("asin", ",".join(asins)))


def _category(body: Mapping[str, Any]) -> tuple[str, Pairs] | None:
    categories = body.get("categories")
    domain = _domain(_dicts(list(categories.values()))) if isinstance(categories, dict) else None
    if not isinstance(categories, dict) or not categories or domain is None:
        return None
    parents = "1" if body.get("categoryParents") else "0"
    return "/category", (("domain", domain), ("category", ",".join(categories)), ("parents", parents))


def _seller(body: Mapping[str, Any]) -> tuple[str, Pairs] | None:
    sellers = body.get("sellers")
    domain = _domain(_dicts(list(sellers.values()))) if isinstance(sellers, dict) else None
    if not isinstance(sellers, dict) or not sellers or domain is None:
        return None
    return "/seller", (("domain", domain), ("seller", ",".join(sellers)))


def _bestsellers(body: Mapping[str, Any]) -> tuple[str, Pairs] | None:
    found = body.get("bestSellersList")
    domain = _domain([found]) if isinstance(found, dict) else None
    if not isinstance(found, dict) or domain is None or not found.get("categoryId"):
        return None
    return "/bestsellers", (("domain", domain), ("category", str(found["categoryId"])))


def _token(body: Mapping[str, Any]) -> tuple[str, Pairs] | None:
    bucket = {"timestamp", "tokensLeft", "refillIn", "refillRate", "tokensConsumed", "tokenFlowReduction"}
    ours = "tokensLeft" in body and "refillRate" in body and body.keys() <= bucket | {"processingTimeInMs"}
    return ("/token", ()) if ours else None


def _dicts(values: Any) -> list[dict[str, Any]]:
    return [v for v in values if isinstance(v, dict)] if isinstance(values, list) else []


def _domain(items: list[dict[str, Any]]) -> str | None:
    found = {item.get("domainId") for item in items}
    domain = found.pop() if len(found) == 1 else None
    return str(domain) if isinstance(domain, int) and not isinstance(domain, bool) and domain > 0 else None
