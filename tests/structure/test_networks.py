"""Random networks of resistors, capacitors and sources, with every pin and connection, against nodal analysis and the matrix exponential."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import expm as matrix_exponential  # pyright: ignore[reportUnknownVariableType]

import tidegate as tg
from tidegate.expressions import ZERO, Expr, Role, symbol
from tidegate.model import Branch, Equation, Form, Model, Variable, VariableRole, When
from tidegate.simulate import compiled_of


def expm(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(matrix_exponential(matrix), dtype=float)


@dataclass(frozen=True)
class Part:
    """A two-pin between nodes: "R", "C" or "V" with its value, and for a "C" its voltage at the start."""

    name: str
    kind: str
    nodes: tuple[int, int]
    value: float
    start: float = 0.0


class Network:
    """A connected graph: a tree of resistors and more of them; capacitors and sources without loops among themselves, so that the index is one."""

    def __init__(self, seed: int, n_nodes: int) -> None:
        draw = random.Random(seed)
        self.n_nodes = n_nodes
        self.parts: list[Part] = []
        for node in range(1, n_nodes):
            self._add(draw, "R", (node, draw.randrange(node)), 10.0 ** draw.uniform(-1.0, 1.0))
        for _ in range(draw.randrange(n_nodes)):
            one, other = draw.sample(range(n_nodes), 2)
            self._add(draw, "R", (one, other), 10.0 ** draw.uniform(-1.0, 1.0))
        group = list(range(n_nodes))
        for _ in range(draw.randint(1, n_nodes)):
            one, other = draw.sample(range(n_nodes), 2)
            if group[one] != group[other]:
                group = [group[one] if item == group[other] else item for item in group]
                kind = "C" if draw.random() < 0.7 else "V"
                self._add(draw, kind, (one, other), draw.uniform(0.2, 2.0), draw.uniform(-1.0, 1.0))
        if not any(part.kind == "C" for part in self.parts):
            self._add(draw, "C", (1, 0), 1.0, 0.5) if group[1] != group[0] else None
        draw.shuffle(self.parts)

    def _add(self, draw: random.Random, kind: str, nodes: tuple[int, int], value: float, start: float = 0.0) -> None:
        self.parts.append(Part(f"{kind}{len(self.parts)}", kind, nodes if draw.random() < 0.5 else (nodes[1], nodes[0]), value, start))

    # -- as connections of parts write it

    def model(self, draw: random.Random, *, has_parameters: bool = True) -> Model:
        """Everything with its pins; the order of variables and equations is random."""
        variables: list[Variable] = []
        equations: list[tuple[Expr, Expr]] = []

        def unknown(name: str, role: VariableRole = VariableRole.ALGEBRAIC, start: float = 0.0) -> Expr:
            variables.append(Variable(name, role, start=(ZERO + start,)))
            return symbol(Role.UNKNOWN, name)

        pins: list[list[tuple[Expr, Expr]]] = [[] for _ in range(self.n_nodes)]
        for part in self.parts:
            ends = [(unknown(f"{part.name}.{end}.v"), unknown(f"{part.name}.{end}.i")) for end in "pn"]
            voltage = unknown(f"{part.name}.v", VariableRole.STATE if part.kind == "C" else VariableRole.ALGEBRAIC, part.start)
            value = symbol(Role.PARAMETER, f"{part.name}.value")
            variables.append(Variable(f"{part.name}.value", VariableRole.PARAMETER, start=(ZERO + part.value,)))
            value = value if has_parameters else ZERO + part.value
            equations += [(voltage, ends[0][0] - ends[1][0]), (ends[0][1] + ends[1][1], ZERO)]
            if part.kind == "R":
                equations.append((voltage, value * ends[0][1]))
            elif part.kind == "V":
                equations.append((voltage, value))
            else:
                equations.append((value * symbol(Role.DERIVATIVE, f"{part.name}.v"), ends[0][1]))
            for node, end in zip(part.nodes, ends, strict=True):
                pins[node].append(end)
        ground = (unknown("G.p.v"), unknown("G.p.i"))
        equations.append((ground[0], ZERO))
        pins[0].append(ground)
        for own in pins:
            draw.shuffle(own)
            equations += [(one[0], other[0]) for one, other in pairwise(own)]
            total = own[0][1]
            for _, current in own[1:]:
                total = total + current
            equations.append((total, ZERO))
        draw.shuffle(equations)
        draw.shuffle(variables)
        return Model("network", Form.DAE, tuple(variables), tuple(Equation(left, right) for left, right in equations))

    # -- by nodal analysis

    @property
    def capacitors(self) -> list[Part]:
        return [part for part in self.parts if part.kind == "C"]

    def nodal(self, voltages: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Potentials of the nodes, and currents of capacitors and sources, with capacitors of these voltages taken for sources."""
        sources = [*self.capacitors, *(part for part in self.parts if part.kind == "V")]
        n, m = self.n_nodes - 1, len(sources)
        matrix, right = np.zeros((n + m, n + m)), np.zeros(n + m)

        def at(node: int) -> int | None:
            return node - 1 if node else None

        for part in self.parts:
            if part.kind == "R":
                ends = [at(node) for node in part.nodes]
                for i, one in enumerate(ends):
                    for j, other in enumerate(ends):
                        if one is not None and other is not None:
                            matrix[one, other] += (1.0 if i == j else -1.0) / part.value
        for k, part in enumerate(sources):
            for sign, node in zip((1.0, -1.0), part.nodes, strict=True):
                place = at(node)
                if place is not None:
                    matrix[place, n + k] = matrix[n + k, place] = sign
            right[n + k] = voltages[k] if k < len(self.capacitors) else part.value
        found = np.linalg.solve(matrix, right)
        return np.concatenate([[0.0], found[:n]]), found[n:]

    def exact(self, time: float) -> dict[str, float]:
        """Potentials and voltages of everything at a time."""
        capacitors = self.capacitors
        n = len(capacitors)
        sizes = np.array([part.value for part in capacitors])

        def slope(x: NDArray[np.float64]) -> NDArray[np.float64]:
            return self.nodal(x)[1][:n] / sizes

        constant = slope(np.zeros(n))
        matrix = np.array([slope(row) - constant for row in np.eye(n)]).reshape(n, n).T
        whole = np.zeros((n + 1, n + 1))
        whole[:n, :n], whole[:n, n] = matrix, constant
        x = (expm(whole * time) @ np.array([*(part.start for part in capacitors), 1.0]))[:n]
        potentials, currents = self.nodal(x)
        sources = [*capacitors, *(part for part in self.parts if part.kind == "V")]
        known = dict(zip((part.name for part in sources), currents.tolist(), strict=True))
        values: dict[str, float] = {}
        for part in self.parts:
            p, q = (float(potentials[node]) for node in part.nodes)
            current = known[part.name] if part.kind != "R" else (p - q) / part.value
            shown = {"p.v": p, "n.v": q, "v": p - q, "p.i": current, "n.i": -current}
            values |= {f"{part.name}.{name}": value for name, value in shown.items()}
        return values


