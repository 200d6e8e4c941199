"""The workflows: a new one is one entry in PLANS."""

from __future__ import annotations

from collections.abc import Mapping

from keepa_cli.ops import _names as names
from keepa_cli.research.workflow.model import Either, Files, From, Given, Pairs, Place, Plan, Sort, Step

DOMAIN = {"domain": Given("domain")}
ASKED = DOMAIN | {"asin": Given("asin")}


def _get(why: str, **more: object) -> Step:
    """The products that were asked for, at the price of a bare request; what Keepa sent is kept for later steps."""
    params = ASKED | {"full": True, "view": Given("goal")} | more
    return Step("products", names.PRODUCTS_GET, why, params, "product_views", needs=("asin",), keeps_body=True)


def _compare(asins: object, step: str = "comparison") -> Step:
    why = "Compare the candidates side by side: one request, one token each."
    return Step(step, names.PRODUCTS_COMPARE, why, DOMAIN | {"asin": asins}, "comparison", keeps_body=True)


def _merge(*steps: str, given: bool = False, body: bool = False) -> Step:
    why = "Merge what the answers say of entities and relations into one graph."
    params = DOMAIN | {"input": Files(steps, given=given, body=body)}
    return Step("graph", names.RESEARCH_GRAPH_MERGE, why, params, "research_graph")


def _brief(title: str, *steps: str, given: bool = False) -> Step:
    params = DOMAIN | {"input": Files(steps, given=given), "title": title}
    return Step("brief", names.RESEARCH_BRIEF, "Write down what matters with its evidence.", params, "research_brief")


def _business(step: str, command: str, why: str) -> Step:
    return Step(step, command, why, DOMAIN | {"input": Files(("products",), given=True, body=True)}, "business_metrics")


def _figures(figure_set: str, *steps: str, given: bool = False, body: bool = True) -> Step:
    why = "Draw what was found, with the data of every figure."
    params = DOMAIN | {
        "input": Files(steps, given=given, body=body), "out_dir": Place("figures"), "figure_set": figure_set,
    }  # fmt: skip
    return Step("figures", names.FIGURES_RESEARCH, why, params, "figures", optional=True)


def _report(*steps: str, given: bool = False, body: bool = False) -> Step:
    params = {"input": Files(steps, given=given, body=body), "out": Place("report.md")}
    return Step("report", names.REPORTS_BUILD, "Build a report to read.", params, "report")


def _browse(*steps: str, given: bool = False) -> Step:
    params = {"input": Files(steps, given=given), "out_dir": Place("site")}
    return Step("snapshot", names.BROWSE_SNAPSHOT, "Lay the result out as pages to look through.", params, "site")


CATEGORY = Either(
    Given("category"),
    From(
        "category_candidates", "$.data.category_candidates[*].id", Sort.CATEGORY,
        labels="$.data.category_candidates[*].name", match="term",
    ),
)  # fmt: skip

