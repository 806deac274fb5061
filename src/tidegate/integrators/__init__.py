"""Integration methods behind one interface; ``choose`` makes the one that is asked for."""

from tidegate.integrators.choose import choose, method_of

__all__ = ["choose", "method_of"]
