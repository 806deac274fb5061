"""Every example and reference problem, and random models, as a run solves them and as plain Python judges them."""

from __future__ import annotations

import importlib
import warnings
from pathlib import Path
from typing import Any

import pytest

import hybrid_testset
import ivp_testset
import tidegate as tg
from engines import DAE_METHODS, METHODS
from random_models import Once, RandomModel, random_model
from reference_problems import problem
from tidegate.model import Form

__all__: list[str] = []

RTOL = 1e-5
# no model to judge: Python at events
PROCESSES = {"pump_and_queue", "rocket", "ship_processes", "ship_simula", "tank_with_processes", "ten_projectiles"}
# stepwise_control sets inputs within its run, which the judge refuses
# blocks of callbacks are no equations
# shower looks back in time, which the judge refuses
# the judge takes minutes for the modes of twelve_pulse, whose truth is in tests/library/test_rectifiers
NO_MODEL = {"connected_blocks", "shower", "stepwise_control", "twelve_pulse", *PROCESSES}
EXAMPLES = sorted({path.stem for path in (Path(__file__).parents[2] / "examples").glob("*.py")} - NO_MODEL)
LONG = {"buck_converter", "sampled_heater", "stored_component"}  # thousands of events or of calls; the reference problems have the first again
QUICK_SEEDS = 24
SLOW_SEEDS = 60  # each seed is another model; raise it to search on
RUNS = 8  # of each of them, with other parameters and start values: they share what is followed and compiled
COMPONENT_RUNS = 3  # whose methods are called with numbers that know their names: four times the cost
SHARES = 4  # tests that the slow ones are spread over
REFUSED = "refused aloud"
LOUD = (tg.ChatteringError, tg.ZenoError, tg.UnsettledEventError, tg.StepSizeError, tg.NotFiniteError, tg.SingularSystemError, tg.InitializationError)


def models_of(module: Any) -> list[Any]:
    found = [value for name, value in vars(module).items() if not name.startswith("_") and not isinstance(value, type)]
    return [value for value in found if hasattr(value, "lower") and not isinstance(value, str)]


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_verified(name: str) -> None:
    module = importlib.import_module(f"examples.{name}")
    end = module.t_span[0] + (module.t_span[1] - module.t_span[0]) * (0.1 if name in LONG else 1.0)
    for model in models_of(module):
        check = tg.verify(tg.simulate(model, (module.t_span[0], end), rtol=RTOL), points=6)
        assert check.ok, str(check)
        assert not check.notes, check.notes


@pytest.mark.hunt
@pytest.mark.parametrize("method", ["radau", "ida"])
@pytest.mark.parametrize("key", ["P1", "P2", "P3", "P4", "P6"])
def test_every_reference_problem_is_verified(key: str, method: str) -> None:
    chosen = problem(key)
    check = tg.verify(tg.simulate(chosen.model, chosen.t_span, rtol=RTOL, method=method), points=4)
    assert check.ok, str(check)


@pytest.mark.hunt
@pytest.mark.parametrize("name", ["hires", "chemical_akzo", "transistor_amplifier"])
def test_smooth_stiff_problems_are_verified(name: str) -> None:
    end = ivp_testset.GOLDEN[name]["t_end"] * (0.2 if name == "transistor_amplifier" else 1.0)  # the whole of it is most of the cost of this file
    check = tg.verify(tg.simulate(ivp_testset.MODELS[name], (0.0, end), rtol=RTOL, method="ida"), points=3)
    assert check.ok, str(check)


@pytest.mark.slow
def test_the_lithium_cluster_is_verified(dae_method: str) -> None:
    check = tg.verify(tg.simulate(hybrid_testset.LITHIUM, (0.0, 1.0), rtol=RTOL, method=dae_method), points=4)
    assert check.ok, str(check)


def verified(made: RandomModel, source: Any, run: int, method: str, is_quick: bool) -> str:
    """What is wrong with a run of a random model; nothing if it is right, or was refused aloud."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tg.TidegateWarning)
            span, rtol = ((0.0, 1.0), 1e-4) if is_quick else ((0.0, made.t_end), RTOL)
            result = tg.simulate(source, span, rtol=rtol, method=method, max_steps=500 if is_quick else 2000, parameters=made.values(run))
    except (*LOUD, tg.TooManyStepsError, tg.InvalidModelError):
        return REFUSED
    check = tg.verify(result, points=1 if is_quick else 4)
    assert not check.notes, check.notes  # every one of them can be called with numbers
    return "" if check.ok else f"seed {made.seed} {made.family} run {run} by {method}, with {made.values(run)}:\n{made.text}\n{check}"


def verify_seed(seed: int, runs: int = 1) -> tuple[list[str], int]:
    """What is wrong with runs of a random model, and how many there were; several have other parameters and start values each, and are short."""
    made = random_model(seed)
    try:
        source = Once(made.source, made.truth)
    except tg.InvalidModelError:
        return [], 0
    methods = METHODS if source.lower().form is Form.ODE else DAE_METHODS
    # every other run by our own, whose few steps are judged in a third of the time
    chosen = [methods[0] if runs > 1 and run % 2 else methods[(seed + run // 2) % len(methods)] for run in range(runs)]
    found = [verified(made, source, run, method, runs > 1) for run, method in enumerate(chosen)]
    return [text for text in found if text and text != REFUSED], sum(text != REFUSED for text in found)


@pytest.mark.hunt
@pytest.mark.parametrize("first", range(0, QUICK_SEEDS, 6))
def test_random_models_are_verified(first: int) -> None:
    failures = [text for seed in range(first, first + 6) for text in verify_seed(seed)[0]]
    assert not failures, "\n".join(failures)


@pytest.mark.hunt
@pytest.mark.parametrize("share", range(SHARES))
def test_hundreds_of_runs_of_random_models_are_verified(share: int) -> None:
    failures: list[str] = []
    count = 0
    for seed in range(QUICK_SEEDS + share, SLOW_SEEDS, SHARES):
        found, runs = verify_seed(seed, COMPONENT_RUNS if random_model(seed).family == "component" else RUNS)
        failures += found
        count += runs
    assert not failures, "\n".join(failures)
    assert count >= 180 // SHARES, count
