"""Who may call, how, and what each refusal looks like."""

from __future__ import annotations

import json

import pytest

from keepa_cli.core.context import Context
from tests.support.mcp_http import INITIALIZE, Client, Running, running

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
OWN = "https://app.example.com"


def test_a_session_is_issued_and_answers(client: Client) -> None:
    found = client.ask("initialize", INITIALIZE)
    assert found.status == 200
    assert len(found.headers["mcp-session-id"]) == 32
    assert found.json["result"]["serverInfo"]["name"] == "keepa_mcp"
    assert found.json["result"]["protocolVersion"] == "2025-11-25"
    inside = client.opened()
    assert inside.ask("ping").json == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert "x-keepa" in inside.ask("tools/list").json["result"]["tools"][0]


@pytest.mark.parametrize("params", [{}, None, {"capabilities": {}}, {"protocolVersion": None}])
def test_an_opening_without_its_parameters_is_filled_in(client: Client, params: dict[str, object] | None) -> None:
    message: dict[str, object] = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    assert client.post(message).json["result"]["protocolVersion"] == "2025-11-25"


def test_a_request_without_session_is_400_and_one_of_an_unknown_session_404(client: Client) -> None:
    assert client.ask("ping").status == 400
    unknown = client.ask("ping", mcp_session_id="0" * 32)
    assert (unknown.status, unknown.json["id"]) == (404, None)
    assert client.request("DELETE").status == 400
    assert client.request("DELETE", mcp_session_id="0" * 32).status == 404


def test_a_session_that_was_deleted_is_unknown(shared: Running) -> None:
    inside = shared.client.opened()
    ident = inside.headers["mcp-session-id"]
    inside.call("context_policy")
    assert ident in shared.rooms and ident in shared.core.sessions
    assert inside.request("DELETE").status == 200
    assert ident not in shared.rooms and ident not in shared.core.sessions
    assert inside.ask("ping").status == 404
    assert inside.request("DELETE").status == 404


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "TRACE"])
def test_other_methods_are_405_with_what_is_allowed(client: Client, method: str) -> None:
    found = client.request(method, accept="text/event-stream")
    assert (found.status, found.headers["allow"]) == (405, "POST, DELETE, OPTIONS")


def test_other_paths_are_404(client: Client) -> None:
    for path in ("/", "/mcp/", "/mcp/x", "/sse", "/MCP", "//mcp"):
        assert Client(client.port, path=path).post(PING).status == 404, path


def test_a_preflight_of_an_allowed_origin_is_answered(client: Client) -> None:
    found = client.request(
        "OPTIONS", origin=OWN, access_control_request_method="POST",
        access_control_request_headers="content-type, mcp-session-id, mcp-protocol-version, keepa-mcp-timeout-ms",
    )  # fmt: skip
    assert (found.status, found.body) == (204, b"")
    assert found.headers["access-control-allow-origin"] == OWN
    assert {"POST", "DELETE"} <= set(found.headers["access-control-allow-methods"].split(", "))
    allowed = set(found.headers["access-control-allow-headers"].split(", "))
    assert {
        "content-type", "accept", "authorization", "mcp-session-id", "mcp-protocol-version", "keepa-mcp-timeout-ms",
    } <= allowed  # fmt: skip


def test_answers_to_allowed_origins_can_be_read_by_pages(client: Client) -> None:
    found = client.ask("initialize", INITIALIZE, origin=OWN)
    assert found.headers["access-control-allow-origin"] == OWN
    assert found.headers["vary"] == "Origin"
    assert "Mcp-Session-Id" in found.headers["access-control-expose-headers"]
    refused = client.request("GET", origin=OWN)
    assert (refused.status, refused.headers["access-control-allow-origin"]) == (405, OWN)
    assert "access-control-allow-origin" not in client.ask("initialize", INITIALIZE).headers


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://app.example.com", "https://app.example.com.evil.example", "", "*",
     "https://app.example.com, https://evil.example"],
)  # fmt: skip
def test_foreign_origins_are_refused(client: Client, origin: str) -> None:
    for method in ("POST", "OPTIONS", "DELETE", "GET"):
        found = client.request(method, b"{}" if method == "POST" else None, origin=origin)
        assert found.status == 403
        assert "access-control-allow-origin" not in found.headers


