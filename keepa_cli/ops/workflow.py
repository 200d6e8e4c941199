"""Workflows: several operations as one plan, and the run of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from keepa_cli import ops
from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind, invalid
from keepa_cli.core.files import lock
from keepa_cli.core.registry import Cost, Param, operation
from keepa_cli.core.settings import SPENDING_MODES, Mode
from keepa_cli.ops import _inputs, _outputs, _workflow_view
from keepa_cli.ops._names import WORKFLOW_PLAN, WORKFLOW_RUN
from keepa_cli.ops._params import Asin, Domain
from keepa_cli.ops._workflow_plans import PLANS
from keepa_cli.ops._workflow_run import Call, Run
from keepa_cli.ops._workflow_state import digest, load
from keepa_cli.ops._workflow_steps import Priced
from keepa_cli.ops.sellers import SellerId
from keepa_cli.research.workflow.model import Plan
from keepa_cli.research.workflow.view import ACCEPTED


def _plan_name(value: Any) -> str:
    text = str(value).strip().lower().replace("_", "-")
    if text not in PLANS:
        raise ValueError(f"there is no workflow {text[:40]!r}; there are {', '.join(PLANS)}")
    return text


Name = Annotated[
    str,
    Param(
        f"The workflow: {', '.join(PLANS)}.",
        metavar="NAME",
        position=True,
        parse=_plan_name,
        pattern="|".join(PLANS),
        examples=tuple(PLANS),
    ),
]
Term = Annotated[str | None, Param("Keywords that name a category; at least 3 characters each.")]
Asins = Annotated[list[Asin], Param("Products to research. Repeatable.")]
Category = Annotated[
    int | None, Param("The node id of a category, instead of a term.", metavar="ID", min=1, max=2**63 - 1)
]
Seller = Annotated[SellerId | None, Param("The seller to research.", position=False)]
Goal = Annotated[Literal["summary", "deal", "research", "audit"], Param("The profile of the product views.")]
Top = Annotated[int, Param("How many candidates are compared.", metavar="N", min=1, max=20)]
HydrateTop = Annotated[
    int | None, Param("Show a summary of the first N candidates too: 1 token more each.", min=1, max=20, metavar="N")
]
Input = Annotated[_inputs.Inputs, Param("Answers that are already here. Repeatable.")]
OutDir = Annotated[
    str | None, Param("Folder for the answers and the state; a folder of its own when left out.", metavar="DIR")
]


def _run_cost(params: dict[str, Any]) -> Cost:
    plan, inputs, _ = asked_for(params)
    return _workflow_view.cost(plan, inputs)


@operation(
    WORKFLOW_PLAN,
    toolset="research",
    examples=(
        "kc workflow plan product-research --asin B0D8W1YVBX --goal deal",
        'kc workflow plan category-research --term "home kitchen" --hydrate-top 3',
    ),
)
def plan(
    ctx: Context,
    name: Name,
    term: Term = None,
    asin: Asins = [],  # noqa: B006
    category: Category = None,
    seller: Seller = None,
    domain: Domain = "US",
    goal: Goal = "research",
    top: Top = 3,
    hydrate_top: HydrateTop = None,
    input: Input = [],  # noqa: A002, B006
    out_dir: OutDir = None,
) -> dict[str, Any]:
    """Plan a workflow: its steps as commands, what each costs, what it waits for, and where consent is asked.

    Sends nothing and costs nothing. A step that waits for an earlier answer holds references; what is called
    executable runs as it stands.
    """
    given = {
        "name": name, "term": term, "asin": asin, "category": category, "seller": seller, "domain": domain,
        "goal": goal, "top": top, "hydrate_top": hydrate_top, "input": input,
    }  # fmt: skip
    chosen, inputs, asked = asked_for(given)
    folder = _folder(ctx, chosen, inputs, ctx.settings.mode, out_dir)
    return _workflow_view.plan_view(ctx, chosen, inputs, asked, folder)


@operation(
    WORKFLOW_RUN,
    toolset="research",
    effect="write_local",
    passes_mode=True,
    cost=_run_cost,
    examples=(
        "kc workflow run product-research --asin B0PPJ248DY",
        "kc workflow run category-research --term kitchen --out-dir kitchen",
        "kc workflow run category-research --term kitchen --out-dir kitchen --live --confirm category_products",
    ),
)
def run(
    ctx: Context,
    call: Call,
    name: Name,
    term: Term = None,
    asin: Asins = [],  # noqa: B006
    category: Category = None,
    seller: Seller = None,
    domain: Domain = "US",
    goal: Goal = "research",
    top: Top = 3,
    hydrate_top: HydrateTop = None,
    input: Input = [],  # noqa: A002, B006
    out_dir: OutDir = None,
    confirm: Annotated[
        list[str], Param("Consent to this step, as STEP or STEP=QUOTE. Repeatable; --yes is for all.", metavar="STEP")
    ] = [],  # noqa: B006
    max_steps: Annotated[int | None, Param("Stop after N steps; the same command goes on.", metavar="N", min=1)] = None,
    resume: Annotated[bool, Param("Only go on with a run that is there already.")] = False,
    fresh: Annotated[bool, Param("Begin anew in the folder: ask for everything again.")] = False,
    dry_run: Annotated[bool, Param("Show the plan; run nothing.")] = False,
) -> dict[str, Any]:
    """Run a workflow step by step, in the mode of the call: from recordings unless --live is given.

    Every answer becomes a file before the next step starts. The same command goes on where an earlier run stopped and
    asks for nothing twice. A step that needs consent stops the run and tells its price; an optional one is skipped.
    --max-tokens limits each step.
    """
    given = {
        "name": name, "term": term, "asin": asin, "category": category, "seller": seller, "domain": domain,
        "goal": goal, "top": top, "hydrate_top": hydrate_top, "input": input,
    }  # fmt: skip
    chosen, inputs, asked = asked_for(given)
    if dry_run or call.mode is Mode.DRY_RUN:
        return _workflow_view.plan_view(ctx, chosen, inputs, asked, _folder(ctx, chosen, inputs, call.mode, out_dir))
    _all_there(chosen, inputs)
    return _carried_out(ctx, call, chosen, inputs, asked, out_dir, confirm, max_steps, resume=resume, fresh=fresh)


def _carried_out(
    ctx: Context, call: Call, chosen: Plan, inputs: dict[str, Any], asked: dict[str, Any], out_dir: str | None,
    confirm: list[str], most: int | None, *, resume: bool, fresh: bool,
) -> dict[str, Any]:  # fmt: skip
    identity = _identity(ctx, inputs, call.mode)
    folder = _folder(ctx, chosen, inputs, call.mode, out_dir)
    consents = _consents(chosen, confirm)
    again = {"name": chosen.name} | asked | {"out_dir": str(folder)} | ({"confirm": confirm} if confirm else {})
    _outputs.target(ctx, str(folder / "probe"))
    with lock(folder, what="workflow folder"):
        state = load(ctx, folder, chosen, identity, fresh=fresh, resume=resume)
        state.save(ctx)
        given = inputs | {"input": [str(_inputs.path_of(ctx, f).absolute()) for f in inputs.get("input", [])]}
        going = Run(ctx, call, state, given, consents, again)
        complete = going.go(most)
        return _workflow_view.run_view(ctx, going, complete=complete)


def priced(chosen: Plan, inputs: dict[str, Any]) -> list[Priced]:
    """The steps of a plan with their prices, before anything was asked."""
    return _workflow_view.priced(chosen, inputs, Path())


def asked_for(params: Mapping[str, Any]) -> tuple[Plan, dict[str, Any], dict[str, Any]]:
    """The plan, all of its inputs, and those that were given. Raises for an input that the plan has no use for."""
    chosen = PLANS[params["name"]]
    inputs = {k: params[k] for k in ("domain", "goal", "top")}
    asked: dict[str, Any] = {}
    for key in (*ACCEPTED, "hydrate_top"):
        if params[key] in (None, []):
            continue
        if key not in chosen.takes:
            raise invalid(
                f"{chosen.name} takes no --{key.replace('_', '-')}.",
                field=key,
                value=params[key],
                allowed=[f"--{k.replace('_', '-')}" for k in chosen.takes],
            )
        if key in chosen.single and len(params[key]) > 1:
            raise invalid(f"{chosen.name} takes one --{key}.", field=key, value=params[key])
        inputs[key] = asked[key] = params[key]
    defaults = {a.name: a.default for a in ops.find(WORKFLOW_PLAN).args}
    asked |= {k: inputs[k] for k in ("domain", "goal", "top") if inputs[k] != defaults[k]}
    return chosen, inputs, asked


def _all_there(chosen: Plan, inputs: dict[str, Any]) -> None:
    """Raises `missing_inputs` for a run that lacks one."""
    missing = chosen.missing(inputs)
    if missing:
        names = [name for group in missing for name in group]
        raise KeepaCliError(
            Kind.MISSING_INPUTS,
            f"{chosen.name} needs " + " and ".join(" or ".join(f"--{n}" for n in group) for group in missing) + ".",
            details={
                Kind.MISSING_INPUTS.value: names, "accepted_sources": {name: ACCEPTED[name] for name in names}
            },
            next_actions=[f"kc workflow plan {chosen.name}"],
        )  # fmt: skip


def _identity(ctx: Context, inputs: dict[str, Any], mode: Mode) -> dict[str, Any]:
    """What a run is bound to: its inputs, files by their content, and where answers come from."""
    found = dict(inputs)
    if "input" in inputs:
        found["input"] = [[g.name, g.sha256] for g in _inputs.read(ctx, inputs["input"])]
    return {"inputs": found, "source": ctx.settings["base_url"] if mode in SPENDING_MODES else "recordings"}


def _folder(ctx: Context, chosen: Plan, inputs: dict[str, Any], mode: Mode, out_dir: str | None) -> Path:
    if out_dir is not None:
        return _outputs.target(ctx, out_dir, folder=True).absolute()
    return ctx.state_dir / "workflows" / f"{chosen.name}-{digest(_identity(ctx, inputs, mode))[:12]}"


def _consents(chosen: Plan, confirm: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    known = [step.id for step in chosen.steps]
    for word in confirm:
        step, _, quote = word.partition("=")
        if step not in known:
            raise invalid(f"{chosen.name} has no step {step!r}.", field="confirm", value=word, allowed=known)
        found[step] = quote
    return found
