"""Compiled blocks with one defect each end in one error that names the block and the callback (DSblock 3.3, order of calls and error codes)."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tidegate as tg
from callbacks_by_python import by_python
from tidegate.frontends.dsblock import CompiledDSblock
from tidegate.frontends.dsblock.compiled import compiler

BLOCKS = Path(__file__).parent / "blocks"


def bad(defect: int, **options: Any) -> CompiledDSblock:
    return tg.dsblock.build(BLOCKS / "defective.c", prefix="bad", options=[f"-DDEFECT={defect}"], **options)


def careless(**options: Any) -> CompiledDSblock:
    return tg.dsblock.build(BLOCKS / "careless.c", prefix="careless", **options)


DECLARED = {
    1: r"BLO3SX was called in BLOCKB with IOPT = 1; it may be called in BLOCKB with IOPT = 3 only",
    2: r"SIG\(1\) says 2 names of X, and 1 are declared",
    3: r"DIM\(1\) says NX = 3, and the declared X have 1 elements",
    4: r"the name X is taken 2 times",
    5: r"NY = 1, but there is no BLOCKG",
    6: r"INFO\(1\) = 7 with IOPT = 2; 0 is an ODE",
    7: r"INFO\(3\) = 1, but there is no BLOCKJ",
    8: r"DIM\(6\) says NDP = 0, and the declared ones have 1 elements",
    9: r"BLOCKB \(badb\) with IOPT = 2 refuses the model \(IERR = 4\): no licence for this model",
    10: r"'2X' is no name",
    11: r"BLO3MD was not called directly behind the declaration of a real parameter",
    12: r"P = 0.5, but 1 <= value <= 2 is asked for",
    13: r"BLOCKB wrote behind the last of the 1 elements of X0",
    21: r"NZ = 1, but there is no BLOCKH",
}


@pytest.mark.parametrize("defect", DECLARED)
def test_what_a_block_declares_wrongly_is_refused_when_it_is_loaded(defect: int) -> None:
    with pytest.raises(tg.InvalidModelError, match=DECLARED[defect]) as refused:
        bad(defect)
    assert "DSblock bad" in str(refused.value)


RUNNING = {
    14: r"BLOCKS \(bads\) of DSblock bad reports an error \(IERR = 1\) at t = 0",
    15: r"BLOCKS \(bads\) of DSblock bad asks for NX = 2 in DIMNEW; from 0 to 1 are possible",
    16: r"BLOCKS \(bads\) of DSblock bad gives HCROSS \[5\]",
    17: r"BLOCKF \(badf\) of DSblock bad reports an error \(IERR = 5\) at t = .*: X is out of its range",
    22: r"BLOCKH \(badh\) of DSblock bad reports an error \(IERR = 2\) at t = ",
    23: r"BLOCKV \(badv\) of DSblock bad answers INFO = 3 at t = 0.51",
    24: r"BLOCKV \(badv\) of DSblock bad, or a callback before it, wrote behind the last of the 0 elements of DUSER",
    25: r"BLOCKV \(badv\) of DSblock bad asks for NZ = -1 in DIMNEW",
    26: r"BLOCKV \(badv\) of DSblock bad ends the run at t = 0.51.*: nobody knows what to do",
    28: r"BLOCKV \(badv\) of DSblock bad: BLO3SX was called while the block was not being defined",
    32: r"BLOCKF \(badf\) of DSblock bad, or a callback before it, wrote behind the last of the 1 elements of FOUT",
    33: r"BLOCKH \(badh\) of DSblock bad, or a callback before it, wrote before the first of the 1 elements of Z",
    34: r"BLOCKK \(badk\) of DSblock bad, or a callback before it, wrote behind the last of the 0 elements of W",
    35: r"BLOCKK \(badk\) of DSblock bad, or a callback before it, wrote behind the last of the 0 elements of IUSER",
    36: r"BLOCKG \(badg\) of DSblock bad, or a callback before it, wrote behind the last of the 1 elements of Y",
    37: r"BLOCKJ \(badj\) of DSblock bad, or a callback before it, wrote behind the last of the 1 elements of JAC",
    31: r"BLOCKK \(badk\) of DSblock bad reports an error \(IERR = 1\) at t = 0.5: a file is full",
}


@pytest.mark.parametrize("defect", RUNNING)
def test_what_a_block_does_wrongly_ends_the_run(defect: int) -> None:
    block = bad(defect)
    with pytest.raises(tg.CallbackError, match=RUNNING[defect]):
        tg.simulate(block, (0.0, 1.0), outputs=0.1)
    # nothing of it is left for a run that ends before
    if defect in (17, 22, 31):
        assert tg.simulate(block, (0.0, 0.25), rtol=1e-8).final["X"] == pytest.approx(math.exp(-0.25))


@pytest.mark.parametrize(("defect", "wrote"), [(1, "F.*FOUT"), (2, "G.*Y"), (3, "H.*Z"), (4, "K.*W"), (5, "J.*JAC")])
def test_a_fortran_callback_that_writes_behind_what_it_computes_ends_the_run(defect: int, wrote: str) -> None:
    block = tg.dsblock.build(BLOCKS / "overwriting.f", prefix="over", options=["-cpp", f"-DDEFECT={defect}"])
    letter, vector = wrote.split(".*")
    said = rf"BLOCK{letter} \(over{letter.lower()}_\) of DSblock over, or .*, wrote behind the last of the 1 elements of {vector}, noticed at t = "
    with pytest.raises(tg.CallbackError, match=said):
        tg.simulate(block, (0.0, 1.0), method="radau")


@pytest.mark.parametrize("is_joined", [False, True])
def test_an_event_that_ends_the_run_with_an_error_is_in_the_result(is_joined: bool) -> None:
    block = tg.dsblock.join({"bad": bad(26)}, {}) if is_joined else bad(26)
    with pytest.raises(tg.CallbackError, match=r"BLOCKV \(badv\) of DSblock .*bad ends the run at t = 0.51.*: nobody knows what to do") as ended:
        tg.simulate(block, (0.0, 1.0), rtol=1e-8, store_priority=100)
    result = ended.value.result
    assert result is not None
    assert result.time[-2:] == pytest.approx([math.log(1 / 0.6)] * 2)
    assert (len(result.events), result.status) == (1, "failed")


CARELESS = {
    1: r"BLOCKS \(carelessS\) of DSblock careless gives TEVENT\(1\) = nan at t = 0",
    2: r"BLOCKS \(carelessS\) of DSblock careless gives X = nan at t = 0",
    3: r"the equations give NaN .*, by BLOCKF \(carelessF\) of DSblock careless",
    5: r"the condition `Z >= 0` compares NaN .*, by BLOCKH \(carelessH\) of DSblock careless",
    6: r"^BLOCKH \(carelessH\) of DSblock careless: BLO3SX was called while the block was not being defined; it may be called in .*IOPT = 3 only$",
    7: r"BLOCKV \(carelessV\) of DSblock careless gives X = nan at t = 0.35",
}


@pytest.mark.parametrize("kind", CARELESS)
def test_numbers_that_are_none_are_told_with_the_callback_they_come_from(kind: int) -> None:
    with pytest.raises((tg.CallbackError, tg.NotFiniteError), match=CARELESS[kind]):
        tg.simulate(careless(), (0.0, 1.0), parameters={"KIND": kind})


def test_what_blockf_writes_into_x_is_not_seen_by_outputs() -> None:
    result = tg.simulate(careless(), (0.0, 1.0), parameters={"KIND": 4}, outputs=0.25, rtol=1e-8)
    assert result["Y"].values == pytest.approx(result["X"].values, abs=0.0)
    assert result.final["X"] == pytest.approx(math.exp(-1.0))


@pytest.mark.parametrize("isolate", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_errors_of_blockt_and_blockc_are_warnings(monkeypatch: pytest.MonkeyPatch, *, isolate: bool) -> None:
    monkeypatch.setenv("CARELESS", "close")
    block = careless(isolate=isolate)

    def end(block: CompiledDSblock) -> None:
        tg.simulate(block, (0.0, 1.0), parameters={"KIND": 8})
        block.close()

    said = r"DSblock careless reports an error \(IERR = "
    with (
        pytest.warns(tg.DSblockWarning, match=rf"BLOCKC \(carelessC\) of {said}3\)"),
        pytest.warns(tg.DSblockWarning, match=rf"BLOCKT \(carelessT\) of {said}4\)"),
    ):
        end(block)


def test_every_wrong_declaration_is_told_and_the_refused_model_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARELESS", "name")
    with (
        pytest.warns(tg.DSblockWarning, match=r"BLOCKC .* \(IERR = 3\)"),
        pytest.raises(tg.InvalidModelError, match=r"(?s)SIG\(1\) says 1 names of X, and 2 .*NX = 1.*'9 lives' is no name") as refused,
    ):
        careless()
    assert "start values" not in str(refused.value)
    monkeypatch.setenv("CARELESS", "huge")
    with pytest.raises(tg.InvalidModelError, match=r"DIM\(9\) is 2000000000, more than 100000000 elements"):
        careless()


@pytest.mark.slow
def test_a_parameter_that_is_allowed_and_not_used_stays_what_it_was() -> None:
    for is_called in (False, True):  # by the native adapter, and through Python
        with by_python(wanted=is_called):
            result = tg.simulate(careless(), (0.0, 1.0), parameters={"KIND": 99}, rtol=1e-8)
        assert result.final["X"] == pytest.approx(math.exp(-1.0))


@pytest.mark.slow
def test_what_only_has_the_name_of_a_callback_is_none(tmp_path: Path) -> None:
    """A COMMON block, whose symbol is data, as prefix and letter C; and the square root of C's library for the prefix "sqr" and the letter T."""
    source = tmp_path / "sqr.c"
    source.write_text(
        "double SQRC[8]; void cblo3sx(const char *, const char *);\n"
        "void sqrB(int *iopt, int *info, int *sig, int *dim, double *t0, double *x0) {\n"
        '  if (*iopt == 2) sig[0] = dim[0] = 1; if (*iopt == 3) { cblo3sx("X", ""); x0[0] = 2.0; } }\n'
        "void sqrF(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *f) { f[0] = -x[0]; }\n"
        "double sqrC[8];\n"
    )
    block = tg.dsblock.build(source, prefix="sqr")
    assert tg.simulate(block, (0.0, 1.0), rtol=1e-8).final["X"] == pytest.approx(2.0 * math.exp(-1.0))
    block.close()


