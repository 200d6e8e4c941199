"""One Operation per thing that can be asked; interfaces, schemas and docs are derived from it."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cached_property
from types import NoneType, UnionType
from typing import Any, Literal


# Comparisons and representations that nobody uses are left out: making them is a part of every start.
@dataclass(frozen=True, eq=False, repr=False)
class Param:
    """What a type hint cannot say about a parameter.

    `parse` turns a given value into the canonical one and raises ValueError with a sentence for people;
    `accepts` lists the JSON types taken before `parse`. `position` puts the parameter on the command line
    without a flag. `hidden` values are secrets: never echoed, never in a request summary. Items of a list are
    split at commas unless they are `whole`. What may come `from_file` gets a second flag, --NAME-file.
    """

    help: str | None = None
    metavar: str | None = None
    min: int | None = None
    max: int | None = None
    pattern: str | None = None
    parse: Callable[[Any], Any] | None = None
    accepts: tuple[str, ...] | None = None
    examples: tuple[Any, ...] | None = None
    max_items: int | None = None
    position: bool | None = None
    flag: str | None = None
    hidden: bool | None = None
    whole: bool | None = None
    from_file: bool | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Arg:
    """A parameter as the generators see it; worked out from the signature, never written by hand."""

    name: str
    type: type
    choices: tuple[Any, ...] | None
    many: bool
    required: bool
    default: Any
    spec: Param

    @property
    def flag(self) -> str:
        return self.spec.flag or "--" + self.name.replace("_", "-")


@dataclass(frozen=True)
class Request:
    """One call of the Keepa API before it is encoded.

    `query` values may be str, int, bool (sent as 0/1), lists (comma-joined) or None (left out).
    `body` is JSON data of a POST. `asked` lists the items that the answer must account for. `notes` are sentences
    about the request itself; they become warnings of the answer and of a dry run. Query values named by `secret` are
    never shown. What `writes` upstream is never sent twice. `check` refuses what depends on today's date, before a
    call that spends.
    """

    method: Literal["GET", "POST"]
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    binary: bool = False
    asked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    writes: bool = False
    check: Callable[[datetime], None] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """Several requests that make one answer. `merge` turns their parsed bodies, in order, into one body."""

    requests: tuple[Request, ...]
    merge: Callable[[Sequence[dict[str, Any]]], dict[str, Any]]


@dataclass(frozen=True)
class CostPart:
    name: str
    tokens: int
    worst: int
    note: str = ""


@dataclass(frozen=True)
class Cost:
    """Token estimate of a call; `confirm` forces a confirmation whatever the amount (contract §3)."""

    parts: tuple[CostPart, ...] = ()
    confirm: bool = False
    notes: tuple[str, ...] = ()

    @property
    def estimated(self) -> int:
        return sum(p.tokens for p in self.parts)

    @property
    def worst(self) -> int:
        return sum(p.worst for p in self.parts)


FREE = Cost()
Effect = Literal["read", "write_local", "write_remote"]


@dataclass(frozen=True, eq=False, repr=False)
class Operation:
    """`run` returns a Request or Batch (remote) or plain data (local); a parameter called `ctx` gets the Context,
    one called `call` a function `(name, params) -> envelope` that runs another operation.

    `view` makes the data of a remote operation from the body, purely; `finish(ctx, call, data, params)` then does
    what needs this machine or a further call: write files, look up what was found. It does not run on a dry run.
    A local operation with `passes_mode` takes --live and its like for the operations that it runs.
    """

    name: str
    run: Callable[..., Any]
    toolset: str
    cost: Callable[[dict[str, Any]], Cost]
    returns: str | None
    view: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]] | None
    examples: tuple[str, ...]
    effect: Effect
    needs: tuple[str, ...]
    cacheable: bool = True
    finish: Callable[..., dict[str, Any]] | None = None
    tool_name: str | None = None
    passes_mode: bool = False

    @property
    def tool(self) -> str:
        """The name of the MCP tool: that of the operation in underscores, unless the contract gives another."""
        return self.tool_name or self.name.replace(".", "_").replace("-", "_")

    @cached_property
    def remote(self) -> bool:
        returned = str(inspect.signature(self.run).return_annotation)
        return "Request" in returned or "Batch" in returned

    @cached_property
    def batched(self) -> bool:
        """Whether a long list of items is split into several requests."""
        return "Batch" in str(inspect.signature(self.run).return_annotation)

    @property
    def takes_cache_options(self) -> bool:
        """Whether an answer of a live call may come from the response cache."""
        return self.cacheable and self.effect == "read" and self.remote

    @cached_property
    def _doc(self) -> tuple[str, str]:
        summary, _, rest = (inspect.getdoc(self.run) or "").partition("\n")
        return summary.strip(), rest.strip()

    @property
    def summary(self) -> str:
        return self._doc[0]

    @property
    def doc(self) -> str:
        return self._doc[1]

    @cached_property
    def args(self) -> tuple[Arg, ...]:
        return tuple(read_args(self.run))


OPERATIONS: dict[str, Operation] = {}
TOKENS_STATUS = "tokens.status"
"""The operation that every lack of tokens points to."""
INJECTED = ("ctx", "call")


def _free(_: dict[str, Any]) -> Cost:
    return FREE


def operation(
    name: str,
    *,
    toolset: str,
    cost: Callable[[dict[str, Any]], Cost] = _free,
    returns: str | None = None,
    view: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]] | None = None,
    examples: Sequence[str] = (),
    effect: Effect = "read",
    cacheable: bool = True,
    finish: Callable[..., dict[str, Any]] | None = None,
    tool: str | None = None,
    passes_mode: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a typed function as the operation `name` ("family.verb"). Its docstring is the help.

    `cacheable` is False where a read must never be answered from the response cache, such as the token bucket.
    """

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        if name in OPERATIONS:
            raise ValueError(f"operation {name!r} is declared twice")
        needs = tuple(p for p in inspect.signature(fn).parameters if p in INJECTED)
        OPERATIONS[name] = Operation(
            *(name, fn, toolset, cost, returns, view, tuple(examples), effect, needs),
            *(cacheable, finish, tool, passes_mode),
        )
        return fn

    return register


