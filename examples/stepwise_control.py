"""A controller outside of the model: a simulation that is advanced, read and set, saved on the way and taken up again.

The model knows the room and its window; the controller is plain Python that looks at the temperature every quarter of an hour and sets
the heater, as a program that talks to a real plant would.
"""

import tempfile
from pathlib import Path

import tidegate as tg


class Room(tg.Component):
    time_unit = "h"
    T = tg.State(12.0, unit="degC", description="temperature of the room")
    heater = tg.Input(0.0, unit="kW")
    window = tg.Discrete(False, description="open")
    outside = tg.Parameter(5.0, unit="degC")
    walls = tg.Parameter(0.1, unit="kW/K", description="heat that goes through them")
    draught = tg.Parameter(0.2, unit="kW/K", description="heat that goes through the open window")
    capacity = tg.Parameter(0.5, unit="kWh/K")

    def equations(self):
        losses = self.walls + (self.draught if self.window else 0.0)
        yield self.capacity * tg.der(self.T) == self.heater - losses * (self.T - self.outside)

    @tg.when(lambda self: self.T > 21.0)
    def too_warm(self):
        return {self.window: True}

    @too_warm.elsewhen(lambda self: self.T < 19.0)
    def too_cold(self):
        return {self.window: False}


def control(simulation, until):
    """Heat in proportion to what is missing, looking every quarter of an hour."""
    while simulation.time < until:
        simulation["heater"] = min(max(2.0 * (20.5 - simulation["T"]), 0.0), 4.0)
        simulation.advance(simulation.time + 0.25)


if __name__ == "__main__":
    simulation = tg.Simulation(Room(), rtol=1e-8)
    control(simulation, 3.0)
    print(f"{simulation.time:.2f} h: T = {simulation['T']:.4f} degC, heater = {simulation['heater']:.4f} kW")

    with tempfile.TemporaryDirectory() as folder:
        file = simulation.save(Path(folder) / "room.sim")
        simulation = tg.Simulation.load(file, Room())

    simulation["outside"] = 18.0  # a warm wind
    simulation["T"] = 21.5  # and many visitors
    control(simulation, 6.0)
    print(f"{simulation.time:.2f} h: T = {simulation['T']:.4f} degC, window open: {simulation['window']}")
    for event in simulation.result.events.where(lambda event: "heater" not in event.cause):
        print(event)
