"""Colours and strokes of curves (stage: plot). In goes how many there are, out come as many that can be told apart."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["STROKES", "strokes"]

STROKES: Final = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))  # of several results, or of neighbours in colour
_CYCLE: Final = 10  # colours of matplotlib's cycle, all far from each other


def strokes(count: int) -> list[dict[str, Any]]:
    """Colour and stroke of each of ``count`` curves.

    Up to ten have the colours of matplotlib's cycle. More go through the rainbow in their order, as cells of a rod do,
    with neighbours in different strokes.

    Examples
    --------
    >>> strokes(2)
    [{'color': 'C0', 'linestyle': '-'}, {'color': 'C1', 'linestyle': '-'}]
    >>> len({(str(stroke["color"]), str(stroke["linestyle"])) for stroke in strokes(40)})
    40
    """
    if count <= _CYCLE:
        return [{"color": f"C{i}", "linestyle": "-"} for i in range(count)]
    from matplotlib import colormaps

    rainbow = colormaps["turbo"]
    # the ends of the rainbow are nearly black
    return [{"color": rainbow(0.06 + 0.88 * i / (count - 1)), "linestyle": STROKES[i % 3]} for i in range(count)]
