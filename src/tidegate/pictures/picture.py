"""A picture of a model (stage: pictures): things to paint go in; text of an SVG file, a file, or what a notebook shows comes out."""

from __future__ import annotations

from pathlib import Path

from tidegate.errors import UsageError
from tidegate.frontends.blocks.drawing.paint import painted
from tidegate.frontends.blocks.drawing.scene import Scene
from tidegate.frontends.blocks.drawing.svg import svg

__all__ = ["Picture"]

_FORMATS = (".svg", ".png", ".pdf")


class Picture:
    """Shown by notebooks as it is.

    Parameters
    ----------
    scene : what is painted.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    @property
    def svg(self) -> str:
        """The text of an SVG file."""
        return svg(self.scene)

    def save(self, path: str | Path) -> Path:
        """Save it as ``.svg``, ``.png`` or ``.pdf``.

        Raises
        ------
        UsageError : for another suffix, or a file that cannot be written.
        """
        file = Path(path)
        suffix = file.suffix.lower()
        if suffix not in _FORMATS:
            raise UsageError(f"cannot save a picture as {str(path)!r}", hint="a name that ends in .svg, .png or .pdf")
        content = self.svg.encode() if suffix == ".svg" else painted(self.scene, suffix[1:])
        try:
            file.write_bytes(content)
        except OSError as error:
            raise UsageError(f"cannot write {file}: {error.strerror or error}", hint="check that the folder exists and can be written to") from error
        return file

    def __repr__(self) -> str:
        return f"<picture of {self.scene.title}, {self.scene.width:.0f} by {self.scene.height:.0f}>"

    def _repr_svg_(self) -> str:
        return self.svg
