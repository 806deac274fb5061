"""A filling station: trucks queue for a pump as in any model of SimPy, and the tank that they draw from is refilled by a flow.

Trucks arrive at random and wait for the one pump (`Resource`). While a truck is served, fuel flows out of the tank, and the truck is done
where it is full, by a condition. A pipeline refills the tank between two levels, each a condition, too; a tank that is nearly empty makes
the truck wait. Bills go through a `Store` to the office, which counts its cash in a `Container`.
"""

import random

import simpy

import tidegate as tg

OUT, IN = 2.0, 1.2  # m3 per minute


def station(seed, end):
    chance = random.Random(seed)  # noqa: S311, a simulation
    env = tg.Environment()
    fuel = env.variable(30.0, name="fuel", unit="m3")
    load = env.variable(0.0, name="load", unit="m3")  # of the truck at the pump
    pump, pipeline = env.parameter(0.0, name="pump"), env.parameter(0.0, name="pipeline")
    place, bills, cash = simpy.Resource(env), simpy.Store(env), simpy.Container(env)
    waits = []

    @env.continuous
    def flows():
        load.rate = OUT * pump.value
        fuel.rate = IN * pipeline.value - OUT * pump.value

    def truck(wanted):
        arrived = env.now
        with place.request() as turn:
            yield turn
            waits.append(env.now - arrived)
            yield env.wait_until(lambda: fuel.state > wanted + 1.0)
            load.state, pump.value = 0.0, 1.0
            yield env.wait_until(lambda: load.state >= wanted)
            pump.value = 0.0
        yield bills.put(wanted)

    def arrivals():
        while True:
            yield env.timeout(chance.expovariate(1 / 12.0))
            env.process(truck(chance.uniform(5.0, 15.0)))

    def refilling():
        while True:
            yield env.wait_until(lambda: fuel.state < 15.0)
            pipeline.value = 1.0
            yield env.wait_until(lambda: fuel.state > 35.0)
            pipeline.value = 0.0

    def office():
        while True:
            cubic_metres = yield bills.get()
            yield env.timeout(0.5)
            yield cash.put(100.0 * cubic_metres)

    tg.Group(flows, fuel, load).start()
    for process in (arrivals(), refilling(), office()):
        env.process(process)
    env.run(until=end)
    return env, waits, cash.level


if __name__ == "__main__":
    env, waits, cash = station(seed=7, end=480.0)
    result = env.result
    served = sum(1 for wait in waits if wait == 0.0)
    print(f"{len(waits)} trucks came to the pump, {served} of them at once; the others waited {sum(waits) / (len(waits) - served):.2f} minutes")
    print(f"fuel between {float(result['fuel'].min()):.3f} and {float(result['fuel'].max()):.3f} m3, {result.final['fuel']:.3f} at the end")
    print(f"{cash:.2f} in the cash box")
