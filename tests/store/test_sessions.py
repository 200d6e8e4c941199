"""Who is alive: a lock that the system drops, whatever way a process ends."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from keepa_cli.store.sessions import forget, is_alive, session_in
from tests.conftest import REPO

PROGRAM = (
    "import sys; from pathlib import Path; from keepa_cli.store.sessions import session_in\n"
    "session = session_in(Path(sys.argv[1])); print(session.id, flush=True); sys.stdin.read()"
)


def start(folder: Path) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-c", PROGRAM, str(folder)]
    process = subprocess.Popen(command, cwd=REPO, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip()


def test_a_process_is_alive_until_it_ends(tmp_path: Path) -> None:
    process, session = start(tmp_path / "s")
    assert is_alive(tmp_path / "s", session) and is_alive(tmp_path / "s", session)
    process.communicate("")
    assert not is_alive(tmp_path / "s", session)
    assert not (tmp_path / "s" / session).exists()


@pytest.mark.skipif(os.name != "posix", reason="needs kill -9")
def test_a_killed_process_is_dead_at_once(tmp_path: Path) -> None:
    process, session = start(tmp_path / "s")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (tmp_path / "s" / session).exists() and not is_alive(tmp_path / "s", session)
    forget(tmp_path / "s", session)
    assert not (tmp_path / "s" / session).exists()


def test_one_session_serves_all_users_of_a_process_and_goes_with_the_last(tmp_path: Path) -> None:
    one, two = session_in(tmp_path), session_in(tmp_path)
    assert one is two and is_alive(tmp_path, one.id)
    name = one.id
    del one
    gc.collect()
    assert is_alive(tmp_path, name)
    del two
    gc.collect()
    assert not is_alive(tmp_path, name)
    assert session_in(tmp_path).id == name


def test_an_unknown_session_is_dead(tmp_path: Path) -> None:
    assert not is_alive(tmp_path, "nobody")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_is_another_session_and_does_not_keep_its_parent_alive(tmp_path: Path) -> None:
    program = (
        "import os, sys, time; from pathlib import Path; from keepa_cli.store.sessions import session_in\n"
        "folder = Path(sys.argv[1]); mine = session_in(folder); child = os.fork()\n"
        "if not child:\n"
        "    own = session_in(folder); os.write(1, f'child {own.id}\\n'.encode()); time.sleep(20); os._exit(0)\n"
        "os.write(1, f'parent {mine.id} {child}\\n'.encode()); time.sleep(0.3); os.kill(os.getpid(), 9)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], cwd=REPO, stdout=subprocess.PIPE, text=True
    )
    said = dict(line.split(maxsplit=1) for line in (process.stdout.readline(), process.stdout.readline()))
    parent, child_pid = said["parent"].split()
    process.wait()
    try:
        assert parent != said["child"].strip()
        assert not is_alive(tmp_path, parent) and is_alive(tmp_path, said["child"].strip())
    finally:
        os.kill(int(child_pid), signal.SIGKILL)
        process.stdout.close()
