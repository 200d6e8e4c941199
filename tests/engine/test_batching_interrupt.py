"""A batch in a process of its own, cut off while it waits for tokens, and taken up again."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.sandbox import KEY, running_sandbox

ASINS = [f"B{n:09d}" for n in range(1, 251)]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is sent to another process here")
def test_a_batch_is_interrupted_and_resumed(kc: Any, clean_env: dict[str, str], home: Path) -> None:
    with running_sandbox(rate=60, tokens=150) as box:
        env = {"KEEPA_BASE_URL": box.base_url, "KEEPA_API_KEY": KEY, "KEEPA_CLI_NO_CACHE": "1"}
        command = [
            sys.executable,
            "-m",
            "keepa_cli",
            "products",
            "get",
            *ASINS,
            "--no-history",
            "--live",
            "--yes",
            "-v",
        ]
        process = subprocess.Popen(
            command, env=clean_env | env, cwd=home / "work", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stderr
        said: list[str] = []
        while not (said and said[-1].startswith("Request 3 of 3 in ")):
            said.append(process.stderr.readline())
            assert said[-1], "the batch ended before it waited"
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert process.returncode == 130 and not out and "\x1b" not in "".join(said)
        assert "2 of 3 requests were answered" in err
        [resume] = [line.strip() for line in err.splitlines() if line.strip().startswith("kc products get")]
        box.bucket.set_balance(100)
        done = kc("--json", *shlex.split(resume)[1:], env=env)
        result = json.loads(done.stdout)
        assert done.returncode == 0 and result["token_bucket"]["charged"] == 50
        assert [len(dict(e.query)["asin"].split(",")) for e in box.log] == [100, 100, 50]
    assert [row["asked"] for row in result["data"]["items"]] == ASINS
    assert any(w["message"].startswith("Resumed: 2 of 3") for w in result["warnings"])
