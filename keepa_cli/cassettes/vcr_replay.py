"""Replay cassettes through plain vcrpy, in a process of its own: vcrpy patches the whole process it runs in.

The parent calls `replay_with_vcr`; the child (`python -m keepa_cli.cassettes.vcr_replay`) reads one JSON document from
stdin and writes one to stdout. No socket can be opened in the child.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from keepa_cli.cassettes.model import Exchange
from keepa_cli.core.errors import KeepaCliError, Kind

_TIMEOUT = 600


def outcome(exchange: Exchange) -> dict[str, Any]:
    """What a replay of `exchange` must give, in the terms in which the child reports it."""
    headers = sorted([name.lower(), value] for name, values in exchange.headers.items() for value in values)
    return {
        "status": exchange.status,
        "reason": exchange.reason,
        "headers": headers,
        "sha256": hashlib.sha256(exchange.body).hexdigest(),
    }


def request_of(exchange: Exchange) -> dict[str, Any]:
    return {"method": exchange.method, "url": exchange.url, "body": exchange.request_body.decode("latin-1")}


def replay_with_vcr(jobs: Mapping[Path, Sequence[dict[str, Any]]]) -> dict[Path, list[dict[str, Any]]]:
    """The outcomes of the given requests per cassette file; a request that vcrpy cannot answer has `error`."""
    if not jobs:
        return {}
    work = [{"path": str(path), "requests": list(requests)} for path, requests in jobs.items()]
    done = subprocess.run(
        [sys.executable, "-m", __name__],
        input=json.dumps(work),
        capture_output=True,
        encoding="utf-8",
        timeout=_TIMEOUT,
        check=False,
    )
    if done.returncode:
        raise KeepaCliError(Kind.INTERNAL_ERROR, f"The replay through vcrpy ended with status {done.returncode}.")
    return dict(zip(jobs, json.loads(done.stdout), strict=True))


def _main() -> None:
    import logging
    import socket

    def closed(*_: Any) -> Any:
        raise OSError("no network in a replay")

    for name in ("connect", "connect_ex", "sendto"):
        setattr(socket.socket, name, closed)
    logging.getLogger("vcr").setLevel(logging.ERROR)
    out = sys.stdout
    sys.stdout = sys.stderr
    json.dump([_replay(job) for job in json.load(sys.stdin)], out)


def _replay(job: Mapping[str, Any]) -> list[dict[str, Any]]:
    import requests
    import vcr

    path = job["path"]
    recorder = vcr.VCR(record_mode="none", serializer="json" if path.endswith(".json") else "yaml")
    found: list[dict[str, Any]] = []
    try:
        with recorder.use_cassette(path), requests.Session() as session:
            session.trust_env = False
            found += [_answer(session, request) for request in job["requests"]]
    except Exception as error:  # noqa: BLE001 - whatever vcrpy cannot load is a finding about the file
        missing = len(job["requests"]) - len(found)
        found += [{"error": type(error).__name__}] * missing
    return found


def _answer(session: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    try:
        response = session.request(
            request["method"],
            request["url"],
            data=request["body"].encode("latin-1") or None,
            allow_redirects=False,
            timeout=10,
        )
    except Exception as error:  # noqa: BLE001 - the kind is the finding; the text may hold the request
        return {"error": type(error).__name__}
    return {
        "status": response.status_code,
        "reason": response.reason or "",
        "headers": sorted([name.lower(), value] for name, value in response.raw.headers.iteritems()),
        "sha256": hashlib.sha256(response.content).hexdigest(),
    }


if __name__ == "__main__":
    _main()
