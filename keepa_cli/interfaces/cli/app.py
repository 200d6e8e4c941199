"""argv -> operation -> text or JSON, with one ladder for every error."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from keepa_cli import ops
from keepa_cli.core import envelope
from keepa_cli.core.context import Context
from keepa_cli.core.envelope import Envelope
from keepa_cli.core.errors import ExitCode, KeepaCliError, Kind, internal_error
from keepa_cli.core.registry import Operation
from keepa_cli.engine import Options
from keepa_cli.engine import run as run_operation
from keepa_cli.interfaces.cli import common, files, serving
from keepa_cli.interfaces.cli.common import State, common_options
from keepa_cli.interfaces.cli.tree import Root

INTRO = """Keepa from the command line, for people, CI and agents.

Answers come from recordings unless a call says --live or --record: no key, no tokens, no network."""


class Outcome(click.exceptions.Exit):
    """Ends a command with an exit code of the product."""


def _sandbox() -> click.Command:
    """A local stand-in for Keepa."""
    from keepa_cli.interfaces.cli.sandbox import command

    return command


def _demo() -> click.Command:
    """Show the main job on this machine alone."""
    from keepa_cli.interfaces.cli.demo import command

    return command


def _mcp() -> click.Command:
    """Serve agents over the Model Context Protocol."""
    return serving.command()


def build() -> Root:
    """The command tree. Its objects are made anew on every call and share nothing."""

    def root_callback(**values: Any) -> None:
        state = click.get_current_context().obj
        state.given = common.given(values)
        state.as_json = state.as_json or bool(values.get("as_json"))
        _configure_logging(state, state.given.get("verbose", 0))
        if click.get_current_context().invoked_subcommand is None:
            raise Outcome(serving.by_options(state, values))

    return Root(
        _run_leaf,
        {"sandbox": _sandbox, "demo": _demo, "mcp": _mcp},
        name="kc",
        help=INTRO,
        callback=root_callback,
        params=[*common_options(root=True), *serving.root_options()],
        no_args_is_help=True,
        invoke_without_command=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


def _run_leaf(op: Operation, values: dict[str, Any]) -> None:
    state: State = click.get_current_context().obj
    here, params = common.split(values)
    own = {a.name for a in op.args}
    params |= {k: here.pop(k) for k in list(here) if k in own}
    merged = state.merged(here)
    state.as_json = state.as_json or bool(merged.get("as_json"))
    _configure_logging(state, merged.get("verbose", 0))
    ctx = state.context
    ask = not state.as_json and ctx.stdin.isatty() and ctx.stderr.isatty()
    ctx.ask_secret = (lambda text: click.prompt(text, hide_input=True, err=True)) if ctx.stdin.isatty() else None
    ctx.agree = (lambda question: click.confirm(question, err=True)) if ask else None
    if not state.as_json and (ctx.stderr.isatty() or merged.get("verbose")):
        ctx.tell = lambda text: _say(state, text)
    options = Options(
        flags=common.flags(merged),
        yes=bool(merged.get("yes")),
        quote_token=merged.get("quote_token"),
        max_tokens=merged.get("max_tokens"),
        out=merged.get("out"),
        text=True,
        wait=not merged.get("no_wait"),
        idempotency_key=merged.get("idempotency_key"),
        cache_ttl=merged.get("cache_ttl"),
        no_cache=bool(merged.get("no_cache")),
        fresh=bool(merged.get("fresh")),
        find=ops.find,
        confirm=ctx.agree,
    )
    try:
        result = run_operation(op, files.read(op, params, ctx), ctx, options)
    except KeepaCliError as error:
        result = envelope.failed(op.name, error)
    show(result, state)
    raise Outcome(result.exit_code)


def show(result: Envelope, state: State) -> None:
    """Print the envelope: one JSON document, or text for people with errors on stderr."""
    ctx = state.context
    if state.as_json:
        ctx.stdout.write(envelope.dumps(result, ctx.redactor) + "\n")
    else:
        from keepa_cli.interfaces.cli.render import render
        from keepa_cli.interfaces.cli.texts import Texts

        text = ctx.redactor.text(render(result, Texts(ctx.settings["language"])))
        stream = ctx.stdout if result["ok"] else ctx.stderr
        click.echo(text, file=stream)
    ctx.stdout.flush()


def run(argv: Sequence[str] | None = None, context: Context | None = None) -> int:
    """Run one command line and return its exit code. Never raises; never prints a traceback."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if context is None:
        _use_utf8()
    state = State(context or Context(), as_json="--json" in _options_of(arguments))
    try:
        return _dispatch(arguments, state)
    except KeyboardInterrupt:
        from keepa_cli.interfaces.cli.texts import Texts

        texts = Texts(state.context.settings["language"])
        _say(state, texts("interrupted_live" if state.context.interrupted_while_spending else "interrupted"))
        if state.context.after_interrupt:
            _say(state, state.context.after_interrupt)
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        _silence(state)
        return int(ExitCode.FAILURE)


def _dispatch(arguments: list[str], state: State) -> int:
    try:
        code = build().main(arguments, prog_name="kc", standalone_mode=False, obj=state)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), file=state.context.stdout)
        return int(ExitCode.USAGE)
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        return _fail(state, _usage_error(error))
    except KeepaCliError as error:
        return _fail(state, error)
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return _fail(state, KeepaCliError(Kind.IO_ERROR, f"The system refused: {reason}."))
    except Exception as error:  # noqa: BLE001 - the last rung: a defect is still an answer
        return _fail(state, internal_error(error))
    return int(code or ExitCode.OK)


def _fail(state: State, error: KeepaCliError) -> int:
    show(envelope.failed("kc", error), state)
    return int(error.exit_code)


def _usage_error(error: click.ClickException) -> KeepaCliError:
    kind = Kind.UNKNOWN_COMMAND if isinstance(error, click.NoSuchCommand) else Kind.INVALID_ARGUMENTS
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx else "kc"
    message = error.format_message().strip()
    return KeepaCliError(
        kind, message if message.endswith((".", "?")) else message + ".", next_actions=[f"{path} --help"]
    )


def _options_of(arguments: list[str]) -> list[str]:
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def _say(state: State, text: str) -> None:
    click.echo(state.context.redactor.text(text), file=state.context.stderr)


def _silence(state: State) -> None:
    """The reader went away: let the interpreter close a stdout that leads nowhere."""
    if state.context.stdout is sys.stdout:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _use_utf8() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _configure_logging(state: State, level: int) -> None:
    if not level:
        return
    import logging

    from keepa_cli.core.logs import RedactingFilter

    handler = logging.StreamHandler(state.context.stderr)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    handler.addFilter(RedactingFilter(state.context.redactor))
    logging.basicConfig(level=logging.DEBUG if level > 1 else logging.INFO, handlers=[handler], force=True)
