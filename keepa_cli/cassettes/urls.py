"""URLs as a cassette keeps them: on the logical host, without the key, every other byte as it was sent."""

from __future__ import annotations

import re
from collections import Counter
from urllib.parse import unquote

from keepa_cli.cassettes.rules import patterns
from keepa_cli.core.redact import URL_MARK, Redactor, is_secret_name, parameters_redacted, replaced
from keepa_cli.keepa.wire import BASE_URL

_ORIGIN = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]{0,20}:)?[/\\]{2}[^/?#\\]*")
_SEPARATOR = re.compile(r"([&;#])")
_NOT_SENT = "key"
_MARK = URL_MARK.decode()


def stored_url(url: str, redactor: Redactor, counts: Counter[str], *, relative: bool = False) -> str:
    """`url` for a cassette: the key gone, other secrets marked, scheme and host the logical ones.

    With `relative`, a URL that names no host stays without one (a Location).
    """
    origin = _ORIGIN.match(url)
    rest = url[origin.end() :] if origin else url
    counts["host"] += bool(origin) and origin[0] != BASE_URL if origin else 0
    rest = _scrubbed(rest, redactor, counts)
    if origin or not relative:
        rest = rest if rest[:1] in {"/", "?", "#"} or not rest else f"/{rest}"
        rest = rest if rest[:1] == "/" else f"/{rest}"
        return BASE_URL + rest
    return rest


def _scrubbed(rest: str, redactor: Redactor, counts: Counter[str]) -> str:
    before = rest.encode("utf-8", "surrogatepass")
    data = redactor.values(before, URL_MARK)
    counts["value"] += data is not before
    text = data.decode("utf-8", "replace")
    path, *pieces = split_query(text)
    pairs = list(zip(pieces[::2], pieces[1::2], strict=True))
    notify = any(_named(pair) == "type" and "webhook" in pair.lower() for _, pair in pairs)
    kept = [path]
    first = ""
    for mark, pair in pairs:
        name = _named(pair)
        if name == _NOT_SENT and mark != "#":
            counts["key_parameter"] += 1
            first = "?" if mark == "?" else first
            continue
        kept.append((first if mark in "&;" and first else mark) + _pair(name, pair, notify, counts))
        first = ""
    joined = "".join(kept).encode()
    clean = parameters_redacted(joined, URL_MARK)
    found = list(patterns(clean))
    counts.update(rule for rule, _, _ in found)
    return replaced(clean, [(start, end, URL_MARK) for _, start, end in found]).decode("utf-8", "replace")


def split_query(text: str) -> list[str]:
    """The path, then separators and pairs in turn; a later `?` belongs to a value."""
    path, question, query = text.partition("?")
    if "#" in path or not question:
        return _SEPARATOR.split(text)
    return [path, "?", *_SEPARATOR.split(query)]


def _named(pair: str) -> str:
    return unquote(pair.partition("=")[0]).strip().lower()


def _pair(name: str, pair: str, notify: bool, counts: Counter[str]) -> str:
    raw, equals, value = pair.partition("=")
    webhook = name.startswith("webhook") or (notify and name == "url")
    if not value or value == _MARK or not (webhook or is_secret_name(name)):
        return pair
    counts["webhook_url" if webhook else "secret_parameter"] += 1
    return raw + equals + _MARK


def stored_header(value: str, redactor: Redactor, counts: Counter[str]) -> str:
    """A header value that is a URL, or holds one, for a cassette."""
    return stored_url(value.strip(), redactor, counts, relative=True)
