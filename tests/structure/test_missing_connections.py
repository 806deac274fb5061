"""What singular networks are told to be missing: a ground, or a connection; against plain Python on the graph of the network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.library import electrical as el
from tidegate.library import rotational as ro

KINDS = (lambda: el.Resistor(R=2.0), lambda: el.Resistor(R=5.0), lambda: el.Capacitor(C=0.1), lambda: el.Inductor(L=0.2))


class Network(tg.Component):
    """Parts between numbered nodes."""

    def __init__(self, ends: list[tuple[int, int]], kinds: list[int], grounded: list[int]) -> None:
        super().__init__()
        self.ends, self.grounded = ends, grounded
        for k, kind in enumerate(kinds):
            setattr(self, f"part{k}", KINDS[kind]())
        for node in grounded:
            setattr(self, f"ground{node}", el.Ground())

    def equations(self) -> Iterator[Any]:
        for node in sorted({node for pair in self.ends for node in pair}):
            pins = [getattr(self, f"part{k}").p for k, (a, _) in enumerate(self.ends) if a == node]
            pins += [getattr(self, f"part{k}").n for k, (_, b) in enumerate(self.ends) if b == node]
            pins += [getattr(self, f"ground{node}").p] if node in self.grounded else []
            yield tg.connect(*pins)


def drawn(random: np.random.Generator) -> tuple[Network, list[set[int]]]:
    """Rings with chords, some of which are grounded; with the numbers of the parts in those that are not."""
    ends: list[tuple[int, int]] = []
    grounded: list[int] = []
    floating: list[set[int]] = []
    first = 0
    for _ in range(int(random.integers(1, 4))):
        size, before = int(random.integers(3, 6)), len(ends)
        ends += [(first + k, first + (k + 1) % size) for k in range(size)]
        ends += [(first + int(random.integers(size - 1)), first + size - 1) for _ in range(2)]
        if random.random() < 0.5:
            grounded.append(first + int(random.integers(size)))
        else:
            floating.append(set(range(before, len(ends))))
        first += size
    return Network(ends, [int(random.integers(2)) for _ in ends], grounded), floating


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_network_without_ground_is_told_so_and_one_with_it_runs(seed: int) -> None:
    network, floating = drawn(np.random.default_rng(seed))
    if not floating:
        assert tg.simulate(network, (0.0, 0.1)).success
        return
    with pytest.raises((tg.StructureError, tg.SingularSystemError)) as caught:
        tg.simulate(network, (0.0, 0.1))
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("connect a ground: nothing says what part")
    number = int(caught.value.hint.partition("what part")[2].partition(".")[0])
    assert any(number in parts for parts in floating)


class Isolated(tg.Component):
    """The second side of a transformer has no ground of its own."""

    source, t, load, g = el.ConstantVoltage(V=1.0), el.IdealTransformer(ratio=2.0), el.Resistor(R=2.0), el.Ground()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.source.p, self.t.p1)
        yield tg.connect(self.source.n, self.t.n1, self.g.p)
        yield tg.connect(self.t.p2, self.load.p)
        yield tg.connect(self.t.n2, self.load.n)


def test_each_side_of_a_transformer_needs_a_ground() -> None:
    with pytest.raises(tg.StructureError) as caught:
        tg.simulate(Isolated(), (0.0, 1.0))
    assert "connect a ground: nothing says what" in str(caught.value.hint)
    assert "t.n2.v" in str(caught.value.hint)
    assert "t.n1.v" not in str(caught.value.hint)


class Shaft(tg.Component):
    """Both ends turn freely: their angles are states, and nothing is missing."""

    a, spring, b = ro.Inertia(J=1.0, w=tg.start(1.0)), ro.Spring(c=2.0), ro.Inertia(J=2.0)

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.a.flange_b, self.spring.flange_a)
        yield tg.connect(self.spring.flange_b, self.b.flange_a)


@pytest.mark.slow
def test_states_have_start_values_and_float_nowhere() -> None:
    from tidegate.structure.missing_connections import floating

    assert floating(Shaft().lower()) == []
    assert tg.simulate(Shaft(), (0.0, 1.0)).success


class Open(tg.Component):
    """A current source that ends nowhere."""

    s, r, i, g = el.ConstantVoltage(V=1.0), el.Resistor(R=2.0), el.ConstantCurrent(I=1.0), el.Ground()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.s.p, self.r.p, self.i.p)
        yield tg.connect(self.r.n, self.s.n, self.g.p)


class TwoOpen(Open):
    """And a resistor that does as well: the likeliest is that the two belong together."""

    more = el.Resistor(R=3.0)

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.more.p, self.s.p)


class Deep(tg.Component):
    inner = Open()


class Idle(Open):
    """A part of which no end is connected."""

    spare = el.Resistor(R=1.0)

    @tg.replaces
    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.s.p, self.r.p, self.i.p)
        yield tg.connect(self.r.n, self.s.n, self.g.p, self.i.n)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Open, "i.n is not connected: `yield tg.connect(self.i.n, ...)`"),
        (TwoOpen, "i.n is not connected: `yield tg.connect(self.i.n, self.more.n)`"),
        (Deep, "inner.i.n is not connected: `yield tg.connect(self.i.n, ...)` in inner"),
        (Idle, "spare.p, spare.n are not connected: `yield tg.connect(self.spare.p, ...)`; or, where that is meant so, connect a ground: nothing"),
    ],
)
def test_the_connector_that_is_connected_with_nothing_is_named(kind: Any, said: str) -> None:
    with pytest.raises(tg.StructureError) as caught:
        tg.simulate(kind(), (0.0, 1.0))
    assert str(caught.value.hint).startswith(said)


def test_equations_that_are_no_network_are_told_what_they_were() -> None:
    class Lost(tg.Component):
        x, a, b = tg.State(0.0), tg.Algebraic(), tg.Algebraic()

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == self.a
            yield self.a == self.x
            yield self.a == 2 * self.x

    with pytest.raises(tg.StructureError) as caught:
        tg.simulate(Lost(), (0.0, 1.0))
    assert str(caught.value.hint).startswith("replace one of the equations that are too many")


def test_a_network_from_a_file_floats_too(tmp_path: Any) -> None:
    network, _ = drawn(np.random.default_rng(0))
    alone = Network(network.ends[:5], [0] * 5, [])
    Stored = tg.load_component(tg.precompile(alone, tmp_path / "network.tgm"))

    class Whole(tg.Component):
        net = Stored()

    with pytest.raises((tg.StructureError, tg.SingularSystemError)) as caught:
        tg.simulate(Whole(), (0.0, 1.0))
    assert "connect a ground: nothing says what net.part" in str(caught.value.hint)
