"""Draw a diagram (picture of a diagram). In goes a plain description of blocks and signals, out comes SVG text or a file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tidegate.errors import UsageError
from tidegate.frontends.blocks.drawing.compose import compose
from tidegate.frontends.blocks.drawing.description import Drawing
from tidegate.frontends.blocks.drawing.paint import painted
from tidegate.frontends.blocks.drawing.svg import svg

__all__ = ["draw", "save_drawing"]

_FORMATS: Final = (".svg", ".png", ".pdf")


def draw(drawing: Drawing) -> str:
    """The picture as SVG text.

    Parameters
    ----------
    drawing : what is drawn.

    Examples
    --------
    >>> from tidegate.frontends.blocks.drawing.description import Edge, DrawnNode
    >>> nodes = [DrawnNode("sum", "Summer", n_in=2), DrawnNode("plant", "Integrator")]
    >>> draw(Drawing(nodes, [Edge("sum", 0, "plant", 0), Edge("plant", 0, "sum", 1, sign=-1)]))[:4]
    '<svg'
    """
    return svg(compose(drawing))


def save_drawing(drawing: Drawing, path: str | Path) -> Path:
    """Save the picture.

    Parameters
    ----------
    drawing : what is drawn.
    path : ``.svg``, ``.png`` or ``.pdf``.

    Returns
    -------
    The path.

    Raises
    ------
    UsageError
        For another suffix, or if the file cannot be written.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in _FORMATS:
        raise UsageError(f"cannot save a picture as {str(path)!r}", hint="a name that ends in .svg, .png or .pdf")
    scene = compose(drawing)
    content = svg(scene).encode() if suffix == ".svg" else painted(scene, suffix[1:])
    try:
        file.write_bytes(content)
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror or error}", hint="check that the folder exists and can be written to") from error
    return file
