"""Random trees of shafts joined by gears and clutches, with brakes and bearings: against straight lines in plain Python.

The truth tries for all contacts at rest whether they stick or in which direction they begin to slide, and takes what fits torques and accelerations.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tidegate as tg
from tidegate.library import rotational as ro

FloatArray = NDArray[np.float64]
END = 4.0
QUICK = (2, 5, 15)


@dataclass(frozen=True)
class Joint:
    """Slips with ``w[a] - ratio w[b]``, or ``w[a]`` where b is -1, the housing; what it carries in three parts of the run."""

    kind: str
    a: int
    b: int
    ratio: float
    most: tuple[float, ...]

    def row(self, n: int) -> FloatArray:
        row = np.zeros(n)
        row[self.a] = 1.0
        if self.b >= 0:
            row[self.b] = -self.ratio
        return row


@dataclass(frozen=True)
class Train:
    times: tuple[float, float]
    inertias: FloatArray
    speeds: FloatArray
    torques: FloatArray
    joints: tuple[Joint, ...]


def drawn(seed: int) -> Train:
    r = np.random.default_rng(seed)
    n = int(r.integers(2, 5))
    early, late = np.sort(r.uniform(0.2, 2.8, 2)).tolist()

    def most() -> tuple[float, ...]:
        return tuple(float(r.choice([0.0, r.uniform(1.0, 12.0)])) for _ in range(3))

    inertias, speeds, torques = r.uniform(0.3, 3.0, n), r.choice([0.0, 1.0], n) * r.uniform(-5.0, 5.0, n), r.uniform(-8.0, 8.0, n)
    joints: list[Joint] = []
    for k in range(1, n):
        ratio = float(r.choice([1.0, r.uniform(-3.0, -0.5), r.uniform(0.5, 4.0)]))
        joints.append(Joint(str(r.choice(["clutch", "clutch", "gear"])) if n > 2 else "clutch", int(r.integers(0, k)), k, ratio, most()))
    # a brake beside another way to stand still would carry a torque that nothing determines
    held = int(r.integers(0, n))
    joints.append(Joint("brake", held, -1, 0.0, most()) if r.random() < 0.5 else Joint("bearing", held, -1, 0.0, (float(r.uniform(0.5, 4.0)),) * 3))
    for joint in joints:
        if joint.kind == "gear":
            speeds[joint.b] = speeds[joint.a] / joint.ratio
    return Train((early, late), inertias, speeds, torques, tuple(joints))


def component(train: Train) -> tg.Component:
    parts: dict[str, Any] = {}
    geared = {joint.b for joint in train.joints if joint.kind == "gear"}
    for k, (inertia, speed, torque) in enumerate(zip(train.inertias.tolist(), train.speeds.tolist(), train.torques.tolist(), strict=True)):
        follows = tg.start(0.0, fixed=False)
        parts[f"J{k}"] = ro.Inertia(J=inertia, phi=follows, w=follows) if k in geared else ro.Inertia(J=inertia, w=tg.start(speed, fixed=True))
        parts[f"T{k}"] = ro.ConstantTorque(tau=torque)
    for q, joint in enumerate(train.joints):
        if joint.b >= 0:
            parts[f"g{q}"] = ro.Gear(ratio=joint.ratio)
        if joint.kind != "gear":
            parts[f"c{q}"] = {"clutch": ro.Clutch, "brake": ro.Brake, "bearing": lambda j=joint: ro.BearingFriction(tau_coulomb=j.most[0])}[
                joint.kind
            ]()

    def equations(self: Any) -> Iterator[Any]:
        ends: list[list[Any]] = [[getattr(self, f"J{k}").flange_b] for k in range(len(train.inertias))]
        for k in range(len(ends)):
            yield tg.connect(getattr(self, f"T{k}").flange, getattr(self, f"J{k}").flange_a)
        for q, joint in enumerate(train.joints):
            chain = [getattr(self, f"{kind}{q}") for kind in "cg" if f"{kind}{q}" in parts]
            ends[joint.a].append(chain[0].flange_a)
            if len(chain) == 2:
                yield tg.connect(chain[0].flange_b, chain[1].flange_a)
            if joint.b >= 0:
                ends[joint.b].append(chain[-1].flange_b)
            if joint.kind in ("clutch", "brake"):
                first, second, last = joint.most
                yield chain[0].capacity == tg.where(tg.time < train.times[0], first, tg.where(tg.time < train.times[1], second, last))
        for group in ends:
            if len(group) > 1:
                yield tg.connect(*group)

    return type("GearTrain", (tg.Component,), {**parts, "equations": equations, "__module__": __name__})()


def accelerations(train: Train, part: int, w: FloatArray) -> FloatArray:
    """In the mode that fits."""
    n = len(w)
    gears = np.array([joint.row(n) for joint in train.joints if joint.kind == "gear"]).reshape(-1, n)
    contacts = [joint for joint in train.joints if joint.kind != "gear"]
    slips, most = np.array([joint.row(n) for joint in contacts]), np.array([joint.most[part] for joint in contacts])
    rests = resting(slips, w)
    signs = [
        (math.copysign(1.0, slip),) if not at_rest else (0.0, 1.0, -1.0) if limit > 0.0 else (0.0,)
        for slip, at_rest, limit in zip((slips @ w).tolist(), rests, most.tolist(), strict=True)
    ]
    for choice in itertools.product(*signs):
        stuck = [k for k in range(len(contacts)) if rests[k] and choice[k] == 0.0 and most[k] > 0.0]
        held = np.vstack([gears, slips[stuck]])
        left = np.block([[np.diag(train.inertias), held.T], [held, np.zeros((len(held), len(held)))]])
        found = np.linalg.solve(left, np.concatenate([train.torques - slips.T @ (most * np.array(choice)), np.zeros(len(held))]))
        rate, carried = slips @ found[:n], found[n + len(gears) :]
        if np.all(np.abs(carried) <= most[stuck] + 1e-9) and all(choice[k] * rate[k] >= -1e-9 for k in range(len(contacts)) if rests[k]):
            return found[:n]
    raise AssertionError("nothing fits")


def resting(slips: FloatArray, w: FloatArray) -> list[bool]:
    return (np.abs(slips @ w) <= 1e-10 * (np.abs(slips) @ np.abs(w) + 1.0)).tolist()


def truth(train: Train) -> FloatArray:
    """Speeds at the end."""
    w, t = train.speeds.copy(), 0.0
    slips = np.array([joint.row(len(w)) for joint in train.joints if joint.kind != "gear"])
    for part, end in enumerate([*train.times, END]):
        while t < end - 1e-14:
            a = accelerations(train, part, w)
            pairs = zip((slips @ w).tolist(), (slips @ a).tolist(), resting(slips, w), strict=True)
            step = min([end - t, *(-slip / rate for slip, rate, at_rest in pairs if not at_rest and slip * rate < 0.0)])
            w, t = w + a * step, t + step
    return w


@pytest.mark.slow
@pytest.mark.parametrize("seed", QUICK)  # put in more to search on
def test_gear_trains_stick_and_slide_as_they_should(seed: int, dae_method: str) -> None:
    train = drawn(seed)
    result = tg.simulate(component(train), (0.0, END), rtol=1e-8, method=dae_method, sensitivities=["T0.tau"])
    assert [float(result.final[f"J{k}.w"]) for k in range(len(train.inertias))] == pytest.approx(truth(train).tolist(), rel=1e-6, abs=1e-6)
    unit = np.eye(len(train.torques))[0]
    for k in range(len(train.inertias)):
        found = float(result.sensitivity(f"J{k}.w", "T0.tau").values[-1])
        differences = [
            (truth(replace(train, torques=train.torques + h * unit)) - truth(replace(train, torques=train.torques - h * unit)))[k] / (2.0 * h)
            for h in (1e-4, 1e-5, 1e-6)
        ]
        assert min(abs(found - difference) for difference in differences) < 1e-5 * (1.0 + abs(found)), k
