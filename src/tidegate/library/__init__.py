"""Parts of physical systems, written as a user writes components: electrical, translational, rotational, thermal, fluid, signals.

Each domain is a module, each part a class: ``tg.library.electrical.Resistor(R=10.0)``. There is one rule of signs: what flows into a part through a
connector is positive.
"""

from tidegate.library import electrical, fluid, rotational, thermal, translational

__all__ = ["electrical", "fluid", "rotational", "thermal", "translational"]
