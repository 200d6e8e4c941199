from __future__ import annotations

from typing import Annotated, Any, Literal

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli import ops
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.registry import Operation, Param, read_args
from keepa_cli.core.schema import bind, input_schema


def sample(
    ids: Annotated[list[Annotated[str, Param("id", pattern="[A-Z]{2}")]], Param("Ids.", position=True, max_items=3)],
    kind: Annotated[Literal["a", "b"], Param("Kind.")] = "a",
    days: Annotated[int | None, Param("Days.", min=1, max=9)] = None,
    on: Annotated[bool, Param("On.")] = False,
    secret: Annotated[str | None, Param("Secret.", hidden=True, pattern="k+")] = None,
) -> dict[str, Any]:
    """Sample."""
    return {}


OP = Operation("sample.get", sample, "research", lambda _: None, None, None, (), "read", ())  # type: ignore[arg-type]


def refused(params: dict[str, Any], **more: Any) -> KeepaCliError:
    with pytest.raises(KeepaCliError) as caught:
        bind(OP, params, **more)
    assert caught.value.kind is Kind.INVALID_ARGUMENTS
    return caught.value


def test_a_scalar_and_commas_are_lists_for_a_parameter_of_many() -> None:
    assert bind(OP, {"ids": "AA"})["ids"] == ["AA"]
    assert bind(OP, {"ids": "AA,BB"})["ids"] == ["AA", "BB"]
    assert bind(OP, {"ids": ["AA", "BB,CC"]})["ids"] == ["AA", "BB", "CC"]


def test_every_problem_is_named_at_once_with_what_is_allowed() -> None:
    error = refused({"ids": ["aa"], "kind": "c", "days": 10, "dayz": 1})
    assert [e["field"] for e in error.details["errors"]] == ["dayz", "ids", "kind", "days"]
    assert "did you mean days" in error.details["errors"][0]["message"]
    assert error.details["errors"][2]["allowed"] == ["a", "b"]


def test_a_missing_required_parameter_is_named() -> None:
    assert refused({}).details["errors"][0]["message"] == "ids is missing"


def test_too_many_values_are_refused() -> None:
    assert "at most 3" in refused({"ids": ["AA"] * 4}).message


def test_json_types_are_strict_and_text_is_converted() -> None:
    assert "must be integer, not string" in refused({"ids": "AA", "days": "3"}).message
    assert "must be boolean" in refused({"ids": "AA", "on": 1}).message
    bound = bind(OP, {"ids": "AA", "days": "3", "on": "true"}, text=True)
    assert (bound["days"], bound["on"]) == (3, True)
    assert "must be integer" in refused({"ids": "AA", "days": "3.5"}, text=True).message


def test_a_whole_number_is_an_integer_however_it_is_written() -> None:
    bound = bind(OP, {"ids": "AA", "days": 3.0})["days"]
    assert (bound, type(bound)) == (3, int)
    jsonschema.validate({"ids": "AA", "days": 3.0}, input_schema(OP))
    for wrong in (3.5, float("inf"), float("nan")):
        assert "must be integer, not number" in refused({"ids": "AA", "days": wrong}).message
    assert "at most 9" in refused({"ids": "AA", "days": 1e300}).message


def test_a_boolean_is_not_an_integer() -> None:
    assert "must be integer, not boolean" in refused({"ids": "AA", "days": True}).message


def test_hidden_values_are_never_echoed() -> None:
    error = refused({"ids": "AA", "secret": "CANARY"})
    assert "CANARY" not in str(error.details) + error.message


def test_the_schema_and_the_check_agree_on_the_sample() -> None:
    schema = input_schema(OP)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["required"] == ["ids"]
    assert schema["additionalProperties"] is False


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "ids": st.one_of(st.none(), st.text(max_size=3), st.lists(st.text("AB", max_size=3), max_size=4)),
            "kind": st.sampled_from(["a", "b", "c", 1, None]),
            "days": st.one_of(st.integers(-2, 12), st.booleans(), st.text(max_size=2)),
            "on": st.one_of(st.booleans(), st.integers(0, 1)),
            "other": st.just(1),
        },
    )
)
def test_any_json_is_bound_or_refused_never_anything_else(params: dict[str, Any]) -> None:
    try:
        bound = bind(OP, params)
    except KeepaCliError as error:
        assert error.kind is Kind.INVALID_ARGUMENTS and error.details["errors"]
    else:
        assert set(bound) == {a.name for a in read_args(sample)}
        assert all(len(i) == 2 for i in bound["ids"])


@pytest.mark.parametrize("op", ops.load_all(), ids=lambda op: op.name)
def test_every_operation_has_a_closed_schema_a_summary_and_examples(op: Operation) -> None:
    schema = input_schema(op)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    assert op.summary.endswith(".") and op.examples
    assert all(p["description"].strip() for p in schema["properties"].values())
    command = "kc " + op.name.replace(".", " ")
    assert all(command in e.replace("kc --json ", "kc ") for e in op.examples)


Few = Annotated[int, Param("Any number.", min=3)]


def described(n: Annotated[Few, Param("The number of rows.")]) -> None:
    """Do it."""


def test_the_help_of_the_outer_param_counts_and_the_inner_one_still_constrains() -> None:
    (arg,) = read_args(described)
    assert (arg.spec.help, arg.spec.min) == ("The number of rows.", 3)