def test_a_change_that_is_not_told_is_taken_for_a_restart_with_a_warning() -> None:
    with pytest.warns(tg.DSblockWarning, match=r"BLOCKV \(badv\) of DSblock bad changes X, XD or the dimensions and answers INFO = 0") as warned:
        result = tg.simulate(bad(27), (0.0, 1.0), rtol=1e-8)
    assert len(warned) == 1
    assert result.final["X"] == pytest.approx(3.0 * math.exp(-0.3))


def test_a_priority_out_of_range_is_clipped_with_a_warning() -> None:
    with pytest.warns(tg.DSblockWarning, match=r"priority 0; from 1 to 100"):
        tg.simulate(bad(29), (0.0, 1.0))


def test_blockk_ends_a_run_well_with_the_row_where_it_does() -> None:
    result = tg.simulate(bad(30), (0.0, 1.0), outputs=0.1, rtol=1e-8)
    assert (result.status, result.message) == ("terminated", "BLOCKK (badk) of DSblock bad ends the run (IERR = 1)")
    assert result.time[-1] == pytest.approx(0.5)
    assert result.final["X"] == pytest.approx(math.exp(-0.5))


@pytest.mark.slow
def test_what_a_compiler_or_a_linker_says_is_in_the_message(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.c"
    wrong.write_text("int main( {")
    with pytest.raises(tg.UsageError, match=r"(?s)does not compile wrong.c:.*error"):
        tg.dsblock.build(wrong, prefix="wrong")
    wrong.write_text("void nobody(void); void wrongb(void) { nobody(); }")
    with pytest.raises(tg.UsageError, match=r"cannot be loaded: .*nobody"):
        tg.dsblock.build(wrong, prefix="wrong")
    wrong.write_text("void other(void) {}")
    with pytest.raises(tg.UsageError, match=r"has no BLOCKB: looked for wrongb_, wrongb, wrongB"):
        tg.dsblock.build(wrong, prefix="wrong")
    with pytest.raises(tg.UsageError, match=r"neither C, C\+\+ nor Fortran"):
        tg.dsblock.build(BLOCKS / "vdp.msg", prefix="vdp")
    with pytest.raises(tg.UsageError, match=r"is a source file"):
        tg.dsblock.load(BLOCKS / "vdp.f", prefix="vdp")
    with pytest.raises(tg.UsageError, match=r"there is no library"):
        tg.dsblock.load(tmp_path / "nowhere.so", prefix="vdp")
    with pytest.raises(tg.UsageError, match=r"there is no file"):
        tg.dsblock.build(tmp_path / "nowhere.c", prefix="vdp")


def test_without_a_compiler_it_is_said_which_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler.compiler_of.cache_clear()
    with monkeypatch.context() as without:
        without.setenv("PATH", "")
        without.setenv("FC", "somewhere/f77")
        with pytest.raises(tg.UsageError, match=r"need a Fortran compiler, and there is none \(FC=somewhere/f77 and gfortran looked for\)"):
            tg.dsblock.build(BLOCKS / "vdp.f", prefix="vdp")
    compiler.compiler_of.cache_clear()


ISOLATED = {
    18: r"DSblock bad ended its process in BLOCKF \(badf\) with status 3",
    19: r"DSblock bad ended its process in BLOCKF \(badf\) by signal 11",
    20: r"DSblock bad has not come back from BLOCKF \(badf\) within 2 s",
    17: RUNNING[17],
}


@pytest.mark.hunt
@pytest.mark.parametrize("defect", ISOLATED)
def test_an_isolated_block_ends_its_own_process_and_not_this_one(defect: int) -> None:
    with pytest.raises((tg.CallbackError, tg.InvalidModelError), match=ISOLATED[defect]):
        tg.simulate(bad(defect, isolate=True, time_limit=2.0), (0.0, 1.0), outputs=0.1)


@pytest.mark.slow
def test_a_block_that_ends_everything_does_not_end_it_well() -> None:
    """STOP in Fortran and exit(0) in C: the process is over, but it says why, and its status is an error's."""
    program = (
        "import tidegate as tg\n"
        f"bad = tg.dsblock.build({str(BLOCKS / 'defective.c')!r}, prefix='bad', options=['-DDEFECT=18'])\n"
        "print('begun', end='')\n"  # what has been written is not lost
        "tg.simulate(bad, (0.0, 1.0))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "DSblock bad has ended the process in BLOCKF" in done.stderr
    assert "isolate=True" in done.stderr


@pytest.mark.slow
def test_a_process_that_ends_by_itself_behind_blocks_that_are_gone_ends_well() -> None:
    program = (
        "import gc, tidegate as tg\n"
        "for defect in (27, 30):\n"
        f"    bad = tg.dsblock.build({str(BLOCKS / 'defective.c')!r}, prefix='bad', options=[f'-DDEFECT={{defect}}'])\n"
        "    tg.simulate(bad, (0.0, 0.1))\n"
        "    del bad\n"
        "    gc.collect()\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", program]
    subprocess.run(command, capture_output=True, check=False)  # it may say that it compiles the kernel
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.hunt
def test_an_isolated_block_computes_and_warns_as_any_other() -> None:
    block = bad(27, isolate=True)
    with pytest.warns(tg.DSblockWarning, match="answers INFO = 0"):
        results = [tg.simulate(block, (0.0, 1.0), outputs=0.1, rtol=1e-8, parameters={"P": p}) for p in (0.5, 0.7)]
    for result in results:
        assert result.final["X"] == pytest.approx(3.0 * math.exp(-0.3))
    assert tg.simulate(bad(30, isolate=True), (0.0, 1.0), outputs=0.1).time[-1] == pytest.approx(0.5)
    block.close()


@pytest.mark.hunt
def test_isolated_blocks_with_static_data_run_beside_each_other() -> None:
    one, two = (tg.dsblock.build(BLOCKS / "vdp.f", prefix="vdp", isolate=True) for _ in range(2))
    both = tg.simulate(tg.dsblock.join({"one": one, "two": two}, links={}), (0.0, 0.5), parameters={"two.MU": 0.5}, rtol=1e-6)
    for name, mu in (("one", 1.5), ("two", 0.5)):
        alone = tg.simulate(one, (0.0, 0.5), parameters={"MU": mu}, rtol=1e-6, outputs=[0.5])
        assert both.final[f"{name}.X1"] == pytest.approx(alone.final["X1"], abs=1e-5)
