/* Robertson's reactions (P6) as a differential-algebraic system by IDA. */

#include "run.h"

static int residual(sunrealtype t, N_Vector state, N_Vector slopes, N_Vector left, void *data)
{
    const sunrealtype *y = N_VGetArrayPointer(state), *ydot = N_VGetArrayPointer(slopes);
    sunrealtype *f = N_VGetArrayPointer(left);
    const sunrealtype forth = 0.04 * y[0], back = 1e4 * y[1] * y[2], fast = 3e7 * y[1] * y[1];
    (void)t;
    (void)data;
    f[0] = ydot[0] + forth - back;
    f[1] = ydot[1] - forth + back + fast;
    f[2] = y[0] + y[1] + y[2] - 1.0;
    return 0;
}

static int jacobian(sunrealtype t, sunrealtype cj, N_Vector state, N_Vector slopes, N_Vector left, SUNMatrix matrix, void *data,
                    N_Vector a, N_Vector b, N_Vector c)
{
    const sunrealtype *y = N_VGetArrayPointer(state);
    sunrealtype *j = SUNDenseMatrix_Data(matrix);
    (void)t, (void)slopes, (void)left, (void)data, (void)a, (void)b, (void)c;
    j[0] = cj + 0.04;
    j[1] = -0.04;
    j[2] = 1.0;
    j[3] = -1e4 * y[2];
    j[4] = cj + 1e4 * y[2] + 6e7 * y[1];
    j[5] = 1.0;
    j[6] = -1e4 * y[1];
    j[7] = 1e4 * y[1];
    j[8] = 1.0;
    return 0;
}

static const sunrealtype start[3] = {1.0, 0.0, 0.0}, start_slopes[3] = {-0.04, 0.04, 0.0};

const Problem robertson = {.name = "robertson", .n = 3, .t_end = 4e4, .start = start, .start_slopes = start_slopes,
                           .residual = residual, .residual_jacobian = jacobian};
