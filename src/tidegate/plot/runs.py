"""The results of one picture (stage: plot). In go results, out come their curves under the names that tell them apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tidegate.errors import UsageError
from tidegate.plot.curves import Times
from tidegate.plot.panels import Curve
from tidegate.quick_dataclass import dataclass
from tidegate.results import Result
from tidegate.results.labels import number

__all__ = ["Others", "Run", "runs_of", "unit_of_time"]

Others = Result | Sequence[Result] | Mapping[str, Result]


@dataclass(frozen=True, eq=False)
class Run:
    """One of the results.

    Parameters
    ----------
    result, times : itself, and the points of its curves.
    label : what tells it from the others.
    """

    result: Result
    times: Times
    label: str

    def curve(self, curve: Curve, first: Result) -> Curve | None:
        """The curve of this result that a curve of the first one corresponds to; None if there is none."""
        if self.result is first:
            return curve
        names = [column.name for column in self.result.columns]
        name = first.columns[curve.column].name
        parameter = -1
        if curve.parameter >= 0:
            wanted = first.sensitivity_parameters[curve.parameter]
            if self.result.sensitivities is None or wanted not in self.result.sensitivity_parameters:
                return None
            parameter = self.result.sensitivity_parameters.index(wanted)
        if name not in names:
            return None
        column, mine = first.columns[curve.column], self.result.columns[names.index(name)]
        if column.shown_unit != mine.shown_unit:
            raise UsageError(f"{name} is in {column.shown_unit or 'no unit'} in one result and in {mine.shown_unit or 'no unit'} in another")
        return Curve(curve.label, names.index(name), parameter)


def runs_of(result: Result, others: Others, label: str, span: tuple[float, float] | None) -> list[Run]:
    """All results, the first one first.

    Raises
    ------
    UsageError : something else than results, or results over time in different units.
    """
    given = [others] if isinstance(others, Result) else list(others.values()) if isinstance(others, Mapping) else list(others)
    for other in given:
        if not isinstance(other, Result):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise UsageError(f"others holds {other!r}, which is no result", hint='others=[second], others={"coarse": second}')
        if unit_of_time(other) != unit_of_time(result):
            raise UsageError(f"time is in {unit_of_time(result) or 'no unit'} in one result and in {unit_of_time(other) or 'no unit'} in another")
    results = [result, *given]
    labels = _labels(results)
    if isinstance(others, Mapping):
        labels[1:] = list(others)
    if label:
        labels[0] = label
    return [Run(each, Times(each, span), text) for each, text in zip(results, labels, strict=True)]


def unit_of_time(result: Result) -> str:
    """Seconds where variables have units and the time was given none: derivatives are then per second."""
    return result.time_unit or ("s" if any(column.unit for column in result.columns) else "")


def _labels(results: Sequence[Result]) -> list[str]:
    """What is different: models, values of parameters, methods and tolerances; else numbers."""
    names = [result.model_name for result in results]
    if len(set(names)) == len(results):
        return names
    first = results[0].parameters
    differing = [name for name in first if len({result.parameters.get(name) for result in results}) > 1]
    texts = [", ".join(f"{name} = {number(result.parameters[name], 4)}" for name in differing if name in result.parameters) for result in results]
    if len(set(texts)) == len(results) and all(texts):
        return texts
    options = [{**result.options, "method": result.statistics.method or result.options.get("method")} for result in results]
    for key in ("method", "rtol", "atol"):
        texts = [f"{key} {option.get(key)}" for option in options]
        if len(set(texts)) == len(results):
            return texts
    return [f"{name} ({k + 1})" for k, name in enumerate(names)]
