"""``tidegate csmp``: single runs for pipelines, scripts and their exit status, and the console with a model."""

from __future__ import annotations

import csv
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from csmp_sessions import DECAY, GOLDEN, RUN_DECAY
from tidegate.results import Result as Stored

PATIENCE = 120.0  # seconds: the native code may have to be compiled first
# a test run in the background may have inherited that Ctrl-C is ignored
PROGRAM = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from tidegate.cli import main; main()"


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has spring.mod beside it, and nothing else."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(GOLDEN / "spring.mod", tmp_path)


def tidegate(*arguments: object, replies: list[str] | None = None) -> Result:
    from tidegate.cli.app import app

    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=None if replies is None else "\n".join(replies) + "\n")


SPRING = ("csmp", "run", "spring.mod", "--from", 0, "--to", 20, "--h", 0.1, "--out", "9,4,48,10", "--every", 1)


@pytest.mark.parametrize("percent", [(), ("--percent", 0.01)], ids=["every value", "changes"])
def test_a_run_prints_the_reports_table(golden: dict[str, Any], percent: tuple[object, ...]) -> None:
    done = tidegate(*SPRING, *percent)
    assert done.exit_code == 0, done.output
    table = [line.split() for line in done.stdout.splitlines() if line.strip()]
    assert table[0] == "TIME BLK# 9 BLK# 4 BLK# 48 BLK# 10".split()
    assert table[1:] == golden["spring"]["appendix_D"]["rows"]


def test_csv_holds_time_and_blocks_in_the_order_given_with_every_digit(golden: dict[str, Any]) -> None:
    done = tidegate(*SPRING, "--csv", "spring.csv", "--netcdf", "spring.nc")
    assert (done.exit_code, done.stdout) == (0, "")
    with Path("spring.csv").open(newline="") as file:
        names, *rows = list(csv.reader(file))
    assert names == ["time", "Y", "Y DBLE DOT", "Y DOT", "block 10"]
    numbers = np.array(rows, dtype=float)
    assert numbers.shape == (21, 5)
    stored = Stored.load("spring.nc")
    assert (numbers[:, 0] == stored.t).all()
    assert (numbers[:, 1:] == stored.values).all()
    assert numbers[-1, 1] == pytest.approx(float(golden["spring"]["look"]["9"]), rel=1e-4)


def test_csv_goes_to_a_pipe() -> None:
    done = tidegate("csmp", "run", "spring.mod", "--to", 1, "--h", 0.5, "--out", "Y DOT,1", "--csv", "-")
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == 4
    assert done.stdout.startswith("time,")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("spring.mod", "--to", 20), ["--h H, --out LIST are missing"]),
        (("gone.mod", "--to", 20), ["there is no file gone.mod"]),
        (("spring.mod", "--to", 20, "--h", 0.1, "--out", "99,98"), ["BLK 99 NOT USED", "BLK 98 NOT USED"]),
        (("spring.mod", "--to", 20, "--h", 0.1, "--out", "Y DOTT"), ["BLK Y DOTT NOT USED"]),
        (("spring.mod", "--to", 20, "--h", 0.1, "--out", "9,,4"), ["cannot read --out"]),
        (("spring.mod", "--to", 1, "--h", 2, "--out", "9"), ["INTEGN INTERVAL MUST NOT BE GREATER THAN TIME RANGE"]),
        (("spring.mod", "--to", 1, "--h", 0.1, "--out", "9", "--csv", "nowhere/a.csv"), ["there is no folder nowhere"]),
        (("spring.mod", "--to", 1, "--h", 0.1, "--out", "9", "--netcdf", "."), ["cannot write .: it is a folder"]),
        (("spring.mod", "--to", 1, "--h", 0.1, "--out", "9", "--user", "gone.py"), ["there is no file gone.py"]),
    ],
)
def test_where_nothing_can_be_run_the_status_is_2(arguments: tuple[object, ...], words: list[str]) -> None:
    done = tidegate("csmp", "run", *arguments)
    assert done.exit_code == 2
    for text in words:
        assert text in done.stderr
    assert done.stdout == ""


