"""Names of operations that are spelled in more than one place of the package: other code takes them from here."""

from __future__ import annotations

AGENT_PROFILE = "business.agent-profile"
AUDIT_COST = "audit.cost"
CATEGORIES_GET = "categories.get"
CATEGORIES_SEARCH = "categories.search"
CASSETTES_SHOW = "cassettes.show"
CONTEXT_POLICY = "context.policy"
DOCS_READ = "docs.read"
EVALS_RUN = "evals.run"
PRODUCTS_GET = "products.get"
PROMOTE_AND_VERIFY = "cassettes.promote-and-verify"
REQUEST_GET = "request.get"
BATCH_ASINS = "batch.asins"
BESTSELLERS_GET = "bestsellers.get"
BROWSE_SNAPSHOT = "browse.snapshot"
CATEGORIES_PRODUCTS = "categories.products"
CATEGORIES_FINDER_SELECTION = "categories.finder-selection"
FAST_MOVERS = "business.find-fast-movers"
FIGURES_RESEARCH = "figures.research"
DEALS_QUERY = "deals.query"
FINDER_QUERY = "finder.query"
HISTORY_EXPORT = "history.export"
INVENTORY = "business.inventory"
INVENTORY_AUDIT = "business.inventory-audit"
MARKET_OPPORTUNITY = "business.market-opportunity"
PRODUCTS_COMPARE = "products.compare"
PRODUCTS_SEARCH = "products.search"
PRODUCTS_SUMMARY = "products.summary"
PROFIT = "business.profit"
REPORTS_BUILD = "reports.build"
RESEARCH_BRIEF = "research.brief"
RESEARCH_GRAPH_MERGE = "research-graph.merge"
RESEARCH_QUERY = "research.query"
RESEARCH_RESOLVE = "research.resolve"
SELLERS_GET = "sellers.get"
SELLER_METRICS = "business.seller-metrics"
TRACKING_GET = "tracking.get"
TRACKING_LIST = "tracking.list"
TRACKING_NOTIFICATIONS = "tracking.notifications"
VELOCITY = "business.velocity"
WORKFLOW_PLAN = "workflow.plan"
WORKFLOW_RUN = "workflow.run"

ALIASES = {
    "agent.profile.generate": AGENT_PROFILE,
    "inventory.audit": INVENTORY,
    "research.context.query": RESEARCH_QUERY,
    "research.target.resolve": RESEARCH_RESOLVE,
    "research_brief.export": RESEARCH_BRIEF,
    "research_graph.merge": RESEARCH_GRAPH_MERGE,
    "seller-metrics.summary": SELLER_METRICS,
    "velocity.research": VELOCITY,
}
"""Other names that the contract's first edition gives to operations: what they answer tells the name of today."""
