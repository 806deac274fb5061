"""Here Rodas5P takes part as well: where events and sensitivities are decided."""

from __future__ import annotations

import pytest

from engines import METHODS_WITH_RODAS5P, with_others_later


@pytest.fixture(params=with_others_later(METHODS_WITH_RODAS5P))
def method(request: pytest.FixtureRequest) -> str:
    """An integration method: whoever takes it is run with each of them."""
    return str(request.param)
