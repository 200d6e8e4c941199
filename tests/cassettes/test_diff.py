"""Values moved is told from shape moved, and what cannot be seen is not called drift."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.cassettes.diff import compare_bodies, compare_exchanges
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.shape import MAPS, compare_shapes, shape_of
from keepa_cli.keepa import contract

PRODUCT: dict[str, Any] = {
    "timestamp": 1,
    "tokensLeft": 9,
    "products": [
        {
            "asin": "B0AAAAAAA1",
            "csv": [[1, 2, 3, 4], None, [5, 6]],
            "salesRanks": {"111": [1, 2]},
            "coupon": None,
            "title": "kettle",
            "referralFeePercentage": 15.01,
            "images": [{"l": "a.jpg", "lH": 10}],
        }
    ],
}
bodies = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def diff(change: Any, **options: Any) -> dict[str, Any]:
    new = copy.deepcopy(PRODUCT)
    change(new, new["products"][0])
    return compare_bodies(json.dumps(PRODUCT).encode(), json.dumps(new).encode(), **options)


def exchange(body: Any, url: str = "https://api.keepa.com/product?domain=1", status: int = 200) -> Exchange:
    return Exchange("GET", url, {}, b"", status, "OK", {}, json.dumps(body).encode())


def test_only_bucket_and_timing_fields_moved_is_identical() -> None:
    found = diff(lambda body, _: body.update(timestamp=2, tokensLeft=8, refillIn=7) or body.pop("refillIn"))
    assert found["verdict"] == "identical"
    assert found["values"]["count"] == 0


def test_a_nested_field_of_a_volatile_name_is_not_volatile() -> None:
    old, new = ({"products": [{"timestamp": n}]} for n in (1, 2))
    assert compare_bodies(json.dumps(old).encode(), json.dumps(new).encode())["verdict"] == "values_moved"


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda _, p: p.update(title="pan"), "title"),
        (lambda _, p: p["csv"][0].extend([5, 6]), "csv"),
        (lambda _, p: p["salesRanks"].update({"222": [3, 4]}), "salesRanks"),
        (lambda _, p: p.update(csv=[[1, 2], [3, 4], None]), "csv"),
        (lambda _, p: p["images"].append({"l": "b.jpg", "lH": 1}), "images"),
    ],
)
def test_values_moved(change: Any, path: str) -> None:
    found = diff(change)
    assert found["verdict"] == "values_moved"
    assert not found["breaking"]
    assert any(path in row["path"] for row in found["values"]["changes"])


@pytest.mark.parametrize(
    ("change", "group", "path", "breaking"),
    [
        (lambda _, p: p.update(brand="x"), "added", "products[].brand", False),
        (lambda _, p: p.pop("title"), "removed", "products[].title", True),
        (lambda _, p: p.update(title=5), "type_changed", "products[].title", True),
        (lambda _, p: p.update(referralFeePercentage=15), "type_changed", "products[].referralFeePercentage", True),
        (lambda _, p: p.update(coupon=[5]), "nullability", "products[].coupon", True),
        (lambda _, p: p.update(title=None), "nullability", "products[].title", True),
        (lambda _, p: p["csv"].append(None), "lengths", "products[].csv", True),
        (lambda body, _: body.pop("products"), "removed", "products", True),
        (lambda _, p: p["images"][0].update(xl="c"), "added", "products[].images[].xl", False),
    ],
)
def test_shape_moved(change: Any, group: str, path: str, breaking: bool) -> None:
    found = diff(change)
    assert found["verdict"] == "shape_moved"
    assert found["breaking"] is breaking
    assert [row["path"] for row in found["shape"][group]] == [path]
    assert not any(found["shape"][other] for other in found["shape"] if other != group)


def test_what_an_empty_list_hides_is_unknown_not_removed() -> None:
    found = diff(lambda _, p: p.update(images=[]))
    assert found["verdict"] == "values_moved"


def test_a_rare_type_deep_in_a_long_list_needs_the_whole_list() -> None:
    old: dict[str, Any] = {"asinList": ["A"] * 1000}
    new = {"asinList": ["A"] * 500 + [7] + ["A"] * 499}
    pair = json.dumps(old).encode(), json.dumps(new).encode()
    assert compare_bodies(*pair)["lists"] == "sampled"
    assert compare_bodies(*pair)["verdict"] == "values_moved"
    assert compare_bodies(*pair, whole=True)["verdict"] == "shape_moved"


def test_long_arrays_are_compared_by_number_and_reported_in_one_line() -> None:
    old = {"products": [{"csv": [list(range(5000))]}]}
    new = {"products": [{"csv": [[*range(4999), 77]]}]}
    found = compare_bodies(json.dumps(old).encode(), json.dumps(new).encode())
    assert found["verdict"] == "values_moved"
    (row,) = found["values"]["changes"]
    assert "5000 numbers" in row["from"]
    assert "last 77" in row["to"]


def test_whitespace_alone_is_no_difference() -> None:
    pair = json.dumps(PRODUCT, indent=3).encode(), json.dumps(PRODUCT, separators=(",", ":")).encode()
    assert compare_bodies(*pair)["verdict"] == "identical"


def test_bodies_that_are_not_json_compare_as_bytes() -> None:
    assert compare_bodies(b"\x89PNG1", b"\x89PNG1")["verdict"] == "identical"
    found = compare_bodies(b"\x89PNG1", b"\x89PNG2")
    assert found["verdict"] == "values_moved"
    assert "not JSON" in found["values"]["note"]


@given(bodies)
@settings(max_examples=40, deadline=None)
def test_a_body_is_identical_to_itself(value: Any) -> None:
    body = json.dumps(value).encode()
    assert compare_bodies(body, body)["verdict"] == "identical"
    assert not compare_shapes(shape_of(value), shape_of(value)).moved


def test_recordings_differ_in_requests_status_and_number() -> None:
    one, other = exchange({"a": 1}), exchange({"a": 1}, url="https://api.keepa.com/product?domain=2&asin=B1")
    found = compare_exchanges([one], [other])["exchanges"][0]["request"]
    assert found == {"same": False, "only_old": ["domain=1"], "only_new": ["asin=B1", "domain=2"]}
    assert compare_exchanges([one], [exchange({"a": 1}, status=429)])["verdict"] == "shape_moved"
    assert compare_exchanges([one, one], [one])["breaking"]
    assert not compare_exchanges([one], [one, one])["breaking"]


def test_the_two_real_bodies_differ_in_values_and_shape(shared_data: Path) -> None:
    old, new = (p.read_bytes() for p in sorted(shared_data.glob("*.json"), reverse=True))
    found = compare_bodies(old, new)
    assert found["verdict"] == "shape_moved"
    assert found["values"]["count"] > 10
    assert compare_bodies(old, old)["verdict"] == "identical"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda _, p: p.update(title="pan"), "fine"),
        (lambda _, p: p.update(brand="x"), "warning"),
        (lambda _, p: p.update(coupon=[5, 6]), "warning"),
        (lambda _, p: p.update(title=None), "warning"),
        (lambda _, p: p["csv"].append(None), "warning"),
        (lambda _, p: p.pop("title"), "error"),
        (lambda _, p: p.update(title=["kettle"]), "error"),
        (lambda body, _: body.update(products={"B0": body["products"][0]}), "error"),
    ],
)
def test_the_contract_breaks_where_structure_goes_or_changes_its_type(change: Any, word: str) -> None:
    assert diff(change)["contract"] == word


def test_the_worst_exchange_gives_the_verdict() -> None:
    same, more, gone = exchange({"a": 1, "b": 2}), exchange({"a": 1, "b": 2, "c": 3}), exchange({"a": 1})
    assert compare_exchanges([same, same], [same, more])["contract"] == "warning"
    assert compare_exchanges([same, same], [more, gone])["contract"] == "error"
    assert compare_exchanges([same], [exchange({"a": 1, "b": 2}, status=500)])["contract"] == "error"
    assert compare_exchanges([same, same], [same])["contract"] == "error"
    assert compare_exchanges([same], [same, same])["contract"] == "warning"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"salesRanks": {"1": [1, 2]}}, {"salesRanks": {"2": [1, 2]}}),
        ({"sellers": {"A1": {"csv": []}}}, {"sellers": {"B": {"csv": []}}}),
        ({"fresh": {"172282": {"name": "x"}}}, {"fresh": {"9": {"name": "y"}}}),
        ({"fresh": {"B000000001": 1}}, {"fresh": {"B0D8W1YVBX": 1, "0804429579": 1}}),
        ({"fresh": {"A2L77EE7U53NWQ": 1}}, {"fresh": {"A1PA6795UKMFR9": 1}}),
    ],
)
def test_maps_keyed_by_ids_do_not_drift_when_the_ids_change(old: Any, new: Any) -> None:
    assert not compare_shapes(shape_of(old), shape_of(new)).moved


def test_values_below_the_ids_do_drift() -> None:
    old, new = {"fresh": {"172282": {"name": "x"}}}, {"fresh": {"9": {"name": 5}}}
    found = compare_shapes(shape_of(old), shape_of(new))
    assert [row["path"] for row in found.type_changed] == ["fresh.*.name"]
    assert compare_shapes(shape_of({"fresh": {"title": 1}}), shape_of({"fresh": {"name": 1}})).removed


def test_every_map_of_the_contract_is_known_as_one() -> None:
    def maps(raw: Any) -> set[str]:
        inner = raw.get("properties", {})
        own = {name for name, sub in inner.items() if "additionalProperties" in sub}
        return own.union(
            *map(maps, [*inner.values(), *(raw[k] for k in ("items", "additionalProperties") if k in raw)])
        )

    assert set().union(*(maps(contract.schema(name)) for name in contract.all_schemas())) <= MAPS
