"""Views of lists (categories, finder, deals, sellers, rankings): the choice, and how the profile is put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from keepa_cli.core.context import Context
from keepa_cli.core.registry import Param
from keepa_cli.keepa import domains

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
