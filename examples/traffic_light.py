"""Cars before a traffic light, as functions: its phase is a text, looked up in tables, and the light turns green when enough of them wait."""

import tidegate as tg

AFTER = {"green": "amber", "amber": "red", "red": "green"}
LASTS = {"green": 20.0, "amber": 3.0, "red": 40.0}  # seconds, at most


def rates(t, y, p, d):
    arriving = p.arriving * (2.0 if p.hour == "rush" else 1.0)
    leaving = 0.0
    if d.phase == "green":
        leaving = p.leaving if y.waiting > 0.0 else arriving
    return {"waiting": arriving - leaving}


def is_over(t, y, p, d):
    return t >= d.since + LASTS[d.phase] or (d.phase == "red" and y.waiting >= p.enough)


def next_phase(t, y, d):
    if AFTER[d.phase] == "green":
        tg.message(f"green after {d.phase}")
    return {"phase": AFTER[d.phase], "since": t}


model = tg.ode(
    rates,
    y0={"waiting": 0.0},
    p={"arriving": 0.2, "leaving": 0.9, "enough": 12.0, "hour": "quiet"},
    discrete={"phase": "red", "since": 0.0},
    events=tg.event(is_over, reset=next_phase, name="next"),
)

t_span = (0, 240)

if __name__ == "__main__":
    for hour in ("quiet", "rush"):
        result = tg.simulate(model, t_span, parameters={"hour": hour}, sensitivities=["arriving"])
        greens = [event for event in result.events if event.messages]
        print(f"{hour}: {len(greens)} times green, from", ", ".join(f"{event.time:.2f} s" for event in greens[:4]))
        print(f"  the third one by the arrivals: {greens[2].dt_dp['arriving']:.3f} s/(car/s)")
        print(f"  at the end the light is {result.text('phase').values[-1]}, {result.final['waiting']:.3f} cars wait")
