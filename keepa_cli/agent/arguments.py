"""The arguments of a call: parameters of the operation, options of the call, and references to earlier answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from keepa_cli.agent.portable import TEXT_OR_LIST
from keepa_cli.agent.tools import EVERY_CALL, REMOTE_CALL, RUNTIME, RUNTIME_CALL
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.registry import Arg, Operation

_TYPES: Mapping[str, tuple[type, ...]] = {"string": (str,), "boolean": (bool,), "integer": (int,)}
_ANY_TEXT: Mapping[str, Any] = {"type": "string"}
NULL_WORDS = frozenset({"null"})


@dataclass(frozen=True)
class CallOptions:
    """What a caller may say about one call beside its parameters."""

    fixture: str | None = None
    dry_run: bool = False
    yes: bool = False
    quote_token: str | None = None
    max_tokens: int | None = None
    no_cache: bool = False
    idempotency_key: str | None = None
    out: str | None = None
    from_cache: str | None = None
    profile: str | None = None


@dataclass
class Arguments:
    """`runtime` holds what must be resolved before the operation runs."""

    params: dict[str, Any] = field(default_factory=dict)
    options: CallOptions = field(default_factory=CallOptions)
    runtime: dict[str, Any] = field(default_factory=dict)


def split(op: Operation, given: Mapping[str, Any], *, runtime: bool) -> Arguments:
    """Sort `given` by what it belongs to. Raises `invalid_arguments` for options of a wrong type or that do not apply.

    Nulls stand for "not given", as many clients send them; so does the text "null" where no text is taken.
    """
    own = {a.name: a for a in op.args}
    found = Arguments()
    options: dict[str, Any] = {}
    problems: list[dict[str, Any]] = []
    for name, value in given.items():
        if value is None or (_is_null_word(value) and not _takes_text(own.get(name), name)):
            continue
        if name in own:
            found.params[name] = value
        elif runtime and name in RUNTIME:
            found.runtime[name] = value
        elif name in EVERY_CALL or (name in REMOTE_CALL and (op.remote or op.passes_mode)):
            problems += _option(options, name, value)
        else:
            found.params[name] = value  # the operation's own check refuses it, with the nearest name
    if problems:
        raise _refused(op, problems)
    found.options = CallOptions(**options)
    return found


def _option(options: dict[str, Any], name: str, value: Any) -> Iterable[dict[str, Any]]:
    schema = {**EVERY_CALL, **REMOTE_CALL}[name]
    wanted = schema["type"]
    if wanted == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    right = isinstance(value, _TYPES[wanted]) and (wanted == "boolean" or not isinstance(value, bool))
    if not right:
        yield {"field": name, "message": f"{name} must be {wanted}, not {type(value).__name__}"}
    elif "enum" in schema and value not in schema["enum"]:
        yield {
            "field": name,
            "message": f"{name} must be one of {', '.join(schema['enum'])}",
            "allowed": schema["enum"],
        }
    elif wanted == "integer" and value < schema.get("minimum", value):
        yield {"field": name, "message": f"{name} must be at least {schema['minimum']}, not {value}"}
    else:
        options[name] = value


def _is_null_word(value: Any) -> bool:
    return isinstance(value, str) and value.strip() in NULL_WORDS


def _takes_text(arg: Arg | None, name: str) -> bool:
    """Whether any text may stand for that name: "null" is one then. A list, a number or one of several words is not."""
    if arg is not None:
        listed = arg.many and arg.name not in TEXT_OR_LIST
        return arg.type is str and not (listed or arg.choices)
    schema = {**EVERY_CALL, **REMOTE_CALL, **RUNTIME_CALL}.get(name, _ANY_TEXT)
    return schema["type"] == "string" and "enum" not in schema


def _refused(op: Operation, problems: list[dict[str, Any]]) -> KeepaCliError:
    text = "; ".join(p["message"] for p in problems)
    return KeepaCliError(
        Kind.INVALID_ARGUMENTS,
        text[0].upper() + text[1:] + ".",
        details={"errors": problems, "field": problems[0]["field"]},
        next_actions=["kc " + op.name.replace(".", " ") + " --help"],
    )
