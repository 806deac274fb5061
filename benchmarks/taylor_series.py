"""tidegate's Taylor method beside heyoka, which has the same method: models with events and smooth ones, both prepared once and run again and again.

In: nothing. Out: ``Pair`` records. heyoka's events carry out their resets in Python, as its interface has it; its order is tied to the tolerance.
Both run in turn; of each the shortest time counts. heyoka is asked for the end of the run only. tidegate gives a ``Result`` with the end and the
events, or, as ``whole``, with every step and its polynomial as well.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.own import load
from benchmarks.problems import GOLDEN

if TYPE_CHECKING:
    from tidegate.executive import Prepared

__all__ = ["CASES", "Case", "Pair", "pairs", "prepare"]

RTOL: Final = 1e-8
LEAST_SECONDS: Final = 2e-3  # of a timed piece of work
MOST_SECONDS: Final = 0.02  # of runs of one preparation
MOST_REPEATS: Final = 90  # likewise: behind a hundred it may look for machine code of its own
PERIOD: Final = 50e-6  # of P8's switch


@dataclass(frozen=True, slots=True)
class Case:
    """One problem for both.

    Parameters
    ----------
    model : for tidegate.
    rival : makes what runs it in heyoka; a run gives the state at the end and the number of events.
    names : of the unknowns at the end, in heyoka's order.
    end : the exact ones; none: what both must agree on.
    """

    title: str
    t_end: float
    model: Callable[[], Any]
    rival: Callable[[], Callable[[], tuple[Any, int]]]
    names: tuple[str, ...]
    end: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """Microseconds of both, errors and events of both.

    Parameters
    ----------
    own, whole : tidegate's run for the end, and that with every step; as ``Prepared.compile`` leaves them.
    prepared : tidegate's run for the end, without that.
    """

    title: str
    own: float
    whole: float
    prepared: float
    rival: float
    own_error: float
    rival_error: float
    own_events: int
    rival_events: int


def _ball() -> Callable[[], tuple[Any, int]]:
    import heyoka as hy

    h, v = hy.make_vars("h", "v")
    events = [0]

    def bounce(ta: Any, _sign: int) -> bool:
        ta.state[1] *= -0.8
        events[0] += 1
        return True

    event = hy.t_event(h, callback=bounce, direction=hy.event_direction.negative)
    ta = hy.taylor_adaptive([(h, v), (v, hy.expression(-9.81))], [1.0, 0.0], tol=RTOL, t_events=[event])

    def run() -> tuple[Any, int]:
        ta.time, events[0] = 0.0, 0
        ta.state[:] = 1.0, 0.0
        ta.reset_cooldowns()
        ta.propagate_until(3.5)
        return ta.state, events[0]

    return run


def _crossing() -> Callable[[], tuple[Any, int]]:
    import heyoka as hy

    x = hy.make_vars("x")
    mode = hy.par[0]
    events = [0]

    def flip(ta: Any, _sign: int) -> bool:
        ta.pars[0] = 1.0 - ta.pars[0]
        events[0] += 1
        return True

    event = hy.t_event(((x - 5.0) * x + 7.0) * x - 2.9, callback=flip)
    rate = (1.0 - mode) * (4.0 - x) + mode * (10.0 - 2.0 * x)
    ta = hy.taylor_adaptive([(x, rate)], [0.0], tol=RTOL, pars=[0.0], t_events=[event])

    def run() -> tuple[Any, int]:
        ta.time, events[0] = 0.0, 0
        ta.state[:], ta.pars[:] = 0.0, 0.0
        ta.reset_cooldowns()
        ta.propagate_until(2.0)
        return ta.state, events[0]

    return run


def _legs(cosine: Callable[[Any], Any], t: Any, x1: Any, x2: Any) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """Of P3 as an ODE by hand: the rates of its four legs A, C, B, C, and what ends them, by rising through zero."""
    v1 = 100.0 * cosine(100.0 * math.pi * t)
    v2 = -1.0 * v1
    both = 13.64 * v1 - 11.64 * v2 - 50.0 * x1, 13.64 * v2 - 11.64 * v1 - 50.0 * x2
    rates = [((v1 - 12.0 * x1) / 0.24, 0.0), both, (0.0, (v2 - 12.0 * x2) / 0.24), both]
    v3 = [10.0 * (x1 + x2) + 0.2 * (slope1 + slope2) for slope1, slope2 in rates]
    return rates, [v2 - v3[0], -1.0 * x1, v1 - v3[2], -1.0 * x2]


def _circuit_by_hand() -> Any:
    import tidegate as tg

    def leg(t: float, y: Any, d: Any) -> tuple[Any, Any, Any]:
        rates, ends = _legs(math.cos, t, y["x1"], y["x2"])
        if d["leg"] == 0.0:
            return *rates[0], ends[0]
        if d["leg"] == 1.0:
            return *rates[1], ends[1]
        if d["leg"] == 2.0:
            return *rates[2], ends[2]
        return *rates[3], ends[3]

    def rates(t: float, y: Any, d: Any) -> dict[str, Any]:
        slope1, slope2, _ = leg(t, y, d)
        return {"x1": slope1, "x2": slope2}

    ends = tg.event(lambda t, y, d: leg(t, y, d)[2] > 0.0, reset=lambda _t, _y, d: {"leg": (d["leg"] + 1.0) % 4.0})
    return tg.ode(rates, y0={"x1": 0.0, "x2": 0.0}, discrete={"leg": 0.0}, events=ends)


def _circuit() -> Callable[[], tuple[Any, int]]:
    import heyoka as hy

    x = hy.make_vars("x1", "x2")
    is_leg = [hy.par[k] for k in range(4)]
    rates, ends = _legs(hy.cos, hy.time, *x)
    events = [0]

    def go_on(ta: Any, _sign: int) -> bool:
        k = int(ta.pars.argmax())
        ta.pars[:] = [float(other == (k + 1) % 4) for other in range(4)]
        events[0] += 1
        return True

    slopes = [sum((part * rate[q] for part, rate in zip(is_leg, rates, strict=True)), hy.expression(0.0)) for q in range(2)]
    end = sum((part * one for part, one in zip(is_leg, ends, strict=True)), hy.expression(0.0))
    event = hy.t_event(end, callback=go_on, direction=hy.event_direction.positive)
    ta = hy.taylor_adaptive(list(zip(x, slopes, strict=True)), [0.0, 0.0], tol=RTOL, pars=[1.0, 0.0, 0.0, 0.0], t_events=[event])

    def run() -> tuple[Any, int]:
        ta.time, events[0] = 0.0, 0
        ta.state[:], ta.pars[:] = 0.0, (1.0, 0.0, 0.0, 0.0)
        ta.reset_cooldowns()
        ta.propagate_until(0.05)
        return ta.state, events[0]

    return run


def _buck() -> Callable[[], tuple[Any, int]]:
    import heyoka as hy

    v, i = hy.make_vars("v", "i")
    on, carries = hy.par[0], hy.par[1]
    events = [0]

    def stop(ta: Any, _sign: int) -> bool:
        if ta.pars[1] != 0.0:
            ta.pars[1], ta.state[1] = 0.0, 0.0
            events[0] += 1
        return True

    event = hy.t_event(i, callback=stop, direction=hy.event_direction.negative)
    rates = [(v, (i - v / 40.0) / 100e-6), (i, (on * 24.0 - carries * v) / 100e-6)]
    ta = hy.taylor_adaptive(rates, [0.0, 0.0], tol=RTOL, pars=[1.0, 1.0], t_events=[event])
    halves = round(0.05 / (0.5 * PERIOD))

    def run() -> tuple[Any, int]:
        ta.time, events[0] = 0.0, 0
        ta.state[:], ta.pars[:] = 0.0, 1.0
        ta.reset_cooldowns()
        for k in range(1, halves + 1):
            ta.propagate_until(0.5 * k * PERIOD)
            ta.pars[0] = 1.0 - ta.pars[0]  # also at the very end
            if ta.pars[0] == 1.0:
                ta.pars[1] = 1.0
            events[0] += 1
        return ta.state, events[0]

    return run


def _smooth(rates: Callable[[Any], list[Any]], start: list[float], t_end: float) -> Callable[[], Callable[[], tuple[Any, int]]]:
    def make() -> Callable[[], tuple[Any, int]]:
        import heyoka as hy

        y = hy.make_vars(*(f"y{k}" for k in range(len(start))))
        ta = hy.taylor_adaptive(list(zip(y, rates(y), strict=True)), start, tol=RTOL)

        def run() -> tuple[Any, int]:
            ta.time = 0.0
            ta.state[:] = start
            ta.propagate_until(t_end)
            return ta.state, 0

        return run

    return make


def _orbit(y: Any) -> list[Any]:
    x, z, u, v = y
    cubed = (x * x + z * z) ** 1.5
    return [u, v, -x / cubed, -z / cubed]


def _oscillator(y: Any) -> list[Any]:
    return [y[1], (1.0 - y[0] * y[0]) * y[1] - y[0]]


def _ring(y: Any) -> list[Any]:
    n = len(y)
    return [(y[(k + 1) % n] - y[k - 2]) * y[k - 1] - y[k] + 8.0 for k in range(n)]


def _chain(y: Any) -> list[Any]:
    """Ten pendulums, each bound to its neighbours."""
    sine: Any = np.sin
    if not isinstance(y, np.ndarray) and type(y[0]).__module__.startswith("heyoka"):
        import heyoka

        sine = heyoka.sin
    angle, rate = y[:10], y[10:]
    pulls = [sine(angle[k + 1] - angle[k]) if k < 9 else 0.0 for k in range(10)]
    return [*rate, *[pulls[k] - sine(angle[k]) - (pulls[k - 1] if k else 0.0) for k in range(10)]]


def _smooth_case(title: str, rates: Callable[[Any], list[Any]], start: list[float], t_end: float, end: tuple[float, ...] = ()) -> Case:
    def model() -> Any:
        import tidegate as tg

        return tg.ode(lambda t, y: rates([y[k] for k in range(len(start))]), y0=start)

    return Case(title, t_end, model, _smooth(rates, start, t_end), tuple(f"y[{k}]" for k in range(len(start))), end)


def _golden(key: str, *names: str) -> tuple[float, ...]:
    return tuple(float(GOLDEN[key]["end"][name]) for name in names)


CASES: Final = (
    Case("P1, bouncing ball", 3.5, lambda: load("P1"), _ball, ("h", "v"), _golden("P1", "h", "v")),
    Case("P2, hidden crossing", 2.0, lambda: load("P2"), _crossing, ("x",), _golden("P2", "x")),
    Case("P3, circuit by hand", 0.05, _circuit_by_hand, _circuit, ("x1", "x2"), _golden("P3", "x1", "x2")),
    Case("P8, buck converter", 0.05, lambda: load("P8"), _buck, ("v", "i")),
    _smooth_case("an orbit, ten turns", _orbit, [0.4, 0.0, 0.0, 2.0], 20.0 * math.pi, (0.4, 0.0, 0.0, 2.0)),
    _smooth_case("van der Pol, mu = 1", _oscillator, [2.0, 0.0], 50.0),
    _smooth_case("Lorenz' ring of 20", _ring, [8.0 + math.sin(k) for k in range(20)], 2.0),
    _smooth_case("Lorenz' ring of 250", _ring, [8.0 + math.sin(k) for k in range(250)], 2.0),
    _smooth_case("ten pendulums", _chain, [0.5 + 0.1 * k for k in range(10)] + [0.0] * 10, 10.0),
)


def prepare(case: Case) -> tuple[Prepared, Prepared]:
    """tidegate's run for the end only, and the one that gives every step and event."""
    import tidegate as tg

    options: dict[str, Any] = {"method": "taylor", "rtol": RTOL, "atol": 1e-2 * RTOL}
    model = case.model()
    end_only = tg.prepare(model, (0.0, case.t_end), outputs=(case.t_end,), event_rows=False, dense=False, **options)
    return end_only, tg.prepare(model, (0.0, case.t_end), **options)


