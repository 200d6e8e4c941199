"""Schemas and texts of tools in the form that every known host takes, and short: hosts read all of them at once."""

from __future__ import annotations

import re
from typing import Any

from keepa_cli.core.registry import Arg
from keepa_cli.core.schema import arg_schema

LONGEST_HELP, LONGEST_SUMMARY = 62, 180
TEXT_OR_LIST = frozenset({"asin", "code", "seller"})
"""Lists that clients also give as one text; lists of anything else are shown as lists, though one item is taken too."""
_WIDE = 9999
_RANGE = "MIN..MAX"
_HELP = {
    "DOMAIN": "Marketplace: US, DE, co.jp",
    "input": "JSON files: answers, views or graphs",
    "filter": "FIELD=VALUE: any other field of the selection",
    "availability": "-1 none, 0 in stock, 1 pre-order, 2 unknown, 3 back-order, 4 late",
}
"""By metavar or name: what would be cut in the middle."""
_WORDS = re.compile(r"[\w-]+(\|[\w-]+)+")
_SENTENCE = re.compile(r"(?<=[\w)\"'%])[.;] +(?=[A-Z-])")
_PART = re.compile("; |: | \\(|, ")
_HELP_FLAG = "--help"
_FLAG = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*)")


def parameter(arg: Arg, help_: str | None = None) -> dict[str, Any]:
    """The schema of a parameter: one type each, no references, no examples, no bounds that go without saying."""
    found = _one_type(arg_schema(arg))
    many = found.pop("anyOf", None)
    if many:
        text, listed = many
        found = ({"anyOf": [text, listed]} if arg.name in TEXT_OR_LIST else listed) | found
    told = brief(help_ or _HELP.get(arg.spec.metavar or "") or _HELP.get(arg.name) or arg.spec.help or "")
    return found | {"description": f"{_RANGE}: {told}" if arg.spec.metavar == _RANGE else told}


def brief(text: str) -> str:
    """The first sentence, cut where a part of it ends; the price is kept where there is room for it."""
    first = _SENTENCE.split(arguments(text), maxsplit=1)[0].rstrip(".")
    if len(first) <= LONGEST_HELP:
        return first
    ends = [m for m in _PART.finditer(first, 12, LONGEST_HELP) if _closed(first[: m.start()])]
    if not ends:
        space = first.rfind(" ", 0, LONGEST_HELP)
        return first[: space if space > 0 else LONGEST_HELP] + "…"
    whole = [m for m in ends if m[0] != ", "]
    last = ends[-1] if "token" in first[: ends[-1].start()] or not whole else whole[-1]
    return first[: last.start()] + ("…" if last[0] == ", " else "")


def _closed(text: str) -> bool:
    return text.count("(") == text.count(")")


def summary(text: str) -> str:
    """Whole sentences as long as there is room."""
    found = ""
    for sentence in re.split(r"(?<=[.!?]) +(?=[A-Z-])", arguments(" ".join(text.split()))):
        if found and len(found) + len(sentence) >= LONGEST_SUMMARY:
            break
        found = f"{found} {sentence}".strip()
    return found


def arguments(text: str) -> str:
    """Flags of the command line as arguments of a tool."""
    return _FLAG.sub(lambda m: m[1].replace("-", "_"), text)


def for_tool(result: dict[str, Any], tool: str) -> dict[str, Any]:
    """An answer as a caller without a shell reads it: sentences name arguments, help is the tool's own resource. Lines
    to paste stay as they are: they are for the person behind the caller."""
    found = dict(result)
    if found.get("warnings"):
        found["warnings"] = [_spoken(warning) for warning in found["warnings"]]
    if isinstance(found.get("error"), dict):
        error = _spoken(found["error"])
        steps = [f"Read keepa://tools/{tool}" if _HELP_FLAG in s else _plain(s) for s in error.get("next_actions", [])]
        found["error"] = {**error, "next_actions": steps}
    return found


def _spoken(entry: dict[str, Any]) -> dict[str, Any]:
    text = entry.get("message")
    return {**entry, "message": _plain(text)} if isinstance(text, str) else entry


def _plain(text: str) -> str:
    return text if "kc " in text else arguments(text)


def _one_type(schema: dict[str, Any]) -> dict[str, Any]:
    """Text where text and numbers are taken, for text arrives unchanged."""
    found = {k: v for k, v in schema.items() if k not in {"anyOf", "examples", "default", "minItems", "description"}}
    kind = found.get("type")
    if isinstance(kind, list):
        found["type"] = "string" if "string" in kind else kind[0]
    if found.get("type") == "string":
        found.pop("minimum", None)
        found.pop("maximum", None)
    if found.get("maximum", 0) >= _WIDE:
        del found["maximum"]
    if found.get("minimum") in (0, 1):
        del found["minimum"]
    pattern = found.pop("pattern", "")
    if _WORDS.fullmatch(pattern):
        found["enum"] = pattern.split("|")
    if isinstance(found.get("items"), dict):
        found["items"] = _one_type(found["items"])
    if "anyOf" in schema:
        found["anyOf"] = [_one_type(option) for option in schema["anyOf"]]
    return found
