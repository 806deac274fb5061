"""No function that is emitted computes what its results do not need; a model of parts is one in which many do not need much."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.compiled import compile as compiling
from tidegate.compiled import emit_llvm
from tidegate.compiled.emit_llvm import FunctionSpec
from tidegate.expressions import walk

__all__: list[str] = []


class Emitted:
    """Specifications and LLVM text of a model's functions."""

    def __init__(self, specs: list[FunctionSpec], text: str) -> None:
        self.specs = {spec.name: spec for spec in specs}
        found: dict[str, list[str]] = {}
        for name, body in re.findall(r"define (?:internal )?void @([\w.]+)\([^)]*\) nounwind \{\n(.*?)\n\}", text, re.DOTALL):
            found.setdefault(name.split(".")[0], []).append(body)  # pieces of long ones are functions of their own
        self.bodies = {name: "\n".join(several) for name, several in found.items()}

    def calls(self, name: str) -> set[str]:
        return set(re.findall(r"call double @(\w+)\(", self.bodies.get(name, "")))

    def arithmetic(self, name: str) -> int:
        """Instructions that compute something from numbers."""
        return len(re.findall(r" = (?:f(?:add|sub|mul|div|neg|cmp)|select|call double) ", self.bodies.get(name, "")))


@pytest.fixture
def emitted(monkeypatch: pytest.MonkeyPatch) -> Any:
    def of(model: Any) -> Emitted:
        found: list[Emitted] = []
        emit = emit_llvm.emit_module

        def noted(specs: Any, *others: Any) -> str:
            text = emit(specs, *others)
            found.append(Emitted(list(specs), text))
            return text

        monkeypatch.setattr(compiling, "emit_module", noted)
        tg.prepare(model, (0.0, 1.0))
        monkeypatch.undo()
        return found[0]

    return of


class Signal(tg.Component):
    """Each of these unknowns is needed for one thing only."""

    x = tg.State(0.5)
    n = tg.Discrete(0.0)
    shown, watched, moving, reset = tg.Algebraic(), tg.Algebraic(), tg.Algebraic(), tg.Algebraic()
    out = tg.Output()

    def equations(self) -> Iterator[Any]:
        yield self.shown == np.cosh(self.x)
        yield self.watched == np.sin(self.x)
        yield self.moving == np.tanh(self.x)
        yield self.reset == np.arctan(self.x)
        yield tg.der(self.x) == -self.moving
        yield self.out == np.sinh(self.x)

    @tg.when(lambda self: self.watched < 0.3)
    def low(self) -> Any:
        return {self.n: self.reset}


def test_what_only_one_demand_needs_no_other_computes(emitted: Any) -> None:
    found = emitted(Signal())
    assert found.calls("rhs") == {"tanh"}
    assert found.calls("jacobian") == {"tanh"}
    assert found.calls("guards") == {"sin"}
    assert found.calls("bodies") == {"atan"}
    assert found.calls("conditions") == set()
    # rows of results show all of them, and they alone what nothing else needs
    assert found.calls("outputs") == {"sinh", "cosh", "sin", "tanh", "atan"}


def _random_parts(seed: int) -> Any:
    """A row of cells whose unknowns follow from each other in any order, some of them needed and some only there."""
    generator = random.Random(seed)
    n = 12

    class Cells(tg.Component):
        x = tg.State(np.linspace(0.1, 1.0, n))
        a, b = tg.Algebraic(np.zeros(n)), tg.Algebraic(np.zeros(n))
        k = tg.Parameter(0.7)
        hits = tg.Discrete(0)
        total = tg.Output()

        def equations(self) -> Iterator[Any]:
            for i in range(n):
                j = order[i]
                before = self.b[order[i - 1]] if i else self.x[0]
                yield self.b[j] == np.sin(self.k * self.x[j]) + 0.1 * before
                yield self.a[j] == np.exp(-self.x[j]) * self.b[j]
                yield tg.der(self.x[j]) == (-self.a[j] if needs[i] else -self.x[j])
            yield self.total == sum((self.a[i] for i in range(n)), 0.0)

        @tg.when(lambda self: self.b[watched] < 0.2)
        def hit(self) -> Any:
            return {self.hits: self.hits + 1}

    order = generator.sample(range(n), n)
    needs = [generator.random() < 0.5 for _ in range(n)]
    watched = generator.randrange(n)
    return Cells()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_function_computes_every_node_that_its_results_reach_once_and_no_other(seed: int, emitted: Any) -> None:
    found = emitted(_random_parts(seed))
    leaves = {"const", "symbol", "true", "false", "and", "or", "not"}
    for name in ("rhs", "jacobian", "guards", "guards_tangent", "guard_scale", "outputs", "conditions", "bodies"):
        reached = [item for item in walk([expr for _, expr in found.specs[name].outputs]) if item.op not in leaves]
        assert not any(item.op == "pow" for item in reached)  # more than one instruction a node
        assert found.arithmetic(name) <= len(reached), name
    # derivatives that need no algebraic unknown take one instruction each, however many there are
    text = found.bodies["rhs"]
    needed = sum(1 for item in walk([expr for _, expr in found.specs["rhs"].outputs]) if item.op == "exp")
    assert len(re.findall(r"@exp\(", text)) == needed
