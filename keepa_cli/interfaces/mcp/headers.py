"""Headers of HTTP requests as the guard reads them."""

from __future__ import annotations

from collections.abc import Iterable

ACCEPT = b"application/json, text/event-stream"
OFFERED = ("application/json", "text/event-stream")


class Headers:
    """Raw headers by lower-case name. A header that is given twice with different values counts as its joined text."""

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self._raw = [(name.lower(), value) for name, value in raw]
        self._values: dict[bytes, list[bytes]] = {}
        for name, value in self._raw:
            self._values.setdefault(name, []).append(value)

    def one(self, name: str) -> str | None:
        values = self._values.get(name.encode())
        if values is None:
            return None
        found = [value.decode("latin-1").strip() for value in values]
        return found[0] if len(found) == 1 else ", ".join(dict.fromkeys(found))

    def completed(self, length: int | None, *, stateless: bool = False) -> list[tuple[bytes, bytes]]:
        """The headers as the SDK wants them: what a client may leave out is filled in, and a request that belongs to
        no session names none."""
        changed = {b"content-length", b"transfer-encoding", b"content-type", b"accept"} if length is not None else set()
        if stateless:
            changed.add(b"mcp-session-id")
        kept = [(n, v) for n, v in self._raw if n not in changed]
        if length is None:
            return kept
        own = [(b"content-type", b"application/json"), (b"accept", ACCEPT)]
        return [*kept, *own, (b"content-length", str(length).encode())]


def is_json(content_type: str | None) -> bool:
    """Whether a body of this type is JSON; a type that is not given says nothing against it."""
    if content_type is None:
        return True
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def accepts(accept: str | None) -> bool:
    """Whether a client takes one of the types that are offered; without the header it takes any."""
    if accept is None or not accept.strip():
        return True
    for part in accept.split(","):
        kind, *parameters = (p.strip().lower() for p in part.split(";"))
        weight = next((p[2:].strip() for p in parameters if p.startswith("q=")), "1")
        if kind in {*OFFERED, "*/*", "application/*", "text/*"} and not _is_zero(weight):
            return True
    return False


def _is_zero(weight: str) -> bool:
    try:
        return float(weight) <= 0
    except ValueError:
        return False
