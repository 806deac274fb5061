"""A block called by hand, in the order that DSblock 3.3 asks for: what is called before or after its time is refused, with both phases.

Source: Otter, DSblock 3.3 (DLR 1994), the order of BLOCKB, BLOCKP, BLOCKS, BLOCKF ... BLOCKT, BLOCKC.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import DSblockOrderError, UsageError
from tidegate.frontends.dsblock.answers import Phase
from tidegate.frontends.dsblock.block import Action, Block, Entry, Happened, Reply, Run
from tidegate.frontends.dsblock.checks import value_problems
from tidegate.frontends.dsblock.description import ParameterEntry, ParameterKind, SignalEntry, SignalKind
from tidegate.frontends.dsblock.interface import DSblock
from tidegate.frontends.dsblock.named import Named, flat
from tidegate.frontends.dsblock.python_block import PythonBlock
from tidegate.names import unknown_name

__all__ = ["Instance"]

FloatArray = NDArray[np.float64]
_UNDER_WAY: Final = (Phase.STARTED, Phase.RUNNING)
Values = Mapping[str, Any] | Sequence[Any] | FloatArray


class Instance:
    """One block under the hand of whoever simulates it, or tries its callbacks.

    Parameters
    ----------
    block : what is called.

    Attributes
    ----------
    phase : DEFINED; STARTED by ``start`` and RUNNING by what is asked then; DEFINED again by ``terminate``; CLOSED by ``close``.

    Examples
    --------
    >>> import tidegate as tg
    >>> block = tg.dsblock.Instance(tg.dsblock.linear([[-2.0]], [[1.0]], [[3.0]], x0=[5.0]))
    >>> block.outputs(0.0, [5.0], [1.0])
    Traceback (most recent call last):
    tidegate.errors.DSblockOrderError: outputs of DSblock linear are asked for in the phases started or running; it is defined
      try: call start first
    >>> _ = block.start(0.0)
    >>> block.equations(0.0, [5.0], [1.0]).flat.tolist(), block.outputs(0.0, [5.0], [1.0]).flat.tolist()
    ([-9.0], [15.0])
    """

    def __init__(self, block: DSblock | Block) -> None:
        self.block: Block = PythonBlock(block.block_name, block, block.declared) if isinstance(block, DSblock) else block
        described = self.block.description
        self.phase = Phase.DEFINED
        self._entries = {kind: described.of_kind(kind) for kind in SignalKind}
        self._parameters = tuple(entry for kind in ParameterKind for entry in described.parameters if entry.kind is kind)
        self.parameters = np.array([value for entry in self._parameters for value in entry.default], dtype=float)
        self._run: Run | None = None
        self._sizes = (described.size(SignalKind.STATE), described.size(SignalKind.INDICATOR))
        self._directions = np.zeros(self._sizes[1], dtype=np.int64)

    def _require(self, what: str, phases: Sequence[Phase], hint: str) -> None:
        if self.phase not in phases:
            wanted = " or ".join(phase.value for phase in phases)
            plural = "phases" if len(phases) > 1 else "phase"
            raise DSblockOrderError(f"{what} in the {plural} {wanted}; it is {self.phase.value}", hint=hint)

    @property
    def _name(self) -> str:
        return f"DSblock {self.block.description.name}"

    def set_parameter(self, name: str, value: Any) -> None:
        """Change one; the block is told when the next run starts.

        Raises
        ------
        DSblockOrderError : a run is under way.
        UsageError : there is none of that name, or it cannot have this value.
        """
        self._require(f"parameters of {self._name} can be changed", (Phase.DEFINED,), "call terminate first")
        first = 0
        for entry in self._parameters:
            if entry.name.upper() == name.upper():
                new = flat(f"parameters of {self._name}", {entry.name: value}, (entry,))
                if problems := list(value_problems(entry, new.tolist())):
                    raise UsageError(f"{self._name}: {'; '.join(problems)}")
                self.parameters[first : first + entry.size] = new
                return
            first += entry.size
        raise unknown_name(f"{self._name} has no parameter {name!r}", name, [entry.name for entry in self._parameters])

    def start(self, time: float, x: Values | None = None, u: Values | None = None) -> Reply:
        """A run begins; what the block wants for it."""
        self._require(f"a run of {self._name} is started", (Phase.DEFINED,), "call terminate first")
        described = self.block.description
        at = self._at(time, list(described.x0) if x is None else x, u, described.xd0 or None)
        self._run, reply = self.block.begin(at)
        self.phase = Phase.STARTED
        self._keep(reply)
        return reply

    def _keep(self, reply: Reply) -> None:
        if reply.action is Action.CONTINUE:
            return
        old = self._sizes
        self._sizes = (old[0] if reply.n_states is None else reply.n_states, old[1] if reply.n_indicators is None else reply.n_indicators)

    def _at(self, time: float, x: Values, u: Values | None, xd: Values | None) -> Entry:
        states = self._leading(SignalKind.STATE, self._sizes[0])
        inputs = self._entries[SignalKind.INPUT]
        given = [0.0] * sum(entry.size for entry in inputs) if u is None else u
        return Entry(
            time, flat(f"x of {self._name}", x, states), None if xd is None else flat(f"xdot of {self._name}", xd, states),
            flat(f"u of {self._name}", given, inputs), self.parameters, self._sizes[1],
        )  # fmt: skip

    def _leading(self, kind: SignalKind, n: int) -> tuple[SignalEntry, ...]:
        return tuple(entry for entry in self._entries[kind] if entry.first + entry.size <= n)

    def _asked(self, what: str) -> Run:
        self._require(f"{what} of {self._name} are asked for", _UNDER_WAY, "call start first" if self.phase is Phase.DEFINED else "it is over")
        self.phase = Phase.RUNNING
        assert self._run is not None
        return self._run

    def _named(self, what: str, entries: Sequence[SignalEntry | ParameterEntry], vector: FloatArray) -> Named:
        return Named(f"{what} of {self._name}", entries, vector)

    def equations(self, time: float, x: Values, u: Values | None = None, xdot: Values | None = None) -> Named:
        """Derivatives of an ODE, residuals of a DAE, by the names of the states."""
        run = self._asked("equations")
        return self._named("equations", self._leading(SignalKind.STATE, self._sizes[0]), run.equations(self._at(time, x, u, xdot)))

    def outputs(self, time: float, x: Values, u: Values | None = None, xdot: Values | None = None) -> Named:
        """Y."""
        run = self._asked("outputs")
        return self._named("outputs", self._entries[SignalKind.OUTPUT], run.outputs(self._at(time, x, u, xdot)))

    def indicators(self, time: float, x: Values, u: Values | None = None) -> Named:
        """Z."""
        run = self._asked("indicators")
        return self._named("indicators", self._entries[SignalKind.INDICATOR], run.indicators(self._at(time, x, u, None)))

    def communication(self, time: float, x: Values, u: Values | None = None, xdot: Values | None = None) -> Named:
        """W."""
        run = self._asked("auxiliary variables")
        return self._named("communication", self._entries[SignalKind.AUXILIARY], run.auxiliaries(self._at(time, x, u, xdot)))

    def event(
        self, time: float, x: Values, u: Values | None = None, xdot: Values | None = None, *, is_time: bool = False, is_step: bool = False,
        zero: Collection[str] = (),
    ) -> Reply:  # fmt: skip
        """Something happens: a time event, a step event, indicators that are zero."""
        run = self._asked("events")
        names = self.block.description.names(SignalKind.INDICATOR)
        if unknown := [name for name in zero if name.upper() not in {each.upper() for each in names}]:
            raise unknown_name(f"{self._name} has no indicator {unknown[0]!r}", unknown[0], names)
        wanted = {name.upper() for name in zero}
        is_zero = np.array([name.upper() in wanted for name in names], dtype=bool)
        happened = Happened(is_time, bool(is_zero.any()), is_step, is_zero, self._directions, *self._sizes)
        reply = run.event(happened, self._at(time, x, u, xdot))
        self._keep(reply)
        return reply

    def terminate(self, time: float, x: Values, u: Values | None = None, *, is_well: bool = True) -> None:
        """The run is over; parameters may be changed, and another may start."""
        self._require(f"a run of {self._name} is ended", _UNDER_WAY, "call start first")
        assert self._run is not None
        self._run.end(self._at(time, x, u, None), is_well=is_well)
        described = self.block.description
        self._run, self.phase = None, Phase.DEFINED
        self._sizes = (described.size(SignalKind.STATE), described.size(SignalKind.INDICATOR))

    def close(self) -> None:
        """Nothing more is asked of the block."""
        self._require(f"{self._name} is closed", (Phase.DEFINED,), "call terminate first")
        close = getattr(getattr(self.block, "callbacks", None), "close", None)
        if callable(close):
            close()
        self.phase = Phase.CLOSED
