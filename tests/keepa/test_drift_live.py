"""The three verdicts as a user sees them: live, and from a recording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.core.context import Context
from keepa_cli.core.errors import ExitCode
from keepa_cli.keepa.csvtypes import CSV_TYPES
from keepa_cli.sandbox.catalogue import example_asin
from tests.cassettes.made import ask, promote
from tests.support.remote import BUCKET, KEY, call, context, refusal
from tests.support.sandbox import running_sandbox
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


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("type-flip", "websiteDisplayGroup is array where string is documented"),
        ("new-enum", "which is no known value"),
        ("extra-csv", "$.products[*].csv[36]"),
        ("missing-products", "0 of 1 ASINs; missing"),
    ],
)
def test_the_drift_that_the_sandbox_imitates_is_delivered_with_a_warning(fault: str, says: str, home: Path) -> None:
    with running_sandbox(faults=[f"{fault}@/product"], tokens=1000, any_key=True) as sandbox:
        env = {**context(home).env, "KEEPA_BASE_URL": sandbox.base_url, "KEEPA_API_KEY": KEY, "KEEPA_CLI_MODE": "live"}
        params = {"asin": [example_asin(1)], "stats": "90", "videos": True}
        found = call("products.get", home, params, ctx=Context(env=env, cwd=home / "work"), yes=True)
    assert found["ok"], found
    assert any(says in w["message"] for w in found["warnings"]), found["warnings"]


def test_a_flipped_field_can_be_promoted_and_a_missing_identity_cannot(home: Path, cli: Any) -> None:
    (home / "work" / "cassettes").mkdir()
    ask_for = ("--request", f"/product?domain=1&asin={ASIN}&stats=90")
    for name, product in (("odd", PRODUCT | {"brandStoreName": ["x"]}), ("broken", {"title": "x"})):
        (home / "work" / f"{name}.json").write_text(json.dumps(BUCKET | {"products": [product]}), encoding="utf-8")
    odd = json.loads(cli("--json", "cassettes", "promote", "odd.json", "--name", "odd", *ask_for).stdout)
    assert odd["ok"], odd
    said = json.dumps(odd["warnings"])
    assert "brandStoreName is array where string is documented" in said
    assert "Statistics were asked for and are absent" in said
    broken = json.loads(cli("--json", "cassettes", "promote", "broken.json", "--name", "broken", *ask_for).stdout)
    assert (broken["error"]["kind"], broken["error"]["details"]["path"]) == ("contract_error", "$.products[0].asin")
