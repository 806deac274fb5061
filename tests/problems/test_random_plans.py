"""Random hybrid plans in three front ends, and what is done with them, each against SciPy: values in between, sweeps, other starts, prepared runs,
runs in pieces that are saved, derivatives, linear models, fits."""

from __future__ import annotations

import copy
import random
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from hybrid_plans import Plan, Truth, Unsure, random_plan
from written_plans import as_component, as_diagram, as_function, methods_of, own_name

__all__: list[str] = []

ALLOWED = 1e-5


class Case:
    """A seed's plan in one front end by one method."""

    def __init__(self, seed: int) -> None:
        self.plan: Plan = random_plan(seed)
        self.truth = Truth(self.plan)
        self.draw = random.Random(seed)
        same = {name: name for name in self.plan.p}
        fronts: list[tuple[str, Any, dict[str, str]]] = [("function", as_function(self.plan), same), ("component", as_component(self.plan), same)]
        if drawn := as_diagram(self.plan):
            fronts.append(("diagram", *drawn))
        self.front, self.model, self.names = self.draw.choice(fronts)
        self.method = self.draw.choice(methods_of(self.plan))
        self.options = {"rtol": 1e-8, "method": self.method}
        self.states = [own_name(self.front, name) for name in self.plan.names]
        self.span = (0.0, self.plan.t_end)
        self.found: list[str] = []

    def require(self, what: str, name: str, value: float, truth: float, allowed: float = ALLOWED) -> None:
        if not abs(value - truth) <= allowed * (1.0 + abs(truth)):
            self.found.append(f"{what} of {name}: {value!r}, but {truth!r}")

    def times(self, count: int) -> list[float]:
        drawn = sorted(self.draw.uniform(0.05, self.plan.t_end) for _ in range(count))
        return [t for t in drawn if not self.truth.is_near(t, 1e-4)]

    def others(self, count: int) -> list[tuple[dict[str, float], Truth]]:
        """Other numbers, and what becomes of them."""
        found: list[tuple[dict[str, float], Truth]] = []
        chosen = self.draw.sample(sorted(self.names), min(2, len(self.names)))
        for _ in range(count):
            values = {name: self.plan.p[name] * self.draw.uniform(0.85, 1.2) for name in chosen}
            try:
                found.append((values, Truth(self.plan, values)))
            except Unsure:
                continue
        return found


def in_between(case: Case) -> None:
    times = case.times(6)
    run = tg.simulate(case.model, case.span, **case.options)
    rows = tg.simulate(case.model, case.span, outputs=times, event_rows=False, **case.options)
    for q, name in enumerate(case.states):
        for at, t in enumerate(times):
            case.require(f"dense value at {t}", name, float(run.at(t, name)), case.truth.at(t)[q])
            case.require(f"row at {t}", name, float(rows[name].values[list(rows.t).index(times[at])]), case.truth.at(t)[q])


def many_runs(case: Case) -> None:
    members, times = case.others(3), case.times(4)
    if not members or not times:
        return
    runs = tg.sweep(case.model, case.span, {case.names[k]: [p[k] for p, _ in members] for k in members[0][0]}, outputs=times, **case.options)
    for r, (values, truth) in enumerate(members):
        found = runs["event_time"].values[runs["event_member"].values == r]
        for at, k in truth.events:
            if case.plan.elements[k].kind != "noise" and not np.min(np.abs(found - at), initial=1.0) < 1e-5:
                case.found.append(f"no event of element {k} at {at} with {values}: {found}")
        for q, name in enumerate(case.states):
            for at, t in enumerate(times):
                if not truth.is_near(t, 1e-4):
                    case.require(f"sweep with {values} at {t}", name, float(runs[name].values[r, at]), truth.at(t)[q])


def other_starts(case: Case) -> None:
    y0 = [value + case.draw.uniform(-0.05, 0.05) for value in case.plan.y0]
    if case.front == "diagram" and "delay" in case.plan.kinds:
        return  # the block has its own past
    truth = Truth(case.plan, y0=y0)
    run = tg.simulate(case.model, case.span, y0={f"x{i}": value for i, value in enumerate(y0)}, **case.options)
    for q, name in enumerate(case.states):
        case.require("other start", name, run.final[name], truth.y[q])


