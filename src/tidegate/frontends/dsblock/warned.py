"""What a block warns of, said at the line where the user has called tidegate."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Final

from tidegate.errors import DSblockWarning

__all__ = ["warn"]

_PACKAGE: Final = str(Path(__file__).parents[2])


def warn(sentence: str) -> None:
    """A ``DSblockWarning`` at the user's own line."""
    warnings.warn(sentence, DSblockWarning, skip_file_prefixes=(_PACKAGE,))
