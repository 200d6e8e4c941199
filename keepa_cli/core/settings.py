"""Settings with the place each one came from: flag, environment, config file or default."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.schema import FALSE_WORDS, TRUE_WORDS


class Mode(StrEnum):
    REPLAY = "replay"
    FIXTURE = "fixture"
    DRY_RUN = "dry-run"
    LIVE = "live"
    RECORD = "record"


SPENDING_MODES = frozenset({Mode.LIVE, Mode.RECORD})
LANGUAGES = ("en", "zh-CN")
APP = "keepa-cli"
CACHE_FILE = "responses.sqlite3"


@dataclass(frozen=True, eq=False, repr=False)
class SettingSpec:
    """One row of the settings table: its config key, environment name, default and reader."""

    key: str
    env: str | None
    default: Any
    help: str


SETTINGS: tuple[SettingSpec, ...] = (
    SettingSpec("mode", "KEEPA_CLI_MODE", Mode.REPLAY, "Where answers come from: replay, dry-run, live or record."),
    SettingSpec("base_url", "KEEPA_BASE_URL", "https://api.keepa.com", "The server that live and record calls go to."),
    SettingSpec(
        "cassettes", "KEEPA_CLI_CASSETTES", (), "Folders searched for cassettes before the usual ones, in order."
    ),
    SettingSpec("state_dir", "KEEPA_CLI_STATE_DIR", None, "Folder for the recording inbox, journals and kept bodies."),
    SettingSpec("confirm_above_tokens", None, 10, "A live call with a higher worst case needs --yes."),
    SettingSpec("max_tokens", None, None, "Highest worst case of one live call; None is no limit."),
    SettingSpec(
        "max_tokens_per_session", None, None, "Most tokens that one process may spend on live calls; None is no limit."
    ),
    SettingSpec(
        "max_tokens_per_day",
        None,
        None,
        "Most tokens that live calls may spend per UTC day, in all processes together.",
    ),
    SettingSpec("timeout_seconds", None, 120, "How long a live call waits for its answer."),
    SettingSpec("language", None, "en", "Language of help and messages for people: en or zh-CN."),
    SettingSpec("cache_path", "KEEPA_CLI_CACHE_PATH", None, "SQLite file that keeps answers of live reads."),
    SettingSpec(
        "cache_ttl_seconds",
        "KEEPA_CLI_CACHE_TTL_SECONDS",
        300,
        "How long a kept answer serves the same live read again; --cache-ttl says it for one call.",
    ),
    SettingSpec(
        "no_cache", "KEEPA_CLI_NO_CACHE", False, "Always ask Keepa: keep no answers and use none that were kept."
    ),
)
MAX_TTL = 31_536_000
"""A year: an answer of Keepa is never good for longer."""


@dataclass(frozen=True, eq=False, repr=False)
class Settings:
    """The settings in force. `origin` maps each key to "flag", "environment", "config" or "default"."""

    values: Mapping[str, Any]
    origin: Mapping[str, str]
    config_path: Path
    config_problem: KeepaCliError | None = None
    stored: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    @property
    def mode(self) -> Mode:
        return Mode(self.values["mode"])


def config_path(env: Mapping[str, str]) -> Path:
    """`KEEPA_CLI_CONFIG`, else config.toml in the platform's configuration folder."""
    given = env.get("KEEPA_CLI_CONFIG")
    if given:
        return Path(given).expanduser()
    import platformdirs

    return Path(platformdirs.user_config_dir(APP, appauthor=False)) / "config.toml"


def load_settings(env: Mapping[str, str]) -> Settings:
    """Read the configuration. A broken file becomes `config_problem`, never an exception; a broken value too."""
    path = config_path(env)
    stored, problem = read_config(path)
    values: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for spec in SETTINGS:
        given: Any = None
        source = "default"
        if spec.env and env.get(spec.env):
            given, source = env[spec.env], "environment"
        elif spec.key in stored:
            given, source = stored[spec.key], "config"
        try:
            values[spec.key] = spec.default if given is None else _parse(spec, given)
        except ValueError as error:
            name = spec.env if source == "environment" else f"{path}: {spec.key}"
            problem = problem or KeepaCliError(
                Kind.CONFIG_ERROR, f"{name}: {error}", details={"setting": spec.key, "origin": source}
            )
            values[spec.key], source = spec.default, "default"
        origin[spec.key] = source
    return Settings(values, origin, path, problem, {k: v for k, v in stored.items() if k != "api_key"})


