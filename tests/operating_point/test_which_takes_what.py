"""The table of the reference page: what is done with a model is done with every kind of model, or refused in words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tidegate as tg

__all__: list[str] = []

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "simulate.md"


class Lag(tg.Component):
    x = tg.State(0.0)
    a = tg.Parameter(2.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == self.a - self.x


def diagram() -> tg.Diagram:
    found = tg.Diagram("lag")
    found.a = tg.blocks.Constant(2.0)
    found.x = tg.blocks.Integrator(start=0.0)
    found.x(found.a - found.x)
    return found


class Block(tg.DSblock):
    def define(self, declare: Any) -> None:
        declare.state("x", start=0.0)
        declare.real("a", 2.0)

    def derivatives(self, t: Any, x: Any, u: Any, p: Any, m: Any) -> Any:
        return {"x": p.a - x.x}


KINDS: dict[str, Callable[[], Any]] = {
    "function (`tg.ode`, `tg.dae`)": lambda: tg.ode(lambda t, y, p: [p["a"] - y["x"]], y0={"x": 0.0}, p={"a": 2.0}),
    "component": Lag,
    "diagram": diagram,
    "callbacks (`tg.DSblock`)": Block,
}


def parameter(model: Any) -> str:
    return "a.value" if isinstance(model, tg.Diagram) else "a"


DEEDS: dict[str, Callable[[Any], Any]] = {
    "tg.simulate": lambda m: tg.simulate(m, (0, 1)).final["x"],
    "tg.prepare": lambda m: tg.prepare(m, (0, 1)).run().final["x"],
    "tg.Simulation": lambda m: tg.Simulation(m).advance(1.0).final["x"],
    "tg.sweep": lambda m: tg.sweep(m, (0, 1), grid={parameter(m): [2.0]})["x"].item(),
    "tg.fit": lambda m: tg.fit(m, {"x": ([1.0], [1.2642411])}, [parameter(m)]).result.at(1.0, "x").item(),
    "tg.steady_state": lambda m: tg.steady_state(m)["x"] * 0.632120559,
    "tg.linearize": lambda m: tg.linearize(m, inputs=[parameter(m)], outputs=["x"]).step_response([1.0]).item() * 2.0,
    "tg.cross_check": lambda m: tg.cross_check(m, (0, 1)).results[0].final["x"],
    "tg.verify": lambda m: tg.verify(tg.simulate(m, (0, 1))).ok * 1.2642411,
    "result.compare": lambda m: tg.simulate(m, (0, 1)).compare(tg.simulate(m, (0, 1))).agrees * 1.2642411,
    "tg.show": lambda m: ("x" in str(tg.show(m))) * 1.2642411,
}


def cells() -> list[tuple[str, str, str]]:
    _, _, table = PAGE.read_text(encoding="utf-8").partition("## Which model takes what\n")
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()]
    return [(row[0].strip("`"), kind, said) for row in rows for kind, said in zip(head[1:], row[1:], strict=True)]


def test_the_table_has_every_deed_and_every_kind() -> None:
    assert {deed for deed, _, _ in cells()} == set(DEEDS)
    assert {kind for _, kind, _ in cells()} == set(KINDS)


@pytest.mark.filterwarnings("ignore:what Block keeps in its memory")
@pytest.mark.parametrize(("deed", "kind", "said"), cells())
def test_what_the_table_says_is_so(deed: str, kind: str, said: str) -> None:
    if said == "yes":
        # 2 (1 - exp(-1))
        assert DEEDS[deed](KINDS[kind]()) == pytest.approx(1.2642411, rel=1e-5)
    else:
        with pytest.raises(tg.TidegateError):
            DEEDS[deed](KINDS[kind]())
