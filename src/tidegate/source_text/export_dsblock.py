"""Models as files of compiled DSblocks (stage: source text): a source in, a file in C or Fortran out; written whole or not at all."""

from __future__ import annotations

import keyword
import re
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Final

from tidegate.compiled.variants import without_vanishing
from tidegate.errors import UsageError
from tidegate.model import Form
from tidegate.names import suggestion
from tidegate.quick_dataclass import dataclass
from tidegate.simulate import reduced_of
from tidegate.source_text.block_in_c import block_in_c
from tidegate.source_text.block_in_fortran import block_in_fortran
from tidegate.source_text.dsblock import block_text
from tidegate.source_text.flat_system import flat_system, parameter_values
from tidegate.structure import Reduced

__all__ = ["ExportedBlock", "export_dsblock"]

_WRITERS: Final = {"c": (block_in_c, ".c"), "fortran": (block_in_fortran, ".f90")}
_LONGEST: Final = 24  # of the name of a block, so that names of its routines are Fortran's


@dataclass(frozen=True)
class ExportedBlock:
    """What an export wrote.

    Parameters
    ----------
    path : the file.
    prefix : what the names of its callbacks begin with.
    language : "c" or "fortran".
    names : for the name of every quantity of the model that of the block.
    """

    path: Path
    prefix: str
    language: str
    names: dict[str, str]

    def __fspath__(self) -> str:
        return str(self.path)


def export_dsblock(source: Any, name: str, *, language: str = "c", folder: str | PathLike[str] = ".") -> ExportedBlock:
    """See ``tidegate.frontends.dsblock.export``."""
    if language not in _WRITERS:
        raise UsageError(f"language={language!r}", hint=suggestion(str(language), list(_WRITERS), f"one of {', '.join(_WRITERS)}"))
    if not re.fullmatch(rf"[A-Za-z][A-Za-z0-9_]{{0,{_LONGEST - 1}}}", name) or keyword.iskeyword(name):
        raise UsageError(f"{name!r} cannot be the name of a block", hint=f"a letter, then letters, digits and _, {_LONGEST} at most, as 'motor'")
    write, suffix = _WRITERS[language]
    block = block_text(flat_system(_reduced(source)))
    text = write(block, name)
    path = Path(folder) / f"{name}{suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="ascii")
    part.replace(path)
    return ExportedBlock(path, name, language, block.names)


def _reduced(source: Any) -> Reduced:
    """What is solved; of an HDAE without multipliers, which belong to whoever solves the block."""
    found = reduced_of(source)
    if found.given.form is Form.HDAE:
        return reduced_of(replace(found.given, stabilisation="index1"))
    return without_vanishing(found, parameter_values(found.model))
