"""The kernel as machine code before anybody needs it: when tidegate is installed, or a container is built. In: a folder. Out: entries in it.

The folder is laid out as the cache is. Several processes take entries from one list, each from another place in it, and leave to the others what is
there, or under way.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from tidegate.cache_folder import cache_directory, reason_against, safe_directory, shipped_directory
from tidegate.compiled.kernel_keys import KERNEL, entries_in
from tidegate.compiled.kernel_sources import native_modules
from tidegate.errors import UsageError
from tidegate.integrators.kernel_cache import USUAL, compile_parts
from tidegate.integrators.other_process import other_process

__all__ = ["compile_kernel", "place_for_all", "take_part"]

_WORDS: Final = 100  # of what the processes say, at most
_GLANCE: Final = 0.2  # seconds between looks at what has come
_FOLDER, _FILE = 0o755, 0o644  # everybody may load what is in the package


def place_for_all() -> Path:
    """Beside the modules, so that every user has it, where that can be written; else the cache of this user."""
    shipped = shipped_directory()
    return shipped if shipped is not None and not reason_against(shipped)[0] else cache_directory()


def compile_kernel(place: Path, told: Callable[[int, int], None], *, usual: bool = False, processes: int | None = None) -> int:
    """Compile what is missing; how many entries are there then.

    Parameters
    ----------
    place : a folder that nobody else can write to.
    told : is told, again and again, how many entries are there, and how many there will be.
    usual : only what most runs need.
    processes : as many as there are processors where nothing is said.

    Raises
    ------
    UsageError : some of them could not be made, or not be kept.
    """
    what, advice = reason_against(place)
    if what:
        raise UsageError(what, hint=advice)
    wanted = [*_entries(usual=usual)]
    count = processes or os.cpu_count() or 1
    with tempfile.TemporaryFile("w+") as said:
        workers = [other_process(
            f"from tidegate.integrators.compile_kernel import take_part; take_part({k}, {count}, usual={usual})",
            says=said, TIDEGATE_CACHE_DIR=str(place), TIDEGATE_SHIPPED_DIR="",
        ) for k in range(count)]  # fmt: skip
        try:
            while any(worker.poll() is None for worker in workers):
                told(_made(place, wanted), len(wanted))
                time.sleep(_GLANCE)
        finally:
            for worker in workers:
                worker.terminate()
                worker.wait()
        found = _made(place, wanted)
        said.seek(0)
        if found < len(wanted):
            raise UsageError(
                f"{len(wanted) - found} of {len(wanted)} parts of the kernel did not come to be: {' '.join(said.read().split()[-_WORDS:])}",
                hint="there may be no room for them, or no memory: go on with the same command",
            )
    if place == shipped_directory():
        _remove_what_was(place, {module for module, _ in wanted})
        _open(place)
    told(found, len(wanted))
    return found


def take_part(number: int, count: int, *, usual: bool) -> None:
    """Compile what nobody else has, in a process that does nothing else.

    Parameters
    ----------
    number, count : of this process, and of all that take part.
    """
    wanted = [*_entries(usual=usual)]
    first = number * len(wanted) // count
    compile_parts((*wanted[first:], *wanted[:first]))
    for module, name in wanted:  # what another process is at, or was when it ended
        if not _is_made(safe_directory(), module, name):
            getattr(import_module(module), name).there()


def _is_made(place: Path, module: str, name: str) -> bool:
    folder = entries_in(place, module)
    return folder is not None and any(folder.glob(f"{name}-*.o"))


def _made(place: Path, wanted: list[tuple[str, str]]) -> int:
    return sum(_is_made(place, *one) for one in wanted)


def _entries(*, usual: bool) -> Iterator[tuple[str, str]]:
    """Modules and names, those first that most runs need."""
    yield from USUAL
    if usual:
        return
    for module in native_modules(KERNEL):
        found: dict[str, Any] = vars(import_module(module))
        for name, one in found.items():
            function: Any = getattr(one, "function", None)
            if hasattr(one, "there") and function.__module__ == module and function.__name__ == name and (module, name) not in USUAL:
                yield module, name


def _remove_what_was(place: Path, modules: set[str]) -> None:
    """Entries of other versions of the kernel, which nobody but this package could load."""
    current = {folder for module in modules if (folder := entries_in(place, module)) is not None}
    for folder in next(iter(current)).parent.iterdir():
        if folder not in current and folder.name.rpartition("-")[0] in modules:
            shutil.rmtree(folder, ignore_errors=True)


def _open(place: Path) -> None:
    """Let everybody read what only this user could."""
    for path in (place, *place.rglob("*")):
        with suppress(OSError):
            path.chmod(_FOLDER if path.is_dir() else _FILE)
