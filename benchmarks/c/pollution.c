/* Air pollution: 20 species, 25 reactions, by CVODE's BDF. The same terms as in benchmarks/pollution.py. */

#include "run.h"

static int rates(sunrealtype t, N_Vector state, N_Vector slopes, void *data)
{
    const sunrealtype *y = N_VGetArrayPointer(state);
    sunrealtype *f = N_VGetArrayPointer(slopes);
    (void)t;
    (void)data;
    const double r1 = 0.35 * y[0];
    const double r2 = 26.6 * y[1] * y[3];
    const double r3 = 12300.0 * y[4] * y[1];
    const double r4 = 0.00086 * y[6];
    const double r5 = 0.00082 * y[6];
    const double r6 = 15000.0 * y[6] * y[5];
    const double r7 = 0.00013 * y[8];
    const double r8 = 24000.0 * y[8] * y[5];
    const double r9 = 16500.0 * y[10] * y[1];
    const double r10 = 9000.0 * y[10] * y[0];
    const double r11 = 0.022 * y[12];
    const double r12 = 12000.0 * y[9] * y[1];
    const double r13 = 1.88 * y[13];
    const double r14 = 16300.0 * y[0] * y[5];
    const double r15 = 4800000.0 * y[2];
    const double r16 = 0.00035 * y[3];
    const double r17 = 0.0175 * y[3];
    const double r18 = 100000000.0 * y[15];
    const double r19 = 444000000000.0 * y[15];
    const double r20 = 1240.0 * y[16] * y[5];
    const double r21 = 2.1 * y[18];
    const double r22 = 5.78 * y[18];
    const double r23 = 0.0474 * y[0] * y[3];
    const double r24 = 1780.0 * y[18] * y[0];
    const double r25 = 3.12 * y[19];
    f[0] = r2 + r3 + r9 + r11 + r12 + r22 + r25 - r1 - r10 - r14 - r23 - r24;
    f[1] = r1 + r21 - r2 - r3 - r9 - r12;
    f[2] = r1 + r17 + r19 + r22 - r15;
    f[3] = r15 - r2 - r16 - r17 - r23;
    f[4] = 2.0 * r4 + r6 + r7 + r13 + r20 - r3;
    f[5] = r3 + 2.0 * r18 - r6 - r8 - r14 - r20;
    f[6] = r13 - r4 - r5 - r6;
    f[7] = r4 + r5 + r6 + r7;
    f[8] = -r7 - r8;
    f[9] = r7 + r9 - r12;
    f[10] = r8 + r11 - r9 - r10;
    f[11] = r9;
    f[12] = r10 - r11;
    f[13] = r12 - r13;
    f[14] = r14;
    f[15] = r16 - r18 - r19;
    f[16] = -r20;
    f[17] = r20;
    f[18] = r23 + r25 - r21 - r22 - r24;
    f[19] = r24 - r25;
    return 0;
}

