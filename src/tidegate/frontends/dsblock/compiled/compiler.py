"""Shared libraries from C, C++ and Fortran, made with the compilers of the machine and kept by their content. In: sources. Out: a library's path."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from tidegate.cache_folder import prune, safe_directory
from tidegate.errors import UsageError
from tidegate.quick_dataclass import dataclass

__all__ = ["SOURCE_SUFFIXES", "build_library", "compiler_of"]

_FORTRAN_SUFFIXES: Final = frozenset({".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08"})
_C_SUFFIXES: Final = frozenset({".c"})
_CPP_SUFFIXES: Final = frozenset({".cc", ".cpp", ".cxx"})
SOURCE_SUFFIXES: Final = _FORTRAN_SUFFIXES | _C_SUFFIXES | _CPP_SUFFIXES


@dataclass(frozen=True)
class _Compilers:
    """Those of one language: what messages call it, the variable that names one, the usual names, what installs one."""

    called: str
    variable: str
    names: tuple[str, ...]
    package: str


_COMPILERS: Final = {
    "c": _Compilers("C", "CC", ("cc", "gcc", "clang"), "gcc"),
    "c++": _Compilers("C++", "CXX", ("c++", "g++", "clang++"), "g++"),
    "fortran": _Compilers("Fortran", "FC", ("gfortran",), "gfortran"),
}
_SHARED: Final = ("-O2", "-shared", "-fPIC")
# the interface passes a scalar in one call and an array in another for the same argument
_FORTRAN: Final = ("-std=legacy", "-w", *_SHARED)
_MOST_BYTES: Final = 64 << 20  # of libraries on disk
_MOST_LINES: Final = 12  # of what a compiler says


@cache
def compiler_of(language: str) -> str:
    """The compiler for "c", "c++" or "fortran": what CC, CXX or FC names, else the first that is found.

    Raises
    ------
    UsageError : there is none.
    """
    of = _COMPILERS[language]
    chosen = os.environ.get(of.variable, "")
    for name in (chosen, *of.names):
        if name and (found := shutil.which(name)):
            return found
    asked = f"{of.variable}={chosen} and " if chosen else ""
    raise UsageError(
        f"compiled DSblocks need a {of.called} compiler, and there is none ({asked}{', '.join(of.names)} looked for)",
        hint=f"install {of.package}, as with `apt-get install {of.package}`, or name yours in the environment variable {of.variable}",
    )


def build_library(name: str, sources: Sequence[Path], options: Sequence[str] = ()) -> Path:
    """The library of these sources; one that was built before is taken as it is.

    Parameters
    ----------
    name : beginning of its file's name.
    options : for the compiler, behind the usual ones.

    Raises
    ------
    UsageError : there is no compiler, a file is missing, or the compiler refuses it; what it says is in the message.
    """
    if not sources:
        raise UsageError("no source files are given", hint='tg.dsblock.build("vdp.f", prefix="vdp")')
    missing = [str(source) for source in sources if not source.is_file()]
    if missing:
        raise UsageError(f"there is no file {', '.join(missing)}")
    languages = {_language(source) for source in sources}
    if {"fortran", "c++"} <= languages:
        raise UsageError("sources in Fortran and in C++ need different compilers", hint="link them yourself, and tg.dsblock.load the library")
    language = next(one for one in ("fortran", "c++", "c") if one in languages)
    compiler = compiler_of(language)
    flags = [*(_FORTRAN if language == "fortran" else _SHARED), *options]
    # headers and INCLUDE files beside a source count as part of it
    folders = dict.fromkeys(source.resolve().parent for source in sources)
    beside = [path for folder in folders for path in sorted(folder.glob("*.h")) + sorted(folder.glob("*.inc"))]
    key = hashlib.sha256(repr((compiler, Path(compiler).stat().st_mtime_ns, flags, sys.platform)).encode())
    for path in (*sources, *beside):
        key.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    folder = safe_directory() / "dsblocks"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    library = folder / f"lib{name}-{key.hexdigest()[:24]}.so"
    if not library.is_file():
        prune(folder.iterdir(), _MOST_BYTES, _last_used)
        _compile(compiler, flags, sources, library)
    os.utime(library)
    return library


def _last_used(path: Path) -> float:
    return path.stat().st_mtime


def _language(source: Path) -> str:
    suffix = source.suffix.lower()
    if suffix in _FORTRAN_SUFFIXES:
        return "fortran"
    if suffix in _C_SUFFIXES:
        return "c"
    if suffix in _CPP_SUFFIXES:
        return "c++"
    raise UsageError(f"{source} is neither C, C++ nor Fortran by its name", hint=f"one of {', '.join(sorted(SOURCE_SUFFIXES))}")


def _compile(compiler: str, flags: Sequence[str], sources: Sequence[Path], library: Path) -> None:
    handle, temporary = tempfile.mkstemp(dir=library.parent, suffix=".part")
    os.close(handle)
    try:
        command = [compiler, *flags, "-o", temporary, *(str(source.resolve()) for source in sources), "-lm"]
        with tempfile.TemporaryDirectory() as elsewhere:  # Fortran's module files land where the compiler runs
            done: Any = subprocess.run(command, capture_output=True, text=True, check=False, cwd=elsewhere)  # noqa: S603, the user asks for it
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            said = "\n".join(lines[:_MOST_LINES]) or f"it ended with status {done.returncode}"
            raise UsageError(f"{Path(compiler).name} does not compile {', '.join(source.name for source in sources)}:\n{said}")
        Path(temporary).replace(library)
    finally:
        Path(temporary).unlink(missing_ok=True)
