"""`tidegate run` and `tidegate show` take components that `tg.precompile` has put into files."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import tidegate as tg
from tidegate.cli.app import app
from tidegate.library import electrical


class Charging(tg.Component):
    """A capacitor behind a resistor."""

    R, C = electrical.Resistor(R=10.0), electrical.Capacitor(C=0.01)
    S, G = electrical.ConstantVoltage(V=1.0), electrical.Ground()

    def equations(self):
        yield tg.connect(self.S.p, self.R.p)
        yield tg.connect(self.R.n, self.C.p)
        yield tg.connect(self.C.n, self.S.n, self.G.p)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tg.precompile(Charging(), tmp_path_factory.mktemp("stored") / "charging.tgm")


def called(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"})


@pytest.mark.slow
def test_a_stored_component_is_run_and_shown(stored: Path) -> None:
    done = called("run", stored, "--until", 1, "--set", "R.R=20 Ohm", "--out", stored.with_suffix(".nc"))
    assert done.exit_code == 0, done.output
    assert "Charging: DAE, 1 state" in done.stdout
    found = tg.Result.load(stored.with_suffix(".nc"))
    assert found.final["C.v"] == pytest.approx(0.9932620530009145, rel=1e-6)  # 1 - exp(-5)
    shown = called("show", stored)
    assert shown.exit_code == 0
    assert "1 state: C.v" in shown.stdout


@pytest.mark.slow
def test_what_is_no_stored_component_is_refused_in_one_sentence(stored: Path) -> None:
    (damaged := stored.with_name("damaged.tgm")).write_bytes(stored.read_bytes()[:-40])
    for words, said in (
        (("show", damaged), f"error: {damaged} holds no component, or is damaged\n  try: write it with tg.precompile(...)\n"),
        (("run", stored), "error: it is not said how long to simulate Charging\n  try: --until T\n"),
        (("run", f"{stored}:Other", "--until", 1), f"error: no model 'Other' in {stored}\n  try: one of Charging\n"),
        (("run", stored.with_name("chargin.tgm"), "--until", 1), f"error: there is no file {stored.with_name('chargin.tgm')}\n  try: {stored}\n"),
    ):
        done = called(*words)
        assert done.exit_code == 2, words
        assert done.stderr == said
