"""Air pollution (J. G. Verwer 1994, in the Test Set for IVP Solvers) as plain numeric functions: 25 reactions among 20 species.

In: nothing. Out: the rates and their Jacobian, term by term, as one writes them for a compiled language. Unknowns count from 0, reactions and species
from 1, as in the list of reactions in ``tests/ivp_testset.py``: ``d3_5`` is the derivative of reaction 3's speed by species 5.
"""

from __future__ import annotations

from benchmarks.problems import Vector

__all__ = ["pollution_jacobian", "pollution_rates"]


def pollution_rates(t: float, y: Vector, p: Vector, m: Vector, out: Vector) -> None:
    r1 = 0.35 * y[0]
    r2 = 26.6 * y[1] * y[3]
    r3 = 12300.0 * y[4] * y[1]
    r4 = 0.00086 * y[6]
    r5 = 0.00082 * y[6]
    r6 = 15000.0 * y[6] * y[5]
    r7 = 0.00013 * y[8]
    r8 = 24000.0 * y[8] * y[5]
    r9 = 16500.0 * y[10] * y[1]
    r10 = 9000.0 * y[10] * y[0]
    r11 = 0.022 * y[12]
    r12 = 12000.0 * y[9] * y[1]
    r13 = 1.88 * y[13]
    r14 = 16300.0 * y[0] * y[5]
    r15 = 4800000.0 * y[2]
    r16 = 0.00035 * y[3]
    r17 = 0.0175 * y[3]
    r18 = 100000000.0 * y[15]
    r19 = 444000000000.0 * y[15]
    r20 = 1240.0 * y[16] * y[5]
    r21 = 2.1 * y[18]
    r22 = 5.78 * y[18]
    r23 = 0.0474 * y[0] * y[3]
    r24 = 1780.0 * y[18] * y[0]
    r25 = 3.12 * y[19]
    out[0] = r2 + r3 + r9 + r11 + r12 + r22 + r25 - r1 - r10 - r14 - r23 - r24
    out[1] = r1 + r21 - r2 - r3 - r9 - r12
    out[2] = r1 + r17 + r19 + r22 - r15
    out[3] = r15 - r2 - r16 - r17 - r23
    out[4] = 2.0 * r4 + r6 + r7 + r13 + r20 - r3
    out[5] = r3 + 2.0 * r18 - r6 - r8 - r14 - r20
    out[6] = r13 - r4 - r5 - r6
    out[7] = r4 + r5 + r6 + r7
    out[8] = -r7 - r8
    out[9] = r7 + r9 - r12
    out[10] = r8 + r11 - r9 - r10
    out[11] = r9
    out[12] = r10 - r11
    out[13] = r12 - r13
    out[14] = r14
    out[15] = r16 - r18 - r19
    out[16] = -r20
    out[17] = r20
    out[18] = r23 + r25 - r21 - r22 - r24
    out[19] = r24 - r25


def pollution_jacobian(t: float, y: Vector, p: Vector, m: Vector, out: Vector) -> None:
    out[:, :] = 0.0
    d2_2 = 26.6 * y[3]
    d2_4 = 26.6 * y[1]
    d3_5 = 12300.0 * y[1]
    d3_2 = 12300.0 * y[4]
    d6_7 = 15000.0 * y[5]
    d6_6 = 15000.0 * y[6]
    d8_9 = 24000.0 * y[5]
    d8_6 = 24000.0 * y[8]
    d9_11 = 16500.0 * y[1]
    d9_2 = 16500.0 * y[10]
    d10_11 = 9000.0 * y[0]
    d10_1 = 9000.0 * y[10]
    d12_10 = 12000.0 * y[1]
    d12_2 = 12000.0 * y[9]
    d14_1 = 16300.0 * y[5]
    d14_6 = 16300.0 * y[0]
    d20_17 = 1240.0 * y[5]
    d20_6 = 1240.0 * y[16]
    d23_1 = 0.0474 * y[3]
    d23_4 = 0.0474 * y[0]
    d24_19 = 1780.0 * y[0]
    d24_1 = 1780.0 * y[18]
    out[0, 0] = -0.35 - d10_1 - d14_1 - d23_1 - d24_1
    out[0, 1] = d2_2 + d3_2 + d9_2 + d12_2
    out[0, 3] = d2_4 - d23_4
    out[0, 4] = d3_5
    out[0, 5] = -d14_6
    out[0, 9] = d12_10
    out[0, 10] = d9_11 - d10_11
    out[0, 12] = 0.022
    out[0, 18] = 5.78 - d24_19
    out[0, 19] = 3.12
    out[1, 0] = 0.35
    out[1, 1] = -d2_2 - d3_2 - d9_2 - d12_2
    out[1, 3] = -d2_4
    out[1, 4] = -d3_5
    out[1, 9] = -d12_10
    out[1, 10] = -d9_11
    out[1, 18] = 2.1
    out[2, 0] = 0.35
    out[2, 2] = -4800000.0
    out[2, 3] = 0.0175
    out[2, 15] = 444000000000.0
    out[2, 18] = 5.78
    out[3, 0] = -d23_1
    out[3, 1] = -d2_2
    out[3, 2] = 4800000.0
    out[3, 3] = -d2_4 - 0.00035 - 0.0175 - d23_4
    out[4, 1] = -d3_2
    out[4, 4] = -d3_5
    out[4, 5] = d6_6 + d20_6
    out[4, 6] = 2.0 * 0.00086 + d6_7
    out[4, 8] = 0.00013
    out[4, 13] = 1.88
    out[4, 16] = d20_17
    out[5, 0] = -d14_1
    out[5, 1] = d3_2
    out[5, 4] = d3_5
    out[5, 5] = -d6_6 - d8_6 - d14_6 - d20_6
    out[5, 6] = -d6_7
    out[5, 8] = -d8_9
    out[5, 15] = 2.0 * 100000000.0
    out[5, 16] = -d20_17
    out[6, 5] = -d6_6
    out[6, 6] = -0.00086 - 0.00082 - d6_7
    out[6, 13] = 1.88
    out[7, 5] = d6_6
    out[7, 6] = 0.00086 + 0.00082 + d6_7
    out[7, 8] = 0.00013
    out[8, 5] = -d8_6
    out[8, 8] = -0.00013 - d8_9
    out[9, 1] = d9_2 - d12_2
    out[9, 8] = 0.00013
    out[9, 9] = -d12_10
    out[9, 10] = d9_11
    out[10, 0] = -d10_1
    out[10, 1] = -d9_2
    out[10, 5] = d8_6
    out[10, 8] = d8_9
    out[10, 10] = -d9_11 - d10_11
    out[10, 12] = 0.022
    out[11, 1] = d9_2
    out[11, 10] = d9_11
    out[12, 0] = d10_1
    out[12, 10] = d10_11
    out[12, 12] = -0.022
    out[13, 1] = d12_2
    out[13, 9] = d12_10
    out[13, 13] = -1.88
    out[14, 0] = d14_1
    out[14, 5] = d14_6
    out[15, 3] = 0.00035
    out[15, 15] = -100000000.0 - 444000000000.0
    out[16, 5] = -d20_6
    out[16, 16] = -d20_17
    out[17, 5] = d20_6
    out[17, 16] = d20_17
    out[18, 0] = d23_1 - d24_1
    out[18, 3] = d23_4
    out[18, 18] = -2.1 - 5.78 - d24_19
    out[18, 19] = 3.12
    out[19, 0] = d24_1
    out[19, 18] = d24_19
    out[19, 19] = -3.12
