"""A shower: what the tap does is felt only when the water has come through the pipe, and that takes longer the less one takes of it.

The delay is taken as volume over flow, so it varies; where the water that was in the pipe ends, the past breaks off, and the run finds that place by
itself. How much the temperature depends on the volume of the pipe comes with the run.
"""

import tidegate as tg


class Shower(tg.Component):
    volume = tg.Parameter(1.2, unit="l", description="of the pipe")
    wanted = tg.Parameter(39.0, unit="degC")
    patience = tg.Parameter(0.06, unit="1/s")
    tap = tg.State(30.0, unit="degC", description="what the tap mixes")
    flow = tg.State(0.2, unit="l/s")
    felt = tg.Algebraic(unit="degC")

    def equations(self):
        yield tg.der(self.flow) == (0.06 - self.flow) / 40.0
        yield self.felt == tg.delay(self.tap, self.volume / self.flow, history=15.0)
        yield tg.der(self.tap) == self.patience * (self.wanted - self.felt)

    @tg.when(lambda self: self.felt > self.wanted + 0.5)
    def ouch(self):
        tg.message("too hot")


result = tg.simulate(Shower(), (0, 120), rtol=1e-8, sensitivities=["volume"], outputs=[5, 10, 30, 60, 90, 120])
print(" t   felt     by the volume")
rows = {float(t): k for k, t in enumerate(result["felt"]["time"].values)}
for t in (5.0, 10.0, 30.0, 60.0, 90.0, 120.0):
    print(f"{t:3.0f}  {result['felt'].values[rows[t]]:.4f}  {result.sensitivity('felt', 'volume').values[rows[t]]:8.4f}")
for event in result.events:
    print(f"{event.time:.6f} {event.cause}")
