"""The ways a secret can be spelled in bytes, and what to search for to find them all."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote, quote_plus

from keepa_cli.core.views import NUMERIC, unescaped

SHORT = 4
"""A shorter secret is never searched inside other text: it would be found everywhere."""
_LOOSE = 12
"""From this length on, letter case and characters in between are ignored."""
BETWEEN = b" \t\r\n\f\v\\\0"


def encoded_forms(secret: str) -> dict[str, bytes]:
    """The usual spellings of `secret` by name, as they would stand in a file."""
    raw = secret.encode("utf-8", "surrogatepass")
    reserved = quote(raw, safe="").encode()
    every = "".join(f"%{c:02X}" for c in raw).encode()
    forms = {
        "raw": raw,
        "percent": reserved,
        "percent-lower": re.sub(rb"%..", lambda m: m[0].lower(), reserved),
        "percent-plus": quote_plus(raw, safe="").encode(),
        "percent-every": every,
        "percent-every-lower": every.lower(),
        "percent-double": quote(reserved, safe="").encode(),
        "json-slash": _json(secret, lambda c: c == "/", r"\/"),
        "json-unicode": _json(secret, lambda c: not c.isalnum()),
        "json-unicode-upper": _json(secret, lambda c: not c.isalnum(), upper=True),
        "json-unicode-every": _json(secret, lambda _: True),
        "html": "".join(c if c.isalnum() else f"&#{ord(c)};" for c in secret).encode("utf-8", "surrogatepass"),
        "html-hex": "".join(f"&#x{ord(c):X};" for c in secret).encode(),
        "hex": raw.hex().encode(),
        "hex-upper": raw.hex().upper().encode(),
    }
    for offset in range(3):
        forms[f"base64-{offset}"] = _inner_base64(raw, offset)
        forms[f"base64url-{offset}"] = forms[f"base64-{offset}"].translate(bytes.maketrans(b"+/", b"-_"))
    return forms


def _json(secret: str, chosen: Callable[[str], bool], written: str = "", *, upper: bool = False) -> bytes:
    def escape(char: str) -> str:
        units = char.encode("utf-16-be", "surrogatepass")
        codes = [units[i : i + 2].hex() for i in range(0, len(units), 2)]
        return "".join("\\u" + (code.upper() if upper else code) for code in codes)

    return "".join((written or escape(c)) if chosen(c) else c for c in secret).encode("utf-8", "surrogatepass")


def _inner_base64(raw: bytes, offset: int) -> bytes:
    """The part of the base64 text that does not depend on what stands before or after `raw`."""
    encoded = base64.b64encode(bytes(offset) + raw + bytes(3))
    return encoded[(0, 2, 3)[offset] : (offset + len(raw)) * 8 // 6]


@dataclass(frozen=True)
class Needles:
    """What to search for one secret: `loose` in folded lower case, `exact` as written, `short` in unsqueezed text.

    `numeric` are those of them that `without_numbers` could take for numbers.
    """

    loose: tuple[bytes, ...]
    exact: tuple[bytes, ...]
    short: tuple[bytes, ...]
    numeric: tuple[bytes, ...]
    wide: bool

    @classmethod
    def of(cls, secret: str) -> Needles:
        raw = secret.encode("utf-8", "surrogatepass")
        spellings = {raw, raw.replace(b" ", b"+")}
        squeezed = {s.translate(None, BETWEEN) for s in spellings}
        loose: set[bytes] = set()
        short: set[bytes] = set()
        if min(map(len, squeezed)) >= _LOOSE:
            read = {r.translate(None, BETWEEN).lower() for r in unescaped(raw, wide=not secret.isascii())}
            loose = {s.lower() for s in squeezed} | {r for r in read if len(r) >= _LOOSE} | {raw.hex().encode()}
        elif len(raw) >= SHORT:
            short = spellings | {raw.hex().encode(), raw.hex().upper().encode()}
        parts = {_inner_base64(raw, i) for i in range(3)} if len(raw) >= 8 else set()
        exact = parts | {p.translate(bytes.maketrans(b"+/", b"-_")) for p in parts}
        numeric = (n for n in loose | short | exact if not n.translate(None, NUMERIC))
        return cls(tuple(loose), tuple(exact), tuple(short), tuple(numeric), not secret.isascii())
