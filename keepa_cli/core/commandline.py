"""An operation with its parameters as the shell command that a person would paste."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from keepa_cli.core.registry import Arg, Operation


def command_line(op: Operation, params: Mapping[str, Any], flags: Sequence[str] = ()) -> str:
    """`kc family verb ...` with `params` (as given, or bound) and `flags`; hidden values are left out."""
    positional: list[str] = []
    options: list[str] = []
    for arg in op.args:
        value = params.get(arg.name)
        if value is None or value == arg.default or arg.spec.hidden:
            continue
        if arg.spec.position:
            positional += [_text(v) for v in (value if isinstance(value, list | tuple) else [value])]
        else:
            options += _option(arg, value)
    words = ["kc", *op.name.split(".")]
    dashed = any(word.startswith("-") for word in positional)
    words += [*options, *flags, "--", *positional] if dashed else [*positional, *options, *flags]
    return " ".join(shlex.quote(word) for word in words)


def _option(arg: Arg, value: Any) -> list[str]:
    if arg.type is bool:
        return [arg.flag if value else "--no-" + arg.flag[2:]]
    values = value if isinstance(value, list | tuple) else [value]
    return [word for v in values for word in (arg.flag, _text(v))]


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | bool) else str(value)
