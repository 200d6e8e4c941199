"""A key that is easy to recognise, the ways it can be spelled, the places it can stand in, and a detector of its own.

`leaked` shares no code with the product: it undoes encodings with the standard library alone.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import html
import json
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from urllib.parse import quote, unquote_to_bytes

from keepa_cli.cassettes.model import Exchange

KEY = "sk-CANARY/9f+8e=ab"
EMAIL = "canary.seller@canary-shop.example"
WEBHOOK = "https://hooks.canary-shop.example/webhook/T0CANARY"
PHONE = "+49 30 0CANARY1"
PERSONAL = (EMAIL, WEBHOOK, PHONE)
API = "https://api.keepa.com"

Encode = Callable[[str], bytes]
Build = Callable[[bytes], Exchange]


def _percent(text: str, *, every: bool = False, lower: bool = False, times: int = 1) -> bytes:
    out = "".join(f"%{c:02X}" for c in text.encode()) if every else quote(text, safe="")
    for _ in range(times - 1):
        out = out.replace("%", "%25")
    return (re.sub("%..", lambda m: m[0].lower(), out) if lower else out).encode()


def _unicode(text: str, *, every: bool = False, upper: bool = False, slashes: int = 1) -> bytes:
    digits = "04X" if upper else "04x"
    escape = "\\" * slashes + "u"
    return "".join(escape + format(ord(c), digits) if every or not c.isalnum() else c for c in text).encode()


def _base64(text: bytes, offset: int = 0, *, url: bool = False) -> bytes:
    encode = base64.urlsafe_b64encode if url else base64.b64encode
    return encode(b"xyz"[:offset] + text + b"~?")


def _mixed(text: str) -> bytes:
    ways: list[Callable[[str], str]] = [
        lambda c: c,
        lambda c: f"%{ord(c):02x}",
        lambda c: f"\\u{ord(c):04X}",
        lambda c: f"%25{ord(c):02X}",
        lambda c: f"&#{ord(c)};",
        lambda c: f"&#x{ord(c):x};",
    ]
    return "".join(ways[i % len(ways)](c) for i, c in enumerate(text)).encode()


def encodings() -> dict[str, Encode]:
    """Spellings of a key by name; each gives plain ASCII bytes that fit into a URL, a header or a JSON string."""
    found: dict[str, Encode] = {
        "raw": lambda k: k.encode(),
        "percent": _percent,
        "percent lower": lambda k: _percent(k, lower=True),
        "percent every": lambda k: _percent(k, every=True),
        "percent every lower": lambda k: _percent(k, every=True, lower=True),
        "percent double": lambda k: _percent(k, times=2),
        "percent triple every": lambda k: _percent(k, times=3, every=True),
        "json slash": lambda k: json.dumps(k).strip('"').replace("/", "\\/").encode(),
        "json slash twice": lambda k: json.dumps(k).strip('"').replace("/", "\\\\\\/").encode(),
        "json unicode": _unicode,
        "json unicode upper": lambda k: _unicode(k, upper=True),
        "json unicode every": lambda k: _unicode(k, every=True),
        "json unicode twice": lambda k: _unicode(k, slashes=2),
        "html decimal": lambda k: "".join(f"&#{ord(c)};" for c in k).encode(),
        "html hex": lambda k: "".join(f"&#x{ord(c):X};" for c in k).encode(),
        "html named": lambda k: k.replace("/", "&sol;").replace("+", "&plus;").replace("=", "&equals;").encode(),
        "mixed": _mixed,
        "hex": lambda k: k.encode().hex().encode(),
        "hex upper": lambda k: k.encode().hex().upper().encode(),
        "base64 of percent": lambda k: _base64(b"?key=" + _percent(k)),
        "base64 of base64": lambda k: _base64(_base64(k.encode(), 1)),
        "base64 of gzip": lambda k: base64.b64encode(gzip.compress(b"key: " + k.encode())),
    }
    for offset in range(3):
        found[f"base64 {offset}"] = lambda k, o=offset: _base64(k.encode(), o)
        found[f"base64 url {offset}"] = lambda k, o=offset: _base64(k.encode(), o, url=True)
    return found


def leaked(data: bytes, key: str = KEY, depth: int = 3) -> list[str]:
    """The forms of `key` that a patient reader finds in `data`."""
    raw = key.encode()
    data = data if b"\0" not in data else data + b" " + data.replace(b"\0", b"")
    found = {f"text, layer {i}" for i, text in enumerate(_layers(data)) if _flat(raw) in _flat(text)}
    found |= {"hex"} if raw.hex().encode() in data.lower() else set()
    if depth:
        for text in _layers(data):
            for piece in _packed(text):
                found |= {f"packed, {form}" for form in leaked(piece, key, depth - 1)}
    return sorted(found)


def _flat(data: bytes) -> bytes:
    return re.sub(rb"[\s\\\0]", b"", data)


def _layers(data: bytes) -> Iterator[bytes]:
    for _ in range(6):
        yield data
        once = unquote_to_bytes(data)
        once = re.sub(rb"\\+u00([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), once)
        once = html.unescape(once.decode("latin-1")).encode("latin-1", "replace")
        if once == data:
            return
        data = once


def _packed(data: bytes) -> Iterator[bytes]:
    """What is inside compressed streams and base64 words."""
    for at in [m.start() for m in re.finditer(rb"\x1f\x8b|\x78[\x01\x5e\x9c\xda]", data)][:50]:
        for bits in (47, 31):
            try:
                yield zlib.decompressobj(bits).decompress(data[at:])
            except zlib.error:
                continue
    joined = re.sub(rb"\n[ ]*", b"", data)
    for text in {data, joined}:
        for word in set(re.findall(rb"[A-Za-z0-9+/_-]{16,}", text)):
            for offset in range(4):
                part = word[offset:].replace(b"-", b"+").replace(b"_", b"/")
                try:
                    yield base64.b64decode(part + b"=" * (-len(part) % 4))
                except binascii.Error:
                    continue


def exchange(
    url: str = f"{API}/product?domain=1&asin=B00AAAAAA1",
    body: bytes = b'{"tokensLeft":1,"big":12345678901234567890123,"price":1.10}',
    *,
    sent: bytes = b"",
    method: str = "GET",
    status: int = 200,
    reason: str = "OK",
    asks: dict[str, list[str]] | None = None,
    **headers: list[str],
) -> Exchange:
    """An exchange; `headers` are the answer's, with `_` for `-`."""
    named = {name.replace("_", "-"): values for name, values in headers.items()}
    return Exchange(
        method=method,
        url=url,
        request_headers=asks or {"Accept": ["application/json"]},
        request_body=sent,
        status=status,
        reason=reason,
        headers={"Content-Type": ["application/json;charset=UTF-8"]} | named,
        body=body,
    )


def png(*chunks: tuple[bytes, bytes]) -> bytes:
    """A 1x1 picture with further chunks after its header."""
    parts = [(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)), *chunks]
    parts += [(b"IDAT", zlib.compress(b"\0\0\0\0")), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(d)) + n + d + struct.pack(">I", zlib.crc32(n + d)) for n, d in parts
    )


def placements() -> dict[str, Build]:
    """Where a spelled key can stand in an exchange, by name."""
    from tests.cassettes.placements import bodies, headers, requests

    return requests() | headers() | bodies()
