"""The long-running protocols on the command line: --stdio, --mcp, --mcp-http and `mcp serve`."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator, Mapping
from typing import Any

import click

from keepa_cli.core.errors import invalid
from keepa_cli.interfaces.cli.common import CommonOption, State, common_options, flags, split

HOST, PORT = "127.0.0.1", 8765
ERAS = ("auto", "legacy", "dual")
HELP = """Serve agents over MCP: on stdin and stdout, or with --http as Streamable HTTP.

Answers come from recordings. Only --live lets a call reach Keepa, within the budget of the configuration; a client can
narrow that, never widen it. Files of arguments must lie below the working folder or KEEPA_CLI_MCP_ROOTS (a path list).

\b
Examples:
  kc mcp serve
  kc mcp serve --toolset all --profile offline_fixture_only
  kc mcp serve --http --port 8765
  kc mcp serve --http --host 0.0.0.0 --token-env MCP_TOKEN"""


def root_options() -> list[click.Parameter]:
    """The contract's spellings, on the command itself."""
    return [
        CommonOption(["--stdio", "stdio"], is_flag=True, help="Answer JSON lines on stdin and stdout."),
        CommonOption(["--mcp", "mcp"], is_flag=True, help="Same as kc mcp serve."),
        CommonOption(["--mcp-http", "mcp_http"], is_flag=True, help="Same as kc mcp serve --http."),
        CommonOption(["--mcp-http-host", "mcp_http_host"], metavar="HOST", help=f"[default: {HOST}]"),
        CommonOption(["--mcp-http-port", "mcp_http_port"], type=click.IntRange(0, 65535), help=f"[default: {PORT}]"),
        CommonOption(
            ["--mcp-http-sse", "mcp_http_sse"], is_flag=True, help="Answer as an event stream, with progress."
        ),
    ]


def by_options(state: State, values: Mapping[str, Any]) -> int:
    """Serve what the options of the command itself ask for; the exit code. Raises for none and for several."""
    chosen = [name for name in ("stdio", "mcp", "mcp_http") if values.get(name)]
    if not chosen:
        raise click.UsageError("Missing command.")
    if len(chosen) > 1:
        raise invalid("--stdio, --mcp and --mcp-http are three protocols: give one.", field=chosen[1])
    live = _live(state.given)
    if chosen == ["stdio"]:
        from keepa_cli.interfaces.jsonl import serve

        return serve(state.context, live=live)
    if chosen == ["mcp"]:
        return _stdio(state, live=live, toolset=None, profile=None, era="auto")
    return _http(
        state,
        live=live,
        host=values.get("mcp_http_host") or HOST,
        port=PORT if values.get("mcp_http_port") is None else values["mcp_http_port"],
        sse=bool(values.get("mcp_http_sse")),
    )


def command() -> click.Command:
    group = click.Group("mcp", help="Serve agents over the Model Context Protocol.")
    group.add_command(click.Command("serve", help=HELP, params=_options(), callback=_serve))
    return group


def _options() -> list[click.Parameter]:
    from keepa_cli.agent.profiles import DEFAULT_PROFILE, DEFAULT_TOOLSET, PROFILES, TOOLSETS

    own: list[click.Parameter] = [
        click.Option(["--http"], is_flag=True, help="Streamable HTTP instead of stdin and stdout."),
        click.Option(["--host"], metavar="HOST", help=f"Where HTTP listens. [default: {HOST}]"),
        click.Option(["--port"], type=click.IntRange(0, 65535), help=f"0 takes a free one. [default: {PORT}]"),
        click.Option(["--sse"], is_flag=True, help="Answer HTTP calls as an event stream, with progress."),
        click.Option(
            ["--token-env"], metavar="NAME", help="Environment variable with the bearer token of HTTP clients."
        ),
        click.Option(
            ["--allow-origin"], multiple=True, metavar="ORIGIN", help="A web origin that may call; repeatable."
        ),
        click.Option(["--toolset"], type=click.Choice(list(TOOLSETS)), help=f"[default: {DEFAULT_TOOLSET}]"),
        click.Option(["--profile"], type=click.Choice(list(PROFILES)), help=f"[default: {DEFAULT_PROFILE}]"),
        click.Option(
            ["--era"],
            type=click.Choice(ERAS),
            default="auto",
            help="Protocol: legacy = with handshake (2025-11-25 and older), dual = 2026-07-28 too. "
            "[default: auto, which is legacy on stdio and dual over HTTP]",
        ),
    ]
    return own + [o for o in common_options() if o.name in {"live", "verbose"}]


def _serve(**values: Any) -> None:
    state: State = click.get_current_context().obj
    common, own = split(values)
    live = _live(state.merged(common))
    http = own.pop("http")
    only_http = {name: own.pop(name) for name in ("host", "port", "sse", "token_env", "allow_origin")}
    if not http:
        given = [name for name, value in only_http.items() if value not in (None, False, ())]
        if given:
            flag = "--" + given[0].replace("_", "-")
            raise invalid(f"{flag} goes with --http.", field=given[0], value=only_http[given[0]])
        code = _stdio(state, live=live, **own)
    else:
        chosen = {k: v for k, v in only_http.items() if v is not None}
        code = _http(state, live=live, **{"host": HOST, "port": PORT} | chosen | own)
    raise click.exceptions.Exit(code)


def _live(given: Mapping[str, Any]) -> bool:
    """Whether calls may reach Keepa. Other mode flags belong to each call."""
    asked = [flag for flag in flags(given).given() if flag not in {"--live", "--replay"}]
    if asked:
        raise invalid(f"{asked[0]} is said with each call, not to the server.", field="mode", value=asked[0])
    return bool(given.get("live"))


@contextlib.contextmanager
def _collecting_later() -> Iterator[None]:
    """Without looking for garbage: imports make next to none, and the search takes an eighth of their time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was:
            gc.enable()


def _stdio(state: State, *, live: bool, toolset: str | None, profile: str | None, era: str) -> int:
    with _collecting_later():
        from keepa_cli.interfaces.mcp.stdio import serve

    return serve(state.context, live=live, toolset=toolset, profile=profile, dual=era == "dual")


def _http(state: State, **options: Any) -> int:
    with _collecting_later():
        from keepa_cli.interfaces.mcp.http import serve

    era = options.pop("era", "auto")
    return serve(state.context, dual=era != "legacy", **options)
