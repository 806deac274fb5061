"""Machine code in memory (stage: compiled): LLVM text in, addresses of C functions out.

The text is straight-line code, for which LLVM's optimising passes were measured to bring nothing; only its code generator runs. What it
makes is kept on disk as an object file, so that a model seen before costs a millisecond. The key holds everything that the code depends on: text,
processor, versions.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import hashlib
import itertools
import os
import re
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final
from weakref import WeakSet

from tidegate.cache_folder import prune, safe_directory
from tidegate.compiled.number_table import NUMBERS, apart
from tidegate.errors import UsageError

__all__ = [
    "KeptText",
    "NativeModule",
    "address_in_library",
    "link",
    "load",
    "named",
    "offer",
    "offered",
    "optimised_object",
    "read_object",
    "this_processor",
    "write_object",
]

OPTIMIZATION_LEVEL: Final = 1  # of the code generator: 2 takes longer to compile and gains nothing on straight-line code
_THOROUGHLY: Final = 2
_LONG: Final = 1 << 20  # characters of text from which on the generator's fast way is taken: a tenth of the time, and runs are hardly slower
_DIGEST_BYTES: Final = 32
_MOST_BYTES: Final = 128 << 20  # of object files on disk; a small model's has 10 KiB

_MOST_SPARE: Final = 64  # libraries that nobody needs any more, for models that differ from theirs in numbers only
_LARGEST_SPARE: Final = 1 << 16  # bytes of an object file: of a larger one linking is no great part

_LONGEST_TEXT: Final = 1 << 17  # characters: functions of a longer one are not worth being taken into other machine code

_HAS_LIBRARIES: Final = sys.platform == "linux"  # elsewhere ORC was not tried
_MOST_LIBRARIES: Final = 64  # linked one beside the other; of each that is gone some kilobytes stay until all are

_compiling = threading.Lock()
_with_text: WeakSet[NativeModule] = WeakSet()
_numbers = itertools.count()
_offered_functions: dict[str, int] = {}
_in_use: dict[int, Any] = {}  # the collector finalizes everything in a cycle that nobody needs, also what is to be kept of it, unless it is here
_spare: deque[tuple[str, Any]] = deque(maxlen=_MOST_SPARE)


class NativeModule:
    """Functions in memory; their addresses hold as long as this object lives.

    Parameters
    ----------
    engine : the LLVM engine that owns the memory.
    is_from_cache : True if the code was read from disk, or was there, instead of being generated.
    key : of its text without numbers, if others may have the memory afterwards; they put their own numbers there.

    Attributes
    ----------
    text : LLVM's that it was made of, with its numbers; "" where it is long, or more than functions and numbers.
    """

    text = ""

    def __init__(self, engine: Any, is_from_cache: bool, key: str = "") -> None:
        self._engine = engine
        self.is_from_cache = is_from_cache
        self._key, self._ticket = key, next(_numbers)
        if key:
            _in_use[self._ticket] = engine

    def __del__(self, in_use: dict[int, Any] = _in_use, spare: deque[tuple[str, Any]] = _spare) -> None:
        if self._key:  # wherever the collector comes by: no lock is taken
            spare.append((self._key, in_use.pop(self._ticket)))

    def __copy__(self) -> NativeModule:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> NativeModule:
        return self  # of two, the first that is not needed any more would give away what the other needs

    def address(self, name: str) -> int:
        """Address of a function of the module.

        Raises
        ------
        UsageError
            If there is no function of this name.
        """
        with _compiling:
            address = int(self._engine.get_function_address(name))
        if not address:
            raise UsageError(f"the compiled module has no function `{name}`", hint="ask for one that was given to emit_module")
        return address

    def variable(self, name: str) -> int:
        """Address of a global variable of the module; it must be there."""
        with _compiling:
            return int(self._engine.get_global_value_address(name))


class KeptText:
    """Text that is loaded again and again behind others; so what it is told by is found once.

    Parameters
    ----------
    text : LLVM's, without numbers of a table and without addresses of this process.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.digest = hashlib.sha256(text.encode()).hexdigest()


_NOTHING: Final = KeptText("")


