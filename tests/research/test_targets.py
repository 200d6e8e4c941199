from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.keepa.asin import check_digit, isbn10_valid
from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.research.targets import KINDS, Known, Target, resolve

KNOWN = Known(frozenset({"kettle", "product-kettle", "B0D8W1YVBX-full"}), {"fc5c5b26d48b9515": "product-kettle"})
DE = DOMAINS[3]


def of(text: str, domain: object = None, kind: str | None = None) -> Target:
    return resolve(text, domain, kind, KNOWN)  # type: ignore[arg-type]


def meanings(text: str, domain: object = None, kind: str | None = None) -> tuple[str, list[tuple[str, str]]]:
    found = of(text, domain, kind)
    return found.status, [(c.kind, c.value) for c in found.candidates]


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("B0D8W1YVBX", ("product", "B0D8W1YVBX")),
        (" b0d8w1yvbx ", ("product", "B0D8W1YVBX")),
        ("0306406152", ("product", "0306406152")),
        ("0-306-40615-2", ("product", "0306406152")),
        ("080442957x", ("product", "080442957X")),
        ("4006381333931", ("code", "4006381333931")),
        ("978-0-306-40615-7", ("code", "9780306406157")),
        ("036000291452", ("code", "036000291452")),
        ("AFZNN5H6MIT2Z", ("seller", "AFZNN5H6MIT2Z")),
        ("7792528011", ("category", "7792528011")),
        ("16225007011", ("category", "16225007011")),
        ("172282", ("category", "172282")),
        ("product-kettle", ("fixture", "product-kettle")),
        ("fc5c5b26d48b9515", ("evidence", "product-kettle")),
        ("electric kettle", ("keyword", "electric kettle")),
        ("chocolates", ("keyword", "chocolates")),
        ("電気ケトル", ("keyword", "電気ケトル")),
    ],
)
def test_one_meaning(text: str, meaning: tuple[str, str]) -> None:
    assert meanings(text) == ("resolved", [meaning])


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("1853260045", ["product", "category"]),
        ("306406152", ["product", "category"]),
        ("36000291452", ["code", "category"]),
        ("1106046" + check_digit("1106046"), ["code", "category"]),
        ("PS5CONSOLE", ["product", "keyword"]),
        ("airpodspro2nd", ["seller", "keyword"]),
        ("A123456789", ["product", "seller", "keyword"]),
        ("kettle", ["fixture", "keyword"]),
    ],
)
def test_what_can_mean_several_things_stops_with_all_of_them(text: str, kinds: list[str]) -> None:
    status, found = meanings(text)
    assert (status, [kind for kind, _ in found]) == ("ambiguous", kinds)
    for kind in kinds:
        assert meanings(text, kind=kind)[0] == "resolved"


def test_a_valid_isbn_that_is_also_a_number_is_never_decided() -> None:
    text = next(t for n in range(10) if isbn10_valid(t := f"185326004{n}"))
    assert meanings(text)[0] == "ambiguous"
    assert meanings(text[:-1] + str((int(text[-1]) + 1) % 10)) == (
        "resolved",
        [("category", text[:-1] + str((int(text[-1]) + 1) % 10))],
    )


HOSTS = [(d.host, d) for d in DOMAINS.values()]


