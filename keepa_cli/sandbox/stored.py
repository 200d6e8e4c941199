"""A folder of real Keepa bodies that answer /product as they are, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from keepa_cli.core.errors import invalid
from keepa_cli.core.files import io_error, read_bytes
from keepa_cli.keepa import strictjson
from keepa_cli.sandbox import spoil
from keepa_cli.sandbox.bodies import Chunk
from keepa_cli.sandbox.messages import dumps

MAX_BYTES = 256 * 1024 * 1024
FLAGS = ("rating", "buybox", "offers", "videos", "aplus")


@dataclass(frozen=True)
class Features:
    """What the request of a body must have asked for: `stats` is "", "0" or "days"."""

    stats: str
    history: bool
    flags: frozenset[str]


@dataclass(frozen=True)
class Body:
    """A stored answer. Its envelope is that of its own time; the sandbox charges what it says it consumed."""

    path: Path
    features: Features
    tokens: int

    @property
    def chunk(self) -> Chunk:
        return _read(self.path)

    def spoiled(self, names: Sequence[str]) -> Chunk:
        body = strictjson.load_json(self.chunk.data)
        if "missing-products" in names:
            del body["products"]
        else:
            body["products"] = spoil.products(body["products"], names, body["products"][0].get("lastUpdate") or 0)
        return Chunk(dumps(body))


class Stored:
    """The bodies of a folder by domain and ASINs. Other JSON files are listed in `ignored`."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.ignored: list[str] = []
        self._bodies: dict[tuple[int, tuple[str, ...]], list[Body]] = {}
        if not self.folder.is_dir():
            raise invalid(f"{self.folder} is not a folder.", field="data", value=str(self.folder))
        try:
            files = sorted(p for p in self.folder.iterdir() if p.suffix == ".json")
        except OSError as error:
            raise io_error("read", self.folder, error) from None
        for path in files:
            self._add(path)
        if not self._bodies:
            raise invalid(
                f"{self.folder} holds no *.json file with the body of a /product answer.",
                field="data",
                value=str(self.folder),
                ignored=self.ignored,
            )

    def __len__(self) -> int:
        return sum(map(len, self._bodies.values()))

    def find(self, domain: int, asins: Sequence[str], params: Mapping[str, str]) -> Body | None:
        """The body for exactly these ASINs whose content agrees best with what is asked; ties go by file name."""
        bodies = self._bodies.get((domain, tuple(asins)), ())
        asked = features_asked(params)
        return max(bodies, key=lambda body: _agreement(asked, body.features), default=None)

    def _add(self, path: Path) -> None:
        try:
            body = strictjson.load_json(read_bytes(path, limit=MAX_BYTES))
        except ValueError as error:
            raise invalid(f"{path.name} is not JSON: {error}", field="data", value=str(path)) from None
        products = body.get("products") if isinstance(body, dict) else None
        if not products or not all(isinstance(p, dict) and "asin" in p and "domainId" in p for p in products):
            self.ignored.append(path.name)
            return
        key = (products[0]["domainId"], tuple(p["asin"] for p in products))
        tokens = body.get("tokensConsumed")
        kept = Body(path, features_held(products[0]), tokens if isinstance(tokens, int) else 0)
        self._bodies.setdefault(key, []).append(kept)


def features_asked(params: Mapping[str, str]) -> Features:
    stats = params.get("stats", "")
    flags = frozenset(name for name in FLAGS if params.get(name, "0") not in {"", "0"})
    return Features("" if not stats else "0" if stats == "0" else "days", params.get("history", "1") != "0", flags)


def features_held(product: Mapping[str, Any]) -> Features:
    """What a product shows of its request. An interval without any average came from stats=0."""
    stats = product.get("stats") or {}
    kind = "" if not stats else "days" if any(v != -1 for v in stats.get("avg", ())) else "0"
    box = product.get("buyBoxSellerIdHistory") is not None or stats.get("buyBoxPrice", -2) != -2
    shown = {
        "rating": "reviews" in product,
        "buybox": box and not product.get("offersSuccessful"),
        "offers": bool(product.get("offersSuccessful")),
        "videos": "videos" in product,
        "aplus": "aPlus" in product,
    }
    return Features(kind, "csv" in product, frozenset(name for name, there in shown.items() if there))


def _agreement(asked: Features, held: Features) -> tuple[int, int]:
    """What was asked and is missing weighs more than what is there unasked."""
    flags = -4 * len(asked.flags - held.flags) - len(held.flags - asked.flags)
    return flags - 4 * (asked.stats != held.stats) - 4 * (asked.history != held.history), -len(held.flags)


@lru_cache(maxsize=8)
def _cached(path: Path, stamp: int) -> Chunk:
    return Chunk(read_bytes(path, limit=MAX_BYTES))


def _read(path: Path) -> Chunk:
    try:
        return _cached(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise io_error("read", path, error) from None
