"""The live smoke script: a dry run by default, and live it shows neither key nor body."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.core.context import Context
from keepa_cli.sandbox import Sandbox, SandboxConfig
from keepa_cli.sandbox.catalogue import example_asin
from tests.conftest import REPO

sys.path.insert(0, str(REPO / "scripts"))

import manual_live_product_read as script

KEY = "s3cr3t" + "k" * 58


def run(env: dict[str, str], home: Path, *args: str) -> tuple[int, str]:
    out = io.StringIO()
    ctx = Context(env=env, cwd=home / "work", stdout=out)
    return script.main(args, ctx), out.getvalue()


@pytest.mark.parametrize(
    ("extra", "flags"), [({}, ()), ({}, ("--yes-live",)), ({"KEEPA_API_KEY": KEY}, ())], ids=["neither", "flag", "key"]
)
def test_it_takes_a_key_and_a_flag_to_go_live(
    extra: dict[str, str], flags: tuple[str, ...], clean_env: dict[str, str], home: Path
) -> None:
    nowhere = {"KEEPA_BASE_URL": "http://127.0.0.1:1"}
    code, text = run(clean_env | nowhere | extra, home, "--asin", "B0D8W1YVBX", "--json", *flags)
    found = json.loads(text)
    assert (code, found["mode"]) == (0, "dry-run")
    assert found["estimated"]["estimated_tokens"] == 1


@pytest.fixture
def live(clean_env: dict[str, str]) -> Any:
    with Sandbox(SandboxConfig(seed=1)) as sandbox:
        yield clean_env | {"KEEPA_BASE_URL": sandbox.base_url, "KEEPA_API_KEY": KEY}


@pytest.mark.parametrize("form", [("--json",), ()])
def test_live_it_shows_tokens_and_a_summary_only(form: tuple[str, ...], live: dict[str, str], home: Path) -> None:
    asin = example_asin(1)
    code, text = run(live, home, "--asin", asin, "--yes-live", *form)
    assert code == 0, text
    assert asin in text
    assert "tokens_before" in text
    assert "tokens_after" in text
    assert KEY not in text
    assert "imagesCSV" not in text
    assert '"csv"' not in text


def test_a_failure_keeps_its_exit_code(live: dict[str, str], home: Path) -> None:
    code, text = run(live, home, "--asin", "B0", "--yes-live", "--json")
    assert code == 2
    assert json.loads(text)["error"]["kind"] == "invalid_arguments"
    code, text = run(live, home, "--asin", example_asin(1), "--yes-live", "--json", "--max-tokens", "0")
    assert json.loads(text)["error"]["kind"] == "budget_exceeded"
    assert code == 1