@pytest.mark.parametrize(("host", "domain"), HOSTS)
@pytest.mark.parametrize(
    "path", ["/dp/{}", "/Some-Title/dp/{}/ref=sr_1_1", "/gp/product/{}?th=1", "/gp/aw/d/{}", "/o/ASIN/{}"]
)
def test_addresses_of_every_marketplace(host: str, domain: object, path: str) -> None:
    for prefix in ("https://www.", "http://", "", "https://smile.", "www."):
        found = of(prefix + host + path.format("b0d8w1yvbx"))
        assert [(c.kind, c.value, c.domain, c.origin) for c in found.candidates] == [
            ("product", "B0D8W1YVBX", domain, "address")
        ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("https://www.amazon.com/dp/B0D8W1YVBX?m=A1CX3WR5ZE8WAV", [("product", "B0D8W1YVBX")]),
        ("https://www.amazon.com/sp?seller=A1CX3WR5ZE8WAV", [("seller", "A1CX3WR5ZE8WAV")]),
        (
            "https://www.amazon.com/s?me=A1CX3WR5ZE8WAV&node=172282",
            [("seller", "A1CX3WR5ZE8WAV"), ("category", "172282")],
        ),
        ("https://www.amazon.com/b?node=172282", [("category", "172282")]),
        ("https://www.amazon.com/s?rh=n%3A1055398%2Cn%3A289742", [("category", "289742")]),
        ("https://www.amazon.com/gp/bestsellers/kitchen/289742", [("category", "289742")]),
        ("https://www.amazon.com/s?k=electric+kettle", [("keyword", "electric kettle")]),
        ("https://keepa.com/#!product/3-B0D8W1YVBX", [("product", "B0D8W1YVBX")]),
    ],
)
def test_what_addresses_point_at(text: str, found: list[tuple[str, str]]) -> None:
    assert meanings(text) == ("resolved" if len(found) == 1 else "ambiguous", found)


@pytest.mark.parametrize(
    "text",
    ["https://www.amazon.cn/dp/B0D8W1YVBX", "https://www.amazon.com.au/dp/B0D8W1YVBX", "https://example.com/dp/B0D8W1YVBX",
     "https://amazon.com.evil.example/dp/B0D8W1YVBX", "https://notamazon.com/dp/B0D8W1YVBX", "https://amzn.to/3abc",
     "https://www.amazon.com/", "https://[broken/dp/B0D8W1YVBX", "https://keepa.com/#!product/7-B0D8W1YVBX",
     "", "   ", "???", "12345678901234", "x" * 3000, "a\nb", "0"],
)  # fmt: skip
def test_what_means_nothing_says_why(text: str) -> None:
    found = of(text)
    assert (found.status, found.candidates) == ("unknown", ())
    assert found.problem and not found.problem.endswith(".")


def test_an_address_that_contradicts_the_marketplace_stops() -> None:
    found = of("https://www.amazon.com/dp/B0D8W1YVBX", DE)
    assert found.status == "ambiguous"
    assert [(c.domain.code, c.origin) for c in found.candidates if c.domain] == [("US", "address"), ("DE", "given")]
    assert of("https://www.amazon.de/dp/B0D8W1YVBX", DE).status == "resolved"


def test_the_marketplace_says_where_it_comes_from() -> None:
    assert [(c.domain.code, c.origin) for c in of("B0D8W1YVBX").candidates if c.domain] == [("US", "default")]
    assert [(c.domain.code, c.origin) for c in of("B0D8W1YVBX", DE).candidates if c.domain] == [("DE", "given")]


def test_a_kind_that_does_not_fit_says_what_it_can_be() -> None:
    found = of("B0D8W1YVBX", kind="seller")
    assert found.status == "unknown" and found.problem == "it can be a product, not a seller"
    assert meanings("B0D8W1YVBX", kind="keyword") == ("resolved", [("keyword", "B0D8W1YVBX")])


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=40) | st.from_regex(r"[0-9A-Za-z]{8,15}", fullmatch=True) | st.from_regex(
    r"https://www\.amazon\.(com|de|fr)/[a-zA-Z0-9/?=&%:,]{0,40}", fullmatch=True))  # fmt: skip
def test_no_text_raises_and_the_status_follows_from_the_candidates(text: str) -> None:
    found = of(text)
    expected = {0: "unknown", 1: "resolved"}.get(len(found.candidates), "ambiguous")
    assert found.status == expected
    assert bool(found.problem) == (found.status == "unknown")
    assert {c.kind for c in found.candidates} <= set(KINDS)


@settings(max_examples=100, deadline=None)
@given(st.integers(10**11, 10**12 - 1).map(str))
def test_a_code_with_a_right_check_digit_is_found(body: str) -> None:
    assert ("code", body + check_digit(body)) in meanings(body + check_digit(body))[1]
