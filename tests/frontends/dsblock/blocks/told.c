/* X1' = X2, X2' = -COMMON with COMMON = M X1 + U, which every callback stores in its memory for the others (ICALL(1)). M is the parameter, and four
   times that from a time event at 0.5 on. Counted are calls, those that computed COMMON, and those for which what was stored was wrong. */
#include "blo.h"

enum { COMMON, M, CALLS, COMPUTED, WRONG };

static double common(int *icall, double *x, double *u, double *duser) {
    double right = duser[M] * x[0] + u[0];
    duser[CALLS] += 1.0;
    if (!icall[0]) {
        duser[COMMON] = right;
        duser[COMPUTED] += 1.0;
        icall[0] = 1;
    } else if (duser[COMMON] != right)
        duser[WRONG] += 1.0;
    return duser[COMMON];
}

void toldb(int *iopt, int *info, int *sig, int *dim, double *t0, double *x0, double *xd0, double *dp, int *ip, int *lp, double *duser, int *iuser,
           int *luser, int *ierr) {
    if (*iopt == 1) info[0] = 1;
    else if (*iopt == 2) {
        sig[0] = dim[0] = 2, sig[1] = dim[1] = 1, sig[2] = dim[2] = 1, sig[3] = dim[3] = 1, sig[4] = dim[4] = 3, sig[5] = dim[5] = 1;
        dim[8] = 5;
    } else {
        cblo3sx("X1", ""), cblo3sx("X2", ""), cblo3su("U", ""), cblo3sy("Y", ""), cblo3sz("Z", "");
        cblo3sw("CALLS", ""), cblo3sw("COMPUTED", ""), cblo3sw("WRONG", ""), cblo3pd("P", "");
        x0[0] = dp[0] = 1.0;
    }
}

void tolds(double *t0, double *x0, double *xd0, double *u0, double *dp, int *ip, int *lp, double *tevent, int *hcross, int *dimnew, double *duser,
           int *iuser, int *luser, int *ierr) {
    for (int k = 0; k < 5; k++) duser[k] = 0.0;
    duser[M] = dp[0];
    tevent[0] = 0.5;
}

void toldf(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *f, double *duser, int *iuser, int *luser,
           int *ierr) {
    f[0] = x[1];
    f[1] = -common(icall, x, u, duser);
}

void toldg(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *y, double *duser, int *iuser, int *luser,
           int *ierr) { y[0] = common(icall, x, u, duser); }

void toldh(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *z, double *duser, int *iuser, int *luser,
           int *ierr) { z[0] = common(icall, x, u, duser) - 100.0; }

void toldk(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *w, double *duser, int *iuser, int *luser,
           int *ierr) {
    common(icall, x, u, duser);
    for (int k = 0; k < 3; k++) w[k] = duser[CALLS + k];
}

void toldv(int *icall, int *iopt, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *z, int *hinfo, double *tevent,
           int *hcross, int *dimnew, int *iprior, double *duser, int *iuser, int *luser, int *info) {
    common(icall, x, u, duser);
    duser[M] = 4.0 * dp[0];
    *info = 1;
}
