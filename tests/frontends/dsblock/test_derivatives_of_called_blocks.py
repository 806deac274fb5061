"""Derivatives by parameters of blocks that are called, compiled ones among them, against closed forms and differences of these: what a block keeps in
its memory of parameters, of times and of states moves along.
"""

from __future__ import annotations

import math
import shutil
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from random_compiled_blocks import END, MAX_STEP, Drawn, names_of, truth
from random_compiled_source import written
from tidegate.frontends.dsblock.compiled.compiler import build_library

BLOCKS = Path(__file__).parent / "blocks"
STEP = 1e-6


def slope(function: Callable[..., float], at: Sequence[float], k: int) -> float:
    above, below = list(at), list(at)
    above[k] += STEP
    below[k] -= STEP
    return (function(*above) - function(*below)) / (2 * STEP)


def harvested(r: float, k: float, period: float, part: float) -> tuple[float, float]:
    """Population and catch at t = 2.75, from the solution of the logistic equation."""
    x, taken, n = 2.0, 0.0, int(2.75 / period + 1e-9)

    def grown(x: float, time: float) -> float:
        return k / (1 + (k / x - 1) * math.exp(-r * time))

    for _ in range(n):
        x = grown(x, period)
        taken += part * x
        x -= part * x
    return grown(x, 2.75 - n * period), taken


@pytest.mark.slow
def test_objects_on_the_heap_know_their_parameters_and_when_events_come(method: str) -> None:
    block = tg.dsblock.build(BLOCKS / "harvest.cpp", prefix="pop")
    result = tg.simulate(block, rtol=1e-9, sensitivities="all", method=method)
    base = (1.0, 10.0, 0.5, 0.25)
    for k, name in enumerate(("GROWTH[0]", "GROWTH[1]", "GROWTH[2]", "PART")):
        for which, signal in enumerate(("X", "HARVEST")):
            expected = slope(lambda *at, which=which: harvested(*at)[which], base, k)
            assert float(result.sensitivity(signal, name)[-1]) == pytest.approx(expected, abs=1e-6), (signal, name)
    told = result.statistics.extra
    assert told["derivatives by parameters"] == "differences of the callbacks"
    assert told["derivatives by states"] == "differences of the callbacks"


def level(w: float, d: float) -> float:
    """LEVEL of the antique block at t = 5: it decays, and rises by one where cos(w t) falls through zero."""
    value, since = 4.0, 0.0
    for time in ((math.pi / 2 + 2 * math.pi * k) / w for k in range(5)):
        if time < 5.0:
            value, since = value * math.exp(-d * (time - since)) + 1.0, time
    return value * math.exp(-d * (5.0 - since))


@pytest.mark.slow
def test_static_data_are_those_of_each_value_of_a_parameter() -> None:
    block = tg.dsblock.build(BLOCKS / "antique.f", prefix="ant")
    at = {"OMEGA": 2.0, "RATE": 0.5}  # the block gives as defaults what its COMMON has kept of another run
    for _ in range(2):
        result = tg.simulate(block, (0.0, 5.0), inputs={"FORCE": 0.0}, parameters=at, rtol=1e-8, sensitivities=["OMEGA", "RATE"])
        assert float(result.sensitivity("POS", "OMEGA")[-1]) == pytest.approx(-5 * math.sin(10.0), abs=1e-5)
        for k, name in enumerate(("OMEGA", "RATE")):
            assert float(result.sensitivity("LEVEL", name)[-1]) == pytest.approx(slope(level, (2.0, 0.5), k), abs=1e-5)
    assert tg.simulate(block, (0.0, 5.0), inputs={"FORCE": 0.0}, parameters=at, rtol=1e-8).final["LEVEL"] == pytest.approx(level(2.0, 0.5), abs=1e-6)
    block.close()


@pytest.mark.hunt
def test_isolated_blocks_have_derivatives() -> None:
    block = tg.dsblock.build(BLOCKS / "antique.f", prefix="ant", isolate=True)
    result = tg.simulate(block, (0.0, 1.5), inputs={"FORCE": 0.0}, rtol=1e-6, sensitivities=["RATE"])
    since = 1.5 - math.pi / 4
    expected = -1.5 * 4.0 * math.exp(-0.75) - since * math.exp(-0.5 * since)
    assert float(result.sensitivity("LEVEL", "RATE")[-1]) == pytest.approx(expected, abs=1e-5)
    block.close()


