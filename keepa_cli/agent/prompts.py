"""Prompts: how to start common work. They run nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keepa_cli.agent.problems import bad_params

ALWAYS = (
    "Answers come from recordings unless the server says live in keepa://context/policy. Never add yes=true to a "
    "costly call that no person agreed to. Read agent_brief first; quote figures with their evidence_path and "
    "currency; what is listed in absent was not requested or not collected: say so instead of guessing."
)


@dataclass(frozen=True)
class Argument:
    name: str
    description: str
    required: bool = False


@dataclass(frozen=True)
class Prompt:
    """`text` may hold the names of arguments in braces; an argument that is not given reads as `fallback`."""

    name: str
    description: str
    text: str
    arguments: tuple[Argument, ...] = ()

    def listed(self) -> dict[str, Any]:
        rows = [{"name": a.name, "description": a.description, "required": a.required} for a in self.arguments]
        title = self.name.replace("_", " ").capitalize()
        return {"name": self.name, "title": title, "description": self.description, "arguments": rows}


_DOMAIN = Argument("domain", "Marketplace, such as US or DE.")
_INPUT = Argument("input", "Saved answers (files) or a cache_key to work on.")
PROMPTS: Mapping[str, Prompt] = {
    p.name: p
    for p in (
        Prompt(
            "product_research",
            "Judge one product: plan first, then one full product view.",
            "Research the product {asin} on {domain}. 1. workflow_plan name=product-research asin={asin}. 2. Run "
            "its steps in order; products_get with full=true and view=summary, then view=deal or research where "
            "the brief leaves a question. 3. Ask for offers only after the person agreed to the cost in the plan. "
            "4. Report price, demand, competition, risks and what is missing.",
            (Argument("asin", "ASIN of the product.", required=True), _DOMAIN),
        ),
        Prompt(
            "category_research",
            "Find products worth a look in a category, without hydrating them by default.",
            'Research the category for "{term}" on {domain}. 1. categories_search. 2. If several categories fit, '
            "ask the person which. 3. categories_finder_selection, then categories_products as a dry run to see "
            "its cost. 4. products_compare of the first candidates. 5. research_graph_merge of all answers.",
            (Argument("term", "Keywords of the category.", required=True), _DOMAIN),
        ),
        Prompt(
            "deal_compare",
            "Compare several products as deals and audit the signals.",
            "Compare {asins} on {domain}: products_compare, then products_get view=deal for the two best rows. "
            "Check each selection signal against its evidence_path; say where a price is at its 90-day low and "
            "where it is not.",
            (Argument("asins", "ASINs, separated by commas.", required=True), _DOMAIN),
        ),
        Prompt(
            "project_onboarding",
            "Get to know this server before changing anything that uses it.",
            "Read keepa://context/policy, keepa://wiki/current, keepa://tools/index, "
            "keepa://schema/products-agent-view and keepa://evidence/recent. Then say which recordings there are, "
            "what can be replayed, and what would cost tokens.",
        ),
        Prompt(
            "research_agent_start",
            "The order of a whole research: policy, target, context, plan, execution, graph.",
            'Start a research about "{question}". 1. context_policy. 2. resolve_research_target; stop and ask '
            "where it is ambiguous. 3. query_research_context: what is here already. 4. workflow_plan. 5. Run the "
            "steps within the budget, stopping at every step that needs confirmation. 6. research_graph_merge, "
            "research_brief_export, reports_build.",
            (Argument("question", "What is to be found out.", required=True),),
        ),
        Prompt(
            "inventory_audit",
            "Audit stock-outs, sellers and restocking risk from answers that are here. Conclusion first.",
            "Run inventory_audit on {input}. Give the conclusion first: which products run out and how sure that "
            "is, then the evidence. These are shares of time without an offer, never stock quantities.",
            (_INPUT,),
        ),
        Prompt(
            "velocity_research",
            "Find fast movers from monthlySold, or from rank drops with low confidence.",
            "Run find_fast_movers on {input}. monthlySold is the lower end of a bracket: write 'at least'. Keep "
            "products judged by rank drops apart: their confidence is low.",
            (_INPUT,),
        ),
        Prompt(
            "market_opportunity",
            "A shortlist from demand, competition, stock risk and turnover.",
            "Run market_opportunity on {input}. Show the parts of each score, name products that could not be "
            "ranked with the reason, and list what to ask for next with its cost.",
            (_INPUT,),
        ),
    )
}
_NAMED = re.compile(r"\{(\w+)\}")
FALLBACKS = {"domain": "US", "input": "the answers of this session"}


def render(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`{description, messages}`. Raises a ProtocolError for an unknown name, for arguments that lack or are no text."""
    found = PROMPTS.get(name)
    if found is None:
        raise bad_params(f"Unknown prompt: {name[:100]}", prompt=name[:100], allowed=list(PROMPTS))
    known = {a.name for a in found.arguments}
    wrong = [k for k, v in arguments.items() if k not in known or not isinstance(v, str | None)]
    lacking = [a.name for a in found.arguments if a.required and not arguments.get(a.name)]
    if wrong or lacking:
        raise bad_params(
            f"The prompt {name} takes {', '.join(sorted(known)) or 'nothing'}.", wrong=wrong, missing=lacking
        )
    values = {name: (arguments.get(name) or FALLBACKS.get(name, ""))[:2000] for name in known}
    text = _NAMED.sub(lambda m: values.get(m[1], m[0]), found.text)  # at once: a value may hold braces itself
    content = {"type": "text", "text": f"{text}\n\n{ALWAYS}"}
    return {"description": found.description, "messages": [{"role": "user", "content": content}]}
