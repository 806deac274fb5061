"""Random bodies of events do what Python does, as resets of functions and as clauses of components; or they are refused."""

from __future__ import annotations

import pytest

import tidegate as tg
from random_bodies import END, Form, PlainRun, body_source
from written_source import space_of

_SHIFT = 1e-7  # of the start: a run that this changes is decided by rounding


def outcome(seed: int, form: Form) -> str:
    """Agrees, is refused, or says nothing because rounding decides."""
    try:
        expected = PlainRun(seed, form)
    except SyntaxError:  # a `try` alone: no body that means anything
        return "unclear"
    others = [PlainRun(seed, form, shift) for shift in (_SHIFT, -_SHIFT)]
    if not all(run.is_clear for run in (expected, *others)) or any(expected.differs(run) for run in others):
        return "unclear"
    model = space_of(body_source(seed, form), f"<bodies {form} {seed}>", tg=tg)["model"]
    try:
        found = tg.simulate(model, (0.0, END), rtol=1e-9, atol=1e-11)
    except (tg.UntraceableError, tg.UsageError):  # the latter for a body that never assigns anything
        return "refused"
    # straight lines are integrated to rounding; a crossing is found to 1e-12 of the span
    assert {name: found.final[name] for name in expected.values} == pytest.approx(expected.values, abs=1e-6), seed
    assert {text for event in found.events for text in event.messages} == expected.said
    return "agrees"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["functions", "component"])
@pytest.mark.parametrize("first", [0, 10, *(pytest.param(first, marks=pytest.mark.slow) for first in (20, 30))])
def test_random_bodies_do_what_python_does(form: Form, first: int) -> None:
    found = [outcome(seed, form) for seed in range(first, first + 10)]
    assert found.count("agrees") >= 5, found


@pytest.mark.hunt
@pytest.mark.parametrize("form", ["functions", "component"])
def test_runs_of_random_bodies_are_verified(form: Form) -> None:
    judged = 0
    for seed in range(12):
        try:
            model = space_of(body_source(seed, form), f"<verified {form} {seed}>", tg=tg)["model"]
            result = tg.simulate(model, (0.0, END), rtol=1e-9)
        except (SyntaxError, tg.UntraceableError, tg.UsageError):
            continue
        verification = tg.verify(result)
        assert verification.ok, f"{seed}: {verification}"
        judged += 1
    assert judged >= 6
