"""Kernel entries that come to be when they are first called (stage: compiled). In: a name, kinds of arguments, how to get the machine code.

Whoever calls an entry, from C, from Python or from another entry, jumps through a cell of memory. At first the cell leads to a function that asks
Python for the entry; from then on to the entry itself. So a run compiles, or reads from disk, what it comes to and nothing else.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Final

from tidegate.compiled.native import NativeModule, load

__all__ = ["CalledFirst"]

_OUR_DEFECT: Final = 70  # exit status of a program with a defect of its own (sysexits.h)
_resolving = threading.RLock()
_ASK: Final = ctypes.CFUNCTYPE(None)


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
        self._cell = ctypes.c_size_t(0)
        self._ask = _ASK(self._asked)
        self._stub: NativeModule = load(_stub(returned, kinds, ctypes.addressof(self._cell), ctypes.cast(self._ask, ctypes.c_void_p).value or 0))
        self._cell.value = self._stub.address("first")
        self.address = self._stub.address("entry")
        self._is_there = False

    def there(self) -> None:
        """Have it now, instead of when it is first called."""
        with _resolving:
            if not self._is_there:
                self._cell.value = self._find()
                self._is_there = True

    def _asked(self) -> None:
        """From native code, which cannot be told of an exception: an interruption waits, anything else cannot be gone on from."""
        interrupted = False
        while True:
            try:
                self.there()
            except KeyboardInterrupt:
                interrupted = True
                continue
            except BaseException:  # noqa: BLE001, whatever it is, native code cannot go on without the entry
                sys.stderr.write(f"tidegate: no machine code could be made of {self.name}, without which a run cannot go on\n")
                traceback.print_exc()
                sys.stderr.flush()
                os._exit(_OUR_DEFECT)
            if interrupted:
                signal.raise_signal(signal.SIGINT)
            return


def _stub(returned: str, kinds: list[str], cell: int, ask: int) -> str:
    parameters = ", ".join(f"{kind} %a{index}" for index, kind in enumerate(kinds))
    jump = f"""  %f = load volatile ptr, ptr inttoptr (i64 {cell} to ptr)
  {"" if returned == "void" else "%code = "}musttail call {returned} %f({parameters})
  ret {"void" if returned == "void" else f"{returned} %code"}
}}
"""
    return f"""define {returned} @entry({parameters}) {{
{jump}define {returned} @first({parameters}) {{
  call void inttoptr (i64 {ask} to ptr)()
{jump}"""
