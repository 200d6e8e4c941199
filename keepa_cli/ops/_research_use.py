"""How a recording is used: the operation that it answers, as a next action."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from keepa_cli import ops
from keepa_cli.core.commandline import command_line
from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError
from keepa_cli.keepa.strictjson import load_json
from keepa_cli.ops import _names as names
from keepa_cli.ops._actions import action

Query = Mapping[str, str]
_FREE = {"estimated_tokens": 0, "worst_case_tokens": 0, "requires_confirmation": False}

MOST_IDS = 100


def use_of(ctx: Context, fixture: str, request: str) -> dict[str, Any]:
    """The action that reads the fixture: the operation of its request where there is one, else a look at its file.

    `request` is method, path and query, as evidence has it. `fixture` goes with `params` in the call.
    """
    method, _, target = request.partition(" ")
    path, _, text = target.partition("?")
    query = dict(parse_qsl(text, keep_blank_values=True))
    for command, params in _ways(method, path.rstrip("/"), query):
        try:
            found = action(ctx, command, params)
        except KeepaCliError:
            continue
        line = command_line(ops.find(command), params, ("--fixture", fixture))
        reason = "read the recorded answer: no network, no tokens"
        return {"action": "read_fixture", "reason": reason} | found | _FREE | {"cli": line, "fixture": fixture}
    return {"action": "show_fixture", "reason": "see what was recorded"} | action(
        ctx, names.CASSETTES_SHOW, {"name": fixture}
    )


def _ways(method: str, path: str, query: Query) -> list[tuple[str, dict[str, Any]]]:
    ways = []
    if method == "GET":
        special = _SPECIAL.get(path)
        found = special(query) if special else None
        ways = [found] if found else []
        pairs = [f"{k}={v}" for k, v in query.items()]
        ways.append((names.REQUEST_GET, {"endpoint": path} | ({"param": pairs} if pairs else {})))
    return ways


def _product(query: Query) -> tuple[str, dict[str, Any]] | None:
    asins, codes = query.get("asin"), query.get("code")
    if bool(asins) == bool(codes):
        return None
    ids = {"asin": (asins or "").split(",")[:MOST_IDS]} if asins else {"code": (codes or "").split(",")[:MOST_IDS]}
    return names.PRODUCTS_GET, ids | _domain(query)


def _search(query: Query) -> tuple[str, dict[str, Any]] | None:
    term = query.get("term")
    command = names.CATEGORIES_SEARCH if query.get("type") == "category" else names.PRODUCTS_SEARCH
    return (command, {"term": term} | _domain(query)) if term else None


def _numbers(command: str, name: str) -> Callable[[Query], tuple[str, dict[str, Any]] | None]:
    def read(query: Query) -> tuple[str, dict[str, Any]] | None:
        ids = [int(v) for v in query.get(name, "").split(",") if v.isascii() and v.isdecimal()]
        return (command, {name: ids} | _domain(query)) if ids else None

    return read


def _seller(query: Query) -> tuple[str, dict[str, Any]] | None:
    ids = query.get("seller")
    return (names.SELLERS_GET, {"seller": ids.split(",")[:MOST_IDS]} | _domain(query)) if ids else None


def _best(query: Query) -> tuple[str, dict[str, Any]] | None:
    category = query.get("category", "")
    number = int(category) if category.isascii() and category.isdecimal() else category
    return (names.BESTSELLERS_GET, {"category": number} | _domain(query)) if category else None


def _finder(query: Query) -> tuple[str, dict[str, Any]] | None:
    try:
        selection = load_json(query.get("selection", "").encode())
    except ValueError:
        return None
    return (names.FINDER_QUERY, {"selection": selection} | _domain(query)) if isinstance(selection, dict) else None


def _domain(query: Query) -> dict[str, Any]:
    from keepa_cli.keepa.domains import NAMES

    found = NAMES.get(query.get("domain", ""))
    return {"domain": found.code} if found else {}


_SPECIAL: Mapping[str, Callable[[Query], tuple[str, dict[str, Any]] | None]] = {
    "/product": _product,
    "/search": _search,
    "/category": _numbers(names.CATEGORIES_GET, "category"),
    "/seller": _seller,
    "/bestsellers": _best,
    "/query": _finder,
}
