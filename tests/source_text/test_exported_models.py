"""Every example, the reference problems, the golden components and random models, exported, compiled, loaded and run, as they run themselves."""

from __future__ import annotations

import importlib
import warnings
from pathlib import Path
from typing import Any

import pytest

import hybrid_testset
import tidegate as tg
from golden_components import MODELS
from random_models import random_model
from reference_problems import problem
from source_text_checks import differences, exported

__all__: list[str] = []

# Python at events, and blocks of callbacks: there are no equations
NO_MODEL = {
    "pump_and_queue",
    "rocket",
    "ship_processes",
    "ship_simula",
    "tank_with_processes",
    "ten_projectiles",
    "connected_blocks",
    "shower",  # a class, which looks back in time
    "stepwise_control",
    "twelve_pulse",  # potentials of bridges that float are nobody's: what is determined comes back in test_exported_diodes.py
}
REFUSED = {
    "pipe_friction": "it calls friction_factor",
}
EXAMPLES = sorted({path.stem for path in (Path(__file__).parents[2] / "examples").glob("*.py")} - NO_MODEL)
# part of the span: of thousands of events; without the last one, behind which a rounding of the time moves a value by 1e-9 of its size
LONG = {"buck_converter": 0.02, "stiff_relay": 0.99}
LOUD = (tg.ChatteringError, tg.ZenoError, tg.UnsettledEventError, tg.StepSizeError, tg.NotFiniteError, tg.SingularSystemError, tg.InitializationError)
LANGUAGES = ("c", "fortran")
# the last ones: a relation that rests at its zero as soon as another one has crossed; unknowns that rest on a threshold at which others look too
SEEDS = (*range(15), 82, 128, 232)
OTHERS: dict[str, tuple[Any, tuple[float, float]]] = {
    "lithium": (hybrid_testset.LITHIUM, (0.0, 10.0)),
    "class_e": (hybrid_testset.ClassE(on=False), (0.0, 1e-5)),
    "relay": (hybrid_testset.Relay(), (0.0, 4.95)),
    "spirals_by_mode": (hybrid_testset.SpiralsByMode(), (0.0, 0.2)),
    "spirals_by_line": (hybrid_testset.SpiralsByLine(), (0.0, 0.2)),
    "cubic": (hybrid_testset.CUBIC, (0.0, 2.0)),
    "resting_ball": (hybrid_testset.RestingBall(), (0.0, 2.0)),
}


def models_of(module: Any) -> list[Any]:
    found = [value for name, value in vars(module).items() if not name.startswith("_") and not isinstance(value, type)]
    return [value for value in found if hasattr(value, "lower") and not isinstance(value, str)]


def language_of(number: int) -> str:
    """Each model in one of the languages; both are written from the same routines and formulas."""
    return LANGUAGES[number % 2]


def test_refused_are_examples() -> None:
    assert set(EXAMPLES) >= REFUSED.keys()


@pytest.mark.hunt
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_comes_back_or_is_refused_aloud(name: str, tmp_path: Path) -> None:
    module = importlib.import_module(f"examples.{name}")
    first, last = module.t_span
    for k, model in enumerate(models_of(module)):
        if name in REFUSED:
            with pytest.raises(tg.UsageError, match=REFUSED[name]):
                tg.dsblock.export(model, "refused", folder=tmp_path)
            assert not list(tmp_path.iterdir())
            continue
        block, names = exported(model, f"e{k}_{name[:18]}", tmp_path, language_of(EXAMPLES.index(name) + k))
        assert differences(model, (first, first + (last - first) * LONG.get(name, 1.0)), block, names) == []


@pytest.mark.hunt
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("key", ["P1", "P2", "P3", "P6", "P8"])
def test_reference_problems_come_back(key: str, language: str, tmp_path: Path) -> None:
    chosen = problem(key)
    first, last = chosen.t_span
    block, names = exported(chosen.model, f"p_{key}", tmp_path, language)
    assert differences(chosen.model, (first, last if key != "P8" else first + 0.05 * (last - first)), block, names) == []


@pytest.mark.hunt
@pytest.mark.parametrize("name", list(OTHERS))
def test_models_of_published_comparisons_come_back(name: str, tmp_path: Path) -> None:
    model, span = OTHERS[name]
    block, names = exported(model, f"h_{name}", tmp_path, language_of(list(OTHERS).index(name)))
    assert differences(model, span, block, names) == []


@pytest.mark.hunt
@pytest.mark.parametrize("name", list(MODELS))
def test_golden_components_come_back(name: str, tmp_path: Path) -> None:
    golden = MODELS[name]
    model = golden.make()
    block, names = exported(model, f"g_{name[:20]}", tmp_path, language_of(1 + list(MODELS).index(name)))
    assert differences(model, (0.0, golden.end), block, names) == []


@pytest.mark.hunt
@pytest.mark.parametrize("share", range(4))
def test_random_models_come_back(share: int, tmp_path: Path) -> None:
    found: list[str] = []
    runs = 0
    for seed in SEEDS[share::4]:
        made = random_model(seed)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", tg.TidegateWarning)
                tg.simulate(made.source, (0.0, made.t_end), max_steps=2000)
        except (*LOUD, tg.TooManyStepsError, tg.InvalidModelError):
            continue  # which is refused aloud, as a model
        block, names = exported(made.source, f"r_{seed}", tmp_path, language_of(seed))
        found += [f"seed {seed}: {text}" for text in differences(made.source, (0.0, made.t_end), block, names)]
        runs += 1
    assert not found, "\n".join(found)
    assert runs


@pytest.mark.hunt
@pytest.mark.parametrize("seed", [100, 357])
def test_a_block_whose_unknown_rests_on_a_threshold_by_chance_says_so(seed: int, tmp_path: Path) -> None:
    made = random_model(seed)
    block, _ = exported(made.source, f"r_{seed}", tmp_path, "c")
    with pytest.warns(tg.DSblockWarning, match=r"rest within rounding of zero, and not at it: INDICATOR_\d"):
        tg.simulate(block, (0.0, made.t_end), rtol=1e-11, method="radau")
