"""Files of functions that go to another process by value (stage: tracing the user's Python).

In: what holds functions of the user. Out: on the one side which file each was written in, on the other the same functions, which know it again.
cloudpickle, from 3.1.3 on, sends a function without the name of its file, so that its source would not be found and errors could not name it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, Final, cast

from tidegate.expressions.tracing.source import is_tidegates_own

__all__ = ["WrittenIn"]

_NAMELESS: Final = "<dynamic-code>"  # what cloudpickle writes in place of a file
_HOLDERS: Final = "tidegate."


class WrittenIn:
    """The files of the functions in a thing; sent with it, it gives them back.

    Parameters
    ----------
    thing : a function, or what holds functions: a dict, a list, an object of ours.
    everywhere : also functions that these read from their surroundings.
    """

    def __init__(self, thing: Any, everywhere: bool = True) -> None:
        self._everywhere = everywhere
        self._files = {_key(function.__code__): function.__code__.co_filename for function in _functions(thing, everywhere)}
        self._is_sent = False

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (self._files, self._everywhere)

    def restore(self, thing: Any) -> None:
        """Give functions their files where they have been sent without."""
        if not self._is_sent:
            return
        self._is_sent = False
        for function in _functions(thing, self._everywhere):
            file = self._files.get(_key(function.__code__))
            if file is not None and function.__code__.co_filename == _NAMELESS:
                function.__code__ = _in_file(function.__code__, file)


def _received(files: Mapping[tuple[str, int], str], everywhere: bool) -> WrittenIn:
    made = WrittenIn((), everywhere)
    vars(made).update(_files=dict(files), _is_sent=True)
    return made


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _in_file(code: CodeType, file: str) -> CodeType:
    inner = tuple(_in_file(item, file) if isinstance(item, CodeType) else item for item in code.co_consts)
    return code.replace(co_filename=file, co_consts=inner)


def _functions(thing: Any, everywhere: bool) -> Iterator[FunctionType]:
    """Functions of the user that are reached from a thing, each once."""
    waiting, seen = [thing], set[int]()
    while waiting:
        item = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, FunctionType):
            if not is_tidegates_own(item.__code__.co_filename):
                yield item
                if everywhere:
                    waiting.extend(_read_by(item))
        elif isinstance(item, Mapping):
            waiting.extend(cast("Mapping[Any, Any]", item).values())
        elif isinstance(item, list | tuple):
            waiting.extend(cast("Sequence[Any]", item))
        elif type(item).__module__.startswith(_HOLDERS) and hasattr(item, "__dict__"):
            waiting.extend(cast("dict[str, Any]", vars(item)).values())


def _read_by(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not bound yet
            continue
    yield function.__defaults__ or ()
    for name in function.__code__.co_names:
        read = function.__globals__.get(name)
        if isinstance(read, FunctionType):
            yield read
