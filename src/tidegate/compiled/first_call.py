"""Kernel entries that come to be when they are first called (stage: compiled). In: a name, kinds of arguments, how to get the machine code.

Whoever calls an entry, from C, from Python or from another entry, jumps through a cell of memory. At first the cell leads to a function that asks
Python for the entry; from then on to the entry itself. So a run compiles, or reads from disk, what it comes to and nothing else.

The jumps of all entries that have been named are one module, made when the first of them is wanted.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Final

from tidegate.compiled.native import NativeModule, load, offer
from tidegate.errors import TidegateError
from tidegate.versions import version_of

__all__ = ["CalledFirst", "make_gates"]

_OUR_DEFECT: Final = 70  # exit status of a program with a defect of its own (sysexits.h)
_resolving = threading.RLock()
_ASK: Final = ctypes.CFUNCTYPE(None, ctypes.c_int64)
_CELL: Final = ctypes.sizeof(ctypes.c_size_t)


class CalledFirst:
    """One entry.

    Parameters
    ----------
    name : what it is called in messages.
    kinds : of the arguments: LLVM's names of types.
    find : loads or compiles it; its address.
    returned : the kind of what it returns.
    symbol : what machine code that calls it names it; "" if none does.

    Attributes
    ----------
    is_there : whether it has been called or asked for.
    """

    def __init__(self, name: str, kinds: list[str], find: Callable[[], int], returned: str = "i64", symbol: str = "") -> None:
        self.name = name
        self.kinds, self.returned, self.symbol = kinds, returned, symbol
        self._find = find
        self._place: tuple[int, ctypes.c_size_t] | None = None
        self.is_there = False
        _waiting.append(self)

    @property
    def address(self) -> int:
        """Of what is called."""
        return self._gate()[0]

    def _gate(self) -> tuple[int, ctypes.c_size_t]:
        """Its address, and the cell that says where it leads to."""
        if self._place is None:
            make_gates()
        assert self._place is not None
        return self._place

    def stand_at(self, address: int, cell: ctypes.c_size_t) -> None:
        """Know the gate, and where the gate looks for what it leads to."""
        self._place = address, cell
        if self.symbol:
            offer(self.symbol, address)

    def there(self) -> None:
        """Have it now, instead of when it is first called.

        Raises
        ------
        TidegateError : it cannot be compiled, at the second try either.
        """
        with _resolving:
            if not self.is_there:
                self._gate()[1].value = self._found()
                self.is_there = True

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

    def asked(self) -> None:
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
    versions = ", ".join(f"{package} {version_of(package)}" for package in ("numba", "llvmlite", "numpy"))
    return f"reinstall tidegate with the packages it asks for (here are {versions}); if it stays, report it together with this text"


class _Gates:
    """Functions that jump through cells of their own, which lead at first to a function that asks Python."""

    def __init__(self, entries: Sequence[CalledFirst]) -> None:
        self._module: NativeModule = load(_jumps([(entry.returned, entry.kinds) for entry in entries]))
        self._ask = _ASK(lambda number: entries[number].asked())
        ctypes.c_size_t.from_address(self._module.variable("ask")).value = ctypes.cast(self._ask, ctypes.c_void_p).value or 0
        cells = self._module.variable("cells")
        for number, entry in enumerate(entries):
            entry.stand_at(self._module.address(f"entry{number}"), ctypes.c_size_t.from_address(cells + number * _CELL))


_waiting: list[CalledFirst] = []
_made: list[_Gates] = []


def make_gates() -> None:
    """Have gates for all entries that there are, before machine code is linked that may name them; in one module: each takes a millisecond."""
    with _resolving:
        entries = [*_waiting]
        if entries:
            _made.append(_Gates(entries))
            del _waiting[: len(entries)]


def _jumps(signatures: Sequence[tuple[str, Sequence[str]]]) -> str:
    """LLVM's text, which holds no address, so that its machine code is kept on disk."""
    n = len(signatures)
    first = ", ".join(f"ptr @first{number}" for number in range(n))
    text = [f"@ask = global ptr null\n@cells = global [{n} x ptr] [{first}]\n"]
    for number, (returned, kinds) in enumerate(signatures):
        parameters = ", ".join(f"{kind} %a{index}" for index, kind in enumerate(kinds))
        jump = f"""  %f = load volatile ptr, ptr getelementptr inbounds ([{n} x ptr], ptr @cells, i64 0, i64 {number})
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
