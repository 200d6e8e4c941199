"""What we say a call can cost is never less than what it costs, and nothing above its limit is sent unasked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keepa_cli import ops
from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError
from keepa_cli.core.registry import Batch, Cost, Operation
from keepa_cli.core.schema import bind
from keepa_cli.engine import Flags, Options, run
from keepa_cli.sandbox import Sandbox
from tests.support import pairwise
from tests.support.cost_table import CODE, KNOWN, MANY, ROOT, SEED, SELLERS, STRANGER, TABLE
from tests.support.pairwise import ABSENT, Row
from tests.support.sandbox import KEY, Clock, running_sandbox

REMOTE = [op for op in ops.load_all() if op.remote]


def planned(op: Operation, row: Row) -> tuple[Cost, tuple[Any, ...]] | None:
    """Cost and requests of a row; None where the operation refuses it."""
    try:
        bound = bind(op, row)
        plan = op.run(**bound)
    except KeepaCliError:
        return None
    return op.cost(bound), plan.requests if isinstance(plan, Batch) else (plan,)


ROWS = {
    op.name: pairwise.rows(TABLE[op.name], lambda row, op=op: planned(op, row) is not None)
    for op in REMOTE
    if op.name in TABLE
}
CASES = [(name, i) for name, (found, _) in ROWS.items() for i in range(len(found))]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """One with more tokens than all calls together cost."""
    with running_sandbox(seed=SEED, rate=100_000, clock=Clock()) as running:
        yield running


def context(home: Path, sandbox: Sandbox) -> Context:
    base = {
        "KEEPA_CLI_CONFIG": str(home / "config.toml"),
        "KEEPA_CLI_STATE_DIR": str(home / "state"),
        "KEEPA_CLI_DATA_DIR": str(home / "data"),
        "KEEPA_BASE_URL": sandbox.base_url,
        "KEEPA_API_KEY": KEY,
    }
    return Context(env=base, cwd=home / "work", sleep=lambda _: None)


def test_the_table_holds_every_remote_operation() -> None:
    assert {op.name for op in REMOTE} == set(TABLE)
    for op in REMOTE:
        assert set(TABLE[op.name]) <= {a.name for a in op.args}


def test_what_no_row_holds_is_refused_for_a_reason() -> None:
    """The pairs that the table lacks are those that the operations refuse."""
    lacking = {
        name: sorted({(a, b) for (a, _), (b, _) in impossible}) for name, (_, impossible) in ROWS.items() if impossible
    }
    assert lacking.keys() <= {"products.get", "bestsellers.get", "sellers.get", "sellers.query"}
    assert set(lacking["products.get"]) <= {
        ("asin", "code"), ("asin", "code_limit"), ("code", "code_limit"),
        ("offers", "only_live_offers"), ("offers", "stock"),
    }  # fmt: skip


@pytest.mark.parametrize(("name", "number"), CASES, ids=str)
def test_the_worst_case_covers_the_charge(name: str, number: int, sandbox: Sandbox, home: Path) -> None:
    row = ROWS[name][0][number]
    cost, result, charged = sent(name, row, sandbox, home)
    assert charged <= cost.worst, (row, cost)
    assert cost.estimated <= cost.worst
    assert result["ok"] or name in MAY_BE_REFUSED, result
    if result["ok"] and result["token_bucket"].get("charged") is not None:
        assert result["token_bucket"]["charged"] == charged


MAY_BE_REFUSED = {"tracking.get", "tracking.remove"}
"""Of an ASIN that nobody tracks."""

EXACT: list[tuple[str, Row, int]] = [
    ("tokens.status", {}, 0),
    ("products.get", {"asin": KNOWN[:1]}, 1),
    ("products.get", {"asin": [*KNOWN, KNOWN[0]]}, 4),
    ("products.get", {"asin": MANY}, 103),
    ("products.get", {"asin": KNOWN, "full": True}, 4),
    ("products.get", {"asin": KNOWN, "stats": "90", "history": False, "days": 30, "videos": True, "aplus": True}, 4),
    ("products.get", {"asin": KNOWN, "buybox": True}, 12),
    ("products.get", {"asin": MANY, "buybox": True}, 309),
    ("products.get", {"asin": KNOWN, "update": -1}, 4),
    ("products.search", {"term": "kettle"}, 10),
    ("products.search", {"term": "qqqqq"}, 10),
    ("products.search", {"term": "kettle", "asins_only": True}, 10),
    ("categories.get", {"category": [0]}, 1),
    ("categories.get", {"category": [ROOT], "parents": True}, 1),
    ("categories.search", {"term": "kitchen"}, 1),
    ("deals.query", {"price_type": "NEW"}, 5),
    ("deals.query", {"price_type": "NEW", "page": 1}, 5),
    ("sellers.get", {"seller": SELLERS[:1]}, 1),
    ("sellers.get", {"seller": [*SELLERS, SELLERS[0]]}, 2),
    ("sellers.get", {"seller": SELLERS[:1], "storefront": True}, 10),
    ("bestsellers.get", {"category": str(ROOT)}, 50),
    ("topsellers.list", {}, 50),
    ("lightningdeals.list", {"asin": KNOWN[0]}, 1),
    ("lightningdeals.list", {}, 500),
    ("lightningdeals.list", {"state": "AVAILABLE"}, 500),
    ("graphs.image", {"asin": KNOWN[0], "width": 444}, 1),
    ("tracking.add", {"tracking": TABLE["tracking.add"]["tracking"][0]}, 1),
    ("tracking.add", {"tracking": TABLE["tracking.add"]["tracking"][1]}, 4),
    ("tracking.list", {}, 0),
    ("tracking.list-names", {}, 0),
    ("tracking.notifications", {}, 0),
    ("tracking.remove-all", {}, 0),
    ("request.get", {"endpoint": "/token"}, 0),
    ("request.get", {"endpoint": "/category", "param": ["domain=1", "category=0"]}, 1),
    ("request.get", {"endpoint": "/product", "param": ["domain=1", f"asin={','.join(MANY[:100])}", "buybox=1"]}, 300),
    ("request.get", {"endpoint": "/lightningdeal", "param": ["domain=1"]}, 500),
]
"""Calls whose price their parameters tell, in tokens (Keepa documentation, costs of each request)."""


@pytest.mark.parametrize(("name", "row", "tokens"), EXACT, ids=lambda v: v if isinstance(v, str) else None)
def test_a_knowable_charge_is_estimated_exactly(name: str, row: Row, tokens: int, sandbox: Sandbox, home: Path) -> None:
    cost, result, charged = sent(name, row, sandbox, home)
    assert result["ok"], result
    assert (cost.estimated, cost.worst, charged) == (tokens, tokens, tokens)
    estimated = result["token_bucket"].get("estimated")
    assert (estimated["estimated_tokens"], estimated["worst_case_tokens"]) == (tokens, tokens)


FOUND: list[tuple[str, Row, int, int]] = [
    ("sellers.get", {"seller": [*SELLERS, STRANGER]}, 3, 2),
    ("bestsellers.get", {"category": "5"}, 50, 0),
    ("products.by-code", {"code": ["4000000000006"], "code_limit": 3}, 3, 0),
    ("products.by-code", {"code": [CODE], "code_limit": 50}, 50, 1),
]


@pytest.mark.parametrize(("name", "row", "worst", "tokens"), FOUND, ids=lambda v: v if isinstance(v, str) else None)
def test_what_is_not_found_costs_less(
    name: str, row: Row, worst: int, tokens: int, sandbox: Sandbox, home: Path
) -> None:
    cost, result, charged = sent(name, row, sandbox, home)
    assert result["ok"], result
    assert (cost.worst, charged) == (worst, tokens)


@pytest.mark.parametrize("asked", [20, 35, 55, 100])
@pytest.mark.parametrize("stock", [False, True])
def test_offers_cost_six_for_each_page_that_was_found(asked: int, stock: bool, sandbox: Sandbox, home: Path) -> None:
    cost, result, charged = sent("products.get", {"asin": KNOWN, "offers": asked, "stock": stock}, sandbox, home)
    expected = 0
    for product in result["data"]["body"]["products"]:
        if product["offersSuccessful"]:
            expected += max(5, 6 * -(-min(len(product["liveOffersOrder"] or ()), asked) // 10))
        else:
            expected += 1
    most = 6 * -(-asked // 10) + (2 if stock else 0)
    assert cost.worst == most * len(KNOWN)
    assert expected <= charged <= expected + (2 * len(KNOWN) if stock else 0)


@pytest.mark.parametrize(("per_page", "page"), [(50, 0), (100, 0), (150, 0), (1000, 0), (50, 3)])
@pytest.mark.parametrize("insights", [False, True])
def test_a_finder_costs_ten_and_one_for_each_hundred_found(
    per_page: int, page: int, insights: bool, sandbox: Sandbox, home: Path
) -> None:
    row: Row = {"sales_rank": "1..", "per_page": per_page, "page": page, "stats": insights}
    cost, result, charged = sent("finder.query", row, sandbox, home)
    found, total = len(result["data"]["body"]["asinList"]), result["data"]["body"]["totalResults"]
    assert found > 0
    assert charged == 10 + -(-found // 100) + (30 + -(-total // 1_000_000) if insights else 0)
    assert charged <= cost.worst
    if found == per_page:
        assert charged == cost.estimated


def sent(name: str, row: Row, sandbox: Sandbox, home: Path) -> tuple[Cost, dict[str, Any], int]:
    """The price told beforehand, the envelope of the live call, and what the sandbox charged for it."""
    op = ops.find(name)
    found = planned(op, row)
    assert found is not None, row
    before = len(sandbox.log)
    out = home / "x.png" if found[1][0].binary else None
    options = Options(flags=Flags(live=True), yes=True, out=out, find=ops.find)
    result = run(op, row, context(home, sandbox), options)
    entries = list(sandbox.log)[before:]
    assert len(entries) == len(found[1]), result
    return found[0], dict(result), sum(entry.tokens for entry in entries)


ALWAYS_ASKS = {"finder.query", "bestsellers.get", "categories.products", "topsellers.list", "request.get",
               "request.post", "tracking.add", "tracking.remove", "tracking.remove-all",
               "tracking.webhook"}  # fmt: skip


def must_ask(name: str, row: Mapping[str, Any], cost: Cost, threshold: int) -> bool:
    """The rule of the contract, stated again: what waits for --yes."""
    if cost.worst > threshold or name in ALWAYS_ASKS:
        return True
    return (
        bool(row.get("offers")) or (name == "lightningdeals.list" and "asin" not in row) or bool(row.get("mark_read"))
    )


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, Row, dict[str, Any]]:
    name = draw(st.sampled_from(sorted(ROWS)))
    row = {
        param: value
        for param, options in TABLE[name].items()
        if (value := draw(st.sampled_from(options))) is not ABSENT
    }
    chosen = {
        "yes": draw(st.booleans()),
        "max_tokens": draw(st.none() | st.integers(0, 700)),
        "limit": draw(st.none() | st.integers(0, 700)),
        "threshold": draw(st.sampled_from([0, 1, 5, 10, 100, 1000])),
    }
    return name, row, chosen


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls())
def test_nothing_above_its_limit_is_sent_without_consent(
    sandbox: Sandbox, home: Path, drawn: tuple[str, Row, dict[str, Any]]
) -> None:
    name, row, chosen = drawn
    op = ops.find(name)
    found = planned(op, row)
    before = len(sandbox.log)
    lines = [f"confirm_above_tokens = {chosen['threshold']}"]
    if chosen["limit"] is not None:
        lines.append(f"max_tokens = {chosen['limit']}")
    (home / "config.toml").write_text("\n".join(lines), encoding="utf-8")
    ctx = context(home, sandbox)
    options = Options(
        flags=Flags(live=True),
        yes=chosen["yes"],
        max_tokens=chosen["max_tokens"],
        out=home / "x",
        find=ops.find,
        wait=False,
        no_cache=True,
    )
    result = run(op, row, ctx, options)
    entries = list(sandbox.log)[before:]
    kind = result.get("error", {}).get("kind")
    if found is None:
        assert (kind, entries) == ("invalid_arguments", [])
        return
    cost, requests = found
    limit = chosen["max_tokens"] if chosen["max_tokens"] is not None else chosen["limit"]
    if limit is not None and cost.worst > limit:
        assert (kind, entries) == ("budget_exceeded", [])
    elif not chosen["yes"] and must_ask(name, row, cost, chosen["threshold"]):
        assert (kind, entries) == ("confirmation_required", [])
        assert result["error"]["details"]["worst_case_tokens"] == cost.worst
    else:
        assert kind not in {"budget_exceeded", "confirmation_required"}
        assert len(entries) <= len(requests) + bool(row.get("hydrate_top"))
        assert sum(entry.tokens for entry in entries) <= cost.worst
        assert limit is None or sum(entry.tokens for entry in entries) <= limit