def prepared_runs(case: Case) -> None:
    run = tg.prepare(case.model, case.span, **case.options)
    for values, truth in [*case.others(2), ({}, case.truth)]:
        result = run.with_parameters(**{case.names[k]: value for k, value in values.items()}).run()
        for q, name in enumerate(case.states):
            case.require(f"prepared with {values}", name, result.final[name], truth.y[q])


def in_pieces(case: Case) -> None:
    run = tg.Simulation(case.model, **case.options)
    for at, t in enumerate(case.times(4)):
        run.advance(t)
        if at == 1:
            with tempfile.TemporaryDirectory() as folder:
                run.save(Path(folder) / "run")
                run = tg.Simulation.load(Path(folder) / "run", case.model)
        elif at == 2:
            run = copy.copy(run)
        for q, name in enumerate(case.states):
            case.require(f"in pieces at {t}", name, run[name], case.truth.at(t)[q])


def derivatives(case: Case) -> None:
    name = case.draw.choice(sorted(case.names))
    step = 1e-5
    high, low = (Truth(case.plan, {name: case.plan.p[name] + side * step}, rtol=1e-13) for side in (1.0, -1.0))
    if [k for _, k in high.events] != [k for _, k in low.events]:
        return
    run = tg.simulate(case.model, case.span, sensitivities=[case.names[name]], **case.options)
    for q, state in enumerate(case.states):
        expected = (high.y[q] - low.y[q]) / (2 * step)
        case.require(f"derivative by {name}", state, float(run.sensitivity(state, case.names[name])[-1]), expected, 3e-4)


def linear_models(case: Case) -> None:
    if len(methods_of(case.plan)) == 1 or not (times := case.times(1)):
        return
    run = tg.Simulation(case.model, **case.options)
    run.advance(times[0])
    linear = tg.linearize(case.model, at=run)
    there = Truth(Plan(case.plan.seed, case.plan.n, case.plan.p, case.plan.y0, case.plan.elements, times[0]))
    kept = [str(name) for name in linear.A.coords[linear.A.dims[1]].values]
    for r, column in enumerate(case.states):
        step = 1e-6 * np.eye(len(case.states))[r]
        slopes = (np.array(there._rates(times[0], there.y + step)) - there._rates(times[0], there.y - step)) / 2e-6
        for q, row in enumerate(case.states):
            if {row, column} <= set(kept):
                case.require(f"slope by {column}", row, float(linear.A.values[kept.index(row), kept.index(column)]), slopes[q], 1e-6)


def fits(case: Case) -> None:
    members = case.others(1)
    if not members:
        return
    values, truth = members[0]
    name = next(iter(values))
    truth = Truth(case.plan, {name: values[name]})
    times = [t for t in np.linspace(0.05, case.plan.t_end, 40).tolist() if not truth.is_near(t, 1e-3)]
    columns = np.array([truth.at(t) for t in times])
    there = np.array([case.truth.at(t) for t in times])
    if [k for _, k in truth.events] != [k for _, k in case.truth.events] or np.max(np.abs(columns - there)) < 1e-2:
        return  # a step must not be needed across what happens in another order, and the data must say something
    data = {"time": np.array(times), **{case.states[q]: columns[:, q] for q in range(case.plan.n)}}
    fitted = tg.fit(case.model, data, [case.names[name]], method=case.method)
    case.require("fit", name, fitted.values[case.names[name]], values[name], 1e-4)


LOOKS = (many_runs, other_starts, prepared_runs, in_pieces, derivatives, linear_models, fits)


def judged(seed: int, looks: Sequence[Callable[[Case], None]] = LOOKS) -> list[str]:
    """What is wrong; nothing where the plan claims nothing, or a run said aloud that it cannot go on."""
    try:
        case = Case(seed)
    except Unsure:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tg.TidegateWarning)
        for look in looks:
            try:
                look(case)
            except Unsure:
                continue
            except tg.ChatteringError:
                return []
    about = f"seed {seed}, {case.front} by {case.method}, {sorted(case.plan.kinds)}"
    return [f"{about}: {text}" for text in case.found]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.slow] if seed > 4 else []) for seed in range(4, 18)])
def test_whatever_is_done_with_a_random_plan_agrees_with_scipy(seed: int) -> None:
    assert not judged(seed, [in_between, LOOKS[seed % len(LOOKS)]])


@pytest.mark.slow
def test_plans_that_are_sure_are_not_rare() -> None:
    sure = 0
    for seed in range(20, 26):
        try:
            sure += bool(Truth(random_plan(seed)).events)
        except Unsure:
            continue
    assert sure >= 2
