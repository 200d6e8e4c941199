"""URLs as a cassette keeps them: on the logical host, without the key, every other byte as it was sent."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from urllib.parse import unquote

from keepa_cli.cassettes.rules import NAMED, Place, is_webhook, markup, patterns
from keepa_cli.core import jsontext
from keepa_cli.core.redact import URL_MARK, Redactor, is_marked, is_secret_name, parameters_redacted, replaced
from keepa_cli.core.views import views
from keepa_cli.keepa.wire import BASE_URL

_ORIGIN = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]{0,20}:)?[/\\]{2}[^/?#\\]*")
_ILLEGAL = re.compile(r"[\x00-\x20\x7f\"]")
"""What no client sends as it is."""
_SETS = re.compile(r"/tracking/?\?")
"""The request that gives Keepa an address to notify, through whatever base URL: `_pair` masks the address alone."""
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
    if is_webhook(url) and (not _SETS.match(rest) or is_webhook(url.partition("?")[0])):
        counts["webhook_url"] += 1
        rest = f"/{_MARK}"
    rest = _scrubbed(_ILLEGAL.sub(lambda m: f"%{ord(m[0]):02X}", rest), redactor, counts)
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
    counts["secret_parameter"] += clean is not joined
    found = [*patterns(clean), *markup(clean), *_json_values(clean)]
    counts.update(rule for rule, _, _ in found)
    return replaced(clean, [(start, end, URL_MARK) for _, start, end in found]).decode("utf-8", "replace")


def _json_values(data: bytes) -> Iterator[Place]:
    """The values of named members of JSON inside a query, such as `selection={"token":"..."}`."""
    for view in views(data):
        for name, start, end in jsontext.members(view.data, NAMED):
            if view.data[start : start + 1] == b'"' and end - start > 2 and not is_marked(view.data[start:end]):
                place = view.span(start + 1, end - 1)
                yield ("secret_field" if is_secret_name(name) else "personal_data"), *place


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
