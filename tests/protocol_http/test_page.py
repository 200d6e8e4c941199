"""What the page on agents says of HTTP is what happens."""

from __future__ import annotations

import json
import re
from pathlib import Path

from keepa_cli.interfaces.mcp import bodies, guard, rooms
from keepa_cli.ops.docs import docs_root
from tests.support.mcp_http import Client


def section() -> str:
    text = (docs_root() / "agents.md").read_text("utf-8")
    return text.partition("## Over HTTP\n")[2].partition("\n## ")[0]


def test_the_requests_of_the_page_are_answered(client: Client) -> None:
    first, second = re.findall(r"-d '(\{.*\})'", section())
    opened = client.request("POST", first.encode(), content_type="application/json")
    assert opened.status == 200
    ident = opened.headers["mcp-session-id"]
    found = client.request("POST", second.encode(), content_type="application/json", mcp_session_id=ident)
    assert found.body.decode() in section()
    assert re.search(rf"mcp-session-id: [0-9a-f]{{{len(ident)}}}\n", section())
    assert json.loads(first)["id"] != json.loads(second)["id"]


def test_the_bounds_of_the_page_are_those_of_the_server() -> None:
    text = section()
    assert f"{guard.USUAL // 1000} seconds, or what `Keepa-MCP-Timeout-Ms` says" in text
    assert f"({guard.SHORTEST} to {guard.LONGEST})" in text
    assert f"more than {bodies.BODY_SECONDS:.0f} seconds, or has more than {bodies.BODY_LIMIT >> 20} MiB" in text
    assert f"{rooms.CAP} sessions, none of them idle for {rooms.YIELDS_AFTER / 60:.0f} minutes" in text


def test_every_refusal_of_the_guard_stands_on_the_page() -> None:
    told = {int(code) for row in re.findall(r"^\| ([\d, ]+) \|", section(), re.M) for code in row.split(", ")}
    source = "".join(Path(module.__file__).read_text("utf-8") for module in (guard, bodies))
    assert {int(code) for code in re.findall(r"Refused\((\d{3})", source)} <= told
    assert {200, 202, 504} <= told
