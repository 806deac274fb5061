"""Ctrl-C ends a run at once and leaves the result so far, whether the time goes into native code or into the user's Python."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

PROGRAM = """
import signal, time
import tidegate as tg

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may have inherited "ignore"
{model}
run = tg.prepare(model, (0.0, 1e12), dense=False, outputs=[0.0, 1e12], progress=lambda t: print("running", flush=True))
try:
    run.run()
except KeyboardInterrupt as error:
    print(type(error).__name__, error.result.status, error.time > 0, flush=True)
"""
NATIVE = "model = tg.ode(lambda t, y: [y[1], -y[0]], y0=[1.0, 0.0])"
OPAQUE = """
def pull(x):
    time.sleep(0.001)
    return -x

pull = tg.opaque(pull)
model = tg.ode(lambda t, y: [y[1], pull(y[0])], y0=[1.0, 0.0])
"""


@pytest.mark.parametrize("model", [NATIVE, OPAQUE], ids=["native", "opaque"])
def test_ctrl_c_keeps_the_result(model: str) -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM.format(model=model)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "running\n"
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
        finally:
            process.kill()
    assert rest.splitlines()[-1] == "InterruptedRunError failed True"
