"""An envelope as text for people: tables, sentences, next steps. Colour is left to click, which drops it on pipes."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import click

from keepa_cli.core.envelope import Envelope
from keepa_cli.interfaces.cli.texts import Texts

WIDTH = 100
_CELL = 44
_ROWS = 60
LEADING = ("id", "asked", "asin", "status", "title", "name", "brand", "productCount", "salesRankReference")
BUCKET_FIELDS = frozenset(
    {"processingTimeInMs", "refillIn", "refillRate", "timestamp", "tokenFlowReduction", "tokensConsumed", "tokensLeft"}
)
"""Fields of every Keepa answer; people read them in the last line."""


def render(result: Envelope, texts: Texts | None = None) -> str:
    """The text of one envelope."""
    words = texts or Texts()
    return "\n".join(_success(result, words) if result["ok"] else _failure(result["error"], words))


def _failure(error: Mapping[str, Any], texts: Texts) -> list[str]:
    lines = [click.style(texts.label("error"), fg="red", bold=True) + str(error["message"])]
    meaning = texts.meaning(error["kind"])
    lines += [f"  {meaning}"] if meaning else []
    lines.append(f"  {texts.label('kind')}{error['kind']}")
    for name, value in error["details"].items():
        if name not in {"errors", "next_actions", "token_refill_guidance"} and value not in (None, [], {}):
            lines += _field(name, value, 1)
    if error["next_actions"]:
        lines += ["", texts.label("next").rstrip(), *(f"  {action}" for action in error["next_actions"])]
    return lines


def _success(result: Envelope, texts: Texts) -> list[str]:
    data = result["data"]
    if isinstance(data, Mapping) and isinstance(data.get("view"), str):
        from keepa_cli.interfaces.cli.humane import humane

        data = humane(data)
    lines = _text_page(data) or (_block(data, 0) if isinstance(data, Mapping) else [str(data)])
    lines += _footer(result, texts)
    for warning in result["warnings"]:
        lines.append(click.style(texts.label("note"), fg="yellow") + str(warning.get("message", warning)))
    return lines


def _text_page(data: Any) -> list[str]:
    """A documentation page is shown as it is."""
    is_page = isinstance(data, Mapping) and isinstance(data.get("text"), str) and "page" in data
    return [data["text"].rstrip()] if is_page else []


def _footer(result: Envelope, texts: Texts) -> list[str]:
    source, bucket = result["provenance"], result["token_bucket"]
    lines = []
    estimated = bucket.get("estimated")
    if estimated and not source:
        request = result["request"]
        query = "&".join(f"{k}={v}" for k, v in request["query"].items())
        target = f"{request['method']} {request['path']}" + ("?" + plain(query) if query else "")
        amount, worst = texts.tokens(estimated["estimated_tokens"]), estimated["worst_case_tokens"]
        lines += ["", texts.label("request") + target, texts("cost", amount=amount, worst=worst)]
        lines += [f"  {p['name']}: {p['tokens']} ({p['note'] or texts('fixed')})" for p in estimated["components"]]
        lines += [f"  {note}" for note in estimated["notes"]]
    if source:
        age = texts("recorded", moment=source["recorded_at"]) if source["recorded_at"] else ""
        where = ", ".join(dict.fromkeys((source["mode"], source["source"], source["origin"])))
        lines += ["", texts("source", where=where, age=age, amount=texts.tokens(bucket.get("charged")))]
    return lines


def _block(data: Mapping[str, Any], depth: int) -> list[str]:
    lines: list[str] = []
    for name, value in data.items():
        said_already = name == "body" and len(data) > 1 and isinstance(value, Mapping) and set(value) <= BUCKET_FIELDS
        if not said_already:
            lines += _field(str(name), value, depth)
    return lines


def _field(name: str, value: Any, depth: int) -> list[str]:
    pad = "  " * depth
    label = _label(name)
    if isinstance(value, Mapping):
        if not value:
            return [f"{pad}{label}: none"]
        if name == "body":
            value = {k: v for k, v in value.items() if k not in BUCKET_FIELDS} or value
        if len(value) > 1 and all(isinstance(v, Mapping) and len(v) > 3 for v in value.values()):
            return _list(label, [{"id": k} | dict(v) for k, v in value.items()], depth)
        return [f"{pad}{label}:", *_block(value, depth + 1)] if depth < 4 else [f"{pad}{label}: {len(value)} fields"]
    if name == "next_actions" and value and isinstance(value, list):
        return [f"{pad}{label}:", *(f"{pad}  {plain(action)}" for action in value)]
    if isinstance(value, list | tuple):
        return _list(label, value, depth)
    return _scalar(label, value, pad)


def _scalar(label: str, value: Any, pad: str) -> list[str]:
    text = plain(value)
    if "\n" in text:
        return [f"{pad}{label}:", *(f"{pad}  {line}" for line in text.splitlines())]
    head = f"{pad}{label}: "
    return textwrap.wrap(
        head + text, WIDTH, subsequent_indent=pad + "  ", break_long_words=False, break_on_hyphens=False
    ) or [head]


def _list(label: str, values: Sequence[Any], depth: int) -> list[str]:
    pad = "  " * depth
    if not values:
        return [f"{pad}{label}: none"]
    if all(isinstance(v, Mapping) for v in values):
        return [f"{pad}{label} ({len(values)}):", *(pad + "  " + line for line in table(values))]
    if all(isinstance(v, int | float | None) for v in values) and len(values) > 12:
        return [f"{pad}{label}: {len(values)} numbers"]
    if any(isinstance(v, list | Mapping) for v in values):
        return [f"{pad}{label}: {len(values)} entries"]
    more = f" ... and {len(values) - _ROWS} more; --json shows all" if len(values) > _ROWS else ""
    return _scalar(label, ", ".join(plain(v) for v in values[:_ROWS]) + more, pad)


def table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Rows as aligned columns; columns without a simple value anywhere are left out, long cells are cut."""
    found = dict.fromkeys(k for r in rows for k in r)
    simple = [k for k in [*LEADING, *found] if k in found and any(_is_simple(r.get(k)) for r in rows)]
    names = _fitting(list(dict.fromkeys(simple)), rows)
    cells = [[_label(k) for k in names]]
    cells += [[_cut(plain(r.get(k)) if _is_simple(r.get(k)) else "…") for k in names] for r in rows[:_ROWS]]
    widths = [max(_width(row[i]) for row in cells) for i in range(len(names))]
    lines = ["  ".join(c + " " * (w - _width(c)) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells]
    lines.insert(1, "  ".join("-" * w for w in widths))
    if len(rows) > _ROWS:
        lines.append(f"... and {len(rows) - _ROWS} more; --json shows all")
    return lines


def _fitting(names: list[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """As many columns as a wide terminal holds, in their order."""
    kept: list[str] = []
    used = 0
    for name in names:
        used += 2 + max(_width(_cut(plain(r.get(name)))) for r in [*rows[:_ROWS], {name: name}])
        if kept and used > 120:
            break
        kept.append(name)
    return kept


def _is_simple(value: Any) -> bool:
    if isinstance(value, list):
        return len(value) <= 6 and all(isinstance(v, str | int | float | bool) for v in value)
    return isinstance(value, str | int | float | bool)


def plain(value: Any) -> str:
    """A value as one safe piece of text: control and bidirectional characters are shown, not obeyed."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(plain(v) for v in value)
    text = str(value)
    return "".join(c if c == "\n" or not _steers(c) else f"\\u{ord(c):04x}" for c in text)


def _label(name: str) -> str:
    return plain(name).replace("\n", " ").replace("_", " ")


def _steers(char: str) -> bool:
    return unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def _cut(text: str) -> str:
    line = text.replace("\n", " ")
    return line if _width(line) <= _CELL else line[: _CELL - 1] + "…"


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
