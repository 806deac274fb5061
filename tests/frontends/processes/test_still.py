"""Variables started without a body, bodies without a variable: told once when the run ends, and nothing legal is told."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import tidegate as tg
from tidegate.frontends.processes import Environment, Group

__all__: list[str] = []


def parts(*, compiled: bool | None) -> tuple[Environment, Any, Any]:
    env = Environment(compiled=compiled, method="rke")
    y = env.variable(1.0, name="y")

    @env.continuous
    def tank() -> None:
        y.rate = -y.state

    return env, y, tank


@pytest.mark.parametrize("compiled", [None, False])
def test_a_variable_that_flows_without_any_body_is_told_once(compiled: bool | None) -> None:
    env, y, _ = parts(compiled=compiled)
    y.start()
    with pytest.warns(tg.errors.TidegateWarning, match=r"y was started, but no continuous body: .* try: tank\.start\(\)") as told:
        env.run(until=1)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.run(until=2)


def test_a_rate_that_only_a_process_sets_is_told() -> None:
    env = Environment()
    y = env.variable(1.0, name="y")

    def process() -> Any:
        y.start()
        y.rate = 2.0
        yield env.timeout(1.0)

    with pytest.warns(tg.errors.TidegateWarning, match="y was started, .* what a process sets is 0 again at once"):
        env.run(env.process(process()))
    assert y.state == 1.0


@pytest.mark.parametrize("compiled", [None, False])
def test_a_body_without_any_variable_that_flows_is_told(compiled: bool | None) -> None:
    env, _, tank = parts(compiled=compiled)
    tank.start()
    with pytest.warns(tg.errors.TidegateWarning, match=r"tank was started, but no variable: y keeps its state .* try: y\.start\(\)"):
        env.run(until=1)


def test_what_is_legal_is_not_told() -> None:
    """One started after the other, stopped again, a body that computes without rates, nothing started, and no time that passes."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for compiled in (None, False):
            env, y, tank = parts(compiled=compiled)

            def process(env: Environment = env, y: Any = y, tank: Any = tank) -> Any:
                y.start()
                yield env.timeout(1.0)
                tank.start()
                yield env.timeout(1.0)
                Group(y, tank).stop()
                yield env.timeout(1.0)

            env.run(env.process(process()))
        env, _, _ = parts(compiled=None)
        seen: list[float] = []
        env.continuous(lambda: seen.append(env.now)).start()
        env.run(until=1)
        env, y, _ = parts(compiled=None)
        env.run(until=1)
        env, y, _ = parts(compiled=None)
        y.start()
        y.stop()
