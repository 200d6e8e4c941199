"""Frames: any bytes become a message or an answer, any message becomes one line."""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.interfaces.mcp.frames import BadFrame, decode, dump
from keepa_cli.interfaces.wire import TooLong, encode

texts = st.text(st.characters(codec=None), max_size=8)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=8,
)
METHODS = ["initialize", "ping", "tools/call", "tools/list", "server/discover", "notifications/cancelled", "", "\ud83d"]
frames = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.one_of(st.just("2.0"), values),
        "id": st.one_of(st.integers(), texts, values),
        "method": st.one_of(st.sampled_from(METHODS), values),
        "params": st.one_of(
            st.dictionaries(st.sampled_from(["_meta", "name", "arguments", "requestId", "cursor"]), values), values
        ),
        "result": values,
        "error": values,
        "extra": values,
    },
)


def decoded(line: bytes, *, dual: bool) -> Any:
    try:
        return decode(line, dual=dual)
    except BadFrame as bad:
        answer = json.loads(encode(bad.answer))
        assert set(answer) == {"jsonrpc", "id", "error"}
        assert answer["error"]["code"] in {-32700, -32600, -32601}
        assert answer["id"] is None or type(answer["id"]) in (str, int)
        return None


@given(line=st.binary(max_size=80), dual=st.booleans())
def test_any_bytes_are_a_message_or_answered(line: bytes, dual: bool) -> None:
    decoded(line, dual=dual)


@settings(max_examples=300, deadline=None)
@given(frame=frames, dual=st.booleans())
def test_any_object_is_a_message_or_answered(frame: dict[str, Any], dual: bool) -> None:
    message = decoded(json.dumps(frame).encode(), dual=dual)
    if message is not None:
        assert frame.get("jsonrpc") == "2.0" or isinstance(message, types.JSONRPCError)
        line = dump(message)
        assert line.count(b"\n") == 1 and json.loads(line)["jsonrpc"] == "2.0"


@given(value=values)
def test_any_result_becomes_one_line(value: Any) -> None:
    response = types.JSONRPCResponse.model_construct(jsonrpc="2.0", id=1, result={"content": value})
    line = dump(response)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert json.loads(line)["id"] == 1


@pytest.mark.parametrize("line", [TooLong(), b"", b"\xef\xbb\xbf", b"\x00", b"nan", b"NaN", b"Infinity"])
def test_what_is_no_frame_is_refused(line: bytes | TooLong) -> None:
    with pytest.raises(BadFrame) as caught:
        decode(line, dual=False)
    assert caught.value.answer["id"] is None


def test_a_request_keeps_its_id_and_parameters() -> None:
    for ident in ("a", 1, -5, 10**30, ""):
        frame = {
            "jsonrpc": "2.0",
            "id": ident,
            "method": "tools/call",
            "params": {"name": "x", "odd": [1, {"y": None}]},
        }
        found = decode(json.dumps(frame).encode(), dual=False)
        assert (found.id, found.method, found.params) == (ident, "tools/call", frame["params"])
        assert type(found.id) is type(ident)
