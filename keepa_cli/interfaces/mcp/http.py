"""MCP as Streamable HTTP: the SDK's application behind our guard."""

from __future__ import annotations

import gc
import ipaddress
from typing import Any

import anyio

from keepa_cli.core.context import Context
from keepa_cli.core.errors import ExitCode, KeepaCliError, Kind, invalid
from keepa_cli.interfaces.mcp.core import Core
from keepa_cli.interfaces.mcp.guard import PATH, TIMED_OUT_KEY, TIMEOUT_KEY, USUAL, Guard, Rules
from keepa_cli.interfaces.mcp.rooms import CAP, IDLE_SECONDS, Rooms
from keepa_cli.interfaces.mcp.server import build_server

TIMEOUT_ERROR = -32003
SPARE = 16
"""Sessions beyond our cap that the SDK may hold for a moment while one gives way."""


def build_app(core: Core, rules: Rules, *, sse: bool, idle: float = IDLE_SECONDS, rooms: Rooms | None = None) -> Guard:
    """The ASGI application of one server."""
    from mcp.server.transport_security import TransportSecuritySettings

    server = build_server(core)
    server.middleware.insert(1, _timed)
    held = rooms or Rooms()
    held.on_left = core.drop
    app = server.streamable_http_app(
        json_response=not sse,
        session_idle_timeout=idle,
        max_sessions=held.cap + SPARE,
        max_request_body_size=rules.body_limit + 1024,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Guard(app, rules, held)


async def _timed(ctx: Any, call_next: Any) -> Any:
    """End a request that takes longer than it may; its work is told to stop."""
    request = ctx.request
    if request is None or ctx.request_id is None or ctx.method == "initialize":
        return await call_next(ctx)
    from mcp.shared.exceptions import MCPError

    limit = request.scope.get(TIMEOUT_KEY, USUAL)
    with anyio.move_on_after(limit / 1000):
        return await call_next(ctx)
    request.scope[TIMED_OUT_KEY] = True
    raise MCPError(TIMEOUT_ERROR, "Request timeout", {"timeout_ms": limit})


def rules_for(host: str, port: int, *, token: str | None, origins: tuple[str, ...], dual: bool) -> Rules:
    """Who may call a server that listens at this address. Raises where a token is needed and there is none."""
    if not _is_loopback(host):
        if not token:
            raise invalid(
                f"Listening on {host}, which other machines reach, needs a bearer token: --token-env NAME.",
                field="host",
                value=host,
            )
        return Rules(frozenset(origins), None, token, dual)
    names = ("127.0.0.1", "localhost", "[::1]")
    hosts = frozenset(f"{name}:{port}" for name in names)
    own = frozenset(f"http://{name}" for name in hosts)
    return Rules(own | frozenset(origins), hosts, token, dual)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def serve(
    ctx: Context,
    *,
    live: bool,
    host: str,
    port: int,
    sse: bool = False,
    token_env: str | None = None,
    allow_origin: tuple[str, ...] = (),
    toolset: str | None = None,
    profile: str | None = None,
    dual: bool = True,
) -> int:
    """Serve until Ctrl-C; the exit code. Raises where the address cannot be listened at."""
    import uvicorn

    token = ctx.env.get(token_env, "").strip() if token_env else None
    if token_env and not token:
        raise invalid(f"The environment variable {token_env} holds no token.", field="token_env", value=token_env)
    if token:
        ctx.redactor.add_secret(token)
    listening = _listen(host, port)
    bound = int(listening.getsockname()[1])
    rules = rules_for(host, bound, token=token, origins=allow_origin, dual=dual)
    core = Core(ctx, live=live, toolset=toolset, profile=profile)
    app = build_app(core, rules, sse=sse)
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, timeout_keep_alive=75, limit_concurrency=CAP * 8,
        timeout_graceful_shutdown=3, server_header=False, date_header=False, h11_max_incomplete_event_size=64 << 10,
    )  # fmt: skip
    ctx.stderr.write(f"MCP at http://{host}:{bound}{PATH} ({'live' if live else 'recordings only'}). Ctrl-C ends it.\n")
    ctx.stderr.flush()
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)
    finally:
        core.close()
    return int(ExitCode.OK)


def _listen(host: str, port: int) -> Any:
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host.strip("[]"), port))
        found.listen(512)
    except OSError as error:
        found.close()
        raise KeepaCliError(
            Kind.IO_ERROR,
            f"Cannot listen on {host}:{port}: {error.strerror or type(error).__name__}.",
            details={"host": host, "port": port},
            next_actions=["kc mcp serve --http --port 0"],
        ) from None
    return found
