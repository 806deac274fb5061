"""A small house with a thermostat: a room behind a wall, the weather of two days, and a heater that is switched by the temperature.

It is cold in the house when the run begins: ``at_start=True`` lets the thermostat switch the heater on there and then.
"""

import numpy as np

import tidegate as tg
from tidegate.library import thermal as th


class House(tg.Component):
    room = th.HeatCapacitor(C=2e6, T=289.15)  # air and furniture, 16 degrees
    wall = th.HeatCapacitor(C=15e6, T=287.15)
    inside, outside = th.Convection(), th.Convection()
    window = th.ThermalConductor(G=35.0)
    heater, weather = th.SignalHeatFlow(), th.SignalTemperature()

    power = tg.Parameter(6000.0, unit="W", description="of the heater")
    low = tg.Parameter(293.15, unit="K")
    high = tg.Parameter(295.15, unit="K")
    mean = tg.Parameter(276.15, unit="K", description="temperature outside, on average")
    swing = tg.Parameter(6.0, unit="K")
    day = tg.Parameter(86400.0, unit="s")
    on = tg.Discrete(False)
    starts = tg.Discrete(0)
    energy = tg.State(0.0, unit="J")

    def equations(self):
        yield self.mean - self.swing * np.cos(2 * np.pi * tg.time / self.day) == self.weather.T
        yield self.heater.Q_flow == tg.where(self.on, self.power, 0.0)
        yield self.inside.Gc == 150.0
        yield self.outside.Gc == 120.0
        yield tg.der(self.energy) == self.heater.Q_flow
        yield tg.connect(self.heater.port, self.room.port, self.inside.port_a, self.window.port_a)
        yield tg.connect(self.inside.port_b, self.wall.port, self.outside.port_a)
        yield tg.connect(self.outside.port_b, self.window.port_b, self.weather.port)

    @tg.when(lambda self: self.low > self.room.T, at_start=True)
    def cold(self):
        return {self.on: True, self.starts: self.starts + 1}

    @tg.when(lambda self: self.high < self.room.T)
    def warm(self):
        return {self.on: False}


model = House()
t_span = (0.0, 2 * 86400.0)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, rtol=1e-8, sensitivities=["window.G", "low"])
    print("\n".join(str(event) for event in result.events[:2]))
    print(f"switched on {result.final['starts']:.0f} times, {result.final['energy'] / 3.6e6:.2f} kWh in two days")
    print(f"d energy / d window.G = {result.sensitivity('energy', 'window.G')[-1] / 3.6e6:.4f} kWh K/W")
    print(f"room {result.final['room.T'] - 273.15:.3f} degrees, wall {result.final['wall.T'] - 273.15:.3f} degrees")
