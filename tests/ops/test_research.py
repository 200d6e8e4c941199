from __future__ import annotations

import json
import shlex
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.cassettes.codec import dump_cassette
from keepa_cli.cassettes.evidence import Manifest, manifest_path
from keepa_cli.cassettes.fingerprint import fingerprint
from keepa_cli.cassettes.model import Exchange
from tests.conftest import REPO
from tests.support.views import problems


def data(result: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)
    assert found["ok"], found
    return found["data"]


def run_action(cli: Any, action: dict[str, Any], *more: str) -> dict[str, Any]:
    """The envelope of a suggested command as it stands."""
    found: dict[str, Any] = json.loads(cli("--json", *shlex.split(action["cli"])[1:], *more).stdout)
    return found


def library(home: Path, bodies: dict[str, tuple[str, Any]], *, manifest: bool = True, junk: int = 0) -> Path:
    """A library of `name: (url, body)`; `junk` adds cassettes of which only name and evidence exist."""
    root = home / "data" / "cassettes"
    rows = Manifest()
    for name, (url, body) in bodies.items():
        text = json.dumps(body).encode()
        exchange = Exchange("GET", url, {}, b"", 200, "OK", {"Content-Type": ["application/json"]}, text)
        print_ = fingerprint("GET", url, b"")
        folder = url.partition("keepa.com/")[2].partition("?")[0]
        path = root / folder / f"{name}.{print_}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(dump_cassette([exchange])))
        rows.put(row(root, path, name, "/" + url.partition("keepa.com/")[2]))
    for number in range(junk):
        path = root / "product" / f"junk{number}.{number:016x}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"interactions: []\nversion: 1\n")
        rows.put(row(root, path, path.name.partition(".")[0], f"/product?domain=1&asin=B{number:09d}"))
    if manifest:
        target = manifest_path(root)
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(rows.dump())
    return root


def row(root: Path, path: Path, name: str, target: str) -> dict[str, str]:
    return {
        "logical_path": path.relative_to(root.parent).as_posix(),
        "title": f"{name}: GET {target}",
        "summary": "1 answer(s), HTTP 200, origin live",
        "recorded_at": "2026-01-02T03:04:05Z",
    }


URL = "https://api.keepa.com/"
KETTLE = ("product?domain=3&asin=B000000001", {"products": [{"asin": "B000000001", "title": "Copper Whistle"}]})


def test_resolve_says_how_to_go_on(cli: Any) -> None:
    found = data(cli("--json", "research", "resolve", "B0PPJ248DY"))
    assert (found["view"], found["status"]) == ("research_target", "resolved")
    assert problems(found) == []
    (candidate,) = found["candidates"]
    assert candidate["next_action"]["params"] == {"asin": ["B0PPJ248DY"], "full": True, "domain": "US"}
    assert run_action(cli, candidate["next_action"])["ok"]
    assert run_action(cli, found["next_actions"][0])["data"]["matches"]


@pytest.mark.parametrize(
    "text",
    ["306406152", "4006381333931", "AFZNN5H6MIT2Z", "172282", "electric kettle", "-5 kettle", "PS5CONSOLE",
     "https://www.amazon.com.br/s?k=kettle", "https://www.amazon.de/s?me=A1CX3WR5ZE8WAV&node=172282",
     "product_B0PPJ248DY_full", "fc5c5b26d48b9515", "cassettes/product/product_B0PPJ248DY.fc5c5b26d48b9515.yaml",
     "20261130T201623919223Z-product_B0PPJ248DY.json"],
)  # fmt: skip
def test_every_suggestion_runs(cli: Any, text: str) -> None:
    found = data(cli("--json", "research", "resolve", "--", text))
    assert found["candidates"] and problems(found) == []
    for action in [c["next_action"] for c in found["candidates"]] + found["next_actions"]:
        dry = [] if action["command"].startswith(("research.", "cassettes.")) else ["--dry-run"]
        words = shlex.split(action["cli"])[1:]
        result = json.loads(cli("--json", *words[:2], *dry, *words[2:]).stdout)
        assert result["ok"], result


def test_resolve_of_nothing_and_of_a_kind_that_does_not_fit(cli: Any) -> None:
    for args in (["???"], ["B0D8W1YVBX", "--kind", "seller"]):
        found = data(cli("--json", "research", "resolve", *args))
        assert (found["status"], found["candidates"], found["next_actions"]) == ("unknown", [], [])
        assert found["problem"]
    wrong = json.loads(cli("--json", "research", "resolve", "kettle", "--domain", "AU").stdout)
    assert wrong["error"]["kind"] == "invalid_arguments"


