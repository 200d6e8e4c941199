"""The shipped cassettes through pytest-recording: the same status and bytes as through our own replay."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

from keepa_cli.cassettes.codec import parse_cassette
from tests.conftest import REPO

SAMPLES = sorted((REPO / "cassettes").rglob("*.yaml"))
PROBE = """
import hashlib, json, pathlib, pytest, requests

CALLS = json.loads(pathlib.Path({calls!r}).read_text())

@pytest.fixture(scope="module")
def vcr_cassette_dir():
    return {folder!r}

def probe(file):
    method, url, body = CALLS[file]
    answer = requests.request(method, url, data=body.encode(), timeout=5)
    seen = [answer.status_code, hashlib.sha256(answer.content).hexdigest()]
    (pathlib.Path({out!r}) / pathlib.Path(file).name).write_text(json.dumps(seen))
"""
ONE = """
@pytest.mark.vcr
@pytest.mark.default_cassette({file!r})
def test_{number}():
    probe({file!r})
"""


def test_pytest_recording_answers_every_sample_as_we_do(tmp_path: Path) -> None:
    root = REPO / "cassettes"
    recorded = {p.relative_to(root).as_posix(): parse_cassette(p.read_bytes(), p.name)[0] for p in SAMPLES}
    calls = {file: [e.method, e.url, e.request_body.decode()] for file, e in recorded.items()}
    (tmp_path / "out").mkdir()
    (tmp_path / "calls.json").write_text(json.dumps(calls))
    probe = tmp_path / "test_probe.py"
    text = PROBE.format(calls=str(tmp_path / "calls.json"), out=str(tmp_path / "out"), folder=str(root))
    probe.write_text(text + "".join(ONE.format(number=n, file=file) for n, file in enumerate(recorded)))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--record-mode=none", "--block-network"]
    done = subprocess.run([*command, str(probe)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert len(recorded) >= 20
    for file, exchange in recorded.items():
        seen = json.loads((tmp_path / "out" / Path(file).name).read_text())
        assert seen == [exchange.status, hashlib.sha256(exchange.body).hexdigest()], file
