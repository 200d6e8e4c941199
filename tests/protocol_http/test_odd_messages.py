"""JSON that is well-formed and that the reader of the SDK refuses all the same."""

from __future__ import annotations

import pytest

from tests.support.mcp_http import Client

HALF = "\\ud83d"


def call(arguments: str, *, ident: str = "1") -> bytes:
    params = f'{{"name": "resolve_research_target", "arguments": {arguments}}}'
    return f'{{"jsonrpc": "2.0", "id": {ident}, "method": "tools/call", "params": {params}}}'.encode()


@pytest.mark.parametrize("text", [f"kettle {HALF}", f"{HALF}{HALF} kettle", "kettle \\ud83d\\ude00", "Küche 😀"])
def test_half_characters_of_a_text_that_was_cut_are_taken(client: Client, text: str) -> None:
    inside = client.opened()
    found = inside.request("POST", call(f'{{"text": "{text}"}}'), content_type="application/json")
    assert found.status == 200
    assert found.json["result"]["isError"] is False


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (call(f'{{"{HALF}": 1}}'), None),
        (f'{{"jsonrpc": "2.0", "id": 1, "method": "{HALF}"}}'.encode(), -32601),
        (f'{{"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {{"uri": "{HALF}"}}}}'.encode(), -32602),
    ],
)
def test_half_characters_anywhere_end_in_an_answer(client: Client, body: bytes, code: int | None) -> None:
    found = client.opened().request("POST", body, content_type="application/json")
    assert found.status == 200
    assert found.json["id"] == 1
    assert found.json["result"]["isError"] if code is None else found.error == code


@pytest.mark.parametrize("depth", [300, 900])
def test_a_message_that_is_too_deep_is_told_so_with_its_id(client: Client, depth: int) -> None:
    inside = client.opened()
    body = call(f'{{"text": {"[" * depth}{"]" * depth}}}', ident="7")
    found = inside.request("POST", body, content_type="application/json")
    assert (found.status, found.error, found.json["id"]) == (400, -32600, 7)
    assert found.json["error"]["message"] == "The message is nested too deeply."
    assert inside.ask("ping").status == 200
