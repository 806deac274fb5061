"""Names that parts have elsewhere are answered by parts that exist."""

from __future__ import annotations

import re

import pytest

import tidegate as tg
from tidegate import library
from tidegate.library import other_names


def answer(domain: str, name: str) -> str:
    with pytest.raises(tg.UnknownNameError, match=f"there is no part {domain}.{name}") as caught:
        getattr(getattr(library, domain), name)
    return caught.value.hint


@pytest.mark.parametrize(
    ("domain", "name", "hint"),
    [
        ("electrical", "EMF", "it is machines.RotationalEMF, or machines.TranslationalEMF"),
        ("rotational", "Resistor", "it is electrical.Resistor"),
        ("rotational", "Inertai", "did you mean 'Inertia'?"),
        ("thermal", "zzz", "thermal has BodyRadiation, Convection"),
        ("fluid", "Sine", "sources of signals are blocks of tg.blocks"),
    ],
)
def test_a_part_by_another_name_is_told(domain: str, name: str, hint: str) -> None:
    assert answer(domain, name).startswith(hint)


def test_every_answer_names_parts_that_there_are() -> None:
    parts = {domain: getattr(library, domain).__all__ for domain in library.__all__}
    for name, hint in other_names._OTHERWISE.items():  # pyright: ignore[reportPrivateUsage]
        for domain, part in re.findall(r"\b([a-z]+)\.([A-Z]\w+)", hint):
            assert part in parts[domain], f"{name}: {domain}.{part}"
    assert not hasattr(library.electrical, "__wrapped__")
