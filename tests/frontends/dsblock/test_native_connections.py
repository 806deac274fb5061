"""What compiled blocks are told in a connection, and what is counted, where nothing of it goes through Python."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from callbacks_by_python import by_python
from networks_in_c import HEADER, in_c
from random_networks import Written

BLOCKS = Path(__file__).parent / "blocks"


def compiled(name: str, prefix: str) -> Any:
    return tg.dsblock.build(BLOCKS / name, prefix=prefix)


@pytest.mark.parametrize("is_called", [False, True])
@pytest.mark.parametrize("is_nested", [False, True])
def test_parts_find_zero_in_icall_2_at_the_first_call_of_a_step_and_then_what_they_left(*, is_called: bool, is_nested: bool) -> None:
    parts = {"one": compiled("first.c", "first"), "two": compiled("first.c", "first")}
    whole = tg.dsblock.join(parts, {})
    front = ""
    if is_nested:
        whole, front = tg.dsblock.join({"inner": whole}, {}), "inner."
    with by_python(wanted=is_called):
        result = tg.simulate(whole, (0.0, 1.0), rtol=1e-8, inputs={f"{front}{name}.U": 0.0 for name in parts})
    for name in parts:
        began, calls, wrong = (float(result.final[f"{front}{name}.{one}"]) for one in ("STEPS", "CALLS", "WRONG"))
        assert wrong == 0.0
        assert result.statistics.steps <= began <= result.statistics.steps + 2
        assert calls > 2 * began


@pytest.mark.slow
@pytest.mark.parametrize("is_called", [False, True])
def test_what_a_part_stores_for_its_other_callbacks_is_used_as_long_as_it_holds(*, is_called: bool) -> None:
    whole = tg.dsblock.join({"told": compiled("told.c", "told"), "lag": compiled("partners.c", "lag")}, {"lag.U": "told.Y"})
    with by_python(wanted=is_called):
        result = tg.simulate(whole, (0.0, 1.0), rtol=1e-9, inputs={"told.U": 0.5}, outputs=0.1)
    alone = tg.simulate(compiled("told.c", "told"), (0.0, 1.0), rtol=1e-9, inputs={"U": 0.5}, outputs=0.1)
    assert float(result.final["told.Y"]) == pytest.approx(float(alone.final["Y"]), abs=1e-6)
    calls, computed, wrong = (float(result.final[f"told.{name}"]) for name in ("CALLS", "COMPUTED", "WRONG"))
    assert wrong == 0.0
    assert 0.0 < computed < calls


def ring(second: str = "gain") -> Any:
    return tg.dsblock.join({"one": compiled("partners.c", "lag"), "two": compiled("partners.c", second)}, {"one.U": "two.Y", "two.U": "one.Y"})


@pytest.mark.slow
def test_evaluations_of_native_blocks_and_of_connections_are_counted() -> None:
    for block, end, limit in ((compiled("partners.c", "lag"), 50.0, 40), (ring(), 50.0, 40), (compiled("pend.c", "pend"), 5.0, 400)):
        with pytest.raises(tg.TooManyStepsError, match=f"were evaluated {limit} times") as told:
            tg.simulate(block, (0.0, end), rtol=1e-9, max_evaluations=limit)
        assert told.value.time is not None
        assert 0.0 < told.value.time < end
        prepared = tg.prepare(block, (0.0, end), rtol=1e-5, max_evaluations=100_000)
        for _ in range(2):  # each run has its own
            assert prepared.run().success


@pytest.mark.slow
def test_derivatives_by_parameters_are_those_of_a_connection_that_python_calls() -> None:
    for second in ("gain", "lead"):
        options: dict[str, Any] = {"rtol": 1e-9, "sensitivities": ["two.K"], "parameters": {"two.K": -0.7}}
        natively = tg.simulate(ring(second), (0.0, 1.0), **options)
        with by_python():
            called = tg.simulate(ring(second), (0.0, 1.0), **options)
        found, other = (np.asarray(result.sensitivity("one.X", "two.K")) for result in (natively, called))
        assert found == pytest.approx(other, rel=1e-8, abs=1e-9)
    natively = tg.simulate(ring(), (0.0, 1.0), rtol=1e-9, sensitivities=["two.K"], parameters={"two.K": -0.7})
    # x' = (K - 1) x
    assert float(natively.sensitivity("one.X", "two.K")[-1]) == pytest.approx(math.exp(-1.7), rel=1e-6)


@pytest.mark.slow
def test_derivatives_that_are_no_unknowns_of_a_dae_are_given_to_its_outputs(tmp_path: Path) -> None:
    # z = T x with x1' = a x1 + b x2, 0 = c x1 + d x2: every derivative of z enters, through a singular matrix
    mass, rates = np.array([[1.3, 0.0], [0.0, 0.0]]), np.array([[-0.8, 0.5], [0.4, -1.1]])
    turned = np.array([[1.0, 0.3], [-0.4, 1.0]])
    start = np.array([1.0, 0.4 / 1.1])
    block = Written(
        True, mass, rates, np.zeros((2, 1)), np.eye(2), np.zeros((2, 1)), np.eye(2), start, 1, turned, shaped=False, links={},
    )  # fmt: skip
    source = tmp_path / "mass.c"
    source.write_text(HEADER + in_c("mass", block))
    result = tg.simulate(tg.dsblock.build(source, prefix="mass"), (0.0, 1.0), rtol=1e-9, inputs={"U0": 0.0}, outputs=0.1)
    rate = (-0.8 + 0.5 * 0.4 / 1.1) / 1.3
    for k, share in enumerate((1.0, 0.4 / 1.1)):  # y = x + x'
        expected = share * (1.0 + rate) * np.exp(rate * result.t)
        assert result[f"Y{k}"].values == pytest.approx(expected, rel=1e-6)


STOPPING = """
#define POINT int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *out, double *duser
void cntb(int *iopt, int *info, int *sig, int *dim, double *t0, double *x0, double *xd0, double *dp) {
    if (*iopt == 1) info[0] = 1;
    if (*iopt == 2) sig[0] = dim[0] = sig[4] = dim[4] = sig[5] = dim[5] = dim[8] = 1;
    if (*iopt == 3) cblo3sx("X", ""), cblo3sw("CALLS", ""), cblo3pd("ENDS", ""), x0[0] = 1.0, dp[0] = 1e9;
}
void cntf(POINT) { out[0] = -x[0]; }
void cntk(POINT, int *iuser, int *luser, int *ierr) { out[0] = duser[0] += 1.0, *ierr = *t >= dp[0]; }
"""


@pytest.mark.slow
@pytest.mark.parametrize("is_called", [False, True])
@pytest.mark.parametrize("stops", ["first", "second", "both"])
def test_parts_are_told_of_a_communication_point_once_also_where_one_of_them_ends_the_run(tmp_path: Path, stops: str, *, is_called: bool) -> None:
    source = tmp_path / "cnt.c"
    source.write_text(HEADER + STOPPING)
    parts = {name: tg.dsblock.build(source, prefix="cnt") for name in ("first", "second")}
    ends = {f"{name}.ENDS": 0.45 for name in parts if stops in (name, "both")}
    with by_python(wanted=is_called):
        result = tg.simulate(tg.dsblock.join(parts, {}), (0.0, 1.0), outputs=0.1, parameters=ends)
    assert result.t[-1] == pytest.approx(0.5)
    for name in parts:
        assert result[f"{name}.CALLS"].values.tolist() == [float(k + 1) for k in range(len(result.t))]
