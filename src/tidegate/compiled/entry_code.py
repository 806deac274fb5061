"""Machine code of a kernel entry (stage: compiled). In: its Python function and its types; out: its address, from disk, or compiled and kept.

Numba's own store is not used: it goes by the date of one file, whatever else the code is made of. This one goes by the text of all of it
(``kernel_keys``), for a module that is imported by itself as for any other. What is kept is an object file, so that neither Numba's types nor its
compiler are needed once there is one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, Self

from tidegate.cache_folder import said
from tidegate.compiled.first_call import make_gates
from tidegate.compiled.kernel_keys import entry_directory, make_room, shipped_entry_directory, sources_are_as_they_were
from tidegate.compiled.kinds import Signature
from tidegate.compiled.native import NativeModule, link, read_object, write_object
from tidegate.errors import UsageError

__all__ = ["ENTRY", "entry_bitcode", "entry_code", "while_waiting"]

ENTRY: Final = "entry"  # its name in the object file
_BITCODE: Final = ".bc"  # the end of its name beside the object file
_PATIENCE: Final = 60.0  # seconds for another process that compiles the same; then it is compiled here
_MOMENT: Final = 2.0  # seconds in which a process that has left a mark writes its number into it
_GLANCE: Final = 0.01  # seconds between looks at whether it has


def entry_code(function: Callable[..., Any], signature: Signature) -> NativeModule:
    """The machine code of one entry, its only name ``ENTRY``.

    Parameters
    ----------
    function : in Python.
    signature : what it takes and returns.
    """
    folder = entry_directory(function.__module__)
    if folder is None:
        return _link(_compiled(function, signature)[0])
    name = _file_name(function)
    path, shipped = folder / name, shipped_entry_directory(function.__module__)
    kept = _linked(read_object(path))
    if kept is not None:
        with suppress(OSError):
            os.utime(folder)  # what is not used for long is removed
        return kept
    kept = None if shipped is None else _linked(read_object(shipped / name))
    if kept is not None:
        return kept
    with _announced(path) as busy:
        kept = _linked(read_object(path)) if busy.was_waited_for else None
        if kept is not None:
            return kept
        _say_once(folder.parent)
        code, bitcode = _compiled(function, signature)
        if sources_are_as_they_were():
            write_object(path, code)
            write_object(path.with_suffix(_BITCODE), bitcode)
    return _link(code)


def entry_bitcode(function: Callable[..., Any], signature: Signature) -> bytes:
    """The same as LLVM's bitcode, from disk, or compiled and kept.

    Parameters
    ----------
    function, signature : see ``entry_code``.
    """
    folders = (entry_directory(function.__module__), shipped_entry_directory(function.__module__))
    own, *others = (None if folder is None else (folder / _file_name(function)).with_suffix(_BITCODE) for folder in folders)
    for path in (own, *others):
        bitcode = None if path is None else read_object(path)
        if bitcode is not None:
            return bitcode
    _, bitcode = _compiled(function, signature)
    if own is not None and sources_are_as_they_were():
        write_object(own, bitcode)
    return bitcode


def _file_name(function: Callable[..., Any]) -> str:
    return f"{function.__name__}-{function.__code__.co_firstlineno}.o"


_meanwhile: list[Callable[[], bool]] = []


def while_waiting(do: Callable[[], bool]) -> None:
    """What is done where another process is waited for; it answers False when there is nothing left to do."""
    _meanwhile.append(do)


def _do_something() -> bool:
    while _meanwhile:
        do = _meanwhile.pop()
        if do():
            _meanwhile.append(do)
            return True
    return False


def _link(code: bytes) -> NativeModule:
    make_gates()  # which it may name
    return link(code, ENTRY)


def _linked(code: bytes | None) -> NativeModule | None:
    """What was kept, if it is there and holds an entry."""
    if code is None:
        return None
    try:
        module = _link(code)
        module.address(ENTRY)
    except (RuntimeError, UsageError):
        return None
    return module


@cache
def _say_once(place: Path) -> None:
    said(f"compiling to machine code what this run needs, once (some seconds); later runs load it from {place}")
    make_room()


def _compiled(function: Callable[..., Any], signature: Signature) -> tuple[bytes, bytes]:
    """The object file, and bitcode."""
    # they load Numba
    from tidegate.compiled.linked_late import object_of
    from tidegate.compiled.numba_types import numba_signature

    return object_of(function, numba_signature(signature), ENTRY)


def _is_at_work(mark: Path) -> bool:
    """Whether the process that has left this mark is still there; one without a number has been left a moment ago, or for good."""
    is_there = True
    try:
        number = int(mark.read_text() or 0)
        if number:
            os.kill(number, 0)
        else:
            is_there = abs(time.time() - mark.stat().st_mtime) < _MOMENT
    except (OSError, ValueError):
        is_there = False
    if not is_there:
        with suppress(OSError):
            mark.unlink(missing_ok=True)
    return is_there


class _announced:  # noqa: N801, a block
    """In this block other processes know that this one compiles the entry, and wait for it."""

    def __init__(self, path: Path) -> None:
        self._mark = path.with_suffix(".busy")
        self.was_waited_for = False
        self._is_mine = False

    def __enter__(self) -> Self:
        last = time.monotonic() + _PATIENCE
        while True:
            try:
                self._mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with self._mark.open("x") as file:
                    self._is_mine = True
                    file.write(str(os.getpid()))
                return self
            except FileExistsError:
                if time.monotonic() > last or not _is_at_work(self._mark):
                    return self
                self.was_waited_for = True
                if not _do_something():
                    time.sleep(_GLANCE)
            except OSError:  # the place cannot be written
                return self

    def __exit__(self, *_error: object) -> None:
        if self._is_mine:
            with suppress(OSError):
                self._mark.unlink(missing_ok=True)
