"""What tells one version of the kernel's machine code from another, and where it is kept (stage: compiled): keys of all that modules are made of.

A change of one function compiles anew what it is linked into, and nothing else: kernel entries call each other by name. Where the package stands and
when its files were written is of no account, but that they are not written while a process is at work: what that compiles then is not kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from tidegate.cache_folder import prune, safe_directory, shipped_directory
from tidegate.compiled.kernel_sources import all_sources, forget_sources, kernel_sources, native_modules
from tidegate.compiled.native import this_processor
from tidegate.no_collections import no_collections
from tidegate.versions import release_of

__all__ = [
    "INDICES_ARE_CHECKED",
    "KERNEL",
    "entries_in",
    "entry_directory",
    "kernel_directory",
    "kernel_version",
    "remember_the_sources",
    "shipped_entry_directory",
    "shipped_kernel_directory",
    "sources_are_as_they_were",
]

# Packages whose native functions make one kernel. That of the machine of CSMP-10(ARL) changes without the integrators, and is kept apart.
KERNEL: Final = ("tidegate.events", "tidegate.integrators", "tidegate.linear", "tidegate.sensitivity")
# For who works on the kernel: an index that is negative, or beyond the end of its row, ends the process.
INDICES_ARE_CHECKED: Final = bool(os.environ.get("TIDEGATE_CHECK_INDICES"))
_ELSEWHERE: Final = {"tidegate.csmp.": ("tidegate.csmp.machine",)}
_ENTRIES: Final = "entries"  # a folder of the cache
_NOTES: Final = "keys"  # another
_MOMENT: Final = 2_000_000_000  # nanoseconds
_MOST_NOTES: Final = 1 << 20  # bytes of notes
_MOST_BYTES: Final = 256 << 20  # of kernels on disk, of all versions; one has some 15 MiB


def kernel_directory() -> Path:
    """Where kernel entries are kept; a directory that ends with the process where the usual place cannot be used."""
    return safe_directory() / _ENTRIES


def shipped_kernel_directory() -> Path | None:
    """Where those are that were made when tidegate was installed; None for nowhere."""
    shipped = shipped_directory()
    return None if shipped is None else shipped / _ENTRIES


def entry_directory(module: str) -> Path | None:
    """Where the entries of a module are kept, which may not be there yet; None for a module that is in no kernel.

    Parameters
    ----------
    module : full name, e.g. ``"tidegate.events.isolate"``.
    """
    return entries_in(safe_directory(), module)


def shipped_entry_directory(module: str) -> Path | None:
    """Where they are if they were made when tidegate was installed; None for nowhere."""
    shipped = shipped_directory()
    return None if shipped is None else entries_in(shipped, module)


def entries_in(place: Path, module: str) -> Path | None:
    """The same in a folder that is laid out as the cache."""
    key = _keys(_packages(module), safe_directory()).get(module)
    return None if key is None else place / _ENTRIES / f"{module}-{key}"


def kernel_version() -> str:
    """What tells one version of the whole kernel from another."""
    return hashlib.sha256(json.dumps(_keys(KERNEL, safe_directory()), sort_keys=True).encode()).hexdigest()


def make_room() -> None:
    """Remove what has not been used for long, and what is too much."""
    prune(kernel_directory().glob("*"), _MOST_BYTES, lambda path: path.stat().st_mtime)


def _packages(module: str) -> tuple[str, ...]:
    return next((packages for start, packages in _ELSEWHERE.items() if module.startswith(start)), KERNEL)


@cache
def remember_the_sources() -> tuple[tuple[str, int, int], ...]:
    """Place, date and size of every file of the package, as they were when this was first asked."""
    return _seen()


def sources_are_as_they_were() -> bool:
    """Whether no file has been written since: only then is a key true of the functions in this process."""
    return _seen() == remember_the_sources()


def _seen() -> tuple[tuple[str, int, int], ...]:
    facts = [(name, os.stat(name)) for name in all_sources()]  # noqa: PTH116, see there
    return tuple((name, fact.st_mtime_ns, fact.st_size) for name, fact in facts)


@cache
def _keys(packages: tuple[str, ...], root: Path) -> dict[str, str]:
    """What tells one version of each module from another. Finding what they are made of takes a while, so it is kept under all the package's text."""
    note, shipped = root / _NOTES / hashlib.sha256(f"{packages}{_whole_text(root)}".encode()).hexdigest(), shipped_directory()
    texts = _noted(note)
    if texts is None and shipped is not None:
        texts = _noted(shipped / _NOTES / note.name)
    if texts is None:
        with no_collections():
            texts = {module: _digest(kernel_sources([module], entries_by_name=True)) for module in native_modules(packages)}
            forget_sources()
        _note_down(note, texts)
    tools = "".join(f"{release_of(package)};" for package in ("numba", "llvmlite", "numpy")) + sys.version + this_processor()
    tools += "checked" if INDICES_ARE_CHECKED else ""
    return {module: hashlib.sha256(f"{text};{tools}".encode()).hexdigest()[:16] for module, text in texts.items()}


def _digest(sources: dict[str, str]) -> str:
    made_of = hashlib.sha256()
    for name, text in sorted(sources.items()):
        made_of.update(f"{name}\0{text}\0".encode())
    return made_of.hexdigest()


def _whole_text(root: Path) -> str:
    """What tells one text of the whole package from another. To read all takes a while, so that is noted under places, dates and sizes of the files.

    Not where one was written a moment ago: it may be written again within what its date can tell.
    """
    seen = remember_the_sources()
    note = root / _NOTES / hashlib.sha256(repr(seen).encode()).hexdigest()
    noted = _noted(note)
    if noted is None:
        every = hashlib.sha256()
        for name in all_sources():
            every.update(Path(name).read_bytes())
        noted = {"text": every.hexdigest()}
        if sources_are_as_they_were() and time.time_ns() - max(written for _, written, _ in seen) > _MOMENT:
            _note_down(note, noted)
    return noted["text"]


def _noted(note: Path) -> dict[str, str] | None:
    """What was noted down; None where nothing was, or what is there has been cut or changed."""
    try:
        digest, _, text = note.read_text(encoding="utf-8").partition("\n")
        if hashlib.sha256(text.encode()).hexdigest() == digest:
            return json.loads(text)
    except (OSError, ValueError):
        pass
    return None


def _note_down(note: Path, texts: dict[str, str]) -> None:
    """Keep it, whole or not at all; that there is no room, or no right, is no reason to fail."""
    draft = note.with_suffix(f".{os.getpid()}")
    text = json.dumps(texts)
    try:
        note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        prune(note.parent.iterdir(), _MOST_NOTES, lambda path: path.stat().st_mtime)
        draft.write_text(f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}", encoding="utf-8")
        draft.replace(note)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
