"""Random models whose crossings are known in advance: none is lost, none is invented, whatever the order of the series.

Time itself runs as a state, so that what a guard does between two events is a polynomial with roots of our choice: single ones, pairs down to a
millionth apart, roots that are only touched, triple ones, one where the run ends, several at one instant.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from reference_problems import GOLDEN, happened, problem

__all__: list[str] = []

_END = 2.0
_N = 5
_TOLERANCES = (1e-4, 1e-8, 1e-13)
_APART = 0.02  # of roots that are no pair


def _signs(t: Any, y: Any, p: Any) -> list[Any]:
    product = p["lead"]
    for k in range(_N):
        product = product * (y["x"] - p[f"r{k}"])
    return [1.0, 1.0 if product > 0.0 else -1.0]


@cache
def _product(rtol: float) -> Any:
    parameters = {"lead": 1.0, **{f"r{k}": 9.0 for k in range(_N)}}
    return tg.prepare(tg.ode(_signs, y0={"x": 0.0, "z": 0.0}, p=parameters), (0.0, _END), method="taylor", rtol=rtol)


def _roots(random: np.random.Generator) -> tuple[list[float], list[float]]:
    """Roots, and those of them where the sign changes: once for each odd multiplicity."""
    roots: list[float] = []
    changes: list[float] = []
    while len(roots) < _N:
        place = float(random.uniform(0.05, _END - 0.15))
        if any(abs(place - other) < _APART + 0.1 for other in roots):
            continue
        kind = int(random.integers(5))
        if kind == 0 and len(roots) + 2 <= _N:
            roots += [place, place]
        elif kind in (1, 2) and len(roots) + 2 <= _N:
            pair = [place, place + 10.0 ** float(random.uniform(-6.0, -1.0))]
            roots += pair
            changes += pair
        elif kind == 3 and len(roots) + 3 <= _N:
            roots += [place] * 3
            changes.append(place)
        else:
            place = _END if kind == 4 and _END not in roots else place
            roots.append(place)
            changes.append(place)
    return roots, sorted(changes)


def _is_seen(roots: list[float]) -> bool:
    """False where the product between two roots is no more than what rounding of x makes of it elsewhere in a step."""
    curve = np.poly1d(roots, r=True)
    steepest = float(np.abs(curve.deriv()(np.linspace(0.0, _END, 200))).max())
    middles = [0.5 * (a + b) for a, b in pairwise(sorted(set(roots)))]
    return all(abs(math.prod(x - root for root in roots)) > 1e-13 * steepest for x in middles)


@pytest.mark.slow
@pytest.mark.parametrize("rtol", _TOLERANCES)
def test_every_root_of_a_random_product_is_one_event(rtol: float) -> None:
    random = np.random.default_rng(11)
    for _ in range(60):
        roots, changes = _roots(random)
        if not _is_seen(roots):
            continue
        lead = float(random.choice([-1.0, 1.0]) * 10.0 ** random.uniform(-2.0, 2.0))
        result = _product(rtol).with_parameters(lead=lead, **{f"r{k}": root for k, root in enumerate(roots)}).run()
        times = [event.time for event in happened(result)]
        assert len(times) == len(changes), (roots, times)
        # rounding moves a triple root by its third root, and one of a pair the more the nearer the other is
        allowed = [1e-4 if roots.count(root) == 3 else 1e-9 + 1e-12 / min(abs(root - o) for o in roots if o != root) for root in changes]
        assert all(abs(t - root) <= near for t, root, near in zip(times, changes, allowed, strict=True)), (roots, times)
        first = math.copysign(1.0, lead) * (-1.0) ** _N
        inside = [0.0, *[root for root in changes if root < _END], _END]
        z = sum(first * (-1.0) ** k * (b - a) for k, (a, b) in enumerate(pairwise(inside)))
        assert result.final["z"] == pytest.approx(z, abs=4.0 * sum(allowed) + 1e-9)


def _lines(t: Any, y: Any, p: Any) -> list[Any]:
    return [p[f"a{k}"] if y[f"x{k}"] < p[f"l{k}"] else 0.5 * p[f"a{k}"] for k in range(3)]


def test_relations_that_cross_at_one_instant_all_flip() -> None:
    slots = {f"{letter}{k}": 1.0 for letter in "al" for k in range(3)}
    prepared = tg.prepare(tg.ode(_lines, y0=dict.fromkeys(["x0", "x1", "x2"], 0.0), p=slots), (0.0, 1.0), method="taylor", rtol=1e-8)
    random = np.random.default_rng(3)
    for _ in range(40):
        when = random.uniform(0.2, 0.9, 3)
        when[: int(random.integers(2, 4))] = when[0]
        slopes = random.uniform(0.5, 3.0, 3)
        chosen = {f"a{k}": float(slopes[k]) for k in range(3)} | {f"l{k}": float(slopes[k] * when[k]) for k in range(3)}
        result = prepared.with_parameters(**chosen).run()
        ends = [slopes[k] * (when[k] + 0.5 * (1.0 - when[k])) for k in range(3)]
        assert [result.final[f"x{k}"] for k in range(3)] == pytest.approx(ends, abs=1e-12)
        # what is one instant but for rounding may be one event or two, a rounding apart
        times = [event.time for event in happened(result)]
        assert sorted(set(np.round(times, 10))) == pytest.approx(sorted(set(np.round(when, 10))), abs=2e-10)


@pytest.mark.parametrize(("key", "parameter"), [("P1", "e"), ("P2", "p")])
def test_derivatives_through_events_are_those_of_the_closed_form(key: str, parameter: str) -> None:
    chosen, slopes = problem(key), GOLDEN[key]["sens"]
    result = tg.simulate(chosen.model, chosen.t_span, method="taylor", rtol=1e-13, atol=1e-15, sensitivities=[parameter])
    for name in result.final:
        expected = float(slopes[f"d{name}_d{parameter}"])
        assert float(np.asarray(result.sensitivity(name, parameter))[-1]) == pytest.approx(expected, rel=1e-10)
