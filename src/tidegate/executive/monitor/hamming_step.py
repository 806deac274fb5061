"""One accepted step by Hamming's predictor-corrector, with the history it keeps: refined, halved, doubled, given up behind a discontinuity."""

from __future__ import annotations

from collections.abc import Generator

from tidegate.executive.monitor.motion import Motion
from tidegate.executive.monitor.tracks import Track
from tidegate.executive.monitor.troubles import Trouble
from tidegate.integrators.classical import hamming

__all__ = ["hamming_step"]


def hamming_step(motion: Motion) -> Generator[Trouble, None, bool]:
    """Take a step, smaller ones until one is accepted; False if the user had to repair something, and may have chosen another method."""
    if motion.last != "pc":
        _refine(motion)
    while True:
        _predict(motion)
        failing, allowed, quotient = _judge(motion)
        if failing is None:
            motion.evaluate()
            motion.counters.pc_accepted += 1
            _keep(motion, quotient)
            motion.last = "pc"
            return True
        motion.counters.pc_rejected += 1
        motion.variables.bring_forward(failing)
        motion.halvings += 1
        if motion.halvings <= motion.settings.max_halvings:
            _halve(motion)
        else:
            yield motion.step_too_long("pc", failing, allowed)
            _go_back(motion)
            return False


def _refine(motion: Motion) -> None:
    """Better starting values than those of Runge-Kutta: each uses what is improved already."""
    h = motion.spacing
    motion.counters.refinements += 1
    motion.last = "pc"  # once: a first step that is refused is halved like any other
    motion.last_fixed = 0.0
    for track in motion.variables:
        track.increment = track.remainder = track.pc = 0.0
        _, _, f0, f1, f2, f3 = track.f
        _place(track, 3, hamming.refined_1(track.y[2], f0, f1, f2, f3, h))
    motion.evaluate_at(motion.lasttime - 2 * h, -2 * h)
    for track in motion.variables:
        track.f[3] = track.variable.rate
        _place(track, 4, hamming.refined_2(track.y[2], track.f[2], track.f[3], track.f[4], h))
    motion.evaluate_at(motion.lasttime - h, -h)
    for track in motion.variables:
        track.f[4] = track.variable.rate
        _place(track, 5, hamming.refined_3(track.y[2], track.f[2], track.f[3], track.f[4], track.f[5], h))
    motion.evaluate_at(motion.lasttime, 0.0)
    for track in motion.variables:
        track.f[5] = track.variable.rate


def _place(track: Track, position: int, state: float) -> None:
    """A point of the history, where the bodies are to look at it."""
    track.y[position] = track.variable.state = state


def _predict(motion: Motion) -> None:
    """The prediction, mended, at the end of the step."""
    h = motion.spacing
    for track in motion.variables:
        _, _, _, f1, f2, f3 = track.f
        track.old = track.variable.laststate = track.y[5]
        track.p = hamming.predicted(track.y[2], f1, f2, f3, h)
        track.variable.state = hamming.modified(track.p, track.pc)
    motion.evaluate_at(motion.end, motion.step)


def _judge(motion: Motion) -> tuple[Track | None, float, float]:
    """The first variable with a greater error than is allowed and what is; else the least quotient of allowed and estimated errors."""
    h, quotient = motion.spacing, float(hamming.MOST)
    for track in motion.variables:
        variable = track.variable
        track.c = hamming.corrected(track.y[3], track.y[5], track.f[4], track.f[5], variable.rate, h)
        track.err = track.p - track.c
        variable.state = hamming.improved(track.c, track.err)
        allowed = track.allowed(variable.state)
        if track.is_beyond(allowed):
            return track, allowed, quotient
        quotient = track.lesser(quotient, allowed)
    return None, 0.0, quotient


def _keep(motion: Motion, quotient: float) -> None:
    """The history with the new point, and whether the next step is double, ordinary, or a new start."""
    settings = motion.settings
    is_past = hamming.is_past(quotient, motion.halvings, settings.disc_halvings, motion.is_halved)
    if not is_past and hamming.may_double(quotient, motion.known, 2 * motion.spacing, settings.dtmax):
        _double(motion)
        return
    for track in motion.variables:
        track.y[:5], track.f[:5] = track.y[1:], track.f[1:]
        track.y[5], track.f[5] = track.variable.state, track.variable.rate
        track.pc = track.err
    motion.known += 1
    motion.is_halved = False
    if is_past:
        motion.counters.discontinuities += 1
        motion.is_pc, motion.is_first = False, True
        motion.halvings = 0


def _double(motion: Motion) -> None:
    """Every second point becomes the history; the step is taken as one from the point before its start."""
    motion.counters.doublings += 1
    h = 2 * motion.spacing
    motion.lasttime = motion.lasttime - motion.spacing
    motion.step = motion.dt = motion.spacing = h
    motion.known = 4
    motion.halvings -= 1
    for track in motion.variables:
        y, f, variable = track.y, track.f, track.variable
        y[2], y[3], y[5] = y[0], y[2], variable.state
        f[2], f[3], f[5] = f[0], f[2], variable.rate
        track.old = variable.laststate = y[4]
        track.pc = hamming.difference(y[2], y[5], f[2], f[3], f[4], f[5], h)


def _halve(motion: Motion) -> None:
    """Two points between the old ones, from the old ones, and the step again with half the spacing."""
    h = motion.spacing
    half = 0.5 * h
    for track in motion.variables:
        _, _, y0, y1, y2, y3 = track.y
        _, _, _, f1, f2, f3 = track.f
        track.variable.state = hamming.halved_far(y0, y1, y2, y3, f1, f2, f3, h)
    motion.evaluate_at(motion.lasttime - 3 * half, -3 * half)
    for track in motion.variables:
        _, _, y0, y1, y2, y3 = track.y
        _, _, _, f1, f2, f3 = track.f
        far, far_rate = track.variable.state, track.variable.rate
        track.variable.state = hamming.halved_near(y0, y1, y2, y3, f1, f2, f3, h)
        track.y[1:4] = [y1, far, y2]
        track.f[1:4] = [f1, far_rate, f2]
    motion.evaluate_at(motion.lasttime - half, -half)
    motion.step = motion.spacing = half
    for track in motion.variables:
        y, f = track.y, track.f
        y[4], f[4] = track.variable.state, track.variable.rate
        track.pc = hamming.difference(y[2], y[5], f[2], f[3], f[4], f[5], half)
    motion.end = motion.end_after(half)
    motion.known = 5
    motion.is_halved = True


def _go_back(motion: Motion) -> None:
    """After a repair: the same step, or, for another method or a dtmax that the history is too wide for, everything as at its start."""
    if motion.settings.limits_retry:
        motion.limit()
    if motion.settings.method == "pc" and motion.is_pc:
        return
    for track in motion.variables:
        track.variable.state, track.variable.rate = track.y[5], track.f[5]
        track.restart()
    motion.time, motion.dt = motion.lasttime, 0.0
    motion.is_pc, motion.is_first = False, True
