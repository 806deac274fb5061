"""The judge finds what is wrong and lets pass what is right.

Wrong results are made by running another model than the one that is asked about: what a run would give that keeps an old truth, steps over a forcing
or follows Python otherwise than Python does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidegate as tg

__all__: list[str] = []


def judged(run: Any, truth: Any, t_end: float, **options: Any) -> tg.Verification:
    """The result of one model, judged by another."""
    return tg.verify(tg.simulate(run, (0.0, t_end), **options), source=truth)


@pytest.mark.slow
@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-8])
def test_a_right_result_is_verified(method: str, rtol: float) -> None:
    model = tg.ode(lambda t, y: [y[1], -y[0] - 0.2 * max(y[1], 0.0)], y0=[1.0, 0.0])
    check = tg.verify(tg.simulate(model, (0.0, 10.0), rtol=rtol, method=method))
    assert check.ok, str(check)
    assert check.truth == "the function, called as Python"


@pytest.mark.hunt
@pytest.mark.parametrize("rtol", [1e-3, pytest.param(1e-6, marks=pytest.mark.slow)])
def test_a_condition_that_keeps_its_old_truth_is_found(method: str, rtol: float) -> None:
    right = tg.ode(lambda t, y: [-1.0, 1.0 if max(y[0], 0.0) > 0 else 0.0], y0=[1.0, 0.0])
    wrong = tg.ode(lambda t, y: [-1.0, 1.0], y0=[1.0, 0.0])
    check = judged(wrong, right, 3.0, rtol=rtol, method=method)
    (finding,) = check.wrong
    assert (finding.kind, finding.name) == ("equation", "y[1]")
    assert 1.0 < finding.time < 3.0
    assert "der(y[1]) is off by 1 " in finding.says


@pytest.mark.hunt
def test_a_condition_kept_at_a_rest_exactly_on_its_threshold_is_found() -> None:
    right = tg.ode(lambda t, y: [0.0, 1.0 if y[0] > 0 else 0.0], y0=[0.0, 0.0])
    wrong = tg.ode(lambda t, y: [0.0, 1.0], y0=[0.0, 0.0])
    assert [finding.name for finding in judged(wrong, right, 3.0).wrong] == ["y[1]"]


@pytest.mark.hunt
def test_a_forcing_that_was_stepped_over_is_found() -> None:
    # what a stiff method keeps to that looks at the ends of its steps only: a polynomial through a few points of the forcing
    right = tg.ode(lambda t, y: [1e4 * (np.sin(2.0 * np.pi * t) - y[0])], y0=[0.0])
    wrong = tg.ode(lambda t, y: [1e4 * (0.0 - y[0])], y0=[0.0])
    (finding,) = judged(wrong, right, 0.5).wrong
    assert finding.share * 100.0 * 1e-8 == pytest.approx(1.0, rel=0.05)  # the forcing itself, over 0.01 rtol, which is what a zero may be off


@pytest.mark.hunt
def test_an_algebraic_variable_is_judged_by_its_own_error() -> None:
    def divider(level: float) -> Any:
        return tg.dae(lambda t, y, ydot: [y["z"] - level * np.cos(t), ydot["q"] - y["z"]], y0={"z": level, "q": 0.0})

    assert judged(divider(1.0), divider(1.0), 3.0, rtol=1e-4, max_step=0.1).ok
    check = judged(divider(1.01), divider(1.0), 3.0, rtol=1e-6, max_step=0.1)
    assert check.wrong[0].name == "z"
    assert check.wrong[0].share == pytest.approx(0.01 / 1e-4, rel=0.2)


def test_a_defect_in_a_fast_derivative_is_weighed_by_what_it_moves() -> None:
    # 1e8 (cos t - x) is off by thousands where x is off by its tolerance
    model = tg.ode(lambda t, y: [1e8 * (np.cos(t) - y[0])], y0=[1.0])
    assert tg.verify(tg.simulate(model, (0.0, 3.0), rtol=1e-4, max_step=0.2)).ok


@pytest.mark.parametrize("truth", [lambda t, y: [-1.0, {1.0: 5.0}.get(np.sign(y[0]), 0.0)], lambda t, y: [-1.0, 5.0 if (y[0] > 0) is True else 0.0]])
def test_python_that_cannot_be_followed_rightly_is_refused_before_it_is_judged(truth: Any) -> None:
    with pytest.raises(tg.UntraceableError):
        tg.verify(tg.simulate(tg.ode(truth, y0=[1.0, 0.0]), (0.0, 3.0)))


@pytest.mark.slow
def test_python_followed_otherwise_than_python_does_is_found() -> None:
    right = tg.ode(lambda t, y: [-1.0, 5.0 if y[0] > 0 else 0.0], y0=[1.0, 0.0])
    wrong = tg.ode(lambda t, y: [-1.0, 0.0], y0=[1.0, 0.0])
    assert judged(right, right, 3.0).ok
    assert not judged(wrong, right, 3.0).ok


@pytest.mark.slow
def test_an_event_found_late_is_found() -> None:
    def switched(at: float) -> Any:
        return tg.ode(lambda t, y: [1.0 if t < at else -1.0], y0=[0.0])

    assert judged(switched(1.0), switched(1.0), 2.0).ok
    assert not judged(switched(1.001), switched(1.0), 2.0).ok
    assert judged(switched(1.0 + 1e-9), switched(1.0), 2.0).ok  # moves nothing by more than the tolerance


def test_parameters_of_the_run_are_those_of_the_judge() -> None:
    model = tg.ode(lambda t, y, p: {"x": -p["k"] * y["x"]}, y0={"x": 1.0}, p={"k": 2.0})
    assert tg.verify(tg.simulate(model, (0.0, 1.0), parameters={"k": 5.0})).ok


@pytest.mark.slow
def test_the_table_says_what_is_wrong_where_and_by_how_much() -> None:
    wrong, right = (tg.ode(lambda t, y, s=s: {"x": s}, y0={"x": 0.0}) for s in (1.0, 2.0))
    check = judged(wrong, right, 1.0)
    text = str(check)
    assert "is WRONG in 1 of" in text.splitlines()[0]
    assert "WRONG equation x" in " ".join(text.split())  # columns are as wide as their longest cell
    assert "der(x) is off by 1 in the step of" in text
    assert "<table>" in check._repr_html_()
    assert "WRONG" in repr(check)


@pytest.mark.slow
def test_a_result_that_cannot_be_judged_says_what_to_do() -> None:
    model = tg.ode(lambda t, y: [-y[0]], y0=[1.0])
    with pytest.raises(tg.UsageError, match="no dense output"):
        tg.verify(tg.simulate(model, (0.0, 1.0), dense=False))
    result = tg.simulate(model, (0.0, 1.0))
    result.source = None
    with pytest.raises(tg.UsageError, match="source=model"):
        tg.verify(result)
    assert tg.verify(result, source=model).ok


class Lag(tg.Component):
    x = tg.State([1.0, 0.5])
    mean = tg.Output(lambda self: 0.5 * (self.x[0] + self.x[1]))
    k = tg.Parameter(2.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == -self.k * np.clip(self.x, 0.2, 0.7)


PLAIN = {
    "ode": lambda: tg.ode(lambda t, y, p: {"x": np.where(t > p["a"], 0.0, -max(y["x"], 0.5))}, y0={"x": 1.0}, p={"a": 0.5}),
    "dae": lambda: tg.dae(lambda t, y, ydot: [ydot["x"] + y["z"], y["z"] - min(y["x"], 0.5)], y0={"x": 1.0, "z": 0.5}),
    "component": Lag,
}


@pytest.mark.slow
@pytest.mark.parametrize("form", PLAIN)
def test_what_can_be_called_with_numbers_is_judged_by_it_and_not_by_expressions(form: str) -> None:
    check = tg.verify(tg.simulate(PLAIN[form](), (0.0, 1.0), rtol=1e-5))
    assert check.notes == ()
    assert check.truth in ("the function, called as Python", "the component's methods, called as Python")
    assert check.ok, str(check)


@pytest.mark.slow
def test_where_a_call_with_numbers_fails_the_notes_say_so() -> None:
    model = tg.ode(lambda t, y: [-y["x"]], y0={"x": 1.0})
    result = tg.simulate(model, (0.0, 1.0))

    class Shy:
        lower = model.lower

        def plainly(self, parameters: Any, model: Any) -> Any:
            raise TypeError("not with numbers")

    check = tg.verify(result, source=Shy())
    assert check.ok
    assert check.truth.startswith("the neutral model")
    assert "called with numbers, the model raised TypeError: not with numbers" in check.notes[0]


@pytest.mark.slow
def test_a_run_in_pieces_is_verified() -> None:
    simulation = tg.Simulation(tg.ode(lambda t, y, p: {"x": -p["k"] * max(y["x"], 0.5)}, y0={"x": 1.0}, p={"k": 1.0}), rtol=1e-5)
    parts = [simulation.advance(0.5), simulation.advance(1.0)]
    for result in (*parts, simulation.result):
        check = tg.verify(result)
        assert check.ok, str(check)
        assert check.truth == "the function, called as Python"


@pytest.mark.slow
def test_a_run_in_which_a_parameter_was_set_is_verified_piece_by_piece() -> None:
    simulation = tg.Simulation(tg.ode(lambda t, y, p: {"x": -p["k"] * y["x"]}, y0={"x": 1.0}, p={"k": 1.0}), rtol=1e-5)
    first = simulation.advance(0.5)
    simulation["k"] = 2.0
    second = simulation.advance(1.0)
    with pytest.raises(tg.UsageError, match=r"k was set at t = 0\.5, within the run"):
        tg.verify(simulation.result)
    assert tg.verify(first).ok
    assert tg.verify(second).ok
