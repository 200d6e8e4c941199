"""Verbs of the MCP server: frames on pipes, and the results of tools while a scripted server stands for Keepa."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.agent.session import AgentSession
from keepa_cli.agent.tools import OUTPUT
from keepa_cli.core.context import Context
from tests.cases_adapters import verb
from tests.support.mcp_pipe import McpPipe
from tests.support.scripted_server import ScriptedServer, Step

KEY = "CASEKEY0" * 8
LOOKUP = {"name": "products_get", "arguments": {"asin": "B00AAAAAA1"}}
TOOLS = {"product lookup": "products_get", "<product lookup>": "products_get", "finder": "finder_query"}
BUCKET = {"tokensLeft": 50, "refillIn": 1000, "refillRate": 5, "tokensConsumed": 1, "timestamp": 1}
EMPTY = {"status": 429, "json": {**BUCKET, "tokensLeft": 0, "refillIn": 100, "tokensConsumed": 0}}
OUTAGE = {"status": 503, "text": "<html>outage</html>"}
TRIPLES = frozenset({7, *range(18, 30), 32})
"""Series of three numbers a point: time, price, shipping."""


def _env(clean_env: Mapping[str, str], url: str, key: str = KEY) -> dict[str, str]:
    return {**clean_env, "KEEPA_BASE_URL": url, "KEEPA_API_KEY": key}


@verb("mcp.stdio")
def stdio(case: dict[str, Any], clean_env: dict[str, str], home: Path) -> dict[str, Any]:
    """Send the frames in order to a live server; its answers, its timing and its end."""
    steps = case.get("server") or [EMPTY, OUTAGE]
    with ScriptedServer(steps, repeat_last=True) as server:
        env = _env(clean_env, server.url) | case.get("env", {})
        with McpPipe(env, home / "work", "--mcp", "--live", opened=False) as pipe:
            found = _played(pipe, case["send"], server)
            alive = pipe.process.poll() is None
            start = time.monotonic()
            code, errors = pipe.end()
            elapsed = (time.monotonic() - start) * 1000
            late = len(server.seen)
        called = {item["id"] for item in case["send"] if isinstance(item, dict) and item.get("method") == "tools/call"}
        found |= {
            "every_stdout_line_is_jsonrpc": all(f.get("jsonrpc") == "2.0" for f in pipe.seen),
            "non_ascii_tick_or_emoji_outside_json": any(not line.isascii() and line[:1] != b"{" for line in pipe.raw),
            "exit_code": code,
            "exit_within_ms": 3000 if elapsed <= 3000 else elapsed,
            "stderr_must_not_contain": [t for t in ["Traceback"] if t not in errors],
            "alive": alive,
            "answered_ids": [i for i in pipe.ids() if i != 1000],
            "no_message_with_id": next((i for i in called if not any(f.get("id") == i for f in pipe.seen)), None),
        }
        assert len(server.seen) == late, "something was sent after the end"
    return found


def _played(pipe: McpPipe, send: list[Any], server: ScriptedServer) -> dict[str, Any]:
    found: dict[str, Any] = {}
    called = False
    for item in send:
        if isinstance(item, dict):
            if "cancelled" in item["method"]:
                server.wait_for(1)
            pipe.send(_named(item))
            if item["method"] == "ping":
                pipe.answer(item["id"])
        elif item == "initialize":
            pipe.open()
        elif item == "tools/list":
            pipe.ask("tools/list")
        elif item.startswith("tools/call"):
            called = True
            pipe.start("tools/call", LOOKUP, ident=1)
            server.wait_for(1)
        elif item.startswith("ping"):
            time.sleep(0.2)
            start = time.monotonic()
            pipe.ask("ping")
            found["ping_ms"] = (time.monotonic() - start) * 1000
            assert 1 not in pipe.ids(), "the call was not slow"
    assert called or any(isinstance(item, dict) for item in send)
    return found


def _named(frame: dict[str, Any]) -> dict[str, Any]:
    params = frame.get("params", {})
    return frame if "name" not in params else {**frame, "params": {**params, "name": TOOLS[params["name"]]}}


@contextmanager
def _session(
    clean_env: Mapping[str, str], home: Path, steps: list[Step], url: Callable[[str], str] = str, key: str = KEY
) -> Iterator[tuple[AgentSession, ScriptedServer]]:
    """A live session whose waits between attempts take no time."""
    with ScriptedServer(steps, repeat_last=True) as server:
        session = AgentSession(Context(env=_env(clean_env, url(server.url), key), cwd=home / "work"), live=True)
        session.ctx.sleep = lambda seconds: server.attempt_failed()
        yield session, server


def _result(session: AgentSession, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    from keepa_cli.interfaces.mcp.results import tool_result

    return tool_result(session.call_tool(name, arguments))


@verb("mcp.tool")
def tool(case: dict[str, Any], clean_env: dict[str, str], home: Path) -> dict[str, Any]:
    steps = case["server"] * (5 if case["server"][0].get("fault") == "refused" else 1)
    with _session(clean_env, home, steps) as (session, _):
        result = _result(session, TOOLS[case["tool"]], case["arguments"])
    text = result["content"][0]["text"]
    found = {
        "isError": result["isError"],
        "text_contains": [t for t in ("invalidParameter", "Synthetic: key not valid") if t in text],
        "text_must_not_contain": [t for t in ("[object Object]", "Traceback") if t not in json.dumps(result)],
        "digits_that_look_like_prices": len(re.findall(r"\d+[.,]\d\d\b", text)),
    }
    if "also" in case:
        price = case["also"]["arguments"]["maxPrice"]
        with _session(clean_env, home, [{"json": BUCKET}]) as (session, _):
            planned = _result(session, TOOLS[case["also"]["tool"]], {"new": f"..{price}", "dry_run": True})
        found["finder_selection_contains"] = json.loads(planned["structuredContent"]["request"]["query"]["selection"])
    return found


FAULTS: dict[str, tuple[list[Step], Callable[[str], str]]] = {
    "refused": ([{"fault": "refused"}] * 5, str),
    "tls": ([OUTAGE], lambda url: url.replace("http://", "https://")),
    "timeout": ([{"fault": "stall_after_request", "ms": 5000}], str),
    "400": ([{"status": 400, "json": {**BUCKET, "error": {"type": "invalidParameter", "message": "key {key}"}}}], str),
    "503_html": ([OUTAGE], str),
    "bad_json": ([{"text": '{"products": [{"asin": "B00AAAAAA1"'}], str),
}


@verb("mcp.secret")
def secret(
    case: dict[str, Any],
    clean_env: dict[str, str],
    home: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> dict[str, Any]:
    """Everything that is shown, logged, printed or written while the key is in use and things fail."""
    (home / "config.toml").write_text("timeout_seconds = 1\n")
    key, shown = case["secret"], ""
    caplog.set_level(logging.DEBUG)
    for fault in case["faults"]:
        steps, url = FAULTS[fault]
        steps = json.loads(json.dumps(steps).replace("{key}", key))
        with _session(clean_env, home, steps, url, key) as (session, _):
            result = _result(session, "products_get", LOOKUP["arguments"])
        assert result["isError"], fault
        shown += json.dumps(result)
    with ScriptedServer([FAULTS["bad_json"][0][0]]) as server:
        env = _env(clean_env, server.url, key) | {"LOG_LEVEL": "DEBUG"}
        with McpPipe(env, home / "work", "-vvv", "--mcp", "--live") as pipe:
            pipe.call("products_get", asin="B00AAAAAA1")
            shown += pipe.end()[1] + b"".join(pipe.raw).decode()
    printed = capfd.readouterr()
    shown += caplog.text + printed.out + printed.err
    files = b"".join(p.read_bytes() for p in sorted(home.rglob("*")) if p.is_file())
    watched = (key, key[-6:])
    return {"must_not_contain_anywhere": [t for t in watched if t not in shown and t.encode() not in files]}


@verb("mcp.arguments")
def arguments(case: dict[str, Any], clean_env: dict[str, str], home: Path) -> dict[str, Any]:
    """What arrives at Keepa of each call's text."""
    received: list[Any] = []
    server = ScriptedServer([{"echo_products": True, "json": BUCKET}], repeat_last=True)
    with server, McpPipe(_env(clean_env, server.url), home / "work", "--mcp", "--live") as pipe:
        for call in case["calls"]:
            before = len(server.seen)
            result = pipe.call("products_get", **call)
            sent = [seen.value("asin") for seen in server.seen[before:]]
            refused = result["structuredContent"].get("error", {}).get("details", {}).get("errors", [{}])
            received += sent or [{"error": f"invalid_{refused[0].get('field')}"}]
    return {"received": received}


