from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.keepa import contract
from keepa_cli.keepa.contract import KEYWORDS, NOTES, SCHEMAS, check, known_fields, validate_with_jsonschema
from keepa_cli.keepa.csvtypes import CSV_TYPES
from keepa_cli.keepa.stats import compute_stats

ENVELOPE: dict[str, Any] = {
    "timestamp": 1780000000000, "tokensLeft": 10, "refillIn": 100, "refillRate": 5, "tokenFlowReduction": 0.0,
    "tokensConsumed": 1, "processingTimeInMs": 1,
}  # fmt: skip
PRODUCT: dict[str, Any] = {
    "asin": "B000000001", "domainId": 1, "productType": 0, "title": None, "csv": [[10, 5], None], "categories": [1],
    "categoryTree": [{"catId": 1, "name": "A"}], "images": [{"m": "a.jpg", "mH": 5}], "eanList": ["0"],
    "salesRanks": {"1": [10, 5]}, "fbaFees": {"lastUpdate": 1, "pickAndPackFee": 2}, "isSNS": False,
    "referralFeePercentage": 15.01, "offers": [{"offerId": 1, "offerCSV": [1, 2, 3], "isFBA": True}],
    "aPlus": [{"fromManufacturer": True, "module": [{"text": ["a"]}]}], "monthlySold": 100,
    "stats": {"current": [1], "buyBoxStats": {"A1": {"percentageWon": 99.5, "isFBA": None}}, "buyBoxPrice": -2},
}  # fmt: skip
CATEGORY = {"domainId": 1, "catId": 9223372036854775807, "name": "A", "children": None, "parent": 0, "avgBuyBox": 3}
BODIES: dict[str, dict[str, Any]] = {
    "product": ENVELOPE | {"products": [PRODUCT]},
    "search_product": ENVELOPE | {"products": [PRODUCT], "asinList": ["B000000001"], "totalResults": 1},
    "category": ENVELOPE | {"categories": {"1": CATEGORY}, "categoryParents": {"2": CATEGORY}},
    "search_category": ENVELOPE | {"categories": {"1": CATEGORY}},
    "token": ENVELOPE,
    "finder": ENVELOPE
    | {
        "asinList": ["B000000001"],
        "totalResults": 1,
        "searchInsights": {
            "avgRating": 44,
            "isFBAPercent": 61.5,
            "topBrandsWithCounts": {"acme": 7},
            "relatedCategories": None,
        },
    },
    "deals": ENVELOPE
    | {
        "deals": {
            "dr": [
                {
                    "asin": "B000000001",
                    "image": [97],
                    "current": [1],
                    "delta": [[1], [-2]],
                    "rootCat": 2**63 - 1,
                    "warehouseConditionComment": None,
                }
            ],
            "drDateIndex": [],
            "categoryIds": [1],
            "categoryNames": ["A"],
            "categoryCount": [1],
        },
        "dealsCached": False,
    },
    "sellers": ENVELOPE
    | {
        "sellers": {
            "A0000000000001": {
                "sellerId": "A0000000000001",
                "csv": [[1, 97], None],
                "ratingCount": [1, 2, 3, 4],
                "competitors": [{"sellerId": "a2", "percent": 5}],
                "address": ["Street", "US"],
            },
            "A0000000000002": None,
        }
    },
    "sellerquery": ENVELOPE | {"sellerIdList": ["A0000000000001"], "totalResults": 1},
    "bestsellers": ENVELOPE
    | {"bestSellersList": {"domainId": 1, "lastUpdate": 8075700, "categoryId": 1000, "asinList": ["B000000001"]}},
    "topseller": ENVELOPE | {"sellerIdList": ["A0000000000001"]},
    "lightningdeal": ENVELOPE
    | {
        "lightningDeals": [
            {
                "asin": "B000000001",
                "dealPrice": -1,
                "isMAP": False,
                "variation": [{"dimension": "Color", "value": "Red"}],
            }
        ]
    },
    "tracking": ENVELOPE
    | {
        "trackings": [
            {
                "asin": "B000000001",
                "ttl": -5,
                "thresholdValues": [{"thresholdValueCSV": [8075762, 1999], "isDrop": True}],
                "notifyIf": [{"domain": 1, "csvType": 0, "notifyIfType": 1}],
                "notificationType": [False],
                "metaData": None,
            }
        ],
        "notifications": [{"asin": "B000000001", "notificationId": "n-1", "currentPrices": None}],
        "asinList": ["B000000001"],
        "trackingListNames": ["mine"],
    },
}
REAL = {"product-B0D8W1YVBX-US-20260510.json", "product-B0D8W1YVBX-US-20260510-stats0.json"}
REGISTRY: Registry[Any] = Registry().with_resources(
    (f"{n}.json", Resource.from_contents(contract.structure(n))) for n in contract.all_schemas()
)
DOCUMENTED: Registry[Any] = Registry().with_resources(
    (f"{n}.json", Resource.from_contents(contract.schema(n))) for n in contract.all_schemas()
)


