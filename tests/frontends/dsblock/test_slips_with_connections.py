"""What is wrong with a connection is said in words, all of it at once."""

from __future__ import annotations

from typing import Any

import pytest

import tidegate as tg


class Part(tg.DSblock):
    def define(self, declare: Any) -> None:
        declare.state("LEVEL", start=1.0)
        declare.input("FLOW")
        declare.input("VALVES", shape=(2,))
        declare.output("HEIGHT")
        declare.output("BOTH", shape=(3,))
        declare.auxiliary("LOSS")
        declare.real("AREA", 1.0)
        declare.outputs_depend_on(inputs=["VALVES"])

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return u.FLOW - x.LEVEL

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return {"HEIGHT": x.LEVEL, "BOTH": [0.0, 0.0, 0.0]}

    def communication(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return 0.0


def test_everything_is_said_at_once() -> None:
    links = {
        "one.FLAW": "two.HEIGHT", "too.FLOW": "one.HEIGHT", "one.VALVES": "two.BOTH", "two.VALVES[2]": "one.HEIGHT", "two.FLOW": "one.LOSS",
        "two.VALVES": "one.AREA", "one.HEIGHT": "two.FLOW", "one.FLOW": "two.HEIGHT", "FLOW": "two.HEIGHT", "one.VALVES[0]": "two.BOTH[1]",
    }  # fmt: skip
    with pytest.raises(tg.InvalidModelError) as told:
        tg.dsblock.join({"one": Part(), "two": Part()}, links, inputs={"2X": "one.FLOW", "F": "one.FLOW", "G": []}, outputs={"H": "one.HIGHT"})
    said = "\n".join(sentence for sentence, _ in told.value.problems)
    for words in (
        "one has no signal 'FLAW'; did you mean 'one.FLOW'?",
        "there is no block 'too'; did you mean 'two'?",
        "one.VALVES has the shape (2,), two.BOTH has (3,)",
        "VALVES has the shape (2,), and no element [2]",
        "one.LOSS is an auxiliary variable, which is only recorded; an output is wanted",
        "one.AREA is a parameter; an output is wanted",
        "one.HEIGHT is an output; a link is written {input: output}, here {'two.FLOW': 'one.HEIGHT'}",
        "'FLOW' is no signal of a block; write block.SIGNAL, as one.FLOW",
        "'2X' is no name of an input",
        "one.FLOW is driven by two.HEIGHT and by the input F; an input has one driver",
        "input G drives nothing",
        "one has no signal 'HIGHT'; did you mean 'one.HEIGHT'?",
    ):
        assert words in said
    assert len(told.value.problems) == 12


def test_names_of_blocks_are_names() -> None:
    with pytest.raises(tg.InvalidModelError, match=r"'the one' is no name.*\n.*two blocks are called A"):
        tg.dsblock.join({"the one": Part(), "a": Part(), "A": Part()}, {})


@pytest.mark.parametrize(
    ("blocks", "words"),
    [({}, "there are no blocks"), ({"one": Part}, r"one is the class Part(.|\n)*write Part\(\)"), ({"one": 3.0}, "one is a float, and no DSblock")],
)
def test_what_is_no_block_is_refused(blocks: Any, words: str) -> None:
    with pytest.raises(tg.UsageError, match=words):
        tg.dsblock.join(blocks, {})


@pytest.mark.parametrize(
    ("guesses", "words"),
    [
        ({"one.FLAW": 1.0}, r"no input 'one\.FLAW' to guess(.|\n)*ONE\.FLOW"),
        ({"one.FLOW": 1.0}, r"no guess is needed for one\.FLOW(.|\n)*torn at two\.VALVES\[0\]"),
        ({"two.FLOW": 1.0}, r"two\.FLOW is driven by no block"),
        ({"two.VALVES": [1.0, 2.0, 3.0]}, "has 3 values, and the input 2"),
    ],
)
def test_guesses_are_for_torn_inputs(guesses: Any, words: str) -> None:
    links = {"one.FLOW": "two.HEIGHT", "two.VALVES[0]": "one.HEIGHT", "one.VALVES[0]": "two.BOTH[0]", "one.VALVES[1]": "two.BOTH[1]"}
    with pytest.raises(tg.UsageError, match=words):
        tg.dsblock.join({"one": Part(), "two": Part()}, links, guesses=guesses)


def test_an_input_that_outputs_depend_on_against_the_declaration_is_found() -> None:
    class Wrong(Part):
        def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
            return {"HEIGHT": u.FLOW, "BOTH": [0.0, 0.0, 0.0]}

    with pytest.raises(tg.TidegateError, match="outputs of the block one depend on inputs of which it declares that they do not"):
        tg.simulate(tg.dsblock.join({"one": Wrong(), "two": Part()}, {"two.FLOW": "one.HEIGHT"}), (0, 1))


@pytest.mark.slow
def test_a_mistake_in_a_block_is_told_with_its_name_in_the_connection() -> None:
    class Wrong(Part):
        def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
            return x.LEVEL / 0 if t > 0.5 else 0.0

    inner = tg.dsblock.join({"left": Wrong()}, {})
    with pytest.raises(tg.CallbackError, match=r"division by zero"):
        tg.simulate(tg.dsblock.join({"inner": inner}, {}), (0, 1), traced=False)

    class Short(Part):
        def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
            return [1.0, 2.0]

    with pytest.raises(tg.CallbackError, match=r"derivatives of DSblock inner\.left are 2 values"):
        tg.simulate(tg.dsblock.join({"inner": tg.dsblock.join({"left": Short()}, {})}, {}), (0, 1))
