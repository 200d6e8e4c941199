"""A program that records one call, for tests to kill: the job on standard input, a report on standard output."""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keepa_cli.cassettes import recordings
from keepa_cli.core.errors import KeepaCliError
from keepa_cli.keepa.wire import WireRequest
from keepa_cli.transport.policy import RetryPolicy
from keepa_cli.transport.record import RecordTransport


def main() -> int:
    job = json.loads(sys.stdin.read())
    state = Path(job["state"])
    _limit(job.get("file_limit"))

    def store(exchanges: Any, meta: dict[str, Any]) -> Path:
        if job.get("hang_in_store"):
            (state / "storing").touch()
            time.sleep(60)
        return recordings.store(state, exchanges, meta["name"], meta, datetime.now(UTC))

    transport = RecordTransport(
        job["base_url"],
        job["key"],
        state_dir=state,
        store=store,
        name=job.get("name", ""),
        timeout=job.get("timeout", 20),
        policy=RetryPolicy(**job.get("policy", {})),
        env=dict(os.environ) | job.get("env", {}),
    )
    try:
        answer = transport.send(WireRequest("GET", job.get("path", "/token")))
    except KeyboardInterrupt:
        return 130
    except KeepaCliError as error:
        print(json.dumps({"kind": error.kind, "message": error.message, "details": error.details}))
        return 1
    notes = list(answer.source.notes)
    loaded = [m for m in ("vcr", "requests", "urllib3") if m in sys.modules]
    print(json.dumps({"size": len(answer.body), "name": answer.source.name, "notes": notes, "loaded": loaded}))
    return 0


def _limit(size: int | None) -> None:
    if size:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


if __name__ == "__main__":
    sys.exit(main())
