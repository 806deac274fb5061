/* Partners of connections: LAG x' = u - x, y = x; RATE likewise, y = x'; LEAD likewise, y = x + u / 2; GAIN y = K u, without states. */
#include "blo.h"

#define ARGUMENTS                                                                                                                              \
    int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *out, double *duser, int *iuser, int *luser, \
        int *ierr

static void define(int iopt, int *info, int *sig, int *dim, double *x0, double *dp, int nx, int gu, int gxd) {
    int gui[1] = {1};
    if (iopt == 1) {
        info[0] = 1;
    } else if (iopt == 2) {
        sig[0] = dim[0] = nx;
        sig[1] = dim[1] = sig[2] = dim[2] = 1;
        sig[5] = dim[5] = 1;
    } else {
        if (nx) cblo3sx("X", ""), x0[0] = 1.0;
        cblo3su("U", ""), cblo3sy("Y", ""), cblo3pd("K", "");
        cblo3ux(gu, gui, gxd, 0);
        dp[0] = 1.0;
    }
}

#define BLOCK(name, nx, gu, gxd, value)                                                                                                           \
    void name##b(int *iopt, int *info, int *sig, int *dim, double *t0, double *x0, double *xd0, double *dp, int *ip, int *lp, double *duser,      \
                 int *iuser, int *luser, int *ierr) {                                                                                             \
        define(*iopt, info, sig, dim, x0, dp, nx, gu, gxd);                                                                                       \
    }                                                                                                                                             \
    void name##f(ARGUMENTS) { out[0] = u[0] - x[0]; }                                                                                             \
    void name##g(ARGUMENTS) { out[0] = value; }

BLOCK(lag, 1, 0, 0, x[0])
BLOCK(rate, 1, 0, 1, xd[0])
BLOCK(lead, 1, 1, 0, x[0] + u[0] / 2)
BLOCK(gain, 0, 2, 0, dp[0] * u[0])
