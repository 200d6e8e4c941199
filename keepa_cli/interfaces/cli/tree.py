"""The command tree, made from the registry; a family is loaded when it is used."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import click

from keepa_cli import ops
from keepa_cli.core.registry import Arg, Operation
from keepa_cli.interfaces.cli import files
from keepa_cli.interfaces.cli.common import CommonOption, options_for

Runner = Callable[[Operation, dict[str, Any]], None]


class Command(click.Command):
    """A leaf whose help lists the common options last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own: list[tuple[str, str]] = []
        common: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            record = None if isinstance(param, click.Argument) else param.get_help_record(ctx)
            if record is not None:
                (common if isinstance(param, CommonOption) else own).append(record)
        for heading, rows in (("Options", own), ("Common options", common)):
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


class Root(click.Group):
    """Families from the registry, and hand-written commands by name; none is imported before it is needed."""

    def __init__(self, runner: Runner, extra: dict[str, Callable[[], click.Command]], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.runner = runner
        self.extra = extra

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*ops.families(), *self.extra})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.extra:
            return self.extra[cmd_name]()
        if cmd_name in ops.families():
            return family(cmd_name, self.runner)
        return None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        Command.format_options(self, ctx, formatter)  # type: ignore[arg-type]
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.about(name)) for name in self.list_commands(ctx)])

    def about(self, name: str) -> str:
        """What the list of commands says of `name`, without importing it."""
        made = self.extra.get(name)
        return (made.__doc__ or "" if made else ops.about(name)).strip().rstrip(".")


def family(name: str, runner: Runner) -> click.Command:
    """The group of one family, or its only command where it is named like the family."""
    operations = ops.load(name)
    if [op.name for op in operations] == [name]:
        return command(operations[0], name, runner)
    group = click.Group(name, help=ops.about(name), short_help=ops.about(name))
    for op in operations:
        verb = op.name.partition(".")[2]
        group.add_command(command(op, verb, runner))
    return group


def command(op: Operation, verb: str, runner: Runner) -> click.Command:
    """The click command of one operation."""
    examples = "".join(f"\n  {line}" for line in op.examples)
    details = f"\n\n{op.doc}" if op.doc else ""
    return Command(
        verb,
        callback=partial(_collect, op, runner),
        help=f"{op.summary}{details}" + (f"\n\n\b\nExamples:{examples}" if examples else ""),
        short_help=op.summary.rstrip("."),
        params=[_parameter(a) for a in op.args] + files.options_for(op) + options_for(op),
    )


def _collect(op: Operation, runner: Runner, **values: Any) -> None:
    runner(op, {k: v for k, v in values.items() if v is not None and v != ()})


def _parameter(arg: Arg) -> click.Parameter:
    if arg.spec.position:
        return click.Argument(
            [arg.name],
            nargs=-1 if arg.many else 1,
            required=arg.required and not arg.spec.from_file,
            metavar=arg.spec.metavar or arg.name.upper(),
            help=arg.spec.help or "",
        )
    if arg.type is bool:
        off = "/--no-" + arg.flag[2:] if arg.default is None else ""
        return click.Option([arg.flag + off, arg.name], default=None, is_flag=True, help=arg.spec.help)
    shown = f" [default: {arg.default}]" if arg.default not in (None, [], "") else ""
    metavar = arg.spec.metavar or ("|".join(map(str, arg.choices)) if arg.choices else arg.type.__name__.upper())
    return click.Option(
        [arg.flag, arg.name],
        multiple=arg.many,
        default=None,
        required=False,
        metavar=metavar,
        help=(arg.spec.help or "") + shown + (" [required]" if arg.required else ""),
    )
