"""Of what form the equations of a DAE are, asked of the block itself. In: a block at its start, or a run behind an event; out: its ``Equations``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tidegate.errors import CallbackError
from tidegate.frontends.dsblock.block import Block, CanBeTried, Entry, Reply, Run
from tidegate.frontends.dsblock.description import Description
from tidegate.frontends.dsblock.forms import Equations, dae_equations
from tidegate.frontends.dsblock.warned import said_once
from tidegate.model import Form

__all__ = ["probed_form", "require_form"]


def probed_form(block: Block, at: Entry) -> Equations:
    """Which derivatives enter the residuals, found out in a run that goes nowhere."""
    described = block.description
    with said_once():
        run, reply = block.tried(at) if isinstance(block, CanBeTried) else block.begin(at)
        begun = described if reply.x is None else replace(described, x0=(*reply.x.tolist(), *described.x0[len(reply.x) :]))
        n_states = len(at.x) if reply.n_states is None else reply.n_states
        found = dae_equations(begun, lambda x, xd: run.equations(replace(at, x=x, xd=xd)), n_states)
        run.end(at, is_well=True)
    return found


def require_form(described: Description, form: Equations, run: Run, entry: Entry, reply: Reply) -> None:
    """Refuse what makes derivatives enter a DAE otherwise than where that was found out: parameters and start values, or an event.

    Raises
    ------
    CallbackError : it does.
    """
    if described.form is not Form.DAE or described.algebraic is not None:
        return
    n, n_states = len(form.names), len(entry.x) if reply.n_states is None else reply.n_states
    x = np.append(entry.x, np.zeros(n))[:n_states]
    xd = np.zeros(n)
    for new, given in ((x, reply.x), (xd, entry.xd), (xd, reply.xd)):
        if given is not None:
            new[: len(given)] = given[: len(new)]
    if not n_states:
        return
    for rate in (xd, xd + 1.0):
        if not form.fits(lambda x, xd: run.equations(replace(entry, x=x, xd=xd)), x, rate):
            raise CallbackError(
                f"at t = {entry.time:.9g} derivatives enter the residuals of DSblock {described.name} in another way than where its model "
                f"was made, with x = {', '.join(form.names[int(k)] for k in form.algebraic) or 'none'} algebraic", time=entry.time,
                hint="parameters and start values belong to tg.simulate or tg.prepare; behind an event, too, the same x must be algebraic, and "
                "those that come later are states",
            )  # fmt: skip
