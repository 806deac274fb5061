"""Phase plots (stage: plot). In go a result and the names of two quantities or more, out comes one drawn over the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tidegate.errors import UsageError
from tidegate.plot.colours import strokes
from tidegate.plot.panels import Curve, chosen_columns, plain
from tidegate.plot.runs import Run
from tidegate.results import Column

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_phase"]


def draw_phase(axes: Axes, runs: Sequence[Run], x: str, names: Sequence[str]) -> None:
    """Draw the named quantities over ``x``; a ring is where each begins, a dotted line a jump.

    Raises
    ------
    UsageError : ``x`` is an array, or an unknown name.
    """
    result = runs[0].result
    along = chosen_columns(result, [x])
    if len(along) != 1:
        raise UsageError(f"{x} is an array; one quantity goes along", hint=f"one of its elements: {result.columns[along[0]].name}")
    curves = [Curve(result.columns[i].name, i) for i in chosen_columns(result, names) if i != along[0]]
    if not curves:
        raise UsageError(f"there is nothing to draw over {x}", hint=f'result.plot(x="{x}", y="another")')
    looks = strokes(len(curves) * len(runs))
    for k, run in enumerate(runs):
        for j, curve in enumerate(curves):
            mine, base = run.curve(curve, result), run.curve(Curve(x, along[0]), result)
            if mine is None or base is None:
                continue
            label = ", ".join([curve.label] * (len(curves) > 1) + [run.label] * (len(runs) > 1)) or curve.label
            look = looks[k * len(curves) + j]
            px, py = run.times.path(base, mine)
            axes.plot(px, py, linewidth=1.3, label=plain(label), **look)
            for gap in np.flatnonzero(np.isnan(px) & ~np.isnan(np.roll(px, 1)) & ~np.isnan(np.roll(px, -1))):
                axes.plot([px[gap - 1], px[gap + 1]], [py[gap - 1], py[gap + 1]], linewidth=0.8, linestyle=":", color=look["color"])
            if px.size:
                axes.plot(px[:1], py[:1], marker="o", markersize=4.5, markerfacecolor="white", color=look["color"])
    axes.set_xlabel(_with_unit(result.columns[along[0]]))
    units = {result.columns[curve.column].shown_unit for curve in curves}
    axes.set_ylabel(_with_unit(result.columns[curves[0].column]) if len(curves) == 1 else plain(units.pop()) if len(units) == 1 else "")
    if len(curves) * len(runs) > 1:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small", frameon=False)


def _with_unit(column: Column) -> str:
    return plain(f"{column.name} ({column.shown_unit})" if column.shown_unit else column.name)
