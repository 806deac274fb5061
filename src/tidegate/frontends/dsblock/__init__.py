"""DSblock 3.3, the neutral interface itself: blocks of callbacks in Python (`tg.DSblock`), and what they answer."""

from tidegate.frontends.dsblock.answers import Accepted, EventAction, Happening, Ignored, Phase, Refused, Start, Warned
from tidegate.frontends.dsblock.declaration import Declaration
from tidegate.frontends.dsblock.interface import DSblock

__all__ = ["Accepted", "DSblock", "Declaration", "EventAction", "Happening", "Ignored", "Phase", "Refused", "Start", "Warned"]
