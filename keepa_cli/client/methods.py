"""A Python method for every operation: its name, signature and docstring, from the registry."""

from __future__ import annotations

import inspect
import keyword
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, Literal

from keepa_cli import ops
from keepa_cli.core.envelope import Envelope
from keepa_cli.core.registry import Arg, Operation
from keepa_cli.core.schema import JSON_TYPES

Caller = Callable[[str, Mapping[str, Any]], Envelope]
TYPES: Mapping[str, Any] = {
    "string": str, "integer": int, "number": float, "boolean": bool,
    "object": Mapping[str, Any], "array": Sequence[Any],
}  # fmt: skip
_FLAG = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")
_LOADING = threading.RLock()
_FOUND: dict[str, Operation] = {}


def find(name: str) -> Operation:
    """The operation called `name`, also where several threads ask for the first time. Raises `unknown_command`."""
    if name not in _FOUND:
        with _LOADING:
            _FOUND[name] = ops.find(name)
    return _FOUND[name]


def families() -> dict[str, str]:
    """Every family by its Python name."""
    return {python_name(family): family for family in ops.families()}


def operations(family: str) -> dict[str, Operation]:
    """The operations of a family by their Python names; "" is the one that is called like the family."""
    with _LOADING:
        return {python_name(op.name.partition(".")[2]): op for op in ops.load(family)}


def python_name(name: str) -> str:
    plain = name.replace("-", "_")
    return f"{plain}_" if keyword.iskeyword(plain) else plain


class Family:
    """The methods of one family: `client.products.get("B001GZ6QEC")`."""

    def __init__(self, name: str, caller: Caller) -> None:
        self._name = name
        self._methods = {verb: method(op, caller) for verb, op in operations(name).items()}

    def __getattr__(self, name: str) -> Callable[..., Envelope]:
        found: Callable[..., Envelope] | None = self.__dict__.get("_methods", {}).get(name)
        if found is None:
            raise AttributeError(missing(name, dir(self), f"{self.__dict__.get('_name', 'the family')}"))
        return found

    def __dir__(self) -> list[str]:
        return sorted(self._methods)

    def __repr__(self) -> str:
        return f"<{self._name}: {', '.join(self._methods)}>"


def attribute(family: str, caller: Caller) -> Any:
    """What a client has under the name of a family: its methods, or the one operation that is called like it."""
    only = operations(family).get("")
    return method(only, caller) if only else Family(family, caller)


def method(op: Operation, caller: Caller) -> Callable[..., Envelope]:
    """`op` as a function that takes the parameters of `signature(op)`."""
    taken = signature(op)

    def run(*args: Any, **kwargs: Any) -> Envelope:
        return caller(op.name, taken.bind(*args, **kwargs).arguments)

    run.__name__ = run.__qualname__ = python_name(op.name.partition(".")[2] or op.name)
    run.__doc__ = documentation(op)
    run.__signature__ = taken  # type: ignore[attr-defined]
    return run


def signature(op: Operation) -> inspect.Signature:
    """What stands without a flag on the command line may be given by position, everything by name."""
    placed = sorted((a for a in op.args if a.spec.position), key=lambda a: not a.required)
    named = [a for a in op.args if not a.spec.position]
    parameters = [_parameter(a, inspect.Parameter.POSITIONAL_OR_KEYWORD) for a in placed]
    parameters += [_parameter(a, inspect.Parameter.KEYWORD_ONLY) for a in named]
    return inspect.Signature(parameters, return_annotation=Envelope)


def documentation(op: Operation) -> str:
    """The docstring of a method: what it does and costs, and every parameter, spelled as in Python."""
    lines = [op.summary, *(["", *op.doc.splitlines()] if op.doc else [])]
    if op.args:
        lines += ["", "Args:", *(f"    {a.name}: {a.spec.help}" for a in op.args)]
    return _FLAG.sub(lambda found: found[1].replace("-", "_"), "\n".join(lines))


def missing(name: str, known: Sequence[str], where: str) -> str:
    import difflib

    close = difflib.get_close_matches(name, known, n=1)
    return f"{where} has no {name!r}" + (f"; did you mean {close[0]}?" if close else "")


def _parameter(arg: Arg, kind: Any) -> inspect.Parameter:
    default: Any = inspect.Parameter.empty
    if not arg.required:
        default = None if arg.default == [] else arg.default
    return inspect.Parameter(arg.name, kind, default=default, annotation=_type(arg, default))


def _type(arg: Arg, default: Any) -> Any:
    if arg.choices:
        item: Any = Literal[arg.choices]
    else:
        item = reduce(or_, (TYPES[name] for name in arg.spec.accepts or (JSON_TYPES[arg.type],)))
    if arg.many:
        item = item | Sequence[item]
    return item | None if default is None else item
