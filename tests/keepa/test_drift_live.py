"""The three verdicts as a user sees them: live, and from a recording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.core.errors import ExitCode
from keepa_cli.keepa.csvtypes import CSV_TYPES
from tests.cassettes.made import ask, promote
from tests.support.remote import BUCKET, KEY, call, refusal
from tests.support.scripted_server import ScriptedServer

ASIN = "B00AAAAAA1"
CSV = [[10, 5], *[None] * (len(CSV_TYPES) - 1)]
PRODUCT = {"asin": ASIN, "domainId": 1, "productType": 0, "title": "kettle", "csv": CSV}


def live(home: Path, step: dict[str, Any], **params: Any) -> Any:
    with ScriptedServer([step]) as server:
        return call("products.get", home, {"asin": [ASIN], **params}, server, yes=True)


def test_an_answer_that_is_fine_warns_of_nothing(home: Path) -> None:
    found = live(home, {"json": BUCKET | {"products": [PRODUCT]}})
    assert (found["ok"], found["warnings"]) == (True, [])


def test_a_suspicious_answer_is_delivered_with_warnings(home: Path) -> None:
    odd = PRODUCT | {"websiteDisplayGroup": ["kitchen"], "moonPhase": 3}
    found = live(home, {"json": BUCKET | {"products": [odd]}}, stats="90")
    assert found["ok"]
    assert [(w["code"], ASIN in w["message"]) for w in found["warnings"]] == [
        ("contract", False), ("unknown_fields", False), ("suspicious", True)
    ]  # fmt: skip
    assert found["warnings"][1]["fields"] == {"$.products[*].moonPhase": 1}
    assert "$.products[*].moonPhase" in found["warnings"][1]["message"]
    assert found["data"]["items"][0]["status"] == "found"


def test_fewer_products_than_asked_are_a_warning(home: Path) -> None:
    body = BUCKET | {"products": [PRODUCT]}
    found = live(home, {"json": body}, asin=[ASIN, "B00AAAAAA2"])
    assert found["ok"]
    assert "1 of 2 ASINs; missing: B00AAAAAA2" in found["warnings"][0]["message"]


@pytest.mark.parametrize(
    ("step", "kind", "says"),
    [
        ({"json": BUCKET | {"note": KEY, "products": [PRODUCT | {"csv": "x"}]}}, "contract_error", "$.products[0].csv"),
        ({"json": BUCKET | {"note": KEY, "products": [{"title": "x"}]}}, "contract_error", "$.products[0].asin"),
        ({"text": json.dumps([KEY])}, "contract_error", "a JSON list instead of an object"),
        ({"text": json.dumps({"note": KEY})[:-1]}, "outcome_unknown", "bytes that are not JSON"),
    ],
)  # fmt: skip
def test_a_broken_answer_is_an_error_and_its_body_is_kept_without_the_key(
    home: Path, step: dict[str, Any], kind: str, says: str
) -> None:
    found = live(home, step)
    error = refusal(found)
    assert error["kind"] == kind
    assert says in error["message"]
    kept = Path(error["details"]["kept_at"])
    assert kept.parent == home / "state" / "failed"
    text = kept.read_text(encoding="utf-8")
    assert "REDACTED" in text
    assert KEY not in text
    if kind == "contract_error":
        assert found.exit_code is ExitCode.CONTRACT


def test_a_refusal_keeps_no_body(home: Path) -> None:
    found = live(home, {"status": 400, "json": {"error": {"type": "invalidParameter", "message": "no"}}})
    assert "kept_at" not in refusal(found)["details"]
    assert not (home / "state" / "failed").exists()


def test_a_broken_recording_names_its_file_and_keeps_nothing(home: Path) -> None:
    body = json.dumps(BUCKET | {"products": [{"title": "x"}]}).encode()
    path = promote(home / "work" / "cassettes", "odd", ask(ASIN), body)
    error = refusal(call("products.get", home, {"asin": [ASIN]}))
    assert (error["kind"], error["details"]["errors"][0]["path"]) == ("contract_error", "$.products[0].asin")
    assert path.name in error["details"]["source"]
    assert not (home / "state" / "failed").exists()


def test_a_suspicious_recording_warns_alike(home: Path) -> None:
    body = json.dumps(BUCKET | {"products": [PRODUCT | {"csv": CSV[:34]}]}).encode()
    promote(home / "work" / "cassettes", "short", ask(ASIN), body)
    found = call("products.get", home, {"asin": [ASIN]})
    assert [w["message"] for w in found["warnings"]] == [f"csv has fewer than the 36 known slots: {ASIN}."]
