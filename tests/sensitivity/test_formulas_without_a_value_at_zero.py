"""Formulas that have no value at the very zero of what they divide by, but on both sides: they begin and end there, or pass by.

Python never asks for ``sin(u) / u if u > 0 else 1.0`` at zero; an event there ends at zero. Truth: the moved variable (``moved_functions``).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from engines import METHODS_WITH_RODAS5P
from moved_functions import CLOCKS, UNTIL, model_of, truth_of

Formula = Callable[[Any], Any]

OTHERS: dict[str, Formula] = {"line": lambda u: 0.4 - u, "constant": lambda u: 0.3 + 0.0 * u}
CLEAR: dict[str, Formula] = {
    "u/abs(u)": lambda u: u / np.abs(u),
    "sin(3u)/u": lambda u: np.sin(3.0 * u) / u,
    "sin(u)/abs(u)": lambda u: np.sin(u) / np.abs(u),
    "sin(u)/abs(sin(u))": lambda u: np.sin(u) / np.abs(np.sin(u)),
    "expm1(u)/u": lambda u: np.expm1(u) / u,
    "log1p(u)/u": lambda u: np.log1p(0.3 * u) / u,
    "u**2/u": lambda u: u**2 / u,
    "polynomials": lambda u: (u * u - 2.0 * u) / (3.0 * u + u * u),
    "u*log(abs(u))": lambda u: u * np.log(np.abs(u)),
    "u/sqrt(abs(u))": lambda u: u / np.sqrt(np.abs(u)),
    "u**3/abs(u)**2.5": lambda u: u**3 / np.abs(u) ** 2.5,
    "arctan(1/abs(u))": lambda u: np.arctan(1.0 / np.abs(u)),
    "exp(-1/u**2)": lambda u: np.exp(-1.0 / u**2),
}
# within some roundings of zero these are roundings as they are written, but there are others that are the same and accurate
CANCELLING: dict[str, Formula] = {
    "(1-cos(u))/u**2": lambda u: (1.0 - np.cos(u)) / u**2,
    "(exp(u)-1)/u": lambda u: (np.exp(u) - 1.0) / u,
    "u/(exp(u)-1)": lambda u: u / (np.exp(u) - 1.0),
    "a rate of Hodgkin and Huxley": lambda u: 0.3 * u / (1.0 - np.exp(-u / 0.5)),
    "(cosh(2u)-1)/u": lambda u: (np.cosh(2.0 * u) - 1.0) / u,
    "log(1+u)/u": lambda u: np.log(1.0 + 0.4 * u) / u,
    "u*(exp(u)-1)/(1-cos(u))": lambda u: u * (np.exp(u) - 1.0) / (1.0 - np.cos(u)),
}
OF_ROUNDINGS: dict[str, Formula] = {"1/tanh(u)-1/u": lambda u: 1.0 / np.tanh(u) - 1.0 / u}
SMOOTH = ["sin(3u)/u", "expm1(u)/u", "log1p(u)/u", "u**2/u", "polynomials"]
IDIOMS: dict[str, Formula] = {
    "u > 0": lambda u: np.sin(u) / u if u > 0 else 1.0,
    "u <= 0": lambda u: 1.0 if u <= 0 else np.sin(u) / u,
    "u < 0": lambda u: 1.0 if u < 0 else np.sin(u) / u,
    "where": lambda u: np.where(u > 0, np.sin(u) / u, 1.0),
    "logarithm": lambda u: u * np.log(u) if u > 0 else 0.0,
    "power": lambda u: u**u if u > 0 else 1.0,
    "exponential": lambda u: np.exp(-1.0 / u) if u > 0 else 0.0,
    "ends": lambda u: np.sin(u) / u if u < 0 else 1.0,
}


def _both(before: Formula, behind: Formula) -> Formula:
    return lambda u: before(u) if u < 0 else behind(u)


@pytest.mark.parametrize("method", ["auto", *METHODS_WITH_RODAS5P])
@pytest.mark.parametrize("clock", ["time", "unknown"])
@pytest.mark.parametrize("idiom", list(IDIOMS))
def test_a_formula_that_python_never_asks_for_at_zero_is_integrated_from_there(idiom: str, clock: str, method: str) -> None:
    function = IDIOMS[idiom]
    for c in (0.5, 1.3):
        result = tg.simulate(model_of(function, clock, c, 0.1), (0.0, UNTIL), method=method, rtol=1e-8)
        assert result.final["x"] == pytest.approx(truth_of(function, [0.0], clock, c, 0.1)[0], abs=1e-6)
        assert [round(e.time, 9) for e in result.events] == [c]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_formulas_without_a_value_at_zero_are_integrated(seed: int) -> None:
    draw, formulas = random.Random(seed), CLEAR | CANCELLING | OF_ROUNDINGS | OTHERS
    function = _both(draw.choice(list(formulas.values())), draw.choice(list(formulas.values())))
    clock, c, decay = draw.choice(CLOCKS), round(draw.uniform(0.3, 1.7), 4), draw.choice([0.0, 0.1, 1.0])
    value, _ = truth_of(function, [0.0], clock, c, decay)
    for method in ("auto", "radau", "rodas5p"):
        result = tg.simulate(model_of(function, clock, c, decay), (0.0, UNTIL), method=method, rtol=1e-7)
        assert result.final["x"] == pytest.approx(value, abs=5e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_formulas_without_a_value_at_zero_have_the_derivatives_of_their_values(seed: int) -> None:
    draw, formulas = random.Random(seed), CLEAR | CANCELLING | OTHERS
    function = _both(draw.choice(list(formulas.values())), draw.choice(list(formulas.values())))
    clock, c, decay = draw.choice(CLOCKS), round(draw.uniform(0.3, 1.7), 4), draw.choice([0.0, 0.1, 1.0])
    value, slope = truth_of(function, [0.0], clock, c, decay)
    for method in ("auto", "radau", "rodas5p"):
        result = tg.simulate(model_of(function, clock, c, decay), (0.0, UNTIL), method=method, rtol=1e-7, sensitivities=["c"])
        assert result.final["x"] == pytest.approx(value, abs=5e-6)
        assert float(result.sensitivity("x", "c")[-1]) == pytest.approx(slope, abs=2e-4)


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("name", CANCELLING)
def test_a_difference_that_cancels_has_its_derivatives_where_it_begins_and_where_it_ends(name: str, clock: str) -> None:
    formula, line = CANCELLING[name], OTHERS["line"]
    for function in (_both(formula, line), _both(line, formula)):
        value, slope = truth_of(function, [0.0], clock, 0.7337, 0.1)
        for method in ("auto", "radau", "rodas5p"):
            result = tg.simulate(model_of(function, clock, 0.7337, 0.1), (0.0, UNTIL), method=method, rtol=1e-7, sensitivities=["c"])
            assert result.final["x"] == pytest.approx(value, abs=1e-6)
            assert float(result.sensitivity("x", "c")[-1]) == pytest.approx(slope, abs=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_derivatives_by_where_a_quotient_is_passed_that_has_no_value_there_are_right(seed: int) -> None:
    """Without any event; steps end anywhere, also just beside the place, where roundings are amplified once more than in the values."""
    draw = random.Random(seed)
    function, clock = CLEAR[draw.choice(SMOOTH)], draw.choice(CLOCKS)
    c, decay = round(draw.uniform(0.3, 1.7), 4), draw.choice([0.0, 0.1, 1.0])
    value, slope = truth_of(function, [0.0], clock, c, decay)
    for rtol in (1e-5, 1e-7, 1e-9):
        result = tg.simulate(model_of(function, clock, c, decay), (0.0, UNTIL), rtol=rtol, sensitivities=["c"])
        assert not result.events
        assert result.final["x"] == pytest.approx(value, abs=10 * rtol)
        assert float(result.sensitivity("x", "c")[-1]) == pytest.approx(slope, abs=300 * rtol)


POLES: dict[str, Formula] = {
    "begins": lambda u: 1.0 / u if u > 0 else 0.0,
    "ends": lambda u: 1.0 / u if u < 0 else 0.0,
    "ends steeply": lambda u: 0.0 if u > 0 else 1.0 / u**2,
    "hardly has an integral": lambda u: (-u) ** -0.9 if u < 0 else 0.0,
    "is passed": lambda u: 1.0 / np.abs(u),
}


@pytest.mark.parametrize("method", ["auto", *METHODS_WITH_RODAS5P])
@pytest.mark.parametrize("clock", ["time", "unknown"])
@pytest.mark.parametrize("pole", list(POLES))
def test_a_pole_where_a_formula_begins_or_ends_is_refused(pole: str, clock: str, method: str) -> None:
    """The mode is left where the pole is, so that no step has it in it; what a run adds up on its way there is any number."""
    with pytest.raises((tg.NotFiniteError, tg.StepSizeError), match=r"t = 0\.7"):
        tg.simulate(model_of(POLES[pole], clock, 0.7, 0.0), (0.0, UNTIL), method=method, rtol=1e-7)


@pytest.mark.parametrize("method", ["auto", *METHODS_WITH_RODAS5P])
@pytest.mark.parametrize("rate", [lambda u: 1.0 / u, lambda u: 1.0 / u**2], ids=["pole", "double pole"])
def test_a_run_that_ends_at_a_pole_is_refused_and_one_that_ends_before_is_not(rate: Formula, method: str) -> None:
    model = tg.ode(lambda t, y: {"x": rate(1.0 - y["s"]), "s": 1.0}, {"x": 0.0, "s": 0.0})
    with pytest.raises((tg.NotFiniteError, tg.StepSizeError), match="t = "):
        tg.simulate(model, (0.0, 1.0), method=method, rtol=1e-7)
    result = tg.simulate(model, (0.0, 0.999), method=method, rtol=1e-7)
    assert result.final["x"] == pytest.approx(np.log(1e3) if rate(2.0) == 0.5 else 999.0, rel=1e-4)


def test_a_pole_at_an_event_is_told_by_what_is_divided_by() -> None:
    with pytest.raises(tg.NotFiniteError, match=r"divides by s, which comes to zero at t = 0\.7"):
        tg.simulate(model_of(POLES["ends"], "unknown", 0.7, 0.0), (0.0, UNTIL))


@pytest.mark.parametrize("method", ["auto", "radau", "rodas5p"])
@pytest.mark.parametrize("power", [0.3, 0.5])
def test_what_is_infinite_where_it_begins_or_ends_is_integrated_if_its_integral_is_not(power: float, method: str) -> None:
    for c in (0.5, 0.7312, 1.0, 1.3):
        ending = model_of(lambda u: (-u) ** -power if u < 0 else 0.0, "unknown", c, 0.0)
        result = tg.simulate(ending, (0.0, UNTIL), method=method, rtol=1e-8)
        assert result.final["x"] == pytest.approx(c ** (1.0 - power) / (1.0 - power), abs=1e-6)

        def rates(t: Any, y: Any, p: Any) -> dict[str, Any]:
            u = y["s"] - p["c"]
            return {"x": u**-power if u > 0 else 0.0, "s": 1.0}

        result = tg.simulate(tg.ode(rates, {"x": 0.0, "s": 0.0}, p={"c": c}), (0.0, UNTIL), method=method, rtol=1e-8)
        # what the rounding of s hides of the beginning is a root of it
        assert result.final["x"] == pytest.approx((UNTIL - c) ** (1.0 - power) / (1.0 - power), abs=1e-6)
