"""One agent's session: every call goes through here, whatever protocol it came by."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from keepa_cli import ops
from keepa_cli.agent import portable, profiles
from keepa_cli.agent.arguments import Arguments, CallOptions, split
from keepa_cli.agent.compact import compacted, encoded, failure, written_files
from keepa_cli.agent.problems import bad_params
from keepa_cli.agent.roots import Roots
from keepa_cli.agent.runtime import resolve
from keepa_cli.agent.sessioncache import Kept, SessionCache, cache_key, prints
from keepa_cli.agent.stopping import Progress, StopSign, Watch
from keepa_cli.agent.tools import Tool, inactive_reason, tools
from keepa_cli.core import envelope
from keepa_cli.core.consent import estimate
from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind, internal_error
from keepa_cli.core.registry import TOKENS_STATUS, Operation
from keepa_cli.core.schema import bind
from keepa_cli.engine import Flags, Options, run
from keepa_cli.engine.budget import account_of

Confirm = Callable[[dict[str, Any]], bool]
SHARED_SERVICES = ("library",)
"""What the sessions of one process have in common: recordings are listed once."""


class AgentSession:
    """Runs operations and tools one after the other and remembers what it answered.

    Answers come from recordings unless `live`; a call can narrow that (`fixture`, `dry_run`, a safe `profile`), never
    widen it. `anywhere` is for callers that may name any path themselves. Nothing raises but a ProtocolError for an
    unknown tool or profile: failures are envelopes.
    """

    def __init__(
        self,
        ctx: Context,
        *,
        live: bool = False,
        profile: str | None = None,
        toolset: str | None = None,
        transport: str = "mcp",
        roots: Roots | None = None,
        anywhere: bool = False,
    ) -> None:
        self.live = live
        self.profile = profiles.profile(profile)
        self.toolset = profiles.toolset(toolset)
        self.transport, self.anywhere = transport, anywhere
        self.cache = SessionCache()
        self.task_results: dict[str, Any] = {}
        self._watch = Watch()
        self._lock = threading.Lock()
        env = {**ctx.env, "KEEPA_CLI_MODE": "live" if live else "replay"}
        services = {name: ctx.services[name] for name in SHARED_SERVICES if name in ctx.services}
        self.ctx = replace(
            ctx,
            env=env,
            services=services,
            offline=not live,
            sleep=self._watch.sleep,
            tell=self._watch.tell,
            under_way=self._watch.under_way,
        )
        self.ctx.ask_secret, self.ctx.redactor = None, ctx.redactor
        self.roots = roots or Roots.of(self.ctx, anywhere=anywhere)
        _ = self.ctx.redactor, self.ctx.settings
        self._closed_ctx = replace(self.ctx, offline=True)
        self._closed_ctx.redactor = self.ctx.redactor

    def call(
        self,
        command: str,
        params: Mapping[str, Any],
        *,
        stop: StopSign | None = None,
        progress: Progress | None = None,
        confirm: Confirm | None = None,
    ) -> dict[str, Any]:
        """The envelope of one operation, with `cache_key`, `cache_hit` and `budget_ledger`."""
        try:
            op = ops.find(command)
        except KeepaCliError as error:
            return self._finished(envelope.failed(command, error), "", hit=False)
        return self._serve(op, None, params, stop, progress, confirm)

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        stop: StopSign | None = None,
        progress: Progress | None = None,
        confirm: Confirm | None = None,
    ) -> dict[str, Any]:
        """The structured content of one tool call, small enough for a message. Raises a ProtocolError for a name that
        is no tool."""
        found = tools().get(name)
        if found is None:
            raise bad_params(f"Unknown tool: {name}", tool=name)
        return self._serve(found.op, found, arguments, stop, progress, confirm)

    def estimate(self, command: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """What a call could cost, without making it. Raises KeepaCliError for what cannot be read."""
        op = ops.find(command)
        given = split(op, params, runtime=False)
        return estimate(op, op.cost(bind(op, given.params)), self.ctx)

    def budget_ledger(self) -> dict[str, Any]:
        found = account_of(self.ctx)
        return found | {"cache_hits": found["cache_hits"] + self.cache.hits}

    def cached(self, key: str) -> dict[str, Any] | None:
        """An earlier answer of this session by its cache key."""
        kept = self.cache.get(key)
        return kept.envelope() if kept else None

    def key_of(self, command: str, params: Mapping[str, Any]) -> str:
        """The cache key that a call would have: of the tool where there is one. Raises KeepaCliError for what cannot be
        called."""
        op = ops.find(command)
        asked = split(op, params, runtime=False)
        tool = tools().get(op.tool or "")
        asked.params = asked.params if tool is None else _defaults(tool, asked.params)
        return self._key(op, asked, self.profile)[0]

    @property
    def busy(self) -> bool:
        """Whether a call runs in it."""
        return self._lock.locked()

    def hang_up(self) -> None:
        """Nobody waits any more: what waits for Keepa or for tokens ends, and nothing is sent from here on."""
        self._watch.hang_up()

    def settled(self, seconds: float) -> bool:
        """Whether no call runs, after waiting up to `seconds` for it."""
        free = self._lock.acquire(timeout=max(0.0, seconds))
        if free:
            self._lock.release()
        return free

    def close(self) -> None:
        """Give back connections and files. A later call opens them again."""
        for name, service in list(self.ctx.services.items()):
            close = getattr(service, "close", None)
            if close is not None and name not in SHARED_SERVICES:
                close()

    def _serve(
        self,
        op: Operation,
        tool: Tool | None,
        given: Mapping[str, Any],
        stop: StopSign | None,
        progress: Progress | None,
        confirm: Confirm | None,
    ) -> dict[str, Any]:
        with self._lock, self._watch.over(stop, progress):
            key, hit = "", False
            try:
                self._watch.check()
                key, hit, result = self._answer(op, tool, given, confirm)
            except KeepaCliError as error:
                result = envelope.failed(op.name, error)
            except KeyboardInterrupt:
                if not self._watch.stopped and threading.current_thread() is threading.main_thread():
                    raise  # Ctrl-C of whoever runs this process
                result = envelope.failed(op.name, _stopped(self.ctx))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a defect must still be a well-formed answer
                result = envelope.failed(op.name, internal_error(error))
            found = self._finished(result, key, hit=hit)
            return found if tool is None or found["ok"] else failure(portable.for_tool(found, tool.name))

    def _answer(
        self, op: Operation, tool: Tool | None, given: Mapping[str, Any], confirm: Confirm | None
    ) -> tuple[str, bool, Mapping[str, Any]]:
        asked = split(op, given, runtime=tool is None or tool.takes_runtime)
        profile = profiles.narrowed(asked.options.profile, self.profile)
        if tool is None:
            _gate_command(op, profile, asked.params)
        else:
            _gate(tool, profile)
            _refuse_withheld(tool, asked.params)
        resolution = resolve(self.ctx, self.roots, self.cached, op, asked) if asked.runtime else None
        said = set(asked.params)
        if tool is not None:
            asked.params = _defaults(tool, asked.params)
        key, bound = self._key(op, asked, profile)
        kept = self._kept(op, key, asked.options, {name: bound[name] for name in said})
        if kept is not None:
            key = asked.options.from_cache or key
            held = kept.envelope()
            if tool is not None and kept.packed:  # a resource may have asked for it, and takes it whole
                held = compacted(held, key, self.ctx)
            return key, True, _resolved(held, resolution)
        result = self._run(op, asked, profile, confirm)
        shown, data = self._shown(tool, result, key)
        if result["ok"] and op.effect != "write_remote" and not asked.options.dry_run:
            self.cache.put(key, op.name, data, prints(bound), wrote=bool(written_files(result)))
        return key, False, _resolved(shown, resolution)

    def _key(self, op: Operation, asked: Arguments, profile: profiles.Profile) -> tuple[str, Mapping[str, Any]]:
        """The key of a call and its parameters, checked with their paths: what has a key can be run."""
        files = self.roots.check(asked.params | ({"out": asked.options.out} if asked.options.out else {}))
        source = self._source(asked.options, safe=profile.safe)
        digests = {name: _digest(path) for name, path in files.items()}
        bound = bind(op, asked.params)
        return cache_key(op.name, bound, source, digests), bound

    def _run(
        self, op: Operation, asked: Arguments, profile: profiles.Profile, confirm: Confirm | None
    ) -> dict[str, Any]:
        """The envelope of the operation itself. A safe profile never goes live: it refuses what was not recorded."""
        ctx = self._closed_ctx if profile.safe else self.ctx
        options = self._options(op, asked.options, replay=profile.safe and self.live)
        result = run(op, asked.params, ctx, options)
        if confirm is not None and _waits_for_consent(result) and confirm(result["error"]["details"]):
            agreed = result["error"]["details"]["quote_token"]
            result = run(op, asked.params, ctx, replace(options, yes=True, quote_token=agreed))
        if profile.safe and not result["ok"] and result["error"]["kind"] == Kind.CASSETTE_MISS.value:
            miss = KeepaCliError(
                Kind.PROFILE_REQUIRES_FIXTURE_OR_DRY_RUN,
                f"The profile {profile.name} gives {op.name} only from a fixture, a recording, or as a dry run.",
                details={**result["error"]["details"], "profile": profile.name},
                next_actions=[self._way_out()],
            )
            return envelope.failed(op.name, miss)
        return result

    def _options(self, op: Operation, given: CallOptions, *, replay: bool) -> Options:
        from pathlib import Path

        flags = Flags(dry_run=given.dry_run, fixture=given.fixture)
        if replay and (op.remote or op.passes_mode) and not flags.given():
            flags = Flags(replay=True)
        return Options(
            flags=flags,
            yes=given.yes,
            quote_token=given.quote_token,
            max_tokens=self._limit(given.max_tokens),
            out=Path(self.roots.inside(given.out, "out")) if given.out else None,
            transport=self.transport,
            idempotency_key=given.idempotency_key,
            no_cache=given.no_cache,
            find=ops.find,
        )

    def _limit(self, asked: int | None) -> int | None:
        """The limit of one call. An agent can narrow what the configuration says, never widen it."""
        configured = self.ctx.settings["max_tokens"]
        if asked is None or configured is None or self.anywhere:
            return asked
        return min(asked, int(configured))

    def _way_out(self) -> str:
        if self.profile.safe:
            return "Give fixture=NAME or dry_run=true, or start the server with the profile live_read_allowed."
        return "Use the profile live_read_allowed, fixture=NAME, or dry_run=true."

    def _source(self, options: CallOptions, *, safe: bool) -> dict[str, Any]:
        mode = "dry-run" if options.dry_run else "fixture" if options.fixture else "live" if self.live else "replay"
        found = {"mode": mode, "fixture": options.fixture, "safe": safe}
        named = options.idempotency_key  # whether it was used for another request is for the ledger to say
        return found if named is None else found | {"idempotency_key": named}

    def _kept(self, op: Operation, key: str, options: CallOptions, said: Mapping[str, Any]) -> Kept | None:
        """An earlier answer to this call, or the one that `from_cache` names: then it agrees with all that was said."""
        found: Kept | None
        if options.from_cache is not None:
            found = self._named(op, options.from_cache, options, said)
        else:
            found = None if options.no_cache or options.out or op.effect != "read" else self.cache.get(key)
        if found is None or found.wrote:
            return None
        self.cache.hits += 1
        return found

    def _named(self, op: Operation, key: str, options: CallOptions, said: Mapping[str, Any]) -> Kept:
        found = self.cache.get(key)
        if found is None or found.command != op.name:
            raise _no_such_answer(f"from_cache names no answer of {op.name} in this session.", key)
        if found.wrote:
            raise _no_such_answer("The answer that from_cache names wrote files, which may be gone: call again.", key)
        if options.no_cache or options.out:
            raise _no_such_answer("from_cache gives what was answered: no_cache and out do not go with it.", key)
        other = sorted(name for name, print_ in prints(said).items() if found.params.get(name) != print_)
        if other:
            raise _no_such_answer(f"from_cache names the answer to a call with another {', '.join(other)}.", key)
        return found

    def _shown(self, tool: Tool | None, result: dict[str, Any], key: str) -> tuple[dict[str, Any], bytes]:
        """The answer as it is given, and its JSON."""
        clean: dict[str, Any] = self.ctx.redactor.data(dict(result))
        if tool is not None and clean.get("warnings"):
            clean = portable.for_tool(clean, tool.name)
        data = encoded(clean)
        if tool is None or not clean["ok"]:
            return clean, data
        small = compacted(clean, key, self.ctx, len(data))
        return small, data if small is clean else encoded(small)

    def _finished(self, result: Mapping[str, Any], key: str, *, hit: bool) -> dict[str, Any]:
        extra = {"cache_key": key, "cache_hit": hit, "budget_ledger": self.budget_ledger()}
        found: dict[str, Any] = self.ctx.redactor.data(dict(result)) if not result.get("ok") else dict(result)
        return {"ok": found.pop("ok"), "command": found.pop("command"), **extra, **found}


def _gate(tool: Tool, profile: profiles.Profile) -> None:
    reason = inactive_reason(tool, profile)
    if reason:
        raise KeepaCliError(
            Kind.INACTIVE_TOOL,
            f"{tool.name} is not active: {reason}",
            details={"tool": tool.name, "profile": profile.name, "groups": list(tool.groups)},
        )


def _gate_command(op: Operation, profile: profiles.Profile, params: Mapping[str, Any]) -> None:
    """Under a profile that goes live, what its tools do may reach Keepa, and nothing else. The default one restricts
    no command, and a safe one sends nothing anyway."""
    everything = profiles.profile(None).groups <= profile.groups
    if everything or profile.safe or not (op.remote or op.passes_mode) or op.name == TOKENS_STATUS:
        return
    tool = tools().get(op.tool or "")
    if tool is None:
        raise KeepaCliError(
            Kind.INACTIVE_TOOL,
            f"{op.name} is not active: the profile {profile.name} lets its tools reach Keepa, and it is none.",
            details={"command": op.name, "profile": profile.name},
        )
    _gate(tool, profile)
    _refuse_withheld(tool, params)


def _no_such_answer(sentence: str, key: str) -> KeepaCliError:
    return KeepaCliError(Kind.INVALID_ARGUMENTS, sentence, details={"field": "from_cache", "value": key})


def _refuse_withheld(tool: Tool, params: Mapping[str, Any]) -> None:
    """Raises for parameters that people alone may give, whatever their value."""
    for name in sorted(tool.withheld & set(params)):
        command = "kc " + tool.op.name.replace(".", " ")
        raise KeepaCliError(
            Kind.INVALID_ARGUMENTS,
            f"{tool.name} only reads: {name} is for people, with {command} --{name.replace('_', '-')}.",
            details={"tool": tool.name, "field": name, "errors": [{"field": name, "message": "is for people"}]},
        )


def _defaults(tool: Tool, params: dict[str, Any]) -> dict[str, Any]:
    """Agents read views: where an operation can give one, that is what a tool gives unless the call says otherwise."""
    chosen = {"view", "fields", "agent_view"} & set(params)
    return params if chosen or tool.view is None else params | {"view": tool.view}


def _resolved(result: Mapping[str, Any], resolution: dict[str, Any] | None) -> Mapping[str, Any]:
    """The answer with the record of what its references led to."""
    if resolution is None or not result["ok"]:
        return result
    return {**result, "data": {**result["data"], "workflow_resolution": resolution}}


def _waits_for_consent(result: Mapping[str, Any]) -> bool:
    return not result["ok"] and result["error"]["kind"] == Kind.CONFIRMATION_REQUIRED.value


def _stopped(ctx: Context) -> KeepaCliError:
    """The failure of a stopped call. Where a request was under way nobody knows what it cost."""
    note, spending = ctx.after_interrupt, ctx.interrupted_while_spending
    ctx.after_interrupt, ctx.interrupted_while_spending = None, False
    details: dict[str, Any] = {"stopped": True, "charged": "unknown" if spending else "no"}
    text = "The call was stopped before it was answered."
    return KeepaCliError(Kind.TIMEOUT, f"{text} {note}" if note else text, details=details, retryable=not spending)


def _digest(path: Any) -> str:
    import hashlib

    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return "unreadable"