@verb("mcp.size")
def size(case: dict[str, Any], clean_env: dict[str, str], home: Path) -> dict[str, Any]:
    """The default answer for many products with long histories."""
    asins = [f"B0{n:08d}" for n in range(case["products"])]
    products = [_product(asin, case["series"], case["points_per_series"]) for asin in asins]
    step: Step = {"json": {**BUCKET, "products": products}}
    with _session(clean_env, home, [step]) as (session, _):
        result = _result(session, "products_get", {"asin": asins, "yes": True})
    assert not result["isError"], result
    whole, content = len(json.dumps(result, ensure_ascii=False)), result["structuredContent"]
    manifest = content.get("mcp_resource_manifest", {}).get("resources", [])
    text = json.loads(result["content"][0]["text"])
    return {
        "max_characters": 80_000 if whole <= 80_000 else whole,
        "valid_json": isinstance(text, dict) and json.loads(json.dumps(content)) == content,
        "mentions_truncation": "truncated" in content["data"] or "omitted" in json.dumps(content["data"]),
        "way_to_get_rest": bool(manifest) and all(Path(r["path"]).is_file() for r in manifest),
    }


def _product(asin: str, series: int, points: int) -> dict[str, Any]:
    def one(index: int) -> list[int]:
        width = 3 if index in TRIPLES else 2
        return [n for p in range(points) for n in [7_000_000 + p * 60, 1000 + p, 0][:width]]

    return {"asin": asin, "domainId": 1, "title": f"Product {asin}", "csv": [one(i) for i in range(series)]}


