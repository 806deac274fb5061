"""``tidegate run`` and ``tidegate show`` of a compiled DSblock (stage: command line). In: a library, the prefix of its names. Out: a block, tables.

A library's code is carried out as soon as it is loaded, so that it is loaded only when whoever calls says that it is trusted.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tidegate.cli.find_model import Source
from tidegate.errors import UsageError
from tidegate.frontends.dsblock.compiled import CompiledDSblock, load
from tidegate.frontends.dsblock.description import SignalKind

__all__ = ["block_line", "is_library", "library_source", "number_settings", "show_block"]

_SUFFIXES: Final = frozenset({".so", ".dylib", ".dll"})
_LOGICAL: Final = {"true": 1.0, "false": 0.0}


def is_library(source: str) -> bool:
    """Whether a shared library is named."""
    return not _SUFFIXES.isdisjoint(Path(source).suffixes)


def library_source(source: str, prefix: str, *, is_trusted: bool, is_isolated: bool = False) -> Source:
    """The block of a library.

    Raises
    ------
    UsageError : nobody says that the library is trusted, or what its names begin with.
    """
    if not prefix:
        raise UsageError(f"{source} is a compiled library, and its callbacks are found by their names", hint="--prefix vdp, of VDPB, VDPF and so on")
    if not is_trusted:
        raise UsageError(
            f"{source} is a compiled library: to load it is to carry out its code, with every right that you have, and before that nothing can be "
            "known of what it does",
            hint=f"add --trust if you know where it comes from: tidegate run {source} --prefix {prefix} --trust",
        )
    block: Any = load(source, prefix=prefix, isolate=is_isolated)
    end = block.declared.proposals.t_end
    return Source(block, block.block_name, Path(source), None if end is None else (block.declared.t0, end))


def number_settings(settings: tuple[str, ...], block: CompiledDSblock) -> dict[str, float]:
    """What ``--set`` gives; a block checks names and values itself.

    Raises
    ------
    UsageError : one is no name with a number.
    """
    values: dict[str, float] = {}
    for setting in settings:
        name, equals, text = (part.strip() for part in setting.partition("="))
        try:
            values[name] = _LOGICAL[text.lower()] if text.lower() in _LOGICAL else float(text)
        except ValueError:
            equals = ""
        if not equals or not name:
            known = ", ".join(block.parameters) or "none"
            raise UsageError(f"--set {setting}: a name and a number are expected", hint=f"its parameters are {known}")
    return values


def block_line(block: CompiledDSblock) -> Text:
    """One line: name, what it says of itself, form."""
    declared = block.declared
    said = " ".join(filter(None, (declared.text, declared.version)))
    return Text.assemble((declared.name, "bold"), f": DSblock, {declared.form.value}{f', {said}' if said else ''}")


def show_block(console: Console, block: CompiledDSblock) -> None:
    """Print its signals and parameters."""
    console.print(block_line(block))
    table = Table("vector", "name", "shape", "value", "limits", "text", box=None)
    start = dict(zip(block.declared.names(SignalKind.STATE), block.declared.x0, strict=True))
    for signal in block.declared.signals:
        first = start.get(signal.name)
        table.add_row(signal.kind.value, signal.name, _shape(signal.shape), "" if first is None else f"{first:g}", "", Text(signal.text))
    for entry in block.declared.parameters:
        values = ", ".join(f"{value:g}" for value in entry.default)
        limits = str(entry.limits)
        table.add_row(entry.kind.value, entry.name, _shape(entry.shape), values, "" if limits == "value" else limits, Text(entry.text))
    console.print(table)


def _shape(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))
