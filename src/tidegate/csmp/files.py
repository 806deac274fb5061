"""Model files for Python users (stage: csmp). In goes a path or a text, out comes the program."""

from __future__ import annotations

from pathlib import Path

from tidegate.frontends.blocks.language.program import CsmpProgram
from tidegate.frontends.blocks.language.stored import read

__all__ = ["load"]


def load(source: str | Path) -> CsmpProgram:
    r"""Read a model file, with headings or without.

    Parameters
    ----------
    source : path of the file, or its text.

    Raises
    ------
    CsmpError : with every line that cannot be read.

    Examples
    --------
    >>> from tidegate import csmp
    >>> decay = csmp.load("DECAY\n2 T1 ; LEVEL\n\n2 1 .5\n\n")
    >>> decay.title, decay.blocks[2].label
    ('DECAY', 'LEVEL')
    """
    return read(source)[0]
