"""What others call the parts of a result, and do with it (stage: results). In: a name that it does not have, a call; out: what to write instead."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn

from tidegate.errors import WrongCallError
from tidegate.quick_dataclass import dataclass
from tidegate.results.columns import Column
from tidegate.wrong_names import no_attribute

__all__ = ["OF_A_RESULT", "OF_EVENTS", "WORDS_OF_AN_EVENT", "WORDS_OF_A_LOG", "NoNumber", "no_result_attribute"]

_FRAME: Final = "result.to_dataframe() is a table of pandas, result.dataset one of xarray"
_WORDS_OF_A_RESULT: Final = {
    "y": 'result["x"] is a variable by its name, result.final all last values; solve_ivp gives results in SciPy\'s words',
    "sol": "result.at(0.5) is the dense solution at a time",
    "values": 'result["x"].values are those of a variable',
    "data": 'result["x"] is a variable by its name',
    "columns": "result.names are the variables",
    "variables": "result.names are the variables",
    "states": "result.names are the variables",
    "t_events": "result.events.times are the times of events",
    "y_events": "result.events[0].before and .after are the values around an event",
    "nfev": "result.statistics has the counts of a run",
    "njev": "result.statistics has the counts of a run",
    "nlu": "result.statistics has the counts of a run",
    "stats": "result.statistics has the counts of a run",
    "get": 'result["x"] is a variable by its name',
    "df": _FRAME, "to_pandas": _FRAME, "to_xarray": _FRAME, "dataframe": _FRAME, "pandas": _FRAME,
    "show": "print(result) shows it, result.plot() draws it",
    "print": "print(result) shows it",
    "interp": "result.at(times) has the values at times",
    "interpolate": "result.at(times) has the values at times",
    "write": 'result.save("run.nc") writes it',
    "to_netcdf": 'result.save("run.nc") writes it',
}  # fmt: skip
WORDS_OF_AN_EVENT: Final = {
    "t": "event.time", "t_event": "event.time", "when": "event.time",
    "name": "event.causes", "cause": "event.causes", "condition": "event.causes", "message": "event.causes",
    "x": "event.before and event.after are the values around it", "y": "event.before and event.after are the values around it",
    "state": "event.before and event.after are the values around it", "values": "event.before and event.after are the values around it",
    "type": "event.kind",
}  # fmt: skip
_LOG_FRAME: Final = "events.to_dataframe() is a table of pandas"
WORDS_OF_A_LOG: Final = {
    "t": "events.times", "time": "events.times",
    "names": "[event.causes for event in events]", "causes": "[event.causes for event in events]",
    "values": "events[0].before and .after are the values around an event", "y": "events[0].before and .after are the values around an event",
    "df": _LOG_FRAME, "to_pandas": _LOG_FRAME, "to_csv": _LOG_FRAME, "dataframe": _LOG_FRAME,
    "plot": "result.plot(events=True) marks them",
}  # fmt: skip


def no_result_attribute(result: object, name: str, columns: Iterable[Column]) -> AttributeError:
    """What is said of a name that is no attribute of a result, which may be a variable's."""
    if any(column.name == name for column in columns):
        return AttributeError(f'a result has no attribute {name!r}; the variable is result["{name}"]', name=name, obj=result)
    return no_attribute(result, name, "result", _WORDS_OF_A_RESULT)


@dataclass(frozen=True)
class Instead:
    """What a thing is, in words, and what to write where it is called, calculated with or assigned to."""

    name: str
    of_call: str
    of_number: str
    of_assignment: str


OF_A_RESULT: Final = Instead(
    "a result",
    'result.at(0.5) is what it holds at a time, result["x"] a variable',
    'result["x"] is a variable and result.final["x"] its last value; result.compare(other) says how far two are apart',
    'a copy can be: values = result["x"].values.copy(); frame = result.to_dataframe()',
)
OF_EVENTS: Final = Instead(
    "a log of events",
    "result.events[0] is the first event, result.events.of('state') are those of a kind",
    "len(result.events) is how many there are, result.events.times are their times",
    "a copy can be: frame = result.events.to_dataframe()",
)


class NoNumber:
    """What is neither a function nor a number, and says what to write where it is taken for one."""

    __slots__ = ()
    _instead: ClassVar[Instead]

    if not TYPE_CHECKING:  # a checker shall still say that these cannot be

        def __call__(self, *_args: Any, **_kwargs: Any) -> NoReturn:  # noqa: D102 - there is nothing to call
            raise WrongCallError(f"{self._instead.name} is no function", hint=self._instead.of_call)

        def __setitem__(self, _key: Any, _value: Any) -> NoReturn:
            raise WrongCallError(f"{self._instead.name} is not changed", hint=self._instead.of_assignment)

        def __delitem__(self, _key: Any) -> NoReturn:
            raise WrongCallError(f"nothing is taken out of {self._instead.name}", hint=self._instead.of_assignment)

        def _number(self, *_args: Any) -> NoReturn:
            raise WrongCallError(f"{self._instead.name} is no number", hint=self._instead.of_number)

        __float__ = __int__ = __complex__ = __round__ = __neg__ = __abs__ = _number
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = _number
        __lt__ = __le__ = __gt__ = __ge__ = _number
