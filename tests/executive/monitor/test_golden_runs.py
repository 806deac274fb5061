"""The printed runs of the source: counts, steps and rows, with the numbers of its machine and with ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dec10_numbers import Dec
from monitor_models import Body, Flow, List, Look, model
from tidegate.executive.monitor import Monitor, Stopped, Trouble

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "condis.json").read_text(encoding="utf-8"))
RUNS = {f"A2-{run['run']}": run for run in GOLDEN["appendix2"]["runs"]}
OURS = GOLDEN["oracle_reproduction"]
DIALOGUE = GOLDEN["appendix4"]
Number = Any


def jumps(monitor: Monitor, y: Flow, number: Number) -> Body:
    """y' = 0, 1, -1, 0 in turn, for one unit of time each; nobody tells the monitor when."""

    def evaluate() -> None:
        t = monitor.time
        y.rate = number(0.0 if t < 1 else 1.0 if t < 2 else -1.0 if t < 3 else 0.0)

    return Body(evaluate)


def exact(t: Number, number: Number) -> Number:
    return number(0.0) if t < 1 else t - 1 if t < 2 else 3 - t if t < 3 else number(0.0)


def started(monitor: Monitor, agenda: List, error: tuple[float, float], frequency: float, number: Number) -> list[tuple[Number, ...]]:
    """The problem until t = 4, with one sample; what it will have seen."""
    y = Flow(number(0.0), abserror=number(error[0]), relerror=number(error[1]))
    rows: list[tuple[Number, ...]] = []

    def look() -> None:
        difference = 1e5 * (y.state - exact(monitor.time, number))
        rows.append((monitor.time, y.state, exact(monitor.time, number), difference, y.rate, "pc" if monitor.last_method == "pc" else "rk"))

    monitor.start_variable(y)
    monitor.start_body(jumps(monitor, y, number))
    monitor.start_sample(Look(look, number(frequency)))
    agenda.at(number(4.0))
    return rows


def run_of_appendix_2(name: str, number: Number) -> tuple[Monitor, list[tuple[Number, ...]]]:
    run = RUNS[name]
    monitor, agenda = model(run["method"].lower(), dtmin=number(run["dtmin"]), dtmax=number(run["dtmax"]), time=number(0.0))
    rows = started(monitor, agenda, (run["maxabserror"], run["maxrelerror"]), run["sample_frequency"], number)
    agenda.run()
    return monitor, rows


def printed(row: dict[str, float]) -> list[str]:
    return [f"{row['t']:.8f}", f"{row['y']:.8f}", f"{row['y_exact']:.8f}", f"{row['diff_1e5']:.3f}"]


@pytest.mark.parametrize("name", RUNS)
def test_every_printed_digit_comes_out_with_the_numbers_of_the_old_machine(name: str) -> None:
    monitor, rows = run_of_appendix_2(name, Dec)
    told = [[f"{t:.8f}", f"{y:.8f}", f"{truth:.8f}", f"{difference:.3f}"] for t, y, truth, difference, _, _ in rows]
    assert told == [printed(row) for row in RUNS[name]["rows"]]
    assert monitor.counters.evaluations == RUNS[name]["evaluations"] == OURS["evaluations_36bit"][name]


@pytest.mark.parametrize("name", RUNS)
def test_doubles_make_the_same_steps(name: str) -> None:
    """Twenty additions of 0.2 reach 4 here, and there not: one sample less, and its two evaluations."""
    monitor, rows = run_of_appendix_2(name, float)
    assert monitor.counters.evaluations == OURS["evaluations_double"][name]
    assert len(rows) == OURS["rows_double"][name]
    for row, golden in zip(rows, RUNS[name]["rows"], strict=False):
        if golden["t"] < 3.9:
            # the printed rows carry the rounding of 27 bits, some 1e-8 a step
            assert row[0] == pytest.approx(golden["t"], abs=1.3e-7)
            assert row[1] == pytest.approx(golden["y"], abs=1.7e-7)


@pytest.mark.parametrize("name", RUNS)
def test_steps_of_each_kind_are_as_many_as_an_independent_program_took(name: str) -> None:
    monitor, _ = run_of_appendix_2(name, Dec)
    for what, count in OURS["step_statistics"][name].items():
        assert getattr(monitor.counters, what) == count, what


@pytest.mark.parametrize("name", RUNS)
def test_evaluations_are_accounted_for(name: str) -> None:
    counted = run_of_appendix_2(name, float)[0].counters
    steps = 9 * counted.rk_accepted + 7 * counted.rk_rejected + counted.rk_regrids + 2 * counted.pc_accepted + 3 * counted.pc_rejected
    samples = counted.interpolated_samples + counted.steps_with_samples
    assert counted.evaluations == counted.periods + steps + 3 * counted.refinements + samples


