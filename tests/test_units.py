"""Units: texts, dimensions, factors, and what is said of texts that cannot be read."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.errors import UnitError
from tidegate.units import DIMENSIONLESS, PREFIXES, Unit, convert, name_of, parse

SYMBOLS = ["m", "kg", "s", "A", "K", "N", "Pa", "kW", "mV", "uF", "Ohm", "L", "bar", "min", "h", "rpm", "ft", "lb", "psi", "deg", "mol"]
factors = st.lists(st.tuples(st.sampled_from(SYMBOLS), st.integers(-3, 3).filter(bool)), min_size=1, max_size=4)


@pytest.mark.parametrize("text", ["m/s^2", "m/s**2", "m/s2", "m.s-2", "m*s^-2", "m s^-2", "m/s/s", "m/(s*s)", "m·s⁻²", "N/kg", "m/s²", " m / s^2 "])
def test_acceleration_reads_the_same_in_every_notation(text: str) -> None:
    assert parse(text) == parse("m") / parse("s") / parse("s")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("kg.m2", "N.m.s2"),
        ("J/(kg.K)", "m2/(s2.K)"),
        ("V/A", "Ohm"),
        ("A.s/V", "F"),
        ("Wb/A", "H"),
        ("1/s", "Hz"),
        ("m^(1/2)", "m^0.5"),
        ("kV.mA", "W"),
        ("\u2126", "\u03a9"),
    ],
)
def test_equal_quantities_have_equal_units(text: str, same: str) -> None:
    assert parse(text).dimension == parse(same).dimension
    assert parse(text).factor == pytest.approx(parse(same).factor, rel=1e-15)


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        (90.0, "km/h", "m/s", 25.0),
        (1.0, "kW.h", "MJ", 3.6),
        (1.0, "yr", "d", 365.25),
        (2.0, "wk", "d", 14.0),
        (60.0, "rpm", "rev/s", 1.0),
        (180.0, "deg", "rad", 3.141592653589793),
        (100.0, "degC", "K", 373.15),
        (212.0, "degF", "degC", 100.0),
        (-40.0, "degC", "degF", -40.0),
        (1.0, "atm", "bar", 1.01325),
        (760.0, "Torr", "atm", 1.0),
        (1.0, "hp", "W", 745.69987158227022),
        (1.0, "psi", "Pa", 6894.757293168361),
        (1.0, "mile".replace("le", ""), "km", 1.609344),
        (50.0, "%", "1", 0.5),
        (2.0, "min", "s", 120.0),
        (1.0, "mol/L", "mol/m3", 1000.0),
        (1.0, "W/(m2.K)", "kW/(m2.degC)", 1e-3),
        (3.0, "60 s", "min", 3.0),
    ],
)
def test_conversions_that_the_definitions_give(value: float, source: str, target: str, expected: float) -> None:
    assert convert(value, source, target) == pytest.approx(expected, rel=1e-14)


@given(factors)
def test_a_product_has_the_summed_dimensions_and_the_multiplied_factors(given_factors: list[tuple[str, int]]) -> None:
    read = parse("*".join(f"{symbol}^{power}" for symbol, power in given_factors))
    dimension = [Fraction(0)] * 7
    factor = 1.0
    for symbol, power in given_factors:
        unit = parse(symbol)
        dimension = [a + power * b for a, b in zip(dimension, unit.dimension, strict=True)]
        factor *= unit.factor**power
    assert read.dimension == tuple(dimension)
    assert read.factor == pytest.approx(factor, rel=1e-13)


@pytest.mark.slow
@given(factors, st.floats(-1e6, 1e6))
def test_there_and_back_gives_the_value(given_factors: list[tuple[str, int]], value: float) -> None:
    text = ".".join(f"{symbol}{power}" for symbol, power in given_factors)
    base = Unit(parse(text).dimension)
    assert convert(convert(value, text, base), base, text) == pytest.approx(value, rel=1e-13, abs=1e-280)


@given(st.sampled_from(sorted(PREFIXES)), st.sampled_from(["m", "s", "V", "J", "Ohm"]))
def test_a_prefix_scales(prefix: str, symbol: str) -> None:
    known = parse(f"{prefix}{symbol}")
    assert known.dimension == parse(symbol).dimension
    assert known.factor == pytest.approx(PREFIXES[prefix] * parse(symbol).factor, rel=1e-15)


@pytest.mark.slow
@given(factors)
def test_the_text_of_a_unit_reads_back_as_its_dimension(given_factors: list[tuple[str, int]]) -> None:
    unit = parse("*".join(f"{symbol}^{power}" for symbol, power in given_factors))
    assert parse(str(unit)).dimension == unit.dimension


@pytest.mark.slow
@given(factors)
def test_the_name_of_a_unit_reads_back_as_that_unit(given_factors: list[tuple[str, int]]) -> None:
    unit = parse("*".join(f"{symbol}^{power}" for symbol, power in given_factors))
    # a number in front of base units is written with six digits
    number, _, rest = name_of(unit).rpartition(" ")
    assert parse(rest).dimension == unit.dimension
    assert float(number or 1) * parse(rest).factor == pytest.approx(unit.factor, rel=1e-5)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("kg.m.s-2", "N"),
        ("V/A", "Ohm"),
        ("m/s/s", "m/s^2"),
        ("m/h", "m/h"),
        ("kW/K", "kW/K"),
        ("1/s", "1/s"),
        ("degC", "degC"),
        ("m/m", "1"),
        ("W/m2", "W/m^2"),
    ],
)
def test_computed_units_have_the_names_people_use(text: str, name: str) -> None:
    assert name_of(parse(text)) == name


def test_no_text_is_no_dimension() -> None:
    assert parse("") == parse("1") == parse("m/m") == DIMENSIONLESS


@pytest.mark.parametrize(
    ("text", "offer"),
    [
        ("sec", "s"),
        ("metres", "m"),
        ("KG", "kg"),
        ("Volt", "V"),
        ("hz", "Hz"),
        ("mmhg", "mmHg"),
        ("kilogram", "kg"),
        ("ohms", "ohm"),
        ("years", "yr"),
    ],
)
def test_an_unknown_unit_offers_what_looks_alike(text: str, offer: str) -> None:
    with pytest.raises(UnitError, match="not known") as caught:
        parse(text)
    assert offer in caught.value.hint


@pytest.mark.parametrize("text", ["m/", "m//s", "(m", "m)", "m^x", "$", "^2", "m^(1/", "*m", "m^", "0 m", "m/0"])
def test_a_text_that_is_no_product_is_refused(text: str) -> None:
    with pytest.raises(UnitError):
        parse(text)


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(UnitError, match="the unit 3 is no text"):
        parse(3)  # type: ignore[arg-type]


def test_a_product_after_a_division_is_refused_because_it_is_read_in_two_ways() -> None:
    with pytest.raises(UnitError, match="two ways"):
        parse("J/kg*K")


def test_different_quantities_do_not_convert() -> None:
    with pytest.raises(UnitError, match=r"kg measures kg, but m measures m"):
        convert(1.0, "kg", "m")