def subschemas(raw: Any) -> list[dict[str, Any]]:
    inner = [*raw.get("properties", {}).values(), *(raw[k] for k in ("items", "additionalProperties") if k in raw)]
    return [raw, *(s for i in inner for s in subschemas(i))]


@pytest.mark.parametrize("name", contract.all_schemas())
def test_schemas_keep_to_the_keywords_that_the_walker_knows(name: str) -> None:
    raw = contract.schema(name)
    Draft202012Validator.check_schema(raw)
    assert raw["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    for sub in subschemas(raw):
        assert set(sub) <= KEYWORDS | NOTES
        assert isinstance(sub.get("additionalProperties", {}), dict)
        assert sub.get("$ref", "x.json").removesuffix(".json") in {*contract.all_schemas(), "x"}


def test_every_field_but_the_identity_of_a_product_may_be_null_or_absent() -> None:
    raw = contract.schema("product_object")
    assert raw["required"] == ["asin"]
    loose = [s for n, s in raw["properties"].items() if n not in raw["required"] and "$ref" not in s]
    assert all("null" in s["type"] for s in loose)


def test_packed_arrays_are_not_described() -> None:
    product, stats = (contract.schema(n)["properties"] for n in ("product_object", "stats_object"))
    for name in ("csv", "monthlySoldHistory", "couponHistory", "buyBoxSellerIdHistory", "salesRankReferenceHistory"):
        assert "items" not in product[name]
    assert not {"additionalProperties", "properties"} & set(product["salesRanks"])
    assert "items" not in stats["current"]


@pytest.mark.parametrize("name", SCHEMAS)
def test_right_bodies_pass(name: str) -> None:
    verdict = check(name, BODIES[name])
    assert (verdict.errors, verdict.warnings, verdict.unknown_fields) == ([], [], {})
    assert validate_with_jsonschema(name, BODIES[name]) == []


@pytest.mark.parametrize("file", sorted(REAL))
def test_real_bodies_pass_and_hold_no_unknown_field(file: str, shared_data: Path) -> None:
    text = (shared_data / file).read_text(encoding="utf-8")
    verdict = check("product", json.loads(text), text)
    assert (verdict.errors, verdict.warnings, verdict.unknown_fields) == ([], [], {})
    assert validate_with_jsonschema("product", json.loads(text)) == []


@pytest.mark.parametrize("body", [ENVELOPE, ENVELOPE | {"products": None}, ENVELOPE | {"products": []}])
def test_an_unknown_asin_is_no_breach(body: dict[str, Any]) -> None:
    assert check("product", body).ok


@pytest.mark.parametrize(
    ("name", "body", "path", "message"),
    [
        ("product", [], "$", "must be object, not array"),
        ("product", None, "$", "must be object, not null"),
        ("product", {"products": {}}, "$.products", "must be array or null, not object"),
        ("product", {"products": [PRODUCT, {"domainId": 1, "productType": 0}]}, "$.products[1].asin", "is missing"),
        ("product", {"products": [PRODUCT | {"asin": None}]}, "$.products[0].asin", "must be string, not null"),
        ("product", {"products": [PRODUCT | {"csv": "x"}]}, "$.products[0].csv", "must be array or null, not string"),
        ("product", {"products": ["B000000001"]}, "$.products[0]", "must be object, not string"),
        ("product", {"tokensLeft": "5"}, "$.tokensLeft", "must be integer, not string"),
        ("search_product", {"asinList": [1]}, "$.asinList[0]", "must be null or string, not integer"),
        ("category", {"categories": []}, "$.categories", "must be null or object, not array"),
        ("category", {"categories": {"1 a": 5}}, "$.categories['1 a']", "must be null or object, not integer"),
        ("token", {"refillIn": 1, "refillRate": 1}, "$.tokensLeft", "is missing"),
    ],
)
def test_breaches_name_their_place(name: str, body: Any, path: str, message: str) -> None:
    error = next(e for e in check(name, body).errors if e["path"] == path)
    assert error["message"].startswith(message)


def test_unknown_fields_are_counted_by_place() -> None:
    product = PRODUCT | {"new": 1, "stats": {"newer": [1], "buyBoxStats": {"A": {"extra": 1}, "B": {"extra": 2}}}}
    body = ENVELOPE | {"products": [product, product], "dealsCached": True}
    verdict = check("product", body)
    assert verdict.ok
    assert verdict.unknown_fields == {
        "$.dealsCached": 1,
        "$.products[*].new": 2,
        "$.products[*].stats.newer": 2,
        "$.products[*].stats.buyBoxStats.*.extra": 4,
    }
    assert {"asin", "csv", "stats"} <= known_fields("product_object")


def test_odd_arrays_and_a_thin_envelope_are_warnings() -> None:
    body = {"products": [PRODUCT | {"csv": [[1, 2, 3]] * 30}]}
    verdict = check("product", body)
    assert verdict.ok
    assert verdict.warnings[0].startswith("The answer lacks timestamp")
    assert verdict.warnings[1] == "$.products[0].csv[0] 1 values after the last group of 2."
    assert len(verdict.warnings) <= contract.MAX_WARNINGS


def test_repeated_keys_are_warnings() -> None:
    text = '{"asin": 1, "a": {"x": 1, "x": 2}, "b": {"x": 1, "x": 3}}'
    assert "The key 'x' occurs twice in one object (2 times)." in check("product", json.loads(text), text).warnings
    assert "The text of the answer is no JSON." in check("product", {}, "{").warnings


def test_an_unknown_schema_is_refused() -> None:
    with pytest.raises(KeepaCliError, match="no schema 'offers'"):
        check("offers", {})


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(p for k, v in inner for p in places(v, (*path, k)))]


