"""Strict JSON in and out: no NaN or Infinity, no bytes that are not UTF-8, no unbounded nesting."""

from __future__ import annotations

import json
from typing import Any

BOM = b"\xef\xbb\xbf"
DEPTH_LIMIT = 200
"""Keepa's bodies nest about 8 deep; beyond this limit recursive readers would break."""


def load_json(data: bytes) -> Any:
    """The value of a JSON text. ValueError, with a sentence, for everything that is not strict JSON in UTF-8.

    One byte order mark in front is tolerated. Integers keep every digit.
    """
    try:
        value = json.loads(data.removeprefix(BOM).decode("utf-8"), parse_constant=_refuse, parse_float=_finite)
    except UnicodeDecodeError as e:
        raise ValueError(f"not UTF-8: byte {e.start} is {e.object[e.start]:#04x}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except json.JSONDecodeError as e:
        raise ValueError(f"not JSON: {e.msg} at character {e.pos}") from None
    if data.count(b"[") + data.count(b"{") > DEPTH_LIMIT and _too_deep(value):
        raise ValueError("nested too deeply")
    return value


def dump_json(obj: Any) -> str:
    """Compact strict JSON. ValueError for NaN, Infinity, what JSON cannot hold, and cycles.

    Half surrogate pairs, which no encoding can write, come out as escapes.
    """
    try:
        text = json.dumps(obj, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text if _encodable(text) else json.dumps(obj, separators=(",", ":"), allow_nan=False)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except TypeError as e:
        raise ValueError(f"not JSON: {e}") from None


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEPTH_LIMIT):
        inner = [c.values() if isinstance(c, dict) else c for c in level if isinstance(c, dict | list)]
        level = [child for c in inner if not {dict, list}.isdisjoint(map(type, c)) for child in c]
        if not level:
            return False
    return True


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse(token: str) -> Any:
    raise ValueError(f"not JSON: {token} is no JSON number")


def _finite(token: str) -> float:
    value = float(token)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"number too large: {token[:40]}")
    return value
