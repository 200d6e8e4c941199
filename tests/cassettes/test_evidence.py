"""The manifest is one row per path, safe to open in a spreadsheet, and the same bytes for the same rows."""

from __future__ import annotations

import csv
import hashlib
import io
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.cassettes import evidence
from keepa_cli.cassettes.evidence import COLUMNS, Manifest
from keepa_cli.core.errors import KeepaCliError, Kind

CONTRACT_COLUMNS = (
    "logical_path,title,status,updated_at,summary,sha256,size_bytes,endpoint,fingerprint,source_cassette,recorded_at,"
    "tokens_consumed,sanitizer_version,schema_verdict,eval_verdict"
)


def row(path: str, **more: object) -> dict[str, object]:
    return {"logical_path": path, "status": "promoted"} | more


def written(*rows: dict[str, object]) -> bytes:
    manifest = Manifest()
    for r in rows:
        manifest.put(r)
    return manifest.dump()


def test_the_columns_are_those_of_the_contract() -> None:
    assert written().decode() == CONTRACT_COLUMNS + "\n"


def test_one_row_per_path_in_one_order() -> None:
    one, two = row("cassettes/b.yaml", title="old"), row("cassettes/a.yaml")
    renewed = row("cassettes/b.yaml", title="new")
    assert written(one, two, renewed) == written(two, renewed)
    assert [r[0] for r in csv.reader(io.StringIO(written(one, two).decode()))][1:] == [
        "cassettes/a.yaml",
        "cassettes/b.yaml",
    ]


@pytest.mark.parametrize("value", ["=1+1", "+1", "-1", "@x", "\t=1", "\r\n=cmd|' /C calc'!A0", "  =1"])
def test_no_cell_is_a_formula(value: str) -> None:
    for line in csv.DictReader(io.StringIO(written(row("p", title=value, summary=value)).decode())):
        assert line["title"].startswith("'")
        assert line["summary"].startswith("'")


@given(st.lists(st.text(max_size=30), min_size=2, max_size=2))
@settings(max_examples=60, deadline=None)
def test_any_text_round_trips_as_one_line(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    path = tmp_path_factory.mktemp("m") / "manifest.csv"
    path.write_bytes(written(row("p", title=texts[0], summary=texts[1])))
    assert len(path.read_bytes().splitlines()) == 2
    assert Manifest.read(path).dump() == path.read_bytes()


def test_the_parent_hash_is_that_of_the_file_read(tmp_path: Path) -> None:
    path = tmp_path / "manifest.csv"
    assert Manifest.read(path).parent_sha256 is None
    path.write_bytes(written(row("p")))
    assert Manifest.read(path).parent_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"logical_path,title\n",
        b"\xff\xfe\x00",
        CONTRACT_COLUMNS.encode() + b"\na,b\n",
        CONTRACT_COLUMNS.encode() + b"\n" + b"p" + b"," * 14 + b"\np" + b"," * 14 + b"\n",
        CONTRACT_COLUMNS.encode() + b'\n"p' + b"," * 14,
    ],
)
def test_a_broken_manifest_is_a_typed_error(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "manifest.csv"
    path.write_bytes(raw)
    with pytest.raises(KeepaCliError) as caught:
        Manifest.read(path)
    assert caught.value.kind is Kind.CASSETTE_INVALID
    assert str(path) in caught.value.message


def test_columns_and_paths(tmp_path: Path) -> None:
    root = tmp_path / "cassettes"
    cassette = root / "product" / "kettle.0123456789abcdef.yaml"
    assert evidence.evidence_root(root) == tmp_path / "evidence"
    assert evidence.sidecar_path(cassette).name == "kettle.0123456789abcdef.evidence.json"
    assert evidence.logical_path(cassette, root) == "cassettes/product/kettle.0123456789abcdef.yaml"
    assert COLUMNS[:5] == ("logical_path", "title", "status", "updated_at", "summary")


def test_moments_are_utc_and_sort_by_name() -> None:
    moment = datetime(2026, 5, 10, 1, 2, 3, 4, timezone(timedelta(hours=2)))
    assert evidence.utc(moment) == "2026-05-09T23:02:03Z"
    later = datetime(2026, 5, 9, 23, 2, 4, tzinfo=UTC)
    assert evidence.stamp(moment) < evidence.stamp(later)


@pytest.mark.parametrize("raw", [None, b"", b"null", b"[]", b'{"schema_version": 999}', b"{", b"[" * 100_000])
def test_a_missing_or_broken_sidecar_is_a_typed_error(tmp_path: Path, raw: bytes | None) -> None:
    cassette = tmp_path / "kettle.0123456789abcdef.yaml"
    if raw is not None:
        evidence.sidecar_path(cassette).write_bytes(raw)
    with pytest.raises(KeepaCliError) as caught:
        evidence.read_sidecar(cassette)
    assert caught.value.kind is Kind.CASSETTE_INVALID
