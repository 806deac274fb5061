/* A pendulum of the form HDAE: point and speed, the force of the rod for each length; only what ICALL asks for is computed. */
#include "blo.h"

void pendb(int *iopt, int *info, int *sig, int *dim, double *t0, double *x0, double *xd0, double *dp, int *ip, int *lp, double *duser, int *iuser,
           int *luser, int *ierr) {
    if (*iopt == 1) {
        info[0] = 1;
        cblo1dt("pendulum", "1.0");
    } else if (*iopt == 2) {
        int names[6] = {5, 0, 0, 0, 0, 1};
        int sizes[16] = {5, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 4, 0, 1, 1, 1};
        info[0] = 2;
        for (int k = 0; k < 6; k++) sig[k] = names[k];
        for (int k = 0; k < 16; k++) dim[k] = sizes[k];
    } else {
        cblo3sx("PX", "of the point");
        cblo3sx("PY", "of the point");
        cblo3sx("VX", "of the point");
        cblo3sx("VY", "of the point");
        cblo3sx("FORCE", "of the rod for each length");
        cblo3pd("G", "gravity");
        x0[0] = 1.0, dp[0] = 9.81;
    }
}

void pendf(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *f, double *duser, int *iuser, int *luser,
           int *ierr) {
    double px = x[0], py = x[1], vx = x[2], vy = x[3], force = x[4];
    if (icall[10]) f[0] = vx, f[1] = vy, f[2] = -force * px, f[3] = -force * py - dp[0];
    if (icall[12]) f[4] = vx * vx + vy * vy - force * (px * px + py * py) - dp[0] * py;
    if (icall[13]) f[5] = px * vx + py * vy;
    if (icall[14]) f[6] = (px * px + py * py - 1.0) / 2;
}
