"""Linear models against plain Python: central differences of random models whose algebraic part is solved by hand, transfer functions of circuits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tidegate as tg
from tidegate.library import electrical as el

__all__: list[str] = []


class Random:
    """``x' = f(x, z, u)``, ``z = g(x, u) + 0.2 sin(z)`` with random numbers, once as equations for tidegate and once as plain Python."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.n, self.k = 3, 2
        self.F = random.normal(size=(self.n, self.n)) - 3.0 * np.eye(self.n)
        self.G, self.H, self.E = random.normal(size=(self.n, self.k)), random.normal(size=(self.k, self.n)), random.normal(size=(self.n, 2))
        self.L = random.normal(size=(self.k, 2))
        self.u = random.normal(size=2)

    def rates(self, x: Any, z: Any, u: Any, tanh: Any) -> list[Any]:
        return [
            sum(self.F[i, j] * x[j] for j in range(self.n)) + sum(self.G[i, j] * tanh(z[j]) for j in range(self.k)) + self.E[i, 0] * u[0]
            + self.E[i, 1] * u[1] * x[i]
            for i in range(self.n)
        ]  # fmt: skip

    def balances(self, x: Any, z: Any, u: Any, sin: Any) -> list[Any]:
        return [
            sum(self.H[i, j] * x[j] for j in range(self.n)) + self.L[i, 0] * u[0] + self.L[i, 1] * u[1] ** 2 + 0.2 * sin(z[i]) - z[i]
            for i in range(self.k)
        ]

    def model(self) -> Any:
        def residual(t: Any, y: Any, ydot: Any, p: Any) -> Any:
            x, z, u = [y[f"x{i}"] for i in range(3)], [y[f"z{i}"] for i in range(2)], [p["u0"], p["u1"]]
            rates = self.rates(x, z, u, np.tanh)
            return [*(2.0 * ydot[f"x{i}"] + ydot[f"x{(i + 1) % 3}"] - rates[i] for i in range(3)), *self.balances(x, z, u, np.sin)]

        names = [*(f"x{i}" for i in range(3)), *(f"z{i}" for i in range(2))]
        return tg.dae(residual, y0=dict.fromkeys(names, 0.1), p={"u0": float(self.u[0]), "u1": float(self.u[1])})

    def plain(self, x: NDArray[np.float64], u: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        z = np.zeros(self.k)
        for _ in range(200):  # a contraction by 0.2
            z = z + np.array(self.balances(x, z, u, np.sin))
        mass = 2.0 * np.eye(3) + np.roll(np.eye(3), 1, axis=1)
        return np.linalg.solve(mass, self.rates(x, z, u, np.tanh)), z


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_random_daes_agree_with_central_differences_of_plain_python(seed: int) -> None:
    random = Random(seed)
    linear = tg.linearize(random.model(), inputs=["u0", "u1"], outputs=["x1", "z0", "z1"])
    x, u = np.array([linear.at[f"x{i}"] for i in range(3)]), random.u
    assert np.abs(random.plain(x, u)[0]) == pytest.approx(0.0, abs=1e-9)
    h = 1e-5
    places = {name: k for k, name in enumerate(linear.states)}
    assert set(places) == {"x0", "x1", "x2"}
    order = [places[f"x{i}"] for i in range(3)]

    def sees(x: Any, u: Any) -> NDArray[np.float64]:
        rate, z = random.plain(x, u)
        return np.concatenate([rate, [x[1]], z])

    by_x = np.array([(sees(x + h * d, u) - sees(x - h * d, u)) / (2 * h) for d in np.eye(3)]).T
    by_u = np.array([(sees(x, u + h * d) - sees(x, u - h * d)) / (2 * h) for d in np.eye(2)]).T
    # central differences are good to h^2 and rounding over h
    assert linear.A.values[np.ix_(order, order)] == pytest.approx(by_x[:3], abs=2e-8)
    assert linear.B.values[order] == pytest.approx(by_u[:3], abs=2e-8)
    assert linear.C.values[:, order] == pytest.approx(by_x[3:], abs=2e-8)
    assert linear.D.values == pytest.approx(by_u[3:], abs=2e-8)


class Filter(tg.Component):
    source = el.ConstantVoltage(V=0.0)
    r = el.Resistor(R=2.0)
    coil = el.Inductor(L=0.5)
    c = el.Capacitor(C=0.1)
    ground = el.Ground()
    u = tg.Output(lambda self: self.c.v)

    def equations(self) -> Any:
        yield tg.connect(self.source.p, self.r.p)
        yield tg.connect(self.r.n, self.coil.p)
        yield tg.connect(self.coil.n, self.c.p)
        yield tg.connect(self.source.n, self.c.n, self.ground.p)


@pytest.mark.hunt
def test_a_filter_of_parts_has_its_transfer_function(tmp_path: Path) -> None:
    linear = tg.linearize(Filter(), inputs=["source.V"])
    omega = np.geomspace(0.1, 100.0, 20)
    s = 1j * omega
    assert linear.outputs == ["u"]
    assert linear.frequency_response(omega).values[:, 0, 0] == pytest.approx(1.0 / (0.05 * s**2 + 0.2 * s + 1.0), rel=1e-10)
    assert linear.gain().item() == pytest.approx(1.0)
    assert linear.zeros().size == 0
    assert np.poly(linear.poles()).real == pytest.approx([1.0, 4.0, 20.0])
    shown = linear._repr_html_()
    assert all(part in shown for part in ("linear model of Filter: 2 states", "<th>source.V</th>", "<th>der(coil.i)</th>", "poles  -2 - 4i, -2 + 4i"))
    times = np.array([0.0, 0.3, 1.0, 5.0])
    w = 4.0  # sqrt(20 - 2^2)
    step = 1.0 - np.exp(-2.0 * times) * (np.cos(w * times) + 2.0 / w * np.sin(w * times))
    assert linear.step_response(times).values[:, 0, 0] == pytest.approx(step, abs=1e-12)
    current = tg.linearize(Filter(), inputs=["source.V"], outputs=["coil.i"])
    assert current.zeros("source.V", "coil.i") == pytest.approx([0.0], abs=1e-12)
    for picture, size in ((linear.bode(path=tmp_path / "bode.png"), 2), (current.step(path=tmp_path / "step.svg"), 1)):
        assert len(picture.axes) == size
        assert picture._repr_mimebundle_()[0]["image/png"].startswith(b"\x89PNG")  # a notebook shows it
    assert (tmp_path / "bode.png").stat().st_size > 5000
    assert (tmp_path / "step.svg").exists()


@pytest.mark.slow
def test_the_same_model_for_scipy_and_for_control() -> None:
    linear = tg.linearize(Filter(), inputs=["source.V"])
    times = np.linspace(0.0, 3.0, 50)
    _, seen = linear.to_scipy().step(T=times)
    assert np.ravel(seen) == pytest.approx(linear.step_response(times).values[:, 0, 0], abs=1e-9)
    control = pytest.importorskip("control")
    own = linear.to_control()
    assert isinstance(own, control.StateSpace)
    assert own.input_labels == ["source_V"]
    assert own(1j) == pytest.approx(linear.frequency_response(1.0).values[0, 0, 0])


@pytest.mark.slow
def test_away_from_rest_parameters_of_the_inertia_count() -> None:
    # k x' = -x + u: the derivative of x' by k is x / k^2 at u = 0, and x' is no longer zero
    class Lag(tg.Component):
        x = tg.State(3.0)
        k = tg.Parameter(2.0)
        u = tg.Input(0.0)

        def equations(self) -> Any:
            yield self.k * tg.der(self.x) == -self.x + self.u

    linear = tg.linearize(Lag(), at={"x": 3.0}, inputs=["u", "k"])
    assert linear.A.item() == pytest.approx(-0.5)
    assert linear.B.values[0] == pytest.approx([0.5, 3.0 / 4.0])
    assert linear.rates.item() == pytest.approx(-1.5)
    assert tg.linearize(Lag()).inputs == ["u"]
    run = tg.Simulation(Lag())
    run.advance(1.0)
    moved = tg.linearize(Lag(), at=run, inputs=["k"])
    assert moved.B.item() == pytest.approx(3.0 * np.exp(-0.5) / 4.0, rel=1e-6)


def test_conditions_stay_as_they_are_at_the_place() -> None:
    tank = tg.ode(lambda t, y, p: [p["q"] - 0.5 * max(y["h"] - 1.0, 0.0) - 0.1 * y["h"]], y0={"h": 0.0}, p={"q": 0.05})
    assert tg.linearize(tank).poles() == pytest.approx([-0.1])
    assert tg.linearize(tank, parameters={"q": 0.4}).poles() == pytest.approx([-0.6])
    assert tg.linearize(tank, at={"h": 2.0}).poles() == pytest.approx([-0.6])


def test_a_diagram_without_inputs_has_outputs_all_the_same() -> None:
    d = tg.Diagram("lag")
    d.x = tg.blocks.Integrator(start=1.0)
    d.x(-2.0 * d.x)
    linear = tg.linearize(d, at=tg.Simulation(d))
    assert linear.A.values.tolist() == [[-2.0]]
    assert linear.C.values.tolist() == [[{"x": 1.0, "x.out": 1.0}.get(str(name), -2.0)] for name in linear.C.coords[linear.C.dims[0]].values]
    assert linear.D.shape == (linear.C.shape[0], 0)


def test_wrong_words_are_answered() -> None:
    tank = tg.ode(lambda t, y, p: [p["q"] - y["h"]], y0={"h": 0.0}, p={"q": 0.05})
    for arguments, sentence in (
        ({"inputs": ["x"]}, "no input 'x'"), ({"inputs": ["h"]}, "h is no input and no parameter"), ({"at": 3.0}, "at must be a steady state"),
        ({"outputs": ["hh"]}, "no output 'hh'"), ({"inputs": ["q", "q"]}, "named twice"), ({"at": {"z": 1.0}}, "no variable 'z'"),
        ({"at": tg.steady_state(tank), "time": 1.0}, "those of the place"),
    ):  # fmt: skip
        with pytest.raises(tg.UsageError, match=sentence):
            tg.linearize(tank, **arguments)  # pyright: ignore[reportArgumentType] - as users do
    linear = tg.linearize(tank, inputs=["q"])
    with pytest.raises(tg.UsageError, match="no output 'x'"):
        linear.zeros("q", "x")
    with pytest.raises(tg.UsageError, match="as many inputs as outputs"):
        tg.linearize(tank, inputs=[]).zeros()
    with pytest.raises(tg.UsageError, match="times must increase"):
        linear.step_response([1.0, 0.0])
