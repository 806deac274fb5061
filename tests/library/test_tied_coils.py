"""Coils that blocking diodes tie, by parameters, through transformers and mutual inductance: currents and their derivatives against plain Python.

The truth goes from mode to mode by itself: in each the equations are written out, solved by an explicit method, and left where a current or a voltage
changes its sign. Its derivatives are central differences of whole runs of it, so that they know nothing of ties, jumps or events either.
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import tidegate as tg
from tidegate.integrators.kernel_cache import kernel
from tidegate.library import electrical as el

FloatArray = NDArray[np.float64]
Rates = Callable[[float, FloatArray], FloatArray]

RTOL = 1e-8
SIZE = 2e-5  # of currents: what a thousand tolerances make of them
DIFFERENCE = 1e-3  # of derivatives: what differences of a run are off by


class Chain(tg.Component):
    """A coil, a magnetising coil, an ideal transformer, and a coil with a freewheeling diode: blocked, ``i2 = ratio (i1 - im)``."""

    source, R1, L1 = el.SineVoltage(), el.Resistor(), el.Inductor(i=tg.start(0.0, fixed=True))
    Lm, transformer, L2 = el.Inductor(i=tg.start(0.0, fixed=True)), el.IdealTransformer(), el.Inductor(i=tg.start(0.0))
    R2, D, G = el.Resistor(), el.IdealDiode(), el.Ground()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.source.p, self.R1.p)
        yield tg.connect(self.R1.n, self.L1.p)
        yield tg.connect(self.L1.n, self.Lm.p, self.transformer.p1)
        yield tg.connect(self.transformer.p2, self.L2.p, self.D.n)
        yield tg.connect(self.L2.n, self.R2.p)
        yield tg.connect(self.source.n, self.Lm.n, self.transformer.n1, self.transformer.n2, self.R2.n, self.D.p, self.G.p)


class LongChain(Chain):
    """The same beside a ladder of 30 cells: so many unknowns that systems are sparse, and dense while currents are tied."""

    R, C = tg.Array(el.Resistor(R=10.0), 30), tg.Array(el.Capacitor(C=0.01, v=tg.start(0.0, fixed=True)), 30)

    def equations(self) -> Iterator[Any]:
        before = self.source.p
        for k in range(30):
            yield tg.connect(before, self.R[k].p)
            yield tg.connect(self.R[k].n, self.C[k].p)
            yield tg.connect(self.C[k].n, self.G.p)
            before = self.C[k].p


CHAIN = ["source.V", "source.f", "R1.R", "L1.L", "Lm.L", "L2.L", "R2.R", "transformer.ratio"]


def chain_modes(p: FloatArray) -> tuple[Rates, Rates, Rates, Rates]:
    """Rates of both modes, and what becomes negative as each ends."""
    volts, f, r1, l1, lm, l2, r2, n = p.tolist()

    def u(t: float) -> float:
        return volts * np.sin(2.0 * np.pi * f * t)

    def middle(t: float, y: FloatArray) -> Any:
        return (n * (u(t) - r1 * y[0]) / l1 + r2 * y[2] / l2) / (1.0 / (n * l2) + n / l1 + n / lm)

    def blocked(t: float, y: FloatArray) -> Any:
        v = middle(t, y)
        return np.array([(u(t) - r1 * y[0] - v) / l1, v / lm, (v / n - r2 * y[2]) / l2])

    def conducting(t: float, y: FloatArray) -> Any:
        return np.array([(u(t) - r1 * y[0]) / l1, 0.0, -r2 * y[2] / l2])

    return blocked, conducting, middle, lambda t, y: y[2] - n * (y[0] - y[1])


class Flyback(tg.Component):
    """Two coupled coils, the second behind a diode: blocked, ``i2 = 0``, and the first goes on alone."""

    source, R1, coils = el.SineVoltage(), el.Resistor(), el.Transformer(i1=tg.start(0.0, fixed=True), i2=tg.start(0.0, fixed=True))
    D, R2, G, G2 = el.IdealDiode(), el.Resistor(), el.Ground(), el.Ground()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.source.p, self.R1.p)
        yield tg.connect(self.R1.n, self.coils.p1)
        yield tg.connect(self.source.n, self.coils.n1, self.G.p)
        yield tg.connect(self.coils.p2, self.D.p)
        yield tg.connect(self.D.n, self.R2.p)
        yield tg.connect(self.R2.n, self.coils.n2, self.G2.p)


FLYBACK = ["source.V", "source.f", "R1.R", "coils.L1", "coils.L2", "coils.M", "R2.R"]


def flyback_modes(p: FloatArray) -> tuple[Rates, Rates, Rates, Rates]:
    """Likewise; M is negative, so that the diode blocks at first."""
    volts, f, r1, l1, l2, m, r2 = p.tolist()
    inverse = np.linalg.inv([[l1, m], [m, l2]])

    def u(t: float) -> float:
        return volts * np.sin(2.0 * np.pi * f * t)

    return (
        lambda t, y: np.array([(u(t) - r1 * y[0]) / l1, 0.0]),
        lambda t, y: inverse @ np.array([u(t) - r1 * y[0], -r2 * y[1]]),
        lambda t, y: np.sign(-m) * (u(t) - r1 * y[0]),
        lambda t, y: -y[1],
    )


def followed(modes: tuple[Rates, Rates, Rates, Rates], n: int, end: float) -> FloatArray:
    """Currents at the end, from zero, blocked first."""
    t, y, mode = 0.0, np.zeros(n), 0
    while t < end:
        leaves = modes[2 + mode]

        def leave(t: float, y: FloatArray, leaves: Rates = leaves) -> Any:
            return leaves(t, y)

        leave.terminal, leave.direction = True, -1  # type: ignore[attr-defined]
        part = solve_ivp(modes[mode], (t, end), y, events=leave, rtol=1e-10, atol=1e-12, method="DOP853", max_step=end / 40)
        t, y, mode = part.t[-1], part.y[:, -1], 1 - mode if part.status == 1 else mode
    return y


def drawn(kind: str, seed: int) -> tuple[FloatArray, float]:
    r = np.random.default_rng(seed)

    def between(low: float, high: float) -> float:
        return float(np.exp(r.uniform(np.log(low), np.log(high))))

    p = [between(1, 20), between(0.5, 2), between(0.3, 5)]
    if kind != "flyback":
        p += [between(0.05, 1), between(0.2, 3), between(0.05, 1), between(0.3, 5), between(0.3, 3)]
    else:
        first, second = between(0.1, 1), between(0.1, 1)
        p += [first, second, -r.uniform(0.2, 0.95) * np.sqrt(first * second), between(0.3, 5)]
    return np.array(p), float(r.uniform(0.8, 2.0))


CASES: dict[str, tuple[Any, list[str], Any, list[str]]] = {
    "chain": (Chain, CHAIN, chain_modes, ["L1.i", "Lm.i", "L2.i"]),
    "long chain": (LongChain, CHAIN, chain_modes, ["L1.i", "Lm.i", "L2.i"]),
    "flyback": (Flyback, FLYBACK, flyback_modes, ["coils.i1", "coils.i2"]),
}


def agree(result: tg.Result, names: list[str], parameters: dict[str, float], truth: Callable[[str, float], FloatArray]) -> None:
    """Currents at the end, and their derivatives by these parameters; ``truth`` gives the currents with one changed by some part of it."""
    size = max(np.abs(result[name].values).max() for name in names)
    np.testing.assert_allclose([result.final[name] for name in names], truth("", 0.0), rtol=0.0, atol=SIZE * size)
    for parameter, value in parameters.items():
        h = 2e-5
        slope = (truth(parameter, h) - truth(parameter, -h)) / (2.0 * h * value)
        found = [float(result.sensitivity(name, parameter)[-1]) for name in names]
        np.testing.assert_allclose(found, slope, rtol=0.0, atol=DIFFERENCE * np.abs(slope).max() + 1e-4 * size / abs(value), err_msg=parameter)


def check(kind: str, seed: int, method: str) -> None:
    make, known, modes, names = CASES[kind]
    p, end = drawn(kind, seed)
    values = dict(zip(known, p.tolist(), strict=True))
    result = tg.simulate(make(), (0.0, end), rtol=RTOL, method=method, parameters=values, sensitivities=known)

    def truth(parameter: str, part: float) -> FloatArray:
        moved = np.array([value * (1.0 + part * (name == parameter)) for name, value in values.items()])
        return followed(modes(moved), len(names), end)

    agree(result, names, values, truth)


@pytest.mark.hunt
@pytest.mark.parametrize("kind", sorted(CASES))
@pytest.mark.parametrize("method", ["radau", "ida"])
def test_coils_behind_diodes_follow_the_truth_and_so_do_their_derivatives(kind: str, method: str) -> None:
    check(kind, 5, method)


@pytest.mark.hunt
@pytest.mark.parametrize("kind", sorted(CASES))
def test_more_coils_behind_diodes_follow_the_truth_and_so_do_their_derivatives(kind: str) -> None:
    for seed in range(6, 8):  # raise it to search on
        check(kind, seed, "radau")


@pytest.mark.hunt
@pytest.mark.parametrize("method", ["radau", "ida", "rodas5p"])
def test_a_large_circuit_goes_on_from_a_copy_made_while_its_currents_are_tied(method: str) -> None:
    p, end = drawn("long chain", 5)
    simulation = tg.Simulation(LongChain(), rtol=RTOL, method=method, parameters=dict(zip(CHAIN, p.tolist(), strict=True)))
    simulation.advance(0.05 * end)  # blocked
    copied = pickle.loads(pickle.dumps(simulation))
    copied.advance(end)
    found = [copied.result.final[name] for name in ("L1.i", "Lm.i", "L2.i")]
    truth = followed(chain_modes(p), 3, end)
    np.testing.assert_allclose(found, truth, rtol=0.0, atol=SIZE * np.abs(truth).max())


@pytest.mark.slow
def test_ties_in_a_sparse_system_that_is_too_large_are_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel("tidegate.integrators.radau.radau_method")  # what is imported before it keeps its machine code elsewhere, where nobody looks after it
    monkeypatch.setattr("tidegate.integrators.lay_out.MOST_TIED", 10)
    with pytest.raises(tg.SingularSystemError, match=r"tie states to each other.* more than the 500 with which that is integrated"):
        tg.simulate(LongChain(), (0.0, 1.0))


@dataclass(frozen=True)
class Coils:
    """Coils that all are coupled, each with a source, a resistance and perhaps a diode in its loop."""

    L: FloatArray
    R: FloatArray
    V: FloatArray
    f: FloatArray
    phase: FloatArray
    diodes: tuple[int, ...]
    end: float

    def voltages(self, t: Any) -> Any:
        return self.V * np.sin(2.0 * np.pi * self.f * t + self.phase)

    def rates(self, t: float, i: FloatArray, on: list[int]) -> FloatArray:
        out = np.zeros(len(i))
        out[on] = np.linalg.solve(self.L[np.ix_(on, on)], (self.voltages(t) - self.R * i)[on])
        return out

    def across(self, t: float, i: FloatArray, on: list[int]) -> FloatArray:
        """Voltages across diodes that block."""
        return self.voltages(t) - self.R * i - self.L @ self.rates(t, i, on)

    def fitting(self, t: float, i: FloatArray, sure: list[int], open_: list[int]) -> list[int]:
        """Who conducts: the one combination in which currents rise from zero and blocking diodes have no voltage ahead."""
        tried: list[tuple[float, list[int]]] = []
        for some in itertools.product((False, True), repeat=len(open_)):
            on = sorted(sure + [k for k, conducts in zip(open_, some, strict=True) if conducts])
            rates, across = self.rates(t, i, on), self.across(t, i, on)
            tried.append((max([0.0, *(-rates[k] if k in on else across[k] for k in open_)]), on))
        return min(tried)[1]

    def currents(self) -> FloatArray:
        i, just = np.zeros(len(self.R)), 1e-9  # behind an instant
        on = self.fitting(just, i, [k for k in range(len(i)) if k not in self.diodes], list(self.diodes))
        t, first = 0.0, 1e-6  # without a look at what starts at zero
        while t < self.end:
            ends: list[Any] = []
            for k in self.diodes if t > 0.0 else ():

                def leave(t: float, y: FloatArray, k: int = k, on: list[int] = on) -> Any:
                    return y[k] if k in on else -self.across(t, y, on)[k]

                leave.terminal, leave.direction = True, -1  # type: ignore[attr-defined]
                ends.append(leave)
            to = self.end if t > 0.0 else first

            def flow(t: float, y: FloatArray, on: list[int] = on) -> FloatArray:
                return self.rates(t, y, on)

            part = solve_ivp(flow, (t, to), i, events=ends or None, rtol=1e-10, atol=1e-13, method="DOP853", max_step=self.end / 30)
            t, i = part.t[-1], part.y[:, -1].copy()
            if part.status == 1:
                changed = [k for k, times in zip(self.diodes, part.t_events, strict=True) if len(times)]
                i[changed] = 0.0
                at_zero = [k for k in self.diodes if abs(i[k]) < 1e-9]
                new = self.fitting(t + just, i, [k for k in on if k not in at_zero], at_zero)
                on = new if new != sorted(on) else sorted({*on} ^ {*changed})
        return i

    def component(self) -> Any:
        given, n = self, len(self.R)

        class Coupled(tg.Component):
            R, V, L = tg.Parameter(given.R.tolist()), tg.Parameter(given.V.tolist()), tg.Parameter(given.L.tolist())
            i = tg.State([0.0] * n, fixed=True)
            s, coil = tg.Algebraic(shape=n), tg.Algebraic(shape=n)

            def equations(self) -> Iterator[Any]:
                for k in range(n):
                    yield self.coil[k] == sum(self.L[k, j] * tg.der(self.i[j]) for j in range(n))
                    rest = self.V[k] * np.sin(2.0 * np.pi * given.f[k] * tg.time + given.phase[k]) - self.R[k] * self.i[k] - self.coil[k]
                    if k in given.diodes:
                        yield self.i[k] == tg.where(self.s[k] < 0, 0.0, self.s[k])
                        yield rest == tg.where(self.s[k] < 0, self.s[k], 0.0)
                    else:
                        yield self.s[k] == 0
                        yield rest == 0

        return Coupled()


def coils(seed: int) -> Coils:
    r = np.random.default_rng(seed)
    n = int(r.integers(4, 6))  # more than are solved for by expressions, so that M is not diagonal
    root = r.normal(size=(n, n))
    matrix = root @ root.T / n * 0.3 + np.diag(r.uniform(0.1, 0.4, n))
    numbers = [np.round(r.uniform(low, high, n), 2) for low, high in ((0.3, 4), (1, 10), (0.5, 1.5), (0, 6.28))]
    return Coils(np.round((matrix + matrix.T) / 2.0, 3), *numbers, tuple(k for k in range(n) if r.random() < 0.6), float(r.uniform(0.4, 1.2)))


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "method"), [(2, "radau"), (3, "ida")])
def test_coils_that_are_all_coupled_follow_the_truth_where_their_diodes_block(seed: int, method: str) -> None:
    given = coils(seed)
    result = tg.simulate(given.component(), (0.0, given.end), rtol=RTOL, method=method, sensitivities=["R[0]", "L[2,2]"])

    def truth(parameter: str, part: float) -> FloatArray:
        r, matrix = given.R.copy(), given.L.copy()
        r[0] *= 1.0 + part * (parameter == "R[0]")
        matrix[2, 2] *= 1.0 + part * (parameter == "L[2,2]")
        return replace(given, R=r, L=matrix).currents()

    names = [f"i[{k}]" for k in range(len(given.R))]
    agree(result, names, {"R[0]": float(given.R[0]), "L[2,2]": float(given.L[2, 2])}, truth)


class Clutch(tg.Component):
    """It slips until both shafts fit, and then holds them in the ratio of a gear: ``w1 = k w2``."""

    J1, J2, k, drive, slip, load = (tg.Parameter(value) for value in (0.5, 0.2, 1.7, 2.0, 5.0, 0.3))
    w1, w2 = tg.State(10.0, fixed=True), tg.State(1.0, fixed=True)
    torque, locked = tg.Algebraic(), tg.Discrete(False)

    def equations(self) -> Iterator[Any]:
        yield self.J1 * tg.der(self.w1) == self.drive * np.cos(tg.time) - self.torque
        yield self.J2 * tg.der(self.w2) == self.k * self.torque - self.load * self.w2
        yield tg.where(self.locked, self.w1 - self.k * self.w2, self.torque - self.slip) == 0

    @tg.when(lambda self: (self.w1 < self.k * self.w2) & ~self.locked)
    def lock(self) -> Any:
        return {self.locked: True}


@pytest.mark.slow
def test_a_ratio_that_moves_the_tie_together_with_a_speed_has_its_derivative(dae_method: str) -> None:
    known = {"J1": 0.5, "J2": 0.2, "k": 1.7, "drive": 2.0, "slip": 5.0, "load": 0.3}

    def truth(parameter: str, part: float) -> FloatArray:
        j1, j2, k, drive, slip, load = (value * (1.0 + part * (name == parameter)) for name, value in known.items())

        def meet(t: float, y: FloatArray) -> Any:
            return y[0] - k * y[1]

        meet.terminal = True  # type: ignore[attr-defined]
        accurate: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-12, "method": "DOP853"}
        first = solve_ivp(
            lambda t, y: [(drive * np.cos(t) - slip) / j1, (k * slip - load * y[1]) / j2], (0.0, 2.0), [10.0, 1.0], events=meet, **accurate
        )
        both = j2 + j1 * k * k
        then = solve_ivp(lambda t, y: (k * drive * np.cos(t) - load * y) / both, (first.t[-1], 2.0), [first.y[1, -1]], **accurate)
        return np.array([k, 1.0]) * then.y[0, -1]

    result = tg.simulate(Clutch(), (0.0, 2.0), rtol=RTOL, method=dae_method, sensitivities=list(known))
    agree(result, ["w1", "w2"], known, truth)
