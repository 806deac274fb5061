"""A run under the user's hand (stage: simulation): advance, look, set, save, go on after a failure. In: a model; out: results so far."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate.compiled.compiled_model import CompiledModel
from tidegate.errors import UsageError
from tidegate.executive import ASSUMED_LENGTH, Options, Session, Setting, Standing, Status, changed, finite_time, of_unknown_length, problem_of
from tidegate.integrators.interface import Problem
from tidegate.results import Result
from tidegate.results.labels import number
from tidegate.simulate import compiled_of, configured, judged_by
from tidegate.simulation.named_values import NamedValues, Values
from tidegate.simulation.saved import differences, plain_options, read_saved, write_saved
from tidegate.wrong_calls import explained
from tidegate.wrong_names import answering

__all__ = ["Simulation"]

FloatArray = NDArray[np.float64]

_VALUES: Final = 'simulation["x"] is a value, simulation.states are those of all states'
_ON: Final = "simulation.advance(1.0) goes on to a time"
_SO_FAR: Final = "simulation.result is what has been recorded so far"
_WORDS: Final = {
    "t": "simulation.time", "x": _VALUES, "y": _VALUES, "state": _VALUES, "values": _VALUES, "get": _VALUES,
    "step": _ON, "do_step": _ON, "run": _ON, "simulate": _ON, "run_until": _ON, "advance_to": _ON,
    "events": _SO_FAR, "plot": _SO_FAR, "to_dataframe": _SO_FAR, "history": _SO_FAR, "statistics": _SO_FAR,
    "set_state": 'simulation["x"] = 1.0', "set_input": 'simulation["u"] = 1.0', "set_parameter": 'simulation["k"] = 1.0',
    "outputs": 'simulation["x"] is a value, also of an output',
}  # fmt: skip


@answering("simulation", _WORDS)
@partial(explained, instead_of_call='simulation.advance(1.0) goes on to a time, simulation["x"] is a value')
class Simulation:
    """A run that goes on when it is told to, and can be looked at and changed in between. Copied or pickled, it is another that goes on by itself.

    Parameters
    ----------
    source : anything that ``tg.simulate`` takes.
    t_start : start time, in the model's unit of time.
    record : keep everything for ``result``; with False ``advance`` returns what is new, with its events, and ``result`` is no more than that. Nothing
        then grows with the number of exchanges, and there is no dense output. The numbers are the same.
    options : those of ``tg.simulate``. Every ``advance`` ends with a row, also where ``outputs`` are given; ``max_steps`` counts anew in each.

    Raises
    ------
    ModelError : the model itself is wrong.
    UsageError : an option or a name does not fit.
    RunError : there are no consistent start values.

    Examples
    --------
    >>> import tidegate as tg
    >>> tank = tg.ode(lambda t, y, p: [p["inflow"] - y["level"]], y0={"level": 0.0}, p={"inflow": 1.0})
    >>> simulation = tg.Simulation(tank, rtol=1e-8)
    >>> _ = simulation.advance(1.0)
    >>> print(f"{simulation['level']:.6f}")
    0.632121
    >>> simulation["inflow"] = 0.0
    >>> _ = simulation.advance(2.0)
    >>> print(f"{simulation['level']:.6f} {simulation.result.events[0].cause}")
    0.232544 inflow set by the user
    """

    def __init__(self, source: object, t_start: float = 0.0, *, record: bool = True, **options: Any) -> None:
        _check_record(record)
        start = finite_time("t_start", t_start)
        source, _, options = configured(source, (start, math.inf), options)
        chosen = of_unknown_length(options, start)
        self._take(Session(_problem(compiled_of(source), start, chosen), chosen, judged_by(source), records=bool(record)))

    def _take(self, session: Session) -> None:
        self._session = session
        self._quantities = NamedValues(session.problem.model)
        self._names = self._quantities.names()

    # -- where it stands ----------------------------------------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulated time. After a failure: from where the simulation can go on."""
        return self._session.standing.time

    @property
    def standing(self) -> Standing:
        """Where it stands, as the vectors of the compiled model."""
        return self._session.standing

    @property
    def compiled(self) -> CompiledModel:
        """The model as flat functions."""
        return self._session.problem.model

    @property
    def status(self) -> Status:
        """What it is: "ready" to advance, "failed" the last time and ready to try again, "terminated" by the model, or "finished" by ``finish``."""
        return self._session.status

    @property
    def options(self) -> dict[str, Any]:
        """The options in force, without those that are functions."""
        return plain_options(self._session.options)

    @property
    def result(self) -> Result:
        """Everything so far: trajectories, events, dense output, what it cost. With ``record=False`` what the last ``advance`` or ``set`` brought."""
        return self._session.result

    # -- values -------------------------------------------------------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> float | FloatArray:
        """The current value of a state, algebraic variable, discrete variable, input, output or parameter; an array for an array."""
        session = self._session
        is_time = isinstance(name, str) and name == "time" and name not in self._names  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        return self.time if is_time else self._quantities.read(session.standing, session.final, name)

    def __setitem__(self, name: str, value: ArrayLike) -> None:
        """Set one value; see ``set``."""
        self._set({name: value})

    def keys(self) -> list[str]:
        """Names of everything that has a value; an array has one."""
        return list(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._names

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    @property
    def states(self) -> Values:
        """The states, to read and to set."""
        return Values(self, self._quantities, "state", "state")

    @property
    def discretes(self) -> Values:
        """The discrete variables, to read and to set."""
        return Values(self, self._quantities, "discrete", "discrete variable")

    @property
    def inputs(self) -> Values:
        """The inputs, to read and to set."""
        return Values(self, self._quantities, "input", "input")

    @property
    def parameters(self) -> Values:
        """The parameters, to read and to set."""
        return Values(self, self._quantities, "parameter", "parameter")

    def set(self, values: Mapping[str, ArrayLike]) -> Self:
        """Set several values at once, as one event at the current instant.

        Conditions that become true by it fire, algebraic variables follow, and the log has an event of the kind "set". What is set no longer depends
        on the parameters that sensitivities are taken by; that by a parameter that is set is by one shift of its old value and its new.

        Parameters
        ----------
        values : by name: states, discrete variables, inputs, parameters.

        Raises
        ------
        UsageError
            For an unknown name, an algebraic variable or an output, or a value that does not fit; nothing is set then.
        RunError
            If no consistent values follow; the simulation stands where it stood.
        """
        self._set(values)
        return self

    def _set(self, values: Mapping[str, ArrayLike]) -> None:
        self._check_open("set values")
        if not isinstance(values, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise UsageError(f"values must be a dict by name, not {values!r}", hint='simulation.set({"k": 3.0})')
        standing = self._session.standing
        # what is recorded keeps m and p, and not the whole state that they stand in
        vectors: dict[str, FloatArray] = {"y": standing.y, "m": standing.m.copy(), "p": standing.p.copy()}
        sets_parameters = False
        causes: list[str] = []
        before: dict[str, float] = {}
        after: dict[str, float] = {}
        for name, value in values.items():
            located, new = self._quantities.checked(name, value)
            vector = vectors[located.quantity.vector]
            if vector is standing.y:
                vector = vectors["y"] = standing.y.copy()
            old = located.of(vector)
            if old.tolist() == new.tolist():
                continue
            vector[located.indices] = new if located.signs is None else new * located.signs
            causes.append(f"{name} set by the user")
            sets_parameters |= located.quantity.vector == "p"
            if located.quantity.role in ("parameter", "input"):
                before |= zip(located.names, located.by_element(old).tolist(), strict=True)
                after |= zip(located.names, located.by_element(new).tolist(), strict=True)
        if sets_parameters:
            self._quantities.check_parameters(vectors["p"])
        if causes:
            self._session.change(Setting(Standing(standing.time, **vectors), tuple(causes), before, after))

    # -- going on -----------------------------------------------------------------------------------------------------------------------------

    def advance(self, until: float, **changes: Any) -> Result:
        """Simulate up to a time.

        Parameters
        ----------
        until : not before the current time.
        changes : options that are other than before, from now on: ``rtol=1e-9``, ``method=...``, ``max_steps=...``.

        Returns
        -------
        Result
            What is new; ``result`` has everything.

        Raises
        ------
        UsageError
            If the time lies in the past, an option does not fit, or the model has ended the run.
        RunError
            If the run stopped before; its ``.result`` holds everything up to there. The simulation stands at the last point from which it can go on:
            change values or options and advance again.
        """
        self._check_open("advance")
        until = finite_time("until", until)
        if until < self.time:
            raise UsageError(f"advance({until:g}) leads back: the simulation is at t = {self.time:g}", hint="a later time; what was simulated stays")
        session = self._session
        return session.advance_to(until, changed(session.options, changes, session.problem.t_start) if changes else None)

    def finish(self) -> Result:
        """End the run: what the model does at its end is done, and the result of everything is returned.

        Raises
        ------
        UsageError
            If the last ``advance`` failed.
        """
        if self.status == "failed":
            raise UsageError(f"the run stopped at t = {self.time:g} and has not come to an end", hint="advance again, with other values or options")
        if self.status == "ready":
            self._session.finish()
        return self.result

    # -- copies -------------------------------------------------------------------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_session, (type(self), self._session)

    def __copy__(self) -> Self:
        return deepcopy(self)  # two simulations that share one run would move each other

    # -- files --------------------------------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write everything that is needed to go on later, and everything recorded so far, to one file.

        Parameters
        ----------
        path : of the file, with any suffix; it is written whole or not at all.
        """
        session = self._session
        facts = {
            "model": session.problem.model.name,
            "identity": session.problem.model.identity(),
            "options": plain_options(session.options),
            "t_start": session.problem.t_start,
            "status": session.status,
            "message": session.message,
            "record": session.records,
        }
        return write_saved(path, facts, session.state, self.result)

    @classmethod
    def load(cls, path: str | Path, source: object, **changes: Any) -> Self:
        """Go on with what was saved. Nothing that stands in the file is carried out.

        Parameters
        ----------
        path : of a file that ``save`` wrote.
        source : the same model; where it differs, the error says in what.
        changes : options that are other than when it was saved, ``record`` among them; ``progress`` and ``on_rows``, which no file can hold. Of a
            simulation that had ``y0`` or ``inputs`` they are given again.

        Raises
        ------
        UsageError
            If the file is none, is damaged or of a newer tidegate, or the model is another.
        """
        if set(changes) & {"y0", "inputs"}:
            source, _, changes = configured(source, (0.0, math.inf), changes)
            changes.pop("parameters", None)  # those of the file hold
        made = cache(lambda: compiled_of(source))
        saved = read_saved(path, lambda _: made().outputs)  # what outputs are the model says
        compiled = made()
        found = differences(saved.facts["identity"], compiled.identity())
        if found:
            raise UsageError(
                f"{path} was saved from another model ({saved.facts['model']}): {'; '.join(found)}",
                hint="load it with the model that it was saved from",
            )
        start = saved.facts["t_start"]
        record = changes.pop("record", saved.facts.get("record", True))
        _check_record(record)
        options = changed(Options(**saved.facts["options"]), changes, start)
        problem = _problem(compiled, start, options)
        layout = problem.model.layout
        sizes = {"unknowns": len(layout.unknowns), "modes": layout.n_m, "parameters": len(layout.parameters)}
        if any(saved.state[name].size != size for name, size in sizes.items()):
            raise UsageError(f"{path} was saved by tidegate {saved.facts['tidegate']}, which laid out the model otherwise", hint="use that version")
        session = Session(problem, options, judged_by(source), going_on=(saved.state, [saved.result]), records=bool(record))
        session.status, session.message = saved.facts["status"], saved.facts["message"]
        return _of_session(cls, session)

    # -- for people ---------------------------------------------------------------------------------------------------------------------------

    def _check_open(self, what: str) -> None:
        if self.status in ("terminated", "finished"):
            how = f"was ended by the model ({self._session.message})" if self.status == "terminated" else "has ended"
            raise UsageError(f"cannot {what}: the run {how} at t = {self.time:g}", hint="start a new simulation")

    def summary(self) -> str:
        """One line: model, time, status."""
        end = f": {self._session.message}" if self.status in ("failed", "terminated") else ""
        return f"{self._quantities.model_name} at t = {number(self.time, 10)}, {self.status}{end}"

    def __repr__(self) -> str:
        return f"<Simulation of {self.summary()}>"

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(self._quantities.located(name).told(self[name]))}</td>"
            f"<td>{escape(self._quantities.located(name).quantity.unit)}</td></tr>"
            for name in self._names
        )
        return f"<p><b>{escape(self.summary())}</b></p><table><tr><th>name</th><th>value</th><th>unit</th></tr>{cells}</table>"


def _of_session[S: Simulation](kind: type[S], session: Session) -> S:
    simulation = kind.__new__(kind)
    simulation._take(session)  # noqa: SLF001, a second constructor
    return simulation


def _check_record(record: object) -> None:
    if not isinstance(record, bool | np.bool_):
        raise UsageError(f"record must be True or False, not {record!r}", hint="record=False keeps nothing but what is new")


def _problem(compiled: CompiledModel, start: float, options: Options) -> Problem:
    return problem_of(compiled, (start, start + ASSUMED_LENGTH), options, np.zeros(0))
