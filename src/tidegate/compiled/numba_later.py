"""What modules of native code hold instead of Numba's own objects (stage: compiled), which ``numba_types`` makes where something is compiled.

To load Numba and to tell it of all functions of the kernel takes a quarter of a second, more than a run whose machine code is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tidegate.compiled.kinds import Signature

__all__ = ["External", "ExternalOfRun", "Intrinsic", "NativeFunction", "loaded_entries"]

loaded_entries: dict[str, Any] = {}  # kernel entries of all modules that are loaded, by their symbols


class NativeFunction:
    """A function that is compiled for whatever types it is called with.

    Parameters
    ----------
    function : in Python.
    calls : functions of plain Python that it reaches, which are compiled as well.
    """

    def __init__(self, function: Callable[..., Any], calls: Sequence[Callable[..., Any]] = ()) -> None:
        self.written = function
        self.calls = calls


class Intrinsic:
    """A function whose machine code is made by hand.

    Parameters
    ----------
    function : of Numba's typing context and types; it gives a signature, and what generates the code.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.written = function


class External:
    """A C function that the linker finds under a name.

    Parameters
    ----------
    name : for the linker.
    signature : of the function.
    """

    def __init__(self, name: str, signature: Signature) -> None:
        self.name = name
        self.signature = signature


class ExternalOfRun(External):
    """One that takes a run, the first of its arguments, as two pointers, and is called with the run."""
