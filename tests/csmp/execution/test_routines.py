"""User routines: where they come from, what they see and may do, and that compiled and called ones give the same."""

from __future__ import annotations

import math
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from golden_csmp import control, model, program, run, spring_user
from tidegate import csmp
from tidegate.csmp.execution.traced import is_followable
from tidegate.expressions.tracing import special_calls

GAIN = 2.0
count = 0


def one(text: str, routine: Any, **options: Any) -> csmp.CsmpRun:
    return csmp.run(program(text), **{"to": 1.0, "h": 0.5, "every": 0.0, "user": {"user1": routine}, **options})


RAMP = "2 U1 1\n"


def test_routines_are_found_in_a_module_by_name_and_by_mark() -> None:
    module = ModuleType("mine")

    @csmp.user(2)
    def anything(ctx, block):
        return 0.0

    @csmp.interpolation(3)
    def other(x, pairs, ctx):
        return 0.0

    module.__dict__.update(user1=lambda ctx, block: 0.0, intrp2=lambda x, pairs, ctx: 0.0, anything=anything, other=other, helper=len)
    found = csmp.routines_of(module)
    assert (sorted(found.users), sorted(found.interpolations)) == ([1, 2], [2, 3])
    assert found.users[2] is anything


def test_routines_are_loaded_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def user1(ctx, block):\n    s = ctx.p2 * ctx.x1 + ctx.x2\n    ctx.set_uo(block + 1, s)\n    return -s / ctx.p1\n")
    done = csmp.run_program(model("spring_u1"), control("spring_u1"), user=file)
    assert done.native == (4,)
    np.testing.assert_array_equal(done.rows, run("spring_u1").rows)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("missing.py", "there is no file missing.py"),
        ({"user16x": len}, "'user16x' in the mapping names no user routine"),
        ({"user1": 3}, "is 3, no function"),
        ([len], "is no user routine"),
        (7, "is no user routine"),
    ],
)
def test_what_is_no_routine_is_refused(source: Any, said: str) -> None:
    with pytest.raises(tg.UsageError, match=said):
        csmp.routines_of(source)


def test_file_with_an_error_is_named(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("1 / 0\n")
    with pytest.raises(tg.UsageError, match=r"broken\.py could not be loaded: ZeroDivisionError"):
        csmp.routines_of(file)


@pytest.mark.parametrize("number", [0, 16, "1"])
def test_there_are_fifteen_user_routines(number: Any) -> None:
    with pytest.raises(tg.UsageError, match="from 1 to 15"):
        csmp.user(number)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ({2: abs}, "given for block 2, but that block is of type T1"),
        ({7: abs}, "given for block 7, but there is no such block"),
        ({"user16": abs}, "there is no routine 'user16'"),
        ({"intrp4": abs}, "there is no routine 'intrp4'"),
    ],
)
def test_routine_that_no_block_would_call_is_refused(source: Any, said: str) -> None:
    decay = csmp.load("DECAY\n2 T1\n\n2 1 .5\n\n")
    with pytest.raises(tg.UsageError, match=said):
        csmp.run(decay, to=1, h=0.1, user=source)


def test_a_block_may_have_a_routine_of_its_own() -> None:
    done = csmp.run(program("2 U1 1\n3 U1 1\n"), to=1, h=1, user={"u1": lambda ctx, block: 1.0, 3: lambda ctx, block: 2.0})
    assert done.final == {2: 1.0, 3: 2.0}


def _branches(ctx, block):
    if ctx.x1 > 0.4:
        ctx.set_uo(3, math.sin(ctx.x1))
        return ctx.x1**2 if ctx.stage == 3 else 0.0
    return -GAIN * ctx.time


def _window(ctx, block):
    total = 0.0
    for weight, source in ((1.0, 4), (0.5, 5)):
        total = total + weight * ctx.out[source]
    return max(total, ctx.p1) + ctx.h


@pytest.mark.parametrize(
    ("routine", "text"),
    [(_branches, "2 U1 1\n3 UO 2\n"), (_window, "2 U1 1\n4 O 1\n5 G 4\n---\n2 .25\n4 -.5\n5 3\n"), (spring_user, "2 U1 1 1\n3 UO 2\n---\n2 3 4\n")],
)
def test_compiled_routine_gives_what_the_called_one_gives(routine: Any, text: str) -> None:
    def called(ctx, block):
        return routine(ctx, block)

    native, python = one(text, routine, h=0.2), one(text, called, h=0.2)
    assert (native.native, native.called, python.called) == ((2,), (), (2,))
    np.testing.assert_allclose(native.rows, python.rows, rtol=1e-15, atol=1e-300)  # sums may be ordered otherwise by simplification


