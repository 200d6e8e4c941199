"""An audit of trackings that can change nothing: which tools there are, what they say, and what is refused.

The server runs with the toolset tracking-readonly and the profile of the same name. The client proves the boundary: no
writing tool is listed, none can be called by name, products are out of reach, and notifications stay unread.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from mcp import MCPError
from mcp_example_support import Failed, Server, main, server


async def audit(_: argparse.Namespace) -> dict[str, Any]:
    async with server("--toolset", "tracking-readonly", "--profile", "tracking_readonly") as session:
        listed = await session.tools()
        writing = [name for name, tool in listed.items() if tool.annotations and not tool.annotations.read_only_hint]
        if writing:
            raise Failed(f"Tools that write are listed: {', '.join(writing)}")
        trackings = (await session.call("tracking_list"))["data"]["items"]
        asin = trackings[0]["asin"]
        detail = (await session.call("tracking_get", {"asin": asin}))["data"]
        names = (await session.call("tracking_list_names"))["data"]
        notifications = (await session.call("tracking_notifications"))["data"]
        cost = (await session.call("audit_cost", {"operation": "products.get", "param": [f"asin={asin}"]}))["data"]
        return {
            "tools": sorted(listed),
            "trackings": [row["asin"] for row in trackings],
            "first": {"asin": asin, "fields": sorted(detail["items"][0]) if detail.get("items") else sorted(detail)},
            "lists": names.get("items", []),
            "notifications": {"count": notifications["count"], "marked_read": notifications["marked_read"]},
            "a_look_at_the_product_would_cost": cost,
            "refused": await refusals(session, asin),
            "budget_ledger": (await session.read("keepa://context/policy"))["budget_ledger"],
        }


async def refusals(session: Server, asin: str) -> dict[str, str]:
    """What this server does not do, by the kind of its answer."""
    tried = {
        "mark notifications as read": ("tracking_notifications", {"mark_read": True, "yes": True}),
        "get a product": ("products_get", {"asin": asin}),
        "promote a recording": ("cassettes_promote", {"file": "x.yaml", "name": "x"}),
    }
    found = {}
    for what, (tool, arguments) in tried.items():
        answer = await session.answer(tool, arguments)
        if answer["ok"]:
            raise Failed(f"{tool} was not refused.")
        found[what] = answer["error"]["kind"]
    for tool in ("tracking_add", "tracking_remove", "tracking_remove_all"):
        try:
            await session.answer(tool, {"asin": asin})
        except MCPError as error:
            found[tool] = f"JSON-RPC {error.error.code}"
        else:
            raise Failed(f"{tool} can be called.")
    return found


if __name__ == "__main__":
    sys.exit(main(audit, __doc__))
