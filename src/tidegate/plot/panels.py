"""Which curves share an axes (stage: plot). In goes a result and names, out come panels of curves that can be compared.

Curves of one unit share an axes. Where no unit is given, arrays stay together, discrete variables too, and the rest is kept apart by size, so that
a small quantity is not flattened by a large one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.numbers_as_texts import Texts
from tidegate.quick_dataclass import dataclass
from tidegate.results import Result

__all__ = ["Curve", "Panel", "chosen_columns", "joined_panels", "plain", "sensitivity_panels", "value_panels"]

_SCALE_RATIO: Final = 20.0  # curves without unit share an axes while their sizes differ by less than this
_MAX_CURVES: Final = 10  # of what nobody named: the colours of matplotlib's cycle
_MAX_NAMED: Final = 40  # of one array, or named by the user


@dataclass(frozen=True, slots=True)
class Curve:
    """One line: a column, or its derivative by a parameter (index; -1 for the value itself)."""

    label: str
    column: int
    parameter: int = -1


@dataclass(slots=True)
class Panel:
    """The curves of one axes.

    Parameters
    ----------
    label : beside the vertical axis.
    curves : at most ten that were not asked for by name.
    is_discrete : drawn as stairs.
    scale : largest absolute value.
    texts : what the numbers say, beside the vertical axis; () for quantities.
    """

    label: str
    curves: list[Curve] = field(default_factory=list[Curve])
    is_discrete: bool = False
    scale: float = 0.0
    key: tuple[str, str] = ("", "")
    texts: Texts = ()


def value_panels(result: Result, names: Sequence[str]) -> list[Panel]:
    """Panels of the named variables; of unknowns, discrete variables and outputs when none is named.

    Raises
    ------
    UsageError
        If a name is unknown.
    """
    chosen = chosen_columns(result, names)
    arrays = {i: group.name for group in result.groups if group.shape for i in group.columns}
    panels: list[Panel] = []
    for i in chosen:
        column = result.columns[i]
        discrete = column.is_held
        unit = column.shown_unit
        base = arrays.get(i, "") if not unit else ""
        key = (repr(column.texts), "texts") if column.texts else (unit or base, "discrete" if discrete else "")
        scale = _scale(column.shown(result.values[:, i]))
        most = _MAX_NAMED if names or i in arrays else _MAX_CURVES
        panel = _place(panels, key, scale, by_size=not unit and not base and not discrete, most=most)
        panel.is_discrete, panel.texts = discrete, column.texts
        panel.label = unit
        panel.curves.append(Curve(column.name, i))
    return panels


def sensitivity_panels(result: Result, names: Sequence[str]) -> list[Panel]:
    """Panels of the derivatives of the same variables, those of one parameter together.

    Raises
    ------
    UsageError
        If the run computed no sensitivities.
    """
    if result.sensitivities is None:
        raise UsageError("the run computed no sensitivities to draw", hint='tg.simulate(..., sensitivities="all") or a list of names')
    panels: list[Panel] = []
    columns = [i for i in chosen_columns(result, names) if names or not result.columns[i].is_held]
    for j, parameter in enumerate(result.sensitivity_parameters):
        for i in columns:
            column = result.columns[i]
            scale = _scale(result.sensitivities[:, j, i])
            panel = _place(panels, (column.unit, parameter), scale, by_size=not column.unit)
            unit, per = column.unit or "1", result.parameter_units.get(parameter, "")
            panel.label = f"d/d {parameter}" + (f"\n{unit} / ({per})" if per else f"\n{column.unit}" if column.unit else "")
            panel.curves.append(Curve(f"d {column.name} / d {parameter}", i, j))
    return panels


def joined_panels(panels: Sequence[Panel]) -> Panel:
    """All curves in one panel; their units beside the axis, or with their names where they differ."""
    if len(panels) == 1:
        return panels[0]
    labels = {panel.label for panel in panels}
    is_alike = len(labels) == 1
    curves: list[Curve] = []
    for panel in panels:
        for curve in panel.curves:
            label = curve.label if is_alike or not panel.label or curve.parameter >= 0 else f"{curve.label} ({panel.label})"
            curves.append(Curve(label, curve.column, curve.parameter))
    return Panel(labels.pop() if is_alike else "", curves)


def chosen_columns(result: Result, names: Sequence[str]) -> list[int]:
    """Columns of the named variables; of all but inputs and hidden ones when none is named.

    Raises
    ------
    UsageError : a name is unknown.
    """
    if not names:
        return [i for i, column in enumerate(result.columns) if column.role != "input" and not column.is_hidden]
    chosen = [index for name in names for index in result.group(name).columns]
    return list(dict.fromkeys(chosen))


def _place(panels: list[Panel], key: tuple[str, str], scale: float, *, by_size: bool, most: int = _MAX_CURVES) -> Panel:
    for panel in panels:
        fits = not by_size or not scale or not panel.scale or max(scale, panel.scale) < _SCALE_RATIO * min(scale, panel.scale)
        if panel.key == key and len(panel.curves) < most and fits:
            panel.scale = max(panel.scale, scale)
            return panel
    panels.append(Panel("", key=key, scale=scale))
    return panels[-1]


def _scale(values: NDArray[np.float64]) -> float:
    finite = values[np.isfinite(values)]
    return float(np.max(np.abs(finite))) if finite.size else 0.0


def plain(text: str) -> str:
    """A text that is not taken for mathematics."""
    return text.replace("$", r"\$")
