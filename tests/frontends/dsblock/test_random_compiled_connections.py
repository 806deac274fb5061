"""Random networks of blocks in C, some of them connected beforehand, are integrated without Python, and do what exponentials of matrices say.

The networks and what is true of them are those of ``random_networks`` and ``random_rings``, whose blocks are written in C (``networks_in_c``); those
with events are pairs of ``random_compiled_blocks``, which know nothing of each other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from constrained_systems import FORMS
from networks_in_c import HEADER, build, in_c, link_in_c, nested, pendulum_in_c
from random_compiled_blocks import Drawn, judge_together
from random_compiled_source import written
from random_networks import END, element, outer, truth
from random_networks import drawn as network
from random_rings import T_END, Ring


def check_network(folder: Path, seed: int, method: str, *, is_nested: bool) -> dict[str, tuple[float, float]]:
    """What is wrong with a run of a random network."""
    written_blocks = network(seed)
    blocks = build(folder, f"net{seed}", {f"b{k}": in_c(f"b{k}", w) for k, w in enumerate(written_blocks)})
    links = {
        element(b, "U", k, w): element(source, "Y", j, written_blocks[source])
        for b, w in enumerate(written_blocks)
        for k, (source, j) in w.links.items()
    }
    inner = [f"b{k}" for k in range(len(blocks) // 2 + 1)] if is_nested else []
    whole = nested(blocks, links, inner) if inner else tg.dsblock.join(blocks, links)
    inputs: dict[str, Any] = {}
    for b, w in enumerate(written_blocks):
        front = "inner." if f"b{b}" in inner else ""
        if w.shaped and not w.links:
            inputs[f"{front}b{b}.U"] = np.array([outer(b, k) for k in range(w.B.shape[1])])
        else:
            inputs |= {front + element(b, "U", k, w): outer(b, k) for k in range(w.B.shape[1]) if k not in w.links}
    result = tg.simulate(whole, (0.0, END), inputs=inputs, rtol=1e-8, method=method)
    front = {f"b{k}": "inner." if f"b{k}" in inner else "" for k in range(len(blocks))}
    found = {name: float(result.final[front[name.split(".")[0]] + name]) for name in truth(written_blocks)}
    return {name: (found[name], value) for name, value in truth(written_blocks).items() if not np.isclose(found[name], value, rtol=1e-5, atol=1e-5)}


@pytest.fixture
def called_by_python(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which evaluations of connections go through Python."""
    from tidegate.frontends.dsblock.lower import _Lowered  # pyright: ignore[reportPrivateUsage]

    calls: list[str] = []
    for name in ("rates", "values", "indicator"):
        before = getattr(_Lowered, name)

        def noted(*arguments: Any, before: Any = before, name: str = name) -> Any:
            calls.append(name)
            return before(*arguments)

        monkeypatch.setattr(_Lowered, name, noted)
    return calls


@pytest.mark.hunt
@pytest.mark.parametrize("seed", range(8))
def test_a_random_network_in_c_does_what_its_matrix_exponential_says(tmp_path: Path, seed: int, called_by_python: list[str]) -> None:
    wrong = check_network(tmp_path, seed, ("radau", "ida")[seed % 2], is_nested=seed % 4 > 1)
    assert wrong == {}
    assert called_by_python == []


# -- with a block of the form HDAE -------------------------------------------------------------------------------------------------------------------


def check_ring(folder: Path, seed: int, form: str, method: str) -> str:
    """What is wrong with a run of a ring of a pendulum and others."""
    ring = Ring.random(seed)
    sources = {"p": pendulum_in_c("p", ring)} | {f"l{k}": link_in_c(f"l{k}", one) for k, one in enumerate(ring.links)}
    blocks = build(folder, f"ring{seed}", sources)
    names = list(blocks)
    whole = tg.dsblock.join(blocks, {f"{names[(k + 1) % len(names)]}.U": f"{name}.Y" for k, name in enumerate(names)})
    result = tg.simulate(whole, (0, T_END), rtol=1e-8, hdae=form, method=method, make_consistent=True)
    quantities = ["p.PX", "p.PY", "p.VX", "p.VY", *(f"l{k}.X" for k in range(len(ring.links)))]
    gap = float(np.max(np.abs(np.array([float(result.final[name]) for name in quantities]) - ring.final())))
    return "" if gap < 3e-6 else f"seed {seed}, {form}, {method}: off by {gap:.1e}"


@pytest.mark.hunt
@pytest.mark.parametrize("seed", range(5))
def test_a_ring_in_c_with_a_pendulum_moves_as_its_angle_does(tmp_path: Path, seed: int, called_by_python: list[str]) -> None:
    assert check_ring(tmp_path, seed, FORMS[seed % 5], ("radau", "ida")[seed % 2]) == ""
    assert called_by_python == []


# -- with events -------------------------------------------------------------------------------------------------------------------------------------


PAIRS = ((1, 8), (8, 71), (10, 28), (3, 14))


def beside(folder: Path, seeds: tuple[int, ...]) -> tuple[dict[str, Drawn], Any]:
    """Random blocks, and a connection in which none drives another."""
    drawn, blocks = dict[str, Drawn](), dict[str, Any]()
    for seed in seeds:
        one = drawn[f"n{seed}."] = Drawn(seed)
        source = folder / f"one{seed}.{one.language}"
        source.write_text((HEADER if one.language == "c" else "") + written(one))
        blocks[f"n{seed}"] = tg.dsblock.build(source, prefix=one.prefix)
    return drawn, tg.dsblock.join(blocks, {})


@pytest.mark.hunt
@pytest.mark.parametrize("seeds", PAIRS)
def test_events_of_one_block_are_none_of_another_that_is_connected_beside_it(tmp_path: Path, seeds: tuple[int, int]) -> None:
    judge_together(*beside(tmp_path, seeds), "radau")
