"""Random blocks in C and Fortran 77 do what exponentials of matrices say: every event, and every number that is recorded.

Equations (ODE or DAE, with algebraic unknowns or without), inputs, parameters of every type, scalars and arrays, time, state and step events,
dimensions that vary, Jacobians and intermediate results that are kept under ICALL(1) are drawn at random.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import tidegate as tg
from random_compiled_blocks import Drawn, judge
from random_compiled_source import written
from tidegate.frontends.dsblock.compiled.compiler import build_library

HEADER = Path(__file__).parent / "blocks" / "blo.h"
SEEDS = (1, 3, 5, 8, 10, 14, 23, 28, 71)
METHODS = {3: "ida", 23: "adams", 71: "ida"}  # 71: a DAE to which a state comes


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One of each language, with all of its blocks."""
    folder, found = tmp_path_factory.mktemp("random"), {}
    for language in ("c", "f"):
        mine = [drawn for drawn in map(Drawn, SEEDS) if drawn.language == language]
        source = folder / f"many.{language}"
        source.write_text((HEADER.read_text() if language == "c" else "") + "".join(map(written, mine)))
        found[language] = folder / f"libmany_{language}.so"
        shutil.copy(build_library(f"many_{language}", [source]), found[language])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_compiled_block_does_what_exponentials_say(libraries: dict[str, Path], seed: int) -> None:
    drawn = Drawn(seed)
    block = tg.dsblock.load(libraries[drawn.language], prefix=drawn.prefix)
    judge(drawn, block, METHODS.get(seed, "radau"))