def _counts(ctx, block):
    global count  # noqa: PLW0603 - what must not be followed
    count = count + 1
    return float(count)


def _reads_what_is_counted(ctx, block):
    return count + 0.0


def _random(ctx, block):
    return random.random()


def _numpy_random(ctx, block):
    return np.random.random()  # noqa: NPY002


def _prints(ctx, block):
    print(block)  # noqa: T201
    return 0.0


def _writes(ctx, block):
    ctx.out[4] = 1.0
    return 0.0


def _remembers(ctx, block, seen=[]):  # noqa: B006
    return float(len(seen))


LIST = [1.0]


def _reads_a_list(ctx, block):
    return LIST[0]


@pytest.mark.parametrize("routine", [_counts, _reads_what_is_counted, _random, _numpy_random, _prints, _writes, _remembers, _reads_a_list])
def test_routine_with_effects_or_a_memory_is_called_not_followed(routine: Any) -> None:
    assert not is_followable(routine)


def test_routine_that_counts_is_called_once_a_half_step() -> None:
    global count  # noqa: PLW0603
    count = 0
    done = one(RAMP, _counts)
    assert done[2].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert done.called == (2,)


def _saturated(ctx, block):
    return max(ctx.time, 0.5)


def _looped_by_a_signal(ctx, block):
    total = 0.0
    for k in range(math.floor(ctx.time)):
        total = total + k
    return total


def test_a_defect_of_following_a_routine_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(special_calls._RULES, max, lambda tracer, args, kwargs: args[1])
    done = one(RAMP, _saturated)
    assert "other numbers than when it is called" in done.why_called[2]


@pytest.mark.parametrize(("routine", "why"), [(_counts, "effects or a memory"), (_looped_by_a_signal, "depends on symbols")])
def test_a_run_says_why_a_routine_was_called_and_not_followed(routine: Any, why: str) -> None:
    done = one(RAMP, routine)
    assert why in done.why_called[2]
    assert tuple(done.why_called) == done.called


def test_routine_sees_the_run() -> None:
    seen: list[Any] = []

    def look(ctx, block):
        facts = ctx.run
        seen.append((block, ctx.stage, ctx.time, ctx.x1, ctx.x2, ctx.h, facts.half_step, ctx.label, ctx.code(3), ctx.inputs(3), ctx.code(2)))
        return 0.0

    done = one("2 U1 1 3; MINE\n3 + 1 -1\n", look)
    assert done.status == "complete"
    assert seen[0] == (2, 1, 0.0, 0.0, 0.0, 0.5, 0.25, "MINE", 27, (1, -1, 0), 31)
    assert [entry[1] for entry in seen] == [1, 2, 3, 2, 3]
    facts: list[Any] = []
    one("2 U1 1\n3 K\n4 I 2\n5 U 4\n", lambda ctx, block: facts.append(ctx.run) or 0.0, debug=(0, 1), percent=2)
    assert (facts[0].n_blocks, facts[0].n_constants, facts[0].n_integrators, facts[0].n_delays) == (4, 1, 1, 1)
    assert (facts[0].debug, facts[0].percent, facts[0].title, facts[0].upper) == ((0, 1), 2, "TEST", 1.0)


def test_routine_sees_what_the_language_keeps_in_parameters() -> None:
    seen: list[Any] = []
    text = "2 U1 1\n10 F 1\n11 F 1\n---\n2 0\n---\n10\n0 0\n1 1\n\n11\n0 0\n1 1\n"
    one(text, lambda ctx, block: seen.append((ctx.parameters(11)[2], ctx.internal(11), ctx.parameters(10)[2])) or 0.0)
    assert seen[0] == (3.0, 2, 1.0)


