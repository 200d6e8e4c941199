"""YAML as plain data: maps, lists, text, bytes. No tags of any language, no repeated expansion, bounded depth."""

from __future__ import annotations

import base64
import binascii
from typing import Any

_DEEPEST = 24
_ALIAS_LIMIT = 64 * 1024
_EXPANSION_LIMIT = 16 * 1024 * 1024
_YAML = "tag:yaml.org,2002:"


class Unsafe(ValueError):
    """The text is not the plain YAML of a cassette."""


class Plain(str):
    """An unquoted scalar that YAML reads as something other than text; `tag` says as what (int, bool, ...)."""

    __slots__ = ("tag",)
    tag: str


class _Open:
    """A collection under construction."""

    __slots__ = ("anchor", "key", "size", "value")

    def __init__(self, value: dict[Any, Any] | list[Any], anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.key: Any = _Open
        self.size = 0


def read(data: bytes) -> Any:
    """The one document in `data`. Raises Unsafe, or yaml.YAMLError for broken syntax."""
    import yaml

    loader_class = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader = loader_class(data)
    try:
        return _Builder(yaml).build(loader)
    finally:
        loader.dispose()


class _Builder:
    def __init__(self, yaml: Any) -> None:
        self.yaml = yaml
        self.resolvers = yaml.SafeLoader.yaml_implicit_resolvers
        self.stack: list[_Open] = [_Open([], None)]
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.expanded = 0
        self.documents = 0

    def build(self, loader: Any) -> Any:
        y = self.yaml
        while loader.check_event():
            event = loader.get_event()
            kind = type(event)
            if kind is y.ScalarEvent:
                self._add(self._scalar(event), len(event.value) + 1, event.anchor)
            elif kind is y.MappingStartEvent or kind is y.SequenceStartEvent:
                self._open({} if kind is y.MappingStartEvent else [], event)
            elif kind is y.MappingEndEvent or kind is y.SequenceEndEvent:
                done = self.stack.pop()
                self._add(done.value, done.size + 1, done.anchor)
            elif kind is y.AliasEvent:
                self._alias(event.anchor)
            elif kind is y.DocumentStartEvent:
                self.documents += 1
                if self.documents > 1:
                    raise Unsafe("it holds more than one YAML document")
        found = self.stack[0].value
        return found[0] if found else None

    def _open(self, value: dict[Any, Any] | list[Any], event: Any) -> None:
        usual = _YAML + ("map" if isinstance(value, dict) else "seq")
        if event.tag not in (None, "!", usual):
            raise Unsafe(f"the YAML tag {_short(event.tag)} is refused")
        if len(self.stack) == 1 and isinstance(value, list):
            raise Unsafe("its top level is a list, not a mapping")
        if len(self.stack) > _DEEPEST:
            raise Unsafe("it is nested too deeply")
        self.stack.append(_Open(value, event.anchor))

    def _alias(self, name: str) -> None:
        if name not in self.anchors:
            raise Unsafe("a YAML alias points to nothing before it")
        value, size = self.anchors[name]
        self.expanded += size
        if size > _ALIAS_LIMIT or self.expanded > _EXPANSION_LIMIT:
            raise Unsafe("its YAML aliases expand to too much data")
        self._add(value, size, None)

    def _add(self, value: Any, size: int, anchor: str | None) -> None:
        top = self.stack[-1]
        top.size += size
        if anchor is not None:
            self.anchors[anchor] = (value, size)
        if isinstance(top.value, list):
            top.value.append(value)
        elif top.key is _Open:
            top.key = self._key(value, top.value)
        else:
            top.value[top.key] = value
            top.key = _Open

    def _key(self, value: Any, mapping: Any) -> str:
        if not isinstance(value, str) or value == "<<":
            raise Unsafe("a YAML mapping has a key that is not text")
        if value in mapping:
            raise Unsafe(f"the key {_short(value)} stands twice in one mapping")
        return str(value)

    def _scalar(self, event: Any) -> Any:
        tag, text = event.tag, event.value
        if tag is None or tag == "!":
            return self._resolve(text) if event.implicit[0] and tag is None else text
        if tag == _YAML + "str":
            return text
        if tag == _YAML + "binary":
            return _binary(text)
        raise Unsafe(f"the YAML tag {_short(tag)} is refused")

    def _resolve(self, text: str) -> Any:
        for tag, pattern in self.resolvers.get(text[:1], ()):
            if pattern.match(text):
                name = tag.removeprefix(_YAML)
                if name == "null":
                    return None
                plain = Plain(text)
                plain.tag = name
                return plain
        return text


def _binary(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()).encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise Unsafe("a !!binary value is not base64") from None


def _short(text: str) -> str:
    return repr(text.replace(_YAML, "!!")[:60])
