"""Connected blocks as one more ``Block``: it is run, connected again, given parameters and inputs as any other. In: a ``Layout``.

Source: Otter, DSblock 3.3 (DLR 1994), BLOCKS. Inputs at the start are computed before BLOCKS of the part they go to, and again behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tidegate.frontends.dsblock.block import (
    BeginsBeside,
    Block,
    CanBeTried,
    Entry,
    IsNative,
    KnowsSteps,
    NativeFunctions,
    NativeNeeds,
    Reply,
    Run,
)
from tidegate.frontends.dsblock.compiled.adapter import Adapter
from tidegate.frontends.dsblock.description import Description
from tidegate.frontends.dsblock.join.described import Layout
from tidegate.frontends.dsblock.join.joined_run import JoinedRun, Pending
from tidegate.frontends.dsblock.join.order import components, is_circle
from tidegate.frontends.dsblock.join.signals import Evaluation, Signals
from tidegate.frontends.dsblock.join.wiring import OUTSIDE, Part
from tidegate.frontends.dsblock.proposals import Environment
from tidegate.frontends.dsblock.python_block import PythonBlock
from tidegate.frontends.dsblock.warned import said_once
from tidegate.quick_dataclass import dataclass

__all__ = ["JoinedBlock", "called"]

FloatArray = NDArray[np.float64]


@runtime_checkable
class _Within(Protocol):
    """A block that may ask what its run says of itself."""

    def within(self, environment: Environment) -> Block:
        """The same block there."""
        ...


@dataclass
class _Begun:
    """Runs of parts that have begun, with what they said, and the inputs they were told of."""

    at: Entry
    runs: dict[int, Run] = field(default_factory=dict[int, Run])
    replies: dict[int, Reply] = field(default_factory=dict[int, Reply])
    u: dict[int, FloatArray] = field(default_factory=dict[int, FloatArray])

    def end(self, evaluation: Evaluation) -> None:
        for part, run in self.runs.items():
            run.end(evaluation.entry(part, self.at, self.u[part]), is_well=True)


class JoinedBlock:
    """See ``block.Block``."""

    def __init__(self, plan: Layout) -> None:
        self.plan = plan
        wired = plan.wired
        arcs = {(int(source), part) for part, driver in enumerate(wired.driver) for source in driver if source != OUTSIDE}
        groups = components(range(len(wired.parts)), arcs)
        self._sequence = [part for group in groups for part in group]
        self._has_circles = any(is_circle(group, arcs) for group in groups)

    @property
    def description(self) -> Description:
        """What it says of itself."""
        return self.plan.described

    @property
    def knows_steps(self) -> bool:
        """Whether one of the parts is to be told of steps."""
        return any(isinstance(part.block, KnowsSteps) and part.block.knows_steps for part in self.plan.wired.parts)

    def native(self, needs: NativeNeeds) -> NativeFunctions | None:
        """Its functions for steps, where all parts have such."""
        return Adapter(self.description, needs) if self.can_be_native else None

    @property
    def can_be_native(self) -> bool:
        """Whether all parts are native."""
        return all(block.can_be_native if isinstance(block, JoinedBlock) else isinstance(block, IsNative) for block in self.blocks())

    def within(self, environment: Environment) -> JoinedBlock:
        """The same connection in a run that says this of itself."""
        plan = replace(self.plan, environment=environment)
        return _of_parts(plan, [Part(part.name, _within(part.block, environment)) for part in self.plan.wired.parts])

    def blocks(self) -> Iterator[Block]:
        """Those that are connected."""
        return (part.block for part in self.plan.wired.parts)

    def of_runs(self, run: Callable[[Block, str], Run], prefix: str) -> JoinedRun:
        """A run of other runs of the parts; of events it is never told."""
        parts = self.plan.wired.parts
        return JoinedRun(self.plan, [run(part.block, f"{prefix}{part.name}.") for part in parts], [Pending() for _ in parts])

    def begin(self, at: Entry) -> tuple[JoinedRun, Reply]:
        """All parts begin."""
        return self._all_begin(at, is_beside=False)

    def begin_beside(self, at: Entry) -> tuple[JoinedRun, Reply]:
        """The same beside another run: parts with static data in copies of their libraries."""
        return self._all_begin(at, is_beside=True)

    def _all_begin(self, at: Entry, *, is_beside: bool) -> tuple[JoinedRun, Reply]:
        inputs: list[FloatArray] | None = None
        if self._has_circles:
            # of a circle nobody can be the first: all are tried to learn what each of them is given, then they begin with that
            with said_once():
                tried = self._begun(at, None, is_trial=True, is_beside=is_beside)
                evaluation = self._evaluation(tried)
                inputs = evaluation.signals(evaluation.settled(tried.at)).u
                tried.end(evaluation)
        begun = self._begun(at, inputs, is_beside=is_beside)
        run = self._run(begun)
        return run, run.started(begun.at, begun.replies)

    def tried(self, at: Entry) -> tuple[JoinedRun, Reply]:
        """All parts begin, and loops are not solved."""
        begun = self._begun(at, None, is_trial=True)
        run = self._run(begun)
        return run, run.tried(begun.at, begun.replies)

    def _run(self, begun: _Begun) -> JoinedRun:
        pending = [Pending() for _ in self.plan.wired.parts]
        for part, reply in begun.replies.items():
            pending[part].take(reply, begun.at.time, has_time_event=True)
        return JoinedRun(self.plan, [begun.runs[part] for part in range(len(pending))], pending)

    def _begun(self, at: Entry, inputs: Sequence[FloatArray] | None, *, is_trial: bool = False, is_beside: bool = False) -> _Begun:
        """Every part, those first that others get their inputs from; circles are cut where no inputs are given for all."""
        begun = _Begun(replace(at, x=at.x.copy(), xd=None if at.xd is None else at.xd.copy()))
        for part in self._sequence:
            u = self._inputs(part, begun) if inputs is None else inputs[part]
            entry = Evaluation(self.plan, []).entry(part, begun.at, u)
            block = self.plan.wired.parts[part].block
            if is_beside and isinstance(block, BeginsBeside):
                begun.runs[part], reply = block.begin_beside(entry)
            elif is_trial and isinstance(block, CanBeTried):
                begun.runs[part], reply = block.tried(entry)
            else:
                begun.runs[part], reply = block.begin(entry)
            begun.replies[part], begun.u[part] = reply, u
            where = self.plan.states[part]
            if reply.x is not None:
                begun.at.x[where[: len(reply.x)]] = reply.x
            if reply.xd is not None and begun.at.xd is not None:
                begun.at.xd[where] = reply.xd
            elif reply.xd is not None:
                begun.at.x[self.plan.rates[part]] = reply.xd[self.plan.differentiated[part]]
        return begun

    def _inputs(self, part: int, begun: _Begun) -> FloatArray:
        """Inputs of a part from those that have begun; zero where theirs have not."""
        wired = self.plan.wired
        u = np.zeros(len(wired.driver[part]))
        values: dict[int, FloatArray] = {}
        for k, (source, element) in enumerate(zip(wired.driver[part].tolist(), wired.element[part].tolist(), strict=True)):
            if source == OUTSIDE:
                u[k] = begun.at.u[element]
            elif source in begun.runs:
                if source not in values:
                    values[source] = self._outputs(source, begun)
                u[k] = values[source][element]
        return u

    def _outputs(self, part: int, begun: _Begun) -> FloatArray:
        inputs = [begun.u.get(k, np.zeros(0)) for k in range(len(self.plan.wired.parts))]
        return self._evaluation(begun).outputs(part, begun.at, Signals(inputs, [], {}))

    def _evaluation(self, begun: _Begun) -> Evaluation:
        """Of those parts that have begun."""
        runs = [begun.runs.get(k) for k in range(len(self.plan.wired.parts))]
        evaluation = Evaluation(self.plan, runs)  # pyright: ignore[reportArgumentType] - those that are asked have begun
        for part, reply in begun.replies.items():
            evaluation.take_numbers(part, reply)
        return evaluation


def called(block: Block, name: str) -> Block:
    """The same block under the name that messages call it by."""
    described = replace(block.description, name=name)
    if isinstance(block, PythonBlock):
        return PythonBlock(name, block.callbacks, described, block.environment)
    if isinstance(block, JoinedBlock):
        plan = replace(block.plan, described=described)
        return _of_parts(plan, [Part(part.name, called(part.block, f"{name}.{part.name}")) for part in plan.wired.parts])
    return block


def _within(block: Block, environment: Environment) -> Block:
    """The same block in a run that says this of itself."""
    if isinstance(block, PythonBlock):
        return PythonBlock(block.name, block.callbacks, block.description, environment)
    return block.within(environment) if isinstance(block, _Within) else block


def _of_parts(plan: Layout, parts: Iterable[Part]) -> JoinedBlock:
    return JoinedBlock(replace(plan, wired=replace(plan.wired, parts=tuple(parts))))