def load(ir: str, behind: KeptText = _NOTHING) -> NativeModule:
    """Compile LLVM text to machine code, or fetch it from the cache, and link it into this process.

    Text that contains addresses of this process (opaque functions) is never cached.

    Parameters
    ----------
    ir : the text.
    behind : the rest of it.

    Examples
    --------
    >>> import ctypes
    >>> from tidegate.compiled.emit_llvm import FunctionSpec, emit_module
    >>> from tidegate.expressions import Role, symbol
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> spec = FunctionSpec("square", ("x", "out"), frozenset(["x"]), {x: ("x", 0)}, [(0, x * x)])
    >>> module = load(emit_module([spec]))
    >>> square = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.POINTER(ctypes.c_double))(module.address("square"))
    >>> out = ctypes.c_double()
    >>> square(3.0, out)
    >>> out.value
    9.0
    """
    with _compiling:
        text, numbers = apart(ir)
        key = "" if "inttoptr" in text else _host().key(text + behind.digest)
        has_no_state = text.count(" = global ") == (numbers is not None)
        module = _left_over(key) or _made(text + behind.text, key, is_reusable=has_no_state)
    if numbers is not None:
        ctypes.memmove(module.variable(NUMBERS), numbers.tobytes(), numbers.nbytes)
    if key and has_no_state and not behind.text and len(ir) <= _LONGEST_TEXT:
        module.text = ir
        _with_text.add(module)
    return module


def named(addresses: Collection[int]) -> dict[int, tuple[str, str]]:
    """Of addresses of functions, as far as it is known of what they were made: the text, and the name in it."""
    found: dict[int, tuple[str, str]] = {}
    for module in (*_with_text,):
        for name in offered(module.text):
            address = module.address(name)
            if address in addresses:
                found[address] = module.text, name
    return found


def _left_over(key: str) -> NativeModule | None:
    """The same code in memory that nobody needs any more; numbers are the only thing in it that changes."""
    for item in (*_spare,):
        if item[0] == key:
            with suppress(ValueError):  # it may have gone meanwhile
                _spare.remove(item)
                return NativeModule(item[1], is_from_cache=True, key=key)
    return None


def _made(text: str, key: str, *, is_reusable: bool) -> NativeModule:
    """A text without numbers as machine code, from the cache if it is there; an empty key keeps it out of that."""
    path = safe_directory() / "native" / f"{key}.o" if key else None
    code = read_object(path) if path is not None else None
    is_from_cache = code is not None
    if code is None:
        code = _host().compiled(text)
        if path is not None:
            write_object(path, code)
    engine = _Library(code, offered(text), _library_functions(text)) if _HAS_LIBRARIES else _linked(code)
    return NativeModule(engine, is_from_cache, key if _HAS_LIBRARIES and is_reusable and len(code) <= _LARGEST_SPARE else "")


def offer(name: str, address: int) -> None:
    """A function that machine code linked from now on finds under this name."""
    _offered_functions[name] = address
    if not _HAS_LIBRARIES:
        import llvmlite.binding as llvm

        llvm.add_symbol(name, address)


def link(code: bytes, name: str) -> NativeModule:
    """Machine code of an object file that offers one name, linked into this process."""
    with _compiling:
        return NativeModule(_Library(code, [name], {**_offered_functions}) if _HAS_LIBRARIES else _linked(code), is_from_cache=True)


def _linked(code: bytes) -> Any:
    import llvmlite.binding as llvm

    host = _host()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly("", context=host.context), host.target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


class _Library:
    """Machine code of an object file in this process by LLVM's ORC, which takes an eighth of the time of an engine of its own.

    Parameters
    ----------
    code : the object file.
    names : of its functions and variables.
    functions : addresses of what it calls of the C library, by name; what is not among them the process has.
    """

    def __init__(self, code: bytes, names: Sequence[str], functions: Mapping[str, int]) -> None:
        host = _host()
        builder = host.llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
        for name in names:
            builder.export_symbol(name)
        for name, address in functions.items():
            builder.import_symbol(name, address)
        self._names = frozenset(names)
        self._kept = builder.link(host.libraries(), f"model{next(_numbers)}")  # the code lives as long as this

    def get_function_address(self, name: str) -> int:
        """Of a function or of a global variable; 0 if there is none of this name."""
        return int(self._kept[name]) if name in self._names else 0

    get_global_value_address = get_function_address


