"""Machine code of one model alone (stage: compiled): kernel entries and the model's functions in one, with what the model fixes written into it.

Kernel entries serve every model: how many unknowns there are, where an array begins, which function gives y', all this is read from the memory of a
run again and again, and what is called stays apart from who calls it. Here these numbers are constants and calls go to functions that are at hand,
so that LLVM leaves out what a model does not have, writes out loops over two unknowns, and takes in functions of three operations (partial
evaluation: Futamura 1971). Nothing is computed in another way: arithmetic is not reassociated, products and sums are rounded as in the entries
(``sum_code``), functions of the C library stay calls, the numbers of a model stay in memory. So results are the same to the last bit.

LLVM takes seconds for it, in which Python could not compile anything else. So another process does it, which is given a file and leaves one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from tidegate.compiled.entry_code import ENTRY
from tidegate.compiled.kernel_keys import kernel_version
from tidegate.compiled.native import offered, optimised_object, this_processor, write_object
from tidegate.compiled.number_table import NUMBERS
from tidegate.quick_dataclass import dataclass

__all__ = ["Wish", "make"]

_INTEGERS: Final = "tidegate.integers"  # what stands in the memory of a run and stays
_FUNCTION: Final = re.compile(r"(?m)(?=^define )")
_RUN: Final = r"%(?:extracted\.h|arg\.\w+\.0)[\w.]*"  # the pointer to its integers, see ``run_type``
_PLACE: Final = re.compile(rf"(?m)^ *(%[\w.]+) = getelementptr (?:inbounds |nuw |nusw )*i8, ptr {_RUN}, i64 (\d+)$")
_READ: Final = re.compile(r"(?m)^( *(%[\w.]+) = load i64, )ptr (%[\w.]+)(,[^\n]*!invariant\.load)")
_ELEMENT: Final = re.compile(rf"(getelementptr (?:inbounds |nuw |nusw )*i64, )ptr {_RUN}, i64 (%[\w.]+)")
_ENTRY: Final = re.compile(r"(?m)^(define [^@\n]*)@entry\((?:\{ ptr, ptr \} (%[\w.]+))?([^\n]*\n(?:[\w.]+:[^\n]*\n)?)")
_CALLED: Final = re.compile(r"(?m)^declare .*@(tidegate_\w+)\(")
_NUMBER: Final = re.compile(rf"(?m)^(.* = load double, ptr .*{re.escape(NUMBERS)}.*)$")
_OF_THE_LIBRARY: Final = re.compile(r"(?m)^(declare double @(?!llvm\.)\w+\([^)\n]*\)[^\n{]*)$")


@dataclass(frozen=True)
class Wish:
    """What machine code is to be made of.

    Parameters
    ----------
    root : symbol of the kernel entry that is called from outside.
    entries : modules and names of the entries that may be taken in, by their symbols; all others are called where they are.
    integers : what stands in the integer memory of a run; only what stays is looked at.
    lasting : places of single integers that stay as they are in a run, in bytes.
    arrays : likewise of integers that say where an array of such begins.
    functions : by places, in words, the functions whose addresses stand there: symbols of entries, or number of a text and name in it.
    texts : LLVM's, of the model's functions.
    """

    root: str
    entries: Mapping[str, tuple[str, str]]
    integers: Sequence[int]
    lasting: Collection[int]
    arrays: Collection[int]
    functions: Mapping[int, tuple[int, str] | str]
    texts: Sequence[str]

    @property
    def key(self) -> str:
        """What tells the machine code from other code; which entries are taken in makes no difference to what it does."""
        told = [self.root, *self.integers, *sorted(self.lasting), *sorted(self.arrays), *sorted(self.functions.items()), *self.texts]
        tools = this_processor() + kernel_version() + Path(__file__).read_text(encoding="utf-8")
        return hashlib.sha256(json.dumps([tools, *told]).encode()).hexdigest()

    def written(self) -> str:
        """As text, for another process."""
        return json.dumps(vars(self) | {"lasting": sorted(self.lasting), "arrays": sorted(self.arrays)})

    @classmethod
    def read(cls, text: str) -> Wish:
        """The same from such a text."""
        told: dict[str, Any] = json.loads(text)
        functions = {int(place): one if isinstance(one, str) else (one[0], one[1]) for place, one in told.pop("functions").items()}
        return cls(functions=functions, lasting=set(told.pop("lasting")), arrays=set(told.pop("arrays")), **told)


def make(wish: str, target: str) -> None:
    """Make machine code, in a process that does nothing else.

    Parameters
    ----------
    wish : name of a file that says what of, and is removed.
    target : name of the object file.
    """
    path = Path(wish)
    try:
        write_object(Path(target), object_of(Wish.read(path.read_text(encoding="utf-8"))))
    finally:
        path.unlink(missing_ok=True)


def object_of(wish: Wish) -> bytes:
    """The object file; the root is its only function, ``ENTRY``."""
    import llvmlite.binding as llvm

    context = llvm.create_context()
    whole = llvm.parse_assembly(_constants(wish), context=context)
    for text in _texts_of_entries(wish, llvm):
        whole.link_in(llvm.parse_assembly(text, context=context))
    for number, text in enumerate(wish.texts):
        whole.link_in(llvm.parse_assembly(_renamed(_as_calls(text), number), context=context))
    whole.get_function(wish.root).name = ENTRY
    for variable in whole.global_variables:
        if not variable.name.endswith(NUMBERS):  # which LLVM is not to look into
            variable.linkage = "internal"
    for function in whole.functions:
        if not function.is_declaration and function.name != ENTRY:
            function.linkage = "internal"
    return optimised_object(whole)


def _name(function: tuple[int, str] | str) -> str:
    return function if isinstance(function, str) else f"model{function[0]}.{function[1]}"


def _constants(wish: Wish) -> str:
    """What stays, as LLVM reads it: addresses of functions by their names, nobody reads what is not lasting."""
    values = [f"i64 {value}" for value in wish.integers]
    declared: list[str] = []
    for place, function in wish.functions.items():
        name = _name(function)
        values[place] = f"i64 ptrtoint (ptr @{name} to i64)"
        declared.append(name)
    heads = "".join(f"declare void @{name}()\n" for name in dict.fromkeys(declared))
    return f"@{_INTEGERS} = constant [{len(values)} x i64] [{', '.join(values)}]\n{heads}"


def _texts_of_entries(wish: Wish, llvm: Any) -> list[str]:
    """LLVM's text of the root, and of every entry that is reached from it by name or through what stays."""
    texts: dict[str, str] = {}
    waiting = [wish.root, *(function for function in wish.functions.values() if isinstance(function, str))]
    while waiting:
        symbol = waiting.pop()
        if symbol in texts or symbol not in wish.entries:
            continue
        module, name = wish.entries[symbol]
        bitcode = getattr(import_module(module), name).bitcode()
        texts[symbol] = _with_constants(str(llvm.parse_bitcode(bitcode, context=llvm.create_context())), symbol, wish)
        waiting += _CALLED.findall(texts[symbol])
    return [*texts.values()]


