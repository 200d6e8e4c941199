from __future__ import annotations

import tomllib
from pathlib import Path

import platformdirs
import pytest

from keepa_cli.core.context import Context, find_key
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.settings import Mode, cache_path, load_settings
from keepa_cli.engine.modes import Flags, choose
from keepa_cli.ops.config import _template as config_template

KEY = "abQ7cdQ7efQ7ghQ7ijQ7klQ7mnQ7opQ7qrQ7stQ7uvQ7wxQ7yzQ712Q734Q756Q7"


def context(home: Path, config: str | bytes | None = None, **env: str) -> Context:
    path = home / "config.toml"
    if config is not None:
        path.write_bytes(config.encode() if isinstance(config, str) else config)
        path.chmod(0o600)
    return Context(env={"KEEPA_CLI_CONFIG": str(path), "KEEPA_CLI_STATE_DIR": str(home / "state"), **env})


def test_the_mode_comes_from_flag_then_environment_then_config_then_replay(home: Path) -> None:
    assert choose(Flags(), context(home)) is Mode.REPLAY
    config = 'mode = "dry-run"'
    assert choose(Flags(), context(home, config)) is Mode.DRY_RUN
    assert choose(Flags(), context(home, config, KEEPA_CLI_MODE="live")) is Mode.LIVE
    assert choose(Flags(fixture="x"), context(home, config, KEEPA_CLI_MODE="live")) is Mode.FIXTURE
    assert choose(Flags(record=""), context(home, config)) is Mode.RECORD


def test_contradicting_flags_are_refused(home: Path) -> None:
    with pytest.raises(KeepaCliError) as caught:
        choose(Flags(live=True, fixture="x"), context(home))
    assert caught.value.kind is Kind.INVALID_ARGUMENTS
    assert "--live and --fixture" in caught.value.message


@pytest.mark.parametrize("flags", [Flags(live=True), Flags(record="x")])
def test_ci_refuses_calls_that_spend(home: Path, flags: Flags) -> None:
    with pytest.raises(KeepaCliError) as caught:
        choose(flags, context(home, CI="true"))
    assert caught.value.kind is Kind.LIVE_BLOCKED_IN_CI
    assert choose(flags, context(home, CI="true", KEEPA_CLI_ALLOW_LIVE_IN_CI="1"))
    assert choose(flags, context(home, CI="false"))


def test_an_unknown_mode_never_falls_back_to_spending_or_to_silence(home: Path) -> None:
    with pytest.raises(KeepaCliError) as caught:
        choose(Flags(), context(home, KEEPA_CLI_MODE="liv"))
    assert caught.value.kind is Kind.CONFIG_ERROR


@pytest.mark.parametrize(
    "broken",
    [
        b"mode = ",
        b"\xff\xfe\x00",
        b'mode = "replay"\nmode = "live"',
        b"= 3",
        b"max_tokens = -1",
        b'base_url = "ftp://x"',
    ],
)
def test_a_broken_file_is_a_problem_and_never_an_exception(home: Path, broken: bytes) -> None:
    ctx = context(home, broken)
    assert ctx.settings.config_problem is not None
    assert ctx.settings.config_problem.kind is Kind.CONFIG_ERROR
    assert (home / "config.toml").read_bytes() == broken


def test_a_problem_never_quotes_the_file(home: Path) -> None:
    problem = context(home, f'api_key = "{KEY}" junk').settings.config_problem
    assert problem is not None
    assert KEY[:6] not in problem.message


def test_a_byte_order_mark_is_harmless(home: Path) -> None:
    assert context(home, b'\xef\xbb\xbfmode = "dry-run"').settings.mode is Mode.DRY_RUN


def test_the_key_comes_from_the_environment_then_the_file_without_quotes(home: Path) -> None:
    ctx = context(home, f'api_key = "{KEY}"')
    assert find_key(ctx.env, ctx.settings) == (KEY, "config")
    ctx = context(home, f'api_key = "{KEY}"', KEEPA_API_KEY=f' "{KEY[::-1]}" ')
    assert find_key(ctx.env, ctx.settings) == (KEY[::-1], "environment")


