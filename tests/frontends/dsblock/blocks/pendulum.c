/* A pendulum of length 1 in Cartesian coordinates, an HDAE: x1 = (X, Y, VX, VY), x3 = the force in the rod. */
#include "blo.h"

void pendb(int *iopt, int *info, int *sig, int *dim, double *t0, double *x0, double *xd0, double *dp, int *ip, int *lp, double *duser, int *iuser,
           int *luser, int *ierr) {
    if (*iopt == 1) info[0] = 1;
    if (*iopt == 2) {
        info[0] = 2;
        sig[0] = dim[0] = 5;
        dim[11] = 4, dim[13] = dim[14] = dim[15] = 1;
    }
    if (*iopt == 3) {
        const char *names[5] = {"X", "Y", "VX", "VY", "FORCE"};
        for (int k = 0; k < 5; k++) cblo3sx(names[k], "");
        x0[0] = 1.0;
    }
}

void pendf(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *f, double *duser, int *iuser, int *luser,
           int *ierr) {
    if (icall[10]) {
        f[0] = x[2], f[1] = x[3];
        f[2] = -x[4] * x[0], f[3] = -x[4] * x[1] - 9.81;
    }
    if (icall[12]) f[4] = x[2] * x[2] + x[3] * x[3] - x[4] * (x[0] * x[0] + x[1] * x[1]) - 9.81 * x[1];
    if (icall[13]) f[5] = x[0] * x[2] + x[1] * x[3];
    if (icall[14]) f[6] = 0.5 * (x[0] * x[0] + x[1] * x[1] - 1.0);
}
