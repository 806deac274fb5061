"""DSblock 3.3, the neutral interface itself: blocks of callbacks in Python (`tg.DSblock`), what they answer, and connections of blocks."""

from tidegate.frontends.dsblock.answers import Accepted, EventAction, Happening, Ignored, Phase, Refused, Start, Warned
from tidegate.frontends.dsblock.compiled import CompiledDSblock, build, load
from tidegate.frontends.dsblock.declaration import Declaration
from tidegate.frontends.dsblock.export import export
from tidegate.frontends.dsblock.instance import Instance
from tidegate.frontends.dsblock.interface import DSblock
from tidegate.frontends.dsblock.join import Connection, join
from tidegate.frontends.dsblock.linear import linear
from tidegate.frontends.dsblock.shared import shared

__all__ = [
    "Accepted", "CompiledDSblock", "Connection", "DSblock", "Declaration", "EventAction", "Happening", "Ignored", "Instance", "Phase", "Refused",
    "Start", "Warned", "build", "export", "join", "linear", "load", "shared",
]  # fmt: skip
