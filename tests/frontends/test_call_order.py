"""What functions take behind time and unknowns: every order of names against the numbers that plain Python gives, and what cannot be called."""

import itertools
from typing import Any

import pytest

import tidegate as tg

P, D = {"k": 3.0}, {"u": 7.0}
BEHIND = [
    names
    for count in range(3)
    for names in itertools.permutations(("p", "d", "data", "other", "k=2.0", "p=None", "d=None"), count)
    if len({name.partition("=")[0] for name in names}) == count and [*names] == sorted(names, key=lambda name: "=" in name)  # else it is no Python
]


def expected(names: tuple[str, ...], has_d: bool) -> float | None:
    """The first number of each argument: by its name, or by its place among what is left; None for what cannot be called."""
    there = {"p": 3.0, **({"d": 7.0} if has_d else {})}
    given = [name.partition("=") for name in names]
    is_given = [not equals or name in there for name, equals, _ in given]
    if is_given == [False, True]:
        return None
    left = [there[name] for name in there if name not in [one for one, _, _ in given]]
    total = 0.0
    for (name, equals, value), handed in zip(given, is_given, strict=True):
        if not handed:
            total = 10.0 * total + (0.0 if value == "None" else float(value))
        elif name in there:
            total = 10.0 * total + there[name]
        elif not equals and left and (name != "p"):
            total = 10.0 * total + left.pop(0)
        else:
            return None
    return total


@pytest.mark.parametrize("has_d", [False, True])
@pytest.mark.parametrize("names", BEHIND, ids=",".join)
def test_arguments_are_what_their_names_say_and_else_what_their_places_say(names: tuple[str, ...], has_d: bool) -> None:
    total = expected(names, has_d)
    first = [name.partition("=")[0] for name in names]
    sums = "0.0"
    for name in first:
        sums = f"10.0 * ({sums}) + first({name})"
    namespace: dict[str, Any] = {"first": lambda given: 0.0 if given is None else given if isinstance(given, float) else given[0]}
    text = f"def rates(t, y{''.join(f', {name}' for name in names)}):\n    return {{'x': {sums}}}\n"
    exec(text, namespace)
    options: dict[str, Any] = {"discrete": D} if has_d else {}
    try:
        model = tg.ode(namespace["rates"], y0={"x": 0.0}, p=P, **options)
        found = tg.simulate(model, (0.0, 1.0)).final["x"]
    except tg.TidegateError:
        found = None
    assert found == (None if total is None else pytest.approx(total, rel=1e-9))  # constant rates: rounding alone


def test_resets_conditions_and_outputs_take_the_two_in_either_order() -> None:
    ticks = tg.event(every=0.3, reset=lambda t, y, d, p: {"u": d[0] + p[0]})
    crossing = tg.event(lambda t, y, d, p: y[0] > d[0] * 0.01 + p[0] * 0.01, reset=lambda t, y, d: {"x": 0.0 * d[0]})
    options: dict[str, Any] = {"outputs": {"sum": lambda t, y, d, p: 10.0 * d[0] + p[0]}, "events": [ticks, crossing]}
    model = tg.ode(lambda t, y: {"x": 1.0}, y0={"x": 0.0}, p=P, discrete=D, **options)
    result = tg.simulate(model, (0.0, 1.0))
    assert result.final["u"] == 7.0 + 4 * 3.0
    assert result.final["sum"] == 10.0 * 19.0 + 3.0
    assert [event.time for event in result.events] == pytest.approx(crossings(), abs=1e-9)


def crossings() -> list[float]:
    """Ticks and crossings of the model above, by hand: the limit is 0.01 (u + 3) and u rises by 3 at every tick."""
    times, last, u, ticks = [], 0.0, 7.0, [0.0, 0.3, 0.6, 0.9]
    while True:
        tick = ticks[0] if ticks else 9.0
        crossing = last + 0.01 * (u + 3.0)
        now = min(tick, crossing)
        if now > 1.0:
            return times
        times.append(now)
        if now == tick:
            ticks.pop(0)
            u += 3.0
        else:
            last = now


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"events": tg.event(lambda y: y[0] > 1)}, r"the condition of event 1 takes 1 argument; tg\.ode calls f\(t, y\) or f\(t, y, p\)"),
        ({"events": tg.event(every=0.1, reset=lambda t, y, p, d: {"x": 1.0})}, "the reset of event 1 takes discrete variables d"),
        ({"events": tg.event(every=0.1, reset=lambda t, y, p, q: {"x": 1.0})}, "the reset of event 1 takes 4 arguments"),
        ({"events": tg.event(at=lambda t, p: 1.0)}, r"takes 2 arguments; tg\.ode calls at\(\) or at\(p\)"),
        ({"outputs": {"o": lambda y: y[0]}}, "the output o takes 1 argument"),
        ({"outputs": lambda: {"a": 1.0}}, "outputs takes 0 arguments"),
        ({"outputs": {"o": lambda t, y, *, p: y[0]}}, "the output o takes p by name only"),
        ({"outputs": {"o": lambda t, y, k=1.0, p=None: y[0]}}, "takes p behind k, which has a value of its own"),
        ({"events": tg.event(lambda t, level=0.3: t > level)}, "takes level, with a value of its own, in the place of y"),
        ({"function": lambda t, rate=2.0: {"x": rate}}, "takes rate, with a value of its own, in the place of y"),
        ({"y0": lambda t, p: [1.0]}, r"calls y0\(\) or y0\(p\)"),
        ({"function": lambda y, t: -y[0]}, "takes y, t; .* with the time first"),
        ({"function": lambda u, p, t: -u[0]}, "takes u, p, t; .* with the time first"),
    ],
)
def test_what_cannot_be_called_is_told_before_it_is_called(options: dict[str, Any], words: str) -> None:
    function = options.pop("function", lambda t, y, p: {"x": -y[0]})
    with pytest.raises(tg.UsageError, match=words):
        tg.ode(function, **{"y0": {"x": 1.0}, "p": P, **options}).lower()


def test_unknowns_may_have_a_value_to_try_a_function_with() -> None:
    found = tg.simulate(tg.ode(lambda t=0.0, y=(1.0,): [-y[0]], y0=[1.0]), (0.0, 1.0), rtol=1e-8).final
    assert found["y[0]"] == pytest.approx(0.36787944, abs=1e-7)


def test_values_of_an_argument_s_own_are_kept_in_a_model_with_parameters() -> None:
    models = [tg.ode(lambda t, y, k=k: {"x": k + 0.0 * y[0]}, y0={"x": 0.0}, p=P) for k in (1.0, 2.0)]
    assert [tg.simulate(model, (0.0, 1.0)).final["x"] for model in models] == pytest.approx([1.0, 2.0], rel=1e-12)
