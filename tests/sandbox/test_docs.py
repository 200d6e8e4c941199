"""The recipes of docs/sandbox.md work as printed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from keepa_cli.keepa.graph import size
from keepa_cli.sandbox.catalogue.traits import SHOWN
from keepa_cli.sandbox.endpoints import ENDPOINTS
from keepa_cli.sandbox.faults import KINDS
from tests.conftest import REPO
from tests.support.sandbox import running_sandbox

PAGE = (REPO / "docs" / "sandbox.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("sh")), reason="curl and a shell are not installed")
def test_the_curl_recipes_answer(tmp_path: Path) -> None:
    recipe = "".join(blocks("sh"))
    with running_sandbox() as sandbox:
        script = recipe.replace("http://127.0.0.1:8770", sandbox.base_url)
        script = re.sub(r"^(curl .*)$", r"\1; echo", script, flags=re.MULTILINE)
        done = subprocess.run(
            ["sh", "-euc", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
        )
        answers = [json.loads(line) for line in done.stdout.splitlines() if line]
        sent = [entry.path for entry in sandbox.log]
    payloads = [sorted(answer.keys() - {"timestamp", "processingTimeInMs"})[0] for answer in answers]
    assert payloads == [
        "refillIn", "products", "asinList", "categories", "categories", "asinList", "deals", "refillIn", "refillIn",
        "bestSellersList", "refillIn", "lightningDeals", "refillIn", "refillIn", "notifications", "notifications",
    ]  # fmt: skip
    assert all(answer.get("tokensLeft", 1) > 0 and "error" not in answer for answer in answers)
    assert answers[0]["tokensLeft"] == 1200
    assert answers[-1]["notifications"] == answers[-2]["notifications"] != []
    assert size((tmp_path / "graph.png").read_bytes()) == (500, 200)
    assert set(ENDPOINTS) == set(sent) - {"/sandbox/price"}


def test_the_python_recipe_runs(tmp_path: Path) -> None:
    (recipe,) = blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", recipe],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(REPO), "NO_PROXY": "*"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.splitlines() == ["429 0", "200 5", "[('/token', 429, '429'), ('/token', 200, '')]"]


@pytest.mark.parametrize("name", KINDS)
def test_every_fault_is_described(name: str) -> None:
    assert f"| `{name}` |" in PAGE


@pytest.mark.parametrize("asin", SHOWN)
def test_every_shown_asin_is_described(asin: str) -> None:
    assert f"`{asin}`" in PAGE


@pytest.mark.parametrize("path", ENDPOINTS)
def test_every_endpoint_is_named(path: str) -> None:
    assert f"`{path}`" in PAGE
