"""What can be promoted: vcrpy cassettes, raw Keepa bodies and HAR files, told apart by their content."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from keepa_cli.cassettes.evidence import utc
from keepa_cli.cassettes.infer import given_request, infer_request
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.parts import outline
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import read_bytes, refuse_link
from keepa_cli.keepa.strictjson import BOM, load_json
from keepa_cli.keepa.wire import HOST

LIMIT = 56 << 20
"""The largest body; a file may be a quarter larger, as bodies are laid out in lines there."""
_FILE_LIMIT = LIMIT + LIMIT // 4
_BINARY = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"))
_JSON_TYPE = "application/json;charset=UTF-8"


@dataclass
class Imported:
    """The exchanges of an input file. `moments` and `durations_ms` hold one entry per exchange, None where unknown;
    `origin` is live, sandbox or import; `meta` is what the recorder noted beside the file."""

    kind: Literal["cassette", "raw", "har"]
    file: str
    sha256: str
    size: int
    exchanges: list[Exchange]
    origin: str = "import"
    moments: list[str | None] = field(default_factory=list)
    durations_ms: list[float | None] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)
    warnings: list[dict[str, Any]] = field(default_factory=list)

    def warn(self, code: str, message: str) -> None:
        self.warnings.append({"code": code, "message": message})


@dataclass(frozen=True)
class Hints:
    """What the caller says about an input: the request and status of a raw body, more hosts of a HAR file."""

    request: str | None = None
    status: int = 200
    hosts: tuple[str, ...] = ()


def load_input(path: Path, hints: Hints | None = None) -> Imported:
    """Read a file for promotion. Raises `cassette_invalid` or `io_error` naming the file; nothing is written."""
    refuse_link(path)
    data = read_bytes(path, limit=_FILE_LIMIT)
    chosen = hints or Hints()
    found = _sniff(data, path.name, chosen)
    if found.kind != "raw" and chosen.request:
        raise KeepaCliError(
            Kind.INVALID_ARGUMENTS,
            f"{path.name} holds its requests; --request is for raw bodies.",
            details={"field": "request"},
        )
    largest = max(len(e.body) for e in found.exchanges)
    if largest > LIMIT:
        raise broken(path.name, f"holds a body of {largest} bytes; the limit is {LIMIT}")
    _fill(found)
    return found


def _sniff(data: bytes, file: str, hints: Hints) -> Imported:
    text = data.removeprefix(BOM)
    first = re.match(rb"\s*+(.?)", text, re.DOTALL)
    start = first[1] if first else b""
    if not start:
        raise broken(file, "is empty")
    image = next((media for magic, media in _BINARY if data.startswith(magic)), None)
    if image:
        return _raw(data, None, file, hints, image)
    if start != b"{":
        return _other(data, text, file, start)
    try:
        view = outline(text)
    except ValueError as error:
        raise broken(file, f"is not complete JSON ({error})") from None
    if "interactions" in view:
        return _cassette(data, file)
    if isinstance(view.get("log"), dict) and "entries" in view["log"]:
        return read_har(data, file, hints.hosts)
    return _raw(text, view, file, hints, _JSON_TYPE)


def _other(data: bytes, text: bytes, file: str, start: bytes) -> Imported:
    """A YAML cassette, or something that can be named before the YAML reader is asked."""
    if data[:2] == b"\x1f\x8b":
        raise broken(file, "is compressed; unpack it first")
    try:
        value = load_json(text) if len(text) < 4096 or start == b"[" else ...
    except ValueError:
        value = ...
    if value is not ...:
        raise broken(file, f"holds a JSON {_type(value)}, not a cassette or a Keepa body")
    return _cassette(data, file)


def _cassette(data: bytes, file: str) -> Imported:
    from keepa_cli.cassettes.codec import parse_cassette

    exchanges = list(parse_cassette(data, file))
    if not exchanges:
        raise broken(file, "holds no interaction")
    return _imported("cassette", file, data, exchanges)


def _raw(body: bytes, view: Mapping[str, Any] | None, file: str, hints: Hints, media: str) -> Imported:
    """A body on its own; `view` is its shortened JSON, None for an image."""
    request = given_request(hints.request) if hints.request else infer_request(view or {}, file)
    url = request.url()
    exchange = Exchange(
        request.method, url, {}, b"", hints.status, _reason(hints.status), {"Content-Type": [media]}, body
    )
    found = _imported("raw", file, body, [exchange])
    found.moments = [_timestamp(view)]
    if not hints.request:
        shown = url.removeprefix(f"https://{HOST}")
        found.warn("request_inferred", f"The request {shown} was read off the body; --request names another one.")
    return found


def read_har(data: bytes, file: str, hosts: Sequence[str] = ()) -> Imported:
    """The exchanges with Keepa (or with `hosts`) of an HTTP archive, in the order they were started."""
    try:
        entries = load_json(data)["log"]["entries"]
    except ValueError as error:
        raise broken(file, f"is not complete JSON ({error})") from None
    wanted = {HOST, *(h.lower() for h in hosts)}
    found = _imported("har", file, data, [])
    if not isinstance(entries, list):
        raise broken(file, "is a HAR file whose log.entries is not a list")
    for number, entry in enumerate(entries):
        try:
            _add_entry(found, entry, wanted)
        except (KeyError, TypeError, ValueError, AttributeError, binascii.Error):
            raise broken(file, f"is a HAR file whose entry {number} is incomplete") from None
    if not found.exchanges:
        raise broken(file, f"is a HAR file without an answer of {', '.join(sorted(wanted))}")
    return found


def _add_entry(found: Imported, entry: dict[str, Any], wanted: set[str]) -> None:
    request, response = entry["request"], entry["response"]
    if (urlsplit(request["url"]).hostname or "").lower() not in wanted:
        return
    if not response["status"]:
        found.warn("unanswered", "A request without an answer was left out.")
        return
    content = response["content"]
    text = content.get("text")
    if text is None and content.get("size"):
        raise broken(found.file, "was saved without the bodies of its answers")
    body = base64.b64decode(text, validate=True) if content.get("encoding") == "base64" else (text or "").encode()
    sent = (request.get("postData") or {}).get("text") or ""
    found.exchanges.append(
        Exchange(
            str(request["method"]).upper(),
            request["url"],
            _headers(request["headers"]),
            sent.encode(),
            int(response["status"]),
            str(response.get("statusText") or ""),
            _headers(response["headers"], drop=("content-encoding", "content-length", "transfer-encoding")),
            body,
        )
    )
    found.moments.append(_moment(entry.get("startedDateTime")))
    found.durations_ms.append(float(entry["time"]) if isinstance(entry.get("time"), int | float) else None)


def _headers(pairs: list[dict[str, str]], drop: Sequence[str] = ()) -> dict[str, list[str]]:
    """Header pairs by name. A HAR body is already decoded, so what described its transfer is dropped."""
    headers: dict[str, list[str]] = {}
    for pair in pairs:
        if pair["name"].lower() not in drop and not pair["name"].startswith(":"):
            headers.setdefault(pair["name"], []).append(str(pair["value"]))
    return headers


def _imported(kind: Literal["cassette", "raw", "har"], file: str, data: bytes, exchanges: list[Exchange]) -> Imported:
    return Imported(kind, file, hashlib.sha256(data).hexdigest(), len(data), exchanges)


def _fill(found: Imported) -> None:
    missing = len(found.exchanges)
    found.moments += [None] * (missing - len(found.moments))
    found.durations_ms += [None] * (missing - len(found.durations_ms))


def read_meta(path: Path) -> dict[str, Any]:
    """The recorder's note beside a recording, {} where there is none or it is broken."""
    note = path.with_name(path.stem + ".meta.json")
    if note.is_symlink() or not note.is_file():
        return {}
    try:
        found = json.loads(read_bytes(note, limit=1 << 20))
    except (ValueError, RecursionError, KeepaCliError):
        return {}
    return found if isinstance(found, dict) else {}


