"""Start values and inputs that belong to a run, put into its model before it is compiled. In: a source and options; out: a source and options.

``y0={"x": 2.0}`` is a parameter ``x(0)`` with this value (``model.start_parameters``), ``inputs={"u": f}`` a signal in place of the input
(``model.driven``). Variants are kept beside the model that they come of, so that a second run finds its machine code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final, NamedTuple, cast

import numpy as np

from tidegate.errors import UsageError
from tidegate.expressions import as_expr
from tidegate.expressions.tracing import Reads, collect_reads
from tidegate.model import KeepsCode, Lowerable, Model, element_names
from tidegate.model.callables import At, CallableModel, Called, Changes
from tidegate.model.driven import driven
from tidegate.model.start_parameters import SUFFIX, started_variables, with_start_parameters
from tidegate.names import Spelling, listed, suggestion
from tidegate.part_paths import across_parts
from tidegate.quick_dataclass import dataclass
from tidegate.structure.check_units import check_units

__all__ = ["with_named_starts", "with_starts_and_inputs"]

_MOST_VARIANTS: Final = 8  # of one model: whoever makes a new function for every run shall not fill the memory
_EXAMPLE: Final = 'y0={"x": 1.0}'


def with_starts_and_inputs(source: Any, options: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The source that has these start values and inputs, and the other options.

    Raises
    ------
    UsageError : a name or a value does not fit.
    """
    left = dict(options)
    y0, inputs = left.pop("y0", None), left.pop("inputs", None)
    named = _named_starts(left)
    if y0 is None and inputs is None and not named:
        return source, left
    for name, given in (("inputs", inputs),):
        if given is not None and not isinstance(given, Mapping):
            like = "a table; each of its columns is a signal" if hasattr(given, "columns") else f"{given!r:.80}"
            raise UsageError(f"{name} must be a dict by name, not {like}", hint='inputs={"u": lambda t: 2.0 * t}, or {"u": (times, values)}')
    if isinstance(source, CallableModel) or (isinstance(source, Called) and not isinstance(source, Lowerable)):
        return _of_callables(source, y0, inputs, named), left
    if isinstance(source, type) or not isinstance(source, Lowerable) or isinstance(source, str):
        return source, left  # what it is, is said where it is lowered
    known = started_variables(source.lower())
    starts = _of_each_part(_by_name(y0, {name: variable.size for name, variable in known.items()}), known)
    elements = {name: _element(name, known) for name in starts}
    owners = [element.name if element else name for name, element in elements.items()]
    both = [element.name for element in elements.values() if element and element.name in starts]
    if both:
        raise UsageError(f"y0 gives the start value of {both[0]} as a whole and of one of its elements", hint="once is enough")
    names = tuple(dict.fromkeys((*owners, *_of_each_part(dict.fromkeys(named, 0.0), known))))
    if starts:
        parameters = dict(left.get("parameters") or {})
        twice = [name for name in owners if any(key.startswith(f"{name}{SUFFIX}") for key in parameters)]
        if twice:
            raise UsageError(f"the start value of {twice[0]} is given in y0 and in parameters", hint="once is enough")
        written = {name: f"{element.name}{SUFFIX}{element.place}" if element else f"{name}{SUFFIX}" for name, element in elements.items()}
        left["parameters"] = parameters | {written[name]: value for name, value in starts.items()}
    return AdjustedSource(source, names, dict(inputs or {})), left


def with_named_starts(source: Any, names: Iterable[Any]) -> Any:
    """The source with parameters for those start values that are among names of parameters, as ``"x(0)"``."""
    return with_starts_and_inputs(source, {"sensitivities": [name for name in names if isinstance(name, str)]})[0]


def _named_starts(options: Mapping[str, Any]) -> list[str]:
    """Variables whose start values are among the parameters that the options name."""
    sensitivities, parameters = options.get("sensitivities"), options.get("parameters")
    several: list[Any] = list(cast("Sequence[Any]", sensitivities)) if isinstance(sensitivities, Sequence) else []
    named = [sensitivities] if isinstance(sensitivities, str) else several
    given = list(cast("Mapping[Any, Any]", parameters)) if isinstance(parameters, Mapping) else []
    return [name.partition(SUFFIX)[0] for name in (*named, *given) if isinstance(name, str) and SUFFIX in name]


