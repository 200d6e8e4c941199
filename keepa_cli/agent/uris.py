"""keepa:// addresses: what they name, and how their parts are written."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from urllib.parse import unquote

SCHEME = "keepa://"
LONGEST = 20_000


@dataclass(frozen=True)
class Uri:
    """`keepa://collection/name/rest`, percent escapes undone."""

    collection: str
    name: str = ""
    rest: str = ""

    @property
    def decoded(self) -> str | None:
        """The text behind a base64url name; None where it is none."""
        return decode_text(self.name)


def parse_uri(text: str) -> Uri | None:
    """The parts of a keepa:// address; None for anything else."""
    if not text.startswith(SCHEME) or len(text) > LONGEST or not text.isprintable():
        return None
    parts = [unquote(p) for p in text[len(SCHEME) :].split("/")]
    if not parts[0] or any(p in {".", ".."} for p in parts):
        return None
    return Uri(parts[0], parts[1] if len(parts) > 1 else "", "/".join(parts[2:]))


def encode_text(text: str) -> str:
    """Text as base64url without padding, as the templates' encoded parts are written."""
    return base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode().rstrip("=")


def decode_text(name: str) -> str | None:
    try:
        return base64.urlsafe_b64decode(name.encode("ascii") + b"=" * (-len(name) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
