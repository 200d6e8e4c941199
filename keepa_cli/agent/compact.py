"""Answers small enough for a message: whole facts, what was left out, and where all of it is."""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from keepa_cli.agent.roots import output_folder
from keepa_cli.agent.uris import SCHEME, encode_text
from keepa_cli.core.context import Context
from keepa_cli.core.files import write_atomic

LIMIT = 44_000
"""Bytes of JSON: hosts refuse more than about 25,000 tokens, and a short text of it comes beside."""

MOST_LINKS = 60
MESSAGE = 54_000
"""Bytes of a whole message without its frame and its ledger: a short answer stands in it twice."""


FAILURE = 16_000
"""A failure stands in the text a second time, whole."""
MOST_KEYS, DEEPEST = 25, 12


def compacted(result: dict[str, Any], key: str, ctx: Context, size: int | None = None) -> dict[str, Any]:
    """`result` itself where it fits: its JSON has `size` bytes, measured here where that is not known. Else the whole
    answer goes to a file, long lists and texts are cut after whole items, `data.truncated` tells what was cut, and
    `mcp_resource_manifest` where everything is."""
    size = _size(result) if size is None else size
    written = written_files(result)
    if size <= LIMIT and not written:
        return result
    found = dict(result)
    if size > LIMIT:
        whole = result.get("data")
        small = _without_body(whole)
        found["data"] = _cut(small, _size(small) + size - _size(whole) - LIMIT + 4_000)
        resources = [_written(result, key, ctx)]
    else:
        resources = []
    resources += linked(written, MESSAGE - 2 * min(size, LIMIT // 2) - max(0, min(size, LIMIT) - LIMIT // 2))
    return found | manifest(resources)


def manifest(resources: list[dict[str, Any]]) -> dict[str, Any]:
    """The member of an answer that says where its files are."""
    return {"mcp_resource_manifest": {"strategy": "summary_with_resource_refs", "resources": resources}}


def written_files(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(kind, path) of the files that the operation wrote: chunks, its output, further outputs and figures."""
    data = result.get("data")
    if not isinstance(data, Mapping):
        return []
    found = [("chunk", path) for path in _paths(data.get("chunks"))]
    found += [("output", path) for path in _paths([data.get("output")])]
    for name in ("outputs", "figures"):
        found += [("output", path) for path in _paths(data.get(name)) if Path(path).is_absolute()]
    return list(dict.fromkeys(found)) if len(found) > 1 else found


def _paths(rows: Any) -> list[str]:
    """The paths of rows; a row of a report names its figures relative to the report."""
    held = [row.get("path") for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    return [path for path in held if isinstance(path, str)]


def linked(written: list[tuple[str, str]], room: int = LIMIT) -> list[dict[str, Any]]:
    """Their addresses, as far as there is room for them in a message: each stands there and in its text, and has a
    block of its own. All paths are in the data."""
    found = []
    for kind, path in written[:MOST_LINKS]:
        found.append(_resource(kind, path))
        room -= 3 * _size(found[-1]) + 100
        if room < 0:
            break
    return found


def _resource(kind: str, path: str) -> dict[str, Any]:
    mime = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return {"uri": f"{SCHEME}{kind}/{encode_text(path)}", "type": kind, "path": path, "mimeType": mime}


def failure(result: dict[str, Any]) -> dict[str, Any]:
    """A failed answer as it is where it is short; else its long texts and lists are cut. What was wrong is enough."""
    found: dict[str, Any] = result
    for length, count in ((2000, 50), (400, 20), (100, 5)):
        if _size(found) <= FAILURE:
            break
        found = _trimmed(result, length, count, 0)
    return found


def _trimmed(value: Any, length: int, count: int, depth: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= length else f"{value[:length]}... ({len(value)} characters)"
    if depth > DEEPEST:
        return None
    if isinstance(value, Mapping):
        kept = list(value.items())[: max(count, MOST_KEYS)]
        return {_trimmed(k, length, count, depth): _trimmed(v, length, count, depth + 1) for k, v in kept}
    if isinstance(value, list | tuple):
        kept = [_trimmed(v, length, count, depth + 1) for v in value[:count]]
        return kept if len(value) <= count else [*kept, f"... ({len(value)} in all)"]
    return value


def _without_body(data: Any) -> Any:
    """`data` without a raw body: its packed arrays mean nothing once they are cut."""
    body = data.get("body") if isinstance(data, Mapping) else None
    if not isinstance(body, Mapping):
        return data
    lists = {name: len(value) for name, value in body.items() if isinstance(value, list | Mapping)}
    return {**data, "body": {"omitted": True, "size_bytes": _size(body), "entries": lists}}


def encoded(value: Any) -> bytes:
    """Compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _size(value: Any) -> int:
    return len(encoded(value))


def _written(result: Mapping[str, Any], key: str, ctx: Context) -> dict[str, Any]:
    folder = output_folder(ctx)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / (key.replace(":", "-") + ".json")
    write_atomic(path, encoded(result), mode=0o600)
    return _resource("output", str(path))


def _cut(data: Any, excess: int) -> Any:
    """`data` without its longest parts until `excess` bytes are gone."""
    truncated: list[dict[str, Any]] = []
    found = data
    while excess > 0:
        path, longest = _longest(found, ())
        if longest is None:
            break
        kept = _shortened(longest, excess)
        saved = _size(longest) - _size(kept)
        if saved <= 0:
            break
        truncated.append(
            {"path": "data" + "".join(f"[{p!r}]" for p in path), "shown": len(kept), "total": len(longest)}
        )
        found = _replaced(found, path, kept)
        excess -= saved
    return {**found, "truncated": truncated} if isinstance(found, Mapping) and truncated else found


def _longest(value: Any, path: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
    """The innermost list or text that holds most of `value`."""
    if isinstance(value, str):
        return path, value if len(value) > 200 else None
    inner = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    sized = [(k, v, _size(v)) for k, v in inner if isinstance(v, str | list | Mapping)]
    if not sized:
        return path, value if isinstance(value, list) and len(value) > 1 else None
    name, part, size = max(sized, key=lambda row: row[2])
    if isinstance(value, list) and len(value) > 1 and size * 2 < _size(value):
        return path, value
    found = _longest(part, (*path, name))
    if found[1] is None and isinstance(value, list) and len(value) > 1:
        return path, value
    return found


def _shortened(part: Any, excess: int) -> Any:
    if isinstance(part, str):
        return part[: max(100, len(part) - excess)]
    kept: list[Any] = []
    size, room = 0, max(0, _size(part) - excess)
    for item in part:
        size += _size(item) + 1
        if size > room and kept:
            break
        kept.append(item)
    return kept if len(kept) < len(part) else part[: len(part) // 2]


def _replaced(value: Any, path: tuple[Any, ...], part: Any) -> Any:
    if not path:
        return part
    name, *rest = path
    inner = _replaced(value[name], tuple(rest), part)
    if isinstance(value, Mapping):
        return {**value, name: inner}
    return [*value[:name], inner, *value[name + 1 :]]
