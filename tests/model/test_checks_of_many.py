"""What is wrong with a value of a variable is wrong with it among many."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.model import Bound, Variable, VariableRole
from tidegate.model.validate import have_problem, value_problem

values = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 2.0, 0.5, math.nan, math.inf, -math.inf]), st.floats(-3.0, 3.0))
bounds = st.one_of(st.none(), st.builds(Bound, st.sampled_from([-1.0, 0.0, 1.0]), is_open=st.booleans()))
texts: Any = st.sampled_from([(), (("low", 0), ("high", 2))])


@pytest.mark.slow
@given(st.lists(values, min_size=1, max_size=8), bounds, bounds, st.sampled_from(["real", "integer", "boolean"]), texts)
def test_many_values_are_judged_as_one(given: list[float], low: Any, high: Any, kind: Literal["real", "integer", "boolean"], texts: Any) -> None:
    variable = Variable("k", VariableRole.PARAMETER, minimum=low, maximum=high, kind=kind, texts=texts)
    assert have_problem(variable, np.array(given)).tolist() == [bool(value_problem(variable, "k", value)) for value in given]