def check(seed: int, n_nodes: int, method: str = "radau", end: float = 1.0) -> None:
    network = Network(seed, n_nodes)
    model = network.model(random.Random(seed), has_parameters=seed % 3 > 0)
    result = tg.simulate(model, (0.0, end), method=method, rtol=1e-8, atol=1e-10)
    for time, values in ((0.0, {name: float(result[name].values[0]) for name in network.exact(0.0)}), (end, result.final)):
        exact = network.exact(time)
        largest = max(map(abs, exact.values()))
        wrong = {name: (values[name], value) for name, value in exact.items() if not abs(values[name] - value) <= 1e-5 * largest}
        assert not wrong, (seed, time, wrong)


@pytest.mark.parametrize(("seed", "n_nodes"), [(0, 4), (1, 6), (2, 10)])
def test_a_network_is_what_nodal_analysis_says(seed: int, n_nodes: int, dae_method: str) -> None:
    check(seed, n_nodes, dae_method)


@pytest.mark.hunt
@pytest.mark.parametrize("seed", range(3, 30))
def test_many_networks_are_what_nodal_analysis_says(seed: int) -> None:
    check(seed, 3 + seed % 20)


@pytest.mark.hunt
@pytest.mark.parametrize(("seed", "n_nodes"), [(100, 60), (101, 120), (102, 200)])
def test_large_networks_are_what_nodal_analysis_says(seed: int, n_nodes: int) -> None:
    check(seed, n_nodes, end=0.3)


