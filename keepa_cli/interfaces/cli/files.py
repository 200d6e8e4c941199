"""Parameters whose value may come from a file: `--NAME-file FILE`, with - for standard input."""

from __future__ import annotations

from typing import Any

import click

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind, invalid
from keepa_cli.core.registry import Arg, Operation

MAX_BYTES = 4 * 1024 * 1024
STANDARD_INPUT = "-"


def options_for(op: Operation) -> list[click.Parameter]:
    """One more option for every parameter that may come from a file."""
    return [
        click.Option(
            ["--" + _name(a).replace("_", "-"), _name(a)],
            metavar="FILE",
            help=f"Read {a.name.replace('_', ' ')} from FILE; - reads standard input.",
        )
        for a in op.args
        if a.spec.from_file
    ]


def read(op: Operation, values: dict[str, Any], ctx: Context) -> dict[str, Any]:
    """`values` with the content of the files in place of their names."""
    found = dict(values)
    for arg in op.args:
        file = found.pop(_name(arg), None) if arg.spec.from_file else None
        if file is None:
            continue
        if arg.name in found:
            raise invalid(f"Give {arg.name} once: as a value or as a file.", field=_name(arg), value=file)
        found[arg.name] = _text(str(file), _name(arg), ctx)
    return found


def _name(arg: Arg) -> str:
    return arg.name + "_file"


def _text(file: str, field: str, ctx: Context) -> str:
    try:
        if file == STANDARD_INPUT:
            text = ctx.stdin.read(MAX_BYTES + 1)
        else:
            with (ctx.cwd / file).open(encoding="utf-8-sig") as stream:
                text = stream.read(MAX_BYTES + 1)
    except UnicodeDecodeError:
        raise invalid(f"{file} is not UTF-8 text.", field=field, value=file) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise KeepaCliError(Kind.IO_ERROR, f"{file} cannot be read: {reason}.", details={"field": field}) from None
    if len(text) > MAX_BYTES:
        raise invalid(f"{file} is longer than {MAX_BYTES} characters.", field=field, value=file)
    return text
