"""What later stages see of a model is plain data, and results show of it what its layout says, in that order."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

import tidegate as tg
from tidegate.executive import Options, prepare
from tidegate.expressions import Expr
from tidegate.simulate import compiled_of

ASKED = {"start", "initial", "final", "outputs", "words", "diagnosis", "stops", "identity", "again", "keep_alive", "series"}


class Slider(tg.Component):
    """A state, its rate made an unknown by the output that reads it, a discrete variable, outputs, and a last word."""

    x = tg.State(1.0)
    k = tg.Parameter(0.5)
    n = tg.Discrete(0.0)
    rate = tg.Output()
    square = tg.Output()

    def equations(self):
        yield tg.der(self.x) + 0.1 * tg.der(self.x) ** 3 == -self.k * self.x
        yield self.rate == tg.der(self.x)
        yield self.square == self.x * self.x

    @tg.when(lambda self: self.x < 0.6)
    def kick(self):
        return {self.x: 1.0, self.n: self.n + 1}

    @tg.finally_
    def park(self):
        return {self.n: -1.0}


def plain(item: Any) -> bool:
    if isinstance(item, Expr):
        return False
    if is_dataclass(item):
        return all(plain(getattr(item, entry.name)) for entry in fields(item) if entry.name not in ASKED | {"problem"})
    if isinstance(item, dict):
        return all(map(plain, [*item, *item.values()]))
    return all(map(plain, item)) if isinstance(item, tuple | list) else True


def test_no_expression_is_among_the_facts_of_a_compiled_model() -> None:
    assert plain(compiled_of(Slider()))


def test_results_show_what_the_layout_says_in_its_order(dae_method: str) -> None:
    compiled = compiled_of(Slider())
    turned = replace(compiled, layout=replace(compiled.layout, shown=compiled.layout.shown[::-1]))
    options = Options(method=dae_method, rtol=1e-8, sensitivities="all", outputs=np.linspace(0.0, 3.0, 7).tolist())
    one, other = (prepare(model, (0.0, 3.0), options).run() for model in (compiled, turned))
    assert [c.name for c in other.columns] == [c.name for c in one.columns][::-1] == ["square", "rate", "n", "x"]
    assert np.array_equal(other.values, one.values[:, ::-1])
    assert one.sensitivities is not None
    assert other.sensitivities is not None
    assert np.array_equal(other.sensitivities, one.sensitivities[:, :, ::-1], equal_nan=True)
    assert [(e.before, e.after) for e in other.events] == [(e.before, e.after) for e in one.events]
    assert other.final["n"] == one.final["n"] == -1.0
    for name in ("x", "n", "rate", "square"):
        assert other.at(1.3, name) == one.at(1.3, name)
