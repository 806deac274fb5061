"""Runs repeated so often that machine code of their own is worth making (stage: integrators). In: memory of a run. Out: the address of that code.

After a second of such runs another process makes it, while they go on; it is kept on disk, where later processes find it soon after they have begun.
Results are the same to the last bit (``compiled.own_code``), so that it makes no difference when it comes.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
import threading
from collections import deque
from time import perf_counter
from typing import IO, Any, Final
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from tidegate.cache_folder import cache_directory, prune, safe_directory
from tidegate.compiled.entry_code import ENTRY
from tidegate.compiled.first_call import make_gates
from tidegate.compiled.kernel_keys import KERNEL
from tidegate.compiled.native import NativeModule, link, named, read_object
from tidegate.compiled.numba_later import loaded_entries
from tidegate.compiled.own_code import Wish
from tidegate.compiled.schema import FUNCTIONS, LASTING, LASTING_ARRAYS
from tidegate.compiled.workspace import INDEX_OF, Workspace
from tidegate.errors import TidegateError
from tidegate.integrators.other_process import other_process

__all__ = ["FIRST_LOOK", "NEVER", "OwnCode", "RepeatedEntry"]

_FOLDER: Final = "own"  # of the cache
_MOST_BYTES: Final = 64 << 20  # on disk; a model's has some 100 KiB
_WORD: Final = 8
FIRST_LOOK: Final = 100  # runs before anything is looked at
_LOOK_FOR: Final = 0.05  # of the patience: seconds of runs before it is looked for on disk, which takes one of thousands of runs' time
_WHERE_ALL_ARE_BUSY: Final = 10.0  # patience with several runs, beside which there may be others on every processor
_GLANCE: Final = 0.2  # seconds of runs between looks at whether it has come
NEVER: Final = 1 << 62
_OF_PLAN: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3)
_WORDS: Final = 60  # of what the other process says, at most


class OwnCode:
    """The machine code of runs that are repeated in one memory.

    Parameters
    ----------
    work : the memory.
    integers : in it, as they are before a run.
    root : the kernel entry that is called: that of one run, or of several.
    patience : seconds of such calls before another process is begun.
    """

    def __init__(self, work: Workspace, integers: NDArray[np.int64], root: str = "tidegate_run_at_once", patience: float = 1.0) -> None:
        self._work, self._integers, self._root, self._patience = work, integers, root, patience
        self._spent = 0.0
        self._making: _Making | None = None

    def look(self, runs: int, seconds: float) -> tuple[int, int]:
        """Where the code is, 0 while there is none, and after how many runs to ask again.

        Parameters
        ----------
        runs : since it was asked last.
        seconds : that one of them takes.
        """
        self._spent += runs * seconds
        if self._making is None:
            left = _LOOK_FOR * self._patience - self._spent
            if left > 0.0:
                return 0, _until(left, seconds)
            self._making = _making_of(self._work, self._integers, self._root)
        making = self._making
        if making.is_there():
            return making.address, NEVER
        if self._spent >= self._patience:
            making.begin()
        return 0, NEVER if making.has_failed else _until(_GLANCE, seconds)

    def now(self) -> int:
        """Where the code is, once it has been made.

        Raises
        ------
        TidegateError : it could not be made.
        """
        if self._making is None:
            self._making = _making_of(self._work, self._integers, self._root)
        return self._making.waited_for()


class RepeatedEntry:
    """A kernel entry of a run and a plan, which carries out several runs; machine code of the model alone once there is some.

    Parameters
    ----------
    work : the memory of a run.
    entry : what it begins with.
    integers : in that memory before a run.
    """

    def __init__(self, work: Workspace, entry: Any, integers: NDArray[np.int64]) -> None:
        self._own_code = OwnCode(work, integers, entry.name, _WHERE_ALL_ARE_BUSY)
        self._is_settled = False
        self._call: Any = _OF_PLAN(entry.address)

    def __call__(self, h: int, r: int, plan: int) -> int:
        """What the entry answers."""
        began = perf_counter()
        answer = int(self._call(h, r, plan))
        if not self._is_settled:
            address, wait = self._own_code.look(1, perf_counter() - began)
            self._is_settled = wait == NEVER
            if address:
                self._call = _OF_PLAN(address)
        return answer


def _until(time: float, seconds: float) -> int:
    return max(1, int(time / seconds))


class _Making:
    """One piece of machine code on its way; for all runs that it serves."""

    def __init__(self, wish: Wish) -> None:
        self._wish = wish
        self.key = wish.key
        self._path = safe_directory() / _FOLDER / f"{self.key}.o"
        self._module: NativeModule | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._says: IO[str] | None = None  # what it says, as long as it is at work
        self._said = ""
        self.has_failed = False

    @property
    def address(self) -> int:
        """Of what is called, once it is there."""
        assert self._module is not None
        return self._module.address(ENTRY)

    def is_there(self) -> bool:
        """Whether it has come, or was on disk."""
        with _LOOKING:
            if self._module is None and not self.has_failed:
                process = self._process
                is_over = process is None or process.poll() is not None
                if self._says is not None and is_over:
                    self._says.seek(0)
                    self._said = self._says.read()
                    self._says.close()
                    self._says = None
                    _running.discard(self)
                code = read_object(self._path) if is_over else None
                if code is not None:
                    self._link(code)
                elif is_over:
                    self.has_failed = process is not None
            return self._module is not None

    def _link(self, code: bytes) -> None:
        make_gates()  # which it may name
        try:
            self._module = link(code, ENTRY)
        except RuntimeError as error:
            self.has_failed, self._said = True, str(error)

    def begin(self) -> None:
        """Have another process make it, if there is a processor for it."""
        with _LOOKING:
            may = (os.cpu_count() or 1) > 1 and bool(sys.executable) and self._path.is_relative_to(cache_directory())
            if self._process is None and not self.has_failed and may:
                self._begin()

    def waited_for(self) -> int:
        """Its address, as soon as it is there; what has failed is tried again."""
        if not self.is_there():
            with _LOOKING:
                if self._process is None or self.has_failed:
                    self.has_failed = False
                    self._begin()
                process = self._process
            if process is not None:
                process.wait()
        if not self.is_there():
            raise TidegateError(
                f"no machine code of its own could be made: {' '.join(self._said.split()[-_WORDS:])}",
                hint="runs go on without it; please report this together with the model",
            )
        return self.address

    def _begin(self) -> None:
        folder, self._process = self._path.parent, None
        program = "import sys; from tidegate.compiled.own_code import make; make(*sys.argv[1:])"
        self._says = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115, closed when the process has ended
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            prune(folder.iterdir(), _MOST_BYTES, lambda path: path.stat().st_mtime)
            with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".wish", delete=False, encoding="utf-8") as file:
                file.write(self._wish.written())
            self._process = other_process(program, file.name, str(self._path), says=self._says)
            _running.add(self)
        except OSError as error:
            self._says.close()
            self._says, self.has_failed, self._said = None, True, str(error)


_LOOKING: Final = threading.Lock()
_running: set[_Making] = set()  # of which a process is at work
_known: WeakValueDictionary[str, _Making] = WeakValueDictionary()
_latest: deque[_Making] = deque(maxlen=16)  # to be linked takes milliseconds, and the next sweep of a model asks for the same


def _making_of(work: Workspace, h: NDArray[np.int64], root: str) -> _Making:
    making = _Making(_wish(work, h, root))
    found = _known.setdefault(making.key, making)
    _latest.append(found)
    return found


def _wish(work: Workspace, h: NDArray[np.int64], root: str) -> Wish:
    entries = {symbol: one for symbol, one in loaded_entries.copy().items() if one.function.__module__.startswith(KERNEL)}
    places = {name: INDEX_OF[name] for name in LASTING}
    by_address = {one.address: symbol for symbol, one in entries.items()}
    texts: list[str] = []
    functions: dict[int, tuple[int, str] | str] = {}
    own = named({int(h[places[name]]) for name in FUNCTIONS} - by_address.keys())
    for name in FUNCTIONS:
        address = int(h[places[name]])
        if address in by_address:
            functions[places[name]] = by_address[address]
        elif address in own:
            text, function = own[address]
            if text not in texts:
                texts.append(text)
            functions[places[name]] = texts.index(text), function
        elif address:
            del places[name]  # made of something else: it is called where it is
    integers = [0] * len(h)
    for place in places.values():
        integers[place] = 0 if place in functions else int(h[place])
    for name in LASTING_ARRAYS:
        offset, size = work.extent(name)
        integers[offset : offset + size] = h[offset : offset + size].tolist()
    there = {symbol: (one.function.__module__, one.function.__name__) for symbol, one in entries.items() if one.is_there}
    return Wish(
        root=root, entries=there, integers=integers, lasting={_WORD * place for place in places.values()},
        arrays={_WORD * INDEX_OF[name] for name in LASTING_ARRAYS}, functions=functions, texts=texts,
    )  # fmt: skip
