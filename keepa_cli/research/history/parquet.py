"""Rows of histories as a Parquet file: times are timestamps, values exact text, raw numbers 64-bit integers."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from typing import Any

from keepa_cli.keepa.clock import to_unix_ms
from keepa_cli.research.history.rows import Piece
from keepa_cli.research.history.units import Raw

_LARGEST = 2**63
_DIGITS = re.compile(r"-?[0-9]{1,19}")


def parquet_bytes(pieces: Iterable[Piece]) -> bytes:
    """One file with the columns of the other formats. `raw` is null where it is no 64-bit integer: then `value` holds
    the text. Raises ImportError without pyarrow."""
    import pyarrow as pa
    from pyarrow import parquet

    label = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema(
        [("asin", label), ("domain", label), ("series", label), ("time", pa.timestamp("ms", tz="UTC")),
         ("value", pa.string()), ("raw", pa.int64()), ("unit", label), ("currency", label)]
    )  # fmt: skip
    sink = io.BytesIO()
    with parquet.ParquetWriter(sink, schema) as writer:
        for piece in pieces:
            if len(piece.times):
                writer.write_table(pa.table(_columns(piece), schema=schema))
    return sink.getvalue()


def _columns(piece: Piece) -> dict[str, list[Any]]:
    track, count = piece.track, len(piece.times)
    cells = {raw: track.unit.cell(raw, track.domain) for raw in set(piece.raws)}
    values = [cells[raw] for raw in piece.raws]
    return {
        "asin": [_text(piece.asin)] * count,
        "domain": [track.domain.code] * count,
        "series": [_text(track.name)] * count,
        "time": [to_unix_ms(t) for t in piece.times],
        "value": [_text(v[0]) for v in values],
        "raw": [_number(raw) for raw in piece.raws],
        "unit": [v[1] for v in values],
        "currency": [v[2] for v in values],
    }


def _text(value: Any) -> str | None:
    """Text that UTF-8 can hold: half of a surrogate pair, which JSON allows, becomes a question mark."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value).encode("utf-8", "replace").decode()


def _number(raw: Raw) -> int | None:
    if isinstance(raw, str):
        raw = int(raw) if _DIGITS.fullmatch(raw) else _LARGEST
    return raw if -_LARGEST <= raw < _LARGEST else None
