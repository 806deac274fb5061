/* X' = -X with one defect, chosen by DEFECT when it is compiled. */
#include "blo.h"
#include <stdlib.h>
#include <unistd.h>

void badb(int *iopt, int *info, int *sig, int *dim, double *t0, double *x0, double *xd0, double *dp, int *ip, int *lp, double *duser, int *iuser,
          int *luser, int *ierr) {
    if (*iopt == 1) {
        info[0] = 1;
        if (DEFECT == 1) cblo3sx("X", "too early");
    } else if (*iopt == 2) {
        sig[0] = dim[0] = 1;
        if (DEFECT == 2) sig[0] = 2;
        if (DEFECT == 3) dim[0] = 3;
        if (DEFECT == 4) sig[1] = dim[1] = 1;
        if (DEFECT == 5 || DEFECT == 36) dim[2] = sig[2] = 1;
        if (DEFECT == 6) info[0] = 7;
        if (DEFECT == 7 || DEFECT == 37) info[2] = 1;
        sig[5] = dim[5] = 1;
        sig[3] = dim[3] = 1;
        if (DEFECT == 8) dim[5] = 0;
        if (DEFECT == 9) {
            cbloerl(3, "no licence for this model", 1, "no such file");
            *ierr = 4;
        }
    } else {
        cblo3sx(DEFECT == 10 ? "2X" : "X", "");
        if (DEFECT == 4) cblo3su("X", "");
        if (DEFECT == 5 || DEFECT == 36) cblo3sy("Y", "");
        cblo3sz("Z", "");
        if (DEFECT == 11) cblo3md(0.0, 1.0, 1, 1);
        cblo3pd("P", "");
        if (DEFECT == 12) cblo3md(1.0, 2.0, 2, 2);
        dp[0] = 0.5;
        x0[0] = 1.0;
        if (DEFECT == 13) x0[1] = 1.0;
    }
}

void bads(double *t0, double *x0, double *xd0, double *u0, double *dp, int *ip, int *lp, double *tevent, int *hcross, int *dimnew, double *duser,
          int *iuser, int *luser, int *ierr) {
    if (DEFECT == 14) *ierr = 1;
    if (DEFECT == 15) dimnew[0] = 2;
    if (DEFECT == 16) hcross[0] = 5;
    tevent[0] = 0.7;
}

void badf(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *f, double *duser, int *iuser, int *luser,
          int *ierr) {
    f[0] = -x[0];
    if (DEFECT == 17 && *t > 0.3) {
        cbloerl(1, "X is out of its range", 1, "");
        *ierr = 5;
    }
    if (DEFECT == 32) f[1] = 1.0;
    if (DEFECT == 18 && *t > 0.3) exit(3);
    if (DEFECT == 19 && *t > 0.3) *(volatile int *)8 = 1;
    if (DEFECT == 20 && *t > 0.3)
        for (;;) sleep(1);
}

#if DEFECT != 21
void badh(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *z, double *duser, int *iuser, int *luser,
          int *ierr) {
    z[0] = x[0] - 0.6;
    if (DEFECT == 33) z[-1] = 1.0;
    if (DEFECT == 22 && *t > 0.3) *ierr = 2;
}
#endif

void badv(int *icall, int *iopt, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *z, int *hinfo, double *tevent,
          int *hcross, int *dimnew, int *iprior, double *duser, int *iuser, int *luser, int *info) {
    if (DEFECT == 23) *info = 3;
    if (DEFECT == 24) duser[0] = 1.0;
    if (DEFECT == 25) dimnew[1] = -1;
    if (DEFECT == 26) {
        cbloerl(1, "nobody knows what to do", 1, "");
        *info = 2;
    }
    if (DEFECT == 27) x[0] = 3.0;
    if (DEFECT == 28) cblo3sx("LATE", "");
    if (DEFECT == 29) *iprior = 0, *info = 1;
}

void badk(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *w, double *duser, int *iuser, int *luser,
          int *ierr) {
    if (DEFECT == 34) w[0] = 1.0;
    if (DEFECT == 35) iuser[0] = 1;
    if (DEFECT == 30 && *t > 0.4) *ierr = 1;
    if (DEFECT == 31 && *t > 0.4) {
        cbloerl(1, "a file is full", 1, "");
        *ierr = 1;
    }
}

#if DEFECT == 36
void badg(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *y, double *duser, int *iuser, int *luser,
          int *ierr) {
    y[0] = y[1] = x[0];
}
#endif

#if DEFECT == 37
void badj(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *cj, double *jac, int *njac, double *duser,
          int *iuser, int *luser, int *ierr) {
    jac[0] = jac[1] = -1.0;
}
#endif
