"""The search for what must not be in a file: the key in any spelling, key-shaped values, cookies, addresses.

Findings name the file, the place, the rule and the form, never a value.
"""

from __future__ import annotations

import base64
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from keepa_cli.cassettes import content, rules
from keepa_cli.cassettes.model import Exchange, Finding
from keepa_cli.core import jsontext
from keepa_cli.core.files import read_bytes
from keepa_cli.core.redact import Redactor, is_marked, is_secret_name, replaced, secret_parameters
from keepa_cli.core.views import unescaped, views, windows, without_numbers

RULES = {
    "configured_key": "the configured key, in the form named",
    "key_shape": "a value shaped like a Keepa key",
    "secret_parameter": "a URL parameter with a secret name and a value",
    "secret_field": "a field with a secret name and a value",
    "cookie_header": "a cookie header",
    "credentials_header": "a header with credentials",
    "email": "an e-mail address",
    "webhook_url": "the address of a webhook",
    "personal_data": "a field with personal data of a seller",
    "unreadable": "packed content that is too big to look into",
}

HEADER_RULES = {"cookie_header", "credentials_header"}

Hit = tuple[str, str, int]
"""Rule, form and offset."""

_PROSE = {".md", ".txt", ".html", ".csv", ".rst"}
_PROSE_VALUE = 16
_MOST = 200
_SIZE_LIMIT = 512 * 1024 * 1024
_NOT_WORD = bytes(c if chr(c).isalnum() and c < 128 else 32 for c in range(256))
_LOWER_KEY = re.compile(rb"(?<![A-Za-z0-9])(?=[a-f0-9]{0,63}[g-z])(?=[a-z]{0,63}[0-9])[a-z0-9]{64}(?![A-Za-z0-9])")
_MIXED_KEY = re.compile(
    rb"(?<![A-Za-z0-9+/=_-])(?=[A-Fa-f0-9]{0,63}[G-Zg-z])(?=[A-Za-z]{0,63}[0-9])[A-Za-z0-9]{64}(?![A-Za-z0-9+/_-])"
)
_BINARY = re.compile(
    rb"!!binary(?:[ \t]*[|>][-+0-9]*[ \t]*\r?\n((?:[ \t]+[A-Za-z0-9+/=]+[ \t]*(?:\r?\n|\Z))+)|[ \t]+(\S+))"
)
_NAMED = rules.NAMED.encode()
_INNER_FIELD = re.compile(
    rb'(?<!\\)\\+"((?i:'
    + _NAMED
    + rb'))\\+"[ \t]*:[ \t]*'
    + rules.NOT_MARKED
    + rb'(?:\[[ \t]*)?(?:\\+"([^"\\]*)|(?!null|true|false|\d{1,4}\b)([A-Za-z0-9][^\s",\[\]{}\\]*))'
)
_ANY_FIELD = re.compile(rb'"(?i:' + _NAMED + rb')\\*"[ \t\r\n]*:|' + jsontext.ESCAPED_NAME)


def scan_paths(paths: Iterable[Path], redactor: Redactor) -> list[Finding]:
    """The findings in files and, recursively, in the files of folders. Links are not followed."""
    found: list[Finding] = []
    for path in paths:
        files = sorted(p for p in path.rglob("*") if p.is_file() and not p.is_symlink()) if path.is_dir() else [path]
        for file in files:
            found += scan_bytes(read_bytes(file, limit=_SIZE_LIMIT), str(file), redactor)
    return found


def scan_bytes(data: bytes, file: str, redactor: Redactor) -> list[Finding]:
    """The findings in the bytes of a file, in what is packed or encoded inside them, and in the file's name."""
    scan = _Scan(file, redactor)
    scan.name(file)
    scan.look(data, "")
    return scan.findings


