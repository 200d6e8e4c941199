"""Verbs about requests as they are sent: parameters and selections."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from keepa_cli import ops
from keepa_cli.core.errors import Kind
from keepa_cli.core.registry import Batch
from keepa_cli.core.schema import bind
from keepa_cli.keepa.wire import encode
from tests.cases_adapters import verb
from tests.support.remote import call
from tests.support.scripted_server import ScriptedServer

OPERATIONS = {
    "product": "products.get", "search": "products.search", "category": "categories.get", "query": "finder.query",
    "deal": "deals.query", "seller": "sellers.get", "sellerquery": "sellers.query", "bestsellers": "bestsellers.get",
    "topseller": "topsellers.list", "lightningdeal": "lightningdeals.list",
}  # fmt: skip


@verb("request.encode")
def request_encode(given: dict[str, Any]) -> dict[str, Any]:
    """The query pairs of the first request, the names of the parameters with _ or - alike."""
    op = ops.find(OPERATIONS[given["endpoint"]])
    planned = op.run(**bind(op, {name.replace("-", "_"): value for name, value in given["params"].items()}))
    request = planned.requests[0] if isinstance(planned, Batch) else planned
    return {"method": request.method, "path": request.path, "query": dict(encode(request).query)}


@verb("request.selection")
def request_selection(given: dict[str, Any], home: Path) -> dict[str, Any]:
    """The selection as the server receives it, and what becomes of a text that is none."""
    name = OPERATIONS[given["endpoint"]]
    found: dict[str, Any] = {}
    if "selection" in given:
        sent = selection_sent(name, home, given["selection"])
        found |= sent if "error" in sent else {**sent, "selection_keys_sent": sorted(sent), "selection": sent}
    if "bad_text" in given:
        found["bad_text"] = selection_sent(name, home, given["bad_text"])
    return found


def selection_sent(name: str, home: Path, selection: Any) -> dict[str, Any]:
    with ScriptedServer([{"json": {"tokensLeft": 1}}]) as server:
        result = call(name, home, {"selection": selection}, server, yes=True)
        if not result["ok"] and Kind(result["error"]["kind"]) is Kind.INVALID_ARGUMENTS:
            return {"error": "invalid_selection", "requests_sent": len(server.seen)}
        (seen,) = server.seen
    text = seen.value("selection")
    received: dict[str, Any] = json.loads(seen.body if text is None else text)
    return received
