"""The main job on this machine alone: record, sanitize, promote, verify, replay."""

from __future__ import annotations

import contextlib
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from keepa_cli import ops
from keepa_cli.core.context import Context
from keepa_cli.core.envelope import Envelope, ok
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.redact import Redactor, encoded_forms
from keepa_cli.core.registry import TOKENS_STATUS
from keepa_cli.engine import Flags, Options, run
from keepa_cli.interfaces.cli.common import State, common_options, split
from keepa_cli.ops._names import CATEGORIES_SEARCH, PRODUCTS_GET, PROMOTE_AND_VERIFY

FAKE_KEY = "demo0key" * 8
FIXTURE = "demo_product"


@dataclass(frozen=True)
class Call:
    """One call of the demo as a person would type it, and as the engine takes it."""

    label: str
    operation: str
    params: dict[str, Any]


@dataclass
class Demo:
    """The folder, the contexts and what was measured."""

    folder: Path
    say: Any
    base_url: str = ""
    live: dict[str, Envelope] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)

    def context(self, *, online: bool) -> Context:
        """A context of its own: nothing of the user's configuration is read, and offline there is no key."""
        folders = [self.folder / "cassettes", self.folder / "state" / "inbox"]
        env = {
            "KEEPA_CLI_CONFIG": str(self.folder / "config.toml"),
            "KEEPA_CLI_STATE_DIR": str(self.folder / "state"),
            "KEEPA_CLI_DATA_DIR": str(self.folder / "data"),
            "KEEPA_CLI_CASSETTES": _path_list(folders),
        }
        if online:
            env |= {
                "KEEPA_API_KEY": FAKE_KEY,
                "KEEPA_BASE_URL": self.base_url,
                "KEEPA_CLI_ALLOW_LIVE_IN_CI": "1",
            }
        return Context(env=env, cwd=self.folder)


def _path_list(folders: list[Path]) -> str:
    import os

    return os.pathsep.join(map(str, folders))


@contextlib.contextmanager
def sockets_blocked() -> Iterator[list[str]]:
    """Make every new socket of this process fail; yields the list of attempts."""
    attempts: list[str] = []

    def refuse(*_: Any, **__: Any) -> Any:
        attempts.append("socket")
        raise OSError("sockets are blocked in this part of the demo")

    names = ("socket", "create_connection", "getaddrinfo")
    saved = {name: getattr(socket, name) for name in names}
    try:
        for name in names:
            setattr(socket, name, refuse)
        yield attempts
    finally:
        for name, original in saved.items():
            setattr(socket, name, original)


def _calls(asin: str) -> list[Call]:
    return [
        Call(f"products get {asin} --stats 90", PRODUCTS_GET, {"asin": [asin], "stats": "90"}),
        Call('categories search "kitchen"', CATEGORIES_SEARCH, {"term": "kitchen"}),
        Call("tokens status", TOKENS_STATUS, {}),
    ]


def play(folder: Path, say: Any) -> dict[str, Any]:
    """Run the whole demo below `folder`, telling each step to `say`. Returns the figures of its table."""
    from keepa_cli.sandbox import Sandbox, SandboxConfig
    from keepa_cli.sandbox.catalogue import example_asin

    demo = Demo(folder, say)
    sandbox = Sandbox(SandboxConfig(seed=1))
    calls = _calls(example_asin(1))
    demo.base_url = sandbox.start()
    try:
        say(f"1. A sandbox stands in for Keepa at {demo.base_url}")
        _record(demo, calls)
    finally:
        sandbox.stop()
    say(f"   The sandbox answered {len(sandbox.log)} requests and is stopped.")
    searched = _search_key(demo)
    promoted = _promote(demo)
    _replay(demo, calls)
    return {"table": demo.rows, "key_search": searched, "promoted": promoted}


def _record(demo: Demo, calls: list[Call]) -> None:
    demo.say("2. Record three calls through vcrpy with a fake key; each answer is sanitized before it is written")
    ctx = demo.context(online=True)
    for number, call in enumerate(calls):
        name = FIXTURE if number == 0 else f"demo_{call.operation.replace('.', '_')}"
        started = time.perf_counter()
        result = _must(run(ops.find(call.operation), call.params, ctx, Options(flags=Flags(record=name), yes=True)))
        demo.live[call.label] = result
        demo.rows.append(
            {
                "call": call.label,
                "live_tokens": result["token_bucket"]["charged"],
                "replay_tokens": None,
                "live_ms": round((time.perf_counter() - started) * 1000),
            }
        )


