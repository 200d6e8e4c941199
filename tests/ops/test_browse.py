"""browse snapshot: pages all or nothing, foreign files left alone, nothing loaded from anywhere."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.research.product.made import body, days, product
from tests.research.reports.support import HOSTILE
from tests.support.remote import call, refusal
from tests.support.views import problems

NAME = "browse.snapshot"
SERIES = {"new": days((300, 1999), (200, -1), (180, 1899)), "sales_rank": days((400, 500), (30, 300))}


def two(**members: Any) -> dict[str, Any]:
    return body(product(SERIES, **members), product(asin="B00BBBBBB2", title="Other pot"))


def made(home: Path, data: Any, **params: Any) -> dict[str, Any]:
    result = call(NAME, home, {"payload": data, "out_dir": "site", "no_figures": True} | params)
    assert result["ok"], result
    assert problems(result["data"]) == []
    return dict(result["data"])


def files(home: Path) -> dict[str, bytes]:
    root = home / "work/site"
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file() and p.name[0] != "."}


def test_a_page_for_every_product_and_its_data(home: Path) -> None:
    data = made(home, two())
    found = files(home)
    assert set(found) == {
        "index.html", "compare.html", "graph.html", "sources.html", "snapshot.json",
        *(f"{folder}/{asin}.{end}" for asin in ("B00AAAAAA1", "B00BBBBBB2")
          for folder, end in (("products", "html"), ("data", "json"))),
    }  # fmt: skip
    assert data["files"] == len(found) and data["output"]["path"] == str(home / "work/site/index.html")
    assert json.loads(found["data/B00AAAAAA1.json"])["csv"][1] == SERIES["new"]
    page = found["products/B00AAAAAA1.html"].decode()
    for text in ("18.99 USD", "Changes over windows", "Newest points", "Missing data", "Evidence", "$.products[0].csv"):
        assert text in page
    index = found["index.html"].decode()
    assert index.count("<tr data-words=") == 2 and 'href="products/B00BBBBBB2.html"' in index


def test_every_link_leads_to_a_page_and_nothing_is_loaded(home: Path) -> None:
    made(home, two(), no_figures=True)
    found = files(home)
    for name, content in found.items():
        if not name.endswith(".html"):
            continue
        page = content.decode()
        levels = [int(n) for n in re.findall(r"<h([1-6])", page)]
        assert all(after <= before + 1 for before, after in pairwise(levels)), name
        assert '<html lang="en">' in page and page.count("<h1") == 1 and 'name="viewport"' in page
        for attribute, target in re.findall(r'\s(href|src)="([^"]*)"', page):
            assert attribute == "href", (name, target)
            if target.startswith("https://"):
                assert re.fullmatch(r"https://www\.amazon\.com/dp/[0-9A-Z]{10}", target)
                assert f'href="{target}" rel="noopener noreferrer"' in page
            elif not target.startswith("#"):
                folder = Path(name).parent
                assert (folder / target).as_posix().replace("products/../", "") in found, (name, target)


def test_the_policy_names_exactly_what_the_page_holds(home: Path) -> None:
    made(home, two())
    for name, content in files(home).items():
        if name.endswith(".html"):
            page = content.decode()
            policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])  # type: ignore[index]
            assert policy.startswith("default-src 'none'") and "unsafe" not in policy and "http" not in policy
            held = re.findall(r"<(?:style|script)>(.*?)</(?:style|script)>", page, re.S)
            hashes = [base64.b64encode(hashlib.sha256(h.encode()).digest()).decode() for h in held]
            assert re.findall(r"'sha256-([^']+)'", policy) == hashes
            assert not re.search(r"\son[a-z]+=|\sstyle=", page)


def test_a_second_run_gives_the_same_bytes_and_removes_stale_pages(home: Path) -> None:
    made(home, two())
    first = files(home)
    assert made(home, two())["removed"] == [] and files(home) == first
    data = made(home, body(product(SERIES)))
    assert sorted(data["removed"]) == ["compare.html", "data/B00BBBBBB2.json", "products/B00BBBBBB2.html"]
    assert "products/B00BBBBBB2.html" not in files(home) and "products/B00AAAAAA1.html" in files(home)


def test_foreign_files_are_left_alone_and_never_overwritten(home: Path) -> None:
    site = home / "work/site"
    (site / "products").mkdir(parents=True)
    (site / "products/notes.html").write_text("mine", encoding="utf-8")
    (site / "index.html").write_text("mine", encoding="utf-8")
    error = refusal(call(NAME, home, {"payload": two(), "out_dir": "site", "no_figures": True}))
    assert error["kind"] == "io_error" and "in the way" in error["message"]
    assert files(home) == {"products/notes.html": b"mine", "index.html": b"mine"}
    (site / "index.html").unlink()
    made(home, two())
    made(home, body(product(SERIES)))
    assert files(home)["products/notes.html"] == b"mine"


def test_a_page_that_somebody_changed_is_neither_replaced_nor_removed(home: Path) -> None:
    made(home, two())
    page = home / "work/site/products/B00BBBBBB2.html"
    page.write_text("my notes", encoding="utf-8")
    before = files(home)
    assert refusal(call(NAME, home, {"payload": two(), "out_dir": "site", "no_figures": True}))["kind"] == "io_error"
    assert files(home) == before
    assert "products/B00BBBBBB2.html" not in made(home, body(product(SERIES)))["removed"]
    assert page.read_text(encoding="utf-8") == "my notes"


@pytest.mark.parametrize("name", ["../victim.html", "notes.txt", "products/../../victim.html", "/etc/hostname"])
def test_a_list_of_pages_is_not_believed_beyond_our_pages(home: Path, name: str) -> None:
    site = home / "work/site"
    site.mkdir()
    victims = [home / "work/victim.html", site / "notes.txt"]
    for victim in victims:
        victim.write_text("keep", encoding="utf-8")
    listed = {name: hashlib.sha256(b"keep").hexdigest()}
    (site / "snapshot.json").write_text(json.dumps({"view": "browse_site", "files": listed}), encoding="utf-8")
    call(NAME, home, {"payload": two(), "out_dir": "site", "no_figures": True})
    assert all(v.read_text(encoding="utf-8") == "keep" for v in victims)


def test_links_are_never_written_through(home: Path) -> None:
    site, outside = home / "work/site", home / "outside"
    site.mkdir()
    outside.mkdir()
    try:
        (site / "products").symlink_to(outside, target_is_directory=True)
    except OSError:
        pytest.skip("links cannot be made here")
    assert refusal(call(NAME, home, {"payload": two(), "out_dir": "site", "no_figures": True}))["kind"] == "io_error"
    assert list(outside.iterdir()) == [] and not (site / "index.html").exists()


def test_hostile_texts_stay_text(home: Path) -> None:
    made(home, two(title=HOSTILE, brand=HOSTILE), title=HOSTILE)
    for name, content in files(home).items():
        if name.endswith(".html"):
            page = content.decode()
            assert len(re.findall("<script", page)) == (name == "index.html"), name
            assert "<img" not in page and "\u202e" not in page and "\u0007" not in page
    assert json.loads(files(home)["data/B00AAAAAA1.json"])["title"] == HOSTILE


def test_every_product_has_its_figures_inline(home: Path) -> None:
    data = made(home, two(), no_figures=False, theme="light")
    assert {f["product"] for f in data["figures"]} == {"", "B00AAAAAA1", "B00BBBBBB2"}
    page = files(home)["products/B00AAAAAA1.html"].decode()
    assert page.count("<svg ") == 3 and 'id="figure-history-B00AAAAAA1"' in page
    assert "<svg " in files(home)["compare.html"].decode() and "<svg " in files(home)["graph.html"].decode()


def test_what_cannot_be_shown_is_refused(home: Path) -> None:
    assert refusal(call(NAME, home, {"out_dir": "site"}))["kind"] == "missing_inputs"
    assert refusal(call(NAME, home, {"out_dir": "site", "payload": {"a": 1}}))["kind"] == "missing_inputs"
    (home / "work/file").write_text("x", encoding="utf-8")
    assert refusal(call(NAME, home, {"out_dir": "file", "payload": two()}))["kind"] == "invalid_arguments"
    assert refusal(call(NAME, home, {"payload": two()}))["kind"] == "invalid_arguments"


def test_one_asin_in_two_marketplaces_has_two_pages(home: Path) -> None:
    data = body(product(SERIES), product(SERIES, domainId=3))
    found = made(home, data)
    assert [p["domain"] for p in found["products"]] == ["US", "DE"]
    pages = [Path(p["path"]).read_text(encoding="utf-8") for p in found["products"]]
    assert "18.99 USD" in pages[0] and "18.99 EUR" in pages[1] and "USD" not in pages[1]
    index, compare = (files(home)[n].decode() for n in ("index.html", "compare.html"))
    targets = {f"products/{Path(p['path']).name}" for p in found["products"]}
    for page in (index, compare):
        assert set(re.findall(r'href="(products/[^"]*)"', page)) == targets and len(targets) == 2
