"""Strict JSON in and out: no NaN or Infinity, no bytes that are not UTF-8, no unbounded nesting."""

from __future__ import annotations

import json
from typing import Any

BOM = b"\xef\xbb\xbf"


def load_json(data: bytes) -> Any:
    """The value of a JSON text. ValueError, with a sentence, for everything that is not strict JSON in UTF-8.

    One byte order mark in front is tolerated. Integers keep every digit.
    """
    try:
        return json.loads(data.removeprefix(BOM).decode("utf-8"), parse_constant=_refuse, parse_float=_finite)
    except UnicodeDecodeError as e:
        raise ValueError(f"not UTF-8: byte {e.start} is {e.object[e.start]:#04x}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except json.JSONDecodeError as e:
        raise ValueError(f"not JSON: {e.msg} at character {e.pos}") from None


def dump_json(obj: Any) -> str:
    """Compact strict JSON. ValueError for NaN, Infinity, what JSON cannot hold, and cycles."""
    try:
        return json.dumps(obj, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except TypeError as e:
        raise ValueError(f"not JSON: {e}") from None


def _refuse(token: str) -> Any:
    raise ValueError(f"not JSON: {token} is no JSON number")


def _finite(token: str) -> float:
    value = float(token)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"number too large: {token[:40]}")
    return value
