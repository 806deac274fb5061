"""Pictures of results with their events (stage after the results). In goes a ``Result``, out comes a matplotlib figure.

Figures are made without pyplot, so that nothing global is touched and no display is needed.
"""

from tidegate.plot.curves import CurvePoints, Times
from tidegate.plot.explore import Page, explore
from tidegate.plot.panels import Curve
from tidegate.plot.plot import PICTURE_FORMATS, picture_format, plot, shown_figure

__all__ = ["PICTURE_FORMATS", "Curve", "CurvePoints", "Page", "Times", "explore", "picture_format", "plot", "shown_figure"]
