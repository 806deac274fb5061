"""The result of a run (stage: results).

In go the recorder's arrays with their names; out come labelled trajectories, events, sensitivities and dense output. Whatever takes time is made
when it is first asked for, since a sweep that only wants end values should not pay for labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate.errors import UnknownNameError, UsageError
from tidegate.later_stages import later
from tidegate.names import Spelling, unknown_name
from tidegate.results.columns import Column, Group, group_across_parts, group_columns, storage_names, told_row
from tidegate.results.comparison import Comparison, compared
from tidegate.results.dataset import at_times, attributes_of, dataset_of, of_parts, trajectories_of, trajectory_of
from tidegate.results.dense_outputs import DenseOutputs
from tidegate.results.event_log import Event, EventLog
from tidegate.results.instead import OF_A_RESULT, NoNumber
from tidegate.results.interpolant import Interpolant, Side, span_told
from tidegate.results.labels import FinalValues, ParameterValues
from tidegate.results.recorded import RECORDED, Recorded, RunStatus
from tidegate.results.resampling import once_each, times_along
from tidegate.results.statistics import Statistics
from tidegate.wrong_calls import explained

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["Result", "RunStatus"]


@explained
class Result(Recorded, NoNumber):
    """Everything a run computed.

    Parameters
    ----------
    model_name : of the model.
    columns : of the recorded scalars.
    time : (rows,), in the order of the run; an event has two rows of equal time, before and after.
    values : (rows, columns).
    parameters : value of every parameter.
    sensitivity_parameters : n_p names.
    sensitivities : (rows, n_p, columns), derivative of every value by every such parameter; None if not computed.
    events, statistics, interpolant : see there; no interpolant if it was not kept.
    options : what the run was asked for.
    status : "finished" at the end of the time span, "terminated" by the model, "failed" before either, "unfinished" for a part of a run that was
        still going on when it was written down.
    message : why it ended.
    parameter_units : units of parameters, by name.
    time_unit : unit of time, "" if none was given.
    folds_names : names are found in other letter case too, as those of blocks of DSblock are.

    Attributes
    ----------
    source : what was given to ``tg.simulate``, for ``tg.verify``; None if it is not known (any more).
    is_part : whether it is of a run that may have begun before it, and may go on.

    Examples
    --------
    >>> result = Result("tank", [Column("level", unit="m")], [0.0, 1.0], [[2.0], [3.0]], status="finished")
    >>> float(result["level"][-1]), result.final
    (3.0, {'level': 3.0})
    """

    _instead = OF_A_RESULT

    def __init__(  # noqa: PLR0913, the recorder hands over everything at once, by name
        self,
        model_name: str,
        columns: Sequence[Column],
        time: ArrayLike,
        values: ArrayLike,
        *,
        parameters: Mapping[str, float] | None = None,
        sensitivity_parameters: Sequence[str] = (),
        sensitivities: ArrayLike | None = None,
        events: EventLog | Sequence[Event] = (),
        statistics: Statistics | None = None,
        interpolant: Interpolant | None = None,
        dense_outputs: DenseOutputs | None = None,
        options: Mapping[str, Any] | None = None,
        status: RunStatus = "finished",
        message: str = "",
        parameter_units: Mapping[str, str] | None = None,
        time_unit: str = "",
        folds_names: bool = False,
    ) -> None:
        self.model_name = model_name
        self.columns = tuple(columns)
        self.t: NDArray[np.float64] = np.asarray(time, dtype=float)
        self.values: NDArray[np.float64] = np.asarray(values, dtype=float).reshape(self.t.size, len(self.columns))
        self.parameters: dict[str, float] = ParameterValues(parameters or {})
        self.parameter_units = dict(parameter_units or {})
        self.time_unit = time_unit
        self.folds_names = folds_names
        self.sensitivity_parameters = tuple(sensitivity_parameters)
        self.sensitivities: NDArray[np.float64] | None = None
        if sensitivities is not None:
            shape = (self.t.size, len(self.sensitivity_parameters), len(self.columns))
            self.sensitivities = np.asarray(sensitivities, dtype=float).reshape(shape)
        self.events = events if isinstance(events, EventLog) else EventLog(events, time_unit=time_unit)
        self.statistics = statistics or Statistics()
        self.interpolant = interpolant
        self.dense_outputs = dense_outputs
        self.options = dict(options or {})
        self.status: RunStatus = status
        self.message = message
        self.source: Any = None
        self.is_part = False

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        raise TypeError("a result has no length: len(result.time) is the number of its rows, len(result.names) that of its variables")

    # -- what there is ------------------------------------------------------------------------------------------------------------------

    @property
    def success(self) -> bool:
        """True if the run came to its end, or to one that the model set."""
        return self.status in ("finished", "terminated")

    @property
    def time(self) -> NDArray[np.float64]:
        """The same as ``t``."""
        return self.t

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The variables: scalars, and arrays gathered from their elements; without hidden ones."""
        return tuple(group_columns(self.columns))

    @cached_property
    def _groups_by_name(self) -> dict[str, Group]:
        return {group.name: group for group in self.groups}

    @cached_property
    def _column_index(self) -> dict[str, int]:
        return {column.name: i for i, column in enumerate(self.columns)}

    @property
    def names(self) -> list[str]:
        """Names of the variables; an array has one."""
        return [group.name for group in self.groups]

    def keys(self) -> list[str]:
        """The same as ``names``, as of a mapping."""
        return self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and ((name := self._spelled(name)) in self._groups_by_name or name in self._column_index)

    @cached_property
    def _spelled(self) -> Spelling:
        """Names as the model has them, where letter case does not tell them apart."""
        return Spelling((*self.parameters, *self._groups_by_name, *self._column_index) if self.folds_names else ())

    def column(self, name: str) -> int:
        """Index of the scalar of this name in ``columns`` and ``values``.

        Raises
        ------
        UsageError
            If there is none, with the close names.
        """
        index = self._column_index.get(self._spelled(name)) if isinstance(name, str) else None  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        if index is None:
            if isinstance(name, str) and name in self.parameters:  # pyright: ignore[reportUnnecessaryIsInstance] - likewise
                raise UnknownNameError(f"{name} is a parameter of {self.model_name}, and no variable", hint=f"result.parameters[{name!r}]")
            raise unknown_name("variable", name, [*self._column_index, *self._groups_by_name], of=f"the result of {self.model_name}")
        return index

    def group(self, name: str) -> Group:
        """What a name stands for: a variable, an element of one, or all those of an array of parts that have this name, ``cell.T``.

        Raises
        ------
        UsageError
            If there is none, with the close names.
        """
        name = self._spelled(name)
        if name in self._groups_by_name:
            return self._groups_by_name[name]
        index = self._column_index.get(name)
        across = group_across_parts(self.columns, name) if index is None else None
        return across or Group(name, (), (self.column(name),))

    # -- trajectories ---------------------------------------------------------------------------------------------------------------------

    @cached_property
    def _trajectories(self) -> xr.Dataset:
        """The dataset without its events, because thousands of events take longer to label than a trajectory to look at."""
        return trajectories_of(self)

    @cached_property
    def dataset(self) -> xr.Dataset:
        """All of the result, labelled: dimension ``time``, sensitivities ``d_name`` with ``parameter``, events along ``event``."""
        return dataset_of(self, trajectories=self._trajectories)

    @cached_property
    def _stored_names(self) -> dict[str, tuple[str, str]]:
        return storage_names(self.groups)

    @cached_property
    def _coordinates(self) -> dict[Any, xr.DataArray]:
        return {name: self._trajectories.coords[name] for name in self._trajectories.coords}

    def _stored(self, name: str) -> xr.DataArray:
        """An array of the dataset; xarray looks through all variables for those that are coordinates, every time."""
        import xarray as xr

        variable = self._trajectories.variables[name]
        coordinates = {key: found for key, found in self._coordinates.items() if set(found.dims) <= set(variable.dims)}
        return xr.DataArray(variable, coordinates, name=name)

    def _alone(self, name: str) -> xr.DataArray:
        """The same of a variable before anybody has asked for the dataset, which takes longer to make than many a run."""
        return trajectory_of(self, self._groups_by_name[name], self._stored_names[name][0])

    def __getitem__(self, name: str) -> xr.DataArray:
        """The trajectory of a variable, of one element of it, or ``"time"``."""
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise unknown_name("variable", name, self.names)
        name = self._spelled(name)
        if name in self._groups_by_name:
            return self._alone(name) if "_trajectories" not in vars(self) else self._stored(self._stored_names[name][0])
        if name == "time" and name not in self._column_index:
            return self._trajectories["time"]
        if self.group(name).shape:
            return of_parts(self, self._trajectories, self.group(name), name)
        return self._element(self.values[:, self.column(name)], name, name)

    def sensitivity(self, variable: str, parameter: str | None = None) -> xr.DataArray:
        """Derivative of a trajectory by a parameter; by all of those computed, along a dimension ``parameter``, when none is named.

        Raises
        ------
        UsageError
            If the run had no such sensitivities, or a name is unknown.
        """
        if self.sensitivities is None or not self.sensitivity_parameters:
            raise UsageError("the run computed no sensitivities", hint='tg.simulate(..., sensitivities="all") or a list of names')
        variable, parameter = self._spelled(variable), self._spelled(parameter)
        if parameter is not None and parameter not in self.sensitivity_parameters:
            if isinstance(parameter, str) and parameter in self.parameters:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
                raise UsageError(
                    f"the run computed no sensitivities to {parameter}",
                    hint=f"add it to the list: tg.simulate(..., sensitivities={[*self.sensitivity_parameters, parameter]})",
                )
            raise unknown_name("parameter", parameter, list(self.parameters) or list(self.sensitivity_parameters), of=f"model {self.model_name}")
        if isinstance(variable, str) and variable in self._groups_by_name:  # pyright: ignore[reportUnnecessaryIsInstance] - likewise
            every = self._stored(self._stored_names[variable][1])
            return every if parameter is None else every.sel(parameter=parameter)
        if isinstance(variable, str) and self.group(variable).shape:  # pyright: ignore[reportUnnecessaryIsInstance] - likewise
            every = of_parts(self, self._trajectories, self.group(variable), variable, are_derivatives=True)
            return every if parameter is None else every.sel(parameter=parameter)
        column = self.column(variable)
        if parameter is None:
            group = next((group for group in self.groups if column in group.columns), None)
            if group is None:
                raise UsageError(f"{variable} is what the run keeps for itself", hint=f'ask for one derivative: sensitivity("{variable}", parameter)')
            every = self._stored(self._stored_names[group.name][1])
            place = np.unravel_index(group.columns.index(column), group.shape)
            return every[(slice(None), slice(None), *(int(index) for index in place))]
        return self._element(self.sensitivities[:, self.sensitivity_parameters.index(parameter), column], variable, f"d_{variable}")

    def _element(self, values: NDArray[np.float64], name: str, label: str) -> xr.DataArray:
        import xarray as xr

        column = self.columns[self.column(name)]
        attributes = attributes_of(Group(name, (), (0,)), column, name) if column.texts else {}
        attributes |= {key: text for key, text in (("units", column.unit), ("long_name", column.description)) if text}
        return xr.DataArray(values, dims=("time",), coords={"time": self._trajectories["time"]}, name=label, attrs=attributes)

    def text(self, name: str) -> xr.DataArray:
        """What the numbers of a variable with texts say, along ``time``; of an array by element.

        Raises
        ------
        UsageError
            If its values are no texts.
        """
        import xarray as xr

        group = next((item for item in self.groups if item.name == name and item.shape), None)
        column = self.columns[group.columns[0] if group is not None else self.column(name)]
        if not column.texts:
            raise UsageError(f"{name} is a number, and has no texts", hint=f"result[{name!r}]")
        found = {float(value): text for text, value in column.texts}
        numbers = self[name] if group is not None else self._element(self.values[:, self.column(name)], name, name)
        texts = np.array([found.get(value, "") for value in numbers.values.ravel().tolist()], dtype=str).reshape(numbers.shape)
        return xr.DataArray(texts, dims=numbers.dims, coords=numbers.coords, name=name)

    @property
    def final(self) -> dict[str, float]:
        """Value of every scalar at the end of the run; truth values are ``True`` and ``False``."""
        if not self.t.size:
            return {}
        shown = [pair for pair in zip(self.columns, self.values[-1].tolist(), strict=True) if not pair[0].is_hidden]
        values = FinalValues({column.name: value for column, value in shown}).with_truths(column.name for column, _ in shown if column.is_truth)
        if self.folds_names:
            values.spelled = self._spelled
        return values

    @overload
    def at(  # pyright: ignore[reportOverlappingOverload] - a text is a sequence of texts, and the first that fits counts
        self, times: ArrayLike, names: str, *, side: Side = "right"
    ) -> xr.DataArray: ...
    @overload
    def at(self, times: ArrayLike, names: Sequence[str] | None = None, *, side: Side = "right") -> xr.Dataset: ...
    def at(self, times: ArrayLike, names: str | Sequence[str] | None = None, *, side: Side = "right") -> xr.Dataset | xr.DataArray:
        """Dense output: values at any times of the run, as accurate as the steps themselves.

        Outputs are computed anew from the dense states, with every condition as it was held there, right up to an event and from it on.

        Parameters
        ----------
        times : one time, or a list of times, within the run; one time gives scalars.
        names : variables or elements of arrays, ``"x[0]"``; None for all that have dense output. The one name gives its values alone.
        side : at an event, the value after it ("right") or before it ("left").

        Raises
        ------
        UsageError
            For a time outside the run, an unknown name, or a variable that has no dense output.
        """
        return at_times(self, times, names, side)

    def resample(self, times: ArrayLike | None = None, names: str | Sequence[str] | None = None, *, side: Side = "right") -> xr.Dataset:
        """Trajectories on a time axis that has each time once, so that xarray's ``interp`` and ``sel(method="nearest")`` work on it.

        A recorded event has two rows at one time. Between rows values are dense output, as accurate as the steps: no line is drawn across a corner.

        Parameters
        ----------
        times : within the run, or their distance, from the start on; None for the recorded times, then with the sensitivities.
        names : variables; None for all, at other times than the recorded ones for all that have dense output.
        side : at an event, the values after it ("right") or before it ("left").

        Raises
        ------
        UsageError
            For a time outside the run, a distance that is not positive, an unknown name, or a variable that has no dense output.

        Examples
        --------
        >>> import tidegate as tg
        >>> result = tg.simulate(tg.ode(lambda t, y: [-1.0 if y["x"] > 0.5 else 0.0], y0={"x": 1.0}), (0, 1))
        >>> result.resample(0.25)["x"].values.round(9).tolist()
        [1.0, 0.75, 0.5, 0.5, 0.5]
        >>> round(float(result.resample()["x"].interp(time=0.25)), 9)
        0.75
        """
        import xarray as xr

        chosen = None if names is None else [names] if isinstance(names, str) else list(names)
        if times is not None:
            dense = at_times(self, times_along(self.t, times), chosen, side)
            assert isinstance(dense, xr.Dataset)  # as a list of names gives
            return dense
        if side not in get_args(Side):
            raise UsageError(f"side is {side!r}", hint='"right" for the values after an event, "left" for those before it')
        return once_each(self._trajectories if chosen is None else xr.Dataset({name: self[name] for name in chosen}), side)

    def compare(self, other: Result, rtol: float = 1e-6, atol: float | Mapping[str, float] = 0.0) -> Comparison:
        """How far this result and another one are apart: of each variable the largest deviation, events matched.

        Values are compared at the times of both, by dense output where one of them has no row, but not between the times of an event that agree.
        Events of one cause are matched in their order.

        Parameters
        ----------
        other : a result of this model, or of another one with variables of the same names; computed or loaded from a file.
        rtol : a deviation is allowed that is no larger than this part of the variable's largest absolute value; of times of events, of the time span.
        atol : and so much more: a number, or one by name.

        Returns
        -------
        Comparison : a table when printed; ``.agrees`` is the verdict, ``["x"]`` the deviation of a variable.

        Raises
        ------
        UsageError
            If they have no time in common, or a tolerance does not fit.

        Examples
        --------
        >>> import tidegate as tg
        >>> model = tg.ode(lambda t, y, p: [-p["k"] * y["x"]], y0={"x": 1.0}, p={"k": 2.0})
        >>> fine, coarse = (tg.simulate(model, (0, 1), rtol=rtol) for rtol in (1e-10, 1e-4))
        >>> fine.compare(coarse, rtol=1e-3).agrees, fine.compare(coarse, rtol=1e-12).agrees
        (True, False)
        """
        if not isinstance(other, Result):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise UsageError(f"a result is compared with a result, not with {other!r}", hint="result.compare(tg.Result.load(...))")
        return compared(self, other, rtol, atol)

    def __getstate__(self) -> dict[str, Any]:
        """What pickling and copying keep: not what can be made again from the rest."""
        if "_recording" in self._taken_up():
            for name in RECORDED:
                getattr(self, name)
        own = {name: value for name, value in vars(self).items() if not isinstance(getattr(type(self), name, None), cached_property)}
        own.pop("_recording", None)
        return {**own, "source": None}  # functions of the user, which may know no way to another process

    def __copy__(self) -> Self:
        other = type(self).__new__(type(self))
        vars(other).update(self.__getstate__(), source=self.source)
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = type(self).__new__(type(self))
        vars(other).update(deepcopy(self.__getstate__(), memo), source=self.source)
        return other

    # -- later stages -----------------------------------------------------------------------------------------------------------------------

    def plot(  # noqa: PLR0913, wishes are keywords, and help and editors show them with their defaults
        self,
        *names: str | Sequence[str],
        path: str | Path | None = None,
        sensitivities: bool = False,
        x: str | None = None,
        y: str | Sequence[str] = (),
        others: Result | Sequence[Result] | Mapping[str, Result] = (),
        label: str = "",
        ax: Any = None,
        events: bool | str | Sequence[str] | None = None,
        size: tuple[float, float] | None = None,
        log: bool | str = False,
        title: str | None = None,
        xlim: tuple[float, float] | None = None,
    ) -> Any:
        """Draw trajectories over time with the events marked, or one quantity over another.

        Curves of one unit share a panel. Between rows they are dense output. A notebook shows the figure without being told to.

        Parameters
        ----------
        names : variables or elements of arrays; all unknowns, discrete variables and outputs when none is given.
        path : file to save the picture in, .png, .svg or .pdf; written whole or not at all.
        sensitivities : draw the derivatives by each parameter below.
        x, y : a phase plot: the quantity along, and one or more above it; a ring is where each begins, a dotted line a jump.
        others : further results of which the same is drawn; by name in a mapping, else named by what is different in them.
        label : name of this result among others.
        ax : matplotlib's axes to draw on: one for all curves, or a list with one a panel.
        events : which are marked. None for all but clocks, up to thirty with their causes and more as ticks at the foot, and for none on ``ax``
            or with ``others``; True for all, False for none, "rug" for ticks, or kinds as "state".
        size : width and height, inches.
        log : True or "y" for a logarithmic vertical axis, "x", "xy".
        title : above the picture; the model's name if not given, "" for none.
        xlim : the stretch that is shown, with as many points as the whole would have.

        Returns
        -------
        Figure : it belongs to no pyplot window; where ``ax`` is given, that.

        Raises
        ------
        UsageError
            For an unknown name, a suffix that is no picture's, or a wish that cannot be.

        Examples
        --------
        >>> import tidegate as tg
        >>> model = tg.ode(lambda t, y, p: [y["v"], -p["c"] * y["x"]], y0={"x": 1.0, "v": 0.0}, p={"c": 4.0})
        >>> soft, hard = (tg.simulate(model, (0, 5), parameters={"c": c}) for c in (1.0, 4.0))
        >>> [line.get_label() for line in soft.plot("x", others=hard).axes[0].lines]
        ['c = 1', 'c = 4']
        >>> soft.plot(x="x", y="v").axes[0].get_xlabel()
        'x'
        """
        wishes = {"sensitivities": sensitivities, "x": x, "y": y, "others": others, "label": label, "ax": ax, "events": events}
        return later("plot")(self, *names, path=path, **wishes, size=size, log=log, title=title, xlim=xlim)

    def explore(self, *names: str, path: str | Path | None = None) -> Any:
        """One page of HTML with the curves to choose, to zoom into, and with what led to each event under the mouse.

        It needs no server and no network. A notebook shows it; ``.save("run.html")`` writes it and ``.open()`` shows it in the browser.

        Parameters
        ----------
        names : variables that are shown at first; others can be chosen on the page.
        path : file to save it in, .html.

        Returns
        -------
        Page : with ``html``, ``save`` and ``open``.

        Raises
        ------
        UsageError
            For an unknown name, another suffix, or a result without rows.
        """
        return later("explore")(self, *names, path=path)

    def save(self, path: str | Path) -> Path:
        """Write to a file whose suffix tells the format: .nc or .csv."""
        return later("save")(self, path)

    def to_netcdf(self, path: str | Path) -> Path:
        """Write all of it to a NetCDF file; ``Result.load`` reads it."""
        return later("to_netcdf")(self, path)

    def to_csv(self, path: str | Path) -> Path:
        """Write the trajectories and sensitivities to a CSV file, every digit kept."""
        return later("to_csv")(self, path)

    def to_dataframe(self, *, sensitivities: bool = False) -> pd.DataFrame:
        """One row a recorded time, one column a scalar, the time as index."""
        frame: pd.DataFrame = later("to_dataframe")(self, sensitivities=sensitivities)
        return frame

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what ``to_netcdf`` or ``to_csv`` wrote, or the ``.part`` that a killed run left; see ``tidegate.export.load.load``."""
        return later("load")(path)

    @staticmethod
    def appended(path: str | Path) -> Any:
        """A context for a run whose rows are to be appended to ``path.part`` as they come; see ``tidegate.export.appended.Appended``."""
        return later("Appended")(path)

    # -- for people -------------------------------------------------------------------------------------------------------------------------

    def summary(self) -> str:
        """One line: model, span, rows, events, how it ended."""
        span = span_told(self.t, self.interpolant, self.time_unit)
        count = len(self.events)
        end = f"{self.status}" + (f": {self.message}" if self.message else "")
        return f"{self.model_name} {span}, {self.t.size} row{'' if self.t.size == 1 else 's'}, {count} event{'' if count == 1 else 's'}, {end}"

    def __repr__(self) -> str:
        return f"<Result of {self.summary()}>"

    def __str__(self) -> str:
        rows = told_row(self.columns, self.values[-1]) if self.t.size else []
        width = max((len(name) for name, *_ in rows), default=0)
        lines = [self.summary(), *(f"  {name:<{width}}  {value} {unit}".rstrip() for name, value, unit, _ in rows)]
        if self.events:
            lines.append(str(self.events))
        return "\n".join([*lines, str(self.statistics)])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(value)}</td><td>{escape(unit)}</td><td>{escape(text)}</td></tr>"
            for name, value, unit, text in (told_row(self.columns, self.values[-1]) if self.t.size else [])
        )
        header = "<tr><th>variable</th><th>final value</th><th>unit</th><th></th></tr>"
        parts = [f"<p><b>{escape(self.summary())}</b></p>", f"<table>{header}{rows}</table>"]
        if self.events:
            parts.append(f"<details><summary>events</summary>{self.events._repr_html_()}</details>")
        parts.append(f"<details><summary>statistics</summary>{self.statistics._repr_html_()}</details>")
        return "".join(parts)
