"""Blocks as parts of components: every block of the library gives in a loop of parts what it gives in a diagram."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tidegate as tg

Blocks = dict[str, Callable[[], Any]]
b: Any = tg.blocks


def curve(x: Any, y: Any) -> Any:
    return x * y - 0.2 * x


def nearly_cosine(x: Any, u: Any) -> Any:
    return np.cos(x) + 0.1 * u


# Round every block: a sine less what comes back through a lag. Further inputs have sines of their own, x2 a square wave where it is a switch.
SUM: Blocks = {"sine": lambda: b.Sine(1.3, 2.0, 0.3), "wave": lambda: b.Sine(1.0, 1.1, 0.5), "lag": lambda: b.FirstOrderLag(0.4)}
CASES: dict[str, Any] = {
    "Constant": (lambda: b.Constant(1.5), ()),
    "Gain": (lambda: b.Gain(2.0), ("e",)),
    "Offset": (lambda: b.Offset(0.3), ("e",)),
    "Inverter": (b.Inverter, ("e",)),
    "Summer": (b.Summer, ("e", "wave")),
    "WeightedSummer": (lambda: b.WeightedSummer(2.0, -0.5), ("e", "wave")),
    "Multiplier": (b.Multiplier, ("e", "wave")),
    "Divider": (b.Divider, ("e", "high")),
    "Magnitude": (b.Magnitude, ("e",)),
    "HalfPower": (b.HalfPower, ("high",)),
    "Integrator": (lambda: b.Integrator(0.2, gain_error=0.01, drift=0.1), ("e",)),
    "Integrator held": (lambda: b.Integrator(0.2), ("e", "square")),
    "Integrator reset": (lambda: b.Integrator(0.2), ("e", None, "square")),
    "FirstOrderLag": (lambda: b.FirstOrderLag(0.7), ("e",)),
    "TransferFunction": (lambda: b.TransferFunction([1.0, 2.0], [1.0, 0.4, 3.0]), ("e",)),
    "StateSpace": (lambda: b.StateSpace([[0.0, 1.0], [-3.0, -0.4]], [[0.0], [1.0]], [[1.0, 0.5]], [[0.0]]), ("e",)),
    "PID": (lambda: b.PID(2.0, 0.5, 0.1, lower=-0.8, upper=0.8), ("e",)),
    "RateLimiter": (lambda: b.RateLimiter(0.5, time_constant=0.01), ("e",)),
    "And": (b.And, ("square", "other")),
    "Or": (b.Or, ("square", "other")),
    "Not": (b.Not, ("square",)),
    "Compare": (lambda: b.Compare(">"), ("e", "wave")),
    "Switch": (b.Switch, ("e", "square", "wave")),
    "Function": (lambda: b.Function([-2.0, -0.5, 0.4, 2.0], [-1.0, 0.0, 0.7, 1.0]), ("e",)),
    "BangBang": (b.BangBang, ("e",)),
    "DeadSpace": (lambda: b.DeadSpace(0.3, -0.2), ("e",)),
    "Limiter": (lambda: b.Limiter(0.5, -0.6), ("e",)),
    "NegativeClipper": (b.NegativeClipper, ("e",)),
    "PositiveClipper": (b.PositiveClipper, ("e",)),
    "Relay": (b.Relay, ("e", "wave", "high")),
    "Hysteresis": (lambda: b.Hysteresis(-0.3, 0.2), ("e",)),
    "UnitDelay": (lambda: b.UnitDelay(0.15, 0.4), ("e",)),
    "ZeroOrderHold": (lambda: b.ZeroOrderHold(0.15), ("e",)),
    "ZeroOrderHold gated": (lambda: b.ZeroOrderHold(0.15), ("e", "square")),
    "ZeroOrderHold tracking": (b.ZeroOrderHold, ("e", "square")),
    "TimePulse": (lambda: b.TimePulse(0.6), ("wave",)),
    "DiscreteTransferFunction": (lambda: b.DiscreteTransferFunction([0.3, 0.1], [1.0, -0.5], period=0.2), ("e",)),
    "TransportDelay": (lambda: b.TransportDelay(0.5, samples=5), ("e",)),
    "VariableDelay": (b.VariableDelay, ("e", "high")),
    "Step": (lambda: b.Step(1.0), ()),
    "Ramp": (lambda: b.Ramp(0.5), ()),
    "Sine": (lambda: b.Sine(1.0, 3.0), ()),
    "Pulse": (lambda: b.Pulse(0.7), ()),
    "TableSource": (lambda: b.TableSource([0.0, 1.0, 2.5], [0.0, 1.0, -0.5]), ()),
    "Jitter": (lambda: b.Jitter(0.2), ()),
    "Noise": (lambda: b.Noise(0.2), ()),
    "UserBlock": (lambda: b.UserBlock(curve, 2), ("e", "wave")),
    "UserOutput": (b.UserOutput, ("e",)),
    "Scope": (lambda: b.Scope(["first", "second"]), ("e", "wave")),
    "Quit": (b.Quit, ("wave", "lag")),
}
ELSEWHERE = {"Vacuous", "Wye", "Time"}  # the first two need each other, and the time of a diagram is its own


def component(blocks: Blocks, wires: list[tuple[str, str]]) -> Any:
    def equations(self: Any) -> Any:
        for source, target in wires:
            one, two = (end.split(".") for end in (source, target))
            yield tg.connect(getattr(getattr(self, one[0]), one[1]), getattr(getattr(self, two[0]), two[1]))

    return type("Loop", (tg.Component,), {**{name: make() for name, make in blocks.items()}, "equations": equations})


def diagram(blocks: Blocks, wires: list[tuple[str, str]], **options: Any) -> Any:
    made = tg.Diagram("loop", **options)
    for name, make in blocks.items():
        made.add(make(), name)
    for source, target in wires:
        one, two = (end.split(".") for end in (source, target))
        made.connect(getattr(made[one[0]], one[1]), getattr(made[two[0]], two[1]))
    return made


def wired(make: Callable[[], Any], inputs: tuple[str | None, ...]) -> tuple[Blocks, list[tuple[str, str]]]:
    """The block under the name ``it``, with what its inputs need; what comes out comes back."""
    blocks: Blocks = {**SUM, "e": lambda: b.WeightedSummer(1.0, -0.5), "it": make}
    wires = [("sine.out", "e.x1"), ("lag.out", "e.x2")]
    block = make()
    if "high" in inputs:
        blocks["high"] = lambda: b.Offset(3.0)
        wires.append(("wave.out", "high.x1"))
    if "square" in inputs:
        blocks |= {"square": lambda: b.Compare(">"), "level": lambda: b.Constant(0.2)}
        wires += [("wave.out", "square.x1"), ("level.out", "square.x2")]
    if "other" in inputs:
        blocks["other"] = lambda: b.Pulse(0.9)
    wires += [(f"{source}.out", f"it.{port}") for source, port in zip(inputs, block.inputs, strict=False) if source]
    wires.append((f"it.{block.outputs[0]}" if block.outputs else "e.out", "lag.x1"))
    return blocks, wires


def require_same(blocks: Blocks, wires: list[tuple[str, str]], end: float = 4.0, tolerance: float = 1e-6, **options: Any) -> tuple[Any, Any]:
    settings: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-10, "method": options.pop("method", "radau"), "outputs": np.linspace(0.0, end, 60)}
    one = tg.simulate(diagram(blocks, wires, **options), (0.0, end), **settings)
    two = tg.simulate(component(blocks, wires)(), (0.0, end), **settings)
    for name, make in blocks.items():
        for k, port in enumerate(make().outputs):
            expected = one[f"{name}.{port}" if k else name].sel(time=slice(0.0, end)).values
            found = two[f"{name}.{port}"].values
            assert found.shape == expected.shape, f"{name}.{port}: {len(found)} and {len(expected)} rows"
            np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance, err_msg=f"{name}.{port}")
    assert len(one.events) == len(two.events)
    return one, two


@pytest.mark.hunt
@pytest.mark.parametrize("name", CASES)
def test_a_block_in_a_loop_of_parts_gives_what_it_gives_in_a_diagram(name: str) -> None:
    make, inputs = CASES[name]
    require_same(*wired(make, inputs))


def test_no_block_of_the_library_is_left_out() -> None:
    kinds = {name for name in dir(b) if isinstance(kind := getattr(b, name), type) and issubclass(kind, b.Gain.__mro__[1])}
    assert kinds - {case.split()[0] for case in CASES} == ELSEWHERE


def test_time_is_a_part() -> None:
    class Clock(tg.Component):
        clock, twice = b.Time(), b.Gain(2.0)

        def equations(self) -> Any:
            yield tg.connect(self.clock.y, self.twice.u)

    found = tg.simulate(Clock(), (0.0, 3.0))
    assert float(found["twice.out"][-1]) == 6.0


@pytest.mark.parametrize("kind", ["Vacuous", "Wye"])
def test_half_of_an_implicit_equation_is_no_part_by_itself(kind: str) -> None:
    with pytest.raises(tg.UsageError, match="no part by itself"):
        component({"it": getattr(b, kind)}, [])


def test_an_implicit_equation_of_blocks_is_solved_among_the_parts() -> None:
    implicit = tg.Diagram("implicit", algebraic_loops="solve")
    u = implicit.input("u")
    implicit.x = b.Vacuous(0.5)
    implicit.meet = b.Wye()
    implicit.meet(b.UserBlock(nearly_cosine, 2)(implicit.x, u), implicit.x)
    implicit.output("x_solved", implicit.meet)

    class Around(tg.Component):
        source, solver, lag = b.Sine(0.4, 2.0), implicit, b.FirstOrderLag(0.3)

        def equations(self) -> Any:
            yield tg.connect(self.source.y, self.solver.u)
            yield tg.connect(self.solver.x_solved, self.lag.u)

    found = tg.simulate(Around(), (0.0, 2.0), rtol=1e-8, atol=1e-10)
    x = found["solver.x_solved"].values
    np.testing.assert_allclose(x, np.cos(x) + 0.1 * found["source.out"].values, atol=1e-7)


@pytest.mark.slow
def test_an_algebraic_loop_of_parts_is_solved() -> None:
    blocks: Blocks = {"u": lambda: b.Sine(1.0, 2.0), "e": lambda: b.WeightedSummer(1.0, -1.0), "k": lambda: b.Gain(3.0), "i": b.Integrator}
    wires = [("u.out", "e.x1"), ("k.out", "e.x2"), ("e.out", "k.x1"), ("k.out", "i.x1")]
    _, found = require_same(blocks, wires, algebraic_loops="solve")
    np.testing.assert_allclose(found["k.out"], 0.75 * found["u.out"], atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("order", [0, 1])
def test_blocks_that_tick_together_see_each_other_as_in_a_diagram(order: int) -> None:
    blocks: Blocks = {
        "u": lambda: b.Sine(1.0, 2.0, 0.4),
        "e": lambda: b.WeightedSummer(1.0, -0.6),
        "hold": lambda: b.ZeroOrderHold(0.2),
        "twice": lambda: b.Gain(2.0),
        "filter": lambda: b.DiscreteTransferFunction([0.3, 0.1], [1.0, -0.5], period=0.2),
        "delay": lambda: b.UnitDelay(0.2, 0.1),
    }
    if order:
        blocks = dict(reversed(blocks.items()))
    wires = [
        ("u.out", "e.x1"),
        ("delay.out", "e.x2"),
        ("e.out", "hold.x1"),
        ("hold.out", "twice.x1"),
        ("twice.out", "filter.x1"),
        ("filter.out", "delay.x1"),
    ]
    require_same(blocks, wires)


@pytest.mark.slow
def test_a_motor_with_a_controller_of_blocks_is_that_of_an_ode(method: str) -> None:
    library = tg.library
    e, r = library.electrical, library.rotational

    class Motor(tg.Component):
        source, R, L, ground = e.SignalVoltage(), e.Resistor(R=0.5), e.Inductor(L=0.05), e.Ground()
        emf, rotor, load = library.machines.RotationalEMF(k=0.3), r.Inertia(J=0.02), r.Damper(d=0.01)
        frame, sensor = r.Fixed(), r.SpeedSensor()
        wish, pid = b.Step(0.1, after=20.0), b.PID(0.4, 1.5, upper=12.0, lower=-12.0)

        def equations(self) -> Any:
            yield tg.connect(self.source.p, self.R.p)
            yield tg.connect(self.R.n, self.L.p)
            yield tg.connect(self.L.n, self.emf.p)
            yield tg.connect(self.emf.n, self.source.n, self.ground.p)
            yield tg.connect(self.emf.flange, self.rotor.flange_a)
            yield tg.connect(self.rotor.flange_b, self.load.flange_a, self.sensor.flange)
            yield tg.connect(self.load.flange_b, self.frame.flange)
            yield self.pid.error == self.wish.out - self.sensor.y
            yield tg.connect(self.pid.y, self.source.u)

    def hand(t: Any, y: Any) -> Any:
        i, w, integral = y
        error = tg.where(t >= 0.1, 20.0, 0.0) - w
        wanted = 0.4 * error + integral
        u = tg.where(wanted > 12.0, 12.0, tg.where(wanted < -12.0, -12.0, wanted))
        return [(u - 0.5 * i - 0.3 * w) / 0.05, (0.3 * i - 0.01 * w) / 0.02, 1.5 * error + u - wanted]

    settings: dict[str, Any] = {"rtol": 1e-8, "atol": 1e-10, "method": method, "outputs": np.linspace(0.0, 3.0, 31)}
    found = tg.simulate(Motor(), (0.0, 3.0), **settings)
    expected = tg.simulate(tg.ode(hand, [0.0, 0.0, 0.0]), (0.0, 3.0), **settings)
    for ours, theirs in (("L.i", "y[0]"), ("rotor.w", "y[1]"), ("pid.integral", "y[2]")):
        np.testing.assert_allclose(found[ours], expected[theirs], rtol=2e-6, atol=2e-6, err_msg=ours)
    assert len(found.events) == len(expected.events)


def controller() -> Any:
    """A diagram with two blocks, an event in it, and ports."""
    made = tg.Diagram("controller")
    error = made.input("error")
    made.pi = b.PID(2.0, 0.7, upper=1.5, lower=-1.5)
    made.hold = b.ZeroOrderHold(0.1)
    made.hold(made.pi(error))
    made.output("command", made.hold)
    return made


class Controlled(tg.Component):
    control = controller()
    plant = b.TransferFunction([1.0], [1.0, 0.8, 1.0])
    wish = b.Pulse(3.0)

    def equations(self) -> Any:
        yield self.control.error == self.wish.y - self.plant.y
        yield tg.connect(self.control.command, self.plant.u)


@pytest.mark.slow
def test_a_whole_diagram_is_a_part_and_keeps_the_names_of_its_blocks() -> None:
    whole = tg.Diagram("whole")
    whole.control, whole.plant, whole.wish = controller(), b.TransferFunction([1.0], [1.0, 0.8, 1.0]), b.Pulse(3.0)
    whole.plant(whole.control(whole.wish - whole.plant))
    times = np.linspace(0.0, 8.0, 41)
    one = tg.simulate(whole, (0.0, 8.0), rtol=1e-9, outputs=times)
    two = tg.simulate(Controlled(), (0.0, 8.0), rtol=1e-9, outputs=times)
    for theirs, ours in (("plant", "plant.out"), ("control.pi.integral", "control.pi.integral"), ("control.hold", "control.hold")):
        np.testing.assert_allclose(two[ours], one[theirs], rtol=1e-6, atol=1e-7)
    assert len(one.events) == len(two.events) > 80


@pytest.mark.slow
def test_parameters_of_blocks_are_changed_like_those_of_parts() -> None:
    def ends(model: Any, **options: Any) -> float:
        return float(tg.simulate(model, (0.0, 4.0), rtol=1e-9, **options)["plant.out"][-1])

    changed = ends(Controlled(mods={"control.pi.kp": 5.0}))
    assert changed == pytest.approx(ends(Controlled(), parameters={"control.pi.kp": 5.0}), rel=1e-9)
    assert abs(changed - ends(Controlled())) > 0.01
    replaced = ends(Controlled(plant=b.TransferFunction([2.0], [1.0, 0.8, 1.0])))
    assert abs(replaced - ends(Controlled())) > 0.01


@pytest.mark.slow
def test_a_derivative_by_a_parameter_of_a_block_is_that_of_differences() -> None:
    class Loop(tg.Component):
        pid, plant = b.PID(2.0, 0.5, upper=3.0), b.TransferFunction([1.0], [1.0, 1.0, 2.0])

        def equations(self) -> Any:
            yield self.pid.error == 2.0 - self.plant.y
            yield tg.connect(self.pid.y, self.plant.u)

    def run(kp: float, **options: Any) -> Any:
        return tg.simulate(Loop(pid={"kp": kp}), (0.0, 3.0), rtol=1e-10, atol=1e-11, **options)

    found = float(run(2.0, sensitivities=["pid.kp"]).sensitivity("plant.out", "pid.kp")[-1])
    high, low = (float(run(2.0 + step)["plant.out"][-1]) for step in (1e-4, -1e-4))
    assert found == pytest.approx((high - low) / 2e-4, rel=1e-4)


def test_an_array_of_blocks_is_an_array_of_parts() -> None:
    class Bank(tg.Component):
        source = b.Sine(1.0, 2.0)
        lag = tg.Array(b.FirstOrderLag(), 3, time_constant=[0.5, 1.0, 2.0])

        def equations(self) -> Any:
            for k in range(3):
                yield tg.connect(self.source.y, self.lag[k].u)

    found = tg.simulate(Bank(), (0.0, 5.0), rtol=1e-9)
    for k, constant in enumerate((0.5, 1.0, 2.0)):
        alone = tg.Diagram("alone")
        alone.lag = b.FirstOrderLag(time_constant=constant)(b.Sine(1.0, 2.0))
        assert float(found[f"lag[{k}].out"][-1]) == pytest.approx(float(tg.simulate(alone, (0.0, 5.0), rtol=1e-9)["lag"][-1]), rel=1e-6)


@pytest.mark.slow
def test_a_component_with_blocks_is_pickled_and_copied() -> None:
    model = Controlled(mods={"control.pi.kp": 3.0})
    expected = float(tg.simulate(model, (0.0, 1.0))["plant.out"][-1])
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert float(tg.simulate(again, (0.0, 1.0))["plant.out"][-1]) == expected


def test_any_model_is_a_part_where_it_is_asked_for() -> None:
    class Decay(tg.Component):
        x, u = tg.State(1.0), tg.Input(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == self.u - self.x

    class Two(tg.Component):
        first, second = tg.as_part(Decay(x=2.0).lower()), tg.as_part(Decay())

        def equations(self) -> Any:
            yield tg.connect(self.first.x, self.second.u)
            yield self.first.u == 0.5

    assert {variable.name for variable in Two().lower().variables} == {"first.x", "first.u", "second.x", "second.u"}
    found = tg.simulate(Two(), (0.0, 2.0), rtol=1e-10, atol=1e-12)
    t = 2.0  # first: 0.5 + 1.5 exp(-t), second: x' = first - x
    assert float(found["first.x"][-1]) == pytest.approx(0.5 + 1.5 * np.exp(-t), rel=1e-8)
    assert float(found["second.x"][-1]) == pytest.approx(0.5 + (0.5 + 1.5 * t) * np.exp(-t), rel=1e-8)


# -- slips


def test_an_input_that_nobody_connects_is_named() -> None:
    class Open(tg.Component):
        gain = b.Gain(2.0)

    with pytest.raises(tg.ModelError, match=r"gain\.x1 is not connected"):
        Open().lower()


def test_a_block_that_is_connected_with_blocks_is_no_part() -> None:
    class Mixed(tg.Component):
        source = b.Sine(1.0, 2.0)

    assert Mixed().lower().variables
    with pytest.raises(tg.UsageError, match="belongs together with"):
        type("Wrong", (tg.Component,), {"twice": b.Gain(2.0)(b.Sine(1.0, 2.0)).block})


def test_a_block_as_a_whole_is_no_connector() -> None:
    class Wrong(tg.Component):
        source, gain = b.Sine(1.0, 2.0), b.Gain(2.0)

        def equations(self) -> Any:
            yield tg.connect(self.source, self.gain)

    with pytest.raises(tg.UsageError, match="is a component; a connector is expected") as caught:
        Wrong().lower()
    assert "self.source.y" in str(caught.value)


def test_a_name_that_a_block_has_not_is_answered_with_those_that_it_has() -> None:
    with pytest.raises(tg.UsageError, match="Diagram has no variable 'gain'"):
        Controlled(plant=b.Gain(1.0), mods={"control.gain": 1.0}).lower()
    with pytest.raises(tg.UsageError, match="has no variable 'kpp'"):
        tg.Array(b.PID(2.0), 2, kpp=3.0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_networks_of_blocks_that_tick_together_are_those_of_a_diagram(seed: int) -> None:
    random = np.random.default_rng(seed)
    makers: list[Callable[[], Any]] = [
        lambda: b.UnitDelay(0.2, 0.1),
        lambda: b.ZeroOrderHold(0.2),
        lambda: b.DiscreteTransferFunction([0.3, 0.1], [1.0, -0.5], period=0.2),
        lambda: b.Gain(0.7),
        lambda: b.WeightedSummer(0.5, -0.4),
        lambda: b.Limiter(0.8, -0.7),
        lambda: b.UnitDelay(0.4, -0.2),
        lambda: b.FirstOrderLag(0.3),
    ]
    blocks: Blocks = {"u": lambda: b.Sine(1.0, 2.0, 0.4), "v": lambda: b.Pulse(0.8)}
    wires: list[tuple[str, str]] = []
    kinds = [int(k) for k in random.integers(0, len(makers), random.integers(3, 9))]
    names = [f"b{k}" for k in range(len(kinds))]
    for place, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        blocks[name] = makers[kind]
        delays = isinstance(makers[kind](), b.UnitDelay | b.FirstOrderLag)
        before = ["u", "v", *(names if delays else names[:place])]
        wires += [(f"{random.choice(before)}.out", f"{name}.{port}") for port in makers[kind]().inputs if not (kind == 1 and port == "x2")]
    order = random.permutation(list(blocks))
    require_same({name: blocks[name] for name in order}, wires, end=3.0)