def test_query_finds_by_name_and_request_and_every_match_can_be_used(cli: Any) -> None:
    found = data(cli("--json", "research", "query", "B0PPJ248DY", "--limit", "50"))
    assert problems(found) == []
    recordings = [m for m in found["matches"] if m["source"] == "recording"]
    assert {"product_B0PPJ248DY", "product_B0PPJ248DY_full"} <= {m["name"] for m in recordings}
    assert all(m["next_action"]["estimated_tokens"] == 0 for m in found["matches"])
    for match in recordings:
        if match["endpoint"] != "graphimage":
            answer = run_action(cli, match["next_action"])
            assert answer["ok"], answer
    full = next(m for m in recordings if m["name"] == "product_B0PPJ248DY_full")
    assert full["origin"] == "sandbox" and full["recorded_at"].endswith("Z")
    assert full["items"][0]["asin"] == "B0PPJ248DY" and full["items"][0]["title"]


def test_query_opens_bodies_only_for_words_that_nothing_else_holds(cli: Any, home: Path) -> None:
    library(home, {"one": (URL + KETTLE[0], KETTLE[1])})
    by_title = data(cli("--json", "research", "query", "copper whistle"))
    assert [m["name"] for m in by_title["matches"]][:1] == ["one"]
    match = by_title["matches"][0]
    assert match["items"] == [{"asin": "B000000001", "title": "Copper Whistle"}]
    assert match["next_action"]["cli"] == "kc products get B000000001 --domain DE --fixture one"
    by_asin = data(cli("--json", "research", "query", "B000000001", "--kind", "product"))
    assert by_asin["searched"]["bodies_opened"] == 1
    assert by_asin["matches"][0]["origin"] == "live"
    assert by_asin["matches"][0]["age_days"] >= 0


def test_query_reads_sidecars_where_there_is_no_manifest(cli: Any, home: Path) -> None:
    root = home / "data" / "cassettes"
    shutil.copytree(REPO / "cassettes" / "seller", root / "seller")
    for path in list((root / "seller").iterdir()):
        path.rename(path.with_name(path.name.replace("seller_ATX8WCBDJYYKAT", "someone")))
    found = data(cli("--json", "research", "query", "ATX8WCBDJYYKAT", "--kind", "seller"))
    assert "someone" in {m["name"] for m in found["matches"]}


def test_query_survives_a_broken_manifest_and_broken_cassettes(cli: Any, home: Path) -> None:
    root = library(home, {"one": (URL + KETTLE[0], KETTLE[1])}, junk=3)
    manifest_path(root).write_text("nonsense")
    (root / "product" / "broken.0000000000000001.yaml").write_bytes(b"\xff\x00{")
    found = data(cli("--json", "research", "query", "whistle"))
    assert found["matches"][0]["name"] == "one"
    assert any("manifest" in note for note in found["notes"])


def test_query_of_the_documentation_and_of_nothing(cli: Any) -> None:
    found = data(cli("--json", "research", "query", "token ledger", "--kind", "docs"))
    assert found["matches"][0]["name"] in ("ledger", "reference/ledger")
    assert {m["source"] for m in found["matches"]} == {"docs"}
    assert run_action(cli, found["matches"][0]["next_action"])["data"]["text"]
    none = data(cli("--json", "research", "query", "zzzyx qqqw"))
    assert none["matches"] == [] and none["next_actions"][0]["command"] == "research.resolve"
    assert json.loads(cli("--json", "research", "query", "!!!").stdout)["error"]["kind"] == "invalid_arguments"


def test_query_is_fast_over_ten_thousand_recordings(cli: Any, home: Path) -> None:
    library(home, {"one": (URL + KETTLE[0], KETTLE[1])}, junk=10_000)
    began = time.perf_counter()
    found = data(cli("--json", "research", "query", "B000007777"))
    assert time.perf_counter() - began < 4
    assert found["matches"][0]["name"] == "junk7777"
    assert found["searched"]["recordings"] > 10_000
    titles = data(cli("--json", "research", "query", "nowhere to be found"))
    assert titles["searched"]["bodies_opened"] <= 70
    assert titles["searched"]["bodies_not_opened"] > 9_000 and titles["notes"]