def apply_meta(found: Imported, meta: Mapping[str, Any]) -> None:
    """Take origin, moments and durations from a recorder's note."""
    found.meta = dict(meta)
    if meta.get("origin") in {"live", "sandbox", "import"}:
        found.origin = meta["origin"]
    count = len(found.exchanges)
    recorded = meta.get("recorded_at")
    moments = recorded if isinstance(recorded, list) else [recorded] * count
    found.moments = [_moment(m) or old for m, old in zip(moments, found.moments, strict=False)][:count]
    durations = meta.get("durations_ms")
    if isinstance(durations, list):
        found.durations_ms = [float(d) if isinstance(d, int | float) else None for d in durations][:count]
    _fill(found)


def _timestamp(view: Mapping[str, Any] | None) -> str | None:
    """Keepa's own clock in a body: milliseconds since 1970."""
    value = (view or {}).get("timestamp")
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 10**14:
        return None
    return utc(datetime.fromtimestamp(value / 1000, UTC))


def _moment(text: Any) -> str | None:
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return utc(moment) if moment.tzinfo else None


def _reason(status: int) -> str:
    from http import HTTPStatus

    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _type(value: Any) -> str:
    names = ((type(None), "null"), (bool, "boolean"), (int | float, "number"), (str, "string"), (list, "list"))
    return next((name for kind, name in names if isinstance(value, kind)), "value")


def broken(file: str, why: str) -> KeepaCliError:
    """A `cassette_invalid` about an input file."""
    return KeepaCliError(Kind.CASSETTE_INVALID, f"{file} {why}.", details={"file": file}, next_actions=[])
