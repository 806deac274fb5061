"""`tg.dsblock.load` and `tg.dsblock.build`: blocks of DSblock 3.3 in C or Fortran, as if they were written in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final

from tidegate.errors import UsageError
from tidegate.frontends.dsblock.block import Block
from tidegate.frontends.dsblock.compiled.compiled_block import CompiledBlock, Models
from tidegate.frontends.dsblock.compiled.compiler import SOURCE_SUFFIXES, build_library
from tidegate.frontends.dsblock.compiled.isolated_block import IsolatedBlock, IsolatedSource, Processes
from tidegate.frontends.dsblock.compiled.library import Language, opened
from tidegate.frontends.dsblock.compiled.native_model import NativeModel
from tidegate.frontends.dsblock.description import Description, ParameterEntry, SignalEntry, SignalKind
from tidegate.frontends.dsblock.proposals import OWN_OPTIONS, Environment, RunOptions, proposed
from tidegate.frontends.dsblock.runnable import Runnable
from tidegate.model.callables import CallableModel
from tidegate.wrong_calls import explained

__all__ = ["CompiledDSblock", "build", "load"]

TIME_LIMIT: Final = 60.0  # seconds: no callback of a step takes as long


@explained
class CompiledDSblock:
    """A block in a shared library; ``load`` and ``build`` make it. It is simulated, and connected, as one written in Python."""

    own_options: Sequence[str] = OWN_OPTIONS

    def __init__(self, models: Models | Processes) -> None:
        self._models = models

    @property
    def declared(self) -> Description:
        """What BLOCKB has declared."""
        return self._models.description

    @property
    def block_name(self) -> str:
        """What messages and results call it."""
        return self.declared.name

    @property
    def parameters(self) -> dict[str, ParameterEntry]:
        """Its parameters by name, in the order of declaration."""
        return {entry.name: entry for entry in self.declared.parameters}

    @property
    def inputs(self) -> dict[str, SignalEntry]:
        """Its inputs by name."""
        return {entry.name: entry for entry in self.declared.of_kind(SignalKind.INPUT)}

    def with_options(self, t_span: tuple[float, float] | None, options: Mapping[str, Any]) -> tuple[Runnable, tuple[float, float], Mapping[str, Any]]:
        """The block with options of a run, the time span, and the options that are left; as of ``tg.DSblock``."""
        span, chosen, own = proposed(self.declared, t_span, options)
        return Runnable(self._with(own.environment), own), span, chosen

    def _with(self, environment: Environment | None = None) -> Block:
        models = self._models
        return CompiledBlock(models, environment) if isinstance(models, Models) else IsolatedBlock(models, environment)

    def as_block(self) -> Block:
        """Its callbacks on flat vectors: what connections are made of."""
        return self._with()

    def callables(self) -> CallableModel:
        """What is run: functions of flat vectors."""
        return Runnable(self.as_block(), RunOptions({})).callables()

    def close(self) -> None:
        """Let the block close files and free memory (BLOCKC); it cannot be run any more."""
        self._models.close()

    def __repr__(self) -> str:
        return f"<DSblock {self.block_name}>"


@explained
def load(
    library: str | PathLike[str],
    *,
    prefix: str,
    language: Language = "auto",
    data_file: str | PathLike[str] | None = None,
    isolate: bool = False,
    time_limit: float = TIME_LIMIT,
) -> CompiledDSblock:
    """The block of a shared library. This carries out code of the library.

    Parameters
    ----------
    library : its file.
    prefix : what the names of its callbacks begin with: ``vdp`` of VDPB, VDPF and so on.
    language : which names are looked for: "fortran" (``vdpb_``), "c" (``vdpb``), or both.
    data_file : what the block is told when it asks for the file of its data (BLO2MF).
    isolate : carry the block out in another process, which may crash or STOP without harm to this one; slow.
    time_limit : seconds that a callback may take there.

    Raises
    ------
    UsageError : there is no such file or no BLOCKB in it, or no C compiler for the runtime.
    InvalidModelError : the block refuses, or declares what cannot be.
    """
    path = Path(library)
    if path.suffix.lower() in SOURCE_SUFFIXES:
        raise UsageError(f"{path} is a source file", hint=f'tg.dsblock.build("{path.name}", prefix="{prefix}") compiles and loads it')
    return _loaded(IsolatedSource(path, prefix, language, _text(data_file), (), time_limit), is_isolated=isolate)


def _text(data_file: str | PathLike[str] | None) -> str | None:
    return None if data_file is None else str(data_file)


def _loaded(source: IsolatedSource, *, is_isolated: bool) -> CompiledDSblock:
    if is_isolated:
        return CompiledDSblock(Processes(source))
    prefix, data, folders = source.prefix, source.data_file, source.folders
    return CompiledDSblock(Models(opened(source.path, prefix, source.language), lambda library: NativeModel(library, prefix, data, folders)))


@explained
def build(
    sources: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    prefix: str,
    language: Language = "auto",
    data_file: str | PathLike[str] | None = None,
    options: Sequence[str] = (),
    isolate: bool = False,
    time_limit: float = TIME_LIMIT,
) -> CompiledDSblock:
    """The block of these source files, in C, C++ or Fortran, which are compiled once and kept in the cache folder.

    Parameters
    ----------
    sources : files; headers and INCLUDE files are looked for beside them.
    prefix, language, data_file, isolate, time_limit : as of ``load``.
    options : for the compiler, behind its usual ones: ``-std=legacy -O2 -shared -fPIC`` of gfortran, ``-O2 -shared -fPIC`` of one for C or C++.

    Raises
    ------
    UsageError : there is no compiler, or it refuses a file; what it says is in the message.
    InvalidModelError : the block refuses, or declares what cannot be.
    """
    files = [Path(sources)] if isinstance(sources, str | PathLike) else [Path(source) for source in sources]
    folders = tuple(dict.fromkeys(file.resolve().parent for file in files))
    library = build_library(prefix.lower(), files, [*(f"-I{folder}" for folder in folders), *options])
    return _loaded(IsolatedSource(library, prefix, language, _text(data_file), folders, time_limit), is_isolated=isolate)
