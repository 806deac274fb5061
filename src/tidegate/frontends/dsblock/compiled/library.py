"""A shared library with the callbacks BLOCKB to BLOCKV of a block. In: its file, the prefix of the names. Out: addresses by letter.

Source: Otter, DSblock 3.3 (DLR 1994): names are free, usual is a common prefix and one letter. gfortran writes ``vdpb_`` for VDPB, C compilers the
name as it is.
"""

from __future__ import annotations

import ctypes
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import Any, Final, Literal

from tidegate.errors import UsageError
from tidegate.frontends.dsblock.compiled.requests import runtime
from tidegate.quick_dataclass import dataclass

__all__ = ["LETTERS", "Language", "Library", "copied", "opened"]

LETTERS: Final = "BCFGHJKPSTV"
_MAPS: Final = Path("/proc/self/maps")  # of Linux: what is loaded where, with which rights
_FIELDS: Final = 4  # a line: range, rights, offset, device, number, path
Language = Literal["auto", "c", "fortran"]


@dataclass(eq=False)
class Library:
    """A loaded library.

    Parameters
    ----------
    symbols : names of the callbacks that are there, by letter; ``addresses`` are where they are.
    several : several models may be alive at once (INFO(1) of BLOCKB with IOPT = 1); None before the block has said so.
    holder : whose model it is, if there can be but one.
    watcher : told the letter of every callback that Python is about to call.
    """

    path: Path
    prefix: str
    handle: Any
    symbols: dict[str, str]
    addresses: dict[str, int]
    several: bool | None = None
    holder: Any = None
    watcher: Callable[[str], object] | None = None
    facts: dict[str, str] = field(default_factory=dict[str, str])
    language: Language = "auto"

    def callback(self, letter: str) -> str:
        """What a callback is called in messages."""
        return f"BLOCK{letter} ({self.symbols[letter]})" if letter in self.symbols else f"BLOCK{letter}"


_opened: dict[tuple[Path, str, str], Library] = {}  # as the dynamic linker has them: once a process


def opened(path: Path, prefix: str, language: Language) -> Library:
    """The library, loaded once a process; its code is carried out from here on.

    Raises
    ------
    UsageError : it cannot be loaded, or there is no BLOCKB of this prefix in it.
    """
    if language not in ("auto", "c", "fortran"):
        raise UsageError(f"language={language!r}", hint="it is 'auto', 'c' or 'fortran'")
    if not path.is_file():
        raise UsageError(f"there is no library {path}", hint='tg.dsblock.build("vdp.f", prefix="vdp") makes one and loads it')
    key = (path.resolve(), prefix, language)
    if key in _opened:
        return _opened[key]
    runtime()
    _opened[key] = _loaded(path.resolve(), path, prefix, language)
    return _opened[key]


def copied(library: Library) -> Library:
    """The same code with static data of its own: a private copy of the file, as the linker loads each file once."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(library.path.resolve(), folder))
        found = _loaded(copy, library.path, library.prefix, library.language)
    found.watcher = library.watcher
    return found


def _loaded(file: Path, path: Path, prefix: str, language: Language) -> Library:
    try:
        handle = ctypes.CDLL(str(file))
    except OSError as error:
        raise UsageError(f"{path} cannot be loaded: {error}", hint="a shared library for this machine, with everything that it calls") from error
    symbols: dict[str, str] = {}
    addresses: dict[str, int] = {}
    code = _code_of(file)
    for letter in LETTERS:
        for name in _candidates(prefix, letter, language):
            address = (ctypes.cast(getattr(handle, name), ctypes.c_void_p).value or 0) if hasattr(handle, name) else 0
            if address and any(address in part for part in code or [range(1, sys.maxsize)]):
                symbols[letter], addresses[letter] = name, address
                break
    if "B" not in symbols:
        looked = ", ".join(_candidates(prefix, "B", language))
        raise UsageError(f"{path} has no BLOCKB: looked for {looked}", hint="prefix= is what the names of its callbacks have in common")
    return Library(path, prefix, handle, symbols, addresses, language=language)


def _code_of(file: Path) -> list[range]:
    """Where the machine code of a loaded file is; empty where the system does not say.

    What else has the name of a callback is none: a COMMON block called VDPC, or a function of another library, as ``sinh`` for the prefix ``sin``.
    """
    try:
        maps = _MAPS.read_text(errors="replace").splitlines()
    except OSError:
        return []
    found: list[range] = []
    for line in maps:
        where, rights, *_, path = line.split(maxsplit=5) if line.count(" ") > _FIELDS else (line, "", "")
        if "x" in rights and path.strip() == str(file.resolve()):
            first, _, end = where.partition("-")
            found.append(range(int(first, 16), int(end, 16)))
    return found


def _candidates(prefix: str, letter: str, language: Language) -> list[str]:
    fortran = [f"{prefix}{letter}".lower() + "_"]
    c = [prefix + letter.lower(), prefix + letter.upper()]
    return {"auto": [*fortran, *c], "fortran": fortran, "c": c}[language]
