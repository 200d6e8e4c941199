from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.research.history.downsample import essential, keep

histories = st.lists(st.tuples(st.integers(0, 500), st.integers(-1, 9)), max_size=60, unique_by=lambda p: p[0]).map(
    sorted
)


@settings(max_examples=150)
@given(histories, st.integers(2, 40))
def test_ends_extremes_and_stock_outs_are_always_kept(points: list[tuple[int, int]], most: int) -> None:
    times, values = [t for t, _ in points], [v for _, v in points]
    kept = keep(times, values, most)
    assert kept == sorted(set(kept))
    assert len(kept) <= max(most, len(essential(values)))
    if len(points) <= most:
        assert kept == list(range(len(points)))
    if not points:
        return
    assert {0, len(points) - 1} <= set(kept)
    known = [v for v in values if v >= 0]
    if known:
        assert {min(known), max(known)} <= {values[i] for i in kept}
    turns = [(i - 1, i) for i, (a, b) in enumerate(pairwise(values), 1) if (a < 0) != (b < 0)]
    assert {i for turn in turns for i in turn} <= set(kept)


def test_what_room_is_left_goes_to_the_peaks_of_each_stretch() -> None:
    values = [5] * 100
    values[30], values[70], values[90], values[10] = 9, 1, 7, 3
    kept = keep(list(range(100)), values, 12)
    assert {10, 30, 70, 90} <= set(kept)
    assert len(kept) <= 12
