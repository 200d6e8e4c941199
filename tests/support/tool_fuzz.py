"""Arguments for tools, made from their own schemas and from what goes wrong elsewhere."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.support.tool_arguments import CALLS

HUGE = 1 << 20
HOSTILE = (
    "", " ", "null", "\x00", "a\x00b", "\ud83d", "\udfff tail", "../../etc/passwd", "/etc/passwd", "..\\..\\windows",
    "~/.ssh/id_rsa", "~root/x", "file:///etc/passwd", "%2e%2e%2f", "C:\\Windows\\win.ini", "\\\\host\\share", "CON",
    "-", "--live", "{asin}", "{{7*7}}", "${HOME}", "$(id)", "`id`", "%s%n", "'; DROP TABLE calls;--",
    "<script>alert(1)</script>", "\x1b[31mred", "\r\nX-Injected: 1", "\u202edesrever", "\u2028", "1e999", "NaN", "-0",
    "0x10", "\uff11\uff12\uff13", "B0PPJ248DY", "keepa://research/none", "keepa://output/Li4vLi4vZXRjL3Bhc3N3ZA",
    "http://169.254.169.254/latest/meta-data", "x" * 300, "a/" * 200, "9" * 400,
)  # fmt: skip
NUMBERS = (0, -1, 1, 2**31, 2**63, -(2**63), 10**30, 1e308, float("inf"), float("nan"), 0.1, True, False)


def junk() -> st.SearchStrategy[Any]:
    """Values of any type, mostly wrong."""
    scalars = st.one_of(
        st.none(),
        st.booleans(),
        st.sampled_from(NUMBERS),
        st.integers(),
        st.sampled_from(HOSTILE),
        st.text(max_size=20),
    )
    nested = st.one_of(
        scalars, st.lists(scalars, max_size=4), st.dictionaries(st.text(max_size=6), scalars, max_size=3)
    )
    return st.one_of(nested, st.sampled_from(_enormous()))


def _enormous() -> list[Any]:
    deep: Any = 1
    for _ in range(500):
        deep = [deep]
    return [
        "x" * HUGE,
        "\ud83d" * 1000,
        list(range(100_000)),
        ["B0PPJ248DY"] * 100_000,
        {str(n): n for n in range(5000)},
        deep,
    ]


def of(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that a schema allows, roughly."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema.get("type")
    if kind == "boolean":
        return st.booleans()
    if kind in ("integer", "number"):
        low, high = schema.get("minimum", -5), schema.get("maximum", 5000)
        return st.integers(int(low), int(high))
    if kind == "array":
        return st.lists(of(schema.get("items", {})), max_size=4)
    if kind == "object":
        return st.dictionaries(st.text(max_size=6), st.one_of(st.integers(), st.text(max_size=9)), max_size=3)
    examples = [e for e in schema.get("examples", []) if isinstance(e, str)]
    return st.one_of(st.sampled_from([*examples, "B0PPJ248DY", "kettle", "US", "1000..2000"]), st.text(max_size=12))


def arguments(name: str, schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments of one tool: fitting ones, a working call with one thing wrong, and anything at all."""
    fields = {n: st.one_of(of(s), junk()) for n, s in schema["properties"].items()}
    some = st.fixed_dictionaries({}, optional={n: of(s) for n, s in schema["properties"].items()})
    mixed = st.fixed_dictionaries({}, optional=fields)
    spoiled = st.sampled_from(sorted(fields)).flatmap(
        lambda field: fields[field].map(lambda value: {**CALLS[name], field: value})
    )
    fitting = st.sampled_from(sorted(fields)).flatmap(
        lambda field: of(schema["properties"][field]).map(lambda value: {**CALLS[name], field: value})
    )
    lacking = st.sampled_from([*sorted(CALLS[name]), ""]).map(
        lambda field: {k: v for k, v in CALLS[name].items() if k != field}
    )
    extra = st.tuples(
        st.one_of(st.text(max_size=8), st.sampled_from(["live", "mode", "record", "api_key"])), junk()
    ).map(lambda pair: {**CALLS[name], pair[0]: pair[1]})
    return st.one_of(fitting, spoiled, some, mixed, lacking, extra)
