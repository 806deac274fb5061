"""Narrow peaks of a right side, which rise and fall again between two places of a step, add to the unknowns what they must, with every method.

The truth is the area under the peak, in closed form or by quadrature over a variable in which it is wide.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.integrate import quad

import tidegate as tg

METHODS = ("taylor", "radau", "rodas5p", "bdf", "adams", "ida")


class Shape(NamedTuple):
    """A peak as a function of u, for models, and the area under it."""

    of: Callable[[Any], Any]
    area: float


def shape(of: Callable[[Any], Any], far: float) -> Shape:
    """The area counts between ``-far`` and ``far``."""
    return Shape(of, quad(of, -far, 0.0, limit=200)[0] + quad(of, 0.0, far, limit=200)[0])


SHAPES = {
    "exp": shape(lambda u: np.exp(-(u**2)), 20.0),
    "power of two": shape(lambda u: 2.0 ** (-u * u), 20.0),
    "of fourth power": shape(lambda u: np.exp(-(u**4)), 20.0),
    "rational": shape(lambda u: 1.0 / (1.0 + u**2) ** 4, 1e3),
    "of eighth power": shape(lambda u: 1.0 / (1.0 + u**8), 1e3),
    "between flanks": shape(lambda u: 1.0 / ((1.0 + np.exp(-u - 3.0)) * (1.0 + np.exp(u - 3.0))), 60.0),
    "two humps": shape(lambda u: u * u * np.exp(-u * u), 20.0),
}


_BESIDE = ("nothing", "oscillator", "decay", "algebraic", "stiff", "stiff filter")


class Case(NamedTuple):
    """One random model, until when it runs, and where its unknown ``x`` is then."""

    model: Any
    until: float
    end: float
    tells: str


def case(seed: int) -> Case:
    """One to three peaks, of time or of an unknown that goes by, beside other unknowns, some of them algebraic."""
    chosen = random.Random(seed)
    name = chosen.choice(list(SHAPES))
    peak = SHAPES[name]
    centres = [chosen.uniform(2.0 * k + 0.7, 2.0 * k + 2.3) for k in range(chosen.randint(1, 3))]
    widths = [10.0 ** chosen.uniform(-4.0 if name != "between flanks" else -1.9, -1.3) for _ in centres]  # flanks overflow farther away
    heights = [chosen.choice((-1.0, 1.0)) * chosen.uniform(0.5, 20.0) for _ in centres]
    by_unknown, beside, speed = chosen.random() < 0.4, chosen.choice(_BESIDE), chosen.uniform(0.5, 2.0)

    def right_side(t: Any, y: Any) -> dict[str, Any]:
        place = y["s"] if by_unknown else t
        rates = {"x": sum(height * peak.of((place - centre) / width) for centre, width, height in zip(centres, widths, heights, strict=True))}
        if by_unknown:
            rates["s"] = speed
        if beside == "oscillator":
            rates |= {"a": y["b"], "b": -9.0 * y["a"]}
        if beside == "decay":
            rates["a"] = -50.0 * (y["a"] - np.cos(t))
        if beside == "stiff":
            rates["a"] = -1e6 * (y["a"] - np.cos(3.0 * t))
        if beside == "stiff filter":
            rates |= {"a": 1e5 * (rates["x"] - y["a"]), "x": y["a"]}
        return rates

    starts = {"x": 0.0} | ({"s": 0.0} if by_unknown else {})
    starts |= {"oscillator": {"a": 1.0, "b": 0.0}, "decay": {"a": 0.0}, "stiff": {"a": 1.0}, "stiff filter": {"a": 0.0}}.get(beside, {})
    if beside == "algebraic":

        def equations(t: Any, y: Any, ydot: Any) -> dict[str, Any]:
            return {name: ydot[name] - rate for name, rate in right_side(t, y).items() if name != "x"} | {
                "x": ydot["x"] - y["z"],
                "z": y["z"] + 0.1 * (y["z"] - right_side(t, y)["x"]) ** 3 - right_side(t, y)["x"],
            }

        model: Any = tg.dae(equations, y0=starts | {"z": 0.0})
    else:
        model = tg.ode(right_side, starts)
    scale = speed if by_unknown else 1.0
    end = sum(height * width * peak.area for width, height in zip(widths, heights, strict=True)) / scale
    until = (centres[-1] + 3.0) / scale
    return Case(model, until, end, f"{name}, {centres}, {widths}, {heights}, by unknown: {by_unknown}, {beside}, until {until}")


def misses(seed: int, method: str) -> str:
    """What is wrong with one run; "" for nothing: far less than what a peak adds, and what local errors of 1e-7 add up to."""
    model, until, end, tells = case(seed)
    if ("algebraic" in tells and method in ("taylor", "adams", "bdf")) or ("stiff" in tells and method in ("taylor", "adams", "bdf")):
        return ""
    try:
        found = tg.simulate(model, (0.0, until), method=method, rtol=1e-7, atol=1e-9)
    except tg.TidegateError as error:
        return f"{seed} {method}: {error} ({tells})"
    allowed = 2e-4 if method in ("adams", "bdf", "ida") else 2e-5
    return (
        "" if abs(found.final["x"] - end) <= allowed else f"{seed} {method}: {found.final['x']} for {end} in {found.statistics.steps} steps ({tells})"
    )


@pytest.mark.hunt
@pytest.mark.parametrize("method", METHODS)
def test_random_peaks_add_what_they_must(method: str) -> None:
    wrong = [said for seed in range(12) if (said := misses(seed, method))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.hunt
@pytest.mark.parametrize("first", range(12, 72, 12))
def test_more_random_peaks_add_what_they_must(first: int) -> None:
    wrong = [said for seed in range(first, first + 12) for method in METHODS if (said := misses(seed, method))]
    assert not wrong, "\n".join(wrong)


AREAS = {
    "bell": (lambda u: np.exp(-u * u), lambda u: 0.5 * math.sqrt(math.pi) * math.erf(u)),
    "resonance": (lambda u: 1.0 / (1.0 + u * u), math.atan),
    "soliton": (lambda u: 1.0 / np.cosh(u), lambda u: 2.0 * math.atan(math.tanh(0.5 * u))),
}


class Drift(NamedTuple):
    """An unknown that moves in a straight line, but for peaks of time, on any scale of time: up to a time, where its series says nothing of them."""

    start: float
    until: float
    y0: float
    speed: float
    peaks: tuple[tuple[str, float, float, float], ...]  # shape, centre, width, height

    @property
    def model(self) -> Any:
        return tg.ode(lambda t, y: [self.speed + sum(height * AREAS[kind][0]((t - c) / w) for kind, c, w, height in self.peaks)], [self.y0])

    @property
    def end(self) -> float:
        areas = [h * w * (AREAS[kind][1]((self.until - c) / w) - AREAS[kind][1]((self.start - c) / w)) for kind, c, w, h in self.peaks]
        return self.y0 + self.speed * (self.until - self.start) + sum(areas)


def drift(seed: int) -> Drift:
    """One to three peaks of a width of 3e-4 to 0.3 of the run."""
    chosen = random.Random(seed)
    length = 10.0 ** chosen.uniform(-2.0, 4.0)
    start = chosen.choice((0.0, 0.0, -1.0, 100.0)) * length
    peaks = [
        (
            chosen.choice(list(AREAS)), start + length * chosen.uniform(0.1, 0.9), length * 10.0 ** chosen.uniform(-3.5, -0.5),
            10.0 ** chosen.uniform(-2.0, 2.0) / length,
        ) for _ in range(chosen.randint(1, 3))
    ]  # fmt: skip
    return Drift(start, start + length, chosen.choice((0.0, 1.0, -0.5)), 10.0 ** chosen.uniform(-14.0, 0.0) / length, tuple(peaks))


def is_off(given: Drift, method: str) -> bool:
    """Whether a run is wrong by more than what errors of 1e-8 of all that is there add up to."""
    found = tg.simulate(given.model, (given.start, given.until), method=method, rtol=1e-8, atol=1e-10, progress=False).final["y[0]"]
    size = abs(given.end) + max(width * height for _, _, width, height in given.peaks)
    return not abs(found - given.end) <= 3e-6 * size


@pytest.mark.parametrize(
    "given",
    [
        # the first step, which nothing limits, is longer than the run by seventeen powers of ten
        Drift(2606.755136428515, 2632.8226877928796, 0.0, 7.78e-12, (("soliton", 2625.7825508304345, 0.1593128376161298, 0.010376517767067694),)),
        # where the forcing wakes a step ends that might be two million times as long
        Drift(0.0, 0.030507278417384813, -0.5, 13.187222572203808, (("soliton", 0.013100192706337619, 1.987652143127927e-05, 1152.3286481429684),)),
        # the run ends in the peak, far within a step: nowhere in what is kept is the peak much higher than at that end
        Drift(0.0, 0.4525388439358183, 0.0, 8.423087849683191e-11, (("bell", 0.4057742837781271, 0.028693406931004303, 9.722889256145006),)),
        Drift(0.0, 0.3957742837781271, 1.0, 8.423087849683191e-11, (("bell", 0.4057742837781271, 0.028693406931004303, 9.722889256145006),)),
    ],
    ids=["a step far beyond the end", "a step cut short", "an end behind the top", "an end on the rising flank"],
)
@pytest.mark.parametrize("method", ["taylor", "radau"])
def test_a_peak_counts_in_a_step_whose_series_says_nothing_of_it(given: Drift, method: str) -> None:
    assert not is_off(given, method)


@pytest.mark.hunt
@pytest.mark.parametrize("first", range(0, 300, 100))
def test_peaks_beside_a_straight_line_count_on_any_scale_of_time(first: int) -> None:
    assert not [seed for seed in range(first, first + 100) if is_off(drift(seed), "taylor")]


@pytest.mark.hunt
@pytest.mark.parametrize("first", range(0, 300, 100))
def test_a_peak_in_which_the_run_ends_counts_so_far(first: int) -> None:
    def ends_in_its_last(given: Drift, chosen: random.Random) -> Drift:
        _, centre, width, _ = max(given.peaks, key=lambda peak: peak[1])
        return given._replace(until=centre + chosen.uniform(-3.0, 3.0) * min(width, 0.2 * (centre - given.start)))

    assert not [seed for seed in range(first, first + 100) if is_off(ends_in_its_last(drift(seed), random.Random(seed)), "taylor")]


class Train(NamedTuple):
    """Peaks that come again and again, in closed form over whole periods."""

    of: Callable[[Any, Any], Any]  # of cosine and sine
    area: float  # of one period, for a frequency of one


def _wallis(power: int) -> float:
    """The mean of ``cos(t)**(2 * power)``, and of ``((1 + cos(t)) / 2)**power``."""
    return math.comb(2 * power, power) / 4.0**power


TRAINS = {
    **{f"half-cosine to the {n}": Train(lambda c, s, n=n: ((1.0 + c) / 2.0) ** n, 2.0 * math.pi * _wallis(n)) for n in (30, 100, 400)},
    **{f"cosine to the {2 * n}": Train(lambda c, s, n=n: c ** (2 * n), 2.0 * math.pi * _wallis(n)) for n in (30, 400)},
    "sine, squared twice, to the 40": Train(lambda c, s: ((s**2) ** 2) ** 40.0, 2.0 * math.pi * _wallis(80)),
    "product of powers": Train(lambda c, s: s**20 * s**40 * s**20, 2.0 * math.pi * _wallis(40)),
    "resonances": Train(lambda c, s: 1.0 / (1.0 + 300.0 * (1.0 - c)), 2.0 * math.pi / math.sqrt(601.0)),
}


def train(name: str, seed: int) -> tuple[Any, float, float]:
    """A model, until when it runs, and what it comes to: up to forty periods from a place where next to nothing is to be seen of the peaks."""
    chosen, shape = random.Random(f"{name} {seed}"), TRAINS[name]
    frequency, whole, height = 10.0 ** chosen.uniform(-2.0, 3.0), chosen.randint(1, 40), chosen.uniform(0.1, 10.0)
    phase = chosen.choice((math.pi, math.pi + chosen.uniform(-0.7, 0.7))) if "half" in name or "reson" in name else 0.5 * math.pi * ("cos" in name)

    def rate(t: Any, y: Any) -> dict[str, Any]:
        return {"x": height * frequency * shape.of(np.cos(frequency * t + phase), np.sin(frequency * t + phase))}

    return tg.ode(rate, {"x": 0.0}), whole * 2.0 * math.pi / frequency, height * whole * shape.area


def _off(name: str, seed: int, method: str) -> float:
    model, until, end = train(name, seed)
    return abs(tg.simulate(model, (0.0, until), method=method, rtol=1e-8, atol=1e-10 * end, progress=False).final["x"] / end - 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["taylor", "radau"])
@pytest.mark.parametrize("name", TRAINS)
def test_every_peak_of_a_train_counts(name: str, method: str) -> None:
    assert _off(name, 0, method) < 1e-5


@pytest.mark.hunt
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", TRAINS)
def test_every_peak_of_random_trains_counts(name: str, method: str) -> None:
    assert not [seed for seed in range(1, 9) if _off(name, seed, method) > 1e-4]


@pytest.mark.slow
def test_products_and_repeated_squares_may_be_as_deep_as_they_like() -> None:
    def right_side(t: Any, y: Any) -> dict[str, Any]:
        whole, square = 1.0, 1.0 - 1e-12 * y["x"]
        for k in range(1500):
            whole = whole * (1.0 + 1e-6 * (k + y["x"]))
        for _ in range(40):
            square = square * square
        return {"x": -whole + 0.0 / square + 0.0 * np.sqrt(whole)}

    found = tg.simulate(tg.ode(right_side, {"x": 1.0}), (0.0, 0.1), method="radau")
    assert found.status == "finished"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", ["one less a tangent squared", "two tangents", "two logistic functions"])
def test_two_flanks_side_by_side_are_a_peak(shape: str, method: str) -> None:
    def right_side(t: Any, y: Any) -> dict[str, Any]:
        u = (t - 31.4) / 1e-3
        if shape == "one less a tangent squared":
            return {"x": 1e3 * (1.0 - np.tanh(u) ** 2)}  # an area of two
        if shape == "two tangents":
            return {"x": 250.0 * (np.tanh(u + 2.0) - np.tanh(u - 2.0))}
        return {"x": 500.0 * (1.0 / (1.0 + np.exp(-u - 2.0)) - 1.0 / (1.0 + np.exp(2.0 - u)))}

    found = tg.simulate(tg.ode(right_side, {"x": 0.0}), (0.0, 40.0), method=method, rtol=1e-7, atol=1e-9)
    assert found.final["x"] == pytest.approx(2.0, rel=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_a_peak_behind_the_end_of_the_run_changes_nothing(method: str) -> None:
    def right_side(t: Any, y: Any, p: Any) -> dict[str, Any]:
        return {"x": -y["x"] + p["height"] * np.exp(-(((t - 5.3) / 1e-3) ** 2))}

    ends = [tg.simulate(tg.ode(right_side, {"x": 1.0}, p={"height": height}), (0.0, 5.0), method=method).final["x"] for height in (0.0, 1e3)]
    assert ends[0] == pytest.approx(ends[1], rel=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_peaks_before_and_behind_an_event_count_in_their_own_mode(method: str) -> None:
    """Height 1 before the unknown s comes to 2, and 5 behind it."""

    def right_side(t: Any, y: Any) -> dict[str, Any]:
        height = 5.0 if y["s"] > 2.0 else 1.0
        return {"x": height * (np.exp(-(((t - 1.237) / 1e-3) ** 2)) + np.exp(-(((t - 2.791) / 1e-3) ** 2))), "s": 1.0}

    found = tg.simulate(tg.ode(right_side, {"x": 0.0, "s": 0.0}), (0.0, 4.0), method=method, rtol=1e-7, atol=1e-9)
    assert found.final["x"] == pytest.approx(6.0e-3 * np.sqrt(np.pi), rel=1e-3)


@pytest.mark.parametrize("method", ["taylor", "radau", "rodas5p"])
def test_derivatives_count_a_narrow_peak(method: str) -> None:
    """The area is height times width times root pi, wherever the centre is."""

    def right_side(t: Any, y: Any, p: Any) -> dict[str, Any]:
        return {"x": p["height"] * np.exp(-(((t - p["centre"]) / p["width"]) ** 2))}

    values = {"height": 3.0, "centre": 6.173, "width": 2e-3}
    found = tg.simulate(tg.ode(right_side, {"x": 0.0}, p=values), (0.0, 9.0), method=method, sensitivities="all", rtol=1e-8, atol=1e-11)
    slopes = [float(found.sensitivity("x", name)[-1]) for name in values]
    assert slopes == pytest.approx([2e-3 * np.sqrt(np.pi), 0.0, 3.0 * np.sqrt(np.pi)], rel=1e-4, abs=1e-6)
