"""Whether this installation is ready to work."""

from __future__ import annotations

import importlib.util
import platform
import sys
from pathlib import Path
from typing import Annotated, Any

from keepa_cli import __version__
from keepa_cli.core import auth
from keepa_cli.core.context import Context, find_key
from keepa_cli.core.registry import Param, operation
from keepa_cli.core.settings import SPENDING_MODES, exposed, read_config
from keepa_cli.ops import _doctor_live


@operation("doctor", toolset="setup", examples=("kc doctor", "kc --json doctor", "kc doctor --live"))
def doctor(
    ctx: Context,
    call: _doctor_live.Call,
    live: Annotated[bool, Param("Also ask Keepa for the token status: free, and proves the key.")] = False,
) -> dict[str, Any]:
    """Check the installation: version, mode, key, configuration, cassette library, state.

    Works without a key and without a network, and never fails because something is broken: it says what is.
    With --live it sends one request to /token, which costs nothing, and says how long the answer took, how many tokens
    are left and how fast they refill; where CI is set it sends nothing.
    """
    settings = ctx.settings
    asked = _doctor_live.ask(ctx, call) if live else None
    roots = _roots(ctx)
    checks = [_config_check(ctx), _key_check(ctx), _library_check(roots), _yaml_check(), _leftovers_check(ctx)]
    if asked is not None:
        checks.append(_check("live", *_doctor_live.verdict(asked)))
    return {
        "version": __version__,
        "python": platform.python_version(),
        "platform": sys.platform,
        "entry_points": ["keepa-cli", "kc"],
        "mode": {"value": settings.mode.value, "origin": settings.origin["mode"]},
        "offline": settings.mode not in SPENDING_MODES,
        "ci": ctx.in_ci,
        "base_url": {"value": settings["base_url"], "origin": settings.origin["base_url"]},
        "auth": _auth(ctx),
        "config": {"path": str(settings.config_path), "exists": settings.config_path.exists()},
        "state_dir": str(ctx.state_dir),
        "library": roots,
        "checks": checks,
        "healthy": all(c["status"] != "problem" for c in checks),
    } | ({} if asked is None else {"live": asked})


def _auth(ctx: Context) -> dict[str, Any]:
    key, origin = find_key(ctx.env, ctx.settings)
    return {"configured": key is not None, "origin": origin, **auth.health(ctx)}


def _roots(ctx: Context) -> list[dict[str, Any]]:
    from keepa_cli.cassettes.roots import library_roots

    return [{"path": str(root), "exists": root.is_dir(), "cassettes": _count(root)} for root in library_roots(ctx)]


def _count(root: Path) -> int:
    return sum(1 for _ in root.rglob("*.yaml")) if root.is_dir() else 0


def _check(name: str, status: str, message: str, next_step: str | None = None) -> dict[str, Any]:
    return {"check": name, "status": status, "message": message, "next_step": next_step}


def _config_check(ctx: Context) -> dict[str, Any]:
    problem = ctx.settings.config_problem
    if problem:
        return _check("configuration", "problem", problem.message, problem.next_actions[0])
    path = ctx.settings.config_path
    if exposed(path) and "api_key" in read_config(path)[0]:
        return _check("configuration", "problem", f"{path} holds a key and others can read it.", f"chmod 600 {path}")
    return _check("configuration", "ok", "The configuration can be read." if path.exists() else "No file; defaults.")


def _key_check(ctx: Context) -> dict[str, Any]:
    key, origin = find_key(ctx.env, ctx.settings)
    if key is None:
        return _check("key", "ok", "No key: replay, fixture and dry-run need none.", "kc config set-token")
    state = auth.health(ctx)
    worked, failed = state["last_worked_at"], state["last_failed_at"]
    if failed and (not worked or failed > worked):
        return _check("key", "warning", f"Keepa last refused the key ({state['last_error']}).", "kc config set-token")
    return _check("key", "ok", f"A key is configured ({origin}).")


def _library_check(roots: list[dict[str, Any]]) -> dict[str, Any]:
    total = sum(r["cassettes"] for r in roots)
    if not total:
        return _check("library", "warning", "There are no cassettes to replay.", "kc demo")
    return _check("library", "ok", f"{total} cassettes can be replayed.")


def _yaml_check() -> dict[str, Any]:
    package = importlib.util.find_spec("yaml")
    folders = (package.submodule_search_locations or []) if package else []
    if not any(True for folder in folders for _ in Path(folder).glob("_yaml.*[do]")):
        return _check(
            "yaml", "warning", "PyYAML was built without libyaml: cassettes load up to 50 times slower.",
            "pip install --force-reinstall PyYAML",
        )  # fmt: skip
    return _check("yaml", "ok", "Cassettes are read with libyaml.")


def _leftovers_check(ctx: Context) -> dict[str, Any]:
    kept = {name: _files(ctx.state_dir / name) for name in ("inbox", "journal", "quarantine", "failed")}
    waiting = kept["journal"] + kept["quarantine"]
    text = ", ".join(f"{count} in {name}" for name, count in kept.items())
    if waiting:
        return _check("recordings", "warning", f"Recordings wait for attention: {text}.", "kc cassettes list")
    return _check("recordings", "ok", f"Recordings: {text}.")


def _files(folder: Path) -> int:
    return sum(1 for p in folder.iterdir() if not p.name.startswith(".")) if folder.is_dir() else 0