def test_integers_and_truth_values_have_no_derivatives() -> None:
    block = tg.dsblock.build(BLOCKS / "ball.c", prefix="ball")
    with pytest.raises(tg.UsageError, match="the parameter STOPS of ball is an integer: there is no derivative by it"):
        tg.simulate(block, (0.0, 1.0), sensitivities=["STOPS"])


def test_at_a_bound_differences_are_taken_on_the_side_that_is_allowed() -> None:
    block = tg.dsblock.build(BLOCKS / "harvest.cpp", prefix="pop")
    result = tg.simulate(block, rtol=1e-10, parameters={"PART": 0.0}, sensitivities=["PART"])
    values = [harvested(1.0, 10.0, 0.5, part)[0] for part in (0.0, STEP, 2 * STEP)]
    assert float(result.sensitivity("X", "PART")[-1]) == pytest.approx((-1.5 * values[0] + 2 * values[1] - 0.5 * values[2]) / STEP, rel=1e-6)


@pytest.mark.slow
def test_differences_go_farther_where_a_block_computes_in_single_precision() -> None:
    block = tg.dsblock.build(BLOCKS / "single.f", prefix="sin")
    result = tg.simulate(block, (0.0, 1.0), rtol=1e-9, sensitivities=["A", "B"])
    for k, name in enumerate("AB"):
        expected = slope(lambda a, b: (1 - b / a**2) * math.exp(-a * a) + b / a**2, (1.3, 0.7), k)
        assert float(result.sensitivity("X", name)[-1]) == pytest.approx(expected, rel=1e-4 if name == "A" else 1e-7)


class Jumpy(tg.DSblock):
    """Its right side rises by 0.01 with each thousandth part of A: differences are no derivatives."""

    def define(self, declare: Any) -> None:
        declare.state("X", start=1.0)
        declare.real("A", 1.2345678)

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return -x.X * (math.floor(p.A * 1e7) % 7)


def test_differences_that_disagree_are_told() -> None:
    with pytest.warns(tg.SensitivityWarning, match=r"derivatives of DSblock Jumpy by A are differences, and those with two steps differ by"):
        tg.simulate(Jumpy(), (0.0, 0.1), sensitivities=["A"])


class Deciding(tg.DSblock):
    """At t = 1/2 it goes on if A is at most one."""

    def define(self, declare: Any) -> None:
        declare.state("X", start=1.0)
        declare.real("A", 1.0)

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return -p.A * x.X

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Any:
        return tg.dsblock.Start(next_event=0.5)

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return tg.dsblock.EventAction(next_event=0.75) if p.A <= 1.0 else tg.dsblock.EventAction("stop")


def test_where_a_block_decides_otherwise_beside_there_is_no_derivative() -> None:
    with pytest.raises(tg.CallbackError, match=r"at t = 0.5 DSblock Deciding decides otherwise where A is a little different"):
        tg.simulate(Deciding(), (0.0, 1.0), sensitivities=["A"])
    assert float(
        tg.simulate(Deciding(), (0.0, 1.0), rtol=1e-8, parameters={"A": 0.5}, sensitivities=["A"]).sensitivity("X", "A")[-1]
    ) == pytest.approx(-math.exp(-0.5), abs=1e-6)


class Starting(tg.DSblock):
    """What ``start`` makes of parameters: a start value, a time, and what stays hidden in the memory."""

    def define(self, declare: Any) -> None:
        declare.state("X", start=7.0)
        declare.real("A", 2.0)
        declare.real("T", 0.7)
        declare.real("JUMP", 1.5)

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return -0.5 * x.X

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Any:
        m.hidden = p.JUMP**2
        return tg.dsblock.Start(x={"X": p.A**2}, next_event=p.T)

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return tg.dsblock.EventAction(x={"X": x.X + m.hidden * t})


@pytest.mark.parametrize("traced", [None, False])
def test_what_the_start_makes_of_parameters_is_differentiated(method: str, traced: bool | None) -> None:
    result = tg.simulate(Starting(), (0.0, 1.0), rtol=1e-9, sensitivities=["A", "T", "JUMP"], method=method, traced=traced)

    def final(a: float, t: float, jump: float) -> float:
        return a**2 * math.exp(-0.5) + jump**2 * t * math.exp(-0.5 * (1.0 - t))

    for k, name in enumerate(("A", "T", "JUMP")):
        assert float(result.sensitivity("X", name)[-1]) == pytest.approx(slope(final, (2.0, 0.7, 1.5), k), abs=1e-6), name


