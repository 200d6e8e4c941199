"""Change one value of a JSON file and keep every other character of it, comments and trailing commas included."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_TRIVIA = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"', re.DOTALL)
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_SAME_LINE = re.compile(r"(?:[^\S\n]+|/\*[^\n]*?\*/)*(?://[^\n]*)?")
DEEPEST = 200


class Broken(ValueError):
    """The text is no JSON; the message names the line."""


@dataclass
class Member:
    """A name and the place of its value; `after` is behind the comma, where there is one."""

    name: str
    start: int
    value: int
    end: int
    after: int | None


@dataclass
class Object:
    start: int
    end: int
    members: list[Member]

    def get(self, name: str) -> Member | None:
        return next((m for m in self.members if m.name == name), None)


class Text:
    """The text of a JSON file, read where it stands."""

    def __init__(self, text: str) -> None:
        self.text = text

    def skip(self, at: int) -> int:
        found = _TRIVIA.match(self.text, at)
        return found.end() if found else at

    def broken(self, at: int, what: str) -> Broken:
        return Broken(f"line {self.text.count(chr(10), 0, at) + 1}: {what}")

    def whole(self) -> int:
        """Where the value of the file starts, after the file was read to its end."""
        start = self.skip(0)
        rest = self.skip(self.value(start))
        if rest != len(self.text):
            raise self.broken(rest, "text after the end")
        return start

    def value(self, at: int, depth: int = 0) -> int:
        """The end of the value that starts at `at`."""
        if depth > DEEPEST:
            raise self.broken(at, "nested too deeply")
        opening = self.text[at : at + 1]
        if opening == "{":
            return self.object(at, depth).end
        if opening == "[":
            return self._array(at, depth)
        found = (_STRING if opening == '"' else _SCALAR).match(self.text, at)
        if found is None:
            raise self.broken(at, "a value is missing or broken")
        return found.end()

    def object(self, at: int, depth: int = 0) -> Object:
        """The object that starts at `at`, with the places of its members."""
        members: list[Member] = []
        place = self.skip(at + 1)
        while self.text[place : place + 1] != "}":
            name = _STRING.match(self.text, place)
            if name is None:
                raise self.broken(place, "a name in quotes is missing")
            colon = self.skip(name.end())
            if self.text[colon : colon + 1] != ":":
                raise self.broken(colon, "a colon is missing")
            value = self.skip(colon + 1)
            end = self.value(value, depth + 1)
            comma, place = self._comma(end, "}")
            members.append(Member(self._name(name), name.start(), value, end, comma))
        return Object(at, place + 1, members)

    def _name(self, found: re.Match[str]) -> str:
        try:
            return str(json.loads(found[0]))
        except ValueError:
            raise self.broken(found.start(), "a name is broken") from None

    def _array(self, at: int, depth: int) -> int:
        place = self.skip(at + 1)
        while self.text[place : place + 1] != "]":
            _, place = self._comma(self.value(place, depth + 1), "]")
        return place + 1

    def _comma(self, end: int, closing: str) -> tuple[int | None, int]:
        """Behind the comma after a value, and where the next thing starts."""
        place = self.skip(end)
        if self.text[place : place + 1] == ",":
            return place + 1, self.skip(place + 1)
        if self.text[place : place + 1] != closing:
            raise self.broken(place, f"a comma or {closing} is missing")
        return None, place


def load(text: str) -> Any:
    """The data of a JSON file with comments and trailing commas. Raises Broken."""
    Text(text).whole()
    parts: list[str] = []
    at = 0
    for found in re.finditer(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', text, re.DOTALL):
        parts += [text[at : found.start()], found[1] or " "]
        at = found.end()
    plain = "".join([*parts, text[at:]])
    plain = re.sub(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', lambda m: m[1] or "", plain, flags=re.DOTALL)
    try:
        return json.loads(plain)
    except (ValueError, RecursionError) as error:
        raise Broken(str(error)) from None


def put(text: str, path: Sequence[str], value: Any) -> str:
    """`text` with `value` at `path`; objects that lack on the way are made. Raises Broken, also where something on
    the way is no object."""
    if not text.strip():
        text = "{}\n"
    reading = Text(text)
    at = reading.whole()
    if text[at] != "{":
        raise reading.broken(at, "the file holds no object")
    unit = _unit(reading.object(at), text)
    for depth, name in enumerate(path):
        found = reading.object(at)
        member = found.get(name)
        rest = path[depth + 1 :]
        if member is None:
            for inner in reversed(rest):
                value = {inner: value}
            return _inserted(text, found, name, value, unit, depth)
        if not rest:
            return text[: member.value] + _dump(value, text, unit, depth + 1) + text[member.end :]
        if text[member.value] != "{":
            raise reading.broken(member.value, f"{name} is no object")
        at = member.value
    raise ValueError("a path names something")


def _unit(root: Object, text: str) -> str:
    """One level of indentation as the file has it."""
    for member in root.members[:1]:
        line = text.rfind("\n", 0, member.start) + 1
        before = text[line : member.start]
        if line and before.strip() == "" and before:
            return before
    return "  "


def _dump(value: Any, text: str, unit: str, depth: int) -> str:
    """`value` as the file writes it, its first line unindented."""
    if "\n" not in text.strip() and len(text.strip()) > 2:
        return json.dumps(value, ensure_ascii=False)
    dumped = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", "\n" + unit * depth)
    return dumped.replace("\n", "\r\n") if "\r\n" in text else dumped


def _inserted(text: str, found: Object, name: str, value: Any, unit: str, depth: int) -> str:
    one_line = "\n" not in text.strip() and len(text.strip()) > 2
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    before = " " if one_line else end_of_line + unit * (depth + 1)
    entry = f"{before}{json.dumps(name, ensure_ascii=False)}: {_dump(value, text, unit, depth + 1)}"
    if not found.members:
        after = "" if one_line else end_of_line + unit * depth
        inside = text[found.start + 1 : found.end - 1].rstrip()
        entry = entry.lstrip() if one_line else entry
        return text[: found.start + 1] + inside + entry + after + text[found.end - 1 :]
    last = found.members[-1]
    place = last.after if last.after is not None else last.end
    note = _SAME_LINE.match(text, place)
    behind = note.end() if note and not one_line and text[note.end() : note.end() + 1] in ("\n", "\r") else place
    behind = len(text[:behind].rstrip("\r")) if text[:behind].endswith("\r") else behind
    comma = "" if last.after is not None else ","
    rest = text[behind:]
    close = "" if one_line or rest.lstrip(" \t").startswith(("\n", "\r")) else end_of_line + unit * depth
    return text[:place] + comma + text[place:behind] + entry + close + (rest.lstrip(" \t") if close else rest)
