/* A bead that slides on a ring of radius 1 without gravity. Friction, MU of the constraint force, brakes it: X2 of an HDAE that depends on X3. */
#include "blo.h"
#include <math.h>

void ringb(int *iopt, int *info, int *sig, int *dim, double *t0, double *x0, double *xd0, double *dp, int *ip, int *lp, double *duser, int *iuser,
           int *luser, int *ierr) {
    static const char *names[6] = {"PX", "PY", "VX", "VY", "FRICTION", "FORCE"};
    if (*iopt == 1) info[0] = 1;
    if (*iopt == 2) {
        info[0] = 2, sig[0] = dim[0] = 6, sig[4] = dim[4] = 2, sig[5] = dim[5] = 1;
        dim[11] = 4, dim[12] = dim[13] = dim[14] = dim[15] = 1;
    } else if (*iopt == 3) {
        for (int k = 0; k < 6; k++) cblo3sx(names[k], "");
        cblo3sw("WEAKENS", "how fast friction changes");
        cblo3sw("SPEED", "along PX");
        cblo3pd("MU", "");
        dp[0] = 0.3, x0[0] = 1.0, x0[3] = 2.0, x0[4] = 1.2, x0[5] = 4.0;
    }
}

void ringf(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *f, double *duser, int *iuser, int *luser,
           int *ierr) {
    double px = x[0], py = x[1], vx = x[2], vy = x[3], drag = x[4] / sqrt(vx * vx + vy * vy);
    if (icall[10]) f[0] = vx, f[1] = vy, f[2] = -x[5] * px - drag * vx, f[3] = -x[5] * py - drag * vy;
    if (icall[11]) f[4] = x[4] - dp[0] * x[5];
    if (icall[12]) f[5] = vx * vx + vy * vy - x[5] * (px * px + py * py) - drag * (px * vx + py * vy);
    if (icall[13]) f[6] = px * vx + py * vy;
    if (icall[14]) f[7] = (px * px + py * py - 1.0) / 2.0;
}

void ringk(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *w, double *duser, int *iuser, int *luser,
           int *ierr) {
    w[0] = xd[4], w[1] = xd[0];
}