def test_all_mistakes_of_a_model_are_told_with_their_lines() -> None:
    Path("bad.mod").write_text("BAD\n2 G 3 4\n3 QQ\n4 G 77\n\n9 1\n\n")
    done = tidegate("csmp", "run", "bad.mod", "--to", 1, "--h", 0.1, "--out", "A")
    assert done.exit_code == 2
    for text in (
        "ERROR IN BLK 2 (at bad.mod:2)",
        'ILLEGAL BLK TYPE ("QQ") (at bad.mod:3)',
        "I/P (BLK 77) TO BLK 4",
        "NO CORRESPONDING CONFIG STATEMENT",
    ):
        assert text in done.stderr


def test_a_run_that_an_error_stops_has_status_1_and_keeps_its_rows() -> None:
    Path("pole.mod").write_text("POLE\n2 O 1\n3 K\n4 / 3 2\n\n2 -1\n3 1\n\n")
    done = tidegate("csmp", "run", "pole.mod", "--to", 2, "--h", 0.5, "--out", "4", "--csv", "pole.csv")
    assert done.exit_code == 1
    assert done.stderr.splitlines()[0] == "! ATTEMPT TO DIVIDE BY ZERO IN BLK 4"
    assert "! ERROR DURING MODEL EXECUTION" in done.stderr
    assert Path("pole.csv").read_text().splitlines() == ["time,block 4", "0.0,-1.0", "0.5,-2.0"]


def test_user_routines_are_taken_from_a_file() -> None:
    Path("drag.py").write_text("from tidegate import csmp\n\n@csmp.user(1)\ndef drag(ctx, block):\n    return 3.0 * ctx.x1\n")
    Path("drag.mod").write_text("DRAG\n2 U1 1\n\n\n")
    done = tidegate("csmp", "run", "drag.mod", "--to", 1, "--h", 1, "--out", "2", "--user", "drag.py", "--csv", "-")
    assert done.stdout.splitlines()[-1] == "1.0,3.0"


@pytest.mark.slow
def test_a_files_control_section_stands_for_options() -> None:
    replies = ["INT;OUT", "0, 2, .1", "9", "48", "", "0, 1", "STO", "ALL"]
    assert tidegate("csmp", "spring.mod", replies=replies).exit_code == 0
    done = tidegate("csmp", "run", "MODEL.MOD", "--csv", "-")
    assert done.exit_code == 0, done.output
    assert [line.split(",")[0] for line in done.stdout.splitlines()] == ["time", "0.0", "1.0", "2.0"]
    # and in the console GOE can be given at once
    again = tidegate("csmp", "MODEL.MOD", replies=["GOE", "LOO", "9", ""])
    assert again.exit_code == 0, again.output
    assert "RUN CPU TIME" in again.stdout


# -- the console ----------------------------------------------------------------------------------------------------------------------------

BATCH = ["20                 $ max block number", "2, 0, 0            $ sizes", *DECAY, *RUN_DECAY, "EXI"]


def test_bommp_in_is_replayed_where_it_is_found() -> None:
    Path("BOMMP.IN").write_text("\n".join(BATCH))
    done = tidegate("csmp")
    assert done.exit_code == 0
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["DECAY", "**** RUNNING ****", "RUN CPU TIME", "END OF EXECUTION", "CPU TIME"]
    assert Stored.load("OUTPT.DAT").t == pytest.approx(0.5 * np.arange(5))
    assert not Path("BOMMP.OUT").exists()


def test_a_script_is_replayed_and_echoed_if_wanted(golden: dict[str, Any], spring_set_up: list[str]) -> None:
    Path("session.in").write_text("\n".join(["48", "2, 0, 1", *spring_set_up]))
    quiet = tidegate("csmp", "--script", "session.in")
    assert quiet.exit_code == 0
    assert quiet.stdout.splitlines()[:3] == golden["session_4_1_4"]["messages"]
    echoed = tidegate("csmp", "--script", "session.in", "--echo")
    assert echoed.stdout.startswith("MAX BLK NO. = 48\nNO. OF: I & T1 BLKS, U BLKS, F BLKS = 2, 0, 1\n*TIT\n")
    assert "\nMODEL COMPLETE\n" in echoed.stdout


