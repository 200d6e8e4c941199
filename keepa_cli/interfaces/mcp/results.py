"""The result of a tool call: the same facts as structured content and as text, and links to files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from keepa_cli.interfaces.wire import repaired

WHOLE_TEXT = 20_000
"""Up to this many bytes the text repeats the structured content; a longer answer gets its decisive part only."""
DECISIVE = ("agent_brief", "brief", "summary", "risk_summary", "truncated", "output", "chunks", "next_actions", "count")


def tool_result(found: Mapping[str, Any]) -> dict[str, Any]:
    """`{content, structuredContent, isError}` of an envelope."""
    content = dict(found)
    try:
        text = _json(content)
        text.encode()
    except (ValueError, TypeError, RecursionError):
        content = repaired(content)
        text = _json(content)
    if len(text.encode()) > WHOLE_TEXT:
        text = _json(_decisive(content))
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}]
    manifest = content.get("mcp_resource_manifest") or {}
    blocks += [_link(resource) for resource in manifest.get("resources", [])]
    return {"content": blocks, "structuredContent": content, "isError": not content["ok"]}


def _decisive(content: Mapping[str, Any]) -> dict[str, Any]:
    """What a reader of the text alone needs, and where the rest is."""
    data = content.get("data")
    held = data if isinstance(data, Mapping) else {}
    found = {k: v for k, v in content.items() if k not in {"data", "request", "token_bucket"}}
    short = {k: held[k] for k in DECISIVE if k in held}
    products = held.get("products")
    if isinstance(products, list):
        short["products"] = [p["agent_brief"] for p in products if isinstance(p, Mapping) and "agent_brief" in p]
    while short and len(_json(short).encode()) > WHOLE_TEXT // 3:
        short.pop(max(short, key=lambda name: len(_json(short[name]))))
    return found | {"data": short, "text_is_a_summary": "structuredContent holds the whole answer."}


def _link(resource: Mapping[str, Any]) -> dict[str, Any]:
    """A block that clients can read on demand."""
    uri = str(resource["uri"])
    name = str(resource.get("path") or uri).replace("\\", "/").rpartition("/")[2]
    return {"type": "resource_link", "uri": uri, "name": name, "mimeType": resource.get("mimeType", "application/json")}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
