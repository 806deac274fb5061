/* The stiff relay (P4) by CVODE's BDF: a guard ends each phase, the transition changes the two modes, CVODE starts again. */

#include "run.h"

static const sunrealtype fast = 2.7e6, slow = 3.5651205;

static int rates(sunrealtype t, N_Vector state, N_Vector slopes, void *data)
{
    const sunrealtype *y = N_VGetArrayPointer(state), *m = data;
    sunrealtype *f = N_VGetArrayPointer(slopes);
    (void)t;
    f[0] = fast * (y[1] + m[0] - y[0]);
    f[1] = slow * (m[1] - y[1]);
    return 0;
}

static int jacobian(sunrealtype t, N_Vector state, N_Vector slopes, SUNMatrix matrix, void *data, N_Vector a, N_Vector b, N_Vector c)
{
    sunrealtype *j = SUNDenseMatrix_Data(matrix);
    (void)t, (void)state, (void)slopes, (void)data, (void)a, (void)b, (void)c;
    j[0] = -fast;
    j[2] = fast;
    j[3] = -slow;
    return 0;
}

static int guard(sunrealtype t, N_Vector state, sunrealtype *g, void *data)
{
    const sunrealtype *y = N_VGetArrayPointer(state), *m = data;
    (void)t;
    g[0] = m[0] > 0.0 ? y[0] - 5.8 : 2.5 - y[0];
    return 0;
}

static void transition(sunrealtype *m)
{
    const int was_filling = m[0] > 0.0;
    m[0] = was_filling ? -0.3 : 0.4;
    m[1] = was_filling ? 2.73 : 5.5;
}

static const sunrealtype start[2] = {4.2, 0.3}, modes[2] = {0.4, 5.5};

const Problem relay = {.name = "relay", .n = 2, .t_end = 5.0, .start = start, .rates = rates, .rates_jacobian = jacobian,
                       .guard = guard, .n_modes = 2, .modes = modes, .transition = transition};
