"""Promotes again and again, each time in a forked process that fails at the next step, and reports what is left.

`python -m tests.cassettes.crash_driver FOLDER kill|full|interrupt STRIDE` prints JSON, one row per step.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from keepa_cli.cassettes import verify
from keepa_cli.cassettes.checks import FileReport, check_file
from keepa_cli.cassettes.evidence import Manifest, logical_path, manifest_path
from keepa_cli.cassettes.promote import Promotion, promote, writing
from keepa_cli.core.errors import KeepaCliError
from keepa_cli.core.redact import Redactor
from tests.cassettes.promoting import cassette, exchange, home_in, product_body, raw, snapshot

STEPS = ("open", "replace", "rename", "unlink", "mkdir", "fsync")
ALLOCATING = ("open", "mkdir", "fsync")


def prepare(folder: Path) -> None:
    """A library with one fixture, and an input that replaces it and adds another."""
    folder.mkdir()
    promote(Promotion(raw(folder / "old.json"), "kettle"), home_in(folder))
    other = "https://api.keepa.com/product?domain=1&asin=B0AAAAAAA1&stats=180"
    again = "https://api.keepa.com/product?domain=1&asin=B0AAAAAAA2"
    cassette(folder / "new.yaml", exchange(url=other), exchange(product_body(asin="B0AAAAAAA2"), again))


def act(folder: Path) -> None:
    promote(Promotion(folder / "new.yaml", "kettle", replace=True), home_in(folder))


def failing(how: str, last: int) -> Callable[[], int]:
    """Make the `last`-th call that changes the disk fail; returns the count so far."""
    done = 0

    def step(name: str) -> None:
        nonlocal done
        done += 1
        if how == "kill" and done == last:
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "interrupt" and done == last:
            raise KeyboardInterrupt
        if how == "full" and last and done >= last and name in ALLOCATING:
            raise OSError(28, "No space left on device")

    def counted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            if name != "open" or args[1] & os.O_CREAT:
                step(name)
            return real(*args, **more)

        return call

    for name in STEPS:
        setattr(os, name, counted(name, getattr(os, name)))
    return lambda: done


def count(folder: Path) -> int:
    reader, writer = os.pipe()
    if os.fork() == 0:
        done = failing("none", 0)
        act(folder)
        os.write(writer, str(done()).encode())
        os._exit(0)
    os.wait()
    return int(os.read(reader, 20))


def fail_at(folder: Path, how: str, step: int) -> str:
    pid = os.fork()
    if pid == 0:
        sys.stderr = io.StringIO()
        failing(how, step)
        try:
            act(folder)
        except KeepaCliError as error:
            os._exit(10 if error.kind.value == "io_error" else 12)
        except KeyboardInterrupt:
            os._exit(11)
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
            os._exit(13)
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"


def settled(folder: Path) -> dict[str, bytes]:
    """What a reader sees once the next writer has come by; no temporary file may be left."""
    root = folder / "cassettes"
    with writing(root):
        pass
    stray = [p for p in folder.rglob(".tmp-*") if "state" not in p.parts]
    assert not stray, stray
    return snapshot(folder)


def prove(folder: Path) -> None:
    """Every file of the library agrees with its name, its evidence and its row."""
    root = folder / "cassettes"
    manifest = Manifest.read(manifest_path(root))
    for path in verify.promoted(root):
        one = FileReport(logical_path(path, root), path)
        check_file(one, manifest, Redactor())
        assert not one.problems, one.problems


def main(base: Path, how: str, stride: int) -> None:
    prepare(base / "warm")
    act(base / "warm")  # everything is imported before the first fork
    prepare(base / "first")
    before = snapshot(base / "first")
    prove(base / "first")
    steps = count(base / "first")
    after = snapshot(base / "first")
    prove(base / "first")
    shutil.rmtree(base / "first")
    rows = []
    prepare(base / "again")
    for step in range(1, steps + 1, stride):
        folder = base / f"step{step}"
        shutil.copytree(base / "again", folder)
        ended = fail_at(folder, how, step)
        left = settled(folder)
        state = "before" if left == before else "after" if left == after else f"mix of {sorted(left)}"
        rows.append({"step": step, "ended": ended, "state": state})
        shutil.rmtree(folder)
    print(json.dumps({"steps": steps, "differ": before != after, "rows": rows}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
