"""Where something that one function of a model read has changed, it alone is followed again; the model is what a new one would be."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest

import tidegate as tg
from tidegate.expressions.tracing import MOST_POINTS
from tidegate.frontends.components import following
from tidegate.frontends.equations import follow_functions

__all__: list[str] = []

_SHAPES = ("quadratic", "linear")


def _surroundings() -> SimpleNamespace:
    return SimpleNamespace(
        k=1.0, level=0.6, drop=0.1, gain=2.0, start=1.0, at=0.35, every=0.2, bump=0.05, shape="linear", low=0.0, table=[0.1, 0.2], texts=["slow"]
    )  # fmt: skip


def _model(around: SimpleNamespace) -> Any:
    """A model of which each function reads something else."""

    def rates(t: Any, y: Any, p: Any, d: Any) -> list[Any]:
        drag = y["v"] if around.shape == "linear" else y["v"] * abs(y["v"])
        return [-around.k * y["x"] + (0.5 if y["v"] > 0.3 else 0.0) + d["add"], y["x"] - p["c"] * drag]

    return tg.ode(
        rates,
        y0=lambda p: {"x": around.start * p["c"], "v": 0.0},
        p={"c": 0.3},
        discrete=lambda p: {"add": around.low + p["c"] * 0.1, "mode": around.texts[0]},
        outputs=lambda t, y, p, d: {"shown": around.gain * y["x"], "is_fast": d["mode"] == "fast", "each": [y["v"] * a for a in around.table]},
        events=[
            tg.event(lambda t, y: y["v"] > around.level, reset=lambda t, y: {"v": around.drop}),
            tg.event(at=lambda p: around.at + p["c"], reset=lambda t, y, p, d: {"add": d["add"] + around.bump, "mode": "fast"}),
            tg.event(every=0.25, reset=lambda t, y, p, d: {"x": y["x"] + around.bump * around.low}),
        ],
    )


def _found(model: Any) -> tuple[Any, ...]:
    result = tg.simulate(model, (0, 2))
    events = [(e.time, e.causes) for e in result.events]
    shown = [float(value) for name in ("shown", "is_fast", "each") for value in result[name].values.ravel()]
    # the numbers of texts are in the order in which they were met
    final = sorted((name, value) for name, value in result.final.items() if name != "mode")
    return final, events, shown, [str(text) for text in result.text("mode").values]


def _change(around: SimpleNamespace, rng: random.Random) -> str:
    name = rng.choice(list(vars(around)))
    if name == "shape":
        around.shape = rng.choice(_SHAPES)
    elif name == "texts":
        around.texts[0] = rng.choice(["slow", "fast", "idle"])
    elif name == "table":
        around.table = [rng.random() for _ in range(rng.choice([1, 2, 3]))]
    elif name == "low" or rng.random() < 0.7:
        setattr(around, name, round(getattr(around, name) + rng.uniform(0.01, 0.05), 4))
    return name


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_changes_one_after_another_give_what_a_new_model_gives(seed: int) -> None:
    rng = random.Random(seed)
    around = _surroundings()
    model = _model(around)
    for _ in range(12):
        changed = [_change(around, rng) for _ in range(rng.choice([1, 1, 2]))]
        assert _found(model) == _found(_model(around)), changed


def test_only_what_read_it_is_followed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    around = _surroundings()
    model = _model(around)
    model.lower()
    names: list[str] = []
    follow = follow_functions.followed

    def noted(function: Any, *args: Any, **options: Any) -> Any:
        names.append(function.__name__)
        return follow(function, *args, **options)

    monkeypatch.setattr(follow_functions, "followed", noted)
    around.k = 3.0
    model.lower()
    assert names == ["rates"]
    names.clear()
    around.level = 0.5
    model.lower()
    assert names == ["<lambda>"]
    names.clear()
    # all functions are called with other variables where start values are not what they were
    around.start = 2.0
    model.lower()
    assert len(names) > 5


def test_where_numbers_alone_have_changed_few_points_are_looked_at_and_else_all(monkeypatch: pytest.MonkeyPatch) -> None:
    around = _surroundings()
    around.k = 2.0  # with 1 there is no product
    model = _model(around)
    most: list[int] = []
    agree = follow_functions.require_agreement

    def noted(name: str, origin: Any, followed: Any, plain: Any, start: Any, points: int = MOST_POINTS, **options: Any) -> None:
        most.append(points)
        agree(name, origin, followed, plain, start, points, **options)

    monkeypatch.setattr(follow_functions, "require_agreement", noted)
    model.lower()
    assert most[0] == MOST_POINTS
    most.clear()
    around.k = 3.0
    model.lower()
    assert most == [2]
    most.clear()
    around.shape = "quadratic"
    model.lower()
    assert most == [MOST_POINTS]


def test_a_function_that_failed_is_followed_again_when_that_is_mended() -> None:
    around = SimpleNamespace(k=1.0, level=None)
    model = tg.ode(lambda t, y: [-around.k * y[0]], y0=[1.0], events=tg.event(lambda t, y: y[0] < around.level, reset=lambda t, y: [1.0]))
    with pytest.raises(tg.TidegateError):
        model.lower()
    around.level = 0.5
    assert len(tg.simulate(model, (0, 1)).events) == 1
    around.k = 2.0
    assert len(tg.simulate(model, (0, 1)).events) == 2


@pytest.mark.slow
def test_parts_of_an_hdae_are_followed_one_by_one() -> None:
    around = SimpleNamespace(g=9.81, length=1.0, push=0.0)

    def model() -> Any:
        return tg.hdae(
            lambda t, y: [y["vx"], y["vy"], -y["force"] * y["px"] + around.push, -y["force"] * y["py"] - around.g],
            f3=lambda t, y: y["vx"] ** 2 + y["vy"] ** 2 - y["force"] * (y["px"] ** 2 + y["py"] ** 2) - around.g * y["py"] + around.push * y["px"],
            f4=lambda t, y: y["px"] * y["vx"] + y["py"] * y["vy"],
            f5=lambda t, y: (y["px"] ** 2 + y["py"] ** 2 - around.length**2) / 2,
            x1={"px": 0.0, "py": -1.0, "vx": 1.0, "vy": 0.0},
            x3={"force": 10.81},
        )

    kept = model()
    for name, value in (("g", 9.81), ("g", 5.0), ("push", 1.0), ("g", 3.0), ("push", 0.0)):
        setattr(around, name, value)
        options: dict[str, Any] = {"y0": {"force": 1.0 + around.g}}
        assert tg.simulate(kept, (0, 1), **options).final == tg.simulate(model(), (0, 1), **options).final


@pytest.mark.slow
def test_equations_of_a_component_are_compared_at_few_points_where_numbers_alone_have_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    around = SimpleNamespace(k=2.0, shape="linear")

    class Store(tg.Component):
        x = tg.State(1.0)
        v = tg.State(0.0)

        def equations(self) -> Any:
            drag = self.v if around.shape == "linear" else self.v * abs(self.v)
            yield tg.der(self.x) == -around.k * self.x + (0.5 if self.v > 0.3 else 0.0)
            yield tg.der(self.v) == self.x - drag

    most: list[int] = []
    agree = following.require_agreement

    def noted(name: str, origin: Any, followed: Any, plain: Any, start: Any, points: int, *others: Any) -> None:
        most.append(points)
        agree(name, origin, followed, plain, start, points, *others)

    monkeypatch.setattr(following, "require_agreement", noted)
    model = Store()
    truths: list[float] = []
    for k, shape, points in ((2.0, "linear", MOST_POINTS), (3.0, "linear", 2), (3.0, "quadratic", MOST_POINTS), (2.5, "quadratic", 2)):
        around.k, around.shape = k, shape
        most.clear()
        truths.append(tg.simulate(model, (0, 2)).final["x"])
        assert most == [points]
    assert len(set(truths)) == 4