def test_a_diagnostic_in_a_script_gives_status_1_and_says_where_it_is() -> None:
    Path("session.in").write_text("FIL\nXYZ\nFIL\n")
    done = tidegate("csmp", "--script", "session.in")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[3] == "! COMMAND ERROR"
    assert done.stdout.count("MODEL I/P") == 2
    assert "at session.in:2" in done.stderr


def test_a_missing_model_file_ends_a_script() -> None:
    done = tidegate("csmp", "--script", "-", replies=["LOG2:GONE<-I", "FIL"])
    assert done.exit_code == 1
    assert done.stdout.splitlines()[0] == '! FATAL ATTEMPT TO READ NON-EXISTENT DSK FILE "GONE"."MOD"'
    assert "MODEL I/P" not in done.stdout


def test_replies_from_a_pipe_read_like_a_session() -> None:
    done = tidegate("csmp", "spring.mod", replies=["INT;OUT;GOE", "0, 20, .1", "9", "", "0, 1", "LOO", "9", "", "EXI"])
    assert done.exit_code == 0, done.output
    assert "MODEL I/P FROM spring.mod COMPLETED\n" in done.stdout
    assert "BLK = 9\nO/P = 1.6200E-01\n" in done.stdout


def test_look_says_that_it_takes_one_block_a_line() -> None:
    done = tidegate("csmp", "spring.mod", replies=["INT;OUT;GOE", "0, 20, .1", "9", "", "0, 1", "LOO", "9 4", "9", "", "EXI"])
    assert "one block a line" in done.stderr
    assert "O/P = 1.6200E-01\n" in done.stdout


def test_run_that_fails_before_its_first_row_says_why_and_no_more() -> None:
    Path("user.mod").write_text("USER\n2 U1 1\n\n\n")
    done = tidegate("csmp", "run", "user.mod", "--to", 1, "--h", 0.1, "--out", "2")
    assert done.exit_code == 1
    assert "NOT LOADED FOR BLK 2" in done.stderr
    assert "--user MODULE.py" in done.stderr
    assert "no rows" not in done.output


def test_exception_of_a_user_routine_is_placed_in_its_file() -> None:
    Path("user.mod").write_text("USER\n2 U1 1\n\n\n")
    Path("mine.py").write_text("def user1(ctx, block):\n    return [][block]\n")
    done = tidegate("csmp", "run", "user.mod", "--to", 1, "--h", 0.1, "--out", "2", "--user", "mine.py")
    assert done.exit_code == 1
    assert "mine.py:2" in done.stderr


@pytest.mark.parametrize("text", ["E\n2 J\n3 I 2\n\n\n\n", "CONFIGURATIONS :\nE\nBLK TYPE B1 B2 B3\n2 J\n3 I 2\n\nPARAMETERS :\nBLK P1 P2 P3\n\n"])
def test_model_file_whose_parameter_section_is_empty_is_complete(text: str) -> None:
    Path("none.mod").write_text(text)
    done = tidegate("csmp", "none.mod", replies=["INT;OUT;GOE", "0, 1, .1", "3", "", "0, .5", "EXI"])
    assert done.exit_code == 0, done.output
    assert "MODEL COMPLETE\n" in done.stdout


def test_trans_follows_the_session_that_names_it() -> None:
    done = tidegate("csmp", replies=[*DECAY, *RUN_DECAY, "PRO", "TRANS", "NONE", "OUTPT", "EXI"])
    assert done.exit_code == 0, done.output
    assert "I/P FILENAME = NONE\nNONE.DAT NOT ON DSK\nI/P FILENAME = OUTPT\nDECAY\n" in done.stdout
    assert re.search(r"\*EXI\nEND OF EXECUTION\nCPU TIME: \S+ ELAPSED TIME: \d+\.\d\d\n$", done.stdout)
    assert "TIME FROM 0.0000E-01 TO 2.0000E+00 IN STEPS OF 5.0000E-01" in done.stdout