def _by_name(y0: Any, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Start values by name; a sequence goes over all unknowns in order, as that of ``tg.ode`` does."""
    if y0 is None:
        return {}
    if isinstance(y0, Mapping):
        return dict(cast("Mapping[str, Any]", y0))
    try:
        values = np.asarray(y0, dtype=float)
    except (TypeError, ValueError):
        raise UsageError(f"y0 is {y0!r:.80}", hint=f"a dict by name, as {_EXAMPLE}, or a number for each variable in order") from None
    if values.size != sum(sizes.values()):
        raise UsageError(
            f"y0 has {values.size} values, and the model has start values of {listed(sizes)}", hint=f"by name those that change: {_EXAMPLE}"
        )
    found: dict[str, Any] = {}
    flat, at = values.ravel(), 0
    for name, size in sizes.items():
        found[name] = flat[at : at + size] if size > 1 else float(flat[at])
        at += size
    return found


class _Element(NamedTuple):
    """One number of an array: the array's name, and its place as it is written."""

    name: str
    place: str


def _element(name: Any, known: Mapping[str, Any]) -> _Element | None:
    """What an element's name says, ``x[1]`` of ``x``; none for what is no such name."""
    if not isinstance(name, str) or name in known or not name.endswith("]"):
        return None
    owner, bracket, place = name.rpartition("[")
    if owner not in known or not known[owner].shape:
        return None
    names = element_names(owner, known[owner].shape)
    if name not in names:
        raise UsageError(f"y0 names {name}, and {owner} has {names[0]} to {names[-1]}", hint=suggestion(name, names, f"y0={{'{names[0]}': 1.0}}"))
    return _Element(owner, bracket + place)


def _of_each_part(given: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Values by name, with those of ``cell.T`` under the names of all parts ``cell[0].T, cell[1].T, ...``; an array has one for each."""
    found: dict[str, Any] = {}
    names = list(known)
    for name, value in given.items():
        across = across_parts(name, names) if isinstance(name, str) and name not in known else None  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        if across is None:
            found[name] = value
            continue
        shape = np.shape(value)
        if shape and shape[: len(across.shape)] != across.shape:
            raise UsageError(f"y0 has values of shape {shape} for {name}, of which there are {across.shape}", hint="a number, or one for each part")
        each = np.asarray(value).reshape(-1, *shape[len(across.shape) :]) if shape else [value] * len(across.places)
        found |= {names[place]: each[k] for k, place in enumerate(across.places)}
    return found


@dataclass(frozen=True, eq=False)
class AdjustedSource:
    """A source with parameters for some start values, and signals for some inputs.

    Parameters
    ----------
    source : what the user gave.
    starts : names of variables whose start values are parameters.
    inputs : signals by name of an input or a parameter.
    """

    source: Lowerable
    starts: tuple[str, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def lower(self) -> Model:
        """The neutral model; made once of a model, and again when something that a signal read of its surroundings has changed."""
        model = self.source.lower()
        kept: dict[Any, tuple[Any, Model, Reads]] = vars(model).setdefault("_adjusted", {})
        key = (self.starts, tuple((name, id(value)) for name, value in self.inputs.items()))
        found = kept.get(key)
        if found is None or found[2].changed():
            with collect_reads() as reads:
                new = with_start_parameters(self._driven(model) if self.inputs else model, self.starts)
            while len(kept) >= _MOST_VARIANTS:
                del kept[next(iter(kept))]
            kept[key] = found = (tuple(self.inputs.values()), new, reads)  # values are held, so that no other gets their identity
        return found[1]

    def _driven(self, model: Model) -> Model:
        """With its signals: a function of time says no unit, and has that of the input; the rest is checked as it was written."""
        if model.check_units:
            check_units(model)
        return replace(driven(model, self.inputs), check_units=False)

    def without_code(self) -> AdjustedSource:
        """The same, without the machine code that comes of it."""
        source = self.source.without_code() if isinstance(self.source, KeepsCode) else self.source
        return AdjustedSource(source, self.starts, self.inputs)


def _of_callables(source: Any, y0: Any, inputs: Any, named: Sequence[str]) -> Any:
    """A model of callbacks with other start values; its inputs are options of its own."""
    if inputs is not None:
        raise UsageError(f"{source!r:.80} is made of callbacks, whose inputs cannot be given", hint="tg.DSblock takes inputs=...")
    if named:
        told = f"the start value of {named[0]} is no parameter of {source!r:.60}, which is made of callbacks"
        raise UsageError(told, hint="declare a parameter, and set the state from it in the callback for the start")
    model = source if isinstance(source, CallableModel) else source.callables()
    groups = {"states": model.states, "algebraic": model.algebraic, "discretes": model.discretes}
    known = {name: value for group in groups.values() for name, value in group.items() if name not in model.hidden}
    starts = _elements(_as_spelled(_by_name(y0, dict.fromkeys(known, 1)), model), model.arrays)
    for name in starts:
        if name not in known:
            raise UsageError(f"{model.name} has no start value of {name!r}", hint=suggestion(name, known, f"variables with one are {listed(known)}"))
    changed = {group: {name: starts.get(name, value) for name, value in values.items()} for group, values in groups.items()}
    hooks = {hook: _unless_lost(change, starts) for hook in ("at_start", "at_open") if (change := getattr(model, hook)) is not None}
    return replace(model, traced=_started(model.traced, starts), **hooks, **changed)


def _as_spelled(given: Mapping[str, Any], model: CallableModel) -> Mapping[str, Any]:
    """The same under the names that the model has for them, where letter case does not tell names apart."""
    spelled = Spelling((*model.states, *model.algebraic, *model.discretes, *model.arrays) if model.folds_names else ())
    return {spelled(name): value for name, value in given.items()}


def _started(traced: Model | None, starts: Mapping[str, float]) -> Model | None:
    """The same equations as expressions, with these start values; each of their variables is one element."""
    if traced is None:
        return None
    variables = (replace(v, start=(as_expr(starts[v.name]),)) if v.name in starts else v for v in traced.variables)
    return replace(traced, variables=tuple(variables))


def _unless_lost(change: Changes, starts: Mapping[str, float]) -> Changes:
    """What the model does at its start, and an error where it puts another value in place of one that was given."""

    def changed(at: At) -> Mapping[str, float]:
        new = change(at)
        lost = next((name for name, value in starts.items() if new.get(name, value) != value), None)
        if lost is not None:
            told = f"the model itself gives {lost} its value at the start of a run, so another would have no effect"
            raise UsageError(told, hint="change what its callback for the start returns")
        return new

    return changed


def _elements(given: Mapping[str, Any], arrays: Mapping[str, tuple[int, ...]]) -> dict[str, float]:
    """Values by name of an element."""
    found: dict[str, float] = {}
    for name, value in given.items():
        names = element_names(name, arrays.get(name, ()))
        try:
            values = np.broadcast_to(np.asarray(value, dtype=float), arrays.get(name, ())).ravel().tolist()
        except (TypeError, ValueError):
            raise UsageError(
                f"the start value of {name} is {value!r:.80}; a number or an array of shape {arrays.get(name, ())} is expected"
            ) from None
        found |= dict(zip(names, values, strict=True))
    return found
