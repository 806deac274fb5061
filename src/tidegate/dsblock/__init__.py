"""DSblock 3.3 under a short name: ``from tidegate.dsblock import Start`` is ``tg.dsblock.Start``."""

from tidegate.frontends import dsblock
from tidegate.frontends.dsblock import *  # noqa: F403, every name of it

__all__ = dsblock.__all__  # pyright: ignore[reportUnsupportedDunderAll] - the names of the other package
