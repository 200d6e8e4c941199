"""Our own files read without a YAML library: it takes as long to import as everything else that a replay needs.

Only what `yaml_writer` writes for an answered GET with a JSON body is read here, to the letter; for anything else the
answer is None and the YAML reader decides. A test holds that both always agree.
"""

from __future__ import annotations

import re
from typing import Any

from keepa_cli.cassettes.yaml_reader import Plain

_TEXT = rb"(?:'[ -&(-~]*'|[A-Za-z/](?:[\w./?&=%+,;~@*()-]|:(?=\S)| (?=[\w(/*]))*+)"
_HEADERS = rb"    headers:(?: \{\}\n|\n((?:      [A-Za-z][A-Za-z0-9-]*:\n(?:      - " + _TEXT + rb"\n)+)+))"
_INTERACTION = re.compile(
    rb"- request:\n    body: null\n" + _HEADERS + rb"    method: (GET)\n    uri: (" + _TEXT + rb")\n"
    rb"  response:\n    body:\n      string: \|-\n((?:        [!-~][ -~]*\n)(?:        [ -~]*[!-~]\n)*)"
    + _HEADERS
    + rb"    status:\n      code: ([1-5][0-9][0-9])\n      message: ("
    + _TEXT
    + rb")\n",
    re.ASCII,
)
_HEADER = re.compile(rb"      ([A-Za-z][A-Za-z0-9-]*):\n((?:      - .*\n)+)")
_START, _END = b"interactions:\n", b"version: 1\n"
_NOT_TEXT = frozenset({b"true", b"false", b"yes", b"no", b"on", b"off", b"null", b"y", b"n"})
_MARGIN = b"        "
_MOST = 4 * 1024 * 1024
"""The pattern keeps a place for every line; in a huge file that would be more memory than the file."""


class _Foreign(Exception):
    """The file is not in our layout."""


def read_own(data: bytes) -> Any:
    """The document as the YAML reader would give it, or None for a file that must be read by it."""
    if len(data) > _MOST or not data.startswith(_START):
        return None
    found, at = [], len(_START)
    try:
        while match := _INTERACTION.match(data, at):
            found.append(_interaction(match))
            at = match.end()
    except _Foreign:
        return None
    return {"interactions": found, "version": _int("1")} if found and data[at:] == _END else None


def _interaction(match: re.Match[bytes]) -> dict[str, Any]:
    asked, method, uri, body, answered, code, message = match.groups(b"")
    text = body[len(_MARGIN) : -1].replace(b"\n" + _MARGIN, b"\n").decode("ascii")
    return {
        "request": {"body": None, "headers": _headers(asked), "method": _text(method), "uri": _text(uri)},
        "response": {
            "body": {"string": text},
            "headers": _headers(answered),
            "status": {"code": _int(code.decode("ascii")), "message": _text(message)},
        },
    }


def _headers(block: bytes) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for match in _HEADER.finditer(block):
        name = _text(match[1])
        if name in found:
            raise _Foreign
        found[name] = [_text(line[8:]) for line in match[2].splitlines()]
    return found


def _text(written: bytes) -> str:
    if written.lower() in _NOT_TEXT:
        raise _Foreign
    return (written[1:-1] if written[:1] == b"'" else written).decode("ascii")


def _int(text: str) -> Plain:
    plain = Plain(text)
    plain.tag = "int"
    return plain