def test_a_key_file_that_others_can_read_is_refused_and_left_alone(home: Path) -> None:
    ctx = context(home, f'api_key = "{KEY}"')
    (home / "config.toml").chmod(0o644)
    with pytest.raises(KeepaCliError) as caught:
        ctx.api_key()
    assert caught.value.kind is Kind.CONFIG_ERROR
    assert "chmod 600" in caught.value.next_actions[0]
    assert KEY in (home / "config.toml").read_text()


@pytest.mark.parametrize(
    "url", ["http://example.com", "ftp://127.0.0.1", "https://", "https://u:p@x", "https://x/?key=1"]
)
def test_a_base_url_that_would_leak_the_key_is_a_config_error(home: Path, url: str) -> None:
    assert context(home, KEEPA_BASE_URL=url).settings.config_problem is not None


def test_origins_are_told(home: Path) -> None:
    settings = load_settings(context(home, "max_tokens = 5", KEEPA_CLI_MODE="replay").env)
    assert (settings.origin["mode"], settings.origin["max_tokens"], settings.origin["language"]) == (
        "environment",
        "config",
        "default",
    )


def test_the_cache_settings_come_from_environment_then_config_then_default(home: Path) -> None:
    plain = context(home)
    assert plain.settings["cache_ttl_seconds"] == 300 and plain.settings["no_cache"] is False
    assert cache_path(plain.settings) == home / "state" / "cache" / "responses.sqlite3"
    config = 'cache_ttl_seconds = 60\nno_cache = true\ncache_path = "one.sqlite3"'
    stored = context(home, config).settings
    assert (stored["cache_ttl_seconds"], stored["no_cache"]) == (60, True)
    assert cache_path(stored) == Path("one.sqlite3")
    named = {"KEEPA_CLI_CACHE_TTL_SECONDS": " 90 ", "KEEPA_CLI_NO_CACHE": "off", "KEEPA_CLI_CACHE_PATH": "two.sqlite3"}
    given = context(home, config, **named).settings
    assert (given["cache_ttl_seconds"], given["no_cache"]) == (90, False)
    assert cache_path(given) == Path("two.sqlite3")


def test_without_any_folder_named_the_cache_is_below_the_platforms_cache_folder(home: Path) -> None:
    settings = Context(env={"KEEPA_CLI_CONFIG": str(home / "config.toml")}).settings
    assert cache_path(settings) == Path(platformdirs.user_cache_dir("keepa-cli", appauthor=False)) / "responses.sqlite3"


@pytest.mark.parametrize("ttl", ["0", "-1", "soon", "1.5", "1e3", "nan", "31536001", "99999999999999999999"])
def test_a_ttl_that_is_no_number_of_seconds_is_a_problem(home: Path, ttl: str) -> None:
    problem = context(home, KEEPA_CLI_CACHE_TTL_SECONDS=ttl).settings.config_problem
    assert problem is not None and problem.kind is Kind.CONFIG_ERROR
    assert "KEEPA_CLI_CACHE_TTL_SECONDS" in problem.message and "no_cache" in problem.message


@pytest.mark.parametrize("line", ["cache_ttl_seconds = true", "cache_ttl_seconds = 0", 'no_cache = "perhaps"'])
def test_a_broken_cache_setting_in_the_file_is_a_problem(home: Path, line: str) -> None:
    problem = context(home, line).settings.config_problem
    assert problem is not None and line.partition(" ")[0] in problem.message


def test_the_template_can_be_uncommented_as_it_is(home: Path) -> None:
    lines = [line[2:] for line in config_template().splitlines() if " = " in line]
    parsed = tomllib.loads("\n".join(lines))
    assert parsed["no_cache"] is False and parsed["cache_ttl_seconds"] == 300
