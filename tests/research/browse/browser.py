"""A real browser without a window, on pages from files. Tests skip where there is none."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

PATHS = ("/usr/bin/chromium", "chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--enable-logging=stderr",
    "--v=0",
)  # fmt: skip
DARK = "--blink-settings=preferredColorScheme=0"
_COMPLAINTS = re.compile(r"CONSOLE|Refused to|violates|ERR_", re.I)


def chromium() -> str:
    for name in PATHS:
        found = shutil.which(name)
        if found:
            return found
    pytest.skip("chromium is not on this machine")


def _run(profile: Path, url: str, *flags: str) -> str:
    """What the browser prints; a message on the console or a request that was blocked fails the test."""
    done = subprocess.run(
        [chromium(), *FLAGS, f"--user-data-dir={profile}", *flags, url],
        capture_output=True, text=True, encoding="utf-8", timeout=60, check=False,
    )  # fmt: skip
    complaints = [line for line in done.stderr.splitlines() if _COMPLAINTS.search(line)]
    assert complaints == [], complaints
    return done.stdout


def dom(profile: Path, page: Path, fragment: str = "", width: int = 1280, height: int = 900) -> str:
    """The page as it is once its script has run."""
    return _run(profile, page.as_uri() + fragment, f"--window-size={width},{height}", "--dump-dom")


def screenshot(profile: Path, page: Path, width: int, height: int, *flags: str) -> bytes:
    target = profile.parent / "shot.png"
    _run(profile, page.as_uri(), f"--window-size={width},{height}", f"--screenshot={target}", *flags)
    data = target.read_bytes()
    assert struct.unpack(">II", data[16:24]) == (width, height)
    return data