def scan_exchange(exchange: Exchange, file: str, redactor: Redactor) -> list[Finding]:
    """The findings in the parts of an exchange."""
    scan = _Scan(file, redactor)
    scan.look(exchange.method.encode("utf-8", "surrogatepass"), "request.method")
    scan.look(exchange.url.encode("utf-8", "surrogatepass"), "request.url")
    scan.headers(exchange.request_headers, "request.headers")
    scan.look(exchange.request_body, "request.body")
    scan.look(exchange.reason.encode("utf-8", "surrogatepass"), "response.reason")
    scan.headers(exchange.headers, "response.headers")
    scan.look(exchange.body, "response.body")
    return scan.findings


class _Scan:
    def __init__(self, file: str, redactor: Redactor) -> None:
        self.redactor = redactor
        self.file = redactor.text(file)
        self.prose = PurePosixPath(file).suffix.lower() in _PROSE
        self.findings: list[Finding] = []

    def add(self, rule: str, form: str, location: str) -> None:
        finding = Finding(self.file, location, rule, form)
        if finding not in self.findings and len(self.findings) < _MOST:
            self.findings.append(finding)

    def name(self, file: str) -> None:
        for form in self.redactor.find(file.encode("utf-8", "surrogatepass")):
            self.add("configured_key", form, "file name")

    def headers(self, headers: Mapping[str, list[str]], place: str) -> None:
        for name, values in headers.items():
            shown = f"{place}.{_safe(name, self.redactor)}"
            self.look(name.encode("utf-8", "surrogatepass"), f"{place} (a name)")
            if is_secret_name(name) and not all(is_marked(v.encode("utf-8", "surrogatepass")) for v in values):
                self.add("cookie_header" if "cookie" in name.lower() else "credentials_header", "raw", shown)
            for value in values:
                self.look(value.encode("utf-8", "surrogatepass"), shown)

    def look(self, data: bytes, place: str, depth: int = 0) -> None:
        """Search `data`, then what is packed inside it."""
        if not data or depth > 3:
            return None
        if data[:3] == content.GZIP:
            return self.packed(data, place, depth)
        hits = [("configured_key", form, start) for form, start, _ in self.redactor.places(data)]
        text = data if b"!!binary" not in data else self.blocks(data, place, depth)
        if content.is_text(data):
            hits += self.hits(text)
        else:
            self.inside(data, place, depth)
        for (rule, form, _), location in zip(hits, _locations(data, [h[2] for h in hits]), strict=True):
            self.add(rule, form, f"{place} {_safe(location, self.redactor)}".strip())
        return None

    def packed(self, data: bytes, place: str, depth: int) -> None:
        try:
            plain = content.gunzipped(data)
        except content.Undecodable:
            return self.add("unreadable", "gzip", place or "offset 0")
        return self.look(plain, f"{place} gzip".strip(), depth + 1)

    def blocks(self, data: bytes, place: str, depth: int) -> bytes:
        """`data` with the base64 blocks of YAML blanked out, after a look into them."""
        edits: list[tuple[int, int, bytes]] = []
        line, at = 1, 0
        for match in _BINARY.finditer(data):
            group = 1 if match[1] else 2
            line, at = line + data.count(b"\n", at, match.start()), match.start()
            try:
                plain = base64.b64decode(match[group])
            except ValueError:
                continue
            edits.append((*match.span(group), b" " * (match.end(group) - match.start(group))))
            self.look(plain, f"{place} line {line} (binary)".strip(), depth + 1)
        return replaced(data, edits)

    def inside(self, data: bytes, place: str, depth: int) -> None:
        wide = content.wide_text(data)
        if wide:
            self.look(wide[0].encode("utf-8", "surrogatepass"), f"{place} {wide[1]}".strip(), depth + 1)
        if content.is_picture(data):
            for form in {f for plain in content.streams(data) for f in self.redactor.find(plain)}:
                self.add("configured_key", form, f"{place} (compressed)".strip())
            data = content.beside_pixels(data)
        for rule, start, _ in rules.patterns(data):
            self.add(rule, "raw", f"{place} offset {start}".strip())
        for plain in content.streams(data):
            self.look(plain, f"{place} (compressed)".strip(), depth + 1)

    def hits(self, data: bytes) -> Iterator[Hit]:
        for at, window in windows(data):
            for rule, form, start in self.window(window):
                yield rule, form, at + start

    def window(self, data: bytes) -> Iterator[Hit]:
        """The slow searches, each only where a fast look at the text without its numbers says that it will find."""
        text = without_numbers(data)
        layers = list(unescaped(text))
        if any(_shaped(layer) for layer in layers):
            yield from _key_shapes(data)
        if any(b"=" in layer for layer in layers):
            least = _PROSE_VALUE if self.prose else 1
            yield from (("secret_parameter", "raw", s) for s, e in secret_parameters(data) if e - s >= least)
        if any(b"@" in layer or b"hook" in layer.lower() for layer in layers):
            yield from ((rule, "raw", start) for rule, start, _ in rules.patterns(data))
        if _ANY_FIELD.search(text):
            yield from _fields(data)
        if next(rules.markup(text), None):
            yield from ((r, "raw", at) for r, at, _ in rules.markup(data) if not (self.prose and r in HEADER_RULES))


