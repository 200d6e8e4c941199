"""A resource, a family of them, and what reading one gives."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from keepa_cli.agent.problems import ProtocolError, bad_params
from keepa_cli.agent.uris import Uri

if TYPE_CHECKING:
    from keepa_cli.agent.session import AgentSession
    from keepa_cli.agent.surface import Surface

LARGEST = 60_000
JSON, MARKDOWN = "application/json", "text/markdown"


@dataclass(frozen=True)
class Reading:
    """One read: the address, and who asks."""

    uri: Uri
    address: str
    session: AgentSession
    surface: Surface


@dataclass(frozen=True)
class Content:
    """What stands at an address. `blob` is base64 of bytes that are no text."""

    text: str | None = None
    mime: str = JSON
    blob: str | None = None

    def as_dict(self, address: str) -> dict[str, Any]:
        held = {"text": self.text} if self.text is not None else {"blob": self.blob}
        return {"uri": address, "mimeType": self.mime, **held}


Read = Callable[[Reading], Content]


@dataclass(frozen=True)
class _Offered:
    """What lists of both kinds say; `address` is the name of the member that holds `uri`."""

    uri: str
    name: str
    description: str
    read: Read
    mime: str = JSON
    address: ClassVar[str]

    def listed(self) -> dict[str, Any]:
        return {
            self.address: self.uri, "name": self.name, "title": self.name.replace("-", " ").capitalize(),
            "description": self.description, "mimeType": self.mime,
        }  # fmt: skip


class Resource(_Offered):
    """One address."""

    address = "uri"


class Template(_Offered):
    """A family of addresses with one variable part (or more)."""

    address = "uriTemplate"


def as_json(value: Any) -> Content:
    return Content(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def bounded(reading: Reading, content: Content) -> Content:
    """Content of at most 60 KB: what is larger is cut after whole items, says so, and names the file with all of it."""
    if content.mime != JSON or content.text is None or _size(content.text) <= LARGEST:
        return content
    from hashlib import sha256

    from keepa_cli.agent.compact import compacted

    name = "resource-" + sha256(content.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    cut = compacted({"data": json.loads(content.text)}, name, reading.session.ctx)
    return as_json(cut.pop("data") | cut)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def not_found(reading: Reading, why: str = "") -> ProtocolError:
    return bad_params("Resource not found", uri=reading.address[:500], **({"reason": why} if why else {}))


def call(reading: Reading, command: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The data of an operation that runs in the asking session. Raises a ProtocolError where it fails."""
    found = reading.session.call(command, params)
    if not found["ok"]:
        raise not_found(reading, found["error"]["message"])
    data: dict[str, Any] = found["data"]
    return data


def tool_call(reading: Reading, tool: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The same for the operation behind a tool; a program without it has no such resource."""
    known = reading.surface.tools.get(tool)
    if known is None:
        raise not_found(reading)
    return call(reading, known.op.name, params)
