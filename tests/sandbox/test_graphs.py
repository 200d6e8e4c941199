"""/graphimage: pictures, what they show and what they cost."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Any

import pytest
import requests
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.keepa.graph import damage, size
from keepa_cli.sandbox import Sandbox
from keepa_cli.sandbox.drawing import Canvas
from tests.sandbox.conftest import ask
from tests.support.sandbox import Clock

Read = Callable[..., requests.Response]
GRAPH = {"domain": 1, "asin": "B0AMAZON01"}


def decoded(png: bytes) -> tuple[list[tuple[int, ...]], list[bytes]]:
    """Palette and rows of a picture, read with nothing but the PNG specification; checksums are checked."""
    chunks: dict[bytes, bytes] = {}
    at = 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        name, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length : at + 12 + length])[0] == zlib.crc32(name + data)
        chunks[name] = data
        at += 12 + length
    width, height, depth, kind = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, kind) == (8, 3)
    raw = zlib.decompress(chunks[b"IDAT"])
    rows = [raw[y * (width + 1) : (y + 1) * (width + 1)] for y in range(height)]
    assert all(row[0] == 0 for row in rows) and len(raw) == (width + 1) * height
    palette = [tuple(chunks[b"PLTE"][i : i + 3]) for i in range(0, len(chunks[b"PLTE"]), 3)]
    assert max(max(row[1:]) for row in rows) < len(palette)
    return palette, [row[1:] for row in rows]


def colours(answer: requests.Response) -> set[tuple[int, ...]]:
    palette, rows = decoded(answer.content)
    return {palette[i] for i in set().union(*map(set, rows))}


@pytest.mark.parametrize(("width", "height"), [(500, 200), (300, 150), (1800, 1800), (777, 333)])
def test_a_picture_has_the_size_asked_for(read: Read, width: int, height: int) -> None:
    answer = read("/graphimage", **GRAPH, width=width, height=height)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/png")
    assert size(answer.content) == (width, height) and damage(answer.content) is None
    decoded(answer.content)


def test_the_defaults_are_500_by_200_with_amazon_and_new(read: Read) -> None:
    answer = read("/graphimage", **GRAPH, range=700)
    assert size(answer.content) == (500, 200)
    assert {(0xFF, 0xA5, 0x00), (0x88, 0x88, 0xDD)} <= colours(answer)
    assert (0xFF, 0xA5, 0x00) not in colours(read("/graphimage", **GRAPH, range=700, amazon=0))


def test_lines_background_and_colours_are_those_asked_for(read: Read) -> None:
    asked = {
        "range": 700,
        "bb": 1,
        "cBB": "12AB34",
        "cBackground": "010203",
        "salesrank": 1,
        "types": "11",
        "legend": 1,
    }
    found = colours(read("/graphimage", **GRAPH, **asked))
    assert {(0x12, 0xAB, 0x34), (1, 2, 3), (0x8F, 0xBC, 0x8F)} <= found


def test_a_product_without_data_has_an_empty_frame(read: Read) -> None:
    assert size(read("/graphimage", domain=1, asin="ZZZZZZZZZZ").content) == (500, 200)


def test_the_same_picture_is_free_for_90_minutes_and_byte_for_byte_the_same(sandbox: Sandbox, clock: Clock) -> None:
    def tokens() -> int:
        return int(ask(sandbox, "/token").json()["tokensLeft"])

    first, paid = ask(sandbox, "/graphimage", **GRAPH), tokens()
    assert paid == 3599
    clock.forward(30)
    assert ask(sandbox, "/graphimage", **GRAPH).content == first.content
    assert tokens() == paid
    ask(sandbox, "/graphimage", **GRAPH, width=501)
    assert tokens() == paid - 1
    ask(sandbox, "/graphimage", key="1" * 64, **GRAPH)
    assert tokens() == paid - 2
    assert [entry.tokens for entry in sandbox.log if entry.path == "/graphimage"] == [1, 0, 1, 1]
    clock.forward(90 * 60)
    ask(sandbox, "/graphimage", **GRAPH)
    assert sandbox.log[-1].tokens == 1


@pytest.mark.parametrize(
    "change",
    [
        {"asin": ""}, {"asin": "short"}, {"asin": "B0AMAZON01,B0SINGLE01"}, {"domain": 12}, {"width": 299},
        {"width": 1801}, {"height": 149}, {"height": "x"}, {"range": 0}, {"range": -1}, {"cNew": "red"},
        {"cNew": "#112233"}, {"amazon": 2}, {"types": "31"}, {"types": "a"}, {"lw": 0},
    ],
)  # fmt: skip
def test_pictures_that_keepa_would_refuse_are_json_errors(read: Read, change: dict[str, Any]) -> None:
    answer = read("/graphimage", **{**GRAPH, **change})
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalidParameter")


def test_faults_meet_pictures_too(sandbox: Sandbox) -> None:
    sandbox.inject("500x1@/graphimage", "html=200x1@/graphimage")
    assert ask(sandbox, "/graphimage", **GRAPH).status_code == 500
    assert ask(sandbox, "/graphimage", **GRAPH).headers["Content-Type"].startswith("text/html")
    assert size(ask(sandbox, "/graphimage", **GRAPH).content) == (500, 200)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(*[st.integers(-50, 90)] * 4), max_size=8))
def test_a_canvas_takes_any_rectangle(boxes: list[tuple[int, int, int, int]]) -> None:
    canvas = Canvas(40, 30, [(0, 0, 0), (255, 255, 255)])
    for left, top, right, bottom in boxes:
        canvas.fill(left, top, right, bottom, 1)
    _, rows = decoded(canvas.png())
    for y in range(0, 30, 7):
        for x in range(0, 40, 7):
            inside = any(box[0] <= x <= box[2] and box[1] <= y <= box[3] for box in boxes)
            assert rows[y][x] == inside
