"""Why replay has no answer: the nearest recording, what differs, and the command that would record it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from keepa_cli.cassettes.fingerprint import normal_path, query_pairs, request_path
from keepa_cli.cassettes.foreign import Foreign
from keepa_cli.cassettes.listing import Entry, Listing
from keepa_cli.cassettes.loading import read_head
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.redact import REDACTED

if TYPE_CHECKING:
    from keepa_cli.keepa.wire import WireRequest

Pairs = Sequence[tuple[str, str]]

SHOWN = frozenset(
    {
        *("all", "amazon", "aplus", "asin", "asins-only", "bb", "bbu", "buybox", "category", "code", "code-limit"),
        *("days", "domain", "fba", "fbm", "height", "historical-variations", "ld", "legend", "lw", "month"),
        *("monthlysold", "new", "pe", "readonly", "revise", "salesrank", "since", "sublist", "subranks", "title"),
        *("types", "used", "wd", "width", "year", "yzoom"),
        *("history", "name", "offers", "only-live-offers", "page", "parents", "perpage", "productgroup", "range"),
        *("rating", "search", "selection", "seller", "sellerid", "sort", "state", "stats", "stock", "storefront"),
        *("sub", "term", "type", "update", "variations", "videos"),
    }
)
"""Query parameters of Keepa whose values are no secrets."""
_SECRET_LIKE = re.compile(r"[A-Za-z0-9+/_=-]{32,}|://|@")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,31}")
_HEAD = re.compile(rb"^    method: ([A-Z]+)\n    uri: (.+)$", re.MULTILINE)
_HEAD_BYTES = 8192
_MOST_COMPARED = 2000
_LONGEST_VALUE = 80
_OTHER_PATH, _OTHER_METHOD = 100, 50
_PLACEHOLDER = "VALUE"


class Recorded(NamedTuple):
    """What a recorded request is compared by."""

    method: str
    path: str
    pairs: tuple[tuple[str, str], ...]
    pair_set: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, method: str, url: str) -> Recorded:
        pairs = tuple(query_pairs(url))
        return cls(method, request_path(url), pairs, frozenset(pairs))


def no_answer(
    print_: str,
    request: WireRequest,
    listings: Sequence[Listing],
    foreign: Foreign,
    heads: dict[Entry, Recorded | None],
) -> KeepaCliError:
    """The `cassette_miss` of a request that was never recorded. `heads` remembers what was read for it."""
    nearest = _nearest(request, listings, foreign, heads)
    reason, text = _reason(request, nearest, listings)
    details = _details(print_, request, reason) | {"nearest": nearest}
    details["searched"] = [str(listing.root) for listing in listings]
    if foreign.unreadable:
        details["unreadable"] = dict(sorted(foreign.unreadable.items())[:20])
        broken = "; ".join(f"{file}: {why}" for file, why in list(details["unreadable"].items())[:3])
        text += f" Not searched, because unreadable: {broken}."
    return _miss(request, text, details)


def used_up(print_: str, request: WireRequest, entry: Entry, count: int) -> KeepaCliError:
    """The `cassette_miss` of a request whose answers were all played once."""
    text = (
        f"all {count} recorded answers for this request have been used (file {entry.logical})."
        ' To repeat the last one, open the library with repeats="hold_last".'
    )
    same = {"name": entry.name, "file": entry.logical, "method": request.method, "path": request.path}
    details = _details(print_, request, "used_up") | {"recorded": count, "nearest": same | {"differences": []}}
    return _miss(request, text, details)


def no_fixture(name: str, listings: Sequence[Listing]) -> KeepaCliError:
    """A `fixture_not_found` with the names that come close."""
    import difflib

    names = sorted({entry.name for listing in listings for entry in listing.entries()})
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    skipped = {
        relative: why
        for listing in listings
        for relative, why in listing.skipped.items()
        if relative.rpartition("/")[2].startswith(name + ".")
    }
    text = f"There is no fixture {name!r}."
    if skipped:
        text += " " + " ".join(f"{file} is {why}." for file, why in sorted(skipped.items()))
    elif close:
        text += f" Near: {', '.join(close)}."
    roots = [str(listing.root) for listing in listings]
    details = {"name": name, "near": close, "skipped": skipped, "searched": roots}
    return KeepaCliError(Kind.FIXTURE_NOT_FOUND, text, details=details)


def _miss(request: WireRequest, text: str, details: dict[str, Any]) -> KeepaCliError:
    message = f"No recording answers {request.method} {_shown_path(request.path)} in mode replay: {text}"
    return KeepaCliError(Kind.CASSETTE_MISS, message, details=details, next_actions=[details["record_command"]])


def _details(print_: str, request: WireRequest, reason: str) -> dict[str, Any]:
    return {
        "fingerprint": print_,
        "mode": "replay",
        "method": request.method,
        "path": _shown_path(request.path),
        "parameters": [_shown_name(name) for name, _ in _query(request)],
        "reason": reason,
        "record_command": record_command(request),
    }


def _query(request: WireRequest) -> list[tuple[str, str]]:
    return [(name, value) for name, value in request.query if name.lower() != "key"]


def record_command(request: WireRequest) -> str:
    """A shell command that records this request. Values that may be secret are left to the reader."""
    words = ["kc", "request", request.method.lower(), _shown_path(request.path)]
    for name, value in _query(request):
        words += ["--param", f"{_shown_name(name)}={value if _may_show(name, value) else _PLACEHOLDER}"]
    if request.body:
        words += ["--body", _PLACEHOLDER]
    return shlex.join([*words, "--record"])


def _reason(request: WireRequest, nearest: dict[str, Any] | None, listings: Sequence[Listing]) -> tuple[str, str]:
    if nearest is None:
        if any(True for listing in listings for _ in listing.entries()):
            return "nothing_similar", "no recording resembles it."
        folders = ", ".join(str(listing.root) for listing in listings) or "no folder"
        return "empty_library", f"the library holds no cassettes (searched: {folders})."
    where = f"nearest is {nearest['name']} (file {nearest['file']})"
    if nearest["path"] != _shown_path(normal_path(request.path)):
        return "other_path", f"{where}, which is for {nearest['path']}."
    if nearest["method"] != request.method:
        return "other_method", f"{where}, which is a {nearest['method']}."
    told = "; ".join(_difference_text(d) for d in nearest["differences"][:6])
    return "parameters_differ", f"{where}, where {told or 'only the order or the body differs'}."


def _difference_text(difference: dict[str, Any]) -> str:
    name, asked, recorded = difference["parameter"], difference["asked"], difference["recorded"]
    if recorded is None:
        return f"{name} is not set (asked {asked})"
    return f"{name} is {recorded} ({'not asked' if asked is None else f'asked {asked}'})"


def _nearest(
    request: WireRequest, listings: Sequence[Listing], foreign: Foreign, heads: dict[Entry, Recorded | None]
) -> dict[str, Any] | None:
    path, asked = normal_path(request.path), _query(request)
    wanted = frozenset(asked)
    best: tuple[int, str, Entry, Recorded] | None = None
    for entry, recorded in _candidates(path, listings, foreign, heads):
        apart = len(wanted ^ recorded.pair_set)
        apart += _OTHER_PATH * (recorded.path != path) + _OTHER_METHOD * (recorded.method != request.method)
        if best is None or (apart, entry.relative) < best[:2]:
            best = (apart, entry.relative, entry, recorded)
    if best is None:
        return None
    _, _, entry, recorded = best
    differences = parameter_differences(asked, recorded.pairs) if recorded.path == path else []
    if recorded.path == path and recorded.method == request.method and not differences:
        differences = [{"parameter": "(body)", "asked": "another body", "recorded": "its body"}]
    return {
        "name": entry.name,
        "file": entry.logical,
        "method": recorded.method,
        "path": _shown_path(recorded.path),
        "differences": differences,
    }


def _candidates(
    path: str, listings: Sequence[Listing], foreign: Foreign, heads: dict[Entry, Recorded | None]
) -> Iterator[tuple[Entry, Recorded]]:
    """Requests of the same endpoint first; of any other only when there are none."""
    promoted = [entry for listing in listings for many in listing.named.values() for entry in many]
    folder = path.strip("/").partition("/")[0].lower()
    same = [entry for entry in promoted if entry.folder.lower() == folder]
    for entry in (same or promoted)[:_MOST_COMPARED]:
        if entry not in heads:
            heads[entry] = _head(entry)
        recorded = heads[entry]
        if recorded is not None:
            yield entry, recorded
    for entry, method, url in foreign.requests():
        yield entry, Recorded.of(method, url)


def _head(entry: Entry) -> Recorded | None:
    """The request of a promoted cassette, read from the first lines of its file."""
    match = _HEAD.search(read_head(entry.path, _HEAD_BYTES))
    url = _unquoted(match[2].decode("ascii", "replace").strip()) if match else None
    return Recorded.of(match[1].decode(), url) if match and url else None


def _unquoted(text: str) -> str | None:
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except ValueError:
            return None
    return text


def parameter_differences(asked: Pairs, recorded: Pairs) -> list[dict[str, Any]]:
    """Which parameters differ, with both values where they may be shown; None where one is not set."""
    ours, theirs = _grouped(asked), _grouped(recorded)
    found: list[dict[str, Any]] = []
    for name in list(dict.fromkeys([*ours, *theirs])):
        if ours.get(name) != theirs.get(name):
            found += _difference(name, ours.get(name), theirs.get(name))
    return found


def _difference(name: str, asked: list[str] | None, recorded: list[str] | None) -> Iterator[dict[str, Any]]:
    inner = [_json_object(values) for values in (asked, recorded)]
    if name in SHOWN and inner[0] is not None and inner[1] is not None:
        for key in dict.fromkeys([*inner[0], *inner[1]]):
            pair = [obj.get(key) for obj in inner if obj is not None]
            if pair[0] != pair[1]:
                shown = [None if value is None else _shown_value(name, json.dumps(value)) for value in pair]
                yield {"parameter": f"{name}.{_shown_name(key)}", "asked": shown[0], "recorded": shown[1]}
        return
    yield {
        "parameter": _shown_name(name),
        "asked": None if asked is None else _shown_value(name, ",".join(asked)),
        "recorded": None if recorded is None else _shown_value(name, ",".join(recorded)),
    }


def _json_object(values: list[str] | None) -> dict[str, Any] | None:
    if not values or not values[0].startswith("{"):
        return None
    try:
        found = json.loads(values[0])
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name, value in pairs:
        grouped.setdefault(name, []).append(value)
    return {name: sorted(values) for name, values in grouped.items()}


def _may_show(name: str, value: str) -> bool:
    return name.lower() in SHOWN and value.isprintable() and not _SECRET_LIKE.search(value)


def _shown_value(name: str, value: str) -> str:
    if not _may_show(name, value):
        return REDACTED
    return value if len(value) <= _LONGEST_VALUE else value[:_LONGEST_VALUE] + "..."


def _shown_name(name: str) -> str:
    return name if _NAME.fullmatch(name) else "(unnamed)"


def _shown_path(path: str) -> str:
    """The path, without segments that look like a key."""
    parts = [REDACTED if _SECRET_LIKE.search(part) or not part.isprintable() else part for part in path.split("/")]
    return "/".join(parts)[:200]