def _microseconds(run: Callable[[], Any], repeats: int) -> float:
    began = time.perf_counter()
    for _ in range(repeats):
        run()
    return 1e6 * (time.perf_counter() - began) / repeats


def _uncompiled(case: Case, rounds: int) -> float:
    """Microseconds of a run that is only prepared: each preparation is run for so short a while that it does not look for machine code of its own."""
    best = math.inf
    for _ in range(rounds):
        run = prepare(case)[0].run
        repeats = max(1, int(MOST_SECONDS / (1e-6 * min(_microseconds(run, 1) for _ in range(3)))))
        best = min(best, _microseconds(run, min(repeats, MOST_REPEATS)))
    return best


def pairs(rounds: int) -> list[Pair]:
    """Every case.

    Raises
    ------
    ImportError : heyoka is not installed.
    """
    import heyoka  # noqa: F401 - what the cases need

    found: list[Pair] = []
    for case in CASES:
        prepared, rival = _uncompiled(case, max(rounds, 3)), case.rival()
        end_only, whole = (run.compile() for run in prepare(case))
        found_end, (other, other_events) = end_only.run(), rival()
        y, other = np.array([found_end.final[name] for name in case.names]), np.array(other)
        whole.run()
        runs = (end_only.run, whole.run, rival)
        repeats = [max(1, math.ceil(LEAST_SECONDS / (1e-6 * _microseconds(run, 1)))) for run in runs]
        times = [[_microseconds(run, n) for run, n in zip(runs, repeats, strict=True)] for _ in range(max(rounds, 3))]
        own, all_steps, other_time = (min(one) for one in zip(*times, strict=True))
        exact = np.array(case.end) if case.end else 0.5 * (y + other)
        errors = [float(np.max(np.abs(one - exact))) for one in (y, other)]
        found.append(Pair(case.title, own, all_steps, prepared, other_time, errors[0], errors[1], found_end.statistics.events, other_events))
    return found
