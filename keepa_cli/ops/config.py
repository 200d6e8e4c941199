"""The configuration file: show it, make it, change one setting."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Literal

from keepa_cli.core import auth
from keepa_cli.core.context import Context, find_key
from keepa_cli.core.errors import KeepaCliError, Kind, invalid
from keepa_cli.core.files import lock, refuse_link, write_atomic
from keepa_cli.core.registry import Param, operation
from keepa_cli.core.settings import SETTINGS, read_config, refuse_exposed

DryRun = Annotated[bool, Param("Show what would be written; write nothing.")]
KEY_LENGTH = 64


def _template() -> str:
    lines = ["# Settings of keepa-cli. Flags and environment variables take precedence over this file.", ""]
    for spec in SETTINGS:
        default = "" if spec.default in (None, ()) else str(spec.default)
        default = default.lower() if isinstance(spec.default, bool) else default
        value = default if isinstance(spec.default, int) else f'"{default}"'
        env = f" Environment: {spec.env}." if spec.env else ""
        lines += [f"# {spec.help}{env}", f"# {spec.key} = {value}", ""]
    return "\n".join(lines)


@operation("config.show", toolset="setup", examples=("kc config show",))
def show(ctx: Context) -> dict[str, Any]:
    """Show every setting with the place it came from. The key is never shown, not even a part of it."""
    settings = ctx.settings
    _, key_origin = find_key(ctx.env, settings)
    rows = [
        {
            "setting": spec.key,
            "value": _plain(settings[spec.key]),
            "origin": settings.origin[spec.key],
            "environment": spec.env,
        }
        for spec in SETTINGS
    ]
    return {
        "config_path": str(settings.config_path),
        "exists": settings.config_path.exists(),
        "problem": settings.config_problem.message if settings.config_problem else None,
        "settings": rows,
        "key_origin": key_origin,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [str(v) for v in value]
    return value if isinstance(value, int | bool | None) else str(value)


@operation(
    "config.init", toolset="setup", effect="write_local", examples=("kc config init --dry-run", "kc config init")
)
def init(ctx: Context, dry_run: DryRun = False) -> dict[str, Any]:
    """Write a configuration file with every setting explained and commented out."""
    path = ctx.settings.config_path
    text = _template()
    if path.exists():
        raise KeepaCliError(
            Kind.CONFIG_ERROR, f"{path} exists already and is not overwritten.", next_actions=["kc config show"]
        )
    if not dry_run:
        refuse_link(path)
        write_atomic(path, text.encode(), mode=0o600)
    return {"path": str(path), "written": not dry_run, "content": text}


@operation(
    "config.set-token",
    toolset="setup",
    effect="write_local",
    examples=("kc config set-token", "kc config set-token < key.txt"),
)
def set_token(
    ctx: Context,
    token: Annotated[
        str | None, Param("The key. Better left out: it is asked for, or read from stdin.", position=True, hidden=True)
    ] = None,
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Store the API key in the configuration file, readable by you alone.

    Without an argument the key is read from stdin, or asked for without echo on a terminal. A key given as an
    argument ends up in the shell's history.
    """
    warnings = []
    if token is not None:
        warnings.append(
            {
                "code": "shell_history",
                "message": "A key given as an argument stays in the shell's history and in process lists; "
                "use `kc config set-token` without one.",
            }
        )
    key = _clean_key(token if token is not None else _read_key(ctx))
    ctx.redactor.add_secret(key)
    if len(key) != KEY_LENGTH:
        warnings.append(
            {"code": "key_length", "message": f"Keepa keys have {KEY_LENGTH} characters; this one has {len(key)}."}
        )
    data = _store(ctx, "api_key", key, dry_run)
    if not dry_run:
        auth.note(
            ctx, {"stored_at": auth.stamp(ctx), "last_worked_at": None, "last_failed_at": None, "last_error": None}
        )
    return data | {"value": None, "warnings": warnings}


def _read_key(ctx: Context) -> str:
    if ctx.ask_secret is not None:
        return ctx.ask_secret("Keepa API key")
    return ctx.stdin.read(4096)


def _clean_key(raw: str) -> str:
    key = raw.strip().strip("\"'").strip()
    if not key:
        raise invalid("No key was given.", field="token")
    if any(c.isspace() for c in key):
        raise invalid("The key contains white space; nothing was stored.", field="token")
    if not key.isascii() or not key.isprintable() or any(c in "\"'" for c in key):
        raise invalid("The key contains characters that no Keepa key has; nothing was stored.", field="token")
    return key


@operation("config.set-mode", toolset="setup", effect="write_local", examples=("kc config set-mode replay",))
def set_mode(
    ctx: Context,
    mode: Annotated[Literal["replay", "dry-run", "live", "record"], Param("The default mode.", position=True)],
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Choose where answers come from when no flag says otherwise."""
    return _store(ctx, "mode", mode, dry_run)


@operation("config.set-max-tokens", toolset="setup", effect="write_local", examples=("kc config set-max-tokens 50",))
def set_max_tokens(
    ctx: Context,
    tokens: Annotated[int, Param("Highest worst case of one live call.", position=True, min=0, max=1_000_000)],
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Limit what a single live call may cost at worst."""
    return _store(ctx, "max_tokens", tokens, dry_run)


@operation("config.set-language", toolset="setup", effect="write_local", examples=("kc config set-language zh-CN",))
def set_language(
    ctx: Context,
    language: Annotated[Literal["en", "zh-CN"], Param("Language of messages for people.", position=True)],
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Choose the language of messages for people. JSON output is always English."""
    return _store(ctx, "language", language, dry_run)


def _store(ctx: Context, name: str, value: Any, dry_run: bool) -> dict[str, Any]:
    """Change one setting, keeping everything else in the file as it is, comments too."""
    path = ctx.settings.config_path
    refuse_link(path)
    with lock(path.parent, what="the configuration"):
        stored, problem = read_config(path)
        if problem:
            raise problem
        if "api_key" in stored:
            refuse_exposed(path)
        if not dry_run:
            import tomlkit

            document = tomlkit.parse(path.read_text(encoding="utf-8-sig")) if path.exists() else tomlkit.document()
            document[name] = value
            write_atomic(path, tomlkit.dumps(document).encode(), mode=0o600)
    return {"path": str(path), "setting": name, "value": value, "written": not dry_run, "platform": sys.platform}
