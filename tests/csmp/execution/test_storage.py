"""A run as a result of tidegate: names, files, pictures; and runs that were stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

import tidegate as tg
from golden_csmp import FOLDER, control, model, program, run
from tidegate import csmp


def test_columns_are_named_by_labels_and_described_by_numbers() -> None:
    result = run("spring").result
    assert [(column.name, column.description) for column in result.columns] == [
        ("Y", "block 9"), ("Y DBLE DOT", "block 4"), ("Y DOT", "block 48"), ("block 10", "block 10"),
    ]  # fmt: skip
    assert result.model_name == "NON-LINEAR SPRING WITH DASHPOT"
    assert float(result["Y"][-1]) == run("spring").final[9]


def test_columns_of_one_name_are_told_apart() -> None:
    done = csmp.run(program("2 O 1; SAME\n3 O 1; SAME\n4 O 1\n"), to=1, h=1, out=[2, 3, 3, 4, 1])
    assert [column.name for column in done.result.columns] == ["block 2", "block 3", "block 3 (2)", "block 4", "block 1"]


def test_result_says_how_it_was_computed() -> None:
    result = run("spring").result
    assert {key: result.options[key] for key in ("lower", "upper", "interval", "every", "percent", "blocks")} == {
        "lower": 0, "upper": 20, "interval": 0.1, "every": 1, "percent": 0.01, "blocks": [9, 4, 48, 10],
    }  # fmt: skip
    assert (result.statistics.steps, result.statistics.method, result.status) == (200, "csmp", "finished")
    assert result.parameters["block 9 P1"] == -10.0


@pytest.mark.parametrize("suffix", [".nc", ".csv"])
def test_result_is_read_back_from_a_file(tmp_path: Path, suffix: str) -> None:
    result = run("spring").result
    again = tg.Result.load(result.save(tmp_path / f"outpt{suffix}"))
    np.testing.assert_array_equal(again.values, result.values)
    assert [column.name for column in again.columns] == [column.name for column in result.columns]
    if suffix == ".nc":
        assert again.options["recorded"] == result.options["recorded"]
        assert [column.description for column in again.columns] == ["block 9", "block 4", "block 48", "block 10"]


@pytest.mark.slow
def test_result_is_drawn(tmp_path: Path) -> None:
    run("spring").result.plot("Y", path=tmp_path / "y.png")
    assert (tmp_path / "y.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("name", "status", "said"), [("quit", "terminated", "RUN TERMINATED BY A Q BLOCK"), ("divzero", "failed", "ATTEMPT TO DIVIDE")]
)
def test_status_of_the_run_is_in_the_result(name: str, status: str, said: str) -> None:
    result = run(name).result
    assert (result.status, said in result.message) == (status, True)


def test_values_are_found_by_number_and_label() -> None:
    done = run("spring")
    assert done["y dot"].tolist() == done[48].tolist() == done.rows[:, 2].tolist()
    with pytest.raises(tg.UsageError, match="block 17 was not stored"):
        done[17]
    with pytest.raises(tg.CsmpError, match="BLK 3 NOT USED"):
        done[3]


def test_output_blocks_are_named_in_every_way() -> None:
    spring = model("spring_u1")
    assert csmp.output_blocks(spring, "a") == (4, 5, 9, 10, 48)
    assert csmp.output_blocks(spring, "AS") == (9, 10, 4, 5, 48)
    assert csmp.output_blocks(spring, ["Y", 1, 10]) == (9, 1, 10)
    assert csmp.output_blocks(spring, 4) == (4,)
    with pytest.raises(tg.CsmpError, match="VELOCITY"):
        csmp.output_blocks(spring, ["VELOCITY"])


def test_everything_wrong_with_a_run_is_said_at_once() -> None:
    broken = program("2 T1 1\n3 F 1\n---\n2 1\n---\n3\n0 0\n")
    with pytest.raises(tg.CsmpError) as caught:
        csmp.run(broken, start=5, to=4, h=0.1, out=[2, 9])
    texts = [one.text for one in caught.value.diagnostics]
    assert texts == ["IMPROPER PARAM SPECIFICATION"] * 2 + ["FINAL TIME MUST NOT BE LESS THAN INITIAL TIME", "BLK 9 NOT USED"]


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ((0.0, 1.0, 2.0), "INTEGN INTERVAL MUST NOT BE GREATER THAN TIME RANGE"),
        ((0.0, 1.0, 0.0), "IMPROPER PARAM SPECIFICATION"),
        ((0.0, 1.0, -0.1), "IMPROPER PARAM SPECIFICATION"),
        ((1.0, 0.0, 0.1), "FINAL TIME MUST NOT BE LESS THAN INITIAL TIME"),
        ((0.0, float("inf"), 0.1), "IMPROPER PARAM SPECIFICATION"),
    ],
)
def test_limits_and_interval_are_checked(limits: tuple[float, float, float], said: str) -> None:
    assert [one.text for one in csmp.integration_problems(*limits)] == [said]


@pytest.mark.parametrize("seed", [0, -3, 2**31 - 1])
def test_seed_is_checked(seed: int) -> None:
    with pytest.raises(tg.UsageError, match="seed of jitter"):
        run("jitter", seed=seed)


def test_progress_is_told_the_time_and_may_stop_the_run_at_an_output_time() -> None:
    seen: list[float] = []

    def progress(t: float) -> bool:
        seen.append(t)
        return True

    done = csmp.run(model("vdp"), to=1e6, h=0.001, every=10, out=[2], progress=progress)
    assert (done.status, done.messages) == ("interrupted", ['RUN TERMINATED BY A "^"'])
    assert seen
    assert seen[0] < 1e6
    assert done.stop_time == done.times[-1] == pytest.approx(round(done.times[-1] / 10) * 10, abs=1e-6)
    assert done.rows[-1, 0] == done.final[2]


@pytest.mark.slow
def test_interruption_at_once_after_the_start_leaves_rows() -> None:
    asked = control("spring", upper=1e7)
    threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    done = csmp.run_program(model("spring"), asked)
    assert done.status == "interrupted"
    assert len(done.times) > 1
    np.testing.assert_array_equal(done.rows[:21], run("spring").rows)
    assert done.result.status == "failed"


def test_ctrl_c_inside_a_routine_waits_for_the_next_output_time_too() -> None:
    fired: list[float] = []

    def press(ctx, block):
        if ctx.time >= 2.3 and not fired:
            fired.append(ctx.time)
            os.kill(os.getpid(), signal.SIGINT)
        return ctx.time

    done = csmp.run(program("2 U1 1\n"), to=10, h=0.1, every=1, user={"user1": press})
    assert (done.status, done.times.tolist()) == ("interrupted", [0.0, 1.0, 2.0, 3.0])


def test_the_second_ctrl_c_does_not_wait() -> None:
    def hang(ctx, block):
        if ctx.time > 2.0:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
        return ctx.time

    done = csmp.run(program("2 U1 1\n"), to=10, h=0.25, every=1, user={"user1": hang})
    assert done.status == "interrupted"
    assert done.times.tolist() == [0.0, 1.0, 2.0]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.slow
def test_process_that_gets_sigint_ends_by_itself_with_its_rows() -> None:
    code = f"""
        from tidegate import csmp
        print("begun", flush=True)
        done = csmp.run(csmp.load({str(FOLDER / "spring.mod")!r}), to=1e8, h=0.1, every=1, out=[9], progress=lambda t: print("on", flush=True))
        print(done.status, len(done.times) > 1)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["begun\n", "on\n"]
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert rest.splitlines()[-1] == "interrupted True"


def test_runs_in_threads_do_not_touch_the_signal_handler() -> None:
    before, results = signal.getsignal(signal.SIGINT), list[csmp.CsmpRun]()
    threads = [threading.Thread(target=lambda: results.append(run("spring"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert signal.getsignal(signal.SIGINT) is before
    for done in results:
        np.testing.assert_array_equal(done.rows, results[0].rows)