@pytest.mark.slow
def test_a_model_or_script_that_is_not_there_is_named() -> None:
    assert "there is no file sprung.mod" in tidegate("csmp", "sprung.mod").stderr
    assert "the script gone.in cannot be read" in tidegate("csmp", "--script", "gone.in").stderr


def test_manual_in_a_pipe_goes_on_with_the_pipe() -> None:
    done = tidegate("csmp", replies=[*DECAY, "MAN", *RUN_DECAY, "LOO", "2", ""])
    assert done.exit_code == 0, done.output
    assert "BLK = 2\nO/P = 1.8892E-02\n" in done.stdout


def test_manual_in_a_script_goes_on_with_what_is_piped_in() -> None:
    Path("session.in").write_text("\n".join([*DECAY, "MAN", "never read"]))
    done = tidegate("csmp", "--script", "session.in", replies=[*RUN_DECAY, "EXI"])
    assert done.exit_code == 0, done.output
    assert "O/P BLKS\nA\n" in done.stdout
    assert Path("FROMAN.OUT").read_text().splitlines() == [*RUN_DECAY, "EXI"]


@pytest.mark.parametrize("command", [["csmp", "sprng"], ["csmp", "run", "sprng", "--to", 0.1, "--h", 0.1, "--out", "9"]], ids=["console", "run"])
def test_a_model_is_found_by_its_name_alone(command: list[object]) -> None:
    Path("spring.mod").rename("SPRNG.MOD")
    done = tidegate(*command)
    assert done.exit_code == 0, done.output
    assert "-1.00E+01" in done.stdout or "MODEL COMPLETE" in done.stdout


@pytest.mark.slow
def test_the_initial_stage_alone_needs_no_interval() -> None:
    done = tidegate("csmp", "run", "spring.mod", "--to", 0, "--out", "9,4")
    assert done.exit_code == 0, done.output
    assert "0.00E-01   -1.00E+01    2.00E+01" in done.stdout
    assert "--h H" in tidegate("csmp", "run", "spring.mod", "--to", 1, "--out", "9").stderr


def test_a_file_that_cannot_be_read_is_told_in_words() -> None:
    Path("A.MOD").mkdir()
    done = tidegate("csmp", replies=["A<-I", "CON"])
    assert "Errno" not in done.output
    assert "try: the model file A.MOD cannot be read: Is a directory" in done.stderr


@pytest.mark.slow
def test_a_file_that_is_no_text_is_not_echoed() -> None:
    Path("A.MOD").write_bytes(bytes(range(256)))
    for done in (tidegate("csmp", "run", "A.MOD", "--to", 1, "--h", 1, "--out", 2), tidegate("csmp", replies=["A<-I", "CON"])):
        assert "A.MOD is no model file: it holds no text" in done.stderr
        assert "\x07" not in done.output


@pytest.mark.hunt
def test_ctrl_c_ends_a_single_run_with_its_rows() -> None:
    Path("slow.py").write_text("import time\n\ndef user1(ctx, block):\n    time.sleep(0.001)\n    open('began', 'a').close()\n    return ctx.time\n")
    Path("slow.mod").write_text("SLOW\n2 U1 1\n\n\n")
    command = [sys.executable, "-c", PROGRAM, *"csmp run slow.mod --to 1000000 --h 0.1 --out 2 --every 1 --user slow.py --csv slow.csv".split()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            end = time.monotonic() + PATIENCE
            while not Path("began").exists():
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < end, "the run did not begin"
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == 130
    assert 'RUN TERMINATED BY A "^"' in errors
    rows = np.loadtxt("slow.csv", delimiter=",", skiprows=1, ndmin=2)
    assert (rows[:, 0] == np.arange(len(rows))).all()
    assert (rows[:, 1] == rows[:, 0]).all()
