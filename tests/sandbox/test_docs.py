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

from keepa_cli.sandbox.catalogue.traits import SHOWN
from keepa_cli.sandbox.faults import KINDS
from tests.conftest import REPO
from tests.support.sandbox import running_sandbox

PAGE = (REPO / "docs" / "sandbox.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("sh")), reason="curl and a shell are not installed")
def test_the_curl_recipes_answer() -> None:
    (recipe,) = blocks("sh")
    with running_sandbox() as sandbox:
        script = recipe.replace("http://127.0.0.1:8770", sandbox.base_url).replace('"\n', '"; echo\n')
        done = subprocess.run(["sh", "-euc", script], capture_output=True, text=True, timeout=60, check=True)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
    payloads = [sorted(answer.keys() - {"timestamp", "processingTimeInMs"})[0] for answer in answers]
    assert payloads == ["refillIn", "products", "asinList", "categories", "categories"]
    assert all(answer["tokensLeft"] > 0 and "error" not in answer for answer in answers)
    assert answers[0]["tokensLeft"] == 1200


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
