"""Regula falsi with the weights of Illinois (Dowell and Jarratt 1971), a step at a time, for loops that differ only in what they evaluate."""

from __future__ import annotations

from tidegate.compiled.jit import native

__all__ = ["narrowed", "secant"]


@native
def secant(low, at_low, high, at_high, least):
    """Where the secant through both ends is zero, the middle if nobody knows; nearer to no end than half of ``least``.

    So the zero comes to lie between two places that are ``least`` apart where one of them is the zero but for rounding.
    """
    theta = high - at_high * (high - low) / (at_high - at_low)
    if not low <= theta <= high:
        theta = 0.5 * (low + high)
    return min(max(theta, low + 0.5 * least), high - 0.5 * least)


@native
def narrowed(low, at_low, high, at_high, side, theta, value):
    """Both ends with their values, and which was moved last (1 low, -1 high), after a value in between; the low end keeps the positive one."""
    if value > 0.0:
        return theta, value, high, 0.5 * at_high if side == 1 else at_high, 1
    return low, 0.5 * at_low if side == -1 else at_low, theta, value, -1
