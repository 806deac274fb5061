"""The pipeline, readable at one glance: front end -> neutral model -> native functions -> run -> result."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from pathlib import Path
from types import FunctionType
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from tidegate.compiled import CompiledModel, compile_model
from tidegate.compiled.own_values import standing_at
from tidegate.errors import InterruptedRunError, RunError, UsageError
from tidegate.executive import Options, Prepared, check_names
from tidegate.executive import prepare as prepare_run
from tidegate.model import KeepsCode, Lowerable, Model
from tidegate.model.callables import CallableModel, Called, TakesOptions
from tidegate.model.validate import validate
from tidegate.no_collections import no_collections
from tidegate.results import Result
from tidegate.starts_and_inputs import with_starts_and_inputs
from tidegate.structure import PASSES, Reduced, reduced
from tidegate.wrong_calls import explained

__all__ = ["compiled_of", "configured", "prepare", "reduced_of", "simulate", "with_own_values"]

_NO_MODELS: Final = {
    "Prepared": "prepared.run() makes the run that was prepared",
    "Result": "it is what a run gave; its model is simulated again",
    "Simulation": "simulation.advance(10.0) goes on",
    "SteadyState": "tg.simulate(model, t_span, y0=rest) begins there",
    "LinearModel": "linear.step() is its response; tg.blocks.StateSpace(A, B, C, D) takes its matrices into a diagram",
    "Block": 'a block stands in a diagram: d = tg.Diagram("d"); d.name = block; tg.simulate(d, ...)',
}  # by class, for whoever hands one over in place of a model
_OF_MODELS: Final = ("y0", "inputs")  # options that go into the model before it is compiled


@explained
def simulate(  # noqa: PLR0913, options are keywords, and help and editors show them with their defaults
    source: Lowerable | Called | TakesOptions,
    t_span: tuple[float, float] | None = None,
    *,
    y0: Mapping[str, ArrayLike] | ArrayLike | None = None,
    inputs: Mapping[str, Any] | None = None,
    outputs: ArrayLike | None = None,
    sensitivities: str | Sequence[str] | None = None,
    method: str = "auto",
    rtol: float | None = None,
    atol: float | Sequence[float] | Mapping[str, float] | None = None,
    max_step: float | None = None,
    first_step: float | None = None,
    max_steps: int | None = None,
    min_step: float | None = None,
    max_halvings: int | None = None,
    disc_halvings: int | None = None,
    record_disabled: str = "held",
    events: str = "fast",
    parameters: Mapping[str, ArrayLike] | None = None,
    event_rows: bool | None = None,
    dense: bool = True,
    progress: bool | Callable[[float], None] | None = None,
    on_rows: Callable[[Result], None] | None = None,
    out: str | Path | None = None,
    **unknown: Any,
) -> Result:
    """Simulate a model, with every event located and exact sensitivities through the events.

    Parameters
    ----------
    source : anything with ``lower()``: ``tg.ode``, ``tg.dae``, a component, a neutral model.
    t_span : start and end, in the model's unit of time; only a block that proposes its end (``tg.DSblock``) does without.
    y0 : start values in place of the model's, by name (an array by its own), or a number for each unknown in order: of states, guesses of algebraic
        variables, discrete variables. ``y0={"x": 2.0}`` is ``parameters={"x(0)": 2.0}``: a start value is a parameter of this name.
    inputs : by name functions of time, numbers, a ``tg.table``, samples ``(times, values)`` or a pandas ``Series`` over times,
        with lines between them, in place of inputs; in place of parameters too, where neither start values nor times of events need them.
    outputs : times to record at, or the distance of equidistant times; None records every step and both sides of every event.
    sensitivities : parameter names, or "all"; ``"x(0)"`` is the start value of ``x``.
    method : "auto", "radau", "rodas5p" or "taylor", our own; "ida", "bdf" or "adams", SUNDIALS'; the classical "rke" and "pc", and "euler", "adams2",
        "trapezoid" and "heun", whose steps are all ``max_step``.
    rtol : relative tolerance; 1e-6 unless a block proposes another.
    atol : absolute tolerance: a number, one an unknown, or by name; default 0.01 rtol times the nominal size, where none is given times the largest
        value that the unknown has had so far, if that is less than 1.
    max_step, first_step, max_steps : limits; none by default.
    min_step : of "rke": the least step; where a shorter one is needed the run ends.
    max_halvings, disc_halvings : of "pc": how often its step may be halved, and how many halvings tell of a discontinuity; 30 and 10.
    parameters : values that replace the model's; those of an array by its name, or by that of one element.
    event_rows : also record both sides of events where output times are given.
    dense : keep the polynomials of all steps for ``result.at`` and smooth plots.
    progress : True for a bar with the simulated time and the time left, on a terminal and in notebooks, where a run takes more than a second; or a
        function that is called about ten times a second with the simulated time.
    on_rows : called about twenty times a second with a result of the rows, events and polynomials that are new.
    record_disabled : what rows, dense results and files show of variables of parts that are switched off: "held", the values with
        which they will go on, or "nan", none. The log of events has what is held.
    events : "fast", or "proved": every step is examined once more, by bounds in which all rounding is, and ``result.statistics`` says of how many it
        is proved that no event of the numerical solution was missed. Results are the same.
    out : file to save the result in, .nc or .csv. While the run goes on its rows are in ``out`` with ``.part`` behind it, which ``Result.load`` reads
        should the run be killed. What a failed run computed is saved too.
    unknown : nothing else is taken; a name from elsewhere, as SciPy's ``t_eval``, is answered with the name it has here.

    Returns
    -------
    Result

    Raises
    ------
    ModelError : the model itself is wrong.
    UsageError : an option or a name does not fit.
    RunError : the run stopped before its end; ``.result`` holds what was computed.
    InterruptedRunError : Ctrl-C stopped it; likewise.

    Examples
    --------
    >>> import tidegate as tg
    >>> model = tg.ode(lambda t, y, p: [-p["k"] * y["x"]], y0={"x": 1.0}, p={"k": 2.0})
    >>> result = tg.simulate(model, (0, 1), sensitivities=["k"], rtol=1e-8)
    >>> print(f"{result.final['x']:.6f} {result.sensitivity('x', 'k')[-1]:.6f}")
    0.135335 -0.135335
    """
    options: dict[str, Any] = {
        "outputs": outputs, "sensitivities": sensitivities, "method": method, "rtol": rtol, "atol": atol, "max_step": max_step,
        "first_step": first_step, "max_steps": max_steps, "min_step": min_step, "max_halvings": max_halvings, "disc_halvings": disc_halvings,
        "parameters": {} if parameters is None else parameters, "event_rows": event_rows, "dense": dense, "progress": progress,
        "record_disabled": record_disabled,
        "events": events, **({} if y0 is None else {"y0": y0}), **({} if inputs is None else {"inputs": inputs}), **unknown,
    }  # fmt: skip
    if out is None:
        return _run_once(prepare(source, t_span, on_rows=on_rows, **options))
    with Result.appended(out) as file:
        try:
            result = _run_once(prepare(source, t_span, on_rows=file if on_rows is None else _both(file, on_rows), **options))
        except (RunError, InterruptedRunError) as error:
            if error.result is not None:
                file.finish(error.result)
            raise
        file.finish(result)
    return result


def _run_once(prepared: Prepared) -> Result:
    try:
        return prepared.run()
    finally:
        prepared.put_away()


def _both(first: Callable[[Result], None], second: Callable[[Result], None]) -> Callable[[Result], None]:
    def give(part: Result) -> None:
        first(part)
        second(part)

    return give


@explained
def prepare(source: Lowerable | Called | TakesOptions, t_span: tuple[float, float] | None = None, **options: Any) -> Prepared:
    """Do everything of ``simulate`` but the run itself, for running the same thing often.

    Parameters
    ----------
    source, t_span, options : as for ``simulate``.

    Examples
    --------
    >>> import tidegate as tg
    >>> run = tg.prepare(tg.ode(lambda t, y: [-y[0]], y0=[1.0]), (0, 1))
    >>> run.run().statistics.events
    0
    """
    source, t_span, options = configured(source, t_span, options)
    compiled = compiled_of(source)
    return prepare_run(compiled, t_span, Options(**options), judged_by(source))


def configured(source: Any, t_span: tuple[float, float] | None, options: Mapping[str, Any]) -> tuple[Any, tuple[float, float], dict[str, Any]]:
    """A source that knows options of its own takes them, and may propose others; what is left are those of every run.

    Raises
    ------
    UsageError : an option is unknown, or nobody says how long the run is.
    """
    takes = isinstance(source, TakesOptions) and not isinstance(source, type)
    check_names(name for name in options if name not in _OF_MODELS and not (takes and name in source.own_options))
    if takes:
        source, t_span, options = source.with_options(t_span, options)
    source, options = with_starts_and_inputs(source, options)
    if t_span is None:
        raise UsageError("t_span is missing", hint="tg.simulate(model, (0, 10)), from 0 to 10")
    # what is None everywhere else means that the caller has not chosen
    return source, t_span, {name: value for name, value in options.items() if name != "rtol" or value is not None}


def judged_by(source: Any) -> Any:
    """What a result of a source keeps for ``tg.verify``: it needs no machine code, and would hold it for as long as the result lives."""
    return source.without_code() if isinstance(source, KeepsCode) else source


@no_collections()
def compiled_of(source: object) -> CompiledModel:
    """Native functions of anything that lowers to a model, checked.

    Raises
    ------
    ModelError, UsageError : it is wrong, or no model at all.
    """
    model = source if isinstance(source, CallableModel) else source.callables() if isinstance(source, Called) else _lowered(source)
    # A model is frozen, so it can carry its machine code; a table from one to the other would keep both alive for ever, since each needs the other.
    # The code gets a twin of the model: with the model itself the two would be a cycle, whose memory waits for a rare garbage collection.
    kept = vars(model)
    if "_compiled" not in kept:
        kept["_compiled"] = _called(copy(model)) if isinstance(model, CallableModel) else compile_model(_reduced(copy(model)))
    return kept["_compiled"]


def with_own_values(model: Model, values: Sequence[float]) -> Model | None:
    """A model of expressions, compiled, with other values of its parameters as its own; None where they may change its structure.

    Parameters
    ----------
    model : whose machine code serves for the new one too.
    values : of all its parameters.
    """
    compiled = standing_at(compiled_of(model), np.array(values, dtype=np.float64))
    if compiled is None:
        return None
    other = copy(model)
    vars(other)["_compiled"] = compiled
    return other


@no_collections()
def reduced_of(source: object) -> Reduced:
    """What is solved in place of anything that lowers to a model, checked.

    Raises
    ------
    ModelError, UsageError : it is wrong, or no model made of expressions.
    """
    if isinstance(source, CallableModel) or (isinstance(source, Called) and not isinstance(source, Lowerable)):
        raise UsageError(f"{source!r} is made of callbacks, not of expressions", hint="write it as tg.ode, tg.dae, a component or a diagram")
    return _reduced(_lowered(source))


def _called(model: CallableModel) -> CompiledModel:
    # other models do without
    from tidegate.compiled.from_callables import compile_callables
    from tidegate.compiled.traced_callables import compile_traced

    return compile_callables(model) if model.traced is None else compile_traced(model, model.traced)


def _lowered(source: object) -> Model:
    if isinstance(source, type) and (hasattr(source, "lower") or hasattr(source, "callables")) and source.__module__ != "builtins":
        raise UsageError(
            f"{source.__name__} is a class and cannot be simulated, an instance of it can", hint=f"tg.simulate({source.__name__}(), ...)"
        )
    if isinstance(source, FunctionType):
        hint = "tg.simulate(tg.ode(f, y0=[1.0]), (0, 10)), or in SciPy's words tg.solve_ivp(f, (0, 10), [1.0])"
        raise UsageError(f"{source.__name__} is a function, which cannot be simulated: it says nothing of start values", hint=hint)
    model = None if isinstance(source, type) or not isinstance(source, Lowerable) else source.lower()
    if not isinstance(model, Model):  # a text has lower() too
        known = [
            _NO_MODELS[kind.__name__]
            for kind in inspect.getmro(type(source))
            if kind.__module__.startswith("tidegate") and kind.__name__ in _NO_MODELS
        ]
        hint = known[0] if known else "give tg.ode(...), tg.dae(...), an instance of a component, or anything with lower()"
        raise UsageError(f"{source!r} cannot be simulated", hint=hint)
    return model


def _reduced(model: Model) -> Reduced:
    validate(model)
    return reduced(model, PASSES)
