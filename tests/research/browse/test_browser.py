"""The pages in a real browser: search and sort work, nothing is blocked, nothing overflows a phone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.research.browse import browser
from tests.research.product.made import body, days, product
from tests.research.reports.support import HOSTILE
from tests.support.remote import call

A, B, C, D = "B00AAAAAA1", "B00BBBBBB2", "B00CCCCCC3", "B00DDDDDD4"
PROBE = (
    "<script>document.documentElement.setAttribute('data-wide',"
    "document.documentElement.scrollWidth>document.documentElement.clientWidth);</script>"
)


@pytest.fixture
def site(home: Path) -> Path:
    browser.chromium()
    prices = {A: 1999, B: 949, C: 10450}
    made = [
        product({"new": days((300, n)), "buy_box": None}, asin=asin, title=f"{HOSTILE} kettle {asin}")
        for asin, n in prices.items()
    ]
    made.append(product({"new": days((300, -1)), "buy_box": None}, asin=D, title="A" * 300, categoryTree=[]))
    result = call(
        "browse.snapshot", home, {"payload": body(*made), "out_dir": "site", "no_figures": True, "title": HOSTILE}
    )
    assert result["ok"], result
    return home / "work/site"


def rows(page: str) -> list[tuple[str, bool]]:
    """(ASIN, whether it is shown) of the rows in the order in which they stand."""
    found = re.findall(r"<tr data-words=[^>]*?(hidden=\"\")?>.*?products/(\w+)\.html", page, re.S)
    return [(asin, not hidden) for hidden, asin in found]


def test_search_and_sort_work_from_a_file(site: Path, tmp_path: Path) -> None:
    index = site / "index.html"
    page = browser.dom(tmp_path / "p", index, "#sort=price&dir=asc")
    assert rows(page) == [(B, True), (A, True), (C, True), (D, True)]
    assert re.search(r'aria-sort="ascending"[^>]*><button type="button" data-sort="price"', page)
    page = browser.dom(tmp_path / "p", index, "#q=KETTLE+b00&sort=price&dir=desc")
    assert rows(page) == [(C, True), (A, True), (B, True), (D, False)]
    assert ">3 of 4</output>" in page and 'id="none" hidden' in page


def test_pages_fit_a_phone_and_hostile_titles_do_nothing(site: Path, tmp_path: Path) -> None:
    """The probe is a script of the test: the policy of the page is taken out of the copy that it looks at."""
    for name in ("index.html", f"products/{D}.html"):
        text = re.sub(r"<meta http-equiv[^>]*>", "", (site / name).read_text(encoding="utf-8"))
        copy = site / "probe.html"
        copy.write_text(text.replace("</body>", PROBE + "</body>"), encoding="utf-8")
        page = browser.dom(tmp_path / "p", copy, width=390, height=844)
        assert 'data-wide="false"' in page, name
        assert "onerror=alert(1)&gt;" in page or name != "index.html"


def test_a_dark_screen_gets_dark_pages(site: Path, tmp_path: Path) -> None:
    light = browser.screenshot(tmp_path / "p", site / "compare.html", 390, 844)
    dark = browser.screenshot(tmp_path / "p", site / "compare.html", 390, 844, browser.DARK)
    assert light != dark
