"""Cassette files: standard vcrpy YAML or JSON to exchanges and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.own_layout import read_own
from keepa_cli.cassettes.yaml_reader import Plain, Unsafe, read
from keepa_cli.core.errors import KeepaCliError, Kind

FORMAT_VERSION = 1
SIZE_LIMIT = 256 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def parse_cassette(data: bytes, file: str) -> list[Exchange]:
    """The exchanges of a vcrpy cassette. Raises `cassette_invalid`, which names `file` and what is wrong."""
    return from_plain(_load(data, file), file)


def load_cassette(path: Path, file: str | None = None) -> tuple[list[Exchange], bytes]:
    """The exchanges of the cassette at `path` and its bytes; `file` is its name in messages."""
    from keepa_cli.core.files import read_bytes

    data = read_bytes(path, limit=SIZE_LIMIT)
    return parse_cassette(data, file or str(path)), data


def dump_cassette(exchanges: Iterable[Exchange]) -> Iterator[bytes]:
    """The cassette file of `exchanges`: ASCII YAML with sorted keys that plain vcrpy loads. Bodies are streamed."""
    from keepa_cli.cassettes.yaml_writer import write

    return write(exchanges, FORMAT_VERSION)


def register(vcr: Any) -> None:
    """Register the serializer "keepa" with a vcr.VCR instance."""
    from keepa_cli.cassettes import vcr_serializer

    vcr.register_serializer("keepa", vcr_serializer)


def invalid_cassette(file: str, problem: str, **details: Any) -> KeepaCliError:
    """A `cassette_invalid` for `file`."""
    return KeepaCliError(
        Kind.CASSETTE_INVALID,
        f"{file} is not a usable cassette: {problem}.",
        details={"file": file, "problem": problem, **details},
    )


def _load(data: bytes, file: str) -> Any:
    if len(data) > SIZE_LIMIT:
        raise invalid_cassette(file, f"it has {len(data)} bytes and the limit is {SIZE_LIMIT}")
    data = data.removeprefix(_BOM)
    if data[:2] in _UTF16:
        raise invalid_cassette(file, "it is UTF-16, not UTF-8")
    if not data.strip():
        raise invalid_cassette(file, "it is empty")
    if data.lstrip()[:1] == b"{":
        return _load_json(data, file)
    own = read_own(data)
    return _load_yaml(data, file) if own is None else own


def _load_json(data: bytes, file: str) -> Any:
    try:
        return json.loads(data.decode(), object_pairs_hook=_unique)
    except UnicodeDecodeError as error:
        raise invalid_cassette(file, f"it is not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}"
        raise invalid_cassette(file, f"its JSON is broken or cut off at {where} ({error.msg})") from None
    except (ValueError, RecursionError) as error:
        raise invalid_cassette(file, f"its JSON cannot be read ({type(error).__name__}: {error})") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Unsafe("a key stands twice in one object")
    return found


def _load_yaml(data: bytes, file: str) -> Any:
    import yaml

    try:
        return read(data)
    except Unsafe as error:
        raise invalid_cassette(file, str(error)) from None
    except yaml.reader.ReaderError as error:
        raise invalid_cassette(file, f"it is not UTF-8 text (position {error.position}: {error.reason})") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}" if mark else "an unknown line"
        raise invalid_cassette(file, f"its YAML is broken or cut off at {where} ({error.problem})") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise invalid_cassette(file, f"its YAML cannot be read ({type(error).__name__})") from None


def from_plain(data: Any, file: str) -> list[Exchange]:
    """The exchanges in a decoded cassette document."""
    if not isinstance(data, dict):
        raise invalid_cassette(file, f"its top level is {_kind(data)}, not a mapping")
    if "interactions" not in data:
        raise invalid_cassette(file, "it has no `interactions`")
    if "version" not in data:
        raise invalid_cassette(file, f"`version: {FORMAT_VERSION}` is missing: it was cut off, or is no vcrpy cassette")
    version = data["version"]
    if str(version) != str(FORMAT_VERSION) or isinstance(version, bool):
        raise invalid_cassette(file, f"its version is {str(version)[:20]!r} and only {FORMAT_VERSION} is known")
    interactions = data["interactions"]
    if not isinstance(interactions, list):
        raise invalid_cassette(file, f"`interactions` is {_kind(interactions)}, not a list")
    return [_Reader(file, f"interactions[{n}]").exchange(item) for n, item in enumerate(interactions)]


class _Reader:
    """Reads one interaction and says where something is wrong."""

    def __init__(self, file: str, place: str) -> None:
        self.file = file
        self.place = place

    def fail(self, where: str, problem: str) -> NoReturn:
        place = f"{self.place}.{where}" if where else self.place
        raise invalid_cassette(self.file, f"{place} {problem}", place=place)

    def exchange(self, item: Any) -> Exchange:
        if not isinstance(item, dict):
            self.fail("", f"is {_kind(item)}, not a mapping")
        request, response = (self.mapping(item, name, "") for name in ("request", "response"))
        body, status = (self.mapping(response, name, "response.") for name in ("body", "status"))
        if "string" not in body:
            self.fail("response.body.string", "is missing")
        return Exchange(
            method=self.text(request, "method", "request."),
            url=self.url(request),
            request_headers=self.headers(request, "request."),
            request_body=self.body(request.get("body"), "request.body"),
            status=self.code(status.get("code")),
            reason=self.value(status.get("message"), "response.status.message"),
            headers=self.headers(response, "response."),
            body=self.body(body["string"], "response.body.string"),
        )

    def mapping(self, parent: dict[str, Any], name: str, prefix: str) -> dict[str, Any]:
        value = parent.get(name)
        if not isinstance(value, dict):
            self.fail(prefix + name, "is missing" if name not in parent else f"is {_kind(value)}, not a mapping")
        return value

    def text(self, parent: dict[str, Any], name: str, prefix: str) -> str:
        value = parent.get(name)
        if not isinstance(value, str) or not value:
            self.fail(prefix + name, "is missing" if name not in parent else f"is {_kind(value)}, not text")
        return str(value)

    def url(self, request: dict[str, Any]) -> str:
        url = self.text(request, "uri", "request.")
        try:
            parts = urlsplit(url)
            usable = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or True)
        except ValueError:
            usable = False
        if not usable:
            self.fail("request.uri", "is not an http(s) URL")
        return url

    def code(self, value: Any) -> int:
        text = str(value)
        if not (text.isascii() and text.isdigit() and 100 <= int(text[:9]) <= 599):
            self.fail("response.status.code", "is not an HTTP status")
        return int(text)

    def body(self, value: Any, where: str) -> bytes:
        if value is None:
            return b""
        if isinstance(value, bytes):
            return value
        if not isinstance(value, str) or isinstance(value, Plain):
            self.fail(where, f"is {_kind(value)}, not text")
        try:
            return value.encode()
        except UnicodeEncodeError:
            self.fail(where, "holds half a surrogate pair")

    def headers(self, parent: dict[str, Any], prefix: str) -> dict[str, list[str]]:
        found = parent.get("headers")
        if found is None:
            return {}
        if not isinstance(found, dict):
            self.fail(prefix + "headers", f"is {_kind(found)}, not a mapping")
        return {name: self.values(value, f"{prefix}headers") for name, value in found.items()}

    def values(self, value: Any, where: str) -> list[str]:
        many = value if isinstance(value, list) else [value]
        return [self.value(one, where) for one in many]

    def value(self, value: Any, where: str) -> str:
        if isinstance(value, bytes):
            return value.decode("latin-1")
        if value is None:
            return ""
        if isinstance(value, dict | list):
            self.fail(where, f"holds {_kind(value)} where text belongs")
        return str(value)


def _kind(value: Any) -> str:
    if isinstance(value, Plain):
        return f"the {value.tag} {str(value)[:20]}"
    names = {type(None): "null", dict: "a mapping", list: "a list", str: "text", bytes: "binary data"}
    return names.get(type(value), f"a value of type {type(value).__name__}")
