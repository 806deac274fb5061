"""A tank farm: a pump fills a tank from a well until a float stops it, two more are filled through valves, a consumer draws from the last.

The float is a pair of clauses. A clock opens the tap in the morning and shuts it in the evening; an alarm leaves a sentence in the event log.
"""

import tidegate as tg
from tidegate.library import fluid as fl


class TankFarm(tg.Component):
    well, pump = fl.FixedPressure(p=-2e4), fl.Pump(q_max=4e-3, dp_max=1.5e5)
    high, middle, low = fl.Tank(A=15.0, h=1.0), fl.Tank(A=25.0, h=1.5), fl.Tank(A=20.0, h=2.0)
    first, second, tap = fl.Valve(K=1.2e-5), fl.Valve(K=1.2e-5), fl.Valve(K=2e-5)
    consumer = fl.Drain()

    filling = tg.Discrete(True)
    runs = tg.Discrete(1)
    tap_is = tg.Discrete("shut", values=("shut", "open"))
    full, empty = tg.Parameter(2.5, unit="m"), tg.Parameter(0.8, unit="m")
    drawn = tg.State(0.0, unit="m3")
    level = tg.Output(lambda self: self.high.h + self.middle.h + self.low.h, unit="m")

    def equations(self):
        yield self.pump.speed == tg.where(self.filling, 1.0, 0.0)
        yield self.first.opening == 1.0
        yield self.second.opening == 0.7
        yield self.tap.opening == tg.where(self.tap_is == "open", 1.0, 0.05)
        yield tg.der(self.drawn) == self.tap.q
        yield tg.connect(self.well.port, self.pump.port_a)
        yield tg.connect(self.pump.port_b, self.high.inlet)
        yield tg.connect(self.high.outlet, self.first.port_a)
        yield tg.connect(self.first.port_b, self.middle.inlet)
        yield tg.connect(self.middle.outlet, self.second.port_a)
        yield tg.connect(self.second.port_b, self.low.inlet)
        yield tg.connect(self.low.outlet, self.tap.port_a)
        yield tg.connect(self.tap.port_b, self.consumer.port)

    @tg.when(lambda self: self.high.h > self.full)
    def stop(self):
        return {self.filling: False}

    @tg.when(lambda self: self.high.h < self.empty)
    def start(self):
        return {self.filling: True, self.runs: self.runs + 1}

    @tg.every(43200.0, start=21600.0)
    def turn(self):
        return {self.tap_is: tg.where(self.tap_is == "open", "shut", "open")}

    @tg.when(lambda self: self.low.h < 1.0)
    def alarm(self):
        tg.message("the last tank is nearly empty")


model = TankFarm()
t_span = (0.0, 86400.0)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, rtol=1e-8, sensitivities=["tap.K"])
    print(result.events)
    print(f"{result.final['drawn']:.4f} m3 drawn, the pump ran {result.final['runs']:.0f} times, the tap is {result.text('tap_is').values[-1]}")
    print(", ".join(f"{name} {result.final[f'{name}.h']:.4f} m" for name in ("high", "middle", "low")))
    print(f"d drawn / d tap.K = {result.sensitivity('drawn', 'tap.K')[-1]:.4e}")
