"""Parameter values from the command line (stage: command line). In go texts like ``L=0.1mH``, out come numbers in the model's units."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from tidegate.cli.option_values import QUANTITY
from tidegate.errors import UnitError, UsageError
from tidegate.model import Model, Variable
from tidegate.names import unknown_name
from tidegate.numbers_as_texts import text_problem
from tidegate.part_paths import across_parts
from tidegate.units import convert

__all__ = ["axis_values", "parameter_values", "sensitivity_names"]

_LOGICAL: Final = {"true": 1.0, "false": 0.0}


def parameter_values(settings: Iterable[str], model: Model) -> dict[str, float]:
    """The values that ``--set`` gives, each checked against the model and converted to the model's unit.

    ``level`` is the start value of that variable, whose name as a parameter is ``level(0)``.

    Raises
    ------
    UsageError, UnitError
        For a name that is no parameter, a text that is no number, or a unit that does not fit.
    """
    parameters = _settable(model)
    values: dict[str, float] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip()
        if not equals or not name or not text.strip():
            raise UsageError(f"--set {setting}: a name and a value are expected", hint="--set k=3")
        if name in model.constants and name not in parameters:
            raise UsageError(f"--set {name}: it is a constant, which is set when the model is made", hint="declare it as tg.Parameter")
        every = _meant(name, list(parameters))
        if not every:
            raise unknown_name("parameter or variable", name, [*_parameter_names(model), *_start_names(model)], of=f"model {model.name}")
        for key, variable in (parameters[one] for one in every):
            if key in values:
                raise UsageError(f"--set {name}: {key} is given twice", hint="once is enough")
            values[key] = _value(text.strip(), variable, setting)
    return values


def sensitivity_names(names: Iterable[str], model: Model) -> list[str] | str | None:
    """What ``simulate`` takes as ``sensitivities``: None, "all", or names that exist.

    Raises
    ------
    UsageError
        For a name that is no parameter.
    """
    wanted = list(dict.fromkeys(names))
    known = [*_parameter_names(model), *(key for key, variable in _settable(model).values() if variable not in model.parameters)]
    if "all" in wanted and "all" not in known:
        return "all"
    for name in wanted:
        if not _meant(name, known):
            raise unknown_name("parameter", name, known, of=f"model {model.name}")
    return [element for name in wanted for element in _meant(name, known)] or None


def axis_values(axes: Iterable[str], model: Model) -> dict[str, list[float]]:
    """The values that ``--over`` gives to each parameter: ``k=0:10:101`` from, to and how many, ``k=1,2,5`` one by one, with units as ``--set`` has.

    Raises
    ------
    UsageError, UnitError
        As for ``parameter_values``, and for a range that is none.
    """
    found: dict[str, list[float]] = {}
    known = _settable(model)
    for axis in axes:
        name, equals, text = axis.partition("=")
        name = name.strip()
        if not equals or not name or not text.strip():
            raise UsageError(f"--over {axis}: a name and values are expected", hint="--over k=0:10:101, or --over k=1,2,5")
        if name not in known:
            raise unknown_name("parameter", name, _parameter_names(model), of=f"model {model.name}")
        name, variable = known[name]
        if name in found:
            raise UsageError(f"--over {name} is given twice", hint="once is enough")
        ends = text.split(":")
        if len(ends) == 1:
            found[name] = [_value(one.strip(), variable, axis, "--over") for one in text.split(",")]
            continue
        if len(ends) != 3 or not ends[2].strip().isdigit() or int(ends[2]) < 1:
            raise UsageError(f"--over {axis}: from, to and the number of values are expected", hint="--over k=0:10:101")
        first, last = (_value(end.strip(), variable, axis, "--over") for end in ends[:2])
        count = int(ends[2])
        found[name] = [first + (last - first) * k / (count - 1) if k < count - 1 else last for k in range(count)] if count > 1 else [first]
    return found


def _meant(name: str, known: Sequence[str]) -> list[str]:
    """The one of this name, or all elements of an array and all those of an array of parts; none where there is none."""
    found = None if name in known else across_parts(name, known)
    return [name] if name in known else [known[place] for place in found.places] if found else []


def _parameter_names(model: Model) -> list[str]:
    return [element for variable in model.parameters for element in variable.names]


def _start_names(model: Model) -> list[str]:
    return [element for variable in (*model.unknowns, *model.discretes) if not variable.is_hidden for element in variable.names]


def _settable(model: Model) -> dict[str, tuple[str, Variable]]:
    """What may be set, by the names it may have: the name under which the simulator takes it, and its variable."""
    found: dict[str, tuple[str, Variable]] = {}
    for variable in (*model.unknowns, *model.discretes):
        if not variable.is_hidden:
            for element in variable.names:
                key = f"{variable.name}(0){element.removeprefix(variable.name)}"
                found[element] = found[key] = (key, variable)
    return found | {element: (element, variable) for variable in model.parameters for element in variable.names}


def _value(text: str, parameter: Variable, setting: str, option: str = "--set") -> float:
    if parameter.texts and text in dict(parameter.texts):
        return float(dict(parameter.texts)[text])
    if parameter.texts:
        what = text_problem(parameter.name, text, parameter.texts)
        raise UsageError(f"{option} {setting}: {what}", hint=f"{option} {parameter.name}={parameter.texts[0][0]}")
    if text.lower() in _LOGICAL:
        return _LOGICAL[text.lower()]
    match = QUANTITY.match(text)
    if match is None:
        unit = f" in {parameter.unit}" if parameter.unit else ""
        raise UsageError(f"{option} {setting}: {text!r} is no number", hint=f"a number{unit}, e.g. 0.5 or 2e-3")
    value, unit = float(match["number"]), match["unit"]
    if unit:
        if not parameter.unit:
            raise UsageError(f"{option} {setting}: {parameter.name} has no unit, so {unit!r} cannot be converted", hint="a bare number")
        try:
            value = convert(value, unit, parameter.unit)
        except UnitError as error:
            raise UnitError(f"{option} {setting}: {error.message}", hint=f"a unit of {parameter.name}, as {parameter.unit}") from error
    if not math.isfinite(value):
        raise UsageError(f"{option} {setting}: the value is not finite", hint="a number that fits a double")
    if parameter.kind != "real" and value != int(value):
        raise UsageError(f"{option} {setting}: {parameter.name} is {parameter.kind}, {text} is not", hint="an integer, true or false")
    return value
