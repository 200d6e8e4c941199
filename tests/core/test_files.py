from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from keepa_cli.core import files
from keepa_cli.core.errors import KeepaCliError, Kind

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX file semantics")

CHILD = """
import os, signal, sys
from pathlib import Path
from keepa_cli.core import files
root, step = Path(sys.argv[1]), int(sys.argv[2])
count = 0
def counted(original):
    def call(*a, **k):
        global count
        count += 1
        if count == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*a, **k)
    return call
os.fsync = counted(os.fsync)
Path.replace = counted(Path.replace)
Path.unlink = counted(Path.unlink)
with files.lock(root, what="test"):
    change = files.Transaction(root)
    for name in "abc":
        change.add(root / "sub" / name, b"new " + name.encode())
    change.commit()
"""


def state(root: Path) -> str:
    texts = {(root / "sub" / n).read_text().split()[0] for n in "abc"}
    assert len(texts) == 1, f"a mix: {texts}"
    return texts.pop()


@POSIX
def test_a_commit_killed_at_any_step_leaves_the_old_or_the_new_state(tmp_path: Path) -> None:
    seen = []
    for step in range(1, 60):
        root = tmp_path / str(step)
        (root / "sub").mkdir(parents=True)
        for name in "abc":
            (root / "sub" / name).write_text(f"old {name}")
        done = subprocess.run([sys.executable, "-c", CHILD, str(root), str(step)], check=False)
        with files.lock(root, what="test"):
            files.recover(root)
        seen.append(state(root))
        assert not [p for p in root.rglob("*") if p.name.startswith(".tmp-")]
        assert not files.pending_commit(root)
        if done.returncode == 0:
            break
    else:
        pytest.fail("the commit never ran to its end")
    assert seen[0] == "old" and seen[-1] == "new"
    assert seen == sorted(seen, reverse=True), "once the new state is decided it stays"


def test_an_atomic_write_that_fails_keeps_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_bytes(b"old")

    def chunks() -> object:
        yield b"half"
        raise RuntimeError("boom")

    with pytest.raises(RuntimeError):
        files.write_atomic(target, chunks())  # type: ignore[arg-type]
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


@POSIX
def test_a_full_disk_keeps_the_old_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    code = (
        "import resource, signal, sys; from pathlib import Path; from keepa_cli.core import files\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))\n"
        "t = files.Transaction(Path(sys.argv[1]))\n"
        "t.add(t.root / 'a', b'x' * 4096); t.add(t.root / 'b', b'x' * 20000)\n"
        "try: t.commit()\n"
        "except Exception as e: print(e.kind)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "io_error"
    assert (tmp_path / "a").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_second_writer_is_refused_at_once(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from keepa_cli.core import files\n"
    code += (
        "try:\n  with files.lock(Path(sys.argv[1]), what='x'): print('got it')\nexcept Exception as e: print(e.kind)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with files.lock(tmp_path, what="the library"):
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "io_error"
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "got it"


@POSIX
def test_special_files_are_refused_before_they_are_opened(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (fifo, tmp_path, Path("/dev/zero")):
        with pytest.raises(KeepaCliError, match="not a regular file"):
            files.read_bytes(path)


def test_paths_are_confined_after_links_are_resolved(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    assert files.confine(root, "a/b") == root.resolve() / "a" / "b"
    for bad in ("../outside", "a/../../outside", str(outside)):
        with pytest.raises(KeepaCliError) as caught:
            files.confine(root, bad)
        assert caught.value.kind is Kind.INVALID_ARGUMENTS
    (root / "link").symlink_to(outside)
    with pytest.raises(KeepaCliError):
        files.confine(root, "link/x")


@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="root may write anywhere")
def test_an_unwritable_folder_is_found_before_work(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(KeepaCliError, match="Cannot write to"):
        files.check_writable(tmp_path)


def test_a_folder_that_is_a_file_is_found_before_work(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(KeepaCliError) as caught:
        files.check_writable(tmp_path / "x")
    assert caught.value.kind is Kind.IO_ERROR
