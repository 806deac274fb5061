"""The native machine against the same method in plain Python, to the last bit, and its rules one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.csmp_plain import Plain
from hypothesis import given, settings
from hypothesis import strategies as st

import tidegate as tg
from golden_csmp import EXPECTED, control, model, program
from tidegate import csmp
from tidegate.csmp.language.block_kinds import BlockStatement
from tidegate.csmp.language.program import CsmpProgram

ORDINARY = ("G", "W", "+", "X", "-", "O", "M", "B", "D", "L", "N", "P", "R", "K", "J", "I", "T1", "U", "Z", "T")
N_INPUTS = {"W": 3, "+": 3, "R": 3, "I": 3, "T1": 3, "X": 2, "Z": 2, "K": 0, "J": 0}
HALF = st.integers(-6, 6).map(lambda n: n / 2)


@st.composite
def programs(draw: st.DrawFn) -> CsmpProgram:
    """Diagrams whose loops all go through blocks that remember; values stay small numbers, so that nothing overflows."""
    n = draw(st.integers(2, 12))
    kinds = [draw(st.sampled_from(ORDINARY)) for _ in range(n)]
    made = CsmpProgram("RANDOM")
    for i, kind in enumerate(kinds):
        # anything may read a state or delay; other blocks only what has a lower number, which the sort always finds an order for
        known = [0, 1, *(j + 2 for j, other in enumerate(kinds) if j < i or other in ("I", "T1"))]
        known += [j + 2 for j, other in enumerate(kinds) if kind == "U" and other == "U"]
        sources = [draw(st.sampled_from(known)) for _ in range(N_INPUTS.get(kind, 1))]
        inputs = (*sources, 0, 0, 0)[:3]
        signs = tuple(draw(st.sampled_from([1, -1])) if kind == "+" and source else 1 for source in inputs)
        made.blocks[i + 2] = BlockStatement(i + 2, kind, inputs, signs)
        p1, p2, p3 = draw(HALF), draw(HALF), draw(HALF)
        if kind == "T":
            p1 = abs(p1) + 0.5
        if kind == "T1":
            p2 = abs(p2) + 1.0
        made.parameters[i + 2] = (p1, p2, p3)
    return made


def plain_rows(made: CsmpProgram, h: float, half_steps: int) -> np.ndarray:
    machine = Plain(made, 0.0, h)
    rows = [[machine.x[b] for b in made.numbers]]
    for _ in range(half_steps):
        machine.half_step()
        rows.append([machine.x[b] for b in made.numbers])
    return np.array(rows)


@pytest.mark.slow
@given(programs())
@settings(max_examples=150, deadline=None)
def test_any_diagram_runs_bit_for_bit_as_in_plain_python(made: CsmpProgram) -> None:
    done = csmp.run(made, to=2, h=0.25, every=0)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(done.rows, plain_rows(made, 0.25, 16))


@pytest.mark.parametrize("name", ["spring", "vdp", "implicit", "ball", "jitter", "fgen3", "hold_reset", "diff2"])
def test_test_models_run_bit_for_bit_as_in_plain_python(name: str) -> None:
    made, asked = model(name), control(name)
    n = 40
    done = csmp.run(made, to=n * asked.interval, h=asked.interval, every=0)
    np.testing.assert_array_equal(done.rows, plain_rows(made, asked.interval, 2 * n))


def test_pairs_of_a_listing_give_what_headed_pairs_give() -> None:
    asked = control("spring")
    rows = csmp.run_program(model("spring_listing"), asked).rows
    np.testing.assert_array_equal(rows, csmp.run_program(model("spring"), asked).rows)
    assert EXPECTED["spring_listing"]["same_results_as"] == "spring"


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@given(x=st.floats(-6, 6, allow_subnormal=False))
@settings(max_examples=40, deadline=None)
def test_polynomials_use_the_centred_window(degree: int, x: float) -> None:
    pairs = [(-4.0, 3.0), (-2.5, -1.0), (-1.0, 2.0), (0.5, 0.0), (1.0, 5.0), (3.0, 1.0), (4.5, -2.0)]
    made = CsmpProgram("", {2: BlockStatement(2, "F", (1, 0, 0))}, {2: (float(degree), 0.0, 0.0)}, {2: pairs})
    done = csmp.run(made, start=x, to=x, h=1)
    assert done[2].tolist() == plain_rows_at(made, x)


def plain_rows_at(made: CsmpProgram, t: float) -> list[float]:
    return [Plain(made, t, 1.0).x[2]]


def test_a_tie_between_abscissae_takes_the_lower() -> None:
    pairs = [(-3.0, 9.0), (-1.0, 0.0), (1.0, 4.0), (3.0, 1.0)]
    made = CsmpProgram("", {2: BlockStatement(2, "F", (1, 0, 0))}, {2: (2.0, 0.0, 0.0)}, {2: pairs})
    (value,) = csmp.run(made, start=0, to=0, h=1)[2]
    # the parabola through the first three pairs
    assert value == pytest.approx(np.polyval(np.polyfit([-3, -1, 1], [9, 0, 4], 2), 0.0), rel=1e-12)


def rows_of(text: str, **options: float) -> csmp.CsmpRun:
    return csmp.run(program(text), **{"to": 2.0, "h": 1.0, "every": 0.0, **options})


def test_reset_at_a_half_step_leaves_the_complete_step_alone() -> None:
    # block 4 is 1 at half steps only
    done = rows_of("2 T 1\n3 K\n4 + 3 -2\n5 I 3 0 4\n---\n2 1\n3 1\n5 10\n")
    assert done[4].tolist() == [0.0, 1.0, 0.0, 1.0, 0.0]
    assert done[5].tolist() == [10.0, 10.0, 11.0, 10.0, 12.0]


def test_reset_at_a_complete_step_starts_the_integrator_anew() -> None:
    done = rows_of("2 T 1\n3 K\n5 I 3 0 2\n---\n2 1\n3 1\n5 10\n")
    assert done[5].tolist() == [10.0, 10.5, 10.0, 10.5, 10.0]


def test_hold_at_a_half_step_keeps_the_value_for_the_whole_step() -> None:
    done = rows_of("2 T 1\n3 K\n4 + 3 -2\n5 I 3 4\n---\n2 1\n3 1\n5 10\n")
    assert done[5].tolist() == [10.0, 10.5, 10.0, 10.5, 10.0]


def test_integrator_has_scale_and_added_rate() -> None:
    done = rows_of("3 K\n5 I 3\n---\n3 2\n5 1 .5 -.25\n")
    assert done[5].tolist() == [1.0, 1.0 + 0.5 * 2.75, 1.0 + 2.75, 1.0 + 1.5 * 2.75, 1.0 + 2 * 2.75]


def test_delay_of_the_time_is_half_a_step_behind() -> None:
    assert rows_of("2 U 1\n---\n2 -7\n")[2].tolist() == [-7.0, 0.0, 0.5, 1.0, 1.5]


@pytest.mark.parametrize(("period", "train"), [("1", [1, 0, 1, 0, 1]), ("2", [1, 1, 0, 0, 1]), (".5", [1, 1, 1, 1, 1]), ("4", [1, 1, 1, 1, 0])])
def test_pulse_trains_begin_with_a_pulse_of_half_their_period(period: str, train: list[int]) -> None:
    assert rows_of(f"2 T 1\n---\n2 {period}\n")[2].tolist() == train


def test_pulse_train_waits_for_its_input_and_starts_anew() -> None:
    # input is t - 1 until t = 2.5, then negative again
    done = rows_of("3 O 1\n4 O 1\n5 K\n6 - 5\n7 R 4 6 3\n2 T 7\n---\n3 -1\n4 -2.5\n5 1\n2 1\n", to=4.0)
    assert done[2].tolist() == [0, 0, 1, 0, 1, 0, 0, 0, 0]


def test_quit_in_the_initial_pass_leaves_one_row() -> None:
    done = rows_of("2 K\n3 Q 2 1\n---\n2 .25\n")
    assert (done.status, done.messages, done.times.tolist(), done.stopped_by) == ("quit", ["RUN TERMINATED BY A Q BLOCK"], [0.0], 3)


def test_quit_acts_at_half_steps_and_stores_no_row_that_is_not_due() -> None:
    done = rows_of("2 K\n3 Q 1 2\n---\n2 .75\n", h=0.5, every=1.0)
    assert (done.stop_time, done.times.tolist(), done.final[3]) == (1.0, [0.0, 1.0], 0.0)
    done = rows_of("2 K\n3 Q 1 2\n---\n2 1.1\n", h=0.5, every=1.0)
    assert (done.stop_time, done.times.tolist()) == (1.25, [0.0, 1.0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2 K\n3 / 2 0\n---\n2 1\n", "ATTEMPT TO DIVIDE BY ZERO IN BLK 3"),
        ("2 K\n3 H 2\n---\n2 -1\n", "ATTEMPT TO TAKE SQRT OF A -VE NO. IN BLK 3"),
        ("3 T 1\n", "PERIOD (P1) FOR T BLK 3 MUST BE GREATER THAN ZERO"),
        ("3 U4 1\n", "USER-DEFINED SUBROUTINE NOT LOADED FOR BLK 3"),
        ("3 F 1\n---\n3 -2\n---\n3\n0 0\n", "USER-DEFINED SUBROUTINE NOT LOADED FOR BLK 3"),
    ],
)
def test_run_errors_name_their_block_and_stop_there(text: str, message: str) -> None:
    done = rows_of(text)
    assert (done.status, done.messages, done.stopped_by) == ("error", [message, "ERROR DURING MODEL EXECUTION"], 3)
    assert all(remark.is_diagnostic and remark.hint for remark in done.remarks)
    assert len(done.times) == 0


def test_implicit_equation_that_does_not_settle_is_reported_and_the_run_goes_on() -> None:
    made = program("2 V\n3 M 2\n4 H 3\n5 + 4 1\n6 Y 5 2\n---\n2 3\n6 0 4\n")
    done = csmp.run(made, to=1, h=1, every=1)
    assert done.status == "complete"
    assert done.messages[0] == "ITERATION LIMIT OF 4 EXCEEDED FOR V & Y BLKS 2 & 6 AT TIME 0.0000E-01"
    assert done.half_steps == 2
    np.testing.assert_array_equal(done.rows, plain_rows(made, 1.0, 2)[::2])


def test_a_thousand_iteration_limits_are_all_reported() -> None:
    done = csmp.run(program("2 V\n5 O 2\n6 Y 5 2\n---\n2 3\n5 1\n6 1e-6 2\n"), to=1, h=0.001)
    assert sum(message.startswith("ITERATION LIMIT") for message in done.messages) == 2001


def test_debug_listing_shows_an_iteration_block_by_block() -> None:
    done = csmp.run(model("implicit"), to=0, h=0.1, debug=(0, 0))
    blocks = [entry.block for entry in done.debug]
    n = blocks.count(6)
    assert blocks == [2, 3, 4, 6] * n + [8]
    loops = [entry for entry in done.debug if entry.block == 6]
    assert [entry.m for entry in loops] == list(range(n))
    # P2 shows the limit first and last, Wegstein's slope between
    assert (loops[0].p2, loops[-1].p2) == (20.0, 20.0)
    assert all(0 < entry.p2 < 1 for entry in loops[1:-1])
    guesses = [entry for entry in done.debug if entry.block == 2]
    assert all(entry.p1 == 1.0 and entry.m == 2 for entry in guesses)
    assert [entry.x for entry in guesses[1:]] == [entry.x for entry in loops[:-1]]


def test_rows_come_at_the_first_complete_step_not_before_each_multiple() -> None:
    done = csmp.run(model("vdp"), to=2, h=0.3, every=0.5, out=[2])
    # the last of six complete steps ends at 1.8; never past the upper limit
    assert done.times.tolist() == pytest.approx([0.0, 0.6, 1.2, 1.5], rel=1e-12)
    assert done.stop_time == pytest.approx(1.8, rel=1e-12)


@pytest.mark.parametrize(("every", "n"), [(0.1, 11), (0.05, 21), (0.0, 21), (0.3 / 3, 11), (1.0, 2), (5.0, 1)])
def test_output_interval_below_the_integration_interval_stores_half_steps(every: float, n: int) -> None:
    assert len(csmp.run(model("vdp"), to=1, h=0.1, every=every, out=[2]).times) == n


def test_equal_limits_execute_the_initial_stage_only() -> None:
    done = csmp.run(model("vdp"), start=3, to=3, h=0, out="A")
    assert (done.times.tolist(), done.half_steps, done.status) == ([3.0], 0, "complete")


def test_percentage_repeats_the_value_stored_last() -> None:
    exact = csmp.run(model("vdp"), to=5, h=0.1, out=[2, 3])
    coarse = csmp.run(model("vdp"), to=5, h=0.1, out=[2, 3], percent=10)
    for column in range(2):
        kept = exact.rows[0, column]
        for new, stored in zip(exact.rows[:, column], coarse.rows[:, column], strict=True):
            if abs(new - kept) > 0.1 * abs(kept):
                kept = new
            assert stored == kept
    assert len(np.unique(coarse.rows[:, 0])) < len(np.unique(exact.rows[:, 0]))
    assert coarse.final == exact.final


def test_values_that_are_no_numbers_are_stored_even_with_a_percentage() -> None:
    done = csmp.run(program("2 O 1\n3 X 2 2\n4 / 3 2\n5 + 3 -3\n---\n2 1e200\n"), to=1, h=1, out=[3, 5], percent=5)
    assert np.all(np.isinf(done[3]))
    assert np.all(np.isnan(done[5]))


def test_retain_goes_on_where_the_run_ended() -> None:
    made, asked = model("spring"), control("spring")
    whole = csmp.run_program(made, asked)
    first = csmp.run_program(made, control("spring", upper=10))
    first.retain()
    second = csmp.run_program(made, control("spring", lower=10))
    # a second run does not know which value was stored last: stored values agree to the percentage, the final ones to rounding
    np.testing.assert_allclose(second.rows, whole.rows[10:], rtol=1e-4)
    for block, value in whole.final.items():
        assert second.final[block] == pytest.approx(value, rel=1e-9, abs=1e-12)


def test_retain_without_percentage_repeats_every_row() -> None:
    made = model("spring")
    whole = csmp.run(made, to=20, h=0.1, every=1, out="A")
    csmp.run(made, to=10, h=0.1, every=1).retain()
    second = csmp.run(made, start=10, to=20, h=0.1, every=1, out="A")
    np.testing.assert_allclose(np.vstack([whole.rows[:10], second.rows]), whole.rows, rtol=1e-9, atol=1e-12)


def test_running_changes_nothing_of_the_program() -> None:
    made = model("implicit")
    before = dict(made.parameters)
    csmp.run(made, to=1, h=0.1)
    assert made.parameters == before


def test_a_large_block_number_and_many_rows_need_no_sizes() -> None:
    made = CsmpProgram("", {90_000: BlockStatement(90_000, "O", (1, 0, 0))}, {90_000: (1.0, 0.0, 0.0)})
    done = csmp.run(made, to=100, h=0.001)
    assert len(done.times) == 100_001
    assert done[90_000][-1] == 101.0
    assert math.isclose(done.times[-1], 100.0)


MEMORY = "2 J\n3 T 1\n4 U 2\n5 U 4\n6 Z 2 3\n7 I 5\n8 T1 6\n9 + 7 8 -2\n---\n3 .7\n7 1\n8 0 .5\n"


@pytest.mark.parametrize("every", [0.0, 0.1, 0.37])
def test_a_run_that_goes_on_is_the_long_run_to_the_last_bit(every: float) -> None:
    options = {"h": 0.1, "every": every, "percent": 3.0}
    whole = csmp.run(program(MEMORY), to=3, **options)
    first = csmp.run(program(MEMORY), to=1, **options)
    second = first.go_on(to=2.5)
    third = second.go_on(to=3)
    np.testing.assert_array_equal(np.concatenate([first.times, second.times, third.times]), whole.times)
    np.testing.assert_array_equal(np.vstack([first.rows, second.rows, third.rows]), whole.rows)
    assert third.final == whole.final
    assert first.half_steps + second.half_steps + third.half_steps == whole.half_steps
    assert (third.control.lower, third.control.upper) == (0, 3)


@pytest.mark.slow
def test_an_interrupted_run_goes_on_as_if_nothing_had_been() -> None:
    whole = csmp.run(model("vdp"), to=40_000, h=0.02, every=10, out=[2])
    first = csmp.run(model("vdp"), to=40_000, h=0.02, every=10, out=[2], progress=lambda t: True)
    assert first.status == "interrupted"
    np.testing.assert_array_equal(np.vstack([first.rows, first.go_on(to=40_000).rows]), whole.rows)


def test_going_on_needs_a_run_that_can() -> None:
    done = csmp.run(model("vdp"), to=1, h=0.1)
    with pytest.raises(tg.UsageError, match="cannot go on to 1"):
        done.go_on(to=1)
    done.go_on(to=2)
    with pytest.raises(tg.UsageError, match="gone on with already"):
        done.go_on(to=3)
    with pytest.raises(tg.UsageError, match=r"ended at 0\.5 by itself"):
        csmp.run_program(model("divzero"), control("divzero")).go_on(to=2)
    with pytest.raises(tg.CsmpError, match="IMPROPER PARAM"):
        csmp.run(model("vdp"), to=0, h=0).go_on(to=2)


def test_a_finished_run_keeps_the_program_as_it_was() -> None:
    made = model("spring")
    done = csmp.run_program(made, control("spring"))
    made.delete(9)
    assert done.result.columns[0].name == "Y"
    assert 9 not in done.retained()
    done.retain()
    assert made.parameter(48)[0] == done.final[48]
    assert 9 not in made.parameters


@pytest.mark.parametrize(
    ("number", "block", "said"),
    [
        (2, BlockStatement(2, "QQ"), 'BLK 2 HAS AN ILLEGAL BLK TYPE ("QQ")'),
        (1, BlockStatement(1, "K"), "INVALID BLK NO."),
        (3, BlockStatement(2, "K"), "INVALID BLK NO."),
        (10**9, BlockStatement(10**9, "K"), "INVALID BLK NO."),
        (2, BlockStatement(2, "G", (-1, 0, 0)), "I/P (BLK -1) TO BLK 2 IS NOT DEFINED"),
    ],
)
def test_programs_put_together_wrongly_are_refused(number: int, block: BlockStatement, said: str) -> None:
    with pytest.raises(tg.CsmpError) as caught:
        csmp.run(CsmpProgram("", {number: block}), to=1, h=0.1)
    assert [one.text for one in caught.value.diagnostics] == [said]


def test_a_run_that_would_never_end_is_refused() -> None:
    with pytest.raises(tg.CsmpError, match="would never end"):
        csmp.run(model("vdp"), to=1e300, h=0.1)


def test_degree_written_by_a_routine_uses_no_more_pairs_than_there_are() -> None:
    made = program("2 U1\n3 F 1\n---\n3 1\n---\n3\n0 0\n1 1\n2 4\n")

    def raises_the_degree(ctx, block):
        ctx.parameters(3)[0] = 9.0

    done = csmp.run(made, to=2, h=0.5, user={"user1": raises_the_degree})
    np.testing.assert_allclose(done[3], done.times**2, atol=1e-12)  # rounding of a sum of three products
