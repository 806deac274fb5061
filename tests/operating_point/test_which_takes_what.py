"""The table of the reference page: what is done with a model is done with every kind of model, or refused in words."""

from __future__ import annotations

import inspect
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


# -- what takes which option

TAKING: dict[str, Callable[..., Any]] = {
    "tg.simulate": lambda m, **o: tg.simulate(m, (0, 1), **o),
    "tg.prepare": lambda m, **o: tg.prepare(m, (0, 1), **o).run(),
    "tg.Simulation": lambda m, **o: tg.Simulation(m, **o).advance(1.0),
    "tg.sweep": lambda m, **o: tg.sweep(m, (0, 1), grid={parameter(m): [2.0, 3.0]} if "y0" in o else {"x(0)": [0.5]}, **o),
    "tg.fit": lambda m, **o: tg.fit(m, {"x": ([1.0], [1.2])}, [parameter(m) if "y0" in o else "x(0)"], **o),
    "tg.cross_check": lambda m, **o: tg.cross_check(m, (0, 1), **o),
    "tg.steady_state": tg.steady_state,
    "tg.linearize": lambda m, **o: tg.linearize(m, **({"outputs": ["x"]} | ({} if "inputs" not in o else {"inputs": [parameter(m)]}) | o)),
}
PC: dict[str, Any] = {"method": "pc"}
VALUES: dict[str, Callable[[Any, Path], dict[str, Any]]] = {
    "y0": lambda m, at: {"y0": {"x": 1.0}},
    "inputs": lambda m, at: {"inputs": {parameter(m): 3.0}},
    "parameters": lambda m, at: {"parameters": {parameter(m): 3.0}},
    "sensitivities": lambda m, at: {"sensitivities": [parameter(m)]},
    "outputs": lambda m, at: {"outputs": 0.25},
    "method": lambda m, at: {"method": "bdf"},
    "rtol": lambda m, at: {"rtol": 1e-7},
    "atol": lambda m, at: {"atol": 1e-9},
    "max_step": lambda m, at: {"max_step": 0.1},
    "first_step": lambda m, at: {"first_step": 0.01},
    "max_steps": lambda m, at: {"max_steps": 10_000},
    "min_step": lambda m, at: {"min_step": 1e-9, "method": "rke"},
    "max_halvings": lambda m, at: {"max_halvings": 20, **PC},
    "disc_halvings": lambda m, at: {"disc_halvings": 8, **PC},
    "record_disabled": lambda m, at: {"record_disabled": "nan"},
    "events": lambda m, at: {"events": "proved"},
    "event_rows": lambda m, at: {"event_rows": True},
    "dense": lambda m, at: {"dense": False},
    "progress": lambda m, at: {"progress": True},
    "on_rows": lambda m, at: {"on_rows": lambda part: None},
    "out": lambda m, at: {"out": at / "run.nc"},
}
ALIKE = {kind: make() for kind, make in KINDS.items() if make is not Block}


def rows() -> tuple[list[str], dict[str, list[str]]]:
    text = PAGE.read_text(encoding="utf-8").partition("## What takes which option\n")[2].partition("\nWhat is")[0]
    table = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return table[0][1:], {row[0].rstrip("="): row[1:] for row in table[2:]}


def test_the_table_of_options_has_them_all() -> None:
    takers, said = rows()
    assert takers == list(TAKING)
    every = [name for name in inspect.signature(tg.simulate).parameters if name not in ("source", "t_span", "unknown")]
    assert sorted(said) == sorted(every) == sorted(VALUES)


@pytest.mark.slow
@pytest.mark.parametrize("option", list(VALUES))
@pytest.mark.parametrize("kind", list(ALIKE))
def test_what_the_table_of_options_says_is_so(kind: str, option: str, tmp_path: Path) -> None:
    takers, said = rows()
    model = ALIKE[kind]
    for taker, answer in zip(takers, said[option], strict=True):
        try:
            TAKING[taker](model, **VALUES[option](model, tmp_path))
            took = "yes"
        except tg.UsageError:
            took = "no"
        assert took == answer, taker
