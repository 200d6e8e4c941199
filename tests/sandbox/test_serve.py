"""`kc sandbox serve` as a process, and what it refuses."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.sandbox import LogEntry, Sandbox, SandboxConfig
from keepa_cli.sandbox.config import is_loopback
from keepa_cli.sandbox.serve import line_of, serve
from tests.support.sandbox import KEY

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


@pytest.fixture
def serving(clean_env: dict[str, str], home: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start `kc sandbox serve --port 0` with more arguments."""
    with contextlib.ExitStack() as started:

        def start(*args: str) -> subprocess.Popen[str]:
            command = [sys.executable, "-m", "keepa_cli", "--json", "sandbox", "serve", "--port", "0", *args]
            # A pytest run in the background ignores SIGINT, and its children would too.
            before = signal.signal(signal.SIGINT, signal.default_int_handler)
            process = started.enter_context(
                subprocess.Popen(command, env=clean_env, cwd=home / "work", stdout=-1, stderr=-1, text=True)
            )
            signal.signal(signal.SIGINT, before)
            started.callback(process.kill)
            return process

        yield start


def ready(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout
    return dict(json.loads(process.stdout.readline()))


@POSIX
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_says_where_it_answers_and_ends_well(serving: Any, how: signal.Signals) -> None:
    process = serving("--seed", "3", "--rate", "7", "--fault", "500x1@/token")
    told = ready(process)
    assert told["ok"] and told["command"] == "sandbox.serve"
    url = told["data"]["base_url"]
    assert (told["data"]["seed"], told["data"]["rate"]) == (3, 7)
    assert requests.get(f"{url}/token?key={KEY}", timeout=10).status_code == 500
    assert requests.get(f"{url}/token?key={KEY}", timeout=10).json()["refillRate"] == 7
    process.send_signal(how)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out) == (0, "")
    assert f"export KEEPA_BASE_URL={url}\n" in err
    assert "GET /token  500  0 tokens  fault: 500\n" in err
    assert err.endswith("Stopped after 2 requests.\n")
    assert KEY not in err and "Traceback" not in err


@POSIX
def test_quiet_lists_no_requests(serving: Any) -> None:
    process = serving("--quiet", "--any-key", "--tokens", "-3")
    url = ready(process)["data"]["base_url"]
    assert requests.get(f"{url}/token?key=x", timeout=10).json()["tokensLeft"] == -3
    process.terminate()
    assert "GET" not in process.communicate(timeout=10)[1]


@POSIX
@pytest.mark.parametrize("folder", [["EMPTY"], []])
def test_from_cassettes_takes_a_folder_or_the_library(serving: Any, home: Path, folder: list[str]) -> None:
    (home / "work" / "EMPTY").mkdir()
    process = serving("--from-cassettes", *folder)
    told = ready(process)["data"]
    assert told["notes"] == ["Only recordings answer; nothing is charged and no key is checked."]
    assert requests.get(f"{told['base_url']}/product?domain=1&asin=B0NOTTHERE", timeout=10).status_code == 404
    process.terminate()


@pytest.mark.parametrize(
    ("args", "field"),
    [
        (["--fault", "418"], "fault"),
        (["--fault", "500%200"], "fault"),
        (["--rate", "0"], "rate"),
        (["--host", "0.0.0.0"], "host"),
        (["--host", "0.0.0.0", "--host", "127.0.0.1"], "host"),
        (["--host", "example.org"], "host"),
        (["--data", "no-such-folder"], "data"),
        (["--data", ".", "--from-cassettes"], "data"),
        (["--from-cassettes", "no-such-folder"], "from_cassettes"),
    ],
)
def test_bad_input_is_an_error_with_its_field(kc: Any, args: list[str], field: str) -> None:
    done = kc("--json", "sandbox", "serve", "--port", "0", *args)
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["kind"], error["details"]["field"]) == (2, "invalid_arguments", field)
    assert "Traceback" not in done.stderr


def test_an_unknown_fault_lists_the_known(kc: Any) -> None:
    error = json.loads(kc("--json", "sandbox", "serve", "--fault", "418").stdout)["error"]
    assert {"429", "reset-after-request", "extra-csv"} <= set(error["details"]["allowed"])


def test_a_port_in_use_is_an_io_error_with_a_way_out(kc: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = kc("--json", "sandbox", "serve", "--port", str(taken.getsockname()[1]))
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["kind"]) == (1, "io_error")
    assert error["next_actions"] == ["kc sandbox serve --port 0"]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost", "LOCALHOST"])
def test_these_hosts_are_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "", "localhost.example.org", "127.0.0.1.example.org"])
def test_these_hosts_are_not(host: str) -> None:
    assert not is_loopback(host)


def test_a_host_beyond_this_machine_must_be_meant() -> None:
    with pytest.raises(KeepaCliError, match="twice"):
        SandboxConfig(host="0.0.0.0")
    assert SandboxConfig(host="0.0.0.0", remote=True).host == "0.0.0.0"


def test_ipv6_is_written_in_brackets() -> None:
    try:
        with Sandbox(SandboxConfig(host="::1")) as sandbox:
            assert sandbox.base_url.startswith("http://[::1]:")
            assert requests.get(f"{sandbox.base_url}/token?key={KEY}", timeout=10).status_code == 200
    except KeepaCliError as error:
        assert error.kind is Kind.IO_ERROR
        pytest.skip("this system has no IPv6")


def test_serving_can_be_stopped_from_another_thread() -> None:
    stop, urls = threading.Event(), list[str]()

    def on_ready(sandbox: Sandbox) -> None:
        urls.append(sandbox.base_url)
        requests.get(f"{sandbox.base_url}/token?key={KEY}", timeout=10)
        stop.set()

    finished = serve(SandboxConfig(), on_ready=on_ready, stop=stop)
    assert finished.answered == 1
    with pytest.raises(requests.ConnectionError):
        requests.get(urls[0], timeout=2)


def test_a_request_is_shown_on_one_line_whatever_it_holds() -> None:
    entry = LogEntry("GET", "/token", (("term", "a\r\nb \x1b[2J\udcff"), ("asin", "A,B")), 200, 3)
    assert line_of(entry) == "GET /token?term=a%0D%0Ab%20%1B[2J%FF&asin=A,B  200  3 tokens"


def test_a_log_that_cannot_be_written_costs_no_answer() -> None:
    def broken(_: LogEntry) -> None:
        raise BrokenPipeError

    with Sandbox(on_request=broken) as sandbox:
        assert requests.get(f"{sandbox.base_url}/token?key={KEY}", timeout=10).status_code == 200


def test_a_sandbox_can_be_started_again() -> None:
    sandbox = Sandbox(SandboxConfig(faults=["slow=0.2"]))
    for _ in range(2):
        with sandbox:
            started = time.monotonic()
            assert requests.get(f"{sandbox.base_url}/token?key={KEY}", timeout=10).status_code == 200
            assert time.monotonic() - started >= 0.2


def test_starting_twice_keeps_the_address() -> None:
    with Sandbox() as sandbox:
        assert sandbox.start() == sandbox.base_url
