"""Runs of compiled blocks whose callbacks are called by Python, as those of blocks that have no native functions: another way to the same numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tidegate.frontends.dsblock.compiled.compiled_block import CompiledBlock
from tidegate.frontends.dsblock.join.joined_block import JoinedBlock


@contextmanager
def by_python(*, wanted: bool = True) -> Iterator[None]:
    """Within it, nothing of a block is native."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in (CompiledBlock, JoinedBlock) if wanted else ():
            patch.setattr(kind, "native", lambda *_: None)
        yield
