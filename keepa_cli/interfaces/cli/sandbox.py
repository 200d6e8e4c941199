"""`sandbox serve`: a local Keepa on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keepa_cli.core.context import Context
from keepa_cli.core.envelope import dumps, ok
from keepa_cli.core.errors import invalid
from keepa_cli.interfaces.cli.common import State, common_options, split

if TYPE_CHECKING:
    from keepa_cli.sandbox import LogEntry, Sandbox, SandboxConfig

HELP = """Run a local Keepa: every endpoint, without account and tokens.

It has Keepa's token bucket, an invented catalogue that follows from the seed, trackings, and faults on demand. It
listens on this machine only and runs until Ctrl-C. Any key of 64 letters and digits is accepted.

\b
Faults: NAME[=VALUE][xCOUNT][%PERCENT][@PATH], for example 429x3, slow=0.5, 503x2@/product, 500%10
{faults}"""


def _serve(**values: Any) -> None:
    from keepa_cli.sandbox.serve import line_of, serve

    state: State = click.get_current_context().obj
    common, given = split(values)
    merged = state.merged(common)
    state.as_json = state.as_json or bool(merged.get("as_json"))
    quiet = bool(given.pop("quiet"))
    config = _config(given, state.context)

    def log(entry: LogEntry) -> None:
        click.echo(state.context.redactor.text(line_of(entry)), file=state.context.stderr)

    sandbox = serve(config, on_ready=_announcer(state), on_request=None if quiet else log)
    click.echo(f"Stopped after {sandbox.answered} requests.", file=state.context.stderr)


def _config(given: dict[str, Any], context: Context) -> SandboxConfig:
    from keepa_cli.sandbox import SandboxConfig

    hosts: tuple[str, ...] = given["host"] or ("127.0.0.1",)
    if len(set(hosts)) > 1 or len(hosts) > 2:
        raise invalid(
            "The sandbox listens on one host; give --host once, or twice the same.", field="host", value=hosts
        )
    return SandboxConfig(
        seed=given["seed"],
        rate=given["rate"],
        tokens=given["tokens"],
        data=given["data"],
        cassettes=_cassettes(given["from_cassettes"], context),
        faults=given["fault"],
        port=given["port"],
        host=hosts[0],
        remote=len(hosts) == 2,
        deny_keys=given["deny_key"],
        any_key=given["any_key"],
        clock=lambda: context.now().timestamp(),
    )


def _cassettes(folder: str | None, context: Context) -> list[Path] | None:
    """The library of the context when no folder is named."""
    if folder is None:
        return None
    if folder:
        if not Path(folder).is_dir():
            raise invalid(f"{folder} is not a folder.", field="from_cassettes", value=folder)
        return [Path(folder)]
    from keepa_cli.cassettes.roots import library_roots

    return library_roots(context)


def _announcer(state: State) -> Callable[[Sandbox], None]:
    context = state.context

    def announce(sandbox: Sandbox) -> None:
        config, url = sandbox.config, sandbox.base_url
        for line in (
            f"The sandbox answers at {url} (seed {config.seed}, {config.rate} tokens per minute). Ctrl-C ends it.",
            f"export KEEPA_BASE_URL={url}",
            *sandbox.notes,
        ):
            click.echo(line, file=context.stderr)
        if state.as_json:
            data = {"base_url": url, "seed": config.seed, "rate": config.rate, "notes": sandbox.notes}
            context.stdout.write(dumps(ok("sandbox.serve", {"transport": "cli"}, data), context.redactor) + "\n")
            context.stdout.flush()

    return announce


def _help() -> str:
    from keepa_cli.sandbox.faults import KINDS

    width = max(map(len, KINDS)) + 2
    rows = (
        f"  {name:<{width}}{kind.meaning}" + (f" (VALUE: {kind.value})" if kind.value else "")
        for name, kind in KINDS.items()
    )
    return HELP.format(faults="\n".join(rows))


def _options() -> list[click.Parameter]:
    return [
        click.Option(
            ["--host"], multiple=True, metavar="HOST", help="Where to listen. Beyond this machine only if given twice."
        ),
        click.Option(
            ["--port"], type=click.IntRange(0, 65535), default=8770, show_default=True, help="0 takes a free port."
        ),
        click.Option(["--seed"], type=int, default=1, show_default=True, help="Another seed is another catalogue."),
        click.Option(
            ["--rate"], type=int, default=20, show_default=True, help="Tokens per minute; 60 times it fit in."
        ),
        click.Option(["--tokens"], type=int, help="The balance at the start; full without it, may be negative."),
        click.Option(
            ["--data"], metavar="DIR", help="Answer /product from the raw Keepa bodies in DIR, byte for byte."
        ),
        click.Option(
            ["--from-cassettes"],
            is_flag=False,
            flag_value="",
            default=None,
            metavar="[DIR]",
            help="Answer from recordings only, byte for byte; without DIR from the cassette library.",
        ),
        click.Option(["--fault"], multiple=True, metavar="SPEC", help="Spoil answers; see above. Repeatable."),
        click.Option(["--deny-key"], multiple=True, metavar="KEY", help="Answer 402 to this key. Repeatable."),
        click.Option(["--any-key"], is_flag=True, help="Accept keys of any form."),
        click.Option(["--quiet"], is_flag=True, help="Do not list the requests on stderr."),
        *[o for o in common_options() if o.name == "as_json"],
    ]


command = click.Group("sandbox", help="A local stand-in for Keepa.", short_help="A local stand-in for Keepa")
command.add_command(
    click.Command(
        "serve", callback=_serve, help=_help(), short_help="Run a local Keepa until Ctrl-C", params=_options()
    )
)
