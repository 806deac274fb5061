"""What was started and did not move because something else was not: told when a run ends (stage: front end)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Final

from tidegate.errors import TidegateWarning
from tidegate.frontends.processes.flows import Continuous, Variable
from tidegate.names import listed

__all__ = ["Still"]

_NO_BODY: Final = "try: @env.continuous for a function that sets the rate at every time; what a process sets is 0 again at once"


class Still:
    """Notices variables that flow without a body, and bodies without a variable, through a whole run.

    A single variable without a rate is not told: bodies may set it later, and some by difference equations.
    """

    def __init__(self, variables: Sequence[Variable], bodies: Sequence[Continuous]) -> None:
        self._variables, self._bodies = variables, bodies
        self._first: dict[type, tuple[str, Any]] = {}  # of each kind, what was started first and when
        self._is_told = False

    def started(self, item: Any, now: float) -> None:
        """It takes part from now on."""
        kind: type[Any] = Variable if isinstance(item, Variable) else Continuous if isinstance(item, Continuous) else object
        if kind not in self._first:
            self._first[kind] = item.name, now

    def tell(self, now: float) -> None:
        """Warn, once, if time has passed over what stood still."""
        variable, body = self._first.get(Variable), self._first.get(Continuous)
        if self._is_told or (variable is None) == (body is None):
            return
        sentence = ""
        if body is None and variable is not None and now > variable[1]:
            named = [f"{one.name}.start()" for one in self._bodies]
            what = f"try: {listed(named, 3)}" if named else _NO_BODY
            sentence = f"{variable[0]} was started, but no continuous body: its rate is 0, and it keeps its state; {what}"
        elif variable is None and body is not None and now > body[1]:
            set_there = [one.name for one in self._variables if one.rate != 0.0]
            if set_there:
                whose = listed(set_there, 3)
                sentence = f"{body[0]} was started, but no variable: {whose} keeps its state whatever its rate; try: {set_there[0]}.start()"
        if sentence:
            self._is_told = True
            warnings.warn(sentence, TidegateWarning, stacklevel=4)
