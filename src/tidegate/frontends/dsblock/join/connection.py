"""`tg.dsblock.join`: blocks whose outputs drive inputs of others, as one block. In: blocks, links; out: what ``tg.simulate`` runs, or joins again.

Source: Otter, DSblock 3.3 (DLR 1994), utility BLO3UX: three ways in which connected blocks are an ODE or a DAE, and their rule for any number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from tidegate.errors import UsageError
from tidegate.frontends.dsblock.block import Block
from tidegate.frontends.dsblock.description import Description, SignalKind, element_names
from tidegate.frontends.dsblock.join.described import layout
from tidegate.frontends.dsblock.join.joined_block import JoinedBlock, called
from tidegate.frontends.dsblock.join.order import order
from tidegate.frontends.dsblock.join.wiring import OUTSIDE, Part, Wiring, wiring
from tidegate.frontends.dsblock.proposals import OWN_OPTIONS, RunOptions, proposed
from tidegate.frontends.dsblock.runnable import Runnable
from tidegate.model import Form
from tidegate.model.callables import CallableModel
from tidegate.names import listed, suggestion
from tidegate.wrong_calls import explained

__all__ = ["Connection", "join"]


@runtime_checkable
class _Source(Protocol):
    """A block as users have it: a ``DSblock``, a compiled one, a connection."""

    def as_block(self) -> Block:
        """Its callbacks on flat vectors."""
        ...


@explained
class Connection:
    """Connected blocks: what ``join`` returns. It is run, and joined again, as a ``DSblock`` is."""

    own_options: Sequence[str] = OWN_OPTIONS

    def __init__(self, block: JoinedBlock) -> None:
        self.block = block

    @property
    def declared(self) -> Description:
        """Its signals and parameters, by their names in the connection."""
        return self.block.description

    @property
    def form(self) -> str:
        """What the whole is: "ode", "dae" where derivatives or inputs are unknowns, "hdae" where a block is."""
        return self.declared.form.name.lower()

    @property
    def torn(self) -> tuple[str, ...]:
        """Elements of inputs that are unknowns, since they close a loop."""
        plan = self.block.plan
        return tuple(plan.wired.input_name(*one) for one in plan.order.torn)

    def with_options(self, t_span: tuple[float, float] | None, options: Mapping[str, Any]) -> tuple[Runnable, tuple[float, float], Mapping[str, Any]]:
        """The connection with options of a run, the time span, and the options that are left; they are those of a ``DSblock``."""
        span, chosen, own = proposed(self.declared, t_span, options)
        return Runnable(self.block.within(own.environment), own), span, chosen

    def as_block(self) -> Block:
        """Its callbacks on flat vectors."""
        return self.block

    def callables(self) -> CallableModel:
        """What is run: functions of flat vectors."""
        return Runnable(self.block, RunOptions({})).callables()

    def __repr__(self) -> str:
        return f"<connection {self.declared.name} of {listed(part.name for part in self.block.plan.wired.parts)}>"


@explained
def join(
    blocks: Mapping[str, Any],
    links: Mapping[str, str],
    *,
    inputs: Mapping[str, str | Sequence[str]] | None = None,
    outputs: Mapping[str, str] | Sequence[str] | None = None,
    guesses: Mapping[str, ArrayLike] | None = None,
    name: str = "connection",
) -> Connection:
    """Connect blocks: outputs drive inputs. Everything in them is called ``block.NAME``, in results, parameters, events and messages.

    Outputs that depend on no input at once are computed first, so that most connections of ODEs are ODEs. Where outputs and inputs close a loop, it
    is torn at as few elements of inputs as possible; these are unknowns of a DAE.

    Parameters
    ----------
    blocks : by the name that each has here: a ``DSblock``, or another connection.
    links : by input the output that drives it, ``{"two.U": "one.Y"}``; of arrays also single elements, ``"two.U[1]"``. Shapes must agree.
    inputs : inputs of the connection by name, each with the input, or inputs, that it drives. Other inputs that nothing drives stay inputs, under
        their names ``block.NAME``.
    outputs : which outputs other blocks can be driven by when this is connected again: by new names, or a list; all of them where it is not given.
        The others are only recorded.
    guesses : by input, values from which loops are solved at the start; zero where they are not given.
    name : what messages call the connection.

    Raises
    ------
    InvalidModelError : names that do not exist, shapes that do not agree, inputs with two drivers: all of it together.
    UsageError : no blocks, or something that is none; beside a block of the form HDAE a DAE with a singular matrix before its derivatives.
    SingularSystemError : when it is run: a loop has no solution, or many.
    InitializationError : likewise: a loop was not solved.

    Examples
    --------
    >>> import tidegate as tg
    >>> class Lag(tg.DSblock):
    ...     def define(self, declare):
    ...         declare.state("X", start=1.0)
    ...         declare.input("U")
    ...         declare.output("Y")
    ...         declare.real("T", 1.0)
    ...         declare.outputs_depend_on(inputs=False)
    ...
    ...     def derivatives(self, t, x, u, p, m):
    ...         return (u.U - x.X) / p.T
    ...
    ...     def outputs(self, t, x, u, p, m):
    ...         return x.X
    >>> both = tg.dsblock.join({"one": Lag(), "two": Lag()}, {"one.U": "two.Y"})
    >>> result = tg.simulate(both, (0, 1), parameters={"one.T": 2.0}, inputs={"two.U": 0.0}, rtol=1e-9)
    >>> both.form, f"{result.final['one.X']:.6f}"
    ('ode', '0.845182')
    """
    if not blocks:
        raise UsageError("join: there are no blocks", hint='give them by name: tg.dsblock.join({"one": a, "two": b}, links={...})')
    parts = [Part(str(key), called(_block(str(key), value), str(key))) for key, value in blocks.items()]
    _check_forms(parts)
    wired = wiring(parts, links, inputs, outputs)
    values = _guesses(wired, guesses or {})
    ordered = order(wired, set(values))
    if unused := [one for one in values if one not in ordered.torn]:
        torn = [wired.input_name(*one) for one in ordered.torn]
        where = f"loops are torn at {listed(torn)}; give guesses for these" if torn else "no loop of this connection has to be solved"
        raise UsageError(f"join: no guess is needed for {listed(wired.input_name(*one) for one in unused)}", hint=where)
    text = f"connection of {listed(f'{part.name} ({part.described.text})' if part.described.text else part.name for part in parts)}"
    return Connection(JoinedBlock(layout(name, text[:132], wired, ordered, values)))


def _check_forms(parts: Sequence[Part]) -> None:
    """Blocks with and without F4 together are not of the form HDAE.

    Raises
    ------
    UsageError : naming the blocks.
    """
    constrained = [part for part in parts if part.described.form is Form.HDAE]
    if not constrained:
        return
    without = [part.name for part in constrained if part.described.parts[2] and not part.described.parts[3]]
    if without and any(part.described.parts[3] for part in constrained):
        raise UsageError(
            f"join: {listed(without)} has F3 and no F4, and others have F4", hint="give F4, of which F3 is the derivative, to all of them or to none"
        )


def _block(name: str, source: Any) -> Block:
    if not isinstance(source, _Source) or isinstance(source, type):
        what = f"the class {source.__name__}" if isinstance(source, type) else f"a {type(source).__name__}"
        hint = f"write {source.__name__}()" if isinstance(source, type) else "give a DSblock, or a connection of some"
        raise UsageError(f"join: {name} is {what}, and no DSblock", hint=hint)
    return source.as_block()


def _guesses(wired: Wiring, guesses: Mapping[str, ArrayLike]) -> dict[tuple[int, int], float]:
    """Values by element of an input."""
    found: dict[tuple[int, int], float] = {}
    known: dict[str, list[tuple[int, int]]] = {}
    for number, part in enumerate(wired.parts):
        for entry in part.described.of_kind(SignalKind.INPUT):
            elements = [(number, entry.first + k) for k in range(entry.size)]
            known[f"{part.name}.{entry.name}".upper()] = elements
            known |= {f"{part.name}.{one}".upper(): [elements[k]] for k, one in enumerate(element_names(entry.name, entry.shape)) if entry.shape}
    for written, value in guesses.items():
        elements = known.get(written.upper().replace(" ", ""))
        if elements is None:
            raise UsageError(f"join: there is no input {written!r} to guess", hint=suggestion(written, known, f"inputs are {listed(known)}"))
        numbers = np.asarray(value, dtype=float)
        if numbers.size not in (1, len(elements)):
            raise UsageError(f"join: the guess for {written} has {numbers.size} values, and the input {len(elements)}")
        given = np.broadcast_to(numbers.ravel(order="F"), len(elements)).tolist()
        found |= {one: float(v) for one, v in zip(elements, given, strict=True) if wired.driver[one[0]][one[1]] != OUTSIDE}
        if any(wired.driver[part][k] == OUTSIDE for part, k in elements):
            raise UsageError(f"join: {written} is driven by no block, so that there is nothing to guess", hint="give it in inputs= of the run")
    return found
