"""The ways in which connected blocks become one, each with a closed form."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import tidegate as tg


class Linear(tg.DSblock):
    """``x' = a x + b u``, ``y = c x + d u + h x'``."""

    def __init__(self, a: float = -1.0, b: float = 1.0, c: float = 1.0, d: float = 0.0, h: float = 0.0, x0: float = 1.0) -> None:
        self.numbers, self.x0 = {"A": a, "B": b, "C": c, "D": d, "H": h}, x0

    def define(self, declare: Any) -> None:
        declare.state("X", start=self.x0)
        declare.input("U", unit="V")
        declare.output("Y")
        for name, value in self.numbers.items():
            declare.real(name, value)
        declare.outputs_depend_on(inputs=bool(self.numbers["D"]), xdot=bool(self.numbers["H"]))

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return p.A * x.X + p.B * u.U

    def outputs(self, t: float, x: Any, *others: Any) -> Any:
        rate, (u, p, _) = others[0].X if len(others) == 4 else 0.0, others[-3:]
        return p.C * x.X + p.D * u.U + p.H * rate


class Gain(tg.DSblock):
    """``y = k u``, without states."""

    def __init__(self, k: float, *, shape: tuple[int, ...] = ()) -> None:
        self.k, self.shape = k, shape

    def define(self, declare: Any) -> None:
        declare.input("U", shape=self.shape)
        declare.output("Y", shape=self.shape)
        declare.real("K", self.k)

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return {"Y": p.K * u.U}


class Implicit(tg.DSblock):
    """A DAE: ``x' + x = u``, ``v = 2 x + u``, ``y = v``."""

    def define(self, declare: Any) -> None:
        declare.form("dae")
        declare.state("X", start=1.0)
        declare.state("V")
        declare.input("U")
        declare.output("Y")
        declare.outputs_depend_on(inputs=False)

    def residual(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        return [xdot.X + x.X - u.U, x.V - 2 * x.X - u.U]

    def outputs(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        return x.V


BLOCKS = Path(__file__).parent / "blocks"
RING = {"one.U": "two.Y", "two.U": "one.Y"}


def run(block: Any, **options: Any) -> Any:
    return tg.simulate(block, (0.0, 1.0), rtol=1e-9, **options)


def test_case_1_an_output_that_needs_no_input_makes_the_ring_an_ode() -> None:
    both = tg.dsblock.join({"one": Linear(), "two": Gain(-1.0)}, RING)
    assert (both.form, both.torn) == ("ode", ())
    final = run(both).final
    assert float(final["one.X"]) == pytest.approx(math.exp(-2.0), rel=1e-7)
    assert float(final["two.U"]) == float(final["one.X"])
    assert float(final["one.U"]) == float(final["two.Y"]) == -float(final["one.X"])


def test_case_2_outputs_that_need_derivatives_make_them_unknowns() -> None:
    # x' = -x + 0.5 x'
    both = tg.dsblock.join({"one": Linear(c=0.0, h=1.0), "two": Gain(0.5)}, RING)
    assert (both.form, both.torn) == ("dae", ())
    final = run(both).final
    assert float(final["one.X"]) == pytest.approx(math.exp(-2.0), rel=1e-7)
    assert float(final["one.Y"]) == pytest.approx(-2.0 * math.exp(-2.0), rel=1e-7)


def test_case_2_without_a_circle_derivatives_are_computed_on_the_way() -> None:
    chain = tg.dsblock.join({"two": Linear(a=0.0, x0=0.0), "one": Linear(c=0.0, h=1.0)}, {"two.U": "one.Y"})
    assert chain.form == "ode"
    assert float(run(chain, inputs={"one.U": 0.0}).final["two.X"]) == pytest.approx(math.exp(-1.0) - 1.0, rel=1e-7)


def test_case_3_a_loop_of_outputs_and_inputs_is_torn_at_one_element() -> None:
    # u1 = 0.5 (x1 + 0.5 u1)
    both = tg.dsblock.join({"one": Linear(d=0.5), "two": Gain(0.5)}, RING)
    assert both.form == "dae"
    assert len(both.torn) == 1
    final = run(both).final
    assert float(final["one.X"]) == pytest.approx(math.exp(-1.0 / 3.0), rel=1e-7)
    assert float(final["one.U"]) == pytest.approx(2.0 / 3.0 * math.exp(-1.0 / 3.0), rel=1e-7)


def test_a_dae_among_the_blocks_makes_the_whole_one() -> None:
    # u = -v, v = 2 x + u, hence v = x
    both = tg.dsblock.join({"one": Implicit(), "two": Gain(-1.0)}, RING)
    assert (both.form, both.torn) == ("dae", ())
    final = run(both).final
    assert float(final["one.X"]) == pytest.approx(math.exp(-2.0), rel=1e-7)
    assert float(final["one.V"]) == pytest.approx(math.exp(-2.0), rel=1e-7)


def test_arrays_are_linked_as_a_whole_or_by_element() -> None:
    matrix = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    links = {"two.U": "one.Y", "three.U": "two.Y[0,2]", "four.U[1,0]": "three.Y"}
    blocks = {"one": Gain(2.0, shape=(2, 3)), "two": Gain(10.0, shape=(2, 3)), "three": Gain(1.0), "four": Gain(1.0, shape=(2, 3))}
    whole = tg.dsblock.join(blocks, links)
    result = run(whole, inputs={"one.U": matrix, "four.U[0,1]": 7.0})
    assert np.array_equal(result["two.Y"].values[-1], 20.0 * matrix)
    assert float(result.final["three.Y"]) == 60.0
    assert np.array_equal(result["four.Y"].values[-1], [[0.0, 7.0, 0.0], [60.0, 0.0, 0.0]])


def test_a_connection_is_connected_again() -> None:
    inner = tg.dsblock.join({"plant": Linear(), "gain": Gain(1.0)}, {"plant.U": "gain.Y"}, inputs={"IN": "gain.U"}, outputs={"OUT": "plant.Y"})
    outer = tg.dsblock.join({"inner": inner, "back": Gain(-1.0)}, {"inner.IN": "back.Y", "back.U": "inner.OUT"})
    assert outer.form == "ode"
    result = run(outer, parameters={"inner.gain.K": 3.0})
    assert float(result.final["inner.plant.X"]) == pytest.approx(math.exp(-4.0), rel=1e-7)
    assert float(result.final["inner.gain.Y"]) == pytest.approx(-3.0 * math.exp(-4.0), rel=1e-7)


@pytest.mark.slow
def test_a_loop_across_two_levels_is_torn_there() -> None:
    inner = tg.dsblock.join({"one": Linear(d=0.5), "gain": Gain(1.0)}, {"one.U": "gain.Y"}, inputs={"IN": "gain.U"}, outputs={"OUT": "one.Y"})
    outer = tg.dsblock.join({"inner": inner, "two": Gain(0.5)}, {"inner.IN": "two.Y", "two.U": "inner.OUT"})
    assert len(outer.torn) == 1
    assert float(run(outer).final["inner.one.X"]) == pytest.approx(math.exp(-1.0 / 3.0), rel=1e-7)
    # and a loop that is closed inside stays there
    closed = tg.dsblock.join({"loop": tg.dsblock.join({"one": Linear(d=0.5), "two": Gain(0.5)}, RING), "after": Gain(3.0)}, {"after.U": "loop.one.Y"})
    final = run(closed).final
    assert float(final["after.Y"]) == pytest.approx(4.0 * math.exp(-1.0 / 3.0), rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("forth", [1.0, 2.0])
def test_a_loop_that_has_no_solution_is_refused_by_name(forth: float) -> None:
    # u1 = x2 + u2 / forth, u2 = x1 + forth u1
    both = tg.dsblock.join({"one": Linear(d=forth), "two": Linear(d=1.0 / forth)}, RING)
    with pytest.raises(tg.SingularSystemError, match=r"one\.U = two\.Y, two\.U = one\.Y .* exactly one solution"):
        run(both)


def test_a_loop_that_any_value_solves_is_refused_too() -> None:
    both = tg.dsblock.join({"one": Gain(1.0), "two": Gain(1.0)}, RING)
    with pytest.raises(tg.SingularSystemError, match="exactly one solution"):
        run(both)


class Square(tg.DSblock):
    """``y = u^2 - 2``."""

    def define(self, declare: Any) -> None:
        declare.input("U")
        declare.output("Y")

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return u.U**2 - 2.0


@pytest.mark.slow
@pytest.mark.parametrize(("guess", "solution"), [(None, -1.0), (5.0, 2.0), (-3.0, -1.0)])
def test_a_guess_chooses_between_solutions_of_a_loop(guess: float | None, solution: float) -> None:
    both = tg.dsblock.join({"one": Square(), "two": Gain(1.0)}, RING, guesses={} if guess is None else {"one.U": guess})
    assert float(run(both).final["one.U"]) == pytest.approx(solution, abs=1e-9)


def test_one_input_of_the_connection_drives_several() -> None:
    both = tg.dsblock.join({"one": Linear(), "two": Linear(a=-2.0)}, {}, inputs={"F": ["one.U", "two.U"]})
    final = run(both, inputs={"F": 1.0}).final
    assert float(final["one.X"]) == pytest.approx(1.0, rel=1e-7)
    assert float(final["two.X"]) == pytest.approx(0.5 + 0.5 * math.exp(-2.0), rel=1e-7)


def test_what_is_not_shown_is_recorded_and_not_connected() -> None:
    inner = tg.dsblock.join({"one": Linear(), "two": Gain(2.0)}, {"two.U": "one.Y"}, outputs=["two.Y"])
    assert float(run(inner, inputs={"one.U": 0.0}).final["one.Y"]) == pytest.approx(math.exp(-1.0), rel=1e-7)
    with pytest.raises(tg.InvalidModelError, match=r"inner\.one\.Y is an auxiliary variable"):
        tg.dsblock.join({"inner": inner, "more": Gain(1.0)}, {"more.U": "inner.one.Y"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prefix", "gain", "form", "torn", "rate"),
    [("lag", -1.0, "ode", (), 2.0), ("rate", 0.5, "dae", (), 2.0), ("lead", 0.5, "dae", ("one.U",), 1.0 / 3.0)],
)
def test_compiled_blocks_are_connected_in_the_three_ways(prefix: str, gain: float, form: str, torn: tuple[str, ...], rate: float) -> None:
    # u = -x; u = 0.5 x'; u = 0.5 (x + 0.5 u)
    one, compiled = (tg.dsblock.build(BLOCKS / "partners.c", prefix=name) for name in (prefix, "gain"))
    both = tg.dsblock.join({"one": one, "two": compiled}, RING, guesses={"one.U": 0.0} if torn else None)
    assert (both.form, both.torn) == (form, torn)
    assert float(run(both, parameters={"two.K": gain}).final["one.X"]) == pytest.approx(math.exp(-rate), rel=1e-7)
    mixed = tg.dsblock.join({"one": one, "two": Gain(gain)}, RING)
    assert float(run(mixed).final["one.X"]) == pytest.approx(math.exp(-rate), rel=1e-7)


@pytest.mark.slow
def test_compiled_blocks_are_connected_in_the_other_ways() -> None:
    def partner(name: str) -> Any:
        return tg.dsblock.build(BLOCKS / "partners.c", prefix=name)

    # derivatives on the way: y = x' = -exp(-t), so that the second is (1 - t) exp(-t)
    chain = tg.dsblock.join({"second": partner("lag"), "first": partner("rate")}, {"second.U": "first.Y"})
    assert chain.form == "ode"
    assert float(run(chain, inputs={"first.U": 0.0}).final["second.X"]) == pytest.approx(0.0, abs=1e-7)
    # a connection in a connection
    inner = tg.dsblock.join({"lag": partner("lag")}, {}, inputs={"IN": "lag.U"}, outputs={"OUT": "lag.Y"})
    outer = tg.dsblock.join({"inner": inner, "back": partner("gain")}, {"inner.IN": "back.Y", "back.U": "inner.OUT"})
    assert outer.form == "ode"
    assert float(run(outer, parameters={"back.K": -3.0}).final["inner.lag.X"]) == pytest.approx(math.exp(-4.0), rel=1e-7)
    # a loop without one solution
    with pytest.raises(tg.SingularSystemError, match=r"one\.U = two\.Y, two\.U = one\.Y .* exactly one solution"):
        run(tg.dsblock.join({"one": partner("gain"), "two": partner("gain")}, RING))
    # a DAE in Fortran and a gain in C: x' = v, x = v + v^3, hence log v + 3/2 v^2 = t + 3/2; y = x'
    whole = tg.dsblock.join({"dae": tg.dsblock.build(BLOCKS / "implicit.f", prefix="imp"), "gain": partner("gain")}, {"gain.U": "dae.RATE"})
    assert (whole.form, whole.torn) == ("dae", ())
    v = brentq(lambda v: math.log(v) + 1.5 * v * v - 2.5, 0.5, 3.0, xtol=1e-14)
    final = run(whole, parameters={"dae.K": 0.0, "gain.K": 3.0}).final
    assert float(final["dae.Y"]) == pytest.approx(v, rel=1e-7)
    assert float(final["gain.Y"]) == pytest.approx(3.0 * v, rel=1e-7)


@pytest.mark.hunt
@pytest.mark.parametrize("n", [3, 13, 14, 30])
def test_a_ring_of_many_blocks_is_torn_once(n: int) -> None:
    # more than 13 are beyond what is searched for the very fewest
    ring = tg.dsblock.join({f"b{k}": Gain(0.5) for k in range(n)}, {f"b{k}.U": f"b{(k + 1) % n}.Y" for k in range(n)})
    assert len(ring.torn) == 1
    both_ways = {f"b{k}.U[{j}]": f"b{(k + 2 * j - 1) % n}.Y[{j}]" for k in range(n) for j in range(2)}
    pairs = tg.dsblock.join({f"b{k}": Gain(0.5, shape=(2,)) for k in range(n)}, both_ways)
    # of each pair of neighbours one way must go, and going round is over with that
    assert len(pairs.torn) == n