def read_config(path: Path) -> tuple[dict[str, Any], KeepaCliError | None]:
    """The parsed file and, when it is broken, a `config_error` that never quotes its content."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return {}, None
    except OSError as error:
        return {}, KeepaCliError(Kind.CONFIG_ERROR, f"Cannot read {path}: {error.strerror}.")
    import tomllib

    try:
        return tomllib.loads(raw.decode("utf-8-sig")), None
    except UnicodeDecodeError:
        return {}, KeepaCliError(Kind.CONFIG_ERROR, f"{path} is not UTF-8 text.", next_actions=[f"Edit {path}"])
    except tomllib.TOMLDecodeError as error:
        where = str(error).rpartition("(")[2].rstrip(")") or "unknown place"
        return {}, KeepaCliError(
            Kind.CONFIG_ERROR, f"{path} is not valid TOML ({where}).", next_actions=[f"Edit {path}"]
        )


def _parse(spec: SettingSpec, value: Any) -> Any:
    if spec.key == "mode":
        return _mode(value)
    if spec.key == "base_url":
        return check_base_url(value)
    if spec.key == "cassettes":
        return _path_list(value)
    if spec.key in {"state_dir", "cache_path"}:
        return Path(str(value)).expanduser()
    if spec.key == "cache_ttl_seconds":
        return check_ttl(value)
    if spec.key == "no_cache":
        return _switch(value)
    if spec.key == "language":
        if value not in LANGUAGES:
            raise ValueError(f"{value!r} is not one of {', '.join(LANGUAGES)}")
        return value
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is not a whole number of at least 0")
    return value


def _mode(value: Any) -> Mode:
    usual = [m.value for m in Mode if m is not Mode.FIXTURE]
    text = str(value).strip().lower()
    if text not in usual:
        raise ValueError(f"{value!r} is not a mode; use one of {', '.join(usual)}")
    return Mode(text)


def check_ttl(value: Any) -> int:
    """Seconds that an answer may be kept, as a number or as the environment spells it. ValueError otherwise."""
    text = str(value).strip()
    seconds = int(text) if re.fullmatch(r"[+-]?\d{1,12}", text) and not isinstance(value, bool) else 0
    if not 1 <= seconds <= MAX_TTL:
        raise ValueError(
            f"{value!r} is not a whole number of seconds from 1 to {MAX_TTL}; no_cache switches the cache off"
        )
    return seconds


def _switch(value: Any) -> bool:
    text = str(value).strip().lower()
    if text in TRUE_WORDS:
        return True
    if text in FALSE_WORDS:
        return False
    raise ValueError(f"{value!r} is neither true nor false")


def _path_list(value: Any) -> tuple[Path, ...]:
    parts = value if isinstance(value, list) else str(value).split(os.pathsep)
    return tuple(Path(str(p)).expanduser() for p in parts if str(p).strip())


def check_base_url(value: Any) -> str:
    """An https URL, or an http URL of this machine. ValueError otherwise: the key would travel in the open."""
    parts = urlsplit(str(value))
    local = parts.hostname in {"localhost", "127.0.0.1", "::1"}
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.username:
        raise ValueError(f"{value!r} is not an https URL without a query")
    if parts.scheme == "http" and not local:
        raise ValueError("plain http is accepted for this machine only: the key would travel unencrypted")
    return str(value).rstrip("/")


def state_dir(env: Mapping[str, str], settings: Settings) -> Path:
    """The folder for state of this user; it is made with mode 0700 by whoever writes there first."""
    if settings["state_dir"]:
        return Path(settings["state_dir"])
    import platformdirs

    return Path(platformdirs.user_state_dir(APP, appauthor=False))


def cache_path(settings: Settings) -> Path:
    """The file of the response cache: `cache_path`, else below the state folder where one is named, else the
    platform's cache folder."""
    if settings["cache_path"]:
        return Path(settings["cache_path"])
    if settings["state_dir"]:
        return Path(settings["state_dir"]) / "cache" / CACHE_FILE
    import platformdirs

    return Path(platformdirs.user_cache_dir(APP, appauthor=False)) / CACHE_FILE


def ledger_limits(settings: Settings) -> dict[str, int | None]:
    """The limits that every live call is held to."""
    return {name: settings[name] for name in ("max_tokens", "max_tokens_per_session", "max_tokens_per_day")}


def data_dir() -> Path:
    """The platform's data folder of this user."""
    import platformdirs

    return Path(platformdirs.user_data_dir(APP, appauthor=False))


def exposed(path: Path) -> bool:
    """Whether other users of this machine can read the file (POSIX permissions)."""
    if sys.platform == "win32":
        return False
    try:
        return bool(path.stat().st_mode & 0o077)
    except OSError:
        return False


def refuse_exposed(path: Path) -> None:
    """Refuse a configuration file with a key that others can read. It is never rewritten for that."""
    if exposed(path):
        import shlex

        raise KeepaCliError(
            Kind.CONFIG_ERROR,
            f"{path} holds an API key and can be read by other users of this machine.",
            details={"path": str(path)},
            next_actions=[f"chmod 600 {shlex.quote(str(path))}"],
        )
