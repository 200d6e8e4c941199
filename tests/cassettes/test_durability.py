"""A promotion that dies at any step, or runs out of disk, leaves the previous state or the new one, never a mix."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.cassettes.library import Library
from keepa_cli.cassettes.promote import Promotion, promote
from keepa_cli.cassettes.verify import verify_root
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import Transaction, recover
from keepa_cli.core.redact import Redactor
from tests.cassettes.promoting import home_in, product_body, raw, snapshot

REPO = Path(__file__).parents[2]
posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")


def driven(tmp_path: Path, how: str, stride: int) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.cassettes.crash_driver", str(tmp_path), how, str(stride)],
        env={**os.environ, "PYTHONPATH": str(REPO)}, cwd=REPO, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["steps"] > 40
    assert found["differ"]
    return found


@posix
@pytest.mark.parametrize(
    ("how", "stride", "endings"),
    [("kill", 1, {"signal 9"}), ("full", 3, {"exit 10", "exit 0"}), ("interrupt", 4, {"exit 11"})],
)
def test_failing_at_every_step_leaves_the_state_before_or_after(
    tmp_path: Path, how: str, stride: int, endings: set[str]
) -> None:
    rows = driven(tmp_path, how, stride)["rows"]
    assert [r for r in rows if r["state"] not in {"before", "after"}] == []
    assert {r["ended"] for r in rows} <= endings
    assert {r["state"] for r in rows} == {"before", "after"}
    assert all(r["state"] == "after" for r in rows if r["ended"] == "exit 0")


@posix
def test_a_file_limit_leaves_the_previous_state(tmp_path: Path) -> None:
    import resource
    import signal

    home = home_in(tmp_path)
    promote(Promotion(raw(tmp_path / "a.json"), "kettle"), home)
    before = snapshot(tmp_path)
    big = raw(tmp_path / "b.json", product_body(title="x" * 20_000))
    for limit in (0, 100, 9000):
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            with pytest.raises(KeepaCliError) as caught:
                promote(Promotion(big, "kettle", replace=True), home)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, handler)
        assert caught.value.kind is Kind.IO_ERROR
        assert snapshot(tmp_path) == before
        assert not list((tmp_path / "state" / "staging").iterdir())
    promote(Promotion(big, "kettle", replace=True), home)


def test_two_promoters_at_once_lose_nothing(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path\n"
        "from keepa_cli.cassettes.promote import Promotion, promote\n"
        "from keepa_cli.core.errors import KeepaCliError\n"
        "from tests.cassettes.promoting import home_in, raw, product_body\n"
        "folder, who = Path(sys.argv[1]), sys.argv[2]\n"
        "source = folder / (who + '.json')\n"
        "for n in range(6):\n"
        "    raw(source, product_body(asin='B0AAAA%s%03d' % (who, n)))\n"
        "    while True:\n"
        "        try:\n"
        "            promote(Promotion(source, who + str(n)), home_in(folder)); break\n"
        "        except KeepaCliError as error:\n"
        "            if not error.retryable: raise\n"
        "            time.sleep(0.01)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(REPO)}
    both = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path), who], env=env, stderr=subprocess.PIPE, text=True)
        for who in ("X", "Y")
    ]
    for process in both:
        assert process.communicate(timeout=60)[1] == ""
    names = {e.name for e in Library([tmp_path / "cassettes"]).entries()}
    assert names == {f"{who}{n}" for who in "XY" for n in range(6)}
    assert len((tmp_path / "evidence" / "manifest.csv").read_text(encoding="utf-8").splitlines()) == 13
    assert not verify_root(tmp_path / "cassettes", Redactor()).all_problems


class TestTransaction:
    def test_files_appear_and_disappear_together(self, tmp_path: Path) -> None:
        old = tmp_path / "old"
        old.write_bytes(b"old")
        work = Transaction(tmp_path)
        work.add(tmp_path / "new", b"new")
        work.remove(old)
        work.remove(tmp_path / "never")
        work.commit()
        assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"new": b"new"}

    def test_an_interrupted_commit_is_finished_with_its_removals(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import keepa_cli.core.files as files

        old = tmp_path / "old"
        old.write_bytes(b"old")
        work = Transaction(tmp_path)
        work.add(tmp_path / "new", b"new")
        work.remove(old)
        with monkeypatch.context() as patch:
            patch.setattr(files, "_roll_forward", lambda *_: (_ for _ in ()).throw(OSError(5, "gone")))
            with pytest.raises(KeepaCliError):
                work.commit()
        assert old.exists()
        assert recover(tmp_path)
        assert {p.name for p in tmp_path.iterdir()} == {"new"}

    def test_an_intent_without_removals_is_still_understood(self, tmp_path: Path) -> None:
        (tmp_path / ".tmp-a").write_bytes(b"a")
        (tmp_path / ".commit-intent.json").write_text(json.dumps({"version": 1, "moves": [[".tmp-a", "a"]]}))
        assert recover(tmp_path)
        assert (tmp_path / "a").read_bytes() == b"a"
