"""Blocks called by hand in their order; linear blocks; results that callbacks share; messages; the short name of the package."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import tidegate as tg
from tidegate.frontends.dsblock import EventAction, Instance, Phase, Start, linear, shared

CALLS: list[float] = []


class Shares(tg.DSblock):
    """Everything asks for one force."""

    message_file = "messages.txt"

    def define(self, declare: Any) -> None:
        declare.state("X", start=1.0)
        declare.output("Y")
        declare.indicator("Z")
        declare.real("K", 2.0, minimum=0.0)

    @shared
    def force(self, t: float, x: Any, u: Any, p: Any, m: Any) -> float:
        CALLS.append(t)
        return p.K * x.X * m.factor

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> float:
        return -self.force(t, x, u, p, m)

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> float:
        return self.force(t, x, u, p, m)

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> float:
        return self.force(t, x, u, p, m) - 1.0

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> None:
        m.factor = 1.0

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        m.factor = 0.5
        return EventAction(next_event=3.0 if "Z" in happening else None)

    def close(self) -> None:
        CALLS.append(-1.0)


def test_what_is_called_out_of_order_is_refused_with_both_phases() -> None:
    block = Instance(Shares())
    assert block.phase is Phase.DEFINED
    with pytest.raises(tg.DSblockOrderError, match="events of DSblock Shares are asked for in the phases started or running; it is defined"):
        block.event(0.0, [1.0], zero=["Z"])
    with pytest.raises(tg.DSblockOrderError, match="a run of DSblock Shares is ended in the phases started or running; it is defined"):
        block.terminate(0.0, [1.0])
    block.set_parameter("k", 3.0)
    with pytest.raises(tg.UsageError, match="K = -1, but 0 <= value"):
        block.set_parameter("K", -1.0)
    with pytest.raises(tg.UsageError, match="no parameter 'L'"):
        block.set_parameter("L", 1.0)
    block.start(0.0)
    assert block.phase is Phase.STARTED
    assert block.equations(0.0, {"X": 2.0}).X == -6.0
    assert block.phase is Phase.RUNNING
    for call, words in (
        (lambda: block.set_parameter("K", 1.0), "parameters of DSblock Shares can be changed in the phase defined; it is running"),
        (lambda: block.start(0.0), "started in the phase defined; it is running"),
        (block.close, "closed in the phase defined; it is running"),
    ):
        with pytest.raises(tg.DSblockOrderError, match=words):
            call()
    assert block.event(1.0, [1.0], zero=["Z"]).next_event == 3.0
    assert block.outputs(1.0, [1.0]).Y == 1.5
    block.terminate(1.0, [1.0])
    block.close()
    assert (block.phase, CALLS[-1]) == (Phase.CLOSED, -1.0)
    with pytest.raises(tg.DSblockOrderError, match="it is closed"):
        block.start(0.0)


def test_shared_results_are_computed_once_for_the_same_arguments_and_anew_behind_an_event() -> None:
    block = Instance(Shares())
    block.start(0.0)
    CALLS.clear()
    assert (block.equations(0.0, [1.0]).X, block.outputs(0.0, [1.0]).Y, block.indicators(0.0, [1.0]).Z) == (-2.0, 2.0, 1.0)
    assert len(CALLS) == 1
    block.outputs(0.0, [1.5])
    block.outputs(0.5, [1.5])
    assert len(CALLS) == 3
    block.event(0.5, [1.5])
    assert block.outputs(0.5, [1.5]).Y == 1.5


@pytest.mark.slow
def test_shared_results_agree_with_those_that_are_not(method: str) -> None:
    result = tg.simulate(Shares(), (0.0, 2.0), rtol=1e-9, method=method)
    t = float(np.log(2.0) / 2.0)
    assert [event.time for event in result.events] == pytest.approx([t], abs=1e-7)
    assert result.final["X"] == pytest.approx(0.5 * np.exp(-(2.0 - t)), rel=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_a_random_linear_block_does_what_its_matrix_exponential_does(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, n_u, n_y = random.integers(1, 5, 3)
    a, b, c, d = (random.normal(size=shape) for shape in ((n, n), (n, n_u), (n_y, n), (n_y, n_u)))
    x0, u = random.normal(size=n), random.normal(size=n_u)
    result = tg.simulate(linear(a, b, c, d, x0=x0), (0.0, 1.0), inputs={"U": u}, rtol=1e-9, traced=True)
    whole = expm(np.block([[a, (b @ u)[:, None]], [np.zeros((1, n + 1))]])) @ np.append(x0, 1.0)
    assert result["X"].values[-1] == pytest.approx(whole[:n], rel=1e-6, abs=1e-7)
    assert result["Y"].values[-1] == pytest.approx(c @ whole[:n] + d @ u, rel=1e-6, abs=1e-7)


def test_matrices_that_do_not_fit_are_refused_together() -> None:
    with pytest.raises(tg.UsageError, match=r"A is 1 by 2, not 1 by 1; B is 2 by 1, not 1 by 1; C is 1 by 3"):
        linear([[1.0, 2.0]], [[1.0], [2.0]], [[1.0, 2.0, 3.0]])


def test_a_block_says_messages_of_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "messages.txt").write_text("#4 I (= <I2>) has to be in the range <I1> <= I <= <I3>.\n")
    monkeypatch.chdir(tmp_path)
    block = Shares()
    assert block.message(4, "out of range", integers=(1, 7, 4)) == "I (= 7) has to be in the range 1 <= I <= 4."
    assert block.message(5, "out of range") == "out of range"
    with pytest.warns(tg.DSblockWarning, match="DSblock Shares: out of range"):
        block.warn(block.message(5, "out of range"))


def test_the_short_name_has_the_same_things() -> None:
    short = importlib.import_module("tidegate.dsblock")
    assert short.__all__ == importlib.import_module("tidegate.frontends.dsblock").__all__
    assert (short.Start, short.linear) == (Start, linear)
    assert tg.dsblock.Start is Start