static int jacobian(sunrealtype t, N_Vector state, N_Vector slopes, SUNMatrix matrix, void *data, N_Vector a, N_Vector b, N_Vector c)
{
    const sunrealtype *y = N_VGetArrayPointer(state);
    sunrealtype *j = SUNDenseMatrix_Data(matrix);
    (void)t, (void)slopes, (void)data, (void)a, (void)b, (void)c;
#define J(row, column) j[(row) + 20 * (column)] /* CVODE hands over a matrix of zeros */
    const double d2_2 = 26.6 * y[3];
    const double d2_4 = 26.6 * y[1];
    const double d3_5 = 12300.0 * y[1];
    const double d3_2 = 12300.0 * y[4];
    const double d6_7 = 15000.0 * y[5];
    const double d6_6 = 15000.0 * y[6];
    const double d8_9 = 24000.0 * y[5];
    const double d8_6 = 24000.0 * y[8];
    const double d9_11 = 16500.0 * y[1];
    const double d9_2 = 16500.0 * y[10];
    const double d10_11 = 9000.0 * y[0];
    const double d10_1 = 9000.0 * y[10];
    const double d12_10 = 12000.0 * y[1];
    const double d12_2 = 12000.0 * y[9];
    const double d14_1 = 16300.0 * y[5];
    const double d14_6 = 16300.0 * y[0];
    const double d20_17 = 1240.0 * y[5];
    const double d20_6 = 1240.0 * y[16];
    const double d23_1 = 0.0474 * y[3];
    const double d23_4 = 0.0474 * y[0];
    const double d24_19 = 1780.0 * y[0];
    const double d24_1 = 1780.0 * y[18];
    J(0, 0) = -0.35 - d10_1 - d14_1 - d23_1 - d24_1;
    J(0, 1) = d2_2 + d3_2 + d9_2 + d12_2;
    J(0, 3) = d2_4 - d23_4;
    J(0, 4) = d3_5;
    J(0, 5) = -d14_6;
    J(0, 9) = d12_10;
    J(0, 10) = d9_11 - d10_11;
    J(0, 12) = 0.022;
    J(0, 18) = 5.78 - d24_19;
    J(0, 19) = 3.12;
    J(1, 0) = 0.35;
    J(1, 1) = -d2_2 - d3_2 - d9_2 - d12_2;
    J(1, 3) = -d2_4;
    J(1, 4) = -d3_5;
    J(1, 9) = -d12_10;
    J(1, 10) = -d9_11;
    J(1, 18) = 2.1;
    J(2, 0) = 0.35;
    J(2, 2) = -4800000.0;
    J(2, 3) = 0.0175;
    J(2, 15) = 444000000000.0;
    J(2, 18) = 5.78;
    J(3, 0) = -d23_1;
    J(3, 1) = -d2_2;
    J(3, 2) = 4800000.0;
    J(3, 3) = -d2_4 - 0.00035 - 0.0175 - d23_4;
    J(4, 1) = -d3_2;
    J(4, 4) = -d3_5;
    J(4, 5) = d6_6 + d20_6;
    J(4, 6) = 2.0 * 0.00086 + d6_7;
    J(4, 8) = 0.00013;
    J(4, 13) = 1.88;
    J(4, 16) = d20_17;
    J(5, 0) = -d14_1;
    J(5, 1) = d3_2;
    J(5, 4) = d3_5;
    J(5, 5) = -d6_6 - d8_6 - d14_6 - d20_6;
    J(5, 6) = -d6_7;
    J(5, 8) = -d8_9;
    J(5, 15) = 2.0 * 100000000.0;
    J(5, 16) = -d20_17;
    J(6, 5) = -d6_6;
    J(6, 6) = -0.00086 - 0.00082 - d6_7;
    J(6, 13) = 1.88;
    J(7, 5) = d6_6;
    J(7, 6) = 0.00086 + 0.00082 + d6_7;
    J(7, 8) = 0.00013;
    J(8, 5) = -d8_6;
    J(8, 8) = -0.00013 - d8_9;
    J(9, 1) = d9_2 - d12_2;
    J(9, 8) = 0.00013;
    J(9, 9) = -d12_10;
    J(9, 10) = d9_11;
    J(10, 0) = -d10_1;
    J(10, 1) = -d9_2;
    J(10, 5) = d8_6;
    J(10, 8) = d8_9;
    J(10, 10) = -d9_11 - d10_11;
    J(10, 12) = 0.022;
    J(11, 1) = d9_2;
    J(11, 10) = d9_11;
    J(12, 0) = d10_1;
    J(12, 10) = d10_11;
    J(12, 12) = -0.022;
    J(13, 1) = d12_2;
    J(13, 9) = d12_10;
    J(13, 13) = -1.88;
    J(14, 0) = d14_1;
    J(14, 5) = d14_6;
    J(15, 3) = 0.00035;
    J(15, 15) = -100000000.0 - 444000000000.0;
    J(16, 5) = -d20_6;
    J(16, 16) = -d20_17;
    J(17, 5) = d20_6;
    J(17, 16) = d20_17;
    J(18, 0) = d23_1 - d24_1;
    J(18, 3) = d23_4;
    J(18, 18) = -2.1 - 5.78 - d24_19;
    J(18, 19) = 3.12;
    J(19, 0) = d24_1;
    J(19, 18) = d24_19;
    J(19, 19) = -3.12;
#undef J
    return 0;
}

static const sunrealtype start[20] = {
    0.0, 0.2, 0.0, 0.04, 0.0, 0.0, 0.1, 0.3, 0.01, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.007, 0.0, 0.0, 0.0,
};

const Problem pollution = {.name = "pollution", .n = 20, .t_end = 60.0, .start = start, .rates = rates, .rates_jacobian = jacobian};
