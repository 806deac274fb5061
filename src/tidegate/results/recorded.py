"""Results whose attributes are made when they are first asked for (stage: results).

In: a recording, or how one is made, and facts that many results share. Out: a result that takes all of this up when somebody looks at it. Who runs
a model ten thousand times for a few end values does not pay for the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from tidegate.results.instead import no_result_attribute

__all__ = ["RECORDED", "Recorded", "RunStatus"]

RunStatus = Literal["finished", "terminated", "failed", "unfinished"]
_Told = tuple[Any, Mapping[str, Any], RunStatus, Any]  # a recording, facts, how the run ended, its source

# what a recording makes, each by one thread, as it lets go of what it was made from
RECORDED: Final = (
    "t", "values", "sensitivities", "events", "statistics", "interpolant", "dense_outputs", "parameters", "parameter_units", "options", "message",
)  # fmt: skip
_MAKING: Final = RLock()


class Recorded:
    """A result that may be of a recording."""

    _waiting: tuple[Callable[..., _Told], tuple[Any, ...]]

    @classmethod
    def recorded(cls, make: Callable[..., _Told], *given: Any) -> Self:
        """A result of a recording.

        Parameters
        ----------
        make : makes of what follows the recording, attributes that many results share, how the run ended, and its source.
        """
        result = cls.__new__(cls)
        result._waiting = make, given  # noqa: SLF001, its own: by its name it takes half the time
        return result

    if not TYPE_CHECKING:  # where a checker would take every name for one that there is

        def __getattr__(self, name: str) -> Any:
            """What is made when it is first asked for."""
            with _MAKING:
                own = self._taken_up()
                if name not in own and name in RECORDED and "_recording" in own:
                    own[name] = getattr(own["_recording"], name)
            if name not in own:
                raise no_result_attribute(self, name, own.get("columns", ()) if not name.startswith("_") else ())
            return own[name]

    def __dir__(self) -> list[str]:
        """For completion, with what is still to be made."""
        self._taken_up()
        return sorted({*super().__dir__(), *RECORDED})

    def _taken_up(self) -> dict[str, Any]:
        """Its attributes so far, with the recording and the facts among them."""
        own = vars(self)
        with _MAKING:
            waiting: tuple[Callable[..., _Told], tuple[Any, ...]] | None = own.pop("_waiting", None)
            if waiting is not None:
                make, given = waiting
                recording, facts, status, source = make(*given)
                # what somebody has set since stays
                own.update({**facts, "_recording": recording, "status": status, "source": source, "is_part": False, **own})
        return own
