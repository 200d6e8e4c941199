"""scripts/dev.py finds, makes and mends its environment, and says what to do when it cannot."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import REPO

FAKE_PIP = """
import json, os, sys
log = os.environ["FAKE_PIP_LOG"]
if sys.argv[1:]:
    with open(log, "a", encoding="utf-8") as out:
        out.write(json.dumps(sys.argv[1:]) + "\\n")
    print("Collecting something")
    if os.environ.get("FAKE_PIP_FAILS"):
        print("ERROR: no matching distribution")
        sys.exit(1)
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the bootstrap in a folder with a space, with a product that is one line long."""
    place = tmp_path / "a check out"
    shutil.copytree(REPO / "scripts", place / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPO / "pyproject.toml", place)
    package = place / "keepa_cli"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text("import os, sys\nprint('demo ran', sys.argv[1:])\n")
    return place


@pytest.fixture
def made(checkout: Path) -> Path:
    """The checkout with a real environment whose pip is a stand-in, so that nothing is fetched."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", checkout / ".venv"], check=True)
    give_pip(checkout)
    return checkout


def give_pip(checkout: Path) -> None:
    site = next((checkout / ".venv").rglob("site-packages"))
    (site / "pip.py").write_text(FAKE_PIP)
    (site / "checkout.pth").write_text(str(checkout))


def environment(checkout: Path, **env: str) -> dict[str, str]:
    """The environment of a shell that says nothing of where modules are: they are those of the checkout."""
    kept = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}}
    return {**kept, "FAKE_PIP_LOG": str(checkout / "pip.log"), **env}


def dev(checkout: Path, *args: str, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, checkout / "scripts" / "dev.py", *args],
        cwd=cwd or checkout,
        env=environment(checkout, **env),
        capture_output=True,
        text=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )


def installs(checkout: Path) -> list[list[str]]:
    log = checkout / "pip.log"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def test_help_names_every_command_and_needs_no_environment(checkout: Path) -> None:
    done = dev(checkout, "--help")
    assert done.returncode == 0
    assert all(f"  {name} " in done.stdout for name in ("demo", "test", "check", "docs", "bench"))
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize("args", [(), ("deploy",)])
def test_a_missing_or_unknown_command_is_a_usage_error(checkout: Path, args: tuple[str, ...]) -> None:
    done = dev(checkout, *args)
    assert done.returncode == 2
    assert "demo" in done.stdout + done.stderr


def test_an_unknown_check_is_refused_before_anything_is_made(checkout: Path) -> None:
    done = dev(checkout, "check", "spelling")
    assert done.returncode == 2
    assert "ruff" in done.stderr
    assert not (checkout / ".venv").exists()


def test_the_second_run_installs_nothing(made: Path, tmp_path: Path) -> None:
    first = dev(made, "demo", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert installs(made)[0][-2:] == ["--editable", str(made)]
    assert "[2/3] installing keepa-cli into .venv" in first.stdout
    assert "demo ran ['demo']" in first.stdout
    assert "Collecting" not in first.stdout
    second = dev(made, "demo", "--fast")
    assert "installing" not in second.stdout
    assert "demo ran ['demo', '--fast']" in second.stdout
    assert len(installs(made)) == 1


def test_changed_packaging_installs_again_and_changed_tool_settings_do_not(made: Path) -> None:
    dev(made, "demo")
    project = made / "pyproject.toml"
    project.write_text(project.read_text() + "\n[tool.something]\nx = 1\n")
    dev(made, "demo")
    assert len(installs(made)) == 1
    project.write_text(project.read_text().replace('"click>=8.5"', '"click>=8.6"'))
    dev(made, "demo")
    assert len(installs(made)) == 2


def test_an_environment_with_more_than_is_needed_is_enough(made: Path) -> None:
    dev(made, "docs")
    assert installs(made)[0][-1] == f"{made}[dev]"
    dev(made, "demo")
    assert len(installs(made)) == 1


def test_a_pip_failure_shows_its_last_lines_and_is_not_taken_for_success(made: Path) -> None:
    failed = dev(made, "demo", FAKE_PIP_FAILS="1")
    assert failed.returncode == 1
    assert "no matching distribution" in failed.stderr
    assert "Next: " in failed.stderr
    assert "Traceback" not in failed.stderr
    assert dev(made, "demo").returncode == 0
    assert len(installs(made)) == 2


@pytest.mark.skipif(os.name == "nt", reason="the layout of a Windows environment differs")
def test_a_broken_environment_is_made_again(made: Path) -> None:
    (made / ".venv" / "bin" / "python").unlink()
    (made / ".venv" / "bin" / "python").symlink_to("/nowhere/python3")
    done = dev(made, "demo", FAKE_PIP_FAILS="1", PIP_NO_INDEX="1", PIP_FIND_LINKS="")
    assert "[1/3] making .venv (the old one does not work)" in done.stdout
    works = subprocess.run([made / ".venv" / "bin" / "python", "-c", "import pip"], check=False)
    assert works.returncode == 0


def test_a_folder_that_is_no_environment_is_never_cleared(checkout: Path) -> None:
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "thesis.txt").write_text("years of work")
    done = dev(checkout, "demo")
    assert done.returncode == 1
    assert "is not a virtual environment" in done.stderr
    assert (checkout / ".venv" / "thesis.txt").read_text() == "years of work"


def test_a_python_without_venv_gets_a_next_step(checkout: Path) -> None:
    program = (
        "import importlib.util, sys; real = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *a: None if name == 'ensurepip' else real(name, *a)\n"
        f"sys.path.insert(0, {str(checkout / 'scripts')!r})\n"
        "from devtools.commands import main; sys.exit(main(['demo']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "python3-venv" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_old_python_gets_a_sentence(checkout: Path) -> None:
    program = (
        "import sys; sys.version_info = (3, 8, 1, 'final', 0)\n"
        f"exec(compile(open({str(checkout / 'scripts' / 'dev.py')!r}).read(), 'dev.py', 'exec'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "This is Python 3.8; keepa-cli needs Python 3.11 or newer." in done.stderr


@pytest.fixture
def sleeping(made: Path) -> Iterator[subprocess.Popen[str]]:
    first = dev(made, "demo")
    assert first.returncode == 0, first.stderr
    (made / "keepa_cli" / "__main__.py").write_text("import time\nprint('started', flush=True)\ntime.sleep(60)\n")
    child = subprocess.Popen(
        [sys.executable, made / "scripts" / "dev.py", "demo"],
        env=environment(made),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    yield child
    child.kill()
    child.communicate()


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_ends_with_130_and_leaves_no_child(sleeping: subprocess.Popen[str]) -> None:
    assert sleeping.stdout
    for line in sleeping.stdout:
        if "started" in line:
            break
    os.killpg(sleeping.pid, signal.SIGINT)
    _, errors = sleeping.communicate(timeout=30)
    assert sleeping.returncode == 130
    assert "Interrupted." in errors
    with pytest.raises(ProcessLookupError):
        os.killpg(sleeping.pid, 0)
