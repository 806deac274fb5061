"""``tidegate export``: a model as the source text of a block of DSblock 3.3 (stage: command line). In goes a file, out comes another one."""

from __future__ import annotations

import re
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tidegate.cli.find_model import load_source
from tidegate.source_text import export_dsblock

__all__ = ["export"]


def export(source: str, language: str, folder: Path, name: str = "") -> None:
    """Write the block of a model found in a file, and print where it is.

    Parameters
    ----------
    source : the file.
    language : "c" or "fortran".
    folder : where the block is put.
    name : of the block; empty for that of the file.

    Raises
    ------
    UsageError, ModelError : the file or the model is wrong, or the model cannot be exported; nothing is written.
    """
    console = Console(highlight=False, emoji=False, width=None if Console().is_terminal else 120)
    model = load_source(source).model
    chosen = name or re.sub(r"\W", "_", Path(source.partition(":")[0]).stem)
    written = export_dsblock(model, chosen, language=language, folder=folder)
    console.print(Text(f"{written.path}: {len(written.names)} names; tg.dsblock.build({str(written.path)!r}, prefix={written.prefix!r}) loads it"))
