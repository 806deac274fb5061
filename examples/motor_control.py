"""A motor under a PID controller, as a block diagram: the voltage is limited, and the controller's integral waits while it is.

The limiter's corners are events, located like all others, and the derivative by the controller's gain goes through them.
"""

import tidegate as tg

b = tg.blocks

model = tg.Diagram("motor_control")
model.wanted = b.Step(at=0.5, after=100.0, unit="rad/s")
model.controller = b.PID(kp=0.4, ki=1.0, kd=0.0, upper=24.0, lower=-24.0)
model.current = b.FirstOrderLag(time_constant=0.01)
model.speed = b.Integrator(unit="rad/s")
model.error = b.Summer("+-")(model.wanted, model.speed)
model.controller(model.error)
model.current(0.5 * model.controller - 0.1 * model.speed)
model.speed(20.0 * model.current - 0.2 * model.speed)
t_span = (0.0, 4.0)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, sensitivities=["controller.kp"], rtol=1e-8)
    print(model.describe())
    for event in result.events:
        print(f"{event.time:.6f} {event.cause}")
    print(f"speed at the end {result.final['speed']:.4f} rad/s, its derivative by kp {float(result.sensitivity('speed', 'controller.kp')[-1]):.4f}")
