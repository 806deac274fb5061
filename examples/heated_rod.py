"""A rod of forty cells with a thermostat at its warm end: a large model whose systems are solved sparsely, with events and sensitivities."""

import numpy as np

import tidegate as tg

CELLS = 40


class Rod(tg.Component):
    """Each cell exchanges heat with its neighbours; the last one loses it to the surroundings."""

    T = tg.State(np.full(CELLS, 15.0))
    heating = tg.Discrete(True)
    conduction = tg.Parameter(400.0, description="between neighbours")
    power = tg.Parameter(900.0)
    loss = tg.Parameter(2.0, description="to the surroundings")

    def equations(self):
        flows = [0.0, *(self.conduction * (self.T[i - 1] - self.T[i]) for i in range(1, CELLS)), self.loss * self.T[CELLS - 1]]
        for i in range(CELLS):
            source = (self.power if self.heating else 0.0) if i == 0 else 0.0
            yield tg.der(self.T[i]) == source + flows[i] - flows[i + 1]

    @tg.when(lambda self: self.T[0] > 60.0)
    def warm(self):
        return {self.heating: False}

    @warm.elsewhen(lambda self: self.T[0] < 55.0)
    def cool(self):
        return {self.heating: True}


model = Rod()
t_span = (0.0, 1.0)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, sensitivities=["power", "loss"])
    first = result.events[0]
    print(f"{len(result.events)} switches, the first at t = {first.time:.5f}, earlier with more power: dt/dp = {first.dt_dp['power']:.3e}")
    print(f"far end {result.final['T[39]']:.4f}, its derivative by the loss {float(result.sensitivity('T[39]', 'loss')[-1]):.4f}")