def ladder(n: int) -> Model:
    """Resistors and capacitors of 1 in a row on a source of 1, every pin and every connection written."""
    network = Network.__new__(Network)
    network.n_nodes = n + 2
    network.parts = [Part("S", "V", (1, 0), 1.0)]
    for k in range(n):
        network.parts += [Part(f"R{k}", "R", (k + 1, k + 2), 1.0), Part(f"C{k}", "C", (k + 2, 0), 1.0)]
    return network.model(random.Random(0))


@pytest.mark.slow
def test_a_ladder_becomes_the_differential_equations_that_one_writes_by_hand(method: str) -> None:
    model = ladder(20)
    layout = compiled_of(model).layout
    assert sorted(layout.unknowns) == sorted(f"C{k}.v" for k in range(20))
    result = tg.simulate(model, (0.0, 10.0), method=method, rtol=1e-8, sensitivities=["S.value"])
    matrix = np.diag([-2.0] * 19 + [-1.0]) + np.diag([1.0] * 19, 1) + np.diag([1.0] * 19, -1)
    exact = np.linalg.solve(matrix, (expm(matrix * 10.0) - np.eye(20)) @ np.eye(20)[0])
    assert [result.final[f"C{k}.v"] for k in range(20)] == pytest.approx(exact.tolist(), rel=1e-5, abs=1e-7)  # steps add up
    assert result.final["R3.p.i"] == pytest.approx(exact[2] - exact[3], rel=1e-4)
    assert result.sensitivity("R3.p.i", "S.value").values[-1] == pytest.approx(exact[2] - exact[3], rel=1e-4)  # linear in the source
    assert result.final["R3.n.i"] == -result.final["R3.p.i"]


def test_events_ask_for_pins_that_are_not_solved_for(method: str) -> None:
    model = ladder(5)
    current = symbol(Role.UNKNOWN, "R0.p.i")
    model = Model(model.name, model.form, model.variables, model.equations, whens=(When((Branch((current < 0.5,), (), "half"),)),))
    result = tg.simulate(model, (0.0, 3.0), method=method, rtol=1e-8)
    (event,) = result.events
    assert event.cause == "half, R0.p.i < 0.5"
    assert event.before["R0.n.v"] == pytest.approx(0.5, abs=1e-6)
    assert event.after["C0.v"] == event.after["R1.p.v"] == -event.after["R0.v"] + 1.0


def check_short_circuit(seed: int) -> None:
    """One resistance is zero in the run: then the resistor is a source of nothing."""
    network, draw = Network(seed, 3 + seed % 9), random.Random(seed)
    short = draw.choice([part for part in network.parts if part.kind == "R"])
    group = list(range(network.n_nodes))
    for part in [part for part in network.parts if part.kind != "R"] + [short]:
        one, other = (group[node] for node in part.nodes)
        if one == other:
            return  # a loop without resistance: another index
        group = [one if item == other else item for item in group]
    result = tg.simulate(network.model(draw), (0.0, 0.5), parameters={f"{short.name}.value": 0.0}, rtol=1e-8, atol=1e-10)
    network.parts = [Part(part.name, "V", part.nodes, 0.0) if part is short else part for part in network.parts]
    exact = network.exact(0.5)
    largest = max(map(abs, exact.values()))
    assert {name: result.final[name] for name in exact} == pytest.approx(exact, abs=1e-5 * largest), seed


@pytest.mark.parametrize("seed", [500, 501])
def test_a_short_circuit_is_what_nodal_analysis_says(seed: int) -> None:
    check_short_circuit(seed)


@pytest.mark.hunt
@pytest.mark.parametrize("seed", range(502, 530))
def test_many_short_circuits_are_what_nodal_analysis_says(seed: int) -> None:
    check_short_circuit(seed)
