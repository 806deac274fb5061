"""Where Numba keeps the compiled integrators: one directory per version of what they are made of, so that a change anywhere compiles anew."""

from __future__ import annotations

import gc
import hashlib
import os
import subprocess
import sys
import threading
import time
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from tidegate.compiled.cache_folder import cache_directory, prune, safe_directory, said
from tidegate.integrators.kernel_sources import all_sources, kernel_sources, native_modules

__all__ = ["kernel", "kernel_directory"]

# Packages whose native functions make one kernel. That of the machine of CSMP-10(ARL) changes without the integrators, and is kept apart.
_KERNEL: Final = ("tidegate.events", "tidegate.integrators", "tidegate.linear", "tidegate.sensitivity")
_ELSEWHERE: Final = {"tidegate.csmp.": ("tidegate.csmp.machine",)}
_MOST_NOTES: Final = 64 << 10  # bytes of notes, of 64 each
_MOST_BYTES: Final = 256 << 20  # of kernels on disk, of all versions; one has some 10 MiB
# What a second process compiles at the same time, and what this one does meanwhile. The last is not waited for.
_BESIDE: Final = ("tidegate.integrators.hybrid_loop.transition", "tidegate.integrators.hybrid_loop.event", "tidegate.events.tape_range")
_MEANWHILE: Final = {
    "tidegate.integrators.radau.radau_method": (
        "tidegate.integrators.hybrid_loop.record",
        "tidegate.integrators.radau.step",
        "tidegate.integrators.radau.sensitivities",
        "tidegate.events.isolate",
        "tidegate.integrators.radau.locate",
    ),
    "tidegate.integrators.classical.native.classical_method": (
        "tidegate.integrators.hybrid_loop.record",
        "tidegate.events.isolate",
        "tidegate.integrators.classical.native.hooks",
    ),
}
_PATIENCE: Final = 60.0  # seconds for the other process; without it this one does all the work
_RARELY: Final = (100_000, 50, 50)  # garbage collection, a twelfth of the time to compile otherwise

_GLANCE: Final = 0.02  # seconds between looks at what the other process has done

_loading = threading.RLock()
_others: list[subprocess.Popen[bytes]] = []


@cache
def kernel_directory(packages: tuple[str, ...] = _KERNEL) -> Path:
    """The directory for this source, this Numba and this Python; one that ends with the process where the usual place cannot be used.

    Parameters
    ----------
    packages : whose native functions make the kernel.
    """
    root = safe_directory()
    directory = root / f"kernels-{_kernel_key(packages, root)}"
    if not directory.exists():
        prune((entry for entry in root.glob("kernels-*") if entry != directory), _MOST_BYTES, _last_used)
    directory.mkdir(mode=0o700, exist_ok=True)
    return directory


def _kernel_key(packages: tuple[str, ...], root: Path) -> str:
    """What tells one version from another. Finding what a kernel is made of takes a second, so the answer is kept under all the package's text."""
    every = hashlib.sha256("".join(packages).encode())
    for path in all_sources():
        every.update(path.read_bytes())
    note = root / "keys" / every.hexdigest()
    if not note.is_file():
        made_of = hashlib.sha256()
        for name, text in sorted(kernel_sources(native_modules(packages)).items()):
            made_of.update(f"{name}\0{text}\0".encode())
        note.parent.mkdir(mode=0o700, exist_ok=True)
        prune(note.parent.iterdir(), _MOST_NOTES, lambda path: path.stat().st_mtime)
        draft = note.with_suffix(f".{os.getpid()}")
        draft.write_text(made_of.hexdigest(), encoding="utf-8")
        draft.replace(note)
    digest = hashlib.sha256(note.read_bytes())
    for package in ("numba", "llvmlite", "numpy"):
        digest.update(f"{package} {metadata.version(package)};".encode())
    digest.update(sys.version.encode())
    return digest.hexdigest()[:16]


def _last_used(directory: Path) -> float:
    """Every process that loads a module touches a file."""
    return max(path.stat().st_mtime for path in (directory, *directory.glob("*.done")))


@cache
def kernel(module: str) -> ModuleType:
    """Import a module of native code with its cache in the right place.

    Parameters
    ----------
    module : full name, e.g. ``"tidegate.integrators.radau.radau_method"``.
    """
    from numba.core import config  # loading it takes 0.2 s, and only a run needs it

    settings: Any = config
    with _loading:
        directory = kernel_directory(next((packages for start, packages in _ELSEWHERE.items() if module.startswith(start)), _KERNEL))
        done = directory / f"{module}.done"
        is_new = module not in sys.modules and not done.exists()
        if is_new:
            what = module.removeprefix("tidegate.")
            said(f"compiling {what} to machine code, once (up to half a minute); later runs load it from {directory}")
        before, collecting = settings.CACHE_DIR, gc.get_threshold()
        settings.CACHE_DIR = str(directory)
        gc.set_threshold(*_RARELY)
        try:
            if is_new and module in _BESIDE:
                _wait_for(module, directory)
            elif is_new and module in _MEANWHILE:
                _share_the_work(directory, _MEANWHILE[module])
            loaded = import_module(module)
        finally:
            settings.CACHE_DIR = before
            gc.set_threshold(*collecting)
        done.touch()
    return loaded


def _share_the_work(directory: Path, meanwhile: tuple[str, ...]) -> None:
    """Compile with two processes where there are two processors: Numba compiles one function at a time in each."""
    if (os.cpu_count() or 1) < 2 or not sys.executable or not directory.is_relative_to(cache_directory()):
        return
    program = f"from tidegate.integrators.kernel_cache import kernel; [kernel(module) for module in {_BESIDE!r}]"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    try:
        other = subprocess.Popen(  # noqa: S603, this interpreter and a text of ours
            [sys.executable, "-c", program], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except OSError:
        return
    _others.append(other)
    for module in meanwhile:
        import_module(module)
    _wait_for(_BESIDE[1], directory)


def _wait_for(module: str, directory: Path) -> None:
    """Until the other process has compiled the module, has ended, or takes too long; then it is compiled here."""
    last = time.monotonic() + _PATIENCE
    while any(other.poll() is None for other in _others) and not (directory / f"{module}.done").exists() and time.monotonic() < last:
        time.sleep(_GLANCE)
