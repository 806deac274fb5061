"""A washing machine goes from state to state: a discrete variable whose values are texts, and a program that is chosen by its name."""

import tidegate as tg


class WashingMachine(tg.Component):
    state = tg.Discrete("filling", values=("filling", "heating", "washing", "draining", "done"))
    program = tg.Parameter("cold", values=("cold", "warm"), description="which program is washed by")
    level = tg.State(0.0, unit="l", description="of the water")
    T = tg.State(15.0, unit="degC", description="temperature of the water")
    turned = tg.State(0.0, unit="min", description="how long the drum has turned")

    def equations(self):
        filling, draining = self.state == "filling", self.state == "draining"
        yield tg.der(self.level) == tg.where(filling, 6.0, tg.where(draining, -9.0, 0.0))
        yield tg.der(self.T) == (4.5 if self.state == "heating" else 0.0) - 0.02 * (self.T - 15.0)
        yield tg.der(self.turned) == tg.where(self.state == "washing", 1.0, 0.0)

    @tg.when(lambda self: (self.state == "filling") & (self.level > 12.0))
    def full(self):
        if self.program == "warm":
            return {self.state: "heating"}
        return {self.state: "washing"}

    @tg.when(lambda self: (self.state == "heating") & (self.T > 40.0))
    def warm_enough(self):
        return {self.state: "washing"}

    @tg.when(lambda self: (self.state == "washing") & (self.turned > 20.0))
    def washed(self):
        return {self.state: "draining"}

    @tg.when(lambda self: (self.state == "draining") & (self.level < 0.0))
    def empty(self):
        return {self.state: "done"}


model = WashingMachine(program="warm")
t_span = (0.0, 40.0)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, outputs=[1.0, 5.0, 15.0, 40.0])
    print(result.events)
    print(result.text("state").sel(time=[1.0, 5.0, 15.0, 40.0]).values)
    print(result["state"].attrs["flag_meanings"])
    cold = tg.simulate(model, t_span, parameters={"program": "cold"})
    print(f"done after {result.events.times[-1]:.4f} min, cold after {cold.events.times[-1]:.4f} min")
