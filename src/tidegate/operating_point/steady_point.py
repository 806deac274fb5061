"""A steady state under the user's names (stage: operating_point). In: vectors at which nothing changes; out: values by name, a simulation there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from html import escape
from typing import Any, Final

from tidegate.compiled.compiled_model import CompiledModel
from tidegate.executive import Standing
from tidegate.names import unknown_name
from tidegate.results.labels import ParameterValues
from tidegate.simulation import NamedValues, Simulation
from tidegate.wrong_calls import explained
from tidegate.wrong_names import answering

__all__ = ["SteadyState"]


_LINEAR: Final = "tg.linearize(steady.source, at=steady)"
_WORDS: Final = {
    "x": 'steady["x"] is a value', "y": 'steady["x"] is a value', "final": "steady.values()", "linearize": _LINEAR, "linear": _LINEAR,
    "success": "what is no steady state is an error", "variables": "steady.keys()", "names": "steady.keys()", "y0": "steady.states",
}  # fmt: skip


@answering("steady", _WORDS)
@partial(explained, instead_of_call='steady["x"] is a value, tg.linearize(model, at=steady) the linear model there')
class SteadyState(Mapping[str, Any]):
    """Values at which nothing changes, by name; made by ``tg.steady_state``.

    Parameters
    ----------
    source, compiled : the model.
    standing : time, unknowns, discrete variables and parameters.
    how : "newton", or "continuation" where it took steps in time.
    iterations : of either.
    is_isolated : False where the equations leave directions open, as closed systems do: the place then belongs to the start values.
    given : parameters that the caller gave.

    Attributes
    ----------
    time : at which everything that depends on time was taken.
    parameters : their values.

    Examples
    --------
    >>> import tidegate as tg
    >>> rest = tg.steady_state(tg.ode(lambda t, y, p: [p["a"] - y["x"] ** 2], y0={"x": 1.0}, p={"a": 4.0}))
    >>> round(rest["x"], 9), rest.states
    (2.0, {'x': 2.0})
    """

    def __init__(
        self, source: Any, compiled: CompiledModel, standing: Standing, *, how: str, iterations: int, is_isolated: bool, given: Mapping[str, Any]
    ) -> None:
        self.source, self.given, self.compiled, self.standing = source, dict(given), compiled, standing
        self.how, self.iterations, self.is_isolated = how, iterations, is_isolated
        self.time = standing.time
        quantities = NamedValues(compiled)
        self.model_name = compiled.name
        every = quantities.names()
        values = {name: quantities.read(standing, {}, name) for name in every}
        own = set(quantities.names("parameter"))
        parameters: Any = ParameterValues()
        parameters.update({name: value for name, value in values.items() if name in own})
        self.parameters: dict[str, Any] = parameters
        self._values = {name: value for name, value in values.items() if name not in own}
        self._states = [name for name in quantities.names("state", "discrete", "input") if quantities.is_free(name)]

    def __getitem__(self, name: str) -> Any:
        """The value of a variable or of an element of one; an array for an array."""
        if name in self._values:
            return self._values[name]
        if isinstance(name, str) and name in self.compiled.located and name not in self.parameters:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            return NamedValues(self.compiled).read(self.standing, {}, name)
        raise unknown_name("variable", name, list(self._values), of=f"the steady state of {self.model_name}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    @property
    def states(self) -> dict[str, Any]:
        """What a start is made of: states, discrete variables, inputs."""
        return {name: self._values[name] for name in self._states}

    def simulation(self, **options: Any) -> Simulation:
        """A simulation that stands here, to be disturbed and advanced.

        Parameters
        ----------
        options : of ``tg.Simulation``; parameters are those of the steady state.

        Examples
        --------
        >>> import tidegate as tg
        >>> rest = tg.steady_state(tg.ode(lambda t, y, p: [p["a"] - y["x"]], y0={"x": 1.0}, p={"a": 4.0}))
        >>> run = rest.simulation()
        >>> run["a"] = 2.0
        >>> _ = run.advance(50.0)
        >>> print(f"{run['x']:.6f}")
        2.000000
        """
        chosen: dict[str, Any] = {"parameters": self.given, **options}
        found = Simulation(self.source, self.time, **chosen)
        found.set(self.states)
        return found

    def _rows(self) -> list[tuple[str, str, str]]:
        located = self.compiled.located
        return [(name, located[name].told(value), located[name].quantity.unit) for name, value in self._values.items()]

    def summary(self) -> str:
        """One line: of what, and how it was found."""
        own = "" if self.is_isolated else "; it belongs to the start values, others have others"
        return f"steady state of {self.model_name}, by {self.how} ({self.iterations} iterations){own}"

    def __repr__(self) -> str:
        return f"<{self.summary()[0].upper()}{self.summary()[1:]}>"

    def __str__(self) -> str:
        rows = self._rows()
        width = max((len(name) for name, _, _ in rows), default=0)
        return "\n".join([self.summary(), *(f"  {name:<{width}}  {value} {unit}".rstrip() for name, value, unit in rows)])

    def _repr_html_(self) -> str:
        cells = "".join(f"<tr><th style='text-align:left'>{escape(n)}</th><td>{escape(v)}</td><td>{escape(u)}</td></tr>" for n, v, u in self._rows())
        return f"<p><b>{escape(self.summary())}</b></p><table><tr><th>name</th><th>value</th><th>unit</th></tr>{cells}</table>"
