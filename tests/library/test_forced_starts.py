"""A mode that ties or forces a state at the start: guesses give way to it, what was given must hold; circuits that never leave such a mode."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.library import electrical as el


def forced(coil: el.OnePort, opens_at: float | None) -> tg.Component:
    """A source of 1 A, beside which a switch is open for a time or for ever, sends its current through a coil and a resistor."""

    class Forced(tg.Component):
        source, G, R, switch = el.ConstantCurrent(I=1.0), el.Ground(), el.Resistor(R=2.0), el.IdealSwitch()
        L = coil

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.source.p, self.G.p)
            yield tg.connect(self.source.n, self.L.p, self.switch.p)
            yield tg.connect(self.L.n, self.R.p)
            yield tg.connect(self.R.n, self.switch.n, self.G.p)
            yield self.switch.control == (0.0 if opens_at is None else tg.where(tg.time < opens_at, 0.0, 1.0))

    return Forced()


@pytest.mark.slow
@pytest.mark.parametrize("coil", [el.Inductor(L=0.1), el.Inductor(L=0.1, i=1.0), el.Inductor(L=0.1, i=tg.start(2.0, fixed=False))])
def test_a_guess_gives_way_to_a_mode_that_forces_the_state(coil: el.OnePort, dae_method: str) -> None:
    result = tg.simulate(forced(coil, 1.0), (0.0, 1.1), outputs=[0.0, 0.5, 1.1], rtol=1e-8, method=dae_method)
    assert result["L.i"].values == pytest.approx([1.0, 1.0, np.exp(-20.0 * 0.1)], rel=1e-6)  # the closed switch is a way for it
    result = tg.simulate(forced(coil, None), (0.0, 1.0), method=dae_method)
    assert result.final["L.i"] == pytest.approx(1.0, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("i", [2.0, tg.start(2.0, fixed=True)])
@pytest.mark.parametrize("opens_at", [1.0, None])
def test_a_start_value_that_was_given_must_hold(i: Any, opens_at: float | None) -> None:
    with pytest.raises(tg.SingularSystemError, match=r"force L\.i from 2 to 1 at once at the start"):
        tg.simulate(forced(el.Inductor(L=0.1, i=i), opens_at), (0.0, 2.0))


@pytest.mark.slow
def test_whoever_declared_a_start_value_is_told_that_it_is_not_used() -> None:
    class Held(tg.Component):
        x, force = tg.State(3.0), tg.Algebraic()

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == -2.0 * self.x - self.force
            yield tg.where(tg.time < 1.0, self.x - 0.5, self.force) == 0

    with pytest.warns(tg.StartValueWarning, match=r"the start value 3 of x is not used: it starts at 0\.5"):
        final = tg.simulate(Held(), (0.0, 2.0), rtol=1e-9).final
    assert final["x"] == pytest.approx(0.5 * np.exp(-2.0), rel=1e-7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tg.simulate(Held(x=tg.start(0.5)), (0.0, 2.0)).final["x"] == pytest.approx(0.5 * np.exp(-2.0), rel=1e-5)


@pytest.mark.slow
def test_derivatives_by_a_parameter_that_moves_what_is_forced_are_refused_in_words() -> None:
    with pytest.raises(tg.SingularSystemError, match="derivatives"):
        tg.simulate(forced(el.Inductor(L=0.1), 1.0), (0.0, 2.0), sensitivities=["source.I"])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_switches_that_never_move_keep_coils_without_current(seed: int) -> None:
    """Coils that nothing but open switches joins to a source and a resistor: no relation changes in the whole run."""
    draw = random.Random(seed)
    n, tension, ohm, henry = draw.randint(1, 4), draw.uniform(1.0, 9.0), draw.uniform(1.0, 5.0), draw.uniform(0.1, 1.0)

    class Open(tg.Component):
        V, G, R, L0 = el.ConstantVoltage(V=tension), el.Ground(), el.Resistor(R=ohm), el.Inductor(L=henry)
        L = tg.Array(el.Inductor, n, L=[draw.uniform(0.01, 1.0) for _ in range(n)])
        S = tg.Array(el.IdealSwitch, n)

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.V.p, self.L0.p, *(self.L[k].p for k in range(n)))
            yield tg.connect(self.L0.n, self.R.p)
            for k in range(n):
                yield tg.connect(self.L[k].n, self.S[k].p)
                yield self.S[k].control == 0.0
            yield tg.connect(self.V.n, self.R.n, self.G.p, *(self.S[k].n for k in range(n)))

    final = tg.simulate(Open(), (0.0, 1.0), rtol=1e-8).final
    assert final["L0.i"] == pytest.approx(tension / ohm * -np.expm1(-ohm / henry), rel=1e-6)
    for k in range(n):
        assert final[f"L[{k}].i"] == 0.0
        assert final[f"S[{k}].v"] == pytest.approx(tension, rel=1e-8)
