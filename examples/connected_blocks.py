"""A heated room and its sampled controller, two blocks of callbacks connected; a second room is one connection more."""

import tidegate as tg


class Room(tg.DSblock):
    """Heat in a room and in its wall."""

    def define(self, declare):
        declare.state("AIR", start=15.0, unit="degC")
        declare.state("WALL", start=12.0, unit="degC")
        declare.input("HEATING", unit="kW")
        declare.input("BESIDE", unit="degC")
        declare.output("TEMPERATURE", unit="degC")
        declare.real("CAPACITY", 0.5, minimum=0, open="minimum")
        declare.outputs_depend_on(inputs=False)

    def derivatives(self, t, x, u, p, m):
        lost = x.AIR - x.WALL
        return {"AIR": (u.HEATING - lost) / p.CAPACITY, "WALL": 0.2 * (lost + u.BESIDE - x.WALL)}

    def outputs(self, t, x, u, p, m):
        return x.AIR


class Controller(tg.DSblock):
    """Looks at a temperature every half hour."""

    def define(self, declare):
        declare.input("MEASURED")
        declare.input("WANTED")
        declare.output("HEATING")
        declare.discrete("POWER")
        declare.outputs_depend_on(inputs=False)

    def start(self, t0, x0, u0, p, m):
        return tg.dsblock.Start(next_event=t0 + 0.5)

    def event(self, happening, t, x, u, p, m):
        m.POWER = min(10.0, max(0.0, 2.0 * (u.WANTED - u.MEASURED)))
        return tg.dsblock.EventAction(next_event=t + 0.5)

    def outputs(self, t, x, u, p, m):
        return m.POWER


heated = tg.dsblock.join(
    {"room": Room(), "controller": Controller()},
    links={"room.HEATING": "controller.HEATING", "controller.MEASURED": "room.TEMPERATURE"},
    inputs={"WANTED": "controller.WANTED", "BESIDE": "room.BESIDE"},
    outputs={"TEMPERATURE": "room.TEMPERATURE"},
    name="heated room",
)
house = tg.dsblock.join(
    {"living": heated, "store": Room()},
    links={"living.BESIDE": "store.TEMPERATURE", "store.BESIDE": "living.TEMPERATURE"},
    inputs={"WANTED": "living.WANTED"},
    name="house",
)

t_span = (0.0, 4.0)

if __name__ == "__main__":
    result = tg.simulate(house, t_span, inputs={"WANTED": 20.0, "store.HEATING": 0.0}, parameters={"store.CAPACITY": 2.0}, outputs=1.0, rtol=1e-8)
    print(house, "is of the form", house.form)
    print("  h  living  store  power")
    for t, living, store, power in zip(
        result.t, result["living.room.AIR"].values, result["store.AIR"].values, result["living.controller.POWER"].values, strict=True
    ):
        print(f"{t:3.0f}  {living:6.3f} {store:6.3f} {power:6.3f}")
    print(len(result.events), "events")
