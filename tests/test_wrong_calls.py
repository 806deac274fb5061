"""Whatever a user calls with arguments that do not fit answers in the library's own words, with what to try: no error of Python's own is left."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tidegate as tg

MODEL = tg.ode(lambda t, y, p: [-p["k"] * y["x"] if y["x"] > 0.5 else -1.0], y0={"x": 1.0}, p={"k": 1.0})
RESTING = tg.ode(lambda t, y, p: [p["k"] - y["x"]], y0={"x": 1.0}, p={"k": 1.0})
OUR_OWN = ("Component", "Connector")  # which take any names, of variables


class Decay(tg.Component):
    x = tg.State(1.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == -self.x


class Speaking(Decay):
    @tg.when(lambda self: self.x < 0.5)
    def half(self) -> Any:
        yield tg.message("half is left")


def functions_and_classes() -> Iterator[tuple[str, Any]]:
    """Everything public that can be called; exceptions are made by us."""
    for prefix, place, names in (
        ("tg", tg, dir(tg)),
        ("tg.blocks", tg.blocks, [name for name in dir(tg.blocks) if isinstance(getattr(tg.blocks, name), type)]),
        ("tg.csmp", tg.csmp, ["load", "run", "user", "run_program"]),
        ("tg.dsblock", tg.dsblock, ["EventAction", "Start", "build", "export", "join", "linear", "load"]),
    ):
        for name in names:
            item = getattr(place, name)
            if callable(item) and not (isinstance(item, type) and issubclass(item, BaseException)) and name not in ("DSblock", *OUR_OWN):
                yield f"{prefix}.{name}", item


def methods() -> Iterator[tuple[str, Any]]:
    """Public methods of what users hold in their hands, written by us."""
    result = tg.simulate(MODEL, (0, 1))
    steady = tg.steady_state(tg.ode(lambda t, y, p: [p["k"] - y["x"]], y0={"x": 1.0}, p={"k": 1.0}))
    made = [tg.prepare(MODEL, (0, 1)), tg.Simulation(MODEL), tg.Diagram("d"), MODEL]
    objects = [result, result.events, result.events[0], result.statistics, steady, *made]
    for item in objects:
        for name, function in vars(type(item)).items():
            if not name.startswith("_") and callable(getattr(item, name, None)) and not isinstance(function, type):
                yield f"{type(item).__name__}.{name}", getattr(item, name)


def answered(deed: Callable[[], Any]) -> str:
    """What is said, by an error of the library that has a hint."""
    with pytest.raises(tg.TidegateError) as caught:
        deed()
    assert "try: " in str(caught.value)
    return str(caught.value)


@pytest.mark.slow
def test_arguments_that_nothing_takes_are_answered_by_everything_public() -> None:
    tried = 0
    for name, item in [*functions_and_classes(), *methods()]:
        parameters = inspect.signature(item).parameters.values()
        if not any(one.kind is one.VAR_KEYWORD for one in parameters):
            with pytest.raises(tg.TidegateError, match=r"(?s)try: ") as caught:
                item(quite_unknown=3)
            assert "quite_unknown" in str(caught.value) or "without" in str(caught.value), name
            tried += 1
        if not any(one.kind is one.VAR_POSITIONAL for one in parameters):
            with pytest.raises(tg.WrongCallError, match=r"(?s)is given 40.*try: "):
                item(*range(40))
            tried += 1
    assert tried > 250


def test_what_must_be_given_is_named_where_it_is_missing() -> None:
    for _, item in [*functions_and_classes(), *methods()]:
        needed = [one.name for one in inspect.signature(item).parameters.values() if one.default is one.empty and one.kind in (0, 1, 3)]
        if needed:
            with pytest.raises(tg.WrongCallError, match=rf"(?s)is called without {needed[0]}.*try: "):
                item()


def test_a_wrong_value_that_nobody_looked_at_is_answered_with_the_call() -> None:
    said = answered(lambda: tg.assertion(None, "text"))
    assert "nothing can be made of tg.assertion(None, 'text')" in said
    for value in (None, object(), {}):
        answered(lambda value=value: tg.maximum(value, value))


@pytest.mark.parametrize(
    ("slip", "words"),
    [
        (lambda r: tg.ode(lambda t, y: [-y[0]]), r"tg\.ode is called without y0.*tg\.ode\(f, y0, p=None"),
        (lambda r: tg.noise(), r"without t and seed"),
        (lambda r: r.to_csv(), r"Result\.to_csv is called without path.*Result\.to_csv\(path\)"),
        (lambda r: r.to_cvs("a.csv"), "to_csv"),
        (lambda r: tg.blocks.Gain(1.0, 2.0, 3.0), r"Gain takes 1 argument without a name, and is given 3.*Gain\(gain=1.0"),
        (lambda r: tg.prepare(MODEL, (0, 1)).run(k=3), r"no argument 'k'.*with_parameters\(k=3.0\)\.run\(\)"),
        (
            lambda r: tg.prepare(MODEL, (0, 1)).with_parameters(**{"x(0)": 2.0}),
            r"the start value of x is no parameter of this run.*y0=\{\"x\": \.\.\.\} or sensitivities=\[\"x\(0\)\"\] of tg\.prepare",
        ),
        (lambda r: tg.prepare(MODEL, (0, 1)).with_parameters(**{"x0(0)": 2.0}), r"no variable 'x0' whose start value.*did you mean 'x\(0\)'"),
        (lambda r: tg.prepare(MODEL, (0, 1)).with_parameters(**{"k(0)": 2.0}), r"k is a parameter, and has no start value"),
        (lambda r: tg.prepare(MODEL, (0, 1))(), r"prepared\.run\(\)"),
        (lambda r: tg.Simulation(MODEL)(), r"simulation\.advance\(1\.0\)"),
        (lambda r: MODEL(0.5), r"tg\.simulate\(model"),
        (lambda r: r(0.5), r"a result is no function.*result\.at\(0\.5\)"),
        (float, r"no number.*result\.final"),
        (lambda r: r - r, r"no number.*result\.compare\(other\)"),
        (lambda r: 2 * r, "no number"),
        (lambda r: r < 1, "no number"),
        (lambda r: r.__setitem__("x", 1.0), "not changed.*a copy can be"),
        (lambda r: r.events(), "no function"),
        (lambda r: r.events + r.events, "no number"),
        (lambda r: r.plot(nmae="x"), "no argument 'nmae'"),
        (lambda r: r.resample(side="middle"), "right"),
        (lambda r: r.at(), "without times"),
        (lambda r: tg.simulate(tg.ode(lambda t, y: [-y[0]], y0=[None]), (0, 1)), r"element 0 of y is None.*y0=\{"),
        (lambda r: tg.simulate(tg.ode(lambda t, y: [-y[0]], y0={"x": math.nan}), (0, 1)), r"finite number is expected.*y0=\{"),
        (lambda r: tg.ode(lambda t, y, p: [-y[0]], y0=[1.0], p="k"), r"p is 'k'.*p=\{"),
        (lambda r: tg.simulate(MODEL, (0, 1), max_step=-1.0), r"max_step must be positive, not -1.0.*max_step=0\.1"),
        (lambda r: tg.simulate(MODEL, (0, 1), y0={"x": math.nan}), "finite"),
        (lambda r: tg.simulate(Speaking(), (0, 1)), r"None is yielded.*stands without `yield`, as tg\.message"),
        (lambda r: tg.State(1.0, shape=object()), "numbers of elements are expected"),
        (lambda r: Decay(mods=5), "mods is 5"),
        (lambda r: tg.replaces(None), "no method"),
        (lambda r: tg.ode(lambda t, y: [-y[0]], x0=[1.0]), r"no argument 'x0'.*y0=\{"),
        (lambda r: tg.dae(lambda t, y, d, p: [d[0] + y[0]], params={"k": 1.0}), r"no argument 'params'.*p=\{"),
        (lambda r: tg.event(lambda t, y: y.x, direction=-1), "no argument 'direction'.*comparison says it"),
        (lambda r: tg.event(period=0.1), "no argument 'period'.*every=0.1"),
        (lambda r: tg.simulate(MODEL, [0, 0.5, 1]), r"two numbers.*t_span=\(0, 1\) with outputs=times"),
        (lambda r: tg.simulate(MODEL, (0, "1min")), "two numbers.*numbers in seconds"),
        (lambda r: tg.sweep(MODEL, (0, 1), over={"k": [1.0]}), "no option 'over'.*grid="),
        (lambda r: tg.blocks.Summer(5), "nothing can be made of Summer"),
        (lambda r: tg.blocks.Gain(math.nan), "finite"),
    ],
)
def test_a_wrong_call_is_answered_with_a_right_one(slip: Callable[[Any], Any], words: str) -> None:
    result = tg.simulate(MODEL, (0, 1))
    with pytest.raises((tg.TidegateError, AttributeError)) as caught:
        slip(result)
    assert re.search(words, str(caught.value), re.DOTALL)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda r: r.events[0].t, "event.time"),
        (lambda r: r.events[0].name, "event.causes"),
        (lambda r: r.events.df, "to_dataframe"),
        (lambda r: r.df, "result.to_dataframe"),
        (lambda r: r.statistics.nfev, "statistics.evaluations"),
        (lambda r: MODEL.simulate, "tg.simulate"),
        (lambda r: tg.prepare(MODEL, (0, 1)).plot, "prepared.run"),
        (lambda r: tg.Simulation(MODEL).step, "simulation.advance"),
        (lambda r: tg.steady_state(RESTING).linearize, r"tg\.linearize\(steady\.source, at=steady\)"),
        (lambda r: tg.linearize(RESTING, at=tg.steady_state(RESTING)).eigenvalues, r"linear\.poles"),
        (lambda r: tg.fit(MODEL, {"x": ([0.0, 0.2], [1.0, 0.8])}, ["k"]).parameters, r"fit\.values"),
        (lambda r: tg.Simulation(MODEL).advnce, r"did you mean simulation\.advance"),
    ],
)
def test_an_attribute_that_there_is_none_of_is_answered_with_where_it_is(ask: Callable[[Any], Any], words: str) -> None:
    with pytest.raises(AttributeError, match=words):
        ask(tg.simulate(MODEL, (0, 1)))


def test_objects_that_answer_for_missing_attributes_are_copied_and_pickled() -> None:
    event = tg.simulate(MODEL, (0, 1)).events[0]
    for other in (copy.deepcopy(event), pickle.loads(pickle.dumps(event))):
        assert other == event
    assert not hasattr(event, "__array__")


def test_an_error_of_the_users_own_function_stays_his() -> None:
    result = tg.simulate(MODEL, (0, 1))

    def picky(event: Any) -> bool:
        return event + 1 > 0  # a TypeError of the user's own

    with pytest.raises(TypeError) as caught:
        result.events.where(picky)
    assert not isinstance(caught.value, tg.TidegateError)


def test_a_wrong_call_is_a_type_error_for_those_who_catch_it() -> None:
    with pytest.raises(TypeError):
        tg.ode(lambda t, y: [-y[0]])  # pyright: ignore[reportCallIssue]