CATEGORY_RESEARCH = Plan(
    "category-research",
    "From a keyword to compared products of a category.",
    (
        Step(
            "category_candidates", names.CATEGORIES_SEARCH, "Find the categories that the term names.",
            DOMAIN | {"term": Given("term")}, "category_candidates", unless=("category",),
        ),
        Step(
            "finder_selection", names.CATEGORIES_FINDER_SELECTION, "Draft a finder query of the category.",
            DOMAIN | {"category": CATEGORY}, "finder_selection",
        ),
        Step(
            "category_products", names.CATEGORIES_PRODUCTS, "List the products that sell best in the category.",
            DOMAIN | {"category": CATEGORY, "hydrate_top": Given("hydrate_top")}, "category_products",
        ),
        _compare(From("category_products", "$.data.candidates[*].asin", Sort.ASIN, "top")),
        _merge("category_candidates", "category_products", "comparison"),
        _brief("Category research", "comparison", "graph"),
        _figures("compare", "comparison"),
        _report("comparison"),
    ),
    wants=(("term", "category"),),
    profile="dry_run_default",
)  # fmt: skip
PRODUCT_RESEARCH = Plan(
    "product-research",
    "What is known of single products, and whether their offers are worth asking for.",
    (
        _get("Read the products: history, statistics, content, for one token each."),
        Step(
            "offers", names.PRODUCTS_GET, "Ask for the offers of the marketplace: who sells, at what price.",
            ASKED | {"full": True, "offers": 20, "view": Given("goal")}, "product_views",
            needs=("asin",), optional=True, keeps_body=True,
        ),
        _merge("products", "offers", body=True),
        _brief("Product research", "products", "graph"),
        _figures("history", "products"),
        _report("products", body=True),
    ),
    wants=(("asin",),),
)  # fmt: skip
REPORT_RESEARCH = Plan(
    "report-research",
    "From answers that are already here to a graph, a brief, figures, a report and pages.",
    (
        _merge(given=True),
        _brief("Research brief", "graph", given=True),
        _figures("all", given=True, body=False),
        _report(given=True),
        _browse(given=True),
    ),
    wants=(("input",),),
    toolset="reports",
    profile="offline_fixture_only",
)
TRACKED = From("tracking_list", "$.data.items[*].asin", Sort.ASIN)
TRACKING_AUDIT = Plan(
    "tracking-audit",
    "What is tracked, what was notified, and what reading it costs. Nothing is changed.",
    (
        Step("tracking_list", names.TRACKING_LIST, "List what is tracked.", {}, "trackings"),
        Step(
            "notifications", names.TRACKING_NOTIFICATIONS, "Read notifications without marking them.", {},
            "notifications",
        ),
        Step(
            "tracking_detail", names.TRACKING_GET, "Read one tracking in full.",
            {"asin": Either(Given("asin"), TRACKED)}, "tracking",
        ),
        Step(
            "cost_audit", names.AUDIT_COST, "Tell what it costs to ask for the product that is tracked.",
            {"operation": names.PRODUCTS_GET, "param": Pairs({"asin": Either(Given("asin"), TRACKED)})}, "cost",
        ),
    ),
    toolset="tracking-readonly",
    profile="tracking_readonly",
    single=("asin",),
)  # fmt: skip
SELLER_RESEARCH = Plan(
    "seller-research",
    "What a seller offers, and how the products of the storefront do.",
    (
        Step(
            "seller", names.SELLERS_GET, "Read the seller with the list of the storefront.",
            {"seller": Given("seller"), "domain": Given("domain"), "storefront": True}, "seller",
        ),
        _compare(From("seller", "$.data.body.sellers.*.asinList[*]", Sort.ASIN, "top")),
        Step(
            "metrics", names.SELLER_METRICS, "Tell how many sellers compete for the products.",
            DOMAIN | {"input": Files(("comparison",), body=True)}, "business_metrics",
        ),
        _merge("seller", "comparison"),
        _brief("Seller research", "comparison", "metrics", "graph"),
        _figures("compare", "comparison"),
    ),
    wants=(("seller",),),
)  # fmt: skip


def _evidence(name: str, purpose: str, step: Step, why: str) -> Plan:
    """A plan over products that are here, or that are asked for by ASIN."""
    steps = (_get(why), step, _brief(name.replace("-", " ").capitalize(), "products", step.id, given=True))
    return Plan(name, purpose, steps, (("input", "asin"),), "business", "offline_fixture_only")


PRODUCTS_FIRST = "Read the products that were named; files that are here cost nothing."
PLANS: Mapping[str, Plan] = {
    plan.name: plan
    for plan in (
        CATEGORY_RESEARCH,
        PRODUCT_RESEARCH,
        REPORT_RESEARCH,
        TRACKING_AUDIT,
        _evidence(
            "inventory-audit",
            "Which products run out of stock, and how sure that is.",
            _business("inventory", names.INVENTORY_AUDIT, "Audit stock-outs and the risk of running out."),
            PRODUCTS_FIRST,
        ),
        _evidence(
            "velocity-research",
            "Which products sell fast, and on what evidence.",
            _business("fast_movers", names.FAST_MOVERS, "Rank the products by how fast they sell."),
            PRODUCTS_FIRST,
        ),
        _evidence(
            "market-opportunity",
            "Which products combine demand, little competition and a stable price.",
            _business("opportunity", names.MARKET_OPPORTUNITY, "Shortlist the products."),
            PRODUCTS_FIRST,
        ),
        SELLER_RESEARCH,
    )
}
