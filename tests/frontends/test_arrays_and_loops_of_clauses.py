"""Clauses over arrays, clauses made in loops and by ``setattr``: each is carried out where its own condition has become true."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidegate as tg
from run_checks import event_times, final_vector


class Falling(tg.Component):
    h = tg.State(np.array([1.0, 2.0, 4.0]))

    def equations(self) -> Any:
        yield tg.der(self.h) == -np.ones(3)


def test_an_array_is_reset_as_a_whole(method: str) -> None:
    class Reset(Falling):
        @tg.at(0.5)
        def all_of_them(self) -> Any:
            return {self.h: np.zeros(3)}

        @tg.at(1.0)
        def some(self) -> Any:
            if self.h[0] < 0:
                return {self.h[1:]: 7.0, self.h[0]: 1.0}
            return {self.h: 5.0}

    result = tg.simulate(Reset(), (0.0, 1.5), method=method)
    assert final_vector(result, "h", 3) == pytest.approx([0.5, 6.5, 6.5])


def test_an_array_in_both_branches_of_a_body_is_one_variable(method: str) -> None:
    class Chosen(Falling):
        @tg.every(1.25, start=0.5)
        def choose(self) -> Any:
            if self.h[0] > 0:
                return {self.h: np.array([1.0, 2.0, 3.0])}
            return {self.h: 0.0}

    assert final_vector(tg.simulate(Chosen(), (0.0, 1.5), method=method), "h", 3) == pytest.approx([0.0, 1.0, 2.0], abs=1e-9)
    assert final_vector(tg.simulate(Chosen(), (0.0, 2.0), method=method), "h", 3) == pytest.approx(-0.25)


def test_clauses_made_in_a_loop_all_happen(method: str) -> None:
    class Bouncing(Falling):
        n = tg.Discrete(np.zeros(3))

        for i in range(3):

            @tg.when(lambda self, i=i: self.h[i] < 0)
            def bounce(self, i: int = i) -> Any:
                return {self.h[i]: 1.0, self.n[i]: self.n[i] + 1}

    result = tg.simulate(Bouncing(), (0.0, 4.5), rtol=1e-9, method=method)
    assert final_vector(result, "n", 3).tolist() == [4, 3, 1]
    assert final_vector(result, "h", 3) == pytest.approx(0.5)
    assert {event.causes[0] for event in result.events} >= {"bounce[0]"}


def test_chains_made_in_a_loop_keep_to_themselves(method: str) -> None:
    class Thermostats(tg.Component):
        x = tg.State(np.array([0.0, 0.5]))
        on = tg.Discrete(np.array([1.0, 1.0]))

        def equations(self) -> Any:
            for k in range(2):
                yield tg.der(self.x[k]) == (1.0 if self.on[k] > 0.5 else -1.0)

        for i in range(2):

            @tg.when(lambda self, i=i: self.x[i] > 1)
            def off(self, i: int = i) -> Any:
                return {self.on[i]: 0.0}

            @off.elsewhen(lambda self, i=i: self.x[i] < 0)
            def again(self, i: int = i) -> Any:
                return {self.on[i]: 1.0}

    result = tg.simulate(Thermostats(), (0.0, 2.75), rtol=1e-9, method=method)
    assert event_times(result) == pytest.approx([0.5, 1.0, 1.5, 2.0, 2.5], rel=1e-9)
    assert final_vector(result, "x", 2) == pytest.approx([0.75, 0.75])


def bouncing(i: int) -> Any:
    @tg.when(lambda self: self.h[i] < 0)
    def bounce(self: Any) -> Any:
        return {self.h[i]: 1.0}

    @bounce.elsewhen(lambda self: self.h[i] > 3.5)
    def never(self: Any) -> Any:
        return {self.h[i]: 0.0}

    return bounce, never


def test_clauses_put_into_a_class_or_an_instance_by_name(method: str) -> None:
    class Built(Falling):
        pass

    for i in range(2):
        for name, clause in zip(("bounce", "never"), bouncing(i), strict=True):
            setattr(Built, f"{name}_{i}", clause)
    built = Built()
    last = bouncing(2)
    built.__dict__["bounce_2"] = last[0]
    result = tg.simulate(built, (0.0, 4.5), rtol=1e-9, method=method)
    assert final_vector(result, "h", 3) == pytest.approx(0.5)
    assert [event.causes[0] for event in result.events if len(event.causes) == 2] == ["bounce_0"]


def test_two_clauses_of_one_name_are_not_one_too_few() -> None:
    with pytest.raises(tg.UsageError, match=r"two clauses are called bounce, and the first .* would be lost"):

        class Twice(Falling):
            @tg.when(lambda self: self.h[0] < 0)
            def bounce(self) -> Any:
                return {self.h[0]: 1.0}

            @tg.when(lambda self: self.h[1] < 0)
            def bounce(self) -> Any:  # noqa: F811
                return {self.h[1]: 1.0}


class Rooms(tg.Component):
    """Thermostats of one clause; temperatures rise by one and fall by one."""

    temp = tg.State(np.linspace(0.0, 0.9, 5) + 0.02)
    on = tg.Discrete(np.ones(5))
    switched = tg.Discrete(0)
    hi = tg.Parameter(1.0)

    def equations(self) -> Any:
        yield tg.der(self.temp) == 2.0 * self.on - 1.0

    @tg.when(lambda self: self.temp > self.hi)
    def off(self) -> Any:
        tg.message("switched")
        return {self.on: 0.0, self.switched: self.switched + 1}

    @off.elsewhen(lambda self: self.temp < self.hi - 1.0)
    def again(self) -> Any:
        return {self.on: 1.0}


def sawtooth(x: float) -> float:
    return float(1.0 - abs(x % 2.0 - 1.0))


def test_an_array_of_conditions_is_carried_out_by_element(method: str) -> None:
    result = tg.simulate(Rooms(), (0.0, 3.35), rtol=1e-9, method=method)
    starts = np.linspace(0.0, 0.9, 5) + 0.02
    assert final_vector(result, "temp", 5) == pytest.approx([sawtooth(s + 3.35) for s in starts], abs=1e-8)
    assert final_vector(result, "on", 5).tolist() == [float((s + 3.35) % 2 < 1) for s in starts]
    # every element passes 1 at 1 - s and 3 - s
    assert result.final["switched"] == 10
    assert sum(event.messages.count("switched") for event in result.events) == 10
    assert result.events[0].causes[0] == "off[4]"


def test_derivatives_go_through_each_element(method: str) -> None:
    class Slow(Rooms):
        rate = tg.Parameter(1.0)

        @tg.replaces
        def equations(self) -> Any:
            yield tg.der(self.temp) == self.rate * (2.0 * self.on - 1.0)

    result = tg.simulate(Slow(), (0.0, 1.05), rtol=1e-10, sensitivities="all", method=method)
    last = np.array([np.asarray(result.sensitivity("temp", "hi"))[-1], np.asarray(result.sensitivity("temp", "rate"))[-1]])
    starts = np.linspace(0.0, 0.9, 5) + 0.02
    falls = starts + 1.05 > 1
    assert last[0] == pytest.approx(np.where(falls, 2.0, 0.0), abs=1e-7)
    assert last[1] == pytest.approx(np.where(falls, -1.05, 1.05), abs=1e-7)


def test_elements_that_fall_due_together_are_one_event(method: str) -> None:
    result = tg.simulate(Rooms(temp=np.full(5, 0.25)), (0.0, 1.0), rtol=1e-9, method=method)
    assert event_times(result) == pytest.approx([0.75])
    assert result.events[0].messages == ("switched",)


def test_a_list_of_conditions_means_any_of_them(method: str) -> None:
    class Any2(Falling):
        @tg.when(lambda self: [self.h[0] < 0, self.h[1] < 0, self.h[2] < 0])
        def lift(self) -> Any:
            return {self.h: self.h + 1.0}

    assert final_vector(tg.simulate(Any2(), (0.0, 1.5), method=method), "h", 3) == pytest.approx([0.5, 1.5, 3.5])


def test_a_matrix_of_conditions_goes_with_matrices(method: str) -> None:
    class Grid(tg.Component):
        h = tg.State(np.array([[1.0, 2.0], [3.0, 4.0]]))

        def equations(self) -> Any:
            yield tg.der(self.h) == -np.ones((2, 2))

        @tg.when(lambda self: self.h < 0)
        def lift(self) -> Any:
            return {self.h: np.array([[10.0, 20.0], [30.0, 40.0]])}

    final = tg.simulate(Grid(), (0.0, 3.5), method=method).final
    assert [final[f"h[{i},{j}]"] for i in range(2) for j in range(2)] == pytest.approx([7.5, 18.5, 29.5, 0.5])


def test_a_chain_is_by_element_as_a_whole_or_not_at_all() -> None:
    class Mixed(Rooms):
        @tg.when(lambda self: self.temp[0] > 1)
        def first(self) -> Any:
            return {self.switched: 0}

        @first.elsewhen(lambda self: self.temp < 0)
        def second(self) -> Any:
            return {self.on: 1.0}

    with pytest.raises(tg.UsageError, match="second follows first with elsewhen, but only one of them is carried out by element"):
        Mixed().lower()


def test_a_clause_that_changes_nothing_is_a_flip_and_no_event(method: str) -> None:
    class Clamped(tg.Component):
        x = tg.State(0.0)
        k = tg.Discrete(1)

        def equations(self) -> Any:
            yield tg.der(self.x) == np.cos(np.pi * tg.time)

        @tg.when(lambda self: self.x > 0.1)
        def same(self) -> Any:
            if self.x > 5:
                tg.message("never said")
            return {self.k: 1}

        @tg.when(lambda self: self.x > 0.2)
        def says(self) -> Any:
            tg.message("high")
            return {self.k: 1}

        @tg.when(lambda self: self.x < -0.2)
        def marks(self) -> Any:
            return {}

    result = tg.simulate(Clamped(), (0.0, 2.0), rtol=1e-8, method=method)
    assert [event.causes[0] for event in result.events] == ["says", "marks"]
    assert result.statistics.flips >= 1


def test_derivatives_jump_even_where_values_do_not(method: str) -> None:
    class Same(tg.Component):
        x = tg.State(0.0)
        k = tg.Discrete(1.0)
        p = tg.Parameter(1.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == self.k

        @tg.when(lambda self: tg.time > 1)
        def same(self) -> Any:
            return {self.k: self.p}

    result = tg.simulate(Same(), (0.0, 3.0), rtol=1e-9, sensitivities="p", method=method)
    assert np.asarray(result.sensitivity("x", "p"))[-1] == pytest.approx(2.0, rel=1e-8)
