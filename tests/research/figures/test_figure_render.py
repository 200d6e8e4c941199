"""What comes out of the renderer: both themes, no reference to anything outside, the same bytes every time."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET

import pytest

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.research.figures import render
from keepa_cli.research.figures.model import WIDTH
from keepa_cli.research.figures.theme import PALETTES, THEMES
from tests.research.figures.support import A, made
from tests.research.product.made import body, days, product

TITLE = "</text><script>alert('x')</script>\u202e\x07\ud800 & <b>日本語"
HISTORY = f"history-{A}"


def test_an_svg_has_its_theme_its_size_and_no_reference_to_the_outside() -> None:
    figure = made(
        body(product({"new": days((300, 1999), (200, -1), (100, 1899), (50, 999_900), (49, 1899))}, title=TITLE))
    )[HISTORY]
    light, dark = (render.svg(render.themed(figure, theme)) for theme in THEMES)
    for theme, drawn in zip(THEMES, (light, dark), strict=True):
        text = drawn.decode()
        assert PALETTES[theme].background in text
        assert re.findall(r"https?://[^\"' <]+", text) == ["http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"]
        assert "<script" not in text and "<image" not in text and "href=" not in text
        assert not re.search("[\u202e\x00-\x08]", text)
        assert "&lt;/text&gt;&lt;script&gt;" in text and "日本語" in text
        root = ET.fromstring(text)
        assert abs(float(root.attrib["width"]) - WIDTH) <= 6
        assert render.size(drawn) == (int(root.attrib["width"]), int(root.attrib["height"]))
    assert light != dark
    ids, shared = (set(re.findall(rb'id="([^"]+)"', drawn)) for drawn in (light, dark))
    assert ids and not ids & shared, "two figures of one page share no id"
    assert set(re.findall(rb"url\(#([^)]+)\)", light)) == ids
    assert render.svg(render.themed(figure, "light")) == light, "drawn again, after others"


def test_a_png_has_twice_the_pixels() -> None:
    figure = made(body(product()), figure_set="history")[f"windows-{A}"]
    spec = render.themed(figure, "light")
    drawn = render.svg(spec)
    width, height = render.size(drawn)
    assert render.size(render.png(spec, drawn)) == (2 * width, 2 * height)


def test_figures_name_roles_and_the_theme_gives_the_colours() -> None:
    for figure in made(body(product(asin=A), product(asin="B00BBBBBB2"))).values():
        assert not re.search(r"#[0-9a-fA-F]{6}", repr(figure.spec)), figure.name


@pytest.mark.parametrize("theme", THEMES)
def test_text_can_be_read_on_its_ground(theme: str) -> None:
    p = PALETTES[theme]
    for ground in (p.background, p.panel):
        assert contrast(p.text, ground) >= 7 and contrast(p.muted, ground) >= 4.5
        assert all(contrast(c, ground) >= 3 for c in p.category[:6])
    assert contrast(p.text, p.diverging[2]) >= 7
    assert all(contrast(p.on_strong, p.diverging[i]) >= 4.5 for i in (0, -1))
    assert contrast(p.on_strong, p.severity[3]) >= 4.5
    assert all(contrast(p.text, c) >= 3 for c in (*p.severity[:3], p.severity[4]))


def contrast(a: str, b: str) -> float:
    """The contrast ratio of two colours (WCAG 2)."""
    high, low = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_without_the_extra_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(KeepaCliError) as refused:
        render.renderer()
    assert refused.value.kind is Kind.MISSING_INPUTS
    assert refused.value.next_actions == ['pip install "keepa-cli[figures]"']
    assert "extra figures" in refused.value.message
