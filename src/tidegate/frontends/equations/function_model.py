"""What `tg.ode` and `tg.dae` return: the user's functions with their start values, not yet followed (front end of plain functions)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, cast

from tidegate.errors import InvalidModelError, Origin, UsageError
from tidegate.expressions.tracing import Reads, collect_reads, function_origin
from tidegate.expressions.tracing.sent_functions import WrittenIn
from tidegate.expressions.tracing.value_kinds import is_function
from tidegate.frontends.equations.event_clause import EventClause
from tidegate.frontends.equations.follow_functions import FunctionsDescription, Outputs, Parts, by_name
from tidegate.frontends.equations.followed_before import FollowedBefore
from tidegate.frontends.equations.lower_functions import lower
from tidegate.frontends.equations.plain_functions import PlainFunctions
from tidegate.frontends.equations.quantities import MetBefore, Problems, read_quantities
from tidegate.later_stages import later
from tidegate.model import Form, Model
from tidegate.names import given_by_name
from tidegate.quick_dataclass import dataclass
from tidegate.wrong_calls import explained
from tidegate.wrong_names import answering

__all__ = ["FunctionModel", "FunctionOptions", "checked_description", "function_model"]


_RUN: Final = "tg.simulate(model, (0, 10)) runs it"
_SHOWN: Final = "print(model) shows it"
_WORDS: Final = {
    "simulate": _RUN, "run": _RUN, "solve": _RUN, "prepare": "tg.prepare(model, (0, 10)) prepares a run",
    "plot": "tg.simulate(model, (0, 10)).plot() draws a run",
    "linearize": "tg.linearize(model)", "steady_state": "tg.steady_state(model)", "sweep": "tg.sweep(model, (0, 10), parameters={...})",
    "fit": "tg.fit(model, data, parameters)", "show": _SHOWN, "summary": _SHOWN, "states": _SHOWN, "parameters": _SHOWN, "variables": _SHOWN,
    "events": _SHOWN, "y0": "tg.simulate(model, (0, 10), y0={...}) has other start values",
    "p": "tg.simulate(model, (0, 10), parameters={...}) has other values",
}  # fmt: skip


@answering("model", _WORDS)
@partial(explained, instead_of_call="tg.simulate(model, (0, 10)) runs a model")
@dataclass(frozen=True, eq=False)
class FunctionModel:
    """A model written as functions; simulate it, or take its neutral form with ``lower()``."""

    description: FunctionsDescription

    @property
    def name(self) -> str:
        """How results and messages name the model."""
        return self.description.name

    def lower(self) -> Model:
        """The neutral model; the user's functions are followed once, and each again when something that it read of its surroundings has changed."""
        kept: tuple[Model, Reads] | None = vars(self).get("_kept")
        if kept is None or kept[1].changed():
            before: FollowedBefore = vars(self).setdefault("_before", FollowedBefore())
            with collect_reads() as reads:
                kept = lower(self.description, before), reads
            vars(self)["_kept"] = kept
        return kept[0]

    def __getstate__(self) -> dict[str, Any]:
        """What was followed here is followed again elsewhere: what it read belongs to this process."""
        return {"description": self.description, "written_in": WrittenIn(self.description)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self)["description"] = state["description"]
        state["written_in"].restore(self.description)

    def plainly(self, parameters: Mapping[str, float], model: Model) -> PlainFunctions:  # noqa: ARG002, as any source
        """The functions called as Python with numbers; see ``tidegate.model.plain_model``."""
        return PlainFunctions(self.description, parameters)

    def without_code(self) -> FunctionModel:
        """The same functions, not followed yet, and without the machine code that comes of it."""
        return FunctionModel(self.description)

    def __repr__(self) -> str:
        described = self.description
        count = len(described.p.elements)
        return f"<{described.form.value} {described.name!r}: {count} parameter{'s' * (count != 1)}>"

    def __str__(self) -> str:
        return later("as_text")(self)

    def _repr_html_(self) -> str:
        return later("as_html")(self)


@dataclass(frozen=True, eq=False)
class FunctionOptions:
    """What can be said about a model besides its equations, start values and parameters."""

    name: str | None
    units: Mapping[str, str] | None
    outputs: Outputs | None
    events: Iterable[EventClause] | EventClause
    check_units: bool = True
    discrete: Any = None


def function_model(form: Form, function: Any, starts: tuple[Any, Any], p: Any, options: FunctionOptions) -> FunctionModel:
    """The model of one function; see ``checked_description``."""
    return FunctionModel(checked_description(form, function, starts, p, options))


