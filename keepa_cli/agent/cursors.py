"""Opaque cursors: signed, and bound to the collection, the filters and the version of the surface."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Any

from keepa_cli.agent.problems import bad_params

VERSION = 1
LARGEST_PAGE = 100


class Pager:
    """Cuts lists into pages. Every process has a key of its own: a cursor is good for the server that gave it."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def page(
        self,
        collection: str,
        items: Sequence[Any],
        params: Mapping[str, Any],
        filters: Mapping[str, Any],
        first: int | None = None,
    ) -> dict[str, Any]:
        """`{collection: [...], _meta: {total_count, has_more, ...}}`, with `nextCursor` unless this is the last page.

        `first` is the size of a first page without a limit; everything comes in one page otherwise. Raises a
        ProtocolError for a cursor that was edited or belongs to other filters, and for a limit out of range.
        """
        offset = self._offset(collection, params.get("cursor"), filters)
        limit = _limit(params.get("limit")) or (first if first and not offset else None) or len(items)
        shown = list(items[offset : offset + limit])
        after = offset + len(shown)
        more = after < len(items)
        meta = {"total_count": len(items), "has_more": more, "offset": offset, "limit": limit}
        found: dict[str, Any] = {collection: shown, "_meta": meta}
        return found | ({"nextCursor": self._cursor(collection, after, filters)} if more else {})

    def _cursor(self, collection: str, offset: int, filters: Mapping[str, Any]) -> str:
        payload = json.dumps([VERSION, collection, offset, _print(filters)], separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(self._sign(payload) + payload).decode().rstrip("=")

    def _offset(self, collection: str, cursor: Any, filters: Mapping[str, Any]) -> int:
        if cursor is None:
            return 0
        refused = bad_params("The cursor is not one that this server gave for this list.", collection=collection)
        if not isinstance(cursor, str) or len(cursor) > 1000:
            raise refused
        try:
            raw = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        except ValueError:
            raise refused from None
        if base64.urlsafe_b64encode(raw).decode().rstrip("=") != cursor:
            raise refused  # the decoder passes over characters that it does not know
        sign, payload = raw[:16], raw[16:]
        if not hmac.compare_digest(sign, self._sign(payload)):
            raise refused
        version, name, offset, filtered = json.loads(payload)
        if (version, name, filtered) != (VERSION, collection, _print(filters)):
            raise refused
        return int(offset)

    def _sign(self, payload: bytes) -> bytes:
        return hmac.new(self._key, payload, hashlib.sha256).digest()[:16]


def _print(filters: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(dict(filters), sort_keys=True, default=str).encode()).hexdigest()[:16]


def _limit(given: Any) -> int | None:
    if given is None:
        return None
    if type(given) is not int or not 1 <= given <= LARGEST_PAGE:
        raise bad_params(f"limit is a number from 1 to {LARGEST_PAGE}.", limit=given if type(given) is int else None)
    return given
