"""Random constrained systems, starts that are solved for, ends that do something and circuits, exported and run beside their models."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from constrained_systems import FORMS, Chain, OnSurface
from random_exports import random_constrained, random_start
from source_text_checks import differences, exported
from tidegate.library import electrical as el

__all__: list[str] = []

LANGUAGES = ("c", "fortran")


@pytest.mark.hunt
@pytest.mark.parametrize("seed", range(6))
def test_random_constrained_systems_come_back_with_their_events(seed: int, tmp_path: Path) -> None:
    model, t_end = random_constrained(seed)
    block, names = exported(model, f"constrained_{seed}", tmp_path, LANGUAGES[seed % 2])
    # forces are the last digits of accelerations in forms of index two
    assert differences(model, (0.0, t_end), block, names, allowed=1e-8, hdae=FORMS[seed % 5], make_consistent=True) == []


@pytest.mark.hunt
@pytest.mark.parametrize("form", FORMS)
def test_exported_particles_and_rods_move_as_their_minimal_coordinates_do(form: str, tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    surface, chain = OnSurface.random(random, has_friction=True), Chain.random(random, 2)
    cases = (
        (tg.hdae(**surface.functions(np.sin)), surface.final(1.0), list("xyzuvw")),
        (tg.hdae(**chain.functions()), chain.final(1.0), chain.names()),
    )
    for k, (model, truth, wanted) in enumerate(cases):
        block, names = exported(model, f"moving_{k}", tmp_path, LANGUAGES[k])
        final = tg.simulate(block, (0, 1), rtol=1e-9, hdae=form, make_consistent=True, method="radau").final
        assert [final[names[name]] for name in wanted] == pytest.approx(truth, abs=1e-6)


@pytest.mark.hunt
@pytest.mark.parametrize("share", range(2))
def test_starts_that_are_solved_for_and_final_actions_come_back(share: int, tmp_path: Path) -> None:
    for seed in range(share, 10, 2):
        model, t_end = random_start(seed)
        block, names = exported(model, f"start_{seed}", tmp_path, LANGUAGES[seed // 2 % 2])
        assert differences(model, (0.0, t_end), block, names) == [], seed


class Tank(tg.Component):
    """Starts so that its level falls as is said, and reads its level at the end."""

    h = tg.State(0.5)
    q, k = tg.Parameter(3.0), tg.Parameter(2.0)
    read = tg.Discrete(0.0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.h) == self.q - self.k * np.sqrt(self.h)
        yield tg.initial_equations(tg.der(self.h) == 0.25)

    @tg.finally_
    def reads(self) -> Any:
        return {self.read: 2.0 * self.h}


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_an_initial_equation_follows_the_parameters_of_the_block(language: str, tmp_path: Path) -> None:
    block, _ = exported(Tank(), "tank", tmp_path, language)
    for q in (3.0, 2.25):
        result = tg.simulate(block, (0, 0.5), parameters={"Q": q}, rtol=1e-9)
        assert result["H"].values[0] == pytest.approx(((q - 0.25) / 2.0) ** 2, rel=1e-12)
        assert result.final["READ"] == pytest.approx(2.0 * result.final["H"], rel=1e-12)
        assert result["READ"].values[0] == 0.0


@pytest.mark.slow
def test_a_start_without_a_solution_ends_before_the_run(tmp_path: Path) -> None:
    class Never(tg.Component):
        x = tg.State(1.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == 0.0
            yield tg.initial_equations(self.x**2 == -1.0)

    block, _ = exported(Never(), "never", tmp_path)
    with pytest.raises(tg.CallbackError, match="what must hold at the start could not be solved for"):
        tg.simulate(block, (0, 1))


@pytest.mark.slow
def test_final_actions_are_carried_out_where_the_model_ends_the_run(tmp_path: Path) -> None:
    class Ends(tg.Component):
        x = tg.State(0.0)
        read = tg.Discrete(0.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == 1.0

        @tg.when(lambda self: self.x > 0.25)
        def enough(self) -> Any:
            tg.terminate("enough")

        @tg.finally_
        def reads(self) -> Any:
            return {self.read: self.x + 1.0}

    block, _ = exported(Ends(), "ends", tmp_path)
    result = tg.simulate(block, (0, 1))
    assert (result.t[-1], result.final["READ"]) == pytest.approx((0.25, 1.25))


@pytest.mark.slow
def test_a_resistance_of_zero_is_no_divisor_of_the_block(tmp_path: Path) -> None:
    class Shorted(tg.Component):
        v, r, c, short, g = el.ConstantVoltage(V=2.0), el.Resistor(R=1.0), el.Capacitor(C=0.5), el.Resistor(R=0.0), el.Ground()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.v.p, self.r.p)
            yield tg.connect(self.r.n, self.short.p)
            yield tg.connect(self.short.n, self.c.p)
            yield tg.connect(self.c.n, self.v.n, self.g.p)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tg.TidegateWarning)
        block, names = exported(Shorted(), "shorted", tmp_path)
        assert differences(Shorted(), (0.0, 1.0), block, names) == []
