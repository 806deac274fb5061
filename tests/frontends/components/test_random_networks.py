"""Random networks of parts, against nodal analysis; and what is said when a connection or an equation is taken away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import expm

import tidegate as tg
from circuit_parts import Capacitor, Ground, Pin, Resistor, Source

FloatArray = NDArray[np.float64]


class Network(tg.Component):
    """Resistors along edges, a capacitor from every node to the ground, a source behind a resistor at node 0."""

    edges: Any = ()
    n = tg.Constant(1)
    m = tg.Constant(1)
    r = tg.Array(Resistor, "m")
    c = tg.Array(Capacitor, "n")
    feed, s, g = Resistor(R=1.0), Source(V=5.0), Ground()
    cut: Any = None

    def equations(self) -> Iterator[Any]:
        for k in range(self.n):
            ends = [self.c[k].p, *([self.feed.n] if k == 0 else [])]
            for e in range(self.m):
                if self.edges[e][0] == k:
                    ends.append(self.r[e].p)
                if self.edges[e][1] == k:
                    ends.append(self.r[e].n)
            left = [end for end in ends if end._path != self.cut]
            if len(left) > 1:
                yield tg.connect(*left)
        yield tg.connect(self.s.p, self.feed.p)
        yield tg.connect(self.g.p, self.s.n, *[self.c[k].n for k in range(self.n)])


def network(seed: int, most: int) -> tuple[type[Network], dict[str, Any], FloatArray, FloatArray]:
    """A connected graph, its values, and A, b of v' = A v + b."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, most))
    edges = [(int(rng.integers(0, k)), k) for k in range(1, n)]
    edges += [(int(a), int(b)) for a, b in rng.integers(0, n, size=(int(rng.integers(0, n)), 2)) if a != b]
    resistances, capacitances = rng.uniform(0.5, 3.0, len(edges)), rng.uniform(0.2, 1.0, n)
    g = np.zeros((n, n))
    for (a, b), r in zip(edges, resistances, strict=True):
        for i, j, sign in ((a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)):
            g[i, j] += sign / r
    g[0, 0] += 1.0
    source = np.zeros(n)
    source[0] = 5.0
    kind = type("Random", (Network,), {"edges": tuple(edges)})
    values = {"n": n, "m": len(edges), "mods": {}}
    values["mods"] |= {f"r[{k}].R": float(r) for k, r in enumerate(resistances)} | {f"c[{k}].C": float(c) for k, c in enumerate(capacitances)}
    return kind, values, -g / capacitances[:, None], source / capacitances


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 16))])
def test_a_random_network_moves_as_nodal_analysis_says(seed: int) -> None:
    kind, values, a, b = network(seed, 12 if seed < 4 else 60)
    result = tg.simulate(kind(**values), (0.0, 1.5), rtol=1e-9)
    truth = np.linalg.solve(a, (expm(1.5 * a) - np.eye(len(b))) @ b)
    assert [result.final[f"c[{k}].v"] for k in range(len(b))] == pytest.approx(truth.tolist(), rel=1e-6, abs=1e-8)
    assert result.final["feed.p.i"] == pytest.approx(5.0 - truth[0], rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_a_pin_that_is_left_out_carries_no_current_and_the_rest_is_right(seed: int) -> None:
    kind, values, _, _ = network(seed, 8)
    edge = int(np.random.default_rng(seed + 100).integers(0, values["m"]))
    cut = type("Cut", (kind,), {"cut": f"r[{edge}].n"})
    others = [item for k, item in enumerate(kind.edges) if k != edge]
    n = values["n"]
    g, capacitances = np.zeros((n, n)), np.array([values["mods"][f"c[{k}].C"] for k in range(n)])
    resistances = [values["mods"][f"r[{k}].R"] for k in range(values["m"]) if k != edge]
    for (i, j), r in zip(others, resistances, strict=True):
        g += np.outer(np.eye(n)[i] - np.eye(n)[j], np.eye(n)[i] - np.eye(n)[j]) / r
    g[0, 0] += 1.0
    b = np.zeros(n + 1)
    b[0] = 5.0 / capacitances[0]
    whole = np.zeros((n + 1, n + 1))
    whole[:n, :n], whole[:n, n] = -g / capacitances[:, None], b[:n]
    truth = expm(whole)[:n, n]  # a node cut off stays at zero, where its matrix is singular
    final = tg.simulate(cut(**values), (0.0, 1.0), rtol=1e-9).final
    assert [final[f"c[{k}].v"] for k in range(n)] == pytest.approx(truth.tolist(), rel=1e-6, abs=1e-8)
    assert final[f"r[{edge}].p.i"] == pytest.approx(0.0, abs=1e-12)


class Halves:
    """The equations of a resistor, one of which can be left out."""

    @staticmethod
    def without(left_out: int) -> type[tg.Component]:
        class Lame(tg.Component):
            p, n = Pin(), Pin()
            v, R = tg.Algebraic(unit="V"), tg.Parameter(1.0, unit="Ohm")

            def equations(self) -> Iterator[Any]:
                if left_out != 0:
                    yield self.v == self.p.v - self.n.v
                if left_out != 1:
                    yield self.p.i + self.n.i == 0
                if left_out != 2:
                    yield self.v == self.R * self.p.i

        return Lame


@pytest.mark.parametrize("seed", range(8))
def test_an_equation_that_is_taken_away_is_told_of_its_part(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kind, values, _, _ = network(seed, 10)
    lame = type("Lame", (kind,), {"feed": Halves.without(int(rng.integers(0, 3)))()})
    with pytest.raises(tg.StructureError, match=r"feed \(Lame\) has 2 equations where 3 are needed, 1 is missing"):
        lame(**values).lower()


@pytest.mark.parametrize("seed", range(4))
def test_an_equation_that_is_added_is_told_of_its_part(seed: int) -> None:
    class Fixed(Resistor):
        def equations(self) -> Iterator[Any]:
            yield self.p.v == 1.0

    kind, values, _, _ = network(seed, 10)
    with pytest.raises(tg.StructureError, match=r"feed \(Fixed\) has 4 equations where 3 are needed, 1 is too many"):
        type("Full", (kind,), {"feed": Fixed()})(**values).lower()


def test_a_network_without_ground_is_refused_by_what_nothing_determines() -> None:
    class Floating(tg.Component):
        a, b, s = Resistor(), Resistor(), Source()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.s.p, self.a.p)
            yield tg.connect(self.a.n, self.b.p)
            yield tg.connect(self.b.n, self.s.n)

    with pytest.raises((tg.StructureError, tg.SingularSystemError), match=r"p\.v"):
        tg.simulate(Floating(), (0.0, 1.0))