def _priced(value: int) -> Step:
    product = {"asin": "B00AAAAAA1", "domainId": 1, "title": "t", "csv": [[7_000_000, value]] * 2}
    stats = {"current": [value] * 36}
    return {"json": {**BUCKET, "products": [product | {"stats": stats}]}}


SITUATIONS: dict[str, tuple[str, list[Step]]] = {
    "found with all prices": ("B00AAAAAA1", [_priced(1999)]),
    "found with every price null": ("B00AAAAAA1", [_priced(-1)]),
    "not found": ("B00AAAAAA1", [{"json": {**BUCKET, "products": []}}]),
    "Keepa 429": ("B00AAAAAA1", [EMPTY]),
    "bad ASIN": ("B00", [{"json": BUCKET}]),
}


@verb("mcp.schema")
def schema(case: dict[str, Any], clean_env: dict[str, str], home: Path) -> dict[str, Any]:
    """Check every result as a strict client does, failures included."""
    import jsonschema

    validator = jsonschema.Draft202012Validator(OUTPUT)
    results = {}
    for name in case["cases"]:
        asin, steps = SITUATIONS[name]
        with _session(clean_env, home, steps) as (session, _):
            results[name] = _result(session, "products_get", {"asin": asin})
    good = [results[name] for name in case["cases"][:2]]
    bad = [results[name] for name in case["cases"][3:]]
    assert all(r["isError"] for r in bad) and not any(r["isError"] for r in good)
    for result in good:
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    nothing = good[1]["structuredContent"]
    return {
        "strict_client_accepts_all": all(validator.is_valid(r["structuredContent"]) for r in results.values()),
        "structured_content_on_success": all(r["structuredContent"]["data"] for r in good),
        "null_price_valid": "19.99" not in json.dumps(nothing) and validator.is_valid(nothing),
    }


@verb("mcp.tools_list")
def tools_list(case: dict[str, Any], clean_env: dict[str, str], home: Path) -> dict[str, Any]:
    tools: list[dict[str, Any]] = []
    characters, cursor = 0, None
    with McpPipe(clean_env, home / "work") as pipe:
        while True:
            page = pipe.ask("tools/list", {"cursor": cursor} if cursor else {})["result"]
            characters += len(json.dumps(page, ensure_ascii=False, separators=(",", ":")))
            tools += page["tools"]
            cursor = page.get("nextCursor")
            if cursor is None:
                break
    roots = [tool[name] for tool in tools for name in ("inputSchema", "outputSchema")]
    assert roots and all(len(root) > 1 for root in roots)
    pattern = "^[A-Za-z0-9_-]{1,64}$"
    return {
        "root_type": "object" if {root.get("type") for root in roots} == {"object"} else "other",
        "forbidden_root_keys": [
            k for k in ("oneOf", "anyOf", "allOf", "enum", "not") if not any(k in root for root in roots)
        ],
        "name_pattern": pattern if all(re.fullmatch(pattern, tool["name"]) for tool in tools) else "other",
        "max_characters": 60_000 if characters <= 60_000 else characters,
    }
