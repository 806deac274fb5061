"""The test models by the language's own method. expected.json is another program's; it states 1e-9 relative, 1e-12 absolute."""

from __future__ import annotations

import numpy as np
import pytest

import tidegate as tg
from golden_csmp import EXPECTED, control, model, run
from tidegate import csmp

RUNNABLE = [name for name, entry in EXPECTED.items() if entry.get("rows")]
ALL_THAT_RUN = [*RUNNABLE, "jitter"]


@pytest.mark.parametrize("name", RUNNABLE)
def test_rows_are_those_of_the_independent_program(name: str) -> None:
    done = run(name)
    expected = np.array(EXPECTED[name]["rows"])
    assert done.rows.shape == expected[:, 1:].shape
    np.testing.assert_allclose(done.times, expected[:, 0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(done.rows, expected[:, 1:], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ALL_THAT_RUN)
def test_run_ends_as_expected_and_says_so(name: str) -> None:
    done, entry = run(name), EXPECTED[name]
    assert done.status == entry["status"]
    assert [("! " if remark.is_diagnostic else "") + remark.text for remark in done.remarks] == entry["messages"]
    assert done.stop_time == pytest.approx(entry["stop_time"], rel=1e-12)


@pytest.mark.parametrize("name", RUNNABLE)
def test_final_values_are_those_of_the_independent_program(name: str) -> None:
    final = run(name).final
    for block, value in EXPECTED[name]["look"].items():
        assert final[int(block)] == pytest.approx(value, rel=1e-9, abs=1e-12)


def test_jitter_has_the_statistics_of_uniform_noise() -> None:
    done, bounds = run("jitter"), EXPECTED["jitter"]["bounds"]
    noise, lag = done[2], done[3]
    assert bounds["noise"]["min"] < noise.min()
    assert noise.max() < bounds["noise"]["max"]
    assert abs(noise.mean()) < bounds["noise"]["mean_abs_below"]
    assert bounds["noise"]["variance"][0] < noise.var() < bounds["noise"]["variance"][1]
    assert bounds["lag"]["sd"][0] < lag.std() < bounds["lag"]["sd"][1]
    assert abs(lag.mean()) < bounds["lag"]["mean_abs_below"]


def test_jitter_is_reproducible_and_has_a_seed() -> None:
    first, again, other = run("jitter"), run("jitter"), run("jitter", seed=7)
    assert np.array_equal(first.rows, again.rows)
    assert not np.array_equal(first.rows, other.rows)
    # the generator the PDP-10's FORTRAN library is remembered to have had gives the very same numbers
    np.testing.assert_array_equal(np.column_stack([first.times, first.rows])[: len(EXPECTED["jitter"]["rows_head"])], EXPECTED["jitter"]["rows_head"])


def test_loop_is_refused_with_its_blocks() -> None:
    with pytest.raises(tg.CsmpError, match="SORT FAILURE AT BLK 2") as caught:
        csmp.run_program(model("loop"), control("loop"))
    assert caught.value.diagnostics[0].loop == (2, 4)
