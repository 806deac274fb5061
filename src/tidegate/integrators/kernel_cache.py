"""Where Numba keeps the compiled integrators: one folder for each module and each text of what its machine code is made of.

A change of one function compiles anew what it is linked into, and nothing else: kernel entries call each other by name. Where the package stands and
when its files were written is of no account.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from tidegate.compiled.cache_folder import cache_directory, prune, safe_directory, said
from tidegate.integrators.kernel_sources import all_sources, kernel_sources, native_modules

__all__ = ["ByContent", "kernel", "kernel_directory"]

# Packages whose native functions make one kernel. That of the machine of CSMP-10(ARL) changes without the integrators, and is kept apart.
_KERNEL: Final = ("tidegate.events", "tidegate.integrators", "tidegate.linear", "tidegate.sensitivity")
_ELSEWHERE: Final = {"tidegate.csmp.": ("tidegate.csmp.machine",)}
_MOST_NOTES: Final = 1 << 20  # bytes of notes
_MOST_BYTES: Final = 256 << 20  # of kernels on disk, of all versions; one has some 20 MiB
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

# Numba asks these in turn; ours leaves functions of others to Numba's own.
_LOCATORS: Final = ",".join(
    (
        f"{__name__}.ByContent",
        "UserProvidedCacheLocator",
        "InTreeCacheLocator",
        "UserWideCacheLocator",
        "IPythonCacheLocator",
        "ZipCacheLocator",
    )
)

_loading = threading.RLock()
_others: list[subprocess.Popen[bytes]] = []


class ByContent:
    """The folder for one function, as Numba asks for it (a locator); Numba's own go by the place and the date of the file."""

    def __init__(self, folder: Path, line: int) -> None:
        self.folder, self.line = folder, line

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> ByContent | None:
        """None for functions that are not part of a kernel: Numba then goes on to its own locators."""
        del file
        packages = _packages(function.__module__)
        key = _keys(packages, safe_directory()).get(function.__module__)
        if key is None:
            return None
        return cls(kernel_directory(packages).parent / "entries" / f"{function.__module__}-{key}", function.__code__.co_firstlineno)

    def ensure_cache_path(self) -> None:
        """Make the folder, and note that it is in use."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.utime(self.folder)

    def get_cache_path(self) -> str:
        """The folder."""
        return str(self.folder)

    def get_source_stamp(self) -> int:
        """The folder's name says all."""
        return 0

    def get_disambiguator(self) -> str:
        """The line: functions of one name in one file."""
        return str(self.line)


def _packages(module: str) -> tuple[str, ...]:
    return next((packages for start, packages in _ELSEWHERE.items() if module.startswith(start)), _KERNEL)


@cache
def kernel_directory(packages: tuple[str, ...] = _KERNEL) -> Path:
    """Where it is noted what of this kernel has been compiled; a directory that ends with the process where the usual place cannot be used.

    Parameters
    ----------
    packages : whose native functions make the kernel.
    """
    root = safe_directory()
    whole = hashlib.sha256("".join(f"{module}-{key};" for module, key in sorted(_keys(packages, root).items())).encode()).hexdigest()[:16]
    directory = root / f"kernels-{whole}"
    if not directory.exists():
        prune((entry for entry in root.glob("kernels-*") if entry != directory), 0, lambda path: path.stat().st_mtime)
        prune((root / "entries").glob("*"), _MOST_BYTES, lambda path: path.stat().st_mtime)
    directory.mkdir(mode=0o700, exist_ok=True)
    return directory


@cache
def _keys(packages: tuple[str, ...], root: Path) -> dict[str, str]:
    """What tells one version of each module from another. Finding what they are made of takes a while, so it is kept under all the package's text."""
    every = hashlib.sha256("".join(packages).encode())
    for path in all_sources():
        every.update(path.read_bytes())
    note = root / "keys" / every.hexdigest()
    if not note.is_file():
        found = {}
        for module in native_modules(packages):
            made_of = hashlib.sha256()
            for name, text in sorted(kernel_sources([module], entries_by_name=True).items()):
                made_of.update(f"{name}\0{text}\0".encode())
            found[module] = made_of.hexdigest()
        note.parent.mkdir(mode=0o700, exist_ok=True)
        prune(note.parent.iterdir(), _MOST_NOTES, lambda path: path.stat().st_mtime)
        draft = note.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(found), encoding="utf-8")
        draft.replace(note)
    tools = "".join(f"{package} {metadata.version(package)};" for package in ("numba", "llvmlite", "numpy")) + sys.version
    texts: dict[str, str] = json.loads(note.read_bytes())
    return {module: hashlib.sha256(f"{text};{tools}".encode()).hexdigest()[:16] for module, text in texts.items()}


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
        directory = kernel_directory(_packages(module))
        done = directory / f"{module}.done"
        is_new = module not in sys.modules and not done.exists()
        if is_new:
            what = module.removeprefix("tidegate.")
            said(f"compiling {what} to machine code, once (up to half a minute); later runs load it from {directory}")
        before, collecting = getattr(settings, "CACHE_LOCATOR_CLASSES", ""), gc.get_threshold()
        settings.CACHE_LOCATOR_CLASSES = _LOCATORS
        gc.set_threshold(*_RARELY)
        try:
            if is_new and module in _BESIDE:
                _wait_for(module, directory)
            elif is_new and module in _MEANWHILE:
                _share_the_work(directory, _MEANWHILE[module])
            loaded = import_module(module)
        finally:
            settings.CACHE_LOCATOR_CLASSES = before
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