@pytest.mark.parametrize("method", ["rke", "pc"])
def test_samples_between_steps_leave_the_steps_alone(method: str) -> None:
    names = ("A2-1", "A2-2") if method == "rke" else ("A2-3", "A2-4")
    (plain, _), (sampled, _) = (run_of_appendix_2(name, float) for name in names)
    for what in ("rk_accepted", "rk_rejected", "pc_accepted", "pc_rejected", "doublings"):
        assert getattr(plain.counters, what) == getattr(sampled.counters, what)


def dialogue(number: Number, retry: str) -> tuple[Monitor, list[tuple[Number, ...]], list[tuple[Trouble, int, int, Number]]]:
    """The run of appendix 4: three errors, and what its user answered; each with rows and halvings until then and the culprit's state."""
    answers: list[dict[str, Any]] = [
        {"dtmin": number(0.1), "dtmax": number(0.1)},
        {"method": "pc", "dtmin": number(1e-5), "relerror": number(0.0), "max_halvings": 10},
        {"max_halvings": 30},
    ]
    monitor, agenda = model("rke", dtmin=number(0.2), dtmax=number(1.0), time=number(0.0), retry=retry)
    rows = started(monitor, agenda, (1e-5, 1e-5), 0.0, number)
    troubles: list[tuple[Trouble, int, int, Number]] = []
    while agenda.events:
        try:
            monitor.advance()
        except Stopped as stopped:
            trouble = stopped.trouble
            troubles.append((trouble, len(rows), monitor.halvings, trouble.state))
            monitor.change(**answers.pop(0))
    return monitor, rows, troubles


def test_the_printed_dialogue_repairs_its_run() -> None:
    monitor, rows, troubles = dialogue(Dec, "same")
    assert monitor.counters.evaluations == DIALOGUE["evaluations"] == 472
    told = [(f"{t:.5f}", f"{y:.5f}", f"{rate:.5f}", last) for t, y, _, _, rate, last in rows]
    published = [(f"{row['t']:.5f}", f"{row['y']:.5f}", f"{row['rate']:.5f}", row["last"]) for part in DIALOGUE["segments"] for row in part["rows"]]
    # parts were left out where the source was printed: what is left stands there in its order
    following = iter(told)
    assert [row for row in published if row not in following] == []
    for (trouble, seen, _, _), golden in zip(troubles, DIALOGUE["errors"], strict=True):
        assert (trouble.number, trouble.kind, seen) == (1, golden["type"].lower(), golden["after_rows"])
        for what in ("time", "dt", "dtmin", "dtmax"):
            assert f"{getattr(trouble, what):.4e}" == f"{golden[what]:.4e}"
    trouble, _, halvings, state = troubles[1]
    menu = DIALOGUE["errors"][1]["error_menu"]
    assert halvings == DIALOGUE["errors"][1]["halvings"]
    assert f"{state:.2e}" == f"{menu['state']:.2e}"
    assert f"{trouble.allowed:.2e}" == f"{menu['max_allowed']:.2e}"
    assert f"{trouble.estimated:.2e}" == f"{menu['estimated']:.2e}"
    for what, count in OURS["step_statistics"]["A4"].items():
        assert getattr(monitor.counters, what) == count, what


def test_the_printed_dialogue_has_the_same_counts_in_doubles() -> None:
    monitor, rows, _ = dialogue(float, "same")
    assert monitor.counters.evaluations == OURS["evaluations_double"]["A4"]
    assert len(rows) == OURS["rows_double"]["A4"]


def test_a_step_tried_again_obeys_the_limits_just_given() -> None:
    """The default: the step of 0.2 is not tried again after dtmax became 0.1, which saves its seven evaluations; the last error comes a row later."""
    monitor, _, troubles = dialogue(Dec, "limited")
    assert monitor.counters.evaluations == 465
    assert [halvings for _, _, halvings, _ in troubles] == [5, 5, 11]
    assert float(troubles[2][0].dt) == pytest.approx(1.5625e-3, rel=1e-6)
    assert troubles[2][1] == DIALOGUE["errors"][2]["after_rows"] + 1


def test_numbers_of_the_old_machine_are_rounded_as_it_did() -> None:
    unit = 2.0**-26  # the last place of 1
    assert Dec(1.0) + unit / 2 == 1 + unit
    assert -Dec(1.0) - unit / 2 == -1 - unit
    assert Dec(1.0) + unit / 2.5 == 1
    assert float(Dec(1.0) / 3) == float(Dec(1 / 3))
    assert Dec(0.1) * 10 == 1
    assert float(Dec(3) * 5 - 4) == 11
    assert Dec(0.0) * 3 == 0
