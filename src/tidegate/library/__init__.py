"""Parts of physical systems, written as a user writes components: electricity, motion, heat, fluids, and machines between them.

Each domain is a module, each part a class: ``tg.library.electrical.Resistor(R=10.0)``. There is one rule of signs: what flows into a part through a
connector is positive. Blocks of ``tg.blocks`` are parts as they are.
"""

from tidegate.library import electrical, fluid, machines, rotational, thermal, translational

__all__ = ["electrical", "fluid", "machines", "rotational", "thermal", "translational"]
