"""Operation -> JSON Schema of its input, and the one check that every interface runs arguments through."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from keepa_cli.core.errors import KeepaCliError, Kind, invalid
from keepa_cli.core.registry import Arg, Operation

JSON_TYPES: Mapping[type, str] = {
    str: "string", int: "integer", float: "number", bool: "boolean", dict: "object",
}  # fmt: skip
TRUE_WORDS, FALSE_WORDS = frozenset({"1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})


def input_schema(op: Operation) -> dict[str, Any]:
    """A closed JSON Schema (2020-12) of the operation's parameters."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {a.name: arg_schema(a) for a in op.args},
        "additionalProperties": False,
    }
    required = [a.name for a in op.args if a.required]
    return schema | ({"required": required} if required else {})


def arg_schema(arg: Arg) -> dict[str, Any]:
    """The schema of one parameter."""
    spec = arg.spec
    item: dict[str, Any] = {"type": list(spec.accepts) if spec.accepts else JSON_TYPES[arg.type]}
    if arg.choices:
        item["enum"] = list(arg.choices)
    if spec.min is not None:
        item["minimum"] = spec.min
    if spec.max is not None:
        item["maximum"] = spec.max
    if spec.pattern:
        item["pattern"] = spec.pattern
    if arg.many:
        item = {"anyOf": [item, {"type": "array", "items": dict(item), "minItems": 1}]}
        if spec.max_items:
            item["anyOf"][1]["maxItems"] = spec.max_items
    item["description"] = spec.help
    if spec.examples:
        item["examples"] = list(spec.examples)
    if arg.default is not None and arg.default != []:
        item["default"] = arg.default
    return item


def bind(op: Operation, params: Mapping[str, Any], *, text: bool = False) -> dict[str, Any]:
    """All parameters of `op` by name, checked and in canonical form.

    `text` takes numbers and booleans as text too, as a command line gives them. Raises `invalid_arguments`
    with every problem in `details.errors`.
    """
    known = {a.name: a for a in op.args}
    problems: list[dict[str, Any]] = []
    for name in params:
        if name not in known:
            problems.append(_unknown(op, name, list(known)))
    bound: dict[str, Any] = {}
    for arg in op.args:
        given = params.get(arg.name)
        if given is None or (arg.many and given == ()):
            if arg.required:
                problems.append(_problem(arg, None, f"{arg.name} is missing"))
            bound[arg.name] = arg.default
            continue
        try:
            bound[arg.name] = _value(arg, given, text)
        except (ValueError, KeepaCliError) as error:
            problems.append(_problem(arg, given, getattr(error, "message", None) or str(error), error))
    if problems:
        raise _refused(op, problems)
    return bound


def _unknown(op: Operation, name: str, known: list[str]) -> dict[str, Any]:
    import difflib

    close = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return {"field": name, "message": f"{op.name} has no parameter {name!r}{hint}", "allowed": known}


def _problem(arg: Arg, value: Any, message: str, error: Exception | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"field": arg.name, "message": message.rstrip(".")}
    details = getattr(error, "details", {})
    if not arg.spec.hidden:
        simple = isinstance(value, str | int | float | bool | None)
        found["value"] = details.get("value", value if simple else json.dumps(value, default=str)[:200])
    if "allowed" in details or arg.choices:
        found["allowed"] = details.get("allowed") or list(arg.choices or ())
    return found


def _refused(op: Operation, problems: list[dict[str, Any]]) -> KeepaCliError:
    command = "kc " + op.name.replace(".", " ")
    sentence = "; ".join(p["message"] for p in problems)
    return KeepaCliError(
        Kind.INVALID_ARGUMENTS,
        sentence[0].upper() + sentence[1:] + ("" if sentence.endswith("?") else "."),
        details={"errors": problems, **{k: v for k, v in problems[0].items() if k != "message"}},
        next_actions=[f"{command} --help"],
    )


def _value(arg: Arg, given: Any, text: bool) -> Any:
    if not arg.many:
        return _one(arg, given, text)
    items = list(given) if isinstance(given, list | tuple) else [given]
    split = items if arg.spec.whole else [part for v in items for part in (_commas(v) if isinstance(v, str) else [v])]
    if not split:
        raise ValueError(f"{arg.name} is empty")
    if arg.spec.max_items and len(split) > arg.spec.max_items:
        raise ValueError(f"{arg.name} takes at most {arg.spec.max_items} values, {len(split)} were given")
    return [_one(arg, v, text) for v in split]


def _commas(value: str) -> list[str]:
    return [part.strip() for part in value.split(",")] if "," in value else [value]


def _one(arg: Arg, given: Any, text: bool) -> Any:
    value = _typed(arg, given, text)
    spec = arg.spec
    if spec.parse:
        value = spec.parse(value)
    if arg.choices and value not in arg.choices:
        raise ValueError(f"{arg.name} must be one of {', '.join(map(str, arg.choices))}, not {value!r}")
    if spec.min is not None and value < spec.min:
        raise ValueError(f"{arg.name} must be at least {spec.min}, not {value}")
    if spec.max is not None and value > spec.max:
        raise ValueError(f"{arg.name} must be at most {spec.max}, not {value}")
    if spec.pattern and not (isinstance(value, str) and re.fullmatch(spec.pattern, value)):
        raise ValueError(f"{arg.name} does not have the form {spec.pattern}")
    return value


def _typed(arg: Arg, given: Any, text: bool) -> Any:
    wanted = arg.spec.accepts or (JSON_TYPES[arg.type],)
    if _json_type(given) in wanted or (_json_type(given) == "integer" and "number" in wanted):
        return given
    if "integer" in wanted and isinstance(given, float) and given.is_integer():
        return int(given)  # JSON has one kind of number: 5.0 is an integer, and some clients write it so
    if text and isinstance(given, str):
        for name in wanted:
            if (converted := _from_text(given, name)) is not None:
                return converted
    raise ValueError(f"{arg.name} must be {' or '.join(wanted)}, not {_json_type(given)}{_shown(arg, given)}")


def _shown(arg: Arg, given: Any) -> str:
    return "" if arg.spec.hidden or isinstance(given, dict | list) else f" ({str(given)[:80]!r})"


def _json_type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    names = {int: "integer", float: "number", str: "string", list: "array", tuple: "array", dict: "object"}
    return next((n for t, n in names.items() if isinstance(value, t)), type(value).__name__)


def _from_text(text: str, wanted: str) -> Any:
    word = text.strip()
    if wanted == "integer":
        return int(word) if re.fullmatch(r"[+-]?\d{1,18}", word) else None
    if wanted == "number":
        return float(word) if re.fullmatch(r"[+-]?\d+(\.\d+)?", word) else None
    if wanted == "boolean":
        return True if word.lower() in TRUE_WORDS else False if word.lower() in FALSE_WORDS else None
    if wanted == "object":
        try:
            found = json.loads(word)
        except ValueError:
            raise invalid(f"{word[:40]!r} is not a JSON object") from None
        return found if isinstance(found, dict) else None
    return None
