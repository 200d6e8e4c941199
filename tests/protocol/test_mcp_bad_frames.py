"""Frames that are no requests, and requests in odd clothes: every one is answered and none ends the session."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from tests.protocol.conftest import Home
from tests.support.mcp_pipe import McpPipe, request

BAD = [
    (b"not json", -32700, None),
    (b"{", -32700, None),
    (b"\xff\xfe{}", -32700, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":' + b"9" * 5000 + b"}}", -32700, None),
    (b"[" * 3000 + b"]" * 3000, -32700, None),
    (b'{"a":' * 3000 + b"1" + b"}" * 3000, -32700, None),
    (b"[]", -32600, None),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
    (b'"ping"', -32600, None),
    (b"7", -32600, None),
    (b"null", -32600, None),
    (b"{}", -32600, None),
    (b'{"id":"p","method":"ping"}', -32600, "p"),
    (b'{"jsonrpc":"1.0","id":"p","method":"ping"}', -32600, "p"),
    (b'{"jsonrpc":"2.0","id":"p","method":"ping","params":[]}', -32600, "p"),
    (b'{"jsonrpc":"2.0","id":"p","method":"ping","params":"x"}', -32600, "p"),
    (b'{"jsonrpc":"2.0","id":"p","method":7}', -32600, "p"),
    (b'{"jsonrpc":"2.0","id":"p"}', -32600, "p"),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":"p","method":"\\ud83d"}', -32601, "p"),
    (b'{"jsonrpc":"2.0","id":"p","method":"no/such"}', -32601, "p"),
    (b'{"jsonrpc":"2.0","id":"\\ud83d","method":"no/such"}', -32601, "?"),
    (b'{"jsonrpc":"2.0","id":"p","result":{},"error":5}', None, None),
    (b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[1]}}', None, None),
    (b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}', None, None),
    (b'{"jsonrpc":"2.0","method":"notifications/cancelled"}', None, None),
    (b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":[]}}', None, None),
    (b'{"jsonrpc":"2.0","method":"no/such"}', None, None),
    (b'{"jsonrpc":"2.0","id":99,"result":{}}', None, None),
]


@pytest.mark.parametrize(("line", "code", "ident"), BAD, ids=range(len(BAD)))
def test_pitfall_4_a_bad_frame_is_answered_and_the_session_lives(
    pipe: McpPipe, line: bytes, code: int | None, ident: str | None
) -> None:
    before = len(pipe.seen)
    pipe.send(line + b"\n")
    assert pipe.ask("ping")["result"] == {}
    came = pipe.seen[before:-1]
    if code is None:
        assert len(came) <= 1
        return
    [frame] = came
    assert frame["jsonrpc"] == "2.0" and set(frame) == {"jsonrpc", "id", "error"}
    assert (frame["error"]["code"], frame["id"]) == (code, ident)
    assert frame["error"]["message"] in {"Parse error", "Invalid Request", "Method not found"}


@pytest.mark.parametrize("meta", [b'"x"', b"5", b"[]", b"true", b"null", b'{"progressToken":{}}', b'{"\\ud83d":1}'])
def test_pitfall_4_odd_metadata_never_ends_the_session(pipe: McpPipe, meta: bytes) -> None:
    pipe.send(b'{"jsonrpc":"2.0","id":"m","method":"ping","params":{"_meta":' + meta + b"}}\n")
    assert pipe.ask("ping")["result"] == {}
    assert pipe.answer("m")
    pipe.seen[:] = [f for f in pipe.seen if f.get("id") != "m"]


def test_pitfall_4_byte_order_mark_windows_line_ends_and_blank_lines(own: Home) -> None:
    with own.pipe(opened=False) as pipe:
        pipe.send(b"\xef\xbb\xbf" + request(1, "ping").replace(b"\n", b"\r\n") + b"\n\r\n   \n\xef\xbb\xbf\n")
        pipe.send(request(2, "ping").replace(b"\n", b"\r\n"))
        assert pipe.answer(1)["result"] == pipe.answer(2)["result"] == {}
        assert pipe.end() == (0, "")
        assert sorted(pipe.ids()) == [1, 2]
        assert all(line.endswith(b"\n") and not line.endswith(b"\r\n") for line in pipe.raw)


def test_pitfall_4_a_line_of_40_mb_is_refused_once_and_not_held(own: Home) -> None:
    with own.pipe() as pipe:
        for _ in range(40):
            pipe.send(b"x" * (1 << 20))
        pipe.send(b"\n")
        assert pipe.ask("ping")["result"] == {}
        [refused] = [f for f in pipe.seen if "error" in f]
        assert refused["error"]["code"] == -32700
        if sys.platform == "linux":
            status = Path(f"/proc/{pipe.process.pid}/status").read_text("ascii")
            peak = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
            assert peak < 160_000


def test_pitfall_4_three_thousand_pings_in_one_write(own: Home) -> None:
    with own.pipe() as pipe:
        start = time.monotonic()
        pipe.send(b"".join(request(n, "ping") for n in range(3000)))
        pipe.answer(2999)
        assert time.monotonic() - start < 10
        assert pipe.end() == (0, "")
        assert sorted(i for i in pipe.ids() if i < 3000 and i != 1000) == [n for n in range(3000) if n != 1000]
