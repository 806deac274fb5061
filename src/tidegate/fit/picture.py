"""The picture of a fit (stage: fit): data with their standard deviations on the curves of the fitted run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.fit.observations import Series
from tidegate.plot import Curve, Times, picture_format, shown_figure
from tidegate.results import Result, written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["picture"]

_WIDTH: Final = 8.0  # inches; a page
_PANEL_HEIGHT: Final = 2.4  # inches


def picture(series: Sequence[Series], models: Sequence[NDArray[np.float64]], result: Result, path: str | Path | None) -> Figure:
    """The figure; it belongs to no pyplot window.

    Parameters
    ----------
    series : the data.
    models : what the fitted run has in their place.
    result : the fitted run.
    """
    if path is not None:
        picture_format(path)
    figure = shown_figure((_WIDTH, _PANEL_HEIGHT * len(series)))
    times = Times(result)
    for one, model, axes in zip(series, models, figure.subplots(len(series), 1, squeeze=False)[:, 0], strict=True):
        unit = f" ({one.unit})" if one.unit else ""
        if one.is_events:
            # times grow along the events, and what differs is small beside them
            axes.axhline(0.0, color="C0", label="model")
            axes.errorbar(one.places + 1, one.values - model, yerr=one.sigma, fmt="o", color="C1", markersize=4, label="data")
            axes.set_xlabel(f"number of the event `{one.name}`")
            axes.set_ylabel(f"measured less model{unit}")
        else:
            axes.plot(*times.unbroken(Curve(one.name, one.column)), color="C0", label="model")
            axes.errorbar(one.places, one.values, yerr=one.sigma, fmt="o", color="C1", markersize=4, label="data")
            axes.set_xlabel(f"time ({result.time_unit})" if result.time_unit else "time")
            axes.set_ylabel(f"{one.name}{unit}")
        axes.legend()
    if path is not None:
        with written_whole(path) as draft:
            figure.savefig(draft)
    return figure
