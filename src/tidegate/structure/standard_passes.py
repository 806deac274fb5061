"""What every model goes through, in order (stage: structure)."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Final

from tidegate.expressions import Expr
from tidegate.structure.aliases import eliminate_aliases
from tidegate.structure.analyse import check_structure
from tidegate.structure.cancellations import without_cancellations
from tidegate.structure.check_units import check_units
from tidegate.structure.continued_roots import continued_roots
from tidegate.structure.delays import delays_as_unknowns
from tidegate.structure.jumps_and_bends import jumps_and_bends
from tidegate.structure.loop_constraints import state_loops
from tidegate.structure.passes import Check, Pass
from tidegate.structure.reduce_index import reduce_index
from tidegate.structure.solve_explicitly import solve_explicitly
from tidegate.structure.stabilise import stabilise, unless_hdae
from tidegate.structure.steep_roots import steep_roots

__all__ = ["PASSES", "standard_passes"]


def standard_passes(*, avoided: Collection[Expr] = frozenset()) -> tuple[Pass, ...]:
    """All passes.

    Parameters
    ----------
    avoided : what must not be divided by.
    """
    solve = partial(solve_explicitly, avoided=avoided)
    return (
        delays_as_unknowns,
        without_cancellations,
        jumps_and_bends,
        steep_roots,
        stabilise,
        *map(unless_hdae, (Check(check_structure), Check(check_units), eliminate_aliases, state_loops, reduce_index, solve, continued_roots)),
    )


PASSES: Final = standard_passes()