def test_routine_may_write_outputs_parameters_and_inputs() -> None:
    def meddle(ctx, block):
        if ctx.stage == 1:
            ctx.parameters(3)[0] = 5.0
            ctx.set_input(3, 1, 4)
        ctx.out[4] = 2.0 * ctx.time
        ctx.out[block] = 7.0

    done = one("2 U1 1\n3 G 2\n4 K\n---\n3 1\n", meddle)
    assert done[3].tolist() == [0.0, 2.5, 5.0, 7.5, 10.0]
    assert done[2].tolist() == [7.0] * 5
    assert done.program.parameter(3) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda ctx: ctx.set_uo(3, 1.0), "BLK 3 IS NOT A UO BLK"),
        (lambda ctx: ctx.set_uo(99, 1.0), "BLK 99 IS NOT A UO BLK"),
        (lambda ctx: ctx.set_uo(6, 1.0), "I/P B1 FOR UO BLK 6 IS NOT THE ASSOCIATED USER-DEFINED BLK 2"),
        (lambda ctx: ctx.out[77], "BLK 77 NOT USED"),
        (lambda ctx: ctx.out.__setitem__(1, 0.0), "BLK 1 RESERVED FOR TIME"),
        (lambda ctx: ctx.set_input(3, 1, 55), "BLK 55 NOT USED"),
    ],
)
def test_wrong_deeds_of_a_routine_are_diagnostics(act: Any, said: str) -> None:
    def routine(ctx, block):
        if block == 2:
            act(ctx)
        return 0.0

    done = one("2 U1 1\n3 O 1\n5 U1 1\n6 UO 5\n", routine)
    assert (done.status, done.messages) == ("error", [said, "ERROR DURING MODEL EXECUTION"])


def test_exception_in_a_routine_keeps_the_rows_and_the_model() -> None:
    def fails(ctx, block):
        if ctx.time > 0.6:
            raise ValueError("too late")
        return ctx.time

    done = one("2 U1 1\n3 O 2\n", fails)
    assert done.status == "error"
    assert done.messages == ["USER-DEFINED SUBROUTINE OF BLK 2 FAILED: ValueError: too late", "ERROR DURING MODEL EXECUTION"]
    assert done.times.tolist() == [0.0, 0.25, 0.5]
    assert done.final == {2: 0.5, 3: 0.5}
    assert isinstance(done.error, ValueError)
    assert done.error.__traceback__ is not None
    assert len(done.program.blocks) == 2


def test_value_that_is_no_number_is_an_error_of_the_routine() -> None:
    done = one(RAMP, lambda ctx, block: "seven")
    assert done.status == "error"
    assert "ValueError" in done.messages[0]


def test_routine_that_sets_nothing_is_told_what_it_must_set() -> None:
    def forgets(ctx, block):
        ctx.out[3] = ctx.time  # another block's

    done = one("2 U7 1\n3 K\n", None, user={"user7": forgets})
    assert done.messages == ["USER-DEFINED SUBROUTINE OF BLK 2 FAILED: USER7 must set C(L)", "ERROR DURING MODEL EXECUTION"]
    assert done.remarks[0].hint == "let it return the output of block 2, or set ctx.out[block]"


def test_routine_may_end_the_run_as_a_quit_block_does() -> None:
    done = one(RAMP, lambda ctx, block: ctx.quit() if ctx.time >= 0.5 else 1.0)
    assert (done.status, done.stop_time, done.stopped_by) == ("quit", 0.5, 2)


FUNCTION = "3 F 1\n---\n3 -1\n---\n3\n0 0\n1 10\n2 0\n"


def _staircase(x, pairs, ctx):
    value = pairs[0][1]
    for at, height in pairs:
        if at <= x:
            value = height
    return value


def test_interpolation_routine_is_compiled_where_it_can_be_followed() -> None:
    def called(x, pairs, ctx):
        return _staircase(x, pairs, ctx)

    native = csmp.run(program(FUNCTION), to=3, h=0.5, every=0, user={"intrp1": _staircase})
    python = csmp.run(program(FUNCTION), to=3, h=0.5, every=0, user={"intrp1": called})
    assert (native.native, python.called) == ((3,), (3,))
    assert native[3].tolist() == python[3].tolist() == [0.0] * 4 + [10.0] * 4 + [0.0] * 5


def test_routine_sees_values_of_half_a_step_ago_of_blocks_behind_it() -> None:
    # the sort puts block 3, which reads block 2, behind it
    done = one("2 U1 1\n3 O 2\n---\n3 100\n", lambda ctx, block: ctx.time + 1000 * ctx.out[3])
    assert done[2][1] == 0.25 + 1000 * done[3][0]
