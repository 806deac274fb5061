/* A ball that falls from HEIGHT = 1 and bounces with E of its speed; its memory counts the bounces, and behind the STOPS-th it stops. */
#include "blo.h"

void ballb(int *iopt, int *info, int *sig, int *dim, double *t0, double *x0, double *xd0, double *dp, int *ip, int *lp, double *duser, int *iuser,
           int *luser, int *ierr) {
    if (*iopt == 1) {
        info[0] = 1;
        cblo1dt("bouncing ball", "1.2");
    } else if (*iopt == 2) {
        int names[6] = {2, 0, 1, 1, 1, 3};
        int sizes[16] = {2, 0, 1, 1, 1, 2, 1, 0, 0, 1, 0};
        for (int k = 0; k < 6; k++) sig[k] = names[k];
        for (int k = 0; k < 16; k++) dim[k] = sizes[k];
    } else {
        cblo3sx("HEIGHT", "of the ball above the ground [m]");
        cblo3sx("SPEED", "upwards [m/s]");
        cblo3sy("ENERGY", "for each kg");
        cblo3sz("CONTACT", "with the ground");
        cblo3sw("BOUNCES", "so far");
        cblo3pd("G", "gravity [m/s2]");
        cblo3md(0.0, 0.0, 1, 0);
        cblo3pd("E", "of the speed that remains");
        cblo3md(0.0, 1.0, 2, 2);
        cblo3pi("STOPS", "behind so many bounces; 0 for never");
        cblo3mi(0, 0, 2, 0);
        cblo3ux(0, sig, 0, 0);
        cblo3dd(1, 2.0);
        x0[0] = 1.0, dp[0] = 9.81, dp[1] = 0.8;
    }
}

void balls(double *t0, double *x0, double *xd0, double *u0, double *dp, int *ip, int *lp, double *tevent, int *hcross, int *dimnew, double *duser,
           int *iuser, int *luser, int *ierr) {
    hcross[0] = -1;
    iuser[0] = 0;
}

void ballf(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *f, double *duser, int *iuser, int *luser,
           int *ierr) {
    f[0] = x[1];
    f[1] = -dp[0];
}

void ballg(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *y, double *duser, int *iuser, int *luser,
           int *ierr) {
    y[0] = dp[0] * x[0] + x[1] * x[1] / 2;
}

void ballh(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *z, double *duser, int *iuser, int *luser,
           int *ierr) {
    z[0] = x[0];
}

void ballk(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *w, double *duser, int *iuser, int *luser,
           int *ierr) {
    if (icall[1]) w[0] = iuser[0];
}

void ballv(int *icall, int *iopt, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *z, int *hinfo, double *tevent,
           int *hcross, int *dimnew, int *iprior, double *duser, int *iuser, int *luser, int *info) {
    if (iopt[1] && hinfo[0]) {
        iuser[0]++;
        x[1] = -dp[1] * x[1];
        *info = ip[0] && iuser[0] >= ip[0] ? 2 : 1;
    }
}
