"""The five forms in which an HDAE can be solved: which equations each uses, and which of them keep the solution where it is.

Source: Otter, DSblock 3.3 (DLR 1994), and Fuehrer's five options of ODASSL there. In: an option and the sizes of F1 ... F5. Out: the form, or why it
cannot be. Every equation beyond those that determine the unknowns has a multiplier: x1' = F1 - (dF4/dx1)' mu4 - (dF5/dx1)' mu5 (Gear, Gupta and
Leimkuhler 1985 for F5 beside F4); where all are satisfied the multipliers are zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tidegate.errors import UsageError
from tidegate.names import suggestion
from tidegate.quick_dataclass import dataclass

__all__ = ["STABILISATIONS", "Stabilisation", "chosen_stabilisation"]


@dataclass(frozen=True)
class Stabilisation:
    """One of the forms.

    Parameters
    ----------
    last : the part that determines x3: 3, or its integral 4.
    multiplied : the parts that stabilise, and have multipliers.
    """

    last: int
    multiplied: tuple[int, ...]


STABILISATIONS: Final = {
    "index1": Stabilisation(3, ()),
    "index1_partly_stabilised": Stabilisation(3, (4,)),
    "index1_stabilised": Stabilisation(3, (4, 5)),
    "index2": Stabilisation(4, ()),
    "index2_stabilised": Stabilisation(4, (5,)),
}


def chosen_stabilisation(name: str, wanted: object, parts: Sequence[int]) -> str:
    """The option that a model is solved with.

    Parameters
    ----------
    name : of the model, for messages.
    wanted : what the user chose; None for the usual: "index2_stabilised", and where there is no F4, F5 beside F3.
    parts : sizes of F1 ... F5.

    Raises
    ------
    UsageError : there is none of this name, or the model lacks equations that it uses.
    """
    _, _, n3, n4, n5 = parts
    if wanted is None:
        return "index2_stabilised" if n4 else "index1_stabilised" if n5 else "index1"
    if not isinstance(wanted, str) or wanted not in STABILISATIONS:
        known = list(STABILISATIONS)
        raise UsageError(f"hdae={wanted!r}", hint=suggestion(str(wanted), known, f"one of {', '.join(known)}"))
    form = STABILISATIONS[wanted]
    if (form.last == 4 and n4 != n3) or (form.multiplied == (4,) and not n4):
        raise UsageError(
            f"hdae={wanted!r} uses F4, which {name} does not have",
            hint="hdae='index1'" + (", or 'index1_stabilised', which uses F5" if n5 else ", or give f4, of which F3 is the derivative"),
        )
    return wanted
