"""Units of measurement, for every stage: a unit's text goes in, its dimension and its factor to SI come out.

Factors are the exact ones of the SI Brochure (BIPM, 9th edition 2019) and of NIST Special Publication 811 (2008), appendix B, except where
a unit is defined by measurement. A text is a product of factors: ``kg.m2``, ``kg*m^2``, ``m/s**2``, ``J/(kg*K)``, ``kW.h``, ``1/s``.

The table is the project's own and no library's. Models are checked by comparing dimensions, which is arithmetic on seven exponents. A library such as
pint takes about 0.6 s to load with its registry, ten times what ``import tidegate`` does, and what it offers beyond a table, quantities that carry
their unit through arithmetic, cannot pass through symbols and machine code.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Final

from tidegate.errors import UnitError
from tidegate.names import close_names
from tidegate.quick_dataclass import dataclass

__all__ = ["BASE_UNITS", "DIMENSIONLESS", "PREFIXES", "Unit", "convert", "name_of", "parse"]

BASE_UNITS: Final = ("m", "kg", "s", "A", "K", "mol", "cd")


@dataclass(frozen=True, slots=True)
class Unit:
    """What a unit measures and how large it is: ``value in SI = factor * value + offset``.

    Parameters
    ----------
    dimension : exponents of m, kg, s, A, K, mol, cd.
    factor : size in SI base units.
    offset : SI value of this unit's zero; not zero only for temperature scales standing alone.

    Examples
    --------
    >>> parse("kN") * parse("m") == parse("kJ")
    True
    """

    dimension: tuple[Fraction, ...]
    factor: float = 1.0
    offset: float = 0.0

    def __mul__(self, other: Unit) -> Unit:
        # most exponents are zero, and adding fractions is slow
        dimension = tuple((a + b if b else a) if a else b for a, b in zip(self.dimension, other.dimension, strict=True))
        return Unit(dimension, self.factor * other.factor)

    def __truediv__(self, other: Unit) -> Unit:
        return self * other**-1

    def __pow__(self, exponent: int | Fraction) -> Unit:
        power = Fraction(exponent)
        factor = self.factor**power.numerator if power.denominator == 1 else self.factor ** float(power)
        return Unit(tuple(e * power if e else e for e in self.dimension), factor)

    def is_compatible(self, other: Unit) -> bool:
        """True where both measure the same kind of quantity."""
        return self.dimension == other.dimension

    def __str__(self) -> str:
        return "*".join(_power_text(name, e) for name, e in zip(BASE_UNITS, self.dimension, strict=True) if e) or "1"


def _power_text(name: str, exponent: Fraction) -> str:
    if exponent == 1:
        return name
    return f"{name}^{exponent}" if exponent.denominator == 1 else f"{name}^({exponent})"


def _unit(factor: float = 1.0, *, offset: float = 0.0, **exponents: int) -> Unit:
    return Unit(tuple(Fraction(exponents.get(name, 0)) for name in BASE_UNITS), factor, offset)


DIMENSIONLESS: Final = _unit()

PREFIXES: Final[Mapping[str, float]] = {
    "Q": 1e30, "R": 1e27, "Y": 1e24, "Z": 1e21, "E": 1e18, "P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "h": 1e2, "da": 1e1,
    "d": 1e-1, "c": 1e-2, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15, "a": 1e-18, "z": 1e-21, "y": 1e-24,
    "r": 1e-27, "q": 1e-30,
}  # fmt: skip

_JOULE: Final = _unit(m=2, kg=1, s=-2)
_WATT: Final = _unit(m=2, kg=1, s=-3)
_PASCAL: Final = _unit(m=-1, kg=1, s=-2)
_OHM: Final = _unit(m=2, kg=1, s=-3, A=-2)


def _times(factor: float, unit: Unit) -> Unit:
    return Unit(unit.dimension, factor * unit.factor)


# Units that take a prefix.
_PREFIXABLE: Final[Mapping[str, Unit]] = {
    "m": _unit(m=1), "g": _unit(1e-3, kg=1), "s": _unit(s=1), "A": _unit(A=1), "K": _unit(K=1), "mol": _unit(mol=1), "cd": _unit(cd=1),
    "rad": _unit(), "sr": _unit(), "Hz": _unit(s=-1), "N": _unit(m=1, kg=1, s=-2), "Pa": _PASCAL, "J": _JOULE, "W": _WATT, "C": _unit(s=1, A=1),
    "V": _unit(m=2, kg=1, s=-3, A=-1), "F": _unit(m=-2, kg=-1, s=4, A=2), "Ohm": _OHM, "ohm": _OHM, "\u03a9": _OHM, "\u2126": _OHM,
    "S": _unit(m=-2, kg=-1, s=3, A=2), "Wb": _unit(m=2, kg=1, s=-2, A=-1), "T": _unit(kg=1, s=-2, A=-1), "H": _unit(m=2, kg=1, s=-2, A=-2),
    "lm": _unit(cd=1), "lx": _unit(m=-2, cd=1), "Bq": _unit(s=-1), "Gy": _unit(m=2, s=-2), "Sv": _unit(m=2, s=-2), "kat": _unit(s=-1, mol=1),
    "L": _unit(1e-3, m=3), "l": _unit(1e-3, m=3), "t": _unit(1e3, kg=1), "M": _unit(1e3, m=-3, mol=1), "P": _unit(0.1, m=-1, kg=1, s=-1),
    "bar": _times(1e5, _PASCAL), "Torr": _times(101325.0 / 760.0, _PASCAL), "eV": _times(1.602176634e-19, _JOULE), "cal": _times(4.184, _JOULE),
    "Wh": _times(3600.0, _JOULE), "Ah": _unit(3600.0, s=1, A=1), "VA": _WATT, "var": _WATT,
}  # fmt: skip

_POUND: Final = 0.45359237  # kg
_GRAVITY: Final = 9.80665  # m/s^2, the standard acceleration of free fall
_INCH: Final = 0.0254  # m
_NEWTON: Final = _unit(m=1, kg=1, s=-2)
_YEAR: Final = 365.25 * 86400.0  # s, the Julian year of astronomers, by which half-lives and orbits are given

# Units that stand as they are; looked up before any prefix is split off, so that "min" is no milli-inch.
_PLAIN: Final[Mapping[str, Unit]] = {
    "1": _unit(), "%": _unit(1e-2), "ppm": _unit(1e-6), "min": _unit(60.0, s=1), "h": _unit(3600.0, s=1), "d": _unit(86400.0, s=1),
    "day": _unit(86400.0, s=1), "wk": _unit(7 * 86400.0, s=1), "yr": _unit(_YEAR, s=1), "deg": _unit(math.pi / 180.0),
    "°": _unit(math.pi / 180.0), "rev": _unit(2.0 * math.pi),
    "rpm": _unit(math.pi / 30.0, s=-1), "degC": _unit(K=1, offset=273.15), "°C": _unit(K=1, offset=273.15),
    "degF": _unit(5.0 / 9.0, K=1, offset=459.67 * 5.0 / 9.0), "°F": _unit(5.0 / 9.0, K=1, offset=459.67 * 5.0 / 9.0), "degR": _unit(5.0 / 9.0, K=1),
    "atm": _times(101325.0, _PASCAL), "mmHg": _times(133.322387415, _PASCAL), "psi": _times(_POUND * _GRAVITY / _INCH**2, _PASCAL),
    "in": _unit(_INCH, m=1), "ft": _unit(12 * _INCH, m=1), "yd": _unit(36 * _INCH, m=1), "mi": _unit(63360 * _INCH, m=1), "nmi": _unit(1852.0, m=1),
    "ha": _unit(1e4, m=2), "gal": _unit(231 * _INCH**3, m=3), "lb": _unit(_POUND, kg=1), "oz": _unit(_POUND / 16, kg=1),
    "lbf": _times(_POUND * _GRAVITY, _NEWTON), "kgf": _times(_GRAVITY, _NEWTON), "hp": _times(550 * 12 * _INCH * _POUND * _GRAVITY, _WATT),
    "BTU": _times(1055.05585262, _JOULE), "mph": _unit(0.44704, m=1, s=-1), "kn": _unit(1852.0 / 3600.0, m=1, s=-1),
    "u": _unit(1.66053906660e-27, kg=1), "Da": _unit(1.66053906660e-27, kg=1),
}  # fmt: skip

_SPELLED_OUT: Final[Mapping[str, str]] = {
    "meter": "m", "metre": "m", "second": "s", "sec": "s", "minute": "min", "hour": "h", "hr": "h", "gram": "g", "kilogram": "kg", "ampere": "A",
    "amp": "A", "kelvin": "K", "volt": "V", "watt": "W", "newton": "N", "pascal": "Pa", "joule": "J", "hertz": "Hz", "farad": "F", "henry": "H",
    "liter": "L", "litre": "L", "degree": "deg", "radian": "rad", "inch": "in", "foot": "ft", "celsius": "degC", "percent": "%", "mole": "mol",
    "week": "wk", "year": "yr",
}  # fmt: skip

_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d_⁰¹²³⁴⁵⁶⁷⁸⁹]+|[°%][^\W\d_⁰¹²³⁴⁵⁶⁷⁸⁹]*)|(?P<power>\*\*|\^)|(?P<operator>[*/.·⋅()+-]|⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+))"
)
_GAP: Final = re.compile(r"(?<=[\w)%°⁰¹²³⁴⁵⁶⁷⁸⁹])\s+(?=[^\W_]|[°%(])")


def _named(name: str, text: str) -> Unit:
    found = _PLAIN.get(name) or _PREFIXABLE.get(name)
    if found is not None:
        return found
    for length in (1, 2):
        prefix, rest = name[:length], name[length:]
        if prefix in PREFIXES and rest in _PREFIXABLE:
            base = _PREFIXABLE[rest]
            return Unit(base.dimension, base.factor * PREFIXES[prefix])
    known = [*_PLAIN, *_PREFIXABLE, *(f"{p}{u}" for p in ("k", "m", "M", "u", "c", "n") for u in _PREFIXABLE)]
    word = name.lower()
    close = [known_word for known_word in (_SPELLED_OUT.get(word), _SPELLED_OUT.get(word.removesuffix("s"))) if known_word]
    close = close[:1] or [symbol for symbol in known if symbol.lower() == word][:3] or close_names(name, known)
    hint = f"did you mean {', '.join(close)}?" if close else "units are symbols, e.g. m, kg, s, N, Pa, kW, degC, rpm, m/s^2"
    raise UnitError(f"the unit {name!r} in {text!r} is not known", hint=hint)


class _UnitReader:
    """Recursive descent over the tokens of one unit text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str]] = []
        source, place = _GAP.sub("*", text.strip()), 0
        while place < len(source):
            match = _TOKEN.match(source, place)
            if match is None or match.lastgroup is None:
                raise self.error(f"{source[place:].strip()!r} cannot be read")
            token = match.group(match.lastgroup)
            # a number such as "2." before a unit is a number and a product dot
            if match.lastgroup == "number" and token.endswith("."):
                token = token[:-1]
                self.tokens += [("number", token), ("operator", ".")]
            else:
                self.tokens.append((match.lastgroup, token))
            place = match.end()
        self.tokens.append(("end", ""))

    def error(self, why: str) -> UnitError:
        return UnitError(f"the unit {self.text!r} cannot be read: {why}", hint="write products and powers like kg*m^2/s^2, kg.m2/s2 or J/(kg*K)")

    def next(self) -> tuple[str, str]:
        return self.tokens.pop(0)

    def accept(self, *tokens: str) -> str:
        return self.next()[1] if self.tokens[0][1] in tokens and self.tokens[0][0] != "end" else ""

    def product(self) -> Unit:
        unit, divided = self.factor(), False
        while operator := self.accept("*", ".", "·", "⋅", "/"):
            if operator == "/":
                unit, divided = unit / self.factor(), True
            elif divided:
                # "J/kg*K" is read one way by Python and the other way by many engineers
                raise self.error("a product after a division can be read in two ways; put parentheses around the denominator")
            else:
                unit = unit * self.factor()
        return unit

    def factor(self) -> Unit:
        kind, token = self.next()
        if kind == "number":
            if not float(token):
                raise self.error("zero of something measures nothing")
            return Unit(DIMENSIONLESS.dimension, float(token)) ** self.exponent(explicit=True)
        if (kind, token) == ("operator", "("):
            unit = self.product()
            if not self.accept(")"):
                raise self.error("a closing parenthesis is missing")
            return unit ** self.exponent()
        if kind != "name":
            raise self.error(f"a unit is expected{f' at {token!r}' if token else ' at its end'}")
        unit, exponent = _named(token, self.text), self.exponent()
        return unit if exponent == 1 else unit**exponent

    def exponent(self, *, explicit: bool = False) -> Fraction:
        kind, token = self.tokens[0]
        if kind == "power":
            self.next()
            if self.accept("("):
                value = self.number()
                if self.accept("/"):
                    value /= self.number()
                if not self.accept(")"):
                    raise self.error("a closing parenthesis is missing")
                return value
            return self.number()
        if kind == "operator" and token.translate(_SUPERSCRIPTS).lstrip("-").isdigit():
            self.next()
            return Fraction(token.translate(_SUPERSCRIPTS))
        if not explicit and (kind == "number" or token in ("+", "-")):
            return self.number()
        return Fraction(1)

    def number(self) -> Fraction:
        sign = -1 if self.accept("-") else 1
        self.accept("+")
        kind, token = self.next()
        if kind != "number":
            raise self.error("an exponent is expected to be a number")
        return sign * Fraction(token)


