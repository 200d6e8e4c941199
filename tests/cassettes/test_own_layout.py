"""The reader of our own layout never disagrees with the YAML reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.cassettes.codec import dump_cassette
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.own_layout import read_own
from keepa_cli.cassettes.yaml_reader import Plain, Unsafe, read
from tests.conftest import REPO

CASSETTES = sorted((REPO / "cassettes").rglob("*.yaml"))
WORDS = st.sampled_from(
    ["application/json", "*/*", "null", "Yes", "12", "1e3", "a: b", "a #b", "it's", "é", "", " x", "x ", "~"]
)
VALUES = WORDS | st.text(max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
HEADERS = st.dictionaries(
    st.sampled_from(["Date", "X-A", "Y", "No", "null", "Content-Type", "a b"]), st.lists(VALUES, max_size=2), max_size=3
)


def shape(value: Any) -> Any:
    """A value with the kind of its scalars, so that 200 and '200' differ."""
    if isinstance(value, dict):
        return {k: shape(v) for k, v in value.items()}
    if isinstance(value, list):
        return [shape(v) for v in value]
    return (type(value).__name__, value.tag, str(value)) if isinstance(value, Plain) else value


def agrees(data: bytes) -> bool:
    """Whether ours read the file at all; where it does, both say the same."""
    own = read_own(data)
    if own is not None:
        assert shape(own) == shape(read(data))
    return own is not None


@pytest.mark.parametrize("path", CASSETTES, ids=lambda p: p.name)
def test_it_reads_the_samples_like_yaml(path: Path) -> None:
    asks = b"method: GET" in path.read_bytes() and b"!!binary" not in path.read_bytes()
    assert agrees(path.read_bytes()) == asks


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(JSON, HEADERS, HEADERS, VALUES, st.integers(100, 599)), min_size=1, max_size=3))
def test_it_agrees_on_whatever_is_written(items: list[tuple[Any, Any, Any, str, int]]) -> None:
    url = "https://api.keepa.com/product?domain=1&asin=B000000001"
    exchanges = [
        Exchange("GET", url, asked, b"", status, reason, answered, json.dumps(body).encode())
        for body, asked, answered, reason, status in items
    ]
    agrees(b"".join(dump_cassette(exchanges)))


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_it_agrees_on_files_that_someone_edited(data: st.DataObject) -> None:
    text = CASSETTES[-1].read_bytes()
    at = data.draw(st.integers(0, len(text) - 1))
    put = data.draw(
        st.sampled_from([b"", b" ", b"\n", b":", b"#", b"'", b'"', b"\t", b"- ", b"&a ", b"!x ", b"\xc3\xa9", b"null"])
    )
    edited = text[:at] + put + text[at + data.draw(st.integers(0, 3)) :]
    try:
        read(edited)
    except (Unsafe, yaml.YAMLError, ValueError):
        assert read_own(edited) is None
    else:
        agrees(edited)