def checked_description(
    form: Form, function: Any, starts: tuple[Any, Any], p: Any, options: FunctionOptions, parts: Parts | None = None
) -> FunctionsDescription:
    """Check what can be checked without following the functions.

    Parameters
    ----------
    form : ODE, DAE or HDAE.
    function : right-hand side or residual.
    starts : y0 and ydot0.
    p : parameters.
    options : the rest.
    parts : the other functions of an HDAE, and its start values.
    """
    maker = f"tg.{form.value.lower()}"
    for one in (function, *(parts.functions if parts else ())):
        if not is_function(one) and (one is function or one is not None):
            starts_word = "x1" if parts else "y0"
            raise UsageError(f"{maker} was given {one!r} as its function, which cannot be called", hint=f"{maker}(f, {starts_word}={{...}})")
    origin = function_origin(function)
    problems: Problems = []
    met: MetBefore = {}
    is_single = isinstance(options.events, EventClause) or is_function(options.events)
    events: tuple[EventClause, ...] = cast("Any", (options.events,)) if is_single else tuple(cast("Iterable[EventClause]", options.events))
    for item in events:
        if not isinstance(item, EventClause):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise _no_event(item)
    description = FunctionsDescription(
        name=options.name if isinstance(options.name, str) and options.name else _name_of(function),
        form=form,
        function=function,
        y0=starts[0] if is_function(starts[0]) else read_quantities("y", starts[0], problems, origin),
        ydot0=starts[1],
        p=read_quantities("p", p, problems, origin, met),
        has_p=p is not None,
        units=given_by_name("units", options.units, 'units={"x": "m", "time": "h"}'),
        outputs=options.outputs,
        events=events,
        origin=origin,
        check_units=options.check_units,
        d=_discrete(options.discrete, problems, origin, met),
        met=met,
        parts=parts and replace(parts, starts=tuple(_read(start, k, problems, origin) for k, start in enumerate(parts.starts))),
    )
    if options.name is not None and not isinstance(options.name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        problems.append((f"name is {options.name!r:.80}; a text is expected", origin))
    for output, one in by_name(options.outputs).items():
        if not is_function(one):
            what = f"outputs[{output!r}]" if output else "outputs"
            problems.append((f"{what} is {one!r:.80}, which cannot be called; outputs=lambda t, y: {{'name': value}}", origin))
    if starts[0] is None and parts is None:
        problems.append((f"{maker} was given no start values: y0 is None", origin))
    if problems:
        x1 = "x1" if parts else "y0"
        raise InvalidModelError(problems, hint=f'{maker}(f, {x1}={{"x": 1.0}}, p={{"k": 2.0}}), or {x1}=[1.0] for unknowns without names')
    for one in (function, *(parts.functions if parts else ())):
        if one is not None:
            description.taken(one, description.name if one is function else _name_of(one), is_residual=form is Form.DAE)
    return description


def _no_event(item: Any) -> UsageError:
    """The error for what was not made by ``tg.event``; an event function of SciPy is told how to be wrapped."""
    if not is_function(item):
        return UsageError(f"events holds {item!r:.80}", hint="make events with tg.event(condition=..., reset=...)")
    name = getattr(item, "__name__", "g")
    call = f"{'g' if name == '<lambda>' else name}(t, y)"
    direction = getattr(item, "direction", 0)
    condition = f"{call} >= 0" if direction > 0 else f"{call} <= 0" if direction < 0 else f"[{call} >= 0, {call} <= 0]"
    ending = ", terminal=True" if getattr(item, "terminal", False) else ""
    return UsageError(
        f"events holds the function {name}, as SciPy takes it: a number whose zero is meant",
        origin=function_origin(item),
        hint=f"wrap it, with a condition that becomes true: tg.event(lambda t, y: {condition}{ending})",
    )


def _discrete(given: Any, problems: Problems, origin: Origin, met: MetBefore) -> Any:
    """Start values of discrete variables; a function that gives them is left for later."""
    return given if given is None or is_function(given) else read_quantities("d", given, problems, origin, met)


def _read(start: Any, k: int, problems: Problems, origin: Origin) -> Any:
    """Start values of x1, x2 or x3; a function that gives them is left for later."""
    return start if is_function(start) else read_quantities(f"x{k + 1}", start, problems, origin)


def _name_of(function: Any) -> str:
    name = getattr(function, "__name__", "") or type(getattr(function, "func", function)).__name__
    return "model" if name == "<lambda>" else name
