"""``tidegate show`` and ``tidegate plot``: a model or a saved result printed, a saved result drawn (stage: command line).

In goes a file, out come tables and the sparsity pattern, or a picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, cast

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tidegate.cli.describe import ModelDescription, VariableDescription, describe
from tidegate.cli.find_model import load_source
from tidegate.cli.find_result import load_result
from tidegate.cli.library_command import is_library, library_source, show_block
from tidegate.cli.report import model_line, print_result
from tidegate.errors import Origin, UsageError
from tidegate.export import FORMATS
from tidegate.frontends.dsblock.compiled import CompiledDSblock
from tidegate.plot import picture_format
from tidegate.plot import plot as draw
from tidegate.show import show as told

__all__ = ["is_library", "plot", "print_description", "show", "show_library"]

_MAX_PATTERN: Final = 60  # columns of the sparsity pattern that fit a line
_MAX_LABEL: Final = 40  # likewise; a component's equation is named by its text
_EMPTY: Final = "."
_RESULTS: Final = frozenset({*FORMATS, ".part", ".dat"})  # the last is what GOE of CSMP-10(ARL) writes


def show_library(source: str, prefix: str, *, is_trusted: bool) -> None:
    """Print the declarations of a compiled DSblock."""
    console = Console(highlight=False, emoji=False, width=None if Console().is_terminal else 120)
    show_block(console, cast("CompiledDSblock", library_source(source, prefix, is_trusted=is_trusted).model))


def show(source: str, picture: Path | None = None, what: Literal["connections", "equations"] | None = None, part: str = "") -> None:
    """Print a model found in a file, or a result saved in one; or draw a model.

    Parameters
    ----------
    source : the file.
    picture : where a picture goes; nothing is printed then.
    what, part : what is drawn; see ``Shown.picture``.

    Raises
    ------
    UsageError, ModelError
        If the file or the model is wrong.
    """
    console = Console(highlight=False, emoji=False, width=None if Console().is_terminal else 120)
    if not _RESULTS.isdisjoint(suffix.lower() for suffix in Path(source).suffixes):
        result = load_result(source, "show")
        console.print(Text(result.summary()))
        print_result(console, result)
        return
    found = load_source(source)
    if picture is not None:
        told(found.model).picture(what, part).save(picture)
        console.print(f"picture written to {picture}", markup=False, soft_wrap=True)
        return
    model = found.model.lower()
    console.print(model_line(model))
    description = describe(model)
    if not model.opaque_parts:
        console.print()
        console.print(Text(str(told(found.model))))
    print_description(console, description)


def plot(result: Path, names: Sequence[str], out: Path | None, *, sensitivities: bool = False) -> None:
    """Load a result and draw it.

    Raises
    ------
    UsageError
        If the file, a name or the picture's suffix is wrong, or a file would be overwritten that was not named.
    """
    path = out if out is not None else result.with_suffix(".png")
    picture_format(path)
    loaded = load_result(result, "plot")
    if out is None and path.exists():
        raise UsageError(f"{path} is there already, and was not named", hint=f"--out {path}, or another file")
    draw(loaded, *names, path=path, sensitivities=sensitivities)
    Console(highlight=False, emoji=False).print(f"picture written to {path}", markup=False, soft_wrap=True)


def print_description(console: Console, description: ModelDescription) -> None:
    """Tables of variables, parameters, conditions and clauses, and the sparsity pattern."""
    for title, variables in (("variables", description.variables), ("parameters", description.parameters)):
        if variables:
            console.print()
            console.print(_variables(title, variables))
    if description.conditions:
        table = _table("conditions", "condition", "changes at the zero of", "event", "written at")
        for condition in description.conditions:
            table.add_row(*map(Text, (condition.relation, condition.function, condition.kind, _place(condition.origin))))
        console.print()
        console.print(table)
    if description.clauses:
        table = _table("event clauses", "name", "happens", "does", "priority", "written at")
        for clause in description.clauses:
            cells = (clause.label, clause.trigger, "\n".join(clause.actions), str(clause.priority or ""), _place(clause.origin))
            table.add_row(*map(Text, cells))
        console.print()
        console.print(table)
    console.print()
    console.print(_pattern(description))


def _table(title: str, *headers: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for header in headers:
        table.add_column(header, overflow="fold")
    return table


def _variables(title: str, variables: tuple[VariableDescription, ...]) -> Table:
    has_unit = any(variable.unit for variable in variables)
    has_description = any(variable.description for variable in variables)
    headers = ["name", "role", "value" if title == "parameters" else "start"]
    table = _table(title, *headers, *(["unit"] if has_unit else []), *(["description"] if has_description else []))
    for variable in variables:
        cells = [variable.name, variable.role, variable.start]
        cells += [variable.unit] if has_unit else []
        cells += [variable.description] if has_description else []
        table.add_row(*map(Text, cells))
    return table


def _place(origin: Origin) -> str:
    short = Origin(Path(origin.file).name if origin.file else "", origin.line, "", origin.path)
    return str(short)


def _pattern(description: ModelDescription) -> Text:
    n = len(description.unknowns)
    if n > _MAX_PATTERN:
        filled = sum(1 for equation in description.equations for use in equation.uses if use)
        return Text(f"sparsity: {len(description.equations)} equations, {n} unknowns, {filled} entries")
    lines = ["sparsity: x the unknown itself, ' its derivative, X both"]
    labels = [label if len(label := equation.label) <= _MAX_LABEL else label[: _MAX_LABEL - 3] + "..." for equation in description.equations]
    width = max(map(len, labels), default=0)
    for i, name in enumerate(description.unknowns):
        # names stand as a staircase above their columns
        lines.append(" " * (width + 2) + "| " * i + name)
    for label, equation in zip(labels, description.equations, strict=True):
        marks = " ".join(use or _EMPTY for use in equation.uses)
        place = _place(equation.origin)
        lines.append(f"{label:>{width}}  {marks}" + (f"   {place}" if place else ""))
    return Text("\n".join(lines))