@lru_cache(maxsize=1024)
def parse(text: str) -> Unit:
    """Read a unit.

    Parameters
    ----------
    text : e.g. ``"m/s^2"``, ``"kg.m2"``, ``"J/(kg*K)"``; the empty text and ``"1"`` have no dimension.

    Raises
    ------
    UnitError : for a text that cannot be read; names units that look alike.

    Examples
    --------
    >>> parse("km/h").factor * 36
    10.0
    >>> str(parse("kN"))
    'm*kg*s^-2'
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise UnitError(f"the unit {text!r} is no text", hint='write e.g. "m/s"')
    if not text.strip():
        return DIMENSIONLESS
    reader = _UnitReader(text)
    unit = reader.product()
    kind, token = reader.next()
    if kind != "end":
        raise reader.error(f"{token!r} is not expected there")
    return unit


def convert(value: float, source: str | Unit, target: str | Unit) -> float:
    """Express a value given in one unit in another.

    Parameters
    ----------
    value : number in units of ``source``.
    source, target : units or their texts; must measure the same kind of quantity.

    Raises
    ------
    UnitError : for units that cannot be read or measure different things.

    Examples
    --------
    >>> convert(36.0, "km/h", "m/s")
    10.0
    >>> round(convert(20.0, "degC", "K"), 6)
    293.15
    """
    from_unit = parse(source) if isinstance(source, str) else source
    to_unit = parse(target) if isinstance(target, str) else target
    if not from_unit.is_compatible(to_unit):
        raise UnitError(f"{source} measures {from_unit}, but {target} measures {to_unit}", hint="give a unit of the same kind of quantity")
    if from_unit == to_unit:
        return value
    return (value * from_unit.factor + from_unit.offset - to_unit.offset) / to_unit.factor


# What messages call a unit that was computed, most readable first.
_NAMES: Final = (
    "m kg s A K mol cd N J W Pa V Ohm C F H Wb T S kW kN kPa kJ MW MPa MJ mA mV kV kWh bar L "
    "mm cm km um g t min h d ms us ns deg rev % rpm degF kOhm uF mF mH nF hp psi ft in lb mmol"
).split()  # fmt: skip
_SCALES: Final[Mapping[str, tuple[str, ...]]] = {"m": ("m", "mm", "cm", "km"), "kg": ("kg", "g"), "s": ("s", "h", "min", "d", "ms", "us")}


def name_of(unit: Unit) -> str:
    """A text for a unit that was computed, in the symbols people use; what has no such name is a number times base units.

    Examples
    --------
    >>> name_of(parse("kg*m/s^2")), name_of(parse("km/h")), name_of(parse("W/K"))
    ('N', 'km/h', 'W/K')
    """
    if unit.offset == 273.15:
        return "degC"
    named = [(name, parse(name)) for name in _NAMES]
    for name, known in named:
        if _is_same(unit, known):
            return name
    plain = Unit(unit.dimension, unit.factor)
    mass, time = (unit.dimension[BASE_UNITS.index(base)] for base in ("kg", "s"))
    # kg/s^2 is known as N/m, and kg/s^3 as W/m^2
    is_mechanical = mass and time <= -2
    if sum(map(bool, unit.dimension)) <= 2 and not is_mechanical and (found := _in_base_units(plain)):
        return found
    for name, known in named:
        rest = plain / known
        is_derived = sum(map(bool, known.dimension)) > 1
        if is_derived and sum(map(bool, rest.dimension)) == 1 and (found := _in_base_units(rest)):
            return f"{name}{found[1:]}" if found.startswith("1/") else f"{name}*{found}"
    text = _in_base_units(plain)
    return text or f"{plain.factor:.6g} {_in_base_units(Unit(plain.dimension))}"


def _is_same(unit: Unit, known: Unit) -> bool:
    return unit.dimension == known.dimension and math.isclose(unit.factor, known.factor, rel_tol=1e-9)


def _in_base_units(unit: Unit) -> str:
    """Products of base units, or of common multiples of them; "" if the factor is none of those."""
    used = [(base, exponent) for base, exponent in zip(BASE_UNITS, unit.dimension, strict=True) if exponent]
    for symbols in itertools.product(*(_SCALES.get(base, (base,)) for base, _ in used)):
        powers = [(symbol, exponent) for symbol, (_, exponent) in zip(symbols, used, strict=True)]
        if math.isclose(math.prod(parse(symbol).factor ** float(exponent) for symbol, exponent in powers), unit.factor, rel_tol=1e-9):
            above = "*".join(_power_text(symbol, exponent) for symbol, exponent in powers if exponent > 0) or "1"
            below = [_power_text(symbol, -exponent) for symbol, exponent in powers if exponent < 0]
            return above + (f"/({'*'.join(below)})" if len(below) > 1 else f"/{below[0]}" if below else "")
    return ""