def _with_constants(text: str, symbol: str, wish: Wish) -> str:
    """An entry's text, reading what stays from where that is known. Whatever has another form than is looked for goes on reading the run's memory."""
    head, *functions = _FUNCTION.split(text)
    changed = [_as_calls(head)]
    for function in functions:
        places = {name: int(place) for name, place in _PLACE.findall(function)}
        begins: set[str] = set()  # registers that hold where an array begins

        def read(found: re.Match[str], places: Mapping[str, int] = places, begins: set[str] = begins) -> str:
            start, register, pointer, end = found.groups()
            place = places.get(pointer)
            if place is None or place not in wish.lasting:
                return found[0]
            if place in wish.arrays:
                begins.add(register)
            return f"{start}ptr getelementptr (i8, ptr @{_INTEGERS}, i64 {place}){end}"

        def element(found: re.Match[str], begins: set[str] = begins) -> str:
            return f"{found[1]}ptr @{_INTEGERS}, i64 {found[2]}" if found[2] in begins else found[0]

        changed.append(_as_calls(_ELEMENT.sub(element, _READ.sub(read, function))))
    whole = "".join(changed)
    return _ENTRY.sub(lambda found: _as_called(found, symbol), whole) + f"@{_INTEGERS} = external constant [{len(wish.integers)} x i64]\n"


def _as_called(found: re.Match[str], symbol: str) -> str:
    """The head of an entry that takes its run as those who call it give it, as two pointers."""
    start, run, rest = found.groups()
    if run is None:
        return f"{start}@{symbol}({rest}"
    made = f"  %run.h = insertvalue {{ ptr, ptr }} poison, ptr %run.0, 0\n  {run} = insertvalue {{ ptr, ptr }} %run.h, ptr %run.1, 1\n"
    return f"{start}@{symbol}(ptr %run.0, ptr %run.1{rest}{made}"


def _as_calls(text: str) -> str:
    """Let functions of the C library be called, once for one argument: what LLVM knows to do instead may round otherwise."""
    return _OF_THE_LIBRARY.sub(r"\1 nobuiltin nounwind willreturn memory(none)", text)


def _renamed(text: str, number: int) -> str:
    """A text of a model's functions, under names of its own, whose numbers are read once and not looked into."""
    for name in sorted(offered(text), key=len, reverse=True):
        text = re.sub(rf"@{re.escape(name)}(?![\w.])", f"@{_name((number, name))}", text)
    return _NUMBER.sub(r"\1, !invariant.load !0", text) + "\n!0 = !{}\n"