@pytest.mark.slow
def test_connections_of_compiled_blocks_have_derivatives() -> None:
    block = tg.dsblock.build(BLOCKS / "harvest.cpp", prefix="pop")
    pair = tg.dsblock.join({"one": block, "two": block}, links={})
    result = tg.simulate(pair, (0.0, 2.75), rtol=1e-8, sensitivities=["two.PART"])
    assert float(result.sensitivity("two.X", "two.PART")[-1]) == pytest.approx(
        slope(lambda *at: harvested(*at)[0], (1.0, 10.0, 0.5, 0.25), 3), abs=1e-5
    )
    assert float(result.sensitivity("one.X", "two.PART")[-1]) == 0.0


@pytest.mark.hunt
def test_a_block_with_static_data_is_differentiated_in_a_connection_too() -> None:
    block = tg.dsblock.build(BLOCKS / "antique.f", prefix="ant")
    other = tg.dsblock.linear([[-1.0]], [[1.0]], [[1.0]])
    whole = tg.dsblock.join({"inner": tg.dsblock.join({"old": block}, links={}), "lag": other}, links={"inner.old.FORCE": "lag.Y[0]"})
    at = {"inner.old.OMEGA": 2.0, "inner.old.RATE": 0.5}
    result = tg.simulate(whole, (0.0, 5.0), inputs={"lag.U": [0.0]}, parameters=at, rtol=1e-8, sensitivities=list(at))
    assert float(result.sensitivity("inner.old.POS", "inner.old.OMEGA")[-1]) == pytest.approx(-5 * math.sin(10.0), abs=1e-5)
    for k, name in enumerate(at):
        assert float(result.sensitivity("inner.old.LEVEL", name)[-1]) == pytest.approx(slope(level, (2.0, 0.5), k), abs=1e-5)
    block.close()


SEEDS = (6, 14, 29, 33, 46, 58)
METHODS = {14: "bdf", 33: "ida", 46: "adams"}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder, found = tmp_path_factory.mktemp("random"), {}
    for language in ("c", "f"):
        mine = [drawn for drawn in map(drawn_for, SEEDS) if drawn.language == language]
        source = folder / f"slopes.{language}"
        source.write_text(((BLOCKS / "blo.h").read_text() if language == "c" else "") + "".join(map(written, mine)))
        found[language] = folder / f"libslopes_{language}.so"
        shutil.copy(build_library(f"slopes_{language}", [source]), found[language])
    return found


def drawn_for(seed: int) -> Drawn:
    drawn = Drawn(seed)
    drawn.has_steps = False  # where steps end depends on the method
    return drawn


@pytest.mark.hunt
@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_of_a_random_compiled_block_are_those_of_exponentials(libraries: dict[str, Path], seed: int) -> None:
    drawn, ends, h = drawn_for(seed), [], 1e-5
    base = np.array(drawn.changed.get("reals", drawn.values["reals"]), dtype=float)
    for offset in (h, -h):
        drawn.changed["reals"] = base + offset * np.eye(6)[3]
        found = truth(drawn, [])
        ends.append((found.pieces[-1].at(END), [(event.word, event.hinfo) for event in found.events]))
    drawn.changed["reals"] = base
    assert ends[0][1] == ends[1][1]
    block = tg.dsblock.load(libraries[drawn.language], prefix=drawn.prefix)
    inputs = {f"U{i}": table for i, table in enumerate(drawn.tables)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = tg.simulate(
            block, (0.0, END), rtol=1e-9, max_step=MAX_STEP, method=METHODS.get(seed, "radau"), parameters=drawn.run_parameters(), inputs=inputs,
            sensitivities=["REALS[1,1]"],
        )  # fmt: skip
    assert len(result.events) == len(ends[0][1])
    expected = (ends[0][0] - ends[1][0]) / (2 * h)
    names = names_of("X", drawn.n + drawn.n_q, drawn.splits[0])[: len(expected)]
    assert [float(result.sensitivity(name, "REALS[1,1]")[-1]) for name in names] == pytest.approx(expected.tolist(), abs=2e-6, rel=2e-6)
