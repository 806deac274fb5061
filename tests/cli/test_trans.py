"""`tidegate trans` makes tables and pictures of any saved result, by options or by replies from a pipe."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from typing import Any

import pytest
from typer.testing import CliRunner

from tidegate.cli.app import app
from tidegate.results import Column, Result


@pytest.fixture
def saved(line: Any) -> Any:
    """The command line in a folder with a result."""
    columns = [Column("Y", description="block 9"), Column("Y DOT", description="block 48")]
    Result("spring", columns, [0.0, 1.0, 2.0], [[-10.0, 0.0], [-3.0, 9.0], [4.0, 5.0]]).to_netcdf(line.folder / "spring.nc")
    return line


@pytest.mark.slow
def test_a_table_is_printed(saved: Any) -> None:
    done = saved("trans", "spring.nc", "--table", "48,9")
    assert done.exit_code == 0, done.output
    assert [row.split() for row in done.stdout.splitlines()[:2]] == [["TIME", "BLK#", "48", "BLK#", "9"], ["0.00E-01", "0.00E-01", "-1.00E+01"]]


@pytest.mark.slow
def test_tables_and_pictures_are_made_in_one_go(saved: Any) -> None:
    done = saved(
        "trans", "spring.nc", "--table", "9", "--markdown", "--csv", "spring.csv", "--strip", "strip.png", "--overlay", "overlay.svg",
        "--time", "0:2:0.5", "--label", "9=POSITION", "--scale", "9=-20:20", "--title", "SPRING", "--digits", "4",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[:4] == ["| time | POSITION |", "|---:|---:|", "| 0 | -10 |", "| 0.5 | -6.5 |"]
    rows = list(csv.reader(io.StringIO((saved.folder / "spring.csv").read_text())))
    assert rows[:2] == [["time", "POSITION"], ["0.0", "-10.0"]]
    assert len(rows) == 6
    assert (saved.folder / "strip.png").read_bytes().startswith(b"\x89PNG")
    assert "POSITION" in (saved.folder / "overlay.svg").read_text()


@pytest.mark.slow
def test_a_plot_is_printed_and_a_table_goes_down_a_pipe(saved: Any) -> None:
    assert saved("trans", "spring.nc", "--plot", "Y DOT").stdout.startswith("SCALES\n*  BLK# 48")
    assert saved("trans", "spring.nc", "--blocks", "48", "--csv", "-").stdout.split() == ["time,Y", "DOT", "0.0,0.0", "1.0,9.0", "2.0,5.0"]


@pytest.mark.slow
def test_replies_may_come_from_a_pipe(saved: Any) -> None:
    done = CliRunner().invoke(app, ["trans", "spring.nc"], input="PRC\n9\n\nY\nGOE\nEXIT\n")
    assert done.exit_code == 0, done.output
    assert "  1.00E+00   -3.00E+00" in done.stdout.splitlines()
    assert "IS O/P TO TTY REQRD: Y" in done.stdout.splitlines()


@pytest.mark.slow
def test_a_mistake_in_a_pipe_is_seen_in_the_exit_status(saved: Any) -> None:
    done = CliRunner().invoke(app, ["trans", "spring.nc"], input="FOO\nEXIT\n")
    assert done.exit_code == 1
    assert "! COMMAND ERROR" in done.stdout


@pytest.mark.slow
def test_an_output_file_of_the_language_is_found_by_its_name(saved: Any) -> None:
    (saved.folder / "spring.nc").rename(saved.folder / "OUTPT.DAT")
    done = CliRunner().invoke(app, ["trans"], input="OUTPT\nTIM\n\n")
    assert done.exit_code == 0, done.output
    assert done.stdout.count("TIME FROM 0.0000E-01 TO 2.0000E+00") == 2


@pytest.mark.slow
def test_the_file_is_asked_for_when_none_is_named(saved: Any) -> None:
    done = CliRunner().invoke(app, ["trans"], input="OUTPT\nspring\nEXIT\n")
    assert done.exit_code == 0, done.output
    assert "OUTPT.DAT NOT ON DSK" in done.stdout
    assert "INTEGN INT = VARIABLE" in done.stdout


@pytest.mark.slow
def test_nothing_is_said_when_whoever_reads_has_gone(saved: Any) -> None:
    command = [sys.executable, "-m", "tidegate.cli", "trans", str(saved.folder / "spring.nc"), "--csv", "-", "--time", "::0.01"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        said = running.stderr.read()
    assert (running.returncode, said) == (1, "")


def test_the_rows_of_a_run_of_any_kind_will_do(line: Any, ball: Result) -> None:
    ball.to_csv(line.folder / "ball.csv")
    done = line("trans", "ball.csv", "--table", "A")
    assert done.exit_code == 0, done.output
    assert done.stdout.split()[0] == "TIME"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--table", "7"], "BLK 7 NOT USED"),
        (["--strip", "strip.doc"], "cannot save a picture"),
        (["--csv", "table.doc"], "cannot save a table"),
        (["--table", "9", "--time", "0:9"], "not inside the file's"),
        (["--table", "9", "--label", "POSITION"], "cannot read --label"),
        (["--plot", "9", "--scale", "9=a:b"], "cannot read --scale"),
        (["--plot", "9", "--scale", "A=1:2"], "are 2 columns"),
        (["--table", "9", "--digits", "0"], "0 digits"),
        (["--time", "0:1"], "the options say how, but not what"),
    ],
)
def test_wrong_options_are_refused_with_a_suggestion(saved: Any, options: list[str], said: str) -> None:
    done = saved("trans", "spring.nc", *options)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "try:" in done.stderr


@pytest.mark.slow
def test_a_file_that_is_not_there_is_named(saved: Any) -> None:
    done = saved("trans", "nothing.nc", "--table", "A")
    assert done.exit_code == 2
    assert "there is no file nothing.nc" in done.stderr
