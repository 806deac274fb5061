"""The command line stops quietly where nobody listens."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TIDEGATE = Path(sys.executable).with_name("tidegate")


def test_a_reader_that_has_gone_is_no_mistake_of_ours(tmp_path: Path) -> None:
    model = tmp_path / "decay.py"
    model.write_text("import tidegate as tg\nmodel = tg.ode(lambda t, y: [-y[0]], y0=[1.0])\n")
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as nobody:
        done = subprocess.run([TIDEGATE, "show", model], stdout=nobody, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == ""
