"""Waiting for tokens so that whoever watches sees how long it takes."""

from __future__ import annotations

import math

from keepa_cli.core.context import Context
from keepa_cli.engine.call import InterruptedWait


def count_down(seconds: float, ctx: Context, label: str) -> None:
    """Sleep, and tell the time that is left: every half minute, then every ten seconds, then at five.

    Ctrl-C becomes `InterruptedWait`: no request is under way.
    """
    until, left = ctx.monotonic() + seconds, seconds
    while left > 0:
        ctx.tell(f"{label} in {clock(left)}.")
        nap = left - _next_stop(left)
        try:
            ctx.sleep(nap)
        except KeyboardInterrupt:
            raise InterruptedWait from None
        left = min(left - nap, until - ctx.monotonic())


def clock(seconds: float) -> str:
    """`1 h 05 min`, `4 min 30 s`, `12 s`; rounded up, so that 0 s is never shown."""
    whole = math.ceil(seconds)
    minutes, rest = divmod(whole, 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def _next_stop(left: float) -> float:
    step = 30 if left > 60 else 10 if left > 10 else 5
    return (math.ceil(left / step) - 1) * step
