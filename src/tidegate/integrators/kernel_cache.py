"""Where Numba keeps the compiled integrators: one directory per version of their source, so that a change anywhere compiles anew.

Numba looks only at the date of the file a function stands in, not at the functions it calls; hence the hash over all kernel folders.
"""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType
from typing import Final

from tidegate.compiled.native import cache_directory

__all__ = ["kernel", "kernel_directory"]

_FOLDERS: Final = ("compiled", "events", "sensitivity", "integrators", "expressions")


@cache
def kernel_directory() -> Path:
    """The directory for this source, this Numba and this Python."""
    root = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for package in ("numba", "llvmlite", "numpy"):
        digest.update(f"{package} {metadata.version(package)};".encode())
    digest.update(sys.version.encode())
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return cache_directory() / f"kernels-{digest.hexdigest()[:16]}"


@cache
def kernel(module: str) -> ModuleType:
    """Import a module of native code with its cache in the right place.

    Parameters
    ----------
    module : full name, e.g. ``"tidegate.integrators.radau.advance"``.
    """
    import numba  # loading it takes 0.2 s, and only a run needs it

    directory = kernel_directory()
    is_new = not directory.exists()
    directory.mkdir(parents=True, exist_ok=True)
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(directory)
    try:
        loaded = import_module(module)
    finally:
        numba.config.CACHE_DIR = before
    if is_new:
        print("tidegate: compiling the integrators, once (about 15 s); later runs load them from", directory, file=sys.stderr)
    return loaded
