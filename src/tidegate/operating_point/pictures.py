"""Pictures of linear models (stage: operating_point): gain and phase, responses to steps. In: labelled arrays; out: matplotlib figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tidegate.plot import picture_format, shown_figure
from tidegate.results import written_whole

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

__all__ = ["bode_picture", "step_picture"]

_WIDTH: Final = 8.0  # inches; a page
_PANEL_HEIGHT: Final = 2.4  # inches


def bode_picture(values: xr.DataArray, title: str, time_unit: str, path: str | Path | None) -> Figure:
    """Gain in decibel and phase in degrees, a curve for each pair of input and output.

    Parameters
    ----------
    values : (omega, output, input), complex.
    """
    figure, (above, below) = _panels(2, path)
    omega = values["omega"].to_numpy()
    for label, curve in _curves(values):
        gain = np.abs(curve)
        above.plot(omega, 20.0 * np.log10(np.where(gain > 0.0, gain, np.nan)), label=label, linewidth=1.3)
        below.plot(omega, np.degrees(np.unwrap(np.angle(curve))), linewidth=1.3)
    above.set_ylabel("gain (dB)")
    below.set_ylabel("phase (degrees)")
    for axes in (above, below):
        axes.set_xscale("log")
    below.set_xlabel(f"angular frequency (rad/{time_unit})" if time_unit else "angular frequency (radians per unit of time)")
    return _finished(figure, [above, below], title, path)


def step_picture(values: xr.DataArray, title: str, time_unit: str, units: Mapping[str, str], path: str | Path | None) -> Figure:
    """A panel for each output, a curve for each input.

    Parameters
    ----------
    values : (time, output, input).
    units : of outputs.
    """
    outputs = [str(name) for name in values["output"].values]
    figure, panels = _panels(max(len(outputs), 1), path)
    for axes, name in zip(panels, outputs, strict=False):
        for label, curve in _curves(values.sel(output=[name])):
            axes.plot(values["time"].to_numpy(), curve.real, label=label, linewidth=1.3)
        axes.set_ylabel(f"{name} ({units[name]})" if name in units else name)
    panels[-1].set_xlabel(f"time ({time_unit})" if time_unit else "time")
    return _finished(figure, panels, title, path)


def _curves(values: xr.DataArray) -> list[tuple[str, Any]]:
    return [
        (f"{output} by {name}", values.sel(output=output, input=name).to_numpy())
        for output in values["output"].values.tolist()
        for name in values["input"].values.tolist()
    ]


def _panels(count: int, path: str | Path | None) -> tuple[Figure, list[Any]]:
    if path is not None:
        picture_format(path)
    figure = shown_figure((_WIDTH, 0.8 + _PANEL_HEIGHT * count))
    panels: list[Any] = []
    for k in range(count):
        panels.append(figure.add_subplot(count, 1, k + 1, sharex=panels[0] if panels else None))
    return figure, panels


def _finished(figure: Figure, panels: list[Any], title: str, path: str | Path | None) -> Figure:
    for axes in panels:
        axes.grid(visible=True, color="0.92", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.label_outer()
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small", frameon=False)
    figure.suptitle(title.replace("$", r"\$"), fontsize="medium")
    if path is not None:
        suffix = picture_format(path)
        with written_whole(path) as draft:
            figure.savefig(draft, format=suffix[1:])
    return figure
