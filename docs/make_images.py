"""Draws the pictures of the README and the pages: ``python docs/make_images.py`` writes them to docs/images/."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import tidegate as tg

DOCS = Path(__file__).parent
IMAGES = DOCS / "images"
sys.path.insert(0, str(DOCS.parent))

from examples import bouncing_ball, braked_pendulum, first_event, hidden_crossing  # noqa: E402 - the line above makes them importable

__all__ = ["main"]


def hidden_crossing_picture(path: Path) -> None:
    """The switching function over the first half second, with the pair of crossings between two steps."""
    result = tg.simulate(hidden_crossing.model, (0.0, 0.5), rtol=1e-6, parameters={"p": 2.999})
    times = np.linspace(0.0, 0.5, 2001)
    x = result.at(times)["x"].to_numpy()
    figure = Figure(figsize=(8.0, 3.0), dpi=100, layout="constrained")
    axes = figure.add_subplot()
    axes.plot(times, x**3 - 5.0 * x**2 + 7.0 * x, label="x³ - 5x² + 7x", linewidth=1.3)
    axes.axhline(2.999, color="0.4", linewidth=0.8, linestyle="--", label="p = 2.999")
    for event in result.events:
        axes.axvline(event.time, color="tab:red", linewidth=0.8)
    axes.set_xlim(0.0, 0.5)
    axes.set_xlabel("time")
    axes.legend(loc="lower right", frameon=False)
    figure.savefig(path)


def spring_pictures() -> None:
    """The spring of the tutorial on CSMP-10(ARL): its diagram, and a run by the language's method."""
    program = tg.csmp.load(DOCS.parent / "tests" / "golden" / "csmp" / "spring.mod")
    program.to_diagram().draw(IMAGES / "csmp_spring_diagram.svg")
    run = tg.csmp.run(program, to=20, h=0.1, out=[9, 48])
    run.result.plot(path=IMAGES / "csmp_spring.png")


def plot_pictures() -> None:
    """What the page on pictures shows."""
    bounce = tg.event(lambda t, y: y["h"] < 0, reset=lambda t, y, p: {"v": -p["e"] * y["v"]}, name="bounce")
    units = {"h": "m", "v": "m/s", "g": "m/s^2"}
    model = tg.ode(lambda t, y, p: [y["v"], -p["g"]], y0={"h": 1.0, "v": 0.0}, p={"g": 9.81, "e": 0.8}, events=bounce, units=units, name="ball")
    lively, dull = (tg.simulate(model, (0, 2), parameters={"e": e}) for e in (0.8, 0.7))
    lively.plot(path=IMAGES / "plot_ball.png")
    lively.plot("h", others={"a dull ball": dull}, label="a lively ball", path=IMAGES / "plot_two.png")
    lively.plot(x="h", y="v", path=IMAGES / "plot_phase.png")


def drift_picture(path: Path) -> None:
    """How far a pendulum leaves its circle in the five forms of a constrained system."""
    figure = Figure(figsize=(8.0, 3.4), dpi=100, layout="constrained")
    axes = figure.add_subplot()
    for form in braked_pendulum.FORMS:
        result = tg.simulate(braked_pendulum.model, (0.0, 100.0), rtol=1e-6, hdae=form, make_consistent=True, parameters={"mu": 0.0})
        off = abs(result["px"].to_numpy() ** 2 + result["py"].to_numpy() ** 2 - 1.0) / 2
        axes.semilogy(result.t, np.maximum.accumulate(np.maximum(off, 1e-16)), label=form, linewidth=1.2)
    axes.set_xlim(0.0, 100.0)
    axes.set_ylim(1e-10, 1e-3)
    axes.set_xlabel("time")
    axes.set_ylabel("largest |f5| so far")
    axes.legend(loc="lower right", frameon=False, fontsize=8)
    figure.savefig(path)


def main() -> None:
    """Draw all of them."""
    IMAGES.mkdir(exist_ok=True)
    tank = tg.simulate(first_event.model, (0.0, 10.0), sensitivities=["inflow", "k"], outputs=0.05, event_rows=True)
    tank.plot("level", path=IMAGES / "first_event.png", sensitivities=True)
    tg.simulate(bouncing_ball.model, bouncing_ball.t_span).plot(path=IMAGES / "bouncing_ball.png")
    plot_pictures()
    hidden_crossing_picture(IMAGES / "hidden_crossing.png")
    drift_picture(IMAGES / "constrained_drift.png")
    spring_pictures()


if __name__ == "__main__":
    main()