def test_own_origins_and_hosts_are_served(client: Client) -> None:
    for name in ("127.0.0.1", "localhost", "[::1]", "LOCALHOST"):
        own = f"{name}:{client.port}"
        assert client.ask("initialize", INITIALIZE, host=own).status == 200
        assert client.ask("initialize", INITIALIZE, origin=f"http://{own.lower()}").status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1", "localhost", "127.0.0.1:1", "localhost:80", "evil.example:{port}", "0.0.0.0:{port}"],
)  # fmt: skip
def test_foreign_hosts_are_refused(client: Client, host: str) -> None:
    assert client.ask("initialize", INITIALIZE, host=host.format(port=client.port)).status == 403


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        (None, 200), ("", 200), ("*/*", 200), ("application/json", 200), ("application/*", 200),
        ("application/json, text/event-stream", 200), ("text/event-stream", 200), ("APPLICATION/JSON;q=0.1", 200),
        ("text/html, */*;q=0.1", 200), ("text/html", 406), ("application/json;q=0", 406),
        ("application/json;q=0, text/event-stream; q=0.0", 406), ("application/xml, image/*", 406), ("*/*;q=0", 406),
    ],
)  # fmt: skip
def test_only_an_accept_that_takes_nothing_we_offer_is_406(client: Client, accept: str | None, status: int) -> None:
    assert client.ask("initialize", INITIALIZE, accept=accept).status == status


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (None, 200), ("application/json", 200), ("application/json; charset=utf-8", 200), ("Application/JSON", 200),
        ("application/vnd.api+json", 200), ("text/plain", 415), ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415), ("", 415), ("text/json+evil", 415),
    ],
)  # fmt: skip
def test_only_a_type_that_is_not_json_is_415(client: Client, kind: str | None, status: int) -> None:
    assert client.ask("initialize", INITIALIZE, content_type=kind).status == status


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
        {"jsonrpc": "2.0", "method": "notifications/unknown"},
        {"jsonrpc": "2.0", "id": 7, "result": {}},
        {"jsonrpc": "2.0", "id": "x", "error": {"code": -1, "message": "no"}},
    ],
)
def test_notifications_and_answers_of_clients_are_202(client: Client, message: dict[str, object]) -> None:
    found = client.opened().post(message)
    assert (found.status, found.body) == (202, b"")


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("no/such", {}, -32601), ("tools/call", {"name": "no_such"}, -32602), ("tools/list", {"cursor": "x"}, -32602),
        ("tools/call", {}, -32602), ("resources/read", {"uri": "keepa://no/such"}, -32602),
        ("prompts/get", {"name": "no_such"}, -32602),
    ],
)  # fmt: skip
def test_errors_of_methods_are_200(client: Client, method: str, params: dict[str, object], code: int) -> None:
    found = client.opened().ask(method, params, ident="a")
    assert (found.status, found.error, found.json["id"]) == (200, code, "a")


def test_bad_arguments_are_a_result_of_the_tool(client: Client) -> None:
    found = client.opened().call("products_get", nonsense=1)
    assert found["isError"] is True
    assert found["structuredContent"]["error"]["kind"] == "invalid_arguments"


@pytest.mark.parametrize(
    ("body", "ident"),
    [
        (b"[]", None), (b"[" + json.dumps(PING).encode() + b"]", None), (b"1", None), (b'"x"', None), (b"null", None),
        (b"{}", None), (b'{"jsonrpc":"1.0","id":3,"method":"ping"}', 3), (b'{"id":3,"method":"ping"}', 3),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None), (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None), (b'{"jsonrpc":"2.0","id":3}', 3),
        (b'{"jsonrpc":"2.0","id":3,"method":5}', 3), (b'{"jsonrpc":"2.0","id":3,"method":"ping","params":[]}', 3),
        (b'{"jsonrpc":"2.0","id":3,"method":"ping","params":"x"}', 3),
        (b'{"jsonrpc":"2.0","id":3,"result":5}', 3), (b'{"jsonrpc":"2.0","id":3,"error":"x"}', 3),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":3,"method":"ping","result":{}}', 3),
    ],
)  # fmt: skip
def test_what_is_no_json_rpc_message_is_400(client: Client, body: bytes, ident: int | None) -> None:
    for headers in ({}, {"mcp-session-id": client.opened().headers["mcp-session-id"]}):
        found = Client(client.port, headers).request("POST", body)
        assert (found.status, found.json) == (
            400,
            {"jsonrpc": "2.0", "id": ident, "error": {"code": -32600, "message": "Invalid Request"}},
        )


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b"nonsense", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}',
     b"[" * 100_000, b'{"a":' * 50_000, b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"ping"}'],
)  # fmt: skip
def test_what_is_no_json_is_400(client: Client, body: bytes) -> None:
    found = client.request("POST", body)
    assert (found.status, found.error, found.json["id"]) == (400, -32700, None)


def test_marks_and_nulls_before_and_in_messages_are_harmless(client: Client) -> None:
    inside = client.opened()
    assert inside.request("POST", b"\xef\xbb\xbf" + json.dumps(PING).encode()).json["result"] == {}
    assert inside.post(PING | {"params": None}).json["result"] == {}
    text = b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}'
    assert inside.request("POST", text).status in (200, 400)
    assert inside.ask("ping").status == 200


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", None])
def test_known_versions_of_the_handshake_are_served(client: Client, version: str | None) -> None:
    assert client.opened().ask("ping", mcp_protocol_version=version).status == 200


def test_unknown_versions_are_told_what_is_served(client: Client) -> None:
    meta = {"_meta": {"io.modelcontextprotocol/protocolVersion": "1999-01-01"}}
    found = client.stateless("tools/list", meta, mcp_protocol_version="1999-01-01")
    assert found.status == 400
    asked = {"io.modelcontextprotocol/protocolVersion": "1999-01-01", "io.modelcontextprotocol/clientCapabilities": {}}
    found = client.ask("tools/list", {"_meta": asked}, mcp_protocol_version="1999-01-01", mcp_method="tools/list")
    assert (found.status, found.error) == (400, -32022)
    assert found.json["error"]["data"]["supported"] == ["2026-07-28"]
    inside = client.opened()
    assert inside.ask("ping", mcp_protocol_version="1999-01-01").status == 400
    assert inside.ask("ping").status == 200


def test_a_server_of_the_handshake_alone_refuses_newer_versions(ctx: Context) -> None:
    with running(ctx, dual=False) as server:
        for version in ("2026-07-28", "1999-01-01", ""):
            assert server.client.opened().ask("ping", mcp_protocol_version=version).status == 400
        assert server.client.stateless("tools/list").status == 400
        assert server.client.opened().ask("ping").status == 200