def read_args(fn: Callable[..., Any]) -> Iterator[Arg]:
    """The parameters of `fn` in order, without the injected ones. TypeError when one has no help."""
    hints = typing.get_type_hints(fn, include_extras=True)
    for p in inspect.signature(fn).parameters.values():
        if p.name in INJECTED:
            continue
        hint, notes = _unwrap(hints[p.name])
        many = typing.get_origin(hint) is list
        if many:
            hint, inner = _unwrap(typing.get_args(hint)[0])
            notes += inner
        spec = _merge(notes)
        if not spec.help:
            raise TypeError(f"{fn.__name__}({p.name}) has no Param(help)")
        choices = typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else None
        required = p.default is p.empty
        kind = type(choices[0]) if choices else (dict if typing.get_origin(hint) is dict else hint)
        yield Arg(p.name, kind, choices, many, required, None if required else p.default, spec)


def _unwrap(hint: Any) -> tuple[Any, list[Param]]:
    """Peel Annotated and Optional off a type hint; the outermost Param comes first."""
    notes: list[Param] = []
    while True:
        origin = typing.get_origin(hint)
        if origin is typing.Annotated:
            hint, *extra = typing.get_args(hint)
            notes += [x for x in reversed(extra) if isinstance(x, Param)]  # Python flattens nested ones, inner first
        elif origin in (typing.Union, UnionType):
            hint = next(h for h in typing.get_args(hint) if h is not NoneType)
        else:
            return hint, notes


def _merge(notes: list[Param]) -> Param:
    """The outer Param names the help; an inner one (an ASIN's pattern, say) still constrains."""

    def pick(name: str) -> Any:
        return next((v for n in notes if (v := getattr(n, name)) is not None), None)

    return Param(**{f.name: pick(f.name) for f in fields(Param)})
