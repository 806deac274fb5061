/* A block that is right, or careless in the way that the parameter KIND says: one build for many defects. In BLOCKB they are chosen by a variable of
   the environment, since there are no parameters yet. */
#include "blo.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int declared(const char *what) {
    const char *said = getenv("CARELESS");
    return said && !strcmp(said, what);
}

void carelessB(int *iopt, int *info, int *sig, int *dim, double *t0, double *x0, double *xd0, double *dp, int *ip, int *lp, double *duser, int *iuser,
               int *luser, int *ierr) {
    if (*iopt == 1) info[0] = 1;
    if (declared("crash")) *(volatile int *)8 = 1;
    if (*iopt == 2) {
        sig[0] = dim[0] = 1, sig[2] = dim[2] = 1, sig[3] = dim[3] = 1, sig[5] = dim[6] = 1;
        dim[8] = declared("huge") ? 2000000000 : 1;
    }
    if (*iopt == 3) {
        cblo3sx("X", "");
        cblo3sy("Y", "");
        cblo3sz("Z", "");
        cblo3pi("KIND", "");
        if (declared("name")) cblo3sx("9 lives", "");
        x0[0] = 1.0;
    }
}

void carelessC(int *iopt, double *duser, int *iuser, int *luser, int *ierr) {
    if (declared("close") || declared("name")) *ierr = *iopt;
}

/* KIND = 1: any value of KIND but 0, 1 and the values below is allowed and not used */
void carelessP(double *dp, int *ip, int *lp, int *ityp, int *ipt, int *ipos, int *ndim, int *dim, double *x0, double *xd0, double *duser, int *iuser,
               int *luser, int *ierr) {
    if (*ityp == 1 && ip[0] > 90) *ierr = 3;
}

void carelessS(double *t0, double *x0, double *xd0, double *u0, double *dp, int *ip, int *lp, double *tevent, int *hcross, int *dimnew, double *duser,
               int *iuser, int *luser, int *ierr) {
    if (ip[0] == 1) tevent[0] = nan("");
    if (ip[0] == 2) x0[0] = nan("");
}

void carelessF(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *f, double *duser, int *iuser,
               int *luser, int *ierr) {
    f[0] = ip[0] > 90 ? 7.0 : -x[0];
    if (ip[0] == 3 && *t > 0.25) f[0] = nan("");
    if (ip[0] == 4) x[0] = 5.0;
}

void carelessG(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *y, double *duser, int *iuser,
               int *luser, int *ierr) {
    y[0] = x[0];
}

void carelessH(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *z, double *duser, int *iuser,
               int *luser, int *ierr) {
    z[0] = x[0] - 0.7;
    if (ip[0] == 5 && *t > 0.2) z[0] = nan("");
    if (ip[0] == 6 && *t > 0.2) cblo3sx("LATE", "");
}

void carelessV(int *icall, int *iopt, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *z, int *hinfo, double *tevent,
               int *hcross, int *dimnew, int *iprior, double *duser, int *iuser, int *luser, int *info) {
    if (ip[0] == 7) x[0] = nan(""), *info = 1;
}

void carelessT(int *iopt, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *duser, int *iuser, int *luser,
               int *ierr) {
    if (ip[0] == 8) *ierr = 4;
}