def _search_key(demo: Demo) -> dict[str, int]:
    """Look for the key in every file that the demo wrote, in every encoding."""
    redactor = Redactor(FAKE_KEY)
    files = [p for p in demo.folder.rglob("*") if p.is_file()]
    hits = [p for p in files if redactor.find(p.read_bytes())]
    forms = len(encoded_forms(FAKE_KEY))
    demo.say(f"3. Search {len(files)} files for the key in {forms} encodings: found in {len(hits)}")
    if hits:
        raise KeepaCliError(Kind.SECRET_DETECTED, f"The key was written to {hits[0].name}.")
    return {"files": len(files), "encodings": forms, "found": 0}


def _promote(demo: Demo) -> dict[str, Any]:
    demo.say("4. Promote the product recording and verify it: schema, scan, parity, replay through vcrpy as well")
    ctx = demo.context(online=False)
    (demo.folder / "cassettes").mkdir(exist_ok=True)
    inbox = demo.folder / "state" / "inbox"
    recording = next(p for p in sorted(inbox.glob(f"{FIXTURE}-*.yaml")))
    options = Options(find=ops.find)
    result = _must(run(ops.find(PROMOTE_AND_VERIFY), {"file": str(recording), "name": FIXTURE}, ctx, options))
    proof, fixture = result["data"]["verification"], result["data"]["fixtures"][0]
    demo.say(f"   checked: {', '.join(proof['checks'])}")
    demo.say(f"   replay {proof['replay']}, vcrpy {proof['vcrpy']}, contract {fixture['contract']}, origin sandbox")
    return {"name": FIXTURE, "verification": proof, "sha256": fixture["sha256"]}


def _replay(demo: Demo, calls: list[Call]) -> None:
    demo.say("5. Replay all three: no key, no server, sockets blocked")
    from keepa_cli.cassettes.library import Library

    ctx = demo.context(online=False)
    own = Library([demo.folder / "cassettes", demo.folder / "state" / "inbox"])
    ctx.service("library", lambda: own)
    with sockets_blocked() as attempts:
        for row, call in zip(demo.rows, calls, strict=True):
            started = time.perf_counter()
            result = _must(run(ops.find(call.operation), call.params, ctx, Options()))
            row["replay_tokens"] = result["token_bucket"]["charged"]
            row["replay_ms"] = round((time.perf_counter() - started) * 1000, 1)
            row["same_json"] = result["data"]["body"] == demo.live[call.label]["data"]["body"]
            row["sha256"] = result["provenance"]["sha256"]
    if attempts:
        raise KeepaCliError(Kind.INTERNAL_ERROR, "A replay tried to open a socket.")
    if not all(row["same_json"] for row in demo.rows):
        raise KeepaCliError(Kind.INTERNAL_ERROR, "A replay differs from the live answer.")


def _must(result: Envelope) -> Envelope:
    if result["ok"]:
        return result
    error = result["error"]
    raise KeepaCliError(Kind(error["kind"]), error["message"], details=error["details"])


@click.pass_context
def _demo(click_context: click.Context, /, keep: bool, **values: Any) -> None:
    state: State = click_context.obj
    merged = state.merged(split(values)[0])
    state.as_json = state.as_json or bool(merged.get("as_json"))
    out = state.context.stderr if state.as_json else state.context.stdout
    folder = Path(tempfile.mkdtemp(prefix="keepa-cli-demo-"))
    started = time.perf_counter()
    try:
        figures = play(folder, lambda text: click.echo(text, file=out))
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    seconds = round(time.perf_counter() - started, 1)
    _show(figures, seconds, folder if keep else None, state)


def _show(figures: dict[str, Any], seconds: float, folder: Path | None, state: State) -> None:
    from keepa_cli.interfaces.cli.render import table

    if state.as_json:
        from keepa_cli.core.envelope import dumps

        data = figures | {"seconds": seconds, "folder": str(folder) if folder else None}
        state.context.stdout.write(dumps(ok("demo", {"transport": "cli"}, data), state.context.redactor) + "\n")
        return
    rows = [{**row, "sha256": row["sha256"][:16]} for row in figures["table"]]
    click.echo("\n" + "\n".join(table(rows)), file=state.context.stdout)
    total = sum(row["replay_tokens"] for row in rows)
    click.echo(f"\nDone in {seconds} s. {total} tokens to replay, now and for ever.", file=state.context.stdout)
    if folder:
        click.echo(f"The files are in {folder}", file=state.context.stdout)


command = click.Command(
    "demo",
    callback=_demo,
    help="Record, sanitize, promote, verify and replay on this machine alone.\n\n"
    "A sandbox stands in for Keepa and the key is fake: no account, no tokens, no network.",
    short_help="Show the main job on this machine alone",
    params=[
        click.Option(["--keep"], is_flag=True, help="Keep the folder with everything that was written."),
        *[o for o in common_options() if o.name in {"as_json", "verbose"}],
    ],
)
