"""Random programs of processes as source text: what flows, and who waits for it, takes turns, gives up, interrupts, starts and stops.

A program takes an environment and a list in which it notes what happens; it runs in an environment of tidegate and in ``processes_in_steps``.
"""

from __future__ import annotations

import random
import re
from typing import Any, Final

import tidegate as tg
from written_source import space_of

__all__ = ["RandomProgram"]

_FIRST: Final = re.compile(r"p0 = env\.parameter\(([-\d.e]+),")
_HEAD: Final = """\
import math
import simpy

class Box:
    pass

def program(env, Group, log):
"""


class _Text:
    """Lines with an indentation."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1

    def __call__(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)


class RandomProgram:
    """A program.

    Attributes
    ----------
    text : its source.
    jumps : rates jump where something that flows passes a bound: the truth does not look for these instants.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.lines = _Text()
        rng = self.rng
        self.jumps = rng.random() < 0.25
        self.n = rng.randint(1, 4)
        self.n_parameters = rng.randint(1, 3)
        self.n_processes = rng.randint(1, 5)
        self.shared = [self._number(0.2, 1.8) for _ in range(2)]  # thresholds for which several wait
        self.notes = 0
        self.text = self._written()

    def _number(self, low: float, high: float) -> float:
        return round(self.rng.uniform(low, high), 3)

    # -- what flows

    def _rate(self, k: int) -> str:
        rng = self.rng
        parameter = f"p{rng.randrange(self.n_parameters)}.value"
        other = f"x{rng.randrange(self.n)}.state"
        own = f"x{k}.state"
        return rng.choice(
            [
                f"{parameter} - {self._number(0.1, 0.8)} * {own}",
                f"{self._number(0.3, 1.5)} * math.cos({self._number(0.5, 2)} * env.now + {self._number(0, 3)}) + 0.1 * {parameter}",
                f"{self._number(0.2, 0.9)} * ({other} - {own}) + {self._number(-0.3, 0.3)}",
                f"{parameter} * {self._number(0.3, 1)}",
                f"box.k - {self._number(0.3, 1)} * {own}",
                f"numbers[0] - {self._number(0.3, 1)} * {own}",
                f"{parameter} - {self._number(0.2, 0.6)} * math.sqrt(abs({own})) * (1 if {own} > 0 else -1)",
                f"{self._number(0.5, 1)} * math.tanh({parameter} - {own})",
            ]
        )

    def _bodies(self) -> None:
        text, rng = self.lines, self.rng
        split = rng.random() < 0.5
        for b in range(self.n if split else 1):
            text(f"def body{b}():")
            text.depth += 1
            for k in [b] if split else range(self.n):
                if self.jumps and rng.random() < 0.5:
                    text(f"if {self._condition()}:")
                    text(f"    x{k}.rate = {self._rate(k)}")
                    text("else:")
                    text(f"    x{k}.rate = {self._rate(k)}")
                else:
                    text(f"x{k}.rate = {self._rate(k)}")
            text.depth -= 1
            text(f"b{b} = env.continuous(body{b})")
            members = [f"x{k}" for k in ([b] if split else range(self.n))]
            text(f"g{b} = Group({', '.join([*members, f'b{b}'])})")
            text(f"g{b}.start()")
        self.n_groups = self.n if split else 1

    def _condition(self, *, threshold: str | None = None) -> str:
        rng = self.rng
        k = rng.randrange(self.n)
        bound = threshold or str(rng.choice(self.shared) if rng.random() < 0.3 else self._number(-0.5, 2))
        sign = rng.choice(["<", ">", "<=", ">="])
        kinds = [
            f"x{k}.state {sign} {bound}",
            f"x{k}.state {sign} {bound}",
            f"x{k}.state + 0.3 * env.now {sign} {bound}",
            f"math.sin({self._number(0.6, 2)} * env.now) {sign} {self._number(-0.8, 0.8)}",
            f"p{rng.randrange(self.n_parameters)}.value {sign} {bound}",
        ]
        if self.n > 1:
            other = rng.choice([j for j in range(self.n) if j != k])
            kinds.append(f"x{k}.state {sign} x{other}.state + {self._number(-0.3, 0.3)}")
        if rng.random() < 0.2:
            return f"{rng.choice(kinds)} {rng.choice(['and', 'or'])} {rng.choice(kinds)}"
        return rng.choice(kinds)

    # -- who acts

    def _note(self, what: str) -> None:
        self.notes += 1
        states = ", ".join(f"x{k}.state" for k in range(self.n))
        self.lines(f"log.append(({what!r} + str({self.notes}), env.now, {states}))")

    def _wait(self) -> str:
        """The text of an event that is waited for."""
        rng = self.rng
        style = rng.random()
        if style < 0.15:
            return f"env.wait_until(until{rng.randrange(2)})"
        if style < 0.4:
            return f"env.wait_until(lambda: {self._condition(threshold='bound')})"
        return f"env.wait_until(lambda: {self._condition()})"

    def _set(self) -> None:
        rng = self.rng
        parameter = f"p{rng.randrange(self.n_parameters)}.value"
        state = f"x{rng.randrange(self.n)}.state"
        self.lines(
            rng.choice(
                [
                    f"{parameter} = {self._number(-1, 2)}",
                    f"{parameter} = {self._number(-1, 2)}",
                    f"{parameter} = {self._number(0.2, 1)} - {parameter}",
                    f"{parameter} += {self._number(-0.5, 0.5)}",
                    f"{state} = {self._number(-0.5, 1.5)}",
                    f"{state} -= {self._number(0.2, 0.8)}",
                    f"box.k = {self._number(-1, 2)}",
                    f"numbers[0] += {self._number(-0.5, 0.5)}",
                    f"{parameter} = {state}",
                ]
            )
        )

    def _limited(self) -> None:
        """Wait for one of several things, or for all of them."""
        rng = self.rng
        several = [self._wait() for _ in range(rng.randint(1, 2))] + [f"env.timeout({self._number(0.3, 3)})"]
        self.lines(f"found = yield {rng.choice([' | ', ' | ', ' & ']).join(several)}")

    def _step(self, me: int, *, depth: int = 0) -> None:
        text, rng = self.lines, self.rng
        kind = rng.random()
        if kind < 0.22:
            text(f"yield env.timeout({self._number(0.1, 1.7)})")
            self._note(f"timeout of {me}, ")
        elif kind < 0.45:
            text(f"bound = {self._number(-0.2, 1.8)}")
            self._limited()
            self._note(f"limited wait of {me}, ")
        elif kind < 0.6:
            text(f"bound = {self._number(0, 1.5)} + 0.1 * k")
            text(f"yield {self._wait()}")
            self._note(f"wait of {me}, ")
        elif kind < 0.78:
            self._set()
        elif kind < 0.84 and depth == 0:
            text("with r0.request() as turn:")
            text.depth += 1
            text("yield turn")
            self._note(f"turn of {me}, ")
            self._step(me, depth=1)
            self._step(me, depth=1)
            text.depth -= 1
        elif kind < 0.88:
            text(f"yield s0.put({me})")
        elif kind < 0.91:
            text(f"item = yield s0.get() | env.timeout({self._number(0.5, 3)})")
            self._note(f"store of {me}, ")
        elif kind < 0.94 and self.n_processes > 1:
            other = rng.choice([j for j in range(self.n_processes) if j != me])
            text(f"if live[{other}].is_alive:")
            text(f"    live[{other}].interrupt({me})")
        elif kind < 0.95:
            self._other_step(me)
        elif kind < 0.975:
            g = rng.randrange(self.n_groups)
            text(f"g{g}.stop()")
            text(f"yield env.timeout({self._number(0.1, 1)})")
            self._note(f"stopped by {me}, ")
            text(f"g{g}.start()")
        else:
            text(f"z = env.variable({self._number(0, 1)}, name='z{me}_{self.notes}_%d' % k)")
            parameter = f"p{rng.randrange(self.n_parameters)}.value"
            text(f"fill = env.continuous(lambda: setattr(z, 'rate', 0.5 + abs({parameter})))")
            text("tank = Group(z, fill)")
            text("tank.start()")
            text("yield env.wait_until(lambda: z.state > 1.3)")
            text("tank.stop()")
            self._note(f"filled by {me}, ")

    def _other_step(self, me: int) -> None:
        text, rng = self.lines, self.rng
        kind = rng.randrange(6)
        if kind == 0:  # whoever waits in vain takes the same event up again
            text(f"bound = {self._number(0, 1.5)}")
            text(f"wait = {self._wait()}")
            text(f"found = yield wait | env.timeout({self._number(0.2, 1)})")
            self._note(f"first half of {me}, ")
            text("if wait not in found:")
            text(f"    yield wait | env.timeout({self._number(0.2, 1)})")
            self._note(f"second half of {me}, ")
        elif kind == 1:  # an event of SimPy's that another process may trigger
            text("if not bell[0].triggered:")
            text("    bell[0].succeed()")
            text("bell[0] = env.event()")
            self._note(f"bell of {me}, ")
        elif kind == 2:
            text(f"bound = {self._number(0, 1.5)}")
            text(f"found = yield bell[0] | {self._wait()} | env.timeout({self._number(0.5, 2)})")
            text("log.append((f'{len(found.todict())} of 3', env.now))")
        elif kind == 3:  # a process that is waited for
            text("def child():")
            text.depth += 1
            text(f"bound = {self._number(0, 1.5)}")
            text(f"yield {self._wait()} | env.timeout({self._number(0.3, 2)})")
            self._set()
            text(f"return x{rng.randrange(self.n)}.state")
            text.depth -= 1
            text("answer = yield env.process(child())")
            text(f"p{rng.randrange(self.n_parameters)}.value = answer")
            self._note(f"child of {me}, ")
        elif kind == 4:  # nobody yields it
            text(f"bound = {self._number(0, 1.5)}")
            text(f"wait = {self._wait()}")
            parameter = f"p{rng.randrange(self.n_parameters)}"
            text(
                f"wait.callbacks.append(lambda event: (setattr({parameter}, 'value', {self._number(-1, 1)}), log.append(('heard by {me}', env.now))))"
            )
        else:
            g = rng.randrange(self.n_groups)
            text(f"b{g}.stop()")
            text(f"yield env.timeout({self._number(0.1, 1)})")
            self._note(f"body stopped by {me}, ")
            text(f"b{g}.start()")

    def _process(self, me: int) -> None:
        text, rng = self.lines, self.rng
        text(f"def process{me}():")
        text.depth += 1
        text("bound = 1.0")
        text(f"for k in range({rng.randint(1, 4)}):")
        text.depth += 1
        text("try:")
        text.depth += 1
        for _ in range(rng.randint(2, 5)):
            self._step(me)
        text("yield env.timeout(0.01)")
        text.depth -= 1
        text("except simpy.Interrupt as why:")
        text.depth += 1
        self._note(f"interrupt of {me}, ")
        text.depth -= 3

    def _written(self) -> str:
        text, rng = self.lines, self.rng
        for k in range(self.n):
            text(f"x{k} = env.variable({self._number(-0.5, 1.5)}, name='x{k}')")
        for k in range(self.n_parameters):
            text(f"p{k} = env.parameter({self._number(-0.5, 1.5)}, name='p{k}')")
        text(f"r0, s0 = simpy.Resource(env, {rng.randint(1, 2)}), simpy.Store(env, {rng.randint(1, 3)})")
        text(f"box, bell, live, numbers = Box(), [env.event()], [], [{self._number(-0.5, 1.5)}]")
        text(f"box.k = {self._number(-0.5, 1.5)}")
        self._bodies()
        for k in range(2):
            text(f"def until{k}():")
            text(f"    return {self._condition()}")
        for me in range(self.n_processes):
            self._process(me)
        for me in range(self.n_processes):
            text(f"live.append(env.process(process{me}()))")
        if rng.random() < 0.3:
            text("def camera():")
            text(f"    yield env.timeout({self._number(0.1, 0.4)})")
            text("    while True:")
            text(f"        log.append(('seen', env.now, {', '.join(f'x{k}.state' for k in range(self.n))}))")
            text(f"        yield env.timeout({self._number(0.3, 0.9)})")
            text("env.process(camera())")
        if rng.random() < 0.3:
            text(f"env.run(until={self._number(2, 5)})")
            self._note("a pause, ")
            self._set()
        text(f"env.run(until={self._number(6, 12)})")
        self._note("the end, ")
        return _HEAD + "\n".join(text.lines) + "\n"

    def run(self, environment: Any, p0: float | None = None) -> list[tuple[Any, ...]]:
        """What happens in an environment: what is noted, the time, and states.

        Parameters
        ----------
        p0 : value of the first parameter, if it is to be another.
        """
        text = self.text if p0 is None else _FIRST.sub(f"p0 = env.parameter({p0!r},", self.text)
        log: list[tuple[Any, ...]] = []
        space_of(text, f"<processes {self.seed}, {p0}>")["program"](environment, getattr(environment, "Group", tg.Group), log)
        return log

    @property
    def p0(self) -> float:
        """The value of the first parameter."""
        found = _FIRST.search(self.text)
        assert found is not None
        return float(found[1])
