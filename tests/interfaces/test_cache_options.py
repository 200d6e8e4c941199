"""Every live read whose answer can be kept offers the options of the response cache, and no other command does."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

import click
import pytest

from keepa_cli import ops
from keepa_cli.core.registry import Operation, Request
from keepa_cli.store.cachekey import ENDPOINTS, refusal
from tests.house.commands import walk
from tests.support.sandbox import KEY, running_sandbox

OPTIONS = {"--cache-ttl", "--no-cache"}


def offered() -> Iterator[tuple[Operation, set[str]]]:
    """Each remote operation and those of the cache options that its command has."""
    names = {"kc " + op.name.replace(".", " "): op for op in ops.load_all() if op.remote}
    for path, ctx in walk():
        if path in names:
            found = {o for p in ctx.command.get_params(ctx) if isinstance(p, click.Option) for o in p.opts}
            yield names[path], found & OPTIONS


COMMANDS = list(offered())


def test_every_remote_operation_is_a_command() -> None:
    assert {op.name for op, _ in COMMANDS} == {op.name for op in ops.load_all() if op.remote}


@pytest.mark.parametrize(("op", "options"), COMMANDS, ids=[op.name for op, _ in COMMANDS])
def test_the_options_are_offered_where_an_answer_can_be_kept(op: Operation, options: set[str], cli: Any) -> None:
    """What its own examples would send decides: a new read without the options fails here, and so does a new command
    that offers them in vain."""
    assert options == (OPTIONS if op.takes_cache_options else set())
    planned = [request for example in op.examples for request in sent_by(cli, example)]
    assert planned or op.effect != "read", f"{op.name} has no example that a dry run can show"
    assert any(refusal(op, request) is None for request in planned) is op.takes_cache_options
    if not op.cacheable:
        assert all(request.path not in ENDPOINTS or request.method != "GET" for request in planned), (
            f"the answers of {op.name} could be kept: leave out cacheable=False"
        )


def sent_by(cli: Any, example: str) -> list[Request]:
    """The request that an example shows in a dry run; none for one that reads a file that is not there."""
    words = [w for w in shlex.split(example)[1:] if w not in {"--live", "--dry-run", "--record", "--yes"}]
    words = words[: words.index("<")] if "<" in words else words
    result = json.loads(cli("--json", *words, "--dry-run").stdout)
    shown = result.get("request", {})
    if not result["ok"] or "path" not in shown:
        return []
    return [Request(shown["method"], shown["path"], shown["query"], shown.get("body"))]


def envelope(done: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_options_reach_the_cache_before_and_after_the_command(cli: Any) -> None:
    with running_sandbox() as box:
        env = {"KEEPA_BASE_URL": box.base_url, "KEEPA_API_KEY": KEY}
        get = ("products", "get", "B000000001", "--live")

        def source(*args: str) -> str:
            return str(envelope(cli("--json", *args, env=env))["provenance"]["source"]).partition(":")[0]

        assert source(*get, "--no-cache") == "live"
        assert source(*get, "--cache-ttl", "60") == "live"
        assert source(*get) == "cache"
        assert source("--no-cache", *get) == "live"
        assert source("--cache-ttl", "60", *get) == "cache"
        assert len(box.log) == 3


def test_a_person_sees_that_the_answer_was_kept_and_cost_nothing(cli: Any) -> None:
    with running_sandbox() as box:
        env = {"KEEPA_BASE_URL": box.base_url, "KEEPA_API_KEY": KEY}
        for _ in range(2):
            shown = cli("products", "get", "B000000001", "--live", env=env).stdout
    assert "cache:" in shown and "0 tokens charged" in shown and "recorded" in shown


@pytest.mark.parametrize("ttl", ["0", "-1", "1.5", "soon", "", "31536001"])
@pytest.mark.parametrize("mode", ["--live", "--dry-run", "--replay"])
def test_a_ttl_that_is_none_is_refused_with_the_field_and_what_is_allowed(cli: Any, ttl: str, mode: str) -> None:
    result = cli("--json", "products", "get", "B000000001", mode, f"--cache-ttl={ttl}", env={"KEEPA_API_KEY": KEY})
    error = envelope(result)["error"]
    assert result.returncode == 2 and error["kind"] == "invalid_arguments"
    assert error["details"] == {"field": "cache_ttl", "value": ttl, "allowed": "1 to 31536000"}


def test_commands_without_the_options_refuse_them(cli: Any) -> None:
    for words in (("tokens", "status"), ("doctor",), ("request", "post", "/query", "--body", "{}")):
        result = cli("--json", *words, "--cache-ttl", "60")
        assert envelope(result)["error"]["kind"] == "invalid_arguments"


def test_a_limit_of_no_tokens_at_all_is_a_limit(cli: Any) -> None:
    with running_sandbox() as box:
        env = {"KEEPA_BASE_URL": box.base_url, "KEEPA_API_KEY": KEY}
        result = cli("--json", "products", "get", "B000000001", "--live", "--max-tokens", "0", env=env)
        assert envelope(result)["error"]["kind"] == "budget_exceeded" and not box.log
