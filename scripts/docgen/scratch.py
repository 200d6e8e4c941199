"""Run kc as a new user on a clean machine would, and make its output fit for a page."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
FILES: dict[str, object] = {
    "trackings.json": [
        {
            "asin": "B001GZ6QEC",
            "mainDomainId": 1,
            "updateInterval": 6,
            "thresholdValues": [{"domain": 1, "csvType": 0, "isDrop": True, "thresholdValue": 1999}],
        }
    ],
    "webhook.txt": "https://example.com/keepa-hook",
}
"""What the examples in help pages read."""


class Scratch:
    """An empty home with a working folder; settings, state and data lie below it."""

    def __init__(self, home: Path) -> None:
        self.home = home.resolve()
        self.work = self.home / "project"
        self.work.mkdir()
        for name, content in FILES.items():
            text = content if isinstance(content, str) else json.dumps(content)
            (self.work / name).write_text(text, encoding="utf-8")
        kept = {k: v for k, v in os.environ.items() if not k.startswith("KEEPA_") and k not in {"CI", "TZ"}}
        self.env = kept | {
            "HOME": str(self.home),
            "KEEPA_CLI_CONFIG": str(self.home / ".config" / "keepa-cli" / "config.toml"),
            "KEEPA_CLI_STATE_DIR": str(self.home / ".local" / "state" / "keepa-cli"),
            "KEEPA_CLI_DATA_DIR": str(self.home / ".local" / "share" / "keepa-cli"),
            "PYTHONPATH": str(REPO),
            "PYTHONIOENCODING": "utf-8",
            "COLUMNS": "100",
            "TERM": "dumb",
        }

    def shell(self, line: str) -> tuple[int, str]:
        """Exit code and output of a line such as `kc doctor`; other programs are refused. Pipes need a shell: none."""
        import shlex

        words = shlex.split(line)
        if words[0] not in {"kc", "keepa-cli"}:
            raise ValueError(f"only kc is run for the docs, not {words[0]!r}")
        done = subprocess.run(
            [sys.executable, "-m", "keepa_cli", *words[1:]],
            cwd=self.work,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        return done.returncode, self.clean(done.stdout)

    def clean(self, text: str) -> str:
        """The output without the paths of this machine and without white space at line ends."""
        for path, short in ((self.work, "~/project"), (self.home, "~"), (REPO, "keepa-cli")):
            text = text.replace(str(path), short)
        text = re.sub(r"/[^\s\"']*keepa-cli-demo-[^\s\"'/]+", "~/demo", text)
        return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def shape(text: str) -> str:
    """The text with everything that differs between two honest runs masked: numbers, hashes, times, the system."""
    text = re.sub(r"\b(?:linux|darwin|win32)\b", "system", text)
    text = re.sub(r"\b[0-9a-f]{8,64}\b", "#", text)
    text = re.sub(r"\d+(?:[.,:]\d+)*", "0", text)
    return re.sub(r"[ \-─━═]{2,}", " ", text)
