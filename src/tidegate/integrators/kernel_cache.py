"""Where Numba keeps the compiled integrators: one directory per version of their source, so that a change anywhere compiles anew.

Numba looks only at the date of the file a function stands in, not at the functions it calls; hence the hash over all kernel folders.
"""

from __future__ import annotations

import atexit
import gc
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from tidegate.compiled.native import cache_directory

__all__ = ["kernel", "kernel_directory"]

# what compiled code is made of; front ends and the symbolic stages may change without it
_SOURCES: Final = (
    "compiled/calls.py",
    "compiled/jit.py",
    "compiled/linear.py",
    "compiled/workspace.py",
    "events/*.py",
    "expressions/arithmetic.py",
    "expressions/interval.py",
    "expressions/tape.py",
    "integrators/event.py",
    "integrators/loop.py",
    "integrators/polish.py",
    "integrators/record.py",
    "integrators/transition.py",
    "integrators/radau/*.py",
    "integrators/sundials/*.py",
    "sensitivity/*.py",
)
# native code of other packages, which changes without the integrators; it is kept apart
_ELSEWHERE: Final = {
    "tidegate.csmp.": ("compiled/calls.py", "compiled/jit.py", "compiled/workspace.py", "csmp/machine/*.py"),
}
# What a second process compiles at the same time, and what this one does meanwhile. The last is not waited for.
_BESIDE: Final = ("tidegate.integrators.transition", "tidegate.integrators.event", "tidegate.events.tape_range")
_MEANWHILE: Final = (
    "tidegate.integrators.record",
    "tidegate.integrators.radau.step",
    "tidegate.sensitivity.forward",
    "tidegate.events.isolate",
    "tidegate.integrators.radau.locate",
)
_PATIENCE: Final = 60.0  # seconds for the other process; without it this one does all the work
_RARELY: Final = (100_000, 50, 50)  # garbage collection, a twelfth of the time to compile otherwise

_GLANCE: Final = 0.02  # seconds between looks at what the other process has done

_loading = threading.RLock()
_others: list[subprocess.Popen[bytes]] = []


@cache
def kernel_directory(sources: tuple[str, ...] = _SOURCES) -> Path:
    """The directory for this source, this Numba and this Python; one that ends with the process where the usual place cannot be written.

    Parameters
    ----------
    sources : patterns of the files that compiled code is made of.
    """
    root = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for package in ("numba", "llvmlite", "numpy"):
        digest.update(f"{package} {metadata.version(package)};".encode())
    digest.update(sys.version.encode())
    for path in sorted(path for pattern in sources for path in root.glob(pattern)):
        digest.update(path.read_bytes())
    directory = cache_directory() / f"kernels-{digest.hexdigest()[:16]}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return directory
    except OSError:
        temporary = tempfile.mkdtemp(prefix="tidegate-")
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)
        return Path(temporary)


@cache
def kernel(module: str) -> ModuleType:
    """Import a module of native code with its cache in the right place.

    Parameters
    ----------
    module : full name, e.g. ``"tidegate.integrators.radau.integrator"``.
    """
    from numba.core import config  # loading it takes 0.2 s, and only a run needs it

    settings: Any = config
    with _loading:
        directory = kernel_directory(next((sources for package, sources in _ELSEWHERE.items() if module.startswith(package)), _SOURCES))
        done = directory / f"{module}.done"
        is_new = module not in sys.modules and not done.exists()
        if is_new:
            what = module.removeprefix("tidegate.")
            _say(f"compiling {what} to machine code, once (up to half a minute); later runs load it from {directory}")
        before, collecting = settings.CACHE_DIR, gc.get_threshold()
        settings.CACHE_DIR = str(directory)
        gc.set_threshold(*_RARELY)
        try:
            if is_new and module in _BESIDE:
                _wait_for(module, directory)
            elif is_new and module.startswith("tidegate.integrators.radau"):
                _share_the_work(directory)
            loaded = import_module(module)
        finally:
            settings.CACHE_DIR = before
            gc.set_threshold(*collecting)
        done.touch()
    return loaded


def _share_the_work(directory: Path) -> None:
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
    for module in _MEANWHILE:
        import_module(module)
    _wait_for(_BESIDE[1], directory)


def _wait_for(module: str, directory: Path) -> None:
    """Until the other process has compiled the module, has ended, or takes too long; then it is compiled here."""
    last = time.monotonic() + _PATIENCE
    while any(other.poll() is None for other in _others) and not (directory / f"{module}.done").exists() and time.monotonic() < last:
        time.sleep(_GLANCE)


def _say(sentence: str) -> None:
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison] # None in a program without a console
        sys.stderr.write(f"tidegate: {sentence}\n")
        sys.stderr.flush()
