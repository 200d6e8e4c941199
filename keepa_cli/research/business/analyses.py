"""The analyses: each decides one thing from the figures of many products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keepa_cli.research.analysis.buybox_share import buybox_share
from keepa_cli.research.business import opportunity, risks, steps
from keepa_cli.research.business.rank import Row
from keepa_cli.research.business.record import Metrics
from keepa_cli.research.business.report import Sorted, Wish, arrange, rows_of, view
from keepa_cli.research.business.scales import FAST_UNITS, WEIGHTS
from keepa_cli.research.business.velocity import is_proxy, units
from keepa_cli.research.facts import Reason
from keepa_cli.research.needs import Planner

Sources = Sequence[Mapping[str, Any]]
NOTHING = "There is nothing to rank: no product has the figures that this analysis needs."


def find_fast_movers(
    kept: Sequence[Metrics], dropped: Sequence[Metrics], sources: Sources, wish: Wish, plan: Planner
) -> dict[str, Any]:
    """Which products sell fastest."""
    done = arrange(rows_of(kept), wish)
    return _answer(wish, done, dropped, sources, plan, _fastest(done))


def _fastest(done: Sorted) -> str:
    sold = [(n, r) for r in done.listed if (n := units(r.metrics["velocity"])) is not None]
    if not sold:
        return "No product tells units sold; see the rank drops as a hint only." if done.listed else NOTHING
    fast = sum(n >= FAST_UNITS for n, _ in sold)
    most, best = max(sold, key=lambda s: s[0])
    many = sum(n == most for n, _ in sold)
    tie = f" ({many} products share this bracket)" if many > 1 else ""
    return (
        f"{fast} of {len(sold)} products with known sales sell at least {FAST_UNITS:,} units a month; "
        f"{best.record.label} leads with {most:,} or more{tie}."
    )


def inventory_audit(
    kept: Sequence[Metrics], dropped: Sequence[Metrics], sources: Sources, wish: Wish, plan: Planner
) -> dict[str, Any]:
    """Which products are likely to run out, worst first."""
    done = arrange(rows_of(kept), wish)
    levels = [r.metrics["inventory"]["value"] for r in done.listed]
    counts = {level: levels.count(level) for level in ("out_of_stock_now", "high", "medium", "low")}
    gone = counts["out_of_stock_now"]
    decision = NOTHING if not levels else (
        f"{gone} of {len(levels)} products {'is' if gone == 1 else 'are'} out of stock now, "
        f"{counts['high']} at high risk, {counts['medium']} at medium, {counts['low']} at low."
    )  # fmt: skip
    return _answer(wish, done, dropped, sources, plan, decision, risk_levels=counts)


def market_opportunity(
    kept: Sequence[Metrics], dropped: Sequence[Metrics], sources: Sources, wish: Wish, plan: Planner
) -> dict[str, Any]:
    """A shortlist by score, per currency; what lacks an input is listed with the reason, not scored."""
    rows = rows_of(kept)
    scorable: dict[str, list[Row]] = {}
    for row in rows:
        reasons = [] if not row.record.usable else opportunity.lacking(row.metrics)
        if row.record.usable and not reasons:
            scorable.setdefault(row.record.domain.currency, []).append(row)
        elif reasons:
            row.reason = " ".join(r["reason"] for r in reasons)
    for group in scorable.values():
        for row, score in zip(group, opportunity.scores([(r.record, r.metrics) for r in group]), strict=True):
            row.score = score
    done = arrange(rows, wish)
    return _answer(wish, done, dropped, sources, plan, _best(done), offers=True, weights=dict(WEIGHTS))


def _best(done: Sorted) -> str:
    if not done.listed:
        return NOTHING
    leaders = [r for r in done.listed if r.position == 1]
    said = "; ".join(
        f"in {r.record.domain.currency} {r.record.label} with {r.metric('score')['value']} of 100 points"
        for r in leaders
    )
    return f"Products that can be ranked: {len(done.listed)}. First comes {said}."


def velocity(
    kept: Sequence[Metrics], dropped: Sequence[Metrics], sources: Sources, wish: Wish, plan: Planner
) -> dict[str, Any]:
    """How fast each product sells."""
    done = arrange(rows_of(kept), wish)
    known = sum(units(r.metrics["velocity"]) is not None for r in done.listed)
    proxies = sum(is_proxy(r.metrics["velocity"]) for r in done.listed)
    decision = (
        f"{known} of {len(done.listed)} products tell units sold, as lower bounds; "
        f"{proxies} have rank drops only; {len(done.listed) - known - proxies} tell nothing."
    )
    return _answer(wish, done, dropped, sources, plan, decision)


def inventory(
    kept: Sequence[Metrics], dropped: Sequence[Metrics], sources: Sources, wish: Wish, plan: Planner
) -> dict[str, Any]:
    """The stock-out risk of each product."""
    done = arrange(rows_of(kept), wish)
    known = sum(r.metrics["inventory"]["value"] is not None for r in done.listed)
    decision = f"The stock-out risk of {known} of {len(done.listed)} products is known. Stock quantities are not."
    return _answer(wish, done, dropped, sources, plan, decision)


def seller_metrics(
    kept: Sequence[Metrics],
    dropped: Sequence[Metrics],
    sources: Sources,
    wish: Wish,
    plan: Planner,
    windows: Sequence[int],
) -> dict[str, Any]:
    """Who competes for each product, and who held the buy box."""
    rows = rows_of(kept)
    for row in rows:
        s = row.record.subject
        share = buybox_share(s, windows) if s is not None and row.record.usable else None
        row.metrics["seller_metrics"].put("buy_box_share", share, Reason.NOT_APPLICABLE)
    done = arrange(rows, wish)
    known = [r for r in done.listed if r.metrics["seller_metrics"]["value"] is not None]
    levels = [r.metrics["seller_metrics"]["competition"] for r in known]
    decision = (
        f"The offers of {len(known)} of {len(done.listed)} products are known: competition is low for "
        f"{levels.count('low')}, medium for {levels.count('medium')}, high for {levels.count('high')}."
    )
    return _answer(wish, done, dropped, sources, plan, decision, offers=True)


def _answer(
    wish: Wish,
    done: Sorted,
    dropped: Sequence[Metrics],
    sources: Sources,
    plan: Planner,
    decision: str,
    *,
    offers: bool = False,
    **more: Any,
) -> dict[str, Any]:
    brief = {
        "decision": decision,
        "risk": risks.of(wish, done, dropped),
        "next_actions": steps.next_actions(plan, done.listed, done.not_rankable, offers=offers),
    }
    return view(wish, brief, done, dropped, sources, **more)
