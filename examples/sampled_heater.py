"""A room with a sampled heater: every kind of clause that a component can have.

The controller looks at the temperature every quarter of an hour and holds its output in between (`every`). At fixed times the target
changes (`at`), a warning follows the temperature itself with hysteresis (`when` and `elsewhen`), the room starts colder than it is
wanted (`initially`), and the meter is read at the end (`finally_`).
"""

import tidegate as tg


class Room(tg.Component):
    time_unit = "h"

    T = tg.State(15.0, unit="degC", description="temperature of the room")
    energy = tg.State(0.0, unit="kWh", description="used so far")
    power = tg.Discrete(0.0, unit="kW", description="of the heater, held between samples")
    target = tg.Discrete(20.0, unit="degC", description="wanted temperature")
    samples = tg.Discrete(0, description="how often the controller has looked")
    cold = tg.Discrete(True, description="the warning is on")
    bill = tg.Discrete(0.0, unit="kWh", description="energy, read at the end")
    outside = tg.Parameter(5.0, unit="degC")
    conductance = tg.Parameter(0.1, unit="kW/K", description="of the walls")
    capacity = tg.Parameter(0.5, unit="kWh/K", description="of the room")
    gain = tg.Parameter(0.5, unit="kW/K", description="of the controller")
    strongest = tg.Parameter(4.0, unit="kW", description="power of the heater")
    period = tg.Parameter(0.25, unit="h", min=0.0)
    losses = tg.Output(lambda self: self.conductance * (self.T - self.outside), unit="kW")

    def equations(self):
        yield self.capacity * tg.der(self.T) == self.power - self.losses
        yield tg.der(self.energy) == self.power

    @tg.initially
    def after_a_holiday(self):
        return {self.T: self.outside + 3.0}

    @tg.every(lambda self: self.period)
    def controls(self):
        wanted = self.gain * (self.target - self.T)
        return {self.power: min(max(wanted, 0.0), self.strongest), self.samples: self.samples + 1}

    @tg.at(6.1, 9.1)
    def clock(self):
        return {self.target: 16.0 if tg.time < 8.0 else 20.0}

    @tg.when(lambda self: self.T > 17.0)
    def warm_enough(self):
        tg.message("the room is warm enough")
        return {self.cold: False}

    @warm_enough.elsewhen(lambda self: self.T < 16.5)
    def too_cold(self):
        tg.message("the room is cold")
        return {self.cold: True}

    @tg.finally_
    def reads_the_meter(self):
        return {self.bill: self.energy}


model = Room()
t_span = (0.0, 12.0)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, rtol=1e-8, sensitivities=["gain", "outside"])
    for event in result.events.where(lambda event: event.messages):
        print(f"{event.time:.6f} h: {'; '.join(event.messages)}")
    clock = result.events.caused_by("clock")
    print(f"the target changes at {', '.join(f'{event.time:.2f} h' for event in clock)}; {result.final['samples']:.0f} samples")
    print(f"T = {result.final['T']:.6f} degC, energy = {result.final['energy']:.6f} kWh, bill = {result.final['bill']:.6f} kWh")
    print(f"d energy / d outside = {float(result.sensitivity('energy', 'outside')[-1]):.6f} kWh/K")
