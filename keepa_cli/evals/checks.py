"""The checks of an assertion: what each expects, read strictly, and whether a value meets it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from keepa_cli.core.paths import json_type

TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
LONGEST_PATTERN = 500
LONGEST_SUBJECT = 10_000


@dataclass(frozen=True)
class Check:
    """`prepare` turns the expected value of the file into what `holds` takes, or raises ValueError with a sentence."""

    prepare: Callable[[Any], Any]
    holds: Callable[[Any, Any], bool]


def same(a: Any, b: Any) -> bool:
    """JSON equality: 1 equals 1.0, true equals only true."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return json_type(a) in _kin(b) and bool(a == b)


def _kin(value: Any) -> tuple[str, ...]:
    kind = json_type(value)
    return ("integer", "number") if kind in {"integer", "number"} else (kind,)


def _anything(expected: Any) -> Any:
    return expected


def _number(expected: Any) -> Any:
    if json_type(expected) not in {"integer", "number"}:
        raise ValueError(f"takes a number, not {json_type(expected)}")
    return expected


def _count(expected: Any) -> Any:
    if json_type(expected) != "integer" or expected < 0:
        raise ValueError("takes a whole number of at least 0")
    return expected


def _flag(expected: Any) -> Any:
    if json_type(expected) != "boolean":
        raise ValueError("takes true or false")
    return expected


def _choices(expected: Any) -> Any:
    if not isinstance(expected, list) or not expected:
        raise ValueError("takes a list of at least one value")
    return expected


def _types(expected: Any) -> Any:
    names = expected if isinstance(expected, list) else [expected]
    wrong = [n for n in names if n not in TYPES]
    if wrong or not names:
        raise ValueError(f"takes {', '.join(TYPES)} or a list of them, not {expected!r}")
    return tuple(names)


def _schema(expected: Any) -> Any:
    """A validator; jsonschema is loaded only for evals that use it."""
    from jsonschema import Draft202012Validator, SchemaError

    if json_type(expected) != "object":
        raise ValueError("takes a JSON Schema object")
    try:
        Draft202012Validator.check_schema(expected)
    except SchemaError as error:
        raise ValueError(f"is not a JSON Schema: {error.message[:200]}") from None
    return Draft202012Validator(expected)


def _pattern(expected: Any) -> Any:
    if not isinstance(expected, str) or not 0 < len(expected) <= LONGEST_PATTERN:
        raise ValueError(f"takes a regular expression of 1 to {LONGEST_PATTERN} characters")
    try:
        compiled = re.compile(expected)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    if _nested(re._parser.parse(expected)):  # type: ignore[attr-defined]
        raise ValueError("repeats something that itself varies, as in (a+)+, which can take for ever; write it flat")
    return compiled


def _nested(tree: Any, inside: bool = False) -> bool:
    """Whether a repetition of variable length stands inside another one: the cause of endless matching."""
    for operator, argument in tree:
        repeat = str(operator) in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}
        varies = repeat and argument[0] != argument[1]
        if inside and (varies or str(operator) == "BRANCH"):
            return True
        if any(_nested(part, inside or (varies and argument[1] > 1)) for part in _parts(argument)):
            return True
    return False


def _parts(argument: Any) -> list[Any]:
    if isinstance(argument, re._parser.SubPattern):  # type: ignore[attr-defined]
        return [argument]
    if isinstance(argument, tuple | list):
        return [found for item in argument for found in _parts(item)]
    return []


def _has(value: Any, wanted: Any) -> bool:
    """Substring of a string, element of an array, key of an object. TypeError for any other value."""
    if isinstance(value, str) and isinstance(wanted, str):
        return wanted in value
    if isinstance(value, list):
        return any(same(item, wanted) for item in value)
    if isinstance(value, dict) and isinstance(wanted, str):
        return wanted in value
    raise TypeError(f"{json_type(value)} cannot contain {json_type(wanted)}")


def _length(value: Any, wanted: int) -> bool:
    if not isinstance(value, str | list | dict):
        raise TypeError(f"{json_type(value)} has no length")
    return len(value) == wanted


def _ordered(value: Any) -> Any:
    if json_type(value) not in {"integer", "number"}:
        raise TypeError(f"{json_type(value)} is no number")
    return value


def _matches(value: Any, pattern: re.Pattern[str]) -> bool:
    if not isinstance(value, str):
        raise TypeError(f"{json_type(value)} is no string")
    if len(value) > LONGEST_SUBJECT:
        raise TypeError(f"the string has {len(value)} characters, matches takes at most {LONGEST_SUBJECT}")
    return pattern.search(value) is not None


CHECKS: dict[str, Check] = {
    "equals": Check(_anything, same),
    "length": Check(_count, _length),
    "min": Check(_number, lambda value, least: bool(_ordered(value) >= least)),
    "max": Check(_number, lambda value, most: bool(_ordered(value) <= most)),
    "contains": Check(_anything, _has),
    "not_contains": Check(_anything, lambda value, unwanted: not _has(value, unwanted)),
    "matches": Check(_pattern, _matches),
    "exists": Check(_flag, lambda _, wanted: bool(wanted)),
    "type": Check(_types, lambda value, names: json_type(value) in names or ("number" in names and _is_int(value))),
    "schema": Check(_schema, lambda value, validator: bool(validator.is_valid(value))),
    "one_of": Check(_choices, lambda value, choices: any(same(value, c) for c in choices)),
}


def _is_int(value: Any) -> bool:
    return json_type(value) == "integer"