class _Host:
    """The processor of this process, as LLVM sees it."""

    def __init__(self) -> None:
        import llvmlite
        import llvmlite.binding as llvm

        self.llvm: Any = llvm
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.triple = llvm.get_process_triple()
        self.cpu = llvm.get_host_cpu_name()
        self.features = llvm.get_host_cpu_features().flatten()
        self.identity = repr((llvmlite.__version__, llvm.llvm_version_info, self.triple, self.cpu, self.features, OPTIMIZATION_LEVEL))
        self.generators = {level: self.target_machine(level) for level in (0, OPTIMIZATION_LEVEL)}
        # An engine must die before the context of its module; the garbage collector keeps no such order, so this context outlives them all.
        self.context = llvm.create_context()
        self._libraries: Any = None
        self._n_linked = 0

    def target_machine(self, level: int = OPTIMIZATION_LEVEL) -> Any:
        """A new target machine: an engine takes the one that it is given for itself."""
        target = self.llvm.Target.from_triple(self.triple)
        return target.create_target_machine(cpu=self.cpu, features=self.features, opt=level, jit=True)

    def libraries(self) -> Any:
        """What links the next library. It never forgets the names of those that are gone, so that after some there is another."""
        if self._n_linked % _MOST_LIBRARIES == 0:
            self._libraries = self.llvm.create_lljit_compiler(self.target_machine())
        self._n_linked += 1
        return self._libraries

    def key(self, ir: str) -> str:
        """Name of the cache entry of this text on this processor."""
        return hashlib.sha256(f"{self.identity}\n{ir}".encode()).hexdigest()

    def compiled(self, ir: str) -> bytes:
        """The object file of this text."""
        module = self.llvm.parse_assembly(ir, context=self.llvm.create_context())
        generator = self.generators[0 if len(ir) > _LONG else OPTIMIZATION_LEVEL]
        module.triple = self.triple
        module.data_layout = str(generator.target_data)
        return bytes(generator.emit_object(module))


def optimised_object(module: Any) -> bytes:
    """The object file of a module of LLVM's with long functions of many branches, for which its optimising passes are worth their time."""
    host = _host()
    machine = host.target_machine(_THOROUGHLY)
    options = host.llvm.create_pipeline_tuning_options(speed_level=_THOROUGHLY)
    options.slp_vectorization = options.loop_vectorization = False
    builder = host.llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    module.verify()
    return bytes(machine.emit_object(module))


@cache
def _host() -> _Host:
    return _Host()


def this_processor() -> str:
    """What tells machine code for this processor from that for others: a folder of it may be seen by several computers."""
    return _host().identity


@cache
def _mathematical_libraries() -> tuple[Any, ...]:
    """The process itself, which nearly always has the functions already, then the library, which is slow to look for."""
    if sys.platform == "win32":
        return (ctypes.CDLL("ucrtbase"),)
    process = ctypes.CDLL(None)
    if hasattr(process, "erf"):
        return (process,)
    return process, ctypes.CDLL(ctypes.util.find_library("m"))


@cache
def address_in_library(name: str) -> int:
    """Where the C library has a function of this name, which is offered to machine code; 0 if there is none."""
    for library in _mathematical_libraries():
        function = getattr(library, name, None)
        if function is not None:
            address = ctypes.cast(function, ctypes.c_void_p).value or 0
            offer(name, address)
            return address
    return 0


def offered(ir: str) -> list[str]:
    """What a text offers by name: functions, and the variables of a few."""
    heads = [text[: text.index("(")].partition(" @") for text in f"\n{ir}".split("\ndefine ")[1:]]
    variables = re.findall(r"@([\w.]+) = global ", ir) if " = global " in ir else []
    return [*variables, *(name for kind, _, name in heads if not kind.startswith("internal"))]


def _library_functions(ir: str) -> dict[str, int]:
    """Where the C library's functions are that the text calls: not every platform lets LLVM find them by itself."""
    found = {name: address_in_library(name) for name in re.findall(r"declare double @(\w+)\(", ir)} if "declare double @" in ir else {}
    return {name: address for name, address in found.items() if address}


def read_object(path: Path) -> bytes | None:
    """The code of a cache entry; None if it is missing or damaged."""
    try:
        stored = path.read_bytes()
    except OSError:
        return None
    with suppress(OSError):  # in a folder of somebody else's
        os.utime(path)  # used; what is not for long is removed
    digest, code = stored[:_DIGEST_BYTES], stored[_DIGEST_BYTES:]
    return code if code and hashlib.sha256(code).digest() == digest else None


def write_object(path: Path, code: bytes) -> None:
    """Store an entry whole or not at all; a cache that cannot be written is no reason to fail."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _prune_once(path.parent)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(code).digest() + code)
            Path(temporary).replace(path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
    except OSError:
        return


@cache
def _prune_once(directory: Path) -> None:
    """Once in a process, and only in one that compiles anything new."""
    prune(directory.iterdir(), _MOST_BYTES, lambda path: path.stat().st_mtime)
