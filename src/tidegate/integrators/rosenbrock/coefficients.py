"""Coefficients of Rodas5P, a stiffly accurate Rosenbrock method of order 5 with 8 stages, an embedded one of order 4 and dense output of order 4.

Steinebach, Construction of Rosenbrock-Wanner method Rodas5P and numerical benchmarks within the Julia Differential Equations package, BIT Numerical
Mathematics 63 (2023) 27, in the form without products of matrices and vectors (Hairer and Wanner, Solving ODEs II, IV.7.25): stage i solves

    (M / (gamma h) - J) U_i = f(t + alpha_i h, y + sum_j a_ij U_j) + M sum_j (c_ij / h) U_j + h gamma_i df/dt.

The published digits leave 1e-13 of a constant rate in the dense output, so that a straight line would not meet a clock where it should. What is
left is taken from the first column, with exact arithmetic. Tests check order conditions and the stability function.
"""

from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["ALPHA", "DENSE", "GAMMA", "N_STAGES", "OF_MASS", "OF_TIME", "OF_VALUES"]

# one number a line would hide what belongs together
# fmt: off

N_STAGES: Final = 8
GAMMA: Final = 0.21193756319429014


def _lower(*rows: tuple[float, ...]) -> NDArray[np.float64]:
    """A strictly lower triangular matrix from its rows."""
    whole = np.zeros((N_STAGES, N_STAGES))
    for i, row in enumerate(rows):
        whole[i, : len(row)] = row
    return whole


# alpha_i, sums of rows
ALPHA: Final = np.array([0.0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1.0, 1.0, 1.0])

# gamma_i, sums of rows
OF_TIME: Final = np.array([0.21193756319429014, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069, 0.0, 0.0, 0.0])

_SIXTH: Final = (-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946)

# a_ij; the last stage is what the end gains on the embedded method, and so its error
OF_VALUES: Final = _lower(
    (),
    (3.0,),
    (2.849394379747939, 0.45842242204463923),
    (-6.954028509809101, 2.489845061869568, -10.358996098473584),
    (2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641),
    _SIXTH,
    (*_SIXTH, 1.0),
    (*_SIXTH, 1.0, 1.0),
)

# c_ij
OF_MASS: Final = _lower(
    (),
    (-14.155112264123755,),
    (-17.97296035885952, -2.859693295451294),
    (147.12150275711716, -1.41221402718213, 71.68940251302358),
    (165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306),
    (24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471),
    (30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623, -28.087943162872662),
    (37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002, -54.66780262877968, -9.48861652309627),
)

# y(theta) = (1 - theta) y + theta (y_end + (1 - theta) (k_0 + theta (k_1 + theta k_2))) with k = DENSE U
DENSE: Final = np.array(
    [
        [25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204, 0.524948541321073, 1.1241088310450404,
         0.4272876194431874, -0.17202221070155493],
        [-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796, 20.176138334709044, 15.98066361424651,
         -6.789040303419874, -6.710236069923372],
        [11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643, -52.072871366152654, -59.78993625266729,
         -0.15582684282751913, 4.883087185713722],
    ]
)


def _with_constant_rates() -> None:
    """Change the last digits of first columns so that y' = 1 has the straight line, an error of zero, and nothing else in its dense output."""
    rates = [Fraction(GAMMA)]
    for i in range(1, N_STAGES):
        if i == N_STAGES - 1:
            left = 1 + _of(OF_MASS[i], rates)
            OF_MASS[i, 0] = float(Fraction(float(OF_MASS[i, 0])) - left / rates[0])
        rates.append(rates[0] * (1 + _of(OF_MASS[i], rates)))
    for row, wanted in ((OF_VALUES[-1], 1 - rates[-1]), *((dense, 0) for dense in DENSE)):
        row[0] = float(Fraction(float(row[0])) - (_of(row, rates) - wanted) / rates[0])


def _of(row: NDArray[np.float64], rates: list[Fraction]) -> Fraction:
    return sum((Fraction(float(a)) * rate for a, rate in zip(row, rates, strict=False)), Fraction(0))


_with_constant_rates()
