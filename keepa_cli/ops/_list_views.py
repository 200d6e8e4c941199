"""Views of lists (categories, finder, deals, sellers, rankings): the choice, and how the profile is put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from keepa_cli.core.context import Context
from keepa_cli.core.registry import Param
from keepa_cli.keepa import domains
from keepa_cli.ops._names import PRODUCTS_GET

if TYPE_CHECKING:
    from keepa_cli.research.lists.profile import Listing

RAW, AGENT = "raw", "agent"
View = Annotated[
    Literal["raw", "agent"],
    Param(
        "raw: Keepa's body with the plain rows. agent: the profile without the body, small enough for an agent. "
        "Default: the profile, and the body beside it.",
        metavar="raw|agent",
    ),
]
Rows = Annotated[
    int, Param("At most N rows in the profile (default 25); the body and the cost stay the same.", metavar="N", min=1)
]


def _category(value: Any) -> str:
    text = str(value).strip()
    if not text or len(text) > 100 or not text.isprintable():
        raise ValueError("category is a node id or the name of a product group, such as 172282 or Beauty")
    if text.lstrip("-").isdecimal() and not 0 < int(text) < 2**63:
        raise ValueError(f"{text[:40]} is no category id: it must be positive")
    return text


Category = Annotated[
    str,
    Param(
        "Category node id, or the name of a product group such as Beauty.",
        metavar="CATEGORY",
        position=True,
        parse=_category,
        accepts=("string", "integer"),
    ),
]


def shaped(
    ctx: Context, data: dict[str, Any], params: Mapping[str, Any], profile: Callable[[Listing], dict[str, Any]]
) -> dict[str, Any]:
    """The data of a list in the view that was asked for. What stands in `data` today keeps its name and meaning; the
    profile comes first, so that a reader who stops early has read what matters."""
    view = params.get("view")
    if view == RAW:
        return data
    built = profile(listing(ctx, data["body"], params))
    return built if view == AGENT else built | {name: value for name, value in data.items() if name not in built}


def listing(ctx: Context, body: Mapping[str, Any], params: Mapping[str, Any], domain: str | None = None) -> Listing:
    """What the profile of an answer is made from."""
    from keepa_cli.ops._actions import planner
    from keepa_cli.research.lists.profile import Listing

    found = domains.resolve(domain or params["domain"])
    return Listing(body, found, params, planner(ctx), params.get("limit"))


def write_selection(ctx: Context, out: str | None, selection: Mapping[str, Any]) -> dict[str, Any]:
    """`output` of an operation that drafts a selection: the file holds the selection alone."""
    if out is None:
        return {}
    from keepa_cli.keepa.strictjson import dump_json
    from keepa_cli.ops import _outputs

    text = dump_json(dict(selection)) + "\n"
    return {"output": _outputs.write(ctx, out, text.encode(), format="json", count=len(selection))}


def hydrated(call: Any, asins: list[str], domain: str) -> dict[str, Any]:
    """`hydrated`: the summaries of products in one call, from where the list came from. The list was paid for, so a
    call that fails is a warning that tells how to make it, never a failure of the list."""
    params = {"asin": asins, "domain": domain, "full": True, "view": "summary"}
    result = call(PRODUCTS_GET, params, quote_token=None)
    if result["ok"]:
        source = result["provenance"]
        facts = {name: source.get(name) for name in ("mode", "source", "fingerprint")}
        charged = result["token_bucket"].get("charged")
        products = result["data"]["products"]
        return {"hydrated": {"asins": asins, "products": products, "tokens_charged": charged, "provenance": facts}}
    error = result["error"]
    command = error["details"].get("record_command") or next(iter(error["next_actions"]), None)
    failed = {"asins": asins, "error": {"kind": error["kind"], "message": error["message"]}, "command": command}
    said = f"The first {len(asins)} candidates were not looked up: {error['message']}"
    warning = {"code": "hydrate_top", "message": f"{said} {command}" if command else said}
    return {"hydrated": failed, "warnings": [warning]}