def theirs(raw: dict[str, Any], registry: Registry[Any], body: Any) -> set[str]:
    """Where jsonschema finds errors; a missing property counts at the property."""
    found = []
    for e in Draft202012Validator(raw, registry=registry).iter_errors(body):
        missing = re.match("'(.*)' is a required property", e.message) if e.validator == "required" else None
        path = (*e.absolute_path, *([missing[1]] if missing else []))
        found.append(spelled(path))
    return set(found)


def spelled(path: tuple[Any, ...]) -> str:
    steps = (f"[{p}]" if isinstance(p, int) else f".{p}" if p.isidentifier() else f"[{p!r}]" for p in path)
    return "$" + "".join(steps)


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from([1.0, "", "x"])
values = scalars | st.lists(scalars, max_size=2) | st.dictionaries(st.sampled_from(["asin", "x y"]), scalars)


@settings(max_examples=250, deadline=None)
@given(st.data())
def test_the_walker_and_jsonschema_agree_on_mutated_bodies(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(SCHEMAS))
    body: Any = copy.deepcopy(BODIES[name])
    for _ in range(data.draw(st.integers(0, 3))):
        path = data.draw(st.sampled_from(places(body)))
        if not path:
            continue
        parent = body
        for step in path[:-1]:
            parent = parent[step]
        if data.draw(st.booleans()):
            del parent[path[-1]]
        else:
            parent[path[-1]] = data.draw(values)
    body = data.draw(values) if data.draw(st.integers(0, 20)) == 20 else body
    verdict = check(name, body)
    breaches = {e["path"] for e in verdict.errors}
    assert breaches == theirs(contract.structure(name), REGISTRY, body)
    assert bool(validate_with_jsonschema(name, body)) == (not verdict.ok)
    undocumented = theirs(contract.schema(name), DOCUMENTED, body)
    assert breaches <= undocumented
    assert len(undocumented - breaches) == sum(n for what, (n, _) in verdict.oddities.items() if "documented" in what)


def test_our_own_statistics_keep_the_contract() -> None:
    product = PRODUCT | {"csv": [[10, 5]] * len(CSV_TYPES), "buyBoxSellerIdHistory": ["10", "A1"]}
    body = ENVELOPE | {"products": [product | {"stats": compute_stats(product, 8_000_000, 90)}]}
    verdict = check("product", body)
    assert (verdict.errors, verdict.unknown_fields) == ([], {})


def test_the_hot_path_imports_no_validator() -> None:
    code = (
        "import sys; from keepa_cli.keepa import contract; "
        "assert contract.check('product', {'products': []}).ok; "
        "print([m for m in ('jsonschema', 'referencing', 'requests', 'yaml', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_same_bytes_are_judged_once_for_each_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[str] = []
    real = contract.check
    monkeypatch.setattr(contract, "_JUDGED", {})
    monkeypatch.setattr(contract, "check", lambda name, body: judged.append(name) or real(name, body))
    data = b'{"products": [{"asin": 5}]}'
    first = contract.check_answer("product", data, json.loads(data))
    assert first.errors
    assert contract.check_answer("product", data, json.loads(data)) is first
    assert contract.check_answer("token", data, json.loads(data)) is not first
    assert contract.check_answer("product", data + b" ", json.loads(data)) is not first
    assert judged == ["product", "token", "product"]
    monkeypatch.setattr(contract, "MOST_JUDGED", 1)
    contract.check_answer("product", b"{}", {})
    assert len(contract._JUDGED) == 1
