"""Options that every command takes, before or after its name, and what they mean together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from keepa_cli import __version__
from keepa_cli.core.context import Context
from keepa_cli.core.registry import Operation
from keepa_cli.engine.modes import Flags


@dataclass(eq=False, repr=False)
class State:
    """What the commands of one run share: the context and the options given before the command's name."""

    context: Context
    as_json: bool = False
    verbose: int = 0
    given: dict[str, Any] = field(default_factory=dict)

    def merged(self, here: Mapping[str, Any]) -> dict[str, Any]:
        """Common options given before and after the command's name; the later one wins."""
        return self.given | given(here)


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given: 0 is a value, save for the count of -v."""
    return {k: v for k, v in values.items() if v is not None and v is not False and (v or k != "verbose")}


class CommonOption(click.Option):
    """An option of every command; help lists these under a heading of their own."""


ALWAYS = frozenset({"as_json", "verbose"})
CONSENT = frozenset({"yes", "max_tokens", "no_wait", "idempotency_key"})

MODES = frozenset({"dry_run", "replay", "live", "record"})
CACHE = frozenset({"cache_ttl", "no_cache"})


def options_for(op: Operation) -> list[click.Parameter]:
    """The common options that mean something to `op` and that it does not have itself."""
    own = {a.name for a in op.args}
    wanted = set(COMMON_NAMES) if op.remote else ALWAYS | (CONSENT if "call" in op.needs else set())
    if op.passes_mode:
        wanted |= MODES | CACHE
    elif not op.takes_cache_options:
        wanted -= CACHE
    if not op.batched:
        wanted -= {"fresh"}
    return [o for o in common_options() if o.name in wanted - own]


def common_options(*, root: bool = False) -> list[click.Parameter]:
    """Fresh option objects, for one command."""
    options: list[click.Parameter] = [
        CommonOption(["--json", "as_json"], is_flag=True, help="Print one JSON envelope."),
        CommonOption(["--dry-run", "dry_run"], is_flag=True, help="Show the request and its cost; send nothing."),
        CommonOption(["--fixture", "fixture"], metavar="NAME", help="Answer from this promoted fixture."),
        CommonOption(["--replay", "replay"], is_flag=True, help="Answer from recordings (the default)."),
        CommonOption(["--live", "live"], is_flag=True, help="Ask Keepa: spends tokens."),
        CommonOption(
            ["--record", "record"],
            is_flag=False,
            flag_value="",
            default=None,
            metavar="[NAME]",
            help="Ask Keepa and keep the sanitized answer in the inbox. Write --record=NAME.",
        ),
        CommonOption(["--yes", "yes"], is_flag=True, help="Consent to the cost or the write."),
        CommonOption(["--max-tokens", "max_tokens"], type=click.IntRange(0), metavar="N", help="Refuse a higher cost."),
        CommonOption(["--quote-token", "quote_token"], metavar="TOKEN", help="With --yes: consent to this quote only."),
        CommonOption(
            ["--idempotency-key", "idempotency_key"],
            metavar="KEY",
            help="Pay for this live call once: again with KEY, it gives the stored answer.",
        ),
        CommonOption(
            ["--cache-ttl", "cache_ttl"],
            metavar="SECONDS",
            help="Take a kept answer up to SECONDS old, and keep the answer of this live call as long.",
        ),
        CommonOption(["--no-cache", "no_cache"], is_flag=True, help="Ask Keepa anew and do not keep its answer."),
        CommonOption(["--fresh", "fresh"], is_flag=True, help="Do not go on where an interrupted batch stopped."),
        CommonOption(["--no-wait", "no_wait"], is_flag=True, help="Fail at once instead of waiting for tokens."),
        CommonOption(["--out", "out"], type=click.Path(path_type=Path), metavar="FILE", help="Write the body to FILE."),
        CommonOption(["-v", "--verbose", "verbose"], count=True, help="Log to stderr; repeat for more."),
    ]
    if root:
        version = click.Option(
            ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version."
        )
        options.insert(0, version)
    return options


def _version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        click.echo(f"keepa-cli {__version__}")
        ctx.exit()


COMMON_NAMES = (
    "as_json", "dry_run", "fixture", "replay", "live", "record", "yes", "max_tokens", "quote_token", "idempotency_key",
    "cache_ttl", "no_cache", "fresh", "no_wait", "out", "verbose",
)  # fmt: skip


def split(values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(common options, parameters of the command)."""
    return (
        {k: v for k, v in values.items() if k in COMMON_NAMES},
        {k: v for k, v in values.items() if k not in COMMON_NAMES},
    )


def flags(common: Mapping[str, Any]) -> Flags:
    return Flags(
        live=bool(common.get("live")),
        dry_run=bool(common.get("dry_run")),
        fixture=common.get("fixture"),
        record=common.get("record"),
        replay=bool(common.get("replay")),
    )
