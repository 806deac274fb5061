"""One accepted step by Runge-Kutta-England, which is also how the predictor-corrector gets its first points."""

from __future__ import annotations

from collections.abc import Generator

from tidegate.executive.monitor.motion import Motion
from tidegate.executive.monitor.tracks import Track
from tidegate.executive.monitor.troubles import Trouble
from tidegate.integrators.classical import england

__all__ = ["england_step"]

# positions in Track.y and .f of the points -1, 0, 1, 2, 3 of the history
_BEFORE, _ZERO, _ONE, _TWO, _THREE = 1, 2, 3, 4, 5


def england_step(motion: Motion) -> Generator[Trouble, None, bool]:
    """Take a step, smaller ones until one is accepted; False if the user had to repair something, and may have chosen another method."""
    _begin(motion)
    while True:
        _stages(motion)
        failing, allowed, quotient = _judge(motion)
        if failing is None:
            _finish(motion, quotient)
            return True
        motion.counters.rk_rejected += 1
        if _can_be_smaller(motion):
            _make_smaller(motion, failing)
        else:
            yield motion.step_too_long("rk", failing, allowed)
            _go_back(motion)
            return False


def _begin(motion: Motion) -> None:
    """The start of the step: k1, and a point of the history."""
    motion.last_fixed = 0.0
    if motion.is_first:
        motion.spacing = 0.5 * motion.step
    start = _BEFORE if motion.is_first else _ONE
    for track in motion.variables:
        track.begin_step()
        track.y[start], track.f[start] = track.old, track.variable.rate
        track.k1 = motion.spacing * track.variable.rate


def _stages(motion: Motion) -> None:
    """k2 to k8, which are what the estimate needs."""
    variables, h = motion.variables, motion.spacing
    middle = _ZERO if motion.is_first else _TWO
    for track in variables:
        track.variable.state = track.old + england.second(track.k1)
    dt = 0.5 * h
    motion.evaluate_at(motion.lasttime + dt, dt)
    for track in variables:
        track.k2 = h * track.variable.rate
        track.variable.state = track.old + england.third(track.k1, track.k2)
    motion.evaluate()
    for track in variables:
        track.k3 = h * track.variable.rate
        track.variable.state = track.old + england.fourth(track.k2, track.k3)
    motion.evaluate_at(motion.lasttime + h, h)
    for track in variables:
        track.k4 = h * track.variable.rate
        track.d = england.middle(track.k1, track.k3, track.k4)
        track.variable.state = track.old + track.d
    motion.evaluate()
    for track in variables:
        track.y[middle], track.f[middle] = track.variable.state, track.variable.rate
        track.k5 = h * track.variable.rate
        track.variable.state = track.old + england.sixth(track.d, track.k5)
    dt = 1.5 * h
    motion.evaluate_at(motion.lasttime + dt, dt)
    for track in variables:
        track.k6 = h * track.variable.rate
        track.variable.state = track.old + england.seventh(track.d, track.k5, track.k6)
    motion.evaluate()
    for track in variables:
        track.k7 = h * track.variable.rate
        track.variable.state = track.old + england.eighth(track.d, track.k2, track.k3, track.k4, track.k5, track.k6, track.k7)
    motion.evaluate_at(motion.end, motion.step)
    for track in variables:
        track.k8 = h * track.variable.rate


def _judge(motion: Motion) -> tuple[Track | None, float, float]:
    """The first variable with a greater error than is allowed and what is; else the least quotient of allowed and estimated errors."""
    quotient: float = england.MOST
    for track in motion.variables:
        track.err = england.estimate(track.k1, track.k3, track.k4, track.k5, track.k7, track.k8)
        allowed = track.allowed(track.old + track.d)
        if track.is_beyond(allowed):
            return track, allowed, quotient
        quotient = track.lesser(quotient, allowed)
        track.variable.state = track.old + england.ninth(track.d, track.k6, track.k7)
    return None, 0.0, quotient


def _can_be_smaller(motion: Motion) -> bool:
    settings = motion.settings
    if settings.method == "pc":
        return motion.halvings < settings.max_halvings
    return settings.method == "rke" and motion.step > settings.dtmin


def _make_smaller(motion: Motion, failing: Track) -> None:
    """Half the step, or the least one; k1 shrinks with it, and is not evaluated again."""
    settings, h = motion.settings, motion.spacing
    if settings.method == "rke" and h < settings.dtmin:
        # the step itself becomes dtmin, not only the proposal, or it would be tried again and again
        fraction = settings.dtmin / motion.step
        motion.step = motion.proposal = settings.dtmin
    else:
        fraction = 0.5
        motion.step = motion.proposal = h
        motion.halvings += 1
        if not motion.is_first:
            _regrid(motion, h)
    motion.end = motion.end_after(motion.step)
    motion.spacing = 0.5 * motion.step
    for track in motion.variables:
        track.k1 = fraction * track.k1
    motion.variables.bring_forward(failing)


def _regrid(motion: Motion, h: float) -> None:
    """The first of two steps is put on the finer grid of the second, instead of being taken again; h is the old spacing."""
    motion.counters.rk_regrids += 1
    for track in motion.variables:
        y, f = track.y, track.f
        track.variable.state = england.regridded(y[_ONE], y[_ZERO], y[_BEFORE], f[_ONE], f[_ZERO], f[_BEFORE], h)
        y[_BEFORE], f[_BEFORE] = y[_ZERO], f[_ZERO]
    dt = -(0.5 * h)
    motion.evaluate_at(motion.lasttime + dt, dt)
    for track in motion.variables:
        track.y[_ZERO], track.f[_ZERO] = track.variable.state, track.variable.rate


def _go_back(motion: Motion) -> None:
    """After a repair: everything as at the start of the step, and a length for the next attempt."""
    settings = motion.settings
    start = _BEFORE if motion.is_first else _ONE
    for track in motion.variables:
        track.variable.state, track.variable.rate = track.y[start], track.f[start]
        track.restart()
    motion.time, motion.dt = motion.lasttime, 0.0
    motion.is_first = True
    if settings.limits_retry:
        motion.limit()


def _finish(motion: Motion, quotient: float) -> None:
    """The accepted step: k9, its end, and the step to try next."""
    settings, h = motion.settings, motion.spacing
    motion.evaluate()
    for track in motion.variables:
        track.add(england.increment(track.err, track.d, track.k5, track.k7, h * track.variable.rate))
    motion.evaluate()
    motion.counters.rk_accepted += 1
    motion.last = "rk"
    if settings.method != "pc":
        motion.proposal = england.following(motion.step, motion.proposal, quotient, settings.dtmax)
    elif motion.is_first:
        motion.is_first = False
        motion.proposal = motion.step
    else:
        for track in motion.variables:
            track.y[_THREE], track.f[_THREE] = track.variable.state, track.variable.rate
        motion.is_pc = motion.is_first = True
        motion.known = 5
        motion.proposal = settings.dtmax
