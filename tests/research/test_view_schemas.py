"""Whatever the program shows keeps the schema that it publishes, and a view that is not like that is refused."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from keepa_cli.ops import _schemas
from keepa_cli.research import schemas
from keepa_cli.research.facts import Confidence, Reason
from keepa_cli.research.graph.model import EdgeType, NodeType
from keepa_cli.research.needs import Need
from keepa_cli.research.product.profiles import PROFILES, SECTIONS
from keepa_cli.research.risks import CODES, SEVERITIES
from keepa_cli.sandbox.catalogue import example_asin
from keepa_cli.sandbox.catalogue.traits import SHOWN
from tests.support.allviews import list_views, other_views, product_views
from tests.support.gallery import Gallery, bodies_of_lists, played
from tests.support.mutations import mutated, shortened
from tests.support.products import FULL, made, real, views
from tests.support.view_schemas import faults, product_faults

DOCUMENTS = _schemas.documents()
VIEWS = schemas.views()


@pytest.fixture(scope="module")
def gallery() -> Gallery:
    return played()


def test_every_view_has_a_scene_and_every_scene_a_schema(gallery: Gallery) -> None:
    shown = {envelope["data"]["view"] for envelope in gallery.values()}
    assert shown == set(VIEWS)


def test_every_scene_keeps_its_schema(gallery: Gallery) -> None:
    assert {name: found for name, one in gallery.items() if (found := faults(one["data"]))} == {}


@pytest.mark.parametrize("name", [n for n in DOCUMENTS if n.startswith(schemas.FOLDER)])
def test_a_schema_is_complete_in_itself(name: str) -> None:
    raw = DOCUMENTS[name]
    Draft202012Validator.check_schema(raw)
    assert raw["$id"] == _schemas.NAMESPACE + name.removesuffix(".json")
    text = json.dumps(raw)
    assert all(f'"#/$defs/{part}"' in text for part in raw["$defs"])


def test_the_stable_names_hold_what_they_promise() -> None:
    product, stable = DOCUMENTS["view/product.json"], DOCUMENTS["products-agent-view.json"]
    assert {k: v for k, v in product.items() if k != "$id"} == {k: v for k, v in stable.items() if k != "$id"}
    assert set(product["x-profiles"]) == {str(p) for p in PROFILES}
    taxonomy = DOCUMENTS["risk-taxonomy.json"]
    risk = taxonomy["$defs"]["risk"]["properties"]
    assert (risk["code"]["enum"], risk["severity"]["enum"]) == (list(CODES), list(SEVERITIES))


def test_names_are_those_of_the_code() -> None:
    defs = DOCUMENTS["view/product.json"]["$defs"]
    graph = defs["research_graph"]["properties"]
    assert defs["confidence"]["enum"] == [c.value for c in Confidence]
    assert defs["next_action"]["properties"]["action"]["enum"] == [n.value for n in Need]
    assert graph["nodes"]["items"]["properties"]["type"]["enum"] == [t.value for t in NodeType]
    assert graph["edges"]["items"]["properties"]["type"]["enum"] == [t.value for t in EdgeType]
    assert list(defs["product"]["properties"]) == [*SECTIONS, "truncated"]


def shown_product() -> dict[str, Any]:
    asked = FULL | {"stats": "90", "offers": "20"}
    (view,) = views(made("B0LARGES01", **asked), "research")
    return view


def put(*steps: str | int, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(view: Any) -> None:
        *inner, last = steps
        for step in inner:
            view = view[step]
        view[last] = value

    return change


WRONG: dict[str, Callable[[dict[str, Any]], None]] = {
    "a section that is new": put("prices", value={}),
    "a member that is new": put("demand", "salesRank", value=1),
    "an amount that is a float": put("pricing", "new", "raw", value=19.99),
    "an amount without currency": lambda v: v["pricing"]["new"].pop("currency"),
    "a fact without evidence": lambda v: v["demand"]["sales_rank"].pop("evidence_path"),
    "evidence that is no path": put("demand", "sales_rank", "evidence_path", value="products/0"),
    "a derived figure without method": lambda v: v["demand"]["monthly_sold"].pop("method"),
    "a confidence that nobody knows": put("demand", "monthly_sold", "confidence", value="sure"),
    "a reason that nobody knows": put("pricing", "absent", value={"new": "unknown"}),
    "a reason for what is never null": put("pricing", "absent", value={"currency": "none"}),
    "a null that no reason can explain": put("pricing", "currency", value=None),
    "a time that is not in UTC": put("identity", "updated_at", value="2026-09-21T13:33:20+02:00"),
    "a risk that nobody knows": put("agent_brief", "risk_codes", value=["bad_luck"]),
    "an action that nobody knows": put("next_actions", 0, "action", value="guess"),
    "an action without command": lambda v: v["next_actions"][0].pop("command"),
    "a node of an unknown type": put("research_graph", "nodes", 0, "type", value="planet"),
    "a level that nobody knows": put("selection_signals", "demand", "level", value="great"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_view_that_is_wrong_is_refused(wrong: str) -> None:
    view = shown_product()
    assert product_faults(view) == []
    WRONG[wrong](view)
    assert product_faults(view) != []


@pytest.mark.parametrize("scene", ["products_compare", "deals_query", "business-profit", "history_trend", "seller"])
def test_nothing_is_added_to_a_view_in_silence(gallery: Gallery, scene: str) -> None:
    data = copy.deepcopy(gallery[scene]["data"])
    assert faults(data | {"surprise": 1}) != []
    del data["next_actions" if "next_actions" in data else "brief"]
    assert faults(data) != []


@pytest.mark.parametrize("which", [0, 1])
def test_real_answers(shared_data: Path, which: int) -> None:
    body = real(shared_data, which)
    assert [found for view in everything(body) if (found := faults(view))] == []
    for name in SECTIONS:
        (view,) = views(body, "research", fields=[name])
        assert list(view) == [name] and product_faults(view) == []


QUERIES: tuple[dict[str, str], ...] = ({"stats": "90", "offers": "20"}, {"history": "0"})


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_every_product_of_the_sandbox(query: dict[str, str]) -> None:
    for asin in [*SHOWN, example_asin(1)]:
        body = made(asin, **(FULL | query))
        assert [found for view in everything(body) if (found := faults(view))] == [], asin
    assert [found for view in everything(made("B0LARGES01", 5, **FULL), 5) if (found := faults(view))] == []


def everything(body: Any, domain: int = 1) -> Iterator[dict[str, Any]]:
    for made_views in (product_views(body, domain), other_views(body, domain)):
        yield from (view for view, _ in made_views)


def test_mutated_products(shared_data: Path) -> None:
    whole = real(shared_data)
    text = json.dumps(whole | {"products": [shortened(whole["products"][0], 8)]})
    for number in range(10):
        rng = random.Random(f"schema-{number}")
        body = json.loads(text)
        mutated(body["products"][0], rng, rng.randrange(1, 10))
        assert [found for view in everything(body) if (found := faults(view))] == [], number


def test_mutated_lists() -> None:
    answers = [json.dumps(body) for body in bodies_of_lists()]
    for number in range(60):
        rng = random.Random(f"schema-{number}")
        body = json.loads(answers[number % len(answers)])
        mutated(body, rng, rng.randrange(0, 10))
        assert [found for view, _ in list_views(body) if (found := faults(view))] == [], number


def test_reasons_are_those_of_the_code() -> None:
    text = json.dumps(DOCUMENTS["view/product.json"])
    assert all(f'"{reason.value}"' in text for reason in Reason)
