"""What index reduction has chosen and why, for messages and for whoever shows a model (stage: structure): plain texts and names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tidegate.names import listed, shortened
from tidegate.quick_dataclass import dataclass

__all__ = ["Demoted", "OpenGroup", "StateReport"]

_MOST: Final = 8
_TIMES: Final = {1: "once", 2: "twice"}


@dataclass(frozen=True, slots=True)
class Demoted:
    """A declared state that is no state.

    Parameters
    ----------
    name : of the element.
    equation : the constraint that determines it, as messages name equations.
    is_frozen : whether the constraint may cease to determine it, and no other choice is held ready.
    """

    name: str
    equation: str
    is_frozen: bool = False


@dataclass(frozen=True, slots=True)
class OpenGroup:
    """Declared states of which some are states, which ones changes while the model runs.

    Parameters
    ----------
    names : of the elements.
    n_states : how many of them are states.
    equations : the constraints between them.
    """

    names: tuple[str, ...]
    n_states: int
    equations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StateReport:
    """Chosen states.

    Parameters
    ----------
    states : elements that are states all the time.
    demoted : declared states that are algebraic.
    open : groups between which is chosen at every instant.
    differentiated : equations, as messages name them, with how often each was differentiated.
    """

    states: tuple[str, ...] = ()
    demoted: tuple[Demoted, ...] = ()
    open: tuple[OpenGroup, ...] = ()
    differentiated: tuple[tuple[str, int], ...] = ()

    @property
    def n_states(self) -> int:
        """How many states there are."""
        return len(self.states) + sum(group.n_states for group in self.open)

    def lines(self, most: int = _MOST) -> list[str]:
        r"""The report as text, of long lists the beginning.

        Examples
        --------
        >>> print(*StateReport(("a",), (Demoted("b", "equation 2 (a == b)"),), (), (("equation 2 (a == b)", 1),)).lines(), sep="\n")
        1 state: a
        b is no state: determined by equation 2 (a == b)
        equation 2 (a == b) was differentiated once
        """
        return [line for several in self._parts() for line in shortened(several, most)]

    def _parts(self) -> Iterator[Sequence[str]]:
        yield [f"{self.n_states} state{'s' * (self.n_states != 1)}: {listed(self._named(), _MOST) or 'none'}"]
        yield [
            f"{item.name} is no state: determined by {item.equation}" + (", chosen at the start once and for all" if item.is_frozen else "")
            for item in self.demoted
        ]
        yield [
            f"{group.n_states} of {listed(group.names, _MOST)} {'are states' if group.n_states > 1 else 'is a state'}, chosen while the model runs, "
            f"because of {listed(group.equations, 2)}"
            for group in self.open
        ]
        yield [f"{name} was differentiated {_TIMES.get(times, f'{times} times')}" for name, times in self.differentiated]

    def _named(self) -> Iterator[str]:
        yield from self.states
        for group in self.open:
            yield f"{group.n_states} of {listed(group.names, _MOST)}"
