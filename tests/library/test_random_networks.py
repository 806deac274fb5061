"""Random networks of the electrical library, floating loops of capacitors and cutsets of coils included: right, or refused aloud.

The truth is the whole tableau of potentials and currents, ``E x' + F x = b sin(w t)``, integrated by Radau IIA of order five with steps of one
length: it knows of no states, no aliases and no index.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import tidegate as tg
from tidegate.errors import SingularSystemError, StructureError
from tidegate.library import electrical as el

END, STEPS, FREQUENCY = 0.7, 120, 0.5
MIXTURES = ("RRRRCLVI", "RRRCCCV", "RRLLLI", "RCLVI", "RRRR", "CCCR", "LLLR", "CCVR", "LLIR", "CCTR", "LLTR", "CVIT", "RRZZCLV", "RCLVZSIO", "RSOL")
SHARES, SEEDS = 4, 48  # raise the number of seeds to search on
LARGE = (5, 6)


@dataclass(frozen=True)
class Part:
    """Between two nodes, a transformer also between two others; resistor, one of zero, coil and so on."""

    kind: str
    a: int
    b: int
    value: float
    c: int = 0
    d: int = 0


def network(seed: int, n: int) -> list[Part]:
    """A connected one."""
    draw = random.Random(seed)
    mixture = draw.choice(MIXTURES)
    values = {
        "R": lambda: 10 ** draw.uniform(-1, 2), "Z": lambda: 0.0,
        "C": lambda: 10 ** draw.uniform(-2, 0.3), "L": lambda: 10 ** draw.uniform(-2, 0.3),
        "V": lambda: draw.uniform(1, 10), "I": lambda: draw.uniform(0.1, 2), "S": lambda: 1.0, "O": lambda: 0.0,
        "T": lambda: draw.choice([2.0, -3.0, 0.5]),
    }  # fmt: skip
    edges = [(i, draw.randrange(i)) for i in range(1, n)] + [(*draw.sample(range(n), 2),) for _ in range(draw.randint(1, n))]
    parts: list[Part] = []
    for one, other in edges:
        kind = draw.choice(mixture)
        a, b = (one, other) if draw.random() < 0.5 else (other, one)
        c, d = draw.sample(range(n), 2) if kind == "T" else (0, 0)
        parts.append(Part(kind, a, b, values[kind](), c, d))
    return parts + [Part("R", i, 0, 10 ** draw.uniform(0, 2)) for i in range(1, n) if draw.random() < 0.3]


MAKE: dict[str, Any] = {
    "R": lambda value: el.Resistor(R=value),
    "Z": lambda value: el.Resistor(R=value),
    "C": lambda value: el.Capacitor(C=value),
    "L": lambda value: el.Inductor(L=value),
    "V": lambda value: el.SineVoltage(V=value, f=FREQUENCY),
    "I": lambda value: el.SineCurrent(I=value, f=FREQUENCY),
    "S": lambda value: el.IdealSwitch(),
    "O": lambda value: el.IdealSwitch(),
    "T": lambda value: el.IdealTransformer(ratio=value),
}


def component(n: int, parts: list[Part], **other_parts: Any) -> Any:
    def equations(self: Any) -> Iterator[Any]:
        pins: list[list[Any]] = [[] for _ in range(n)]
        pins[0].append(self.G.p)
        for k, part in enumerate(parts):
            made = getattr(self, f"{part.kind}{k}")
            pins[part.a].append(made.p1 if part.kind == "T" else made.p)
            pins[part.b].append(made.n1 if part.kind == "T" else made.n)
            if part.kind == "T":
                pins[part.c].append(made.p2)
                pins[part.d].append(made.n2)
            if part.kind in "SO":
                yield made.control == part.value
        yield from (tg.connect(*group) for group in pins if len(group) > 1)

    body = {f"{part.kind}{k}": MAKE[part.kind](part.value) for k, part in enumerate(parts)} | other_parts
    return type("Net", (tg.Component,), {**body, "G": el.Ground(), "equations": equations, "__module__": __name__})()


def tableau(n: int, parts: list[Part]) -> tuple[Any, Any, Any]:
    """E, F and b for potentials but that of node 0, currents of all parts, and those of the second sides of transformers."""
    size = n - 1 + len(parts) + sum(part.kind == "T" for part in parts)
    e, f, b = np.zeros((size, size)), np.zeros((size, size)), np.zeros(size)

    def voltage(matrix: Any, row: int, p: int, n: int, factor: float = 1.0) -> None:
        for node, sign in ((p, factor), (n, -factor)):
            if node:
                matrix[row, node - 1] += sign

    second = n - 1 + len(parts)
    for k, part in enumerate(parts):
        row = n - 1 + k
        voltage(f.T, row, part.a, part.b)  # the sums of currents at the nodes
        if part.kind in "RZLVST":
            voltage(f, row, part.a, part.b)
        if part.kind in "RZ":
            f[row, row] = -part.value
        elif part.kind == "L":
            e[row, row] = -part.value
        elif part.kind == "C":
            voltage(e, row, part.a, part.b, -part.value)
        elif part.kind == "T":
            voltage(f.T, second, part.c, part.d)
            voltage(f, row, part.c, part.d, -part.value)
            f[second, second], f[second, row] = 1.0, part.value
            second += 1
        if part.kind in "CIO":
            f[row, row] = 1.0
        if part.kind in "VI":
            b[row] = part.value
    return e, f, b


def integrated(e: Any, f: Any, b: Any, steps: int) -> Any:
    """From rest to the end."""
    s = 6**0.5
    a = np.array(
        [
            [(88 - 7 * s) / 360, (296 - 169 * s) / 1800, (-2 + 3 * s) / 225],
            [(296 + 169 * s) / 1800, (88 + 7 * s) / 360, (-2 - 3 * s) / 225],
            [(16 - s) / 36, (16 + s) / 36, 1 / 9],
        ]
    )
    h, size, nodes = END / steps, len(b), np.array([(4 - s) / 10, (4 + s) / 10, 1.0])
    factors = scipy.linalg.lu_factor(np.kron(np.eye(3), e) + h * np.kron(a, f))
    x = np.zeros(size)
    for k in range(steps):
        right = np.concatenate([b * np.sin(2 * np.pi * FREQUENCY * h * (k + node)) - f @ x for node in nodes])
        x = x + h * (a[2] @ scipy.linalg.lu_solve(factors, right).reshape(3, size))
    return x


def has_an_answer(e: Any, f: Any) -> bool:
    sizes = np.linalg.svd(1.37 * e + f, compute_uv=False)
    return bool(sizes[-1] > 1e-9 * sizes[0])


def check(seed: int, n: int) -> str:
    """Raise AssertionError if something is wrong; "right" or "refused"."""
    parts = network(seed, n)
    e, f, b = tableau(n, parts)
    try:
        final = tg.simulate(component(n, parts), (0.0, END), rtol=1e-8, atol=1e-10).final
    except (SingularSystemError, StructureError, tg.StepSizeError):
        assert not has_an_answer(e, f), (seed, n)
        return "refused"
    assert has_an_answer(e, f), (seed, n)
    rough, fine = integrated(e, f, b, STEPS), integrated(e, f, b, 2 * STEPS)
    at = lambda x, node: x[node - 1] if node else 0.0  # noqa: E731
    # ten times the difference of the two lengths, for the truth; rtol 1e-8 may grow a thousandfold over a network
    allowed = 10.0 * np.max(np.abs(rough - fine)) + 1e-5 * np.max(np.abs(fine)) + 1e-8
    for k, part in enumerate(parts):
        if part.kind != "T":
            voltage = at(fine, part.a) - at(fine, part.b)
            name = f"{part.kind}{k}"
            assert abs(final[f"{name}.i"] - fine[n - 1 + k]) <= allowed, (seed, n, name)
            assert abs(final[f"{name}.v"] - voltage) <= allowed, (seed, n, name)
    return "right"


@pytest.mark.hunt
@pytest.mark.parametrize("share", range(SHARES))
def test_random_networks_of_library_parts_are_right_or_refused(share: int) -> None:
    found = [check(seed, 3 + seed % 8) for seed in range(share, SEEDS, SHARES)]
    assert found.count("right") > len(found) // 2


@pytest.mark.hunt
@pytest.mark.parametrize("seed", LARGE)
def test_networks_of_two_hundred_nodes_are_right(seed: int) -> None:
    assert check(seed, 200) == "right"


def test_a_floating_loop_of_capacitors_ties_their_voltages() -> None:
    parts = [Part("R", 1, 0, 2.0), Part("C", 1, 2, 0.1), Part("C", 2, 3, 0.2), Part("C", 3, 1, 0.3), Part("R", 2, 0, 1.0), Part("I", 0, 3, 1.0)]
    e, f, b = tableau(4, parts)
    final = tg.simulate(component(4, parts), (0.0, END), rtol=1e-9, atol=1e-11).final
    truth = integrated(e, f, b, STEPS)
    np.testing.assert_allclose([final["C1.v"], final["C2.v"]], [truth[0] - truth[1], truth[1] - truth[2]], rtol=1e-6)
    assert final["C1.v"] + final["C2.v"] + final["C3.v"] == pytest.approx(0.0, abs=1e-12)


def test_a_floating_cutset_of_coils_between_resistors_ties_their_currents() -> None:
    # two resistors side by side hide that the coils before and behind them carry one current
    parts = [Part("V", 1, 0, 5.0), Part("L", 1, 2, 0.1), Part("R", 2, 3, 2.0), Part("R", 2, 3, 3.0), Part("L", 3, 0, 0.2)]
    e, f, b = tableau(4, parts)
    final = tg.simulate(component(4, parts), (0.0, END), rtol=1e-9, atol=1e-11).final
    assert final["L1.i"] == pytest.approx(final["L4.i"], rel=1e-12)
    assert final["L1.i"] == pytest.approx(integrated(e, f, b, STEPS)[4], rel=1e-6)


class Cut(el.OnePort):
    """A part that has lost its law."""


@pytest.mark.parametrize("seed", range(6))
def test_a_part_without_its_equation_is_named(seed: int) -> None:
    n = 3 + seed
    parts = [part for part in network(seed, n) if part.kind not in "TSO"]
    whole = component(n, parts)
    k = random.Random(seed).randrange(len(parts))
    name = f"{parts[k].kind}{k}"
    with pytest.raises(tg.TidegateError, match=name):
        tg.simulate(component(n, parts, **{name: Cut()}), (0.0, END))
    assert whole is not None