def _shaped(layer: bytes) -> bool:
    return any(len(word) == 64 for word in layer.translate(_NOT_WORD).split())


def _key_shapes(data: bytes) -> Iterator[Hit]:
    for view in views(data):
        for pattern in (_LOWER_KEY, _MIXED_KEY):
            for match in pattern.finditer(view.data):
                yield "key_shape", "raw", view.span(*match.span())[0]


def _fields(data: bytes) -> Iterator[Hit]:
    """Named members with a value, also those of JSON inside strings."""
    for name, start, end in jsontext.members(data, rules.NAMED):
        put = rules.secret_put if is_secret_name(name) else rules.personal_put
        if put(data[start:end]) is not None and not _cut_off(data, start, end):
            yield _field_rule(name), "raw", start
    for match in _INNER_FIELD.finditer(data):
        name, bare = match[1].decode(), match[3] or b""
        value = match[2] or (bare if bare[:1].isdigit() or is_secret_name(name) else b"")
        if value and not is_marked(value):
            yield _field_rule(name), "json", match.end(1)


def _cut_off(data: bytes, start: int, end: int) -> bool:
    """Whether the JSON ended before this value: a bare word on the next line, or signs of the text around it."""
    if data[start : start + 1] in {b'"', b"[", b"{"}:
        return False
    colon = data.rfind(b":", max(start - 200, 0), start)
    return b"\n" in data[colon:start] or not re.search(rb"[A-Za-z0-9]", data[start:end])


def _field_rule(name: str) -> str:
    if is_secret_name(name):
        return "secret_field"
    return "webhook_url" if name.lower().startswith("webhook") else "personal_data"


def _locations(data: bytes, offsets: list[int]) -> list[str]:
    """For each offset the JSON path in a JSON text, the line in any other text, the offset in binary data."""
    if not offsets:
        return []
    if data.lstrip()[:1] in {b"{", b"["}:
        found = jsontext.paths_at(data, offsets)
        return [found[offset] for offset in offsets]
    if not content.is_text(data):
        return [f"offset {offset}" for offset in offsets]
    ends = [m.start() for m in re.finditer(b"\n", data)]
    return [f"line {bisect_left(ends, offset) + 1}" if ends else f"offset {offset}" for offset in offsets]


def _safe(text: str, redactor: Redactor) -> str:
    """A name or a path to show: it may itself hold what was found."""
    data = redactor.text(text).encode("utf-8", "surrogatepass")
    mark = rules.MARK
    shown = replaced(data, [(start, end, mark) for _, start, end in rules.patterns(data)]).decode("utf-8", "replace")
    return shown if len(shown) <= 200 else shown[:199] + "…"
