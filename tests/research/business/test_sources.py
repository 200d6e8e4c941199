"""Whatever holds products is read into one kind of record."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.core.paths import parse
from keepa_cli.research.business.measure import measured
from keepa_cli.research.business.sources import merged
from keepa_cli.research.inputs import unwrapped
from keepa_cli.research.product.look import Look
from keepa_cli.research.subject import subjects
from tests.research.business.support import DE, US, body, plan, product, read, real
from tests.support.views import problems

SECTIONS = ("identity", "pricing", "demand", "offers", "stats_summary", "provenance")


def view_of(answer: Any, *names: str) -> dict[str, Any]:
    """The data of `products get --view` with these sections, as saved by --json."""
    views = []
    for s in subjects(answer, US, {}):
        look = Look(s, plan, "research")
        views.append({name: look.section(name) for name in names or SECTIONS})
    return json.loads(json.dumps({"ok": True, "data": {"view": "product", "products": views}}))  # type: ignore[no-any-return]


def rows_of(answer: Any) -> dict[str, Any]:
    from keepa_cli.research.compare import compare

    return json.loads(json.dumps(compare(subjects(answer, US, {}), plan)))  # type: ignore[no-any-return]


def values(data: Any) -> list[Any]:
    return [{n: s["value"] for n, s in measured(m).items()} for m in read(data)]


def test_raw_products_are_found_in_every_wrapping() -> None:
    answer = body(product(), product("B0D8W1YVBX"))
    for data, root in (
        (answer, "$"), ({"ok": True, "data": {"body": answer}}, "$.data.body"), (answer["products"], "$"),
    ):  # fmt: skip
        found = read(data)
        assert [m.asin for m in found] == ["B001GZ6QEC", "B0D8W1YVBX"]
        assert {m.source.root for m in found} == {root}
        for m in found:
            assert parse(m.path).get(parse(root).get(data))["asin"] == m.asin
    assert read(product())[0].path == "$"
    assert read({"view": "seller", "products": []}) == read({}) == read([]) == read("x") == []


def test_a_view_gives_the_same_figures_as_the_raw_body(shared_data: Path) -> None:
    answer = real(shared_data)
    (m,) = read(view := view_of(answer))
    assert (m.form, m.domain, m.source.root) == ("product_view", US, "$.data")
    assert values(view) == values(answer)
    assert problems(measured(m), unwrapped(view)) == []


def test_a_section_that_a_view_leaves_out_was_not_requested(shared_data: Path) -> None:
    (m,) = read(view_of(real(shared_data), "identity", "pricing"))
    found = measured(m)
    assert found["velocity"]["absent"]["value"] == "not_requested"
    assert found["inventory"]["absent"]["value"] == "not_requested"


def test_reasons_of_a_view_are_kept() -> None:
    answer = body(product(monthlySold=-1))
    (m,) = read(view_of(answer))
    assert m.why("monthly_sold") == "none"
    assert m.why("buy_box") == "not_requested"


def test_rows_of_a_comparison_are_read(shared_data: Path) -> None:
    answer = real(shared_data)
    rows = rows_of(answer)
    for data in (rows, {"ok": True, "data": rows}, rows["rows"]):
        (m,) = read(data)
        assert m.form == "compare_row"
        found = measured(m)
        assert found["velocity"]["value"] == 100_000
        assert found["cashflow"]["value"]["raw"] == 149_900_000
        assert found["seller_metrics"]["value"] == 5
        assert (found["inventory"]["value"], found["inventory"]["basis"]) == ("low", "buy_box")
        assert found["inventory"]["inputs"]["out_of_stock_90_buy_box"] == 1
        assert problems(found, unwrapped(data)) == []


def test_rows_that_name_no_product_that_exists_have_no_figures() -> None:
    rows = rows_of(body(product(productType=4)))
    (m,) = read(rows)
    assert not m.usable
    assert [s["value"] for s in measured(m).values()] == [None] * 4


def test_an_amount_keeps_its_currency_whatever_the_domain() -> None:
    row = {"asin": "B001GZ6QEC", "status": "found", "monthly_sold": 100,
           "new_price": {"raw": 1000, "amount": "10.00", "currency": "EUR", "formatted": "10.00 EUR"}}  # fmt: skip
    (guessed,) = read([row])
    assert measured(guessed)["cashflow"]["value"]["currency"] == "EUR"
    assert not guessed.domain_known
    (told,) = read([row], DE)
    assert (told.domain, told.domain_known) == (DE, True)
    envelope = {"ok": True, "request": {"query": {"domain": "4"}}, "data": {"rows": [row]}}
    assert read(envelope)[0].domain.code == "FR"
    (odd,) = read([{**row, "new_price": {"raw": 1, "currency": "XYZ"}}])
    assert measured(odd)["cashflow"]["value"] is None


def test_of_copies_the_newest_usable_one_counts() -> None:
    old, new = body(product(monthlySold=50)), body(product(monthlySold=900))
    old["timestamp"] -= 86_400_000
    kept, dropped = merged([read(old), read(new)])
    assert [m.value("monthly_sold") for m in kept] == [900]
    assert [m.value("monthly_sold") for m in dropped] == [50]
    elsewhere = body(product(domainId=3))
    assert len(merged([read(old), read(elsewhere)])[0]) == 2


ODD: tuple[Any, ...] = (
    None,
    -1,
    10**30,
    "x",
    [],
    {},
    [None],
    {"value": "x"},
    {"raw": 1.5},
    True,
    {"at": "soon", "raw": 5},
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of JSON data."""
    items = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else [])
    return [(value, k) for k, _ in items] + [p for _, inner in items for p in places(inner)]


@pytest.mark.parametrize("seed", range(60))
def test_mutated_views_and_rows_never_raise(seed: int) -> None:
    chance = random.Random(seed)
    answer = body(product(), product("B0D8W1YVBX", monthlySold=None))
    data = view_of(answer) if seed % 2 else rows_of(answer)
    for _ in range(4):
        container, key = chance.choice(places(data))
        container[key] = copy.deepcopy(chance.choice(ODD))
    for m in read(data):
        assert problems(measured(m), unwrapped(data)) == []
