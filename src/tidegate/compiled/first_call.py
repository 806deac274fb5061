"""Kernel entries that come to be when they are first called (stage: compiled). In: a name, kinds of arguments, how to get the machine code.

Whoever calls an entry, from C, from Python or from another entry, jumps through a cell of memory. At first the cell leads to a function that asks
Python for the entry; from then on to the entry itself. So a run compiles, or reads from disk, what it comes to and nothing else.

The jumps are the same code for all entries with arguments of the same kinds, a few of them in one module: a module each took 3 ms of every process.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from functools import cache
from importlib import metadata
from typing import Final

from tidegate.compiled.native import NativeModule, load
from tidegate.errors import TidegateError

__all__ = ["CalledFirst"]

_OUR_DEFECT: Final = 70  # exit status of a program with a defect of its own (sysexits.h)
_resolving = threading.RLock()
_ASK: Final = ctypes.CFUNCTYPE(None, ctypes.c_int64)
_GATES: Final = 4  # in a module: many kinds of arguments have one entry or two
_CELL: Final = ctypes.sizeof(ctypes.c_size_t)


class CalledFirst:
    """One entry.

    Parameters
    ----------
    name : what it is called in messages.
    kinds : of the arguments: LLVM's names of types.
    find : loads or compiles it; its address.
    returned : the kind of what it returns.

    Attributes
    ----------
    address : of what is called.
    """

    def __init__(self, name: str, kinds: list[str], find: Callable[[], int], returned: str = "i64") -> None:
        self.name = name
        self._find = find
        with _resolving:
            self._gates = _gates_with_room(returned, tuple(kinds))
            self.address, self._cell = self._gates.take(self._asked)
        self._is_there = False

    def there(self) -> None:
        """Have it now, instead of when it is first called.

        Raises
        ------
        TidegateError : it cannot be compiled, at the second try either.
        """
        with _resolving:
            if not self._is_there:
                self._cell.value = self._found()
                self._is_there = True

    def _found(self) -> int:
        try:
            return self._find()
        except Exception:  # noqa: BLE001, whatever it is, there is a second try
            gc.collect()  # memory may have been short
        try:
            return self._find()
        except Exception as error:
            what = f"no machine code could be made of {self.name}, without which a run cannot go on: {type(error).__name__}: {error}"
            raise TidegateError(what, hint=_remedy(error)) from error

    def _asked(self) -> None:
        """From native code, which cannot be told of an exception: an interruption waits, anything else cannot be gone on from."""
        interrupted = False
        while True:
            try:
                self.there()
            except KeyboardInterrupt:
                interrupted = True
                continue
            except BaseException as error:  # noqa: BLE001, whatever it is, native code cannot go on without the entry
                traceback.print_exception(error.__cause__ or error)
                sys.stderr.write(f"tidegate: {error}\n  The process ends here, since native code that waits for it cannot be left.\n")
                sys.stderr.flush()
                os._exit(_OUR_DEFECT)
            if interrupted:
                signal.raise_signal(signal.SIGINT)
            return


def _remedy(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "close other programs, or go where there is more memory"
    versions = ", ".join(f"{package} {metadata.version(package)}" for package in ("numba", "llvmlite", "numpy"))
    return f"reinstall tidegate with the packages it asks for (here are {versions}); if it stays, report it together with this text"


class _Gates:
    """Functions with arguments of the same kinds that jump through cells of their own, which lead at first to a function that asks Python."""

    def __init__(self, returned: str, kinds: tuple[str, ...]) -> None:
        self._module: NativeModule = load(_jumps(returned, ", ".join(f"{kind} %a{index}" for index, kind in enumerate(kinds))))
        self._asked: list[Callable[[], None]] = []
        self._ask = _ASK(lambda number: self._asked[number]())
        ctypes.c_size_t.from_address(self._module.variable("ask")).value = ctypes.cast(self._ask, ctypes.c_void_p).value or 0

    @property
    def is_full(self) -> bool:
        """Whether all are taken."""
        return len(self._asked) == _GATES

    def take(self, asked: Callable[[], None]) -> tuple[int, ctypes.c_size_t]:
        """The address of the next one, and its cell; ``asked`` is called by its first call."""
        number = len(self._asked)
        self._asked.append(asked)
        return self._module.address(f"entry{number}"), ctypes.c_size_t.from_address(self._module.variable("cells") + number * _CELL)


@cache
def _gates(returned: str, kinds: tuple[str, ...]) -> list[_Gates]:  # noqa: ARG001, the list is found by them
    """All that have been made for these kinds."""
    return []


def _gates_with_room(returned: str, kinds: tuple[str, ...]) -> _Gates:
    made = _gates(returned, kinds)
    if not made or made[-1].is_full:
        made.append(_Gates(returned, kinds))
    return made[-1]


def _jumps(returned: str, parameters: str) -> str:
    """LLVM's text, which holds no address, so that its machine code is kept on disk."""
    first = ", ".join(f"ptr @first{number}" for number in range(_GATES))
    text = [f"@ask = global ptr null\n@cells = global [{_GATES} x ptr] [{first}]\n"]
    for number in range(_GATES):
        jump = f"""  %f = load volatile ptr, ptr getelementptr inbounds ([{_GATES} x ptr], ptr @cells, i64 0, i64 {number})
  {"" if returned == "void" else "%code = "}musttail call {returned} %f({parameters})
  ret {"void" if returned == "void" else f"{returned} %code"}
}}
"""
        text.append(f"""define {returned} @entry{number}({parameters}) {{
{jump}define {returned} @first{number}({parameters}) {{
  %ask = load volatile ptr, ptr @ask
  call void %ask(i64 {number})
{jump}""")
    return "".join(text)
