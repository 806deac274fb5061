"""Inside a step: states from its polynomial, as samples and the search for state events want them."""

from __future__ import annotations

from tidegate.executive.monitor.motion import Motion
from tidegate.integrators.classical import england, hamming
from tidegate.integrators.classical.polynomial import cubic

__all__ = ["build", "go_to_end", "go_to_probe", "look_at"]


def build(motion: Motion) -> None:
    """Make the polynomials of the step, once; to be called at its end, whose rates they need."""
    if motion.has_polynomial:
        return
    motion.has_polynomial = True
    motion.full = motion.step
    h = motion.spacing
    for track in motion.variables:
        rate = track.variable.rate
        if motion.last == "pc":
            y1, y2, y3 = track.y[3:]
            f1, f2, f3 = track.f[3:]
            track.polynomial = hamming.polynomial(y1, y2, y3, f1, f2, f3, h)
        elif motion.last == "rk":
            track.polynomial = england.polynomial(track.k1, track.k5, h * rate, track.d, track.err, track.increment)
        else:
            track.polynomial = cubic(track.k1, motion.step * rate, track.increment)


def look_at(motion: Motion, time: float) -> None:
    """To a time inside the step, which itself stays as it is."""
    motion.time, motion.dt = time, (time - motion.lasttime) - motion.remainder
    if motion.bodies:
        for track in motion.variables:
            track.go_inside(motion.dt / motion.full)
        motion.evaluate()


def go_to_probe(motion: Motion, dt: float, time: float) -> None:
    """To a time at which the step may end."""
    motion.time, motion.dt = time, dt
    if motion.bodies:
        for track in motion.variables:
            track.end_inside(dt / motion.full)
        motion.counters.probes += 1
        motion.evaluate()


def go_to_end(motion: Motion) -> None:
    """Back to the end of the step, wherever that is now."""
    motion.time, motion.dt = motion.end, motion.step
    if motion.bodies:
        for track in motion.variables:
            if motion.last == "pc" and not motion.is_searched:
                # the predictor-corrector has no increment: its own point, not the step's start
                track.variable.state = track.y[5]
            else:
                track.add(track.increment)
        motion.evaluate()
