"""`dev.py check` runs every check, shows what failed and says so with its exit code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import REPO

sys.path.insert(0, str(REPO / "scripts"))

from devtools import checks
from devtools.run import Stop


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "ensure", lambda *_, **__: Path(sys.executable))


def of(name: str, code: int, output: str = "") -> checks.Check:
    return checks.Check(name, f"about {name}", lambda _: (code, output))


def stopped(_: Path) -> tuple[int, str]:
    raise Stop("pip could not install the thing")


def test_all_run_and_the_failed_ones_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = checks.Check("three", "about three", stopped)
    monkeypatch.setattr(checks, "CHECKS", (of("one", 1, "line 7 is wrong"), of("two", 0, "noise"), broken))
    assert checks.check([]) == 1
    shown = capsys.readouterr()
    assert "line 7 is wrong" in shown.out
    assert "noise" not in shown.out
    assert "pip could not install the thing" in shown.out
    assert "2 of 3 checks failed: one, three" in shown.err
    assert checks.check(["two"]) == 0


def test_an_example_in_a_page_is_no_leak_and_a_key_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    finding = '{"file": "a.md", "location": "line 1", "rule": "%s"}'
    found = '{"ok": false, "error": {"details": {"findings": [' + finding + "]}}}"

    def secrets(text: str) -> int:
        monkeypatch.setattr(checks, "capture", lambda *_, **__: (1, text))
        return checks._secrets(Path(sys.executable))[0]

    assert secrets('{"ok": true}') == 0
    assert secrets(found % "secret_parameter") == 0
    assert secrets(found % "key_shape") == 1
    assert secrets((found % "secret_parameter").replace("a.md", "a.yaml")) == 1
    assert secrets("Traceback") == 1


def test_the_layers_check_is_the_contract_of_the_project() -> None:
    code, output = checks._layers(Path(sys.executable))
    assert code == 0, output
    assert "imports go one way KEPT" in output
