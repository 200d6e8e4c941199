"""Peak memory of a promotion against the size of its input, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parents[1]
BAR = 4.0
MEGABYTES = 50
CHILD = """
import json, resource, sys
from datetime import UTC, datetime
from pathlib import Path
from keepa_cli.cassettes.promote import Home, Promotion, promote
from keepa_cli.core.redact import Redactor

def peak():
    status = Path("/proc/self/status")
    if status.exists():  # a child's ru_maxrss starts at its parent's
        return next(int(line.split()[1]) for line in status.open() if line.startswith("VmHWM:")) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

def run(source, folder):
    home = Home(folder / "cassettes", folder / "state", lambda: datetime.now(UTC), Redactor("k3y" * 22))
    return promote(Promotion(source, "big"), home)

small, big, folder = map(Path, sys.argv[1:])
run(small, folder / "warm")
before = peak()
run(big, folder / "measured")
print(json.dumps({"before": before, "after": peak()}))
"""


def run() -> list[dict[str, Any]]:
    if sys.platform == "win32":
        return []
    with tempfile.TemporaryDirectory(prefix="keepa-bench-") as text:
        folder = Path(text)
        small = body(folder / "small.json", 0)
        return [
            measure("promote of a raw body", body(folder / "raw.json", MEGABYTES), small, folder / "a"),
            measure("promote of a cassette", _as_cassette(folder), small, folder / "b"),
        ]


def body(path: Path, megabytes: int) -> Path:
    """A /product body of invented products whose packed histories make up its size, as Keepa's do."""
    history = ",".join(f"{7_000_000 + 13 * n},{1000 + n * 7 % 900}" for n in range(4000))
    ranks = ",".join(f"{7_000_000 + 11 * n},{90_000 + n * 31 % 9000}" for n in range(4000))
    count = max(1, round(megabytes * 1e6 / (3 * len(history) + 4 * len(ranks))))
    with path.open("w", encoding="ascii") as out:
        out.write('{"timestamp":1778386768884,"tokensLeft":94,"refillIn":53441,"refillRate":60,"tokensConsumed":1,')
        out.write('"tokenFlowReduction":0.0,"processingTimeInMs":1,"products":[')
        for n in range(count):
            out.write("," if n else "")
            out.write(f'{{"asin":"B0AAAA{n:04}","domainId":1,"productType":0,"title":"Product {n}",')
            out.write(f'"csv":[[{history}],[{history}],null,[{ranks}],[{history}]],')
            out.write(f'"salesRanks":{{"123":[{ranks}],"456":[{ranks}],"789":[{ranks}]}}}}')
        out.write("]}")
    return path


def _as_cassette(folder: Path) -> Path:
    from keepa_cli.cassettes.codec import dump_cassette
    from keepa_cli.cassettes.importers import load_input

    path = folder / "big.yaml"
    with path.open("wb") as out:
        out.writelines(dump_cassette(load_input(folder / "raw.json").exchanges))
    return path


def measure(name: str, source: Path, small: Path, folder: Path) -> dict[str, Any]:
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(small), str(source), str(folder)],
        cwd=REPO, capture_output=True, text=True, check=True,
    )  # fmt: skip
    figures = json.loads(done.stdout)
    extra, size = figures["after"] - figures["before"], source.stat().st_size
    detail = f"{extra / 1e6:.0f} MB above the start for {size / 1e6:.0f} MB, {time.perf_counter() - began:.1f} s"
    return {"name": name, "ratio": extra / size, "bar": BAR, "detail": detail}


if __name__ == "__main__":
    print(json.dumps(run(), indent=1))
