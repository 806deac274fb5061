"""A description of a model as tables, and a whole model as a text: what `tidegate show` prints. In go descriptions and sources, out come texts."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tidegate.description import ModelDescription, VariableDescription, describe
from tidegate.errors import Origin, TidegateError
from tidegate.model import Model, Variable, VariableRole
from tidegate.show import show

__all__ = ["as_text", "model_line", "print_model"]

_MAX_PATTERN: Final = 60  # columns of the sparsity pattern that fit a line
_MAX_LABEL: Final = 40  # likewise; a component's equation is named by its text
_EMPTY: Final = "."
_WIDTH: Final = 120  # of a text whose reader's screen is not known


def print_model(console: Console, source: Any) -> None:
    """A model: one line of it, its structure, and tables of all that it has."""
    model = source.lower()
    console.print(model_line(model))
    description = describe(model)
    if not model.opaque_parts:
        console.print()
        console.print(Text(str(show(source))))
    _print_description(console, description)


def as_text(source: Any) -> str:
    """Likewise as a text without colours; where it is no model yet, its name and why."""
    written = io.StringIO()
    console = Console(file=written, highlight=False, emoji=False, width=_WIDTH, color_system=None, legacy_windows=False)
    try:
        print_model(console, source)
    except TidegateError as error:
        return f"{source!r}\n{error}"
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines())


def model_line(model: Model) -> Text:
    """One line: name, form, and how many of what."""
    counts = (
        (_size(model.by_role(VariableRole.STATE)), "state"),
        (_size(model.by_role(VariableRole.ALGEBRAIC)), "algebraic variable"),
        (_size([variable for variable in model.discretes if not variable.is_hidden]), "discrete variable"),
        (_size(model.parameters), "parameter"),
        (len(model.whens) + len(model.time_events) + len(model.step_events), "event clause"),
    )
    parts = [f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count]
    clock = f"; time in {model.time_unit}" if model.time_unit else ""
    return Text.assemble((model.name, "bold"), f": {model.form.value}, {', '.join(parts)}{clock}")


def _size(variables: list[Variable]) -> int:
    return sum(variable.size for variable in variables)


def _print_description(console: Console, description: ModelDescription) -> None:
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
