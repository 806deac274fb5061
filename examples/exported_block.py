"""A thermostat written as a block in C, compiled, loaded, and run: it does what the model does."""

import tempfile
from collections.abc import Iterator
from typing import Any

import tidegate as tg


class Room(tg.Component):
    """A room, and a heater between two temperatures."""

    warmth = tg.State(17.0, unit="degC", description="temperature of the room")
    is_on = tg.Discrete(1.0, description="whether the heater is on")
    outside = tg.Parameter(5.0, unit="degC", min=-40.0, max=40.0, description="temperature outside")

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.warmth) == 0.1 * (self.outside - self.warmth) + 2.5 * self.is_on

    @tg.when(lambda self: self.warmth > 22.0)
    def off(self) -> dict[Any, Any]:
        return {self.is_on: 0.0}

    @tg.when(lambda self: self.warmth < 20.0)
    def on(self) -> dict[Any, Any]:
        return {self.is_on: 1.0}


model = Room()
t_span = (0.0, 10.0)

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        written = tg.dsblock.export(model, "room", language="c", folder=folder)
        print(f"{written.path.name}: warmth is {written.names['warmth']}, outside is {written.names['outside']}")
        block = tg.dsblock.build(written, prefix="room")
    for source, name in ((model, "warmth"), (block, written.names["warmth"])):
        result = tg.simulate(source, t_span, rtol=1e-9)
        print(f"last switched at {result.events[-1].time:.6f}, {result.final[name]:.6f} degC at the end")
