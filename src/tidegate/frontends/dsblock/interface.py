"""`tg.DSblock`: a system written as the callbacks of Otter's neutral interface (DSblock 3.3, DLR 1994), in Python.

One class stands for BLOCKB ... BLOCKV: ``define`` says what there is, every other callback is there or not. What a run remembers are attributes
of ``m``.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from tidegate.errors import UsageError
from tidegate.frontends.dsblock.block import Block
from tidegate.frontends.dsblock.declaration import Declaration
from tidegate.frontends.dsblock.description import Description, SignalKind
from tidegate.frontends.dsblock.messages import MessageValues, message
from tidegate.frontends.dsblock.proposals import OWN_OPTIONS, Environment, RunOptions, proposed
from tidegate.frontends.dsblock.python_block import CALLBACKS, PythonBlock
from tidegate.frontends.dsblock.runnable import Runnable
from tidegate.frontends.dsblock.warned import warn
from tidegate.model import Form
from tidegate.model.callables import CallableModel
from tidegate.names import close_names
from tidegate.wishes import RetryStep

__all__ = ["DSblock"]

_NEEDED: Final = {SignalKind.OUTPUT: "outputs", SignalKind.INDICATOR: "indicators", SignalKind.AUXILIARY: "communication"}
_EQUATIONS: Final = {Form.ODE: "derivatives", Form.DAE: "residual", Form.HDAE: "parts"}


class DSblock:
    """A system as callbacks. Write a subclass; only ``define`` must be there, and what its declarations ask for.

    ====================================================  ==================================================================================
    ``define(self, declare)``                             names signals and parameters: ``declare.state(...)``, ``.input``, ``.real`` ...
    ``derivatives(self, t, x, u, p, m)``                  of the states, by name or in the order of declaration
    ``residual(self, t, x, xdot, u, p, m)``               of a DAE: zero where its equations hold
    ``parts(self, which, t, x, u, p, m)``                 of an HDAE: a dict of F1 ... F5 by their numbers, those in ``which`` at least
    ``outputs(self, t, x, u, p, m)``                      of declared outputs
    ``indicators(self, t, x, u, p, m)``                   of declared indicators; a zero crossing is a state event
    ``communication(self, t, x, u, p, m)``                of declared auxiliary variables
    ``step_condition(self, t, x, u, p, m)``               whether the step just completed asks for an event
    ``start(self, t0, x0, u0, p, m)``                     at the start of a run: ``Start`` or None
    ``event(self, happening, t, x, u, p, m)``             at an event, once: ``EventAction`` or None
    ``parameter_changed(self, name, p, x0)``              ``Accepted``, ``Warned``, ``Refused`` or ``Ignored``
    ``terminate(self, is_well, t, x, u, p, m)``           the run is over
    ====================================================  ==================================================================================

    ``x``, ``u`` and ``p`` answer to names (``x.height``, ``x["height"]``), indices and unpacking; ``m`` is the memory of one run, with whatever
    attributes the callbacks give it. ``outputs``, ``communication`` and ``event`` of a DAE are given ``xdot`` behind ``x`` as well.

    Examples
    --------
    >>> import tidegate as tg
    >>> class Ball(tg.DSblock):
    ...     def define(self, declare):
    ...         declare.state("height", start=1.0)
    ...         declare.state("speed")
    ...         declare.indicator("contact")
    ...         declare.real("g", 9.81, minimum=0)
    ...
    ...     def derivatives(self, t, x, u, p, m):
    ...         return {"height": x.speed, "speed": -p.g}
    ...
    ...     def indicators(self, t, x, u, p, m):
    ...         return {"contact": x.height}
    ...
    ...     def start(self, t0, x0, u0, p, m):
    ...         return tg.dsblock.Start(directions={"contact": -1})
    ...
    ...     def event(self, happening, t, x, u, p, m):
    ...         return tg.dsblock.EventAction(x={"speed": -0.8 * x.speed})
    >>> result = tg.simulate(Ball(), (0, 1), rtol=1e-8)
    >>> [f"{event.time:.6f}" for event in result.events]
    ['0.451524']
    """

    own_options: Sequence[str] = OWN_OPTIONS
    environment: Environment = Environment()
    description: str = ""
    version: str = ""
    name: str = ""
    message_file: str = ""

    def define(self, declare: Declaration) -> None:
        """Name signals and parameters."""
        raise NotImplementedError

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, value in vars(cls).items():
            if name in CALLBACKS or name.startswith("_") or name == "define" or not callable(value):
                continue
            if close := close_names(name, CALLBACKS, 0.85):
                raise UsageError(f"{cls.__name__}.{name} is no callback of a DSblock", hint=f"did you mean {close[0]}?")

    @property
    def block_name(self) -> str:
        """What messages and results call it."""
        return self.name or type(self).__name__

    @cached_property
    def declared(self) -> Description:
        """What ``define`` has declared.

        Raises
        ------
        InvalidModelError : naming everything that cannot be, callbacks that are missing included.
        """
        if type(self).define is DSblock.define:
            raise UsageError(f"{type(self).__name__} has no define", hint="write define(self, declare), which names states, inputs and parameters")
        declaration = Declaration(self.block_name)
        self.define(declaration)
        described = declaration.description(
            [callback for callback in CALLBACKS if self.has(callback)], outputs_may_retry=self._outputs_may_retry(),
            text=self.description, version=self.version,
        )  # fmt: skip
        missing = [callback for kind, callback in _NEEDED.items() if described.size(kind) and not self.has(callback)]
        if described.size(SignalKind.STATE) and not self.has(_EQUATIONS[described.form]):
            missing.insert(0, _EQUATIONS[described.form])
        if missing:
            raise UsageError(f"{self.block_name} declares what needs {', '.join(missing)}", hint=f"write {missing[0]}(self, t, x, u, p, m)")
        return described

    def message(
        self, number: int, text: str, *, integers: Sequence[int] = (), reals: Sequence[float] = (), doubles: Sequence[float] = (),
        texts: Sequence[str] = (),
    ) -> str:  # fmt: skip
        """The message of a number in ``message_file``, with values in place of ``<I1>``, ``<R1>``, ``<D1>``, ``<C1>``; ``text`` where there is none.

        A relative file name is looked for beside the file of the class. Raise the message, or hand it to ``self.warn``.
        """
        module = sys.modules.get(type(self).__module__)
        file = getattr(module, "__file__", None)
        folders = [] if file is None else [Path(file).parent]
        return message(number, text, self.message_file, MessageValues(integers, reals, doubles, texts), folders)

    def warn(self, text: str) -> None:
        """Say something to the user, as a ``DSblockWarning``, and go on."""
        warn(f"DSblock {self.block_name}: {text}")

    def _outputs_may_retry(self) -> bool:
        code = getattr(getattr(self, "outputs", None), "__code__", None)
        return code is not None and RetryStep.__name__ in code.co_names

    def has(self, callback: str) -> bool:
        """Whether a callback is written."""
        return callable(getattr(self, callback, None))

    def with_options(self, t_span: tuple[float, float] | None, options: Mapping[str, Any]) -> tuple[Runnable, tuple[float, float], Mapping[str, Any]]:
        """The block with options of a run, the time span, and the options that are left.

        ``inputs`` are by name functions of time, numbers, or samples (times, values); ``communication``, ``store_priority`` and ``max_evaluations``
        are in the manual.
        """
        span, chosen, own = proposed(self.declared, t_span, options)
        return Runnable(PythonBlock(self.block_name, self, self.declared, own.environment), own), span, chosen

    def as_block(self) -> Block:
        """Its callbacks on flat vectors: what connections are made of."""
        return PythonBlock(self.block_name, self, self.declared)

    def callables(self) -> CallableModel:
        """What is run: functions of flat vectors."""
        return Runnable(self.as_block(), RunOptions({})).callables()

    def __repr__(self) -> str:
        return f"<DSblock {self.block_name}>"
