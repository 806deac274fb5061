"""SimPy's own tests, from its source distribution, with our environment in SimPy's place."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from importlib import metadata
from pathlib import Path

import pytest

import tidegate

__all__: list[str] = []

PLUGIN = """
import simpy
from tidegate.frontends.processes import Environment
simpy.Environment = Environment
"""


@pytest.mark.slow
def test_the_tests_of_simpy_pass(tmp_path: Path) -> None:
    wanted = f"simpy=={metadata.version('simpy')}"
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", str(tmp_path), wanted]
    subprocess.run(fetch, check=True, capture_output=True)
    (archive,) = tmp_path.glob("simpy-*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    (tmp_path / "in_place_of_simpy.py").write_text(PLUGIN, encoding="utf-8")
    tests = next(path for path in tmp_path.glob("simpy-*/tests") if path.is_dir())
    command = [sys.executable, "-m", "pytest", "-q", "-p", "in_place_of_simpy", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += ["-c", os.devnull, "--rootdir", str(tests)]
    # its benchmarks want a plugin of their own; its real-time environment is not ours, and its tests look at the clock of a machine that may be busy
    command += [str(tests), "--ignore", str(tests / "test_benchmark.py"), "--ignore", str(tests / "test_rt.py")]
    paths = os.pathsep.join([str(tmp_path), str(Path(tidegate.__file__).parents[1])])
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, cwd=tests.parent, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) > 100
