/* X1' = X2, X2' = 2, from (0, 1): says into the log which callback is called, and "violated: ..." where it is given what the interface does not
   promise. Z = X1 - LEVEL is a state event; time events at 0.5 and 1.25; a step event never happens. MODE says how it ends: 1 BLOCKV asks for a stop,
   2 the same with a message of an error, 3 BLOCKK stops it, 4 the same with a message, 5 BLOCKF fails. */
#include <math.h>
#include <stdio.h>
#include "blo.h"

enum { DUE, STARTED, LEFT };

static void say(const char *letter, double t) {
    char line[80];
    snprintf(line, sizeof line, "called %s %.6f", letter, t);
    cblopri(line);
}

static void claim(int holds, const char *what) {
    char line[100];
    snprintf(line, sizeof line, "violated: %s", what);
    if (!holds) cblopri(line);
}

static int near(double a, double b) { return fabs(a - b) <= 1e-6; }

void witb(int *iopt, int *info, int *sig, int *dim, double *t0, double *x0, double *xd0, double *dp, int *ip, int *lp, double *duser, int *iuser,
          int *luser, int *ierr) {
    int names[6] = {2, 1, 1, 1, 1, 2}, sizes[16] = {2, 1, 1, 1, 1, 1, 1, 0, 3, 0, 0};
    claim(*ierr == 0, "BLOCKB: IERR");
    if (*iopt == 1) {
        claim(info[0] == 0, "BLOCKB: INFO at IOPT = 1");
        info[0] = 1;
    } else if (*iopt == 2) {
        for (int k = 0; k < 3; k++) claim(info[k] == 0, "BLOCKB: INFO at IOPT = 2");
        for (int k = 0; k < 6; k++) claim(sig[k] == 0, "BLOCKB: SIG"), sig[k] = names[k];
        for (int k = 0; k < 16; k++) claim(dim[k] == 0, "BLOCKB: DIM"), dim[k] = sizes[k];
        info[1] = 1;
    } else {
        claim(x0[0] == 0 && x0[1] == 0 && dp[0] == 0 && ip[0] == 0 && duser[0] == 0 && duser[2] == 0, "BLOCKB: vectors at IOPT = 3");
        cblo3sx("X1", ""), cblo3sx("X2", ""), cblo3su("U", ""), cblo3sy("Y", ""), cblo3sz("Z", ""), cblo3sw("W", "");
        cblo3pd("LEVEL", ""), cblo3pi("MODE", "");
        *t0 = 0.0, x0[1] = 1.0, dp[0] = 0.75;
    }
}

void witp(double *dp, int *ip, int *lp, int *itype, int *ipt, int *ipos, int *ndim, int *dim, double *x0, double *xd0, double *duser, int *iuser,
          int *luser, int *ierr) {
    char line[40];
    claim(*ierr == 0, "BLOCKP: IERR");
    if (*itype == 0) claim(*ipt == 0 && *ipos == 0, "BLOCKP: IPT and IPOS at the end of changing");
    if (*itype == 3) claim(*ipt == 1 && *ipos == 1 && *ndim == 0 && dp[0] == 0.5, "BLOCKP: of a real parameter");
    if (*itype == 1) claim(*ipt == 1 && *ipos == 2 && *ndim == 0, "BLOCKP: of an integer");
    snprintf(line, sizeof line, "called P%d 0", *itype);
    cblopri(line);
}

void wits(double *t0, double *x0, double *xd0, double *u0, double *dp, int *ip, int *lp, double *tevent, int *hcross, int *dimnew, double *duser,
          int *iuser, int *luser, int *ierr) {
    claim(*ierr == 0, "BLOCKS: IERR");
    claim(tevent[0] == *t0 && tevent[1] == *t0, "BLOCKS: TEVENT");
    claim(hcross[0] == 0, "BLOCKS: HCROSS");
    claim(dimnew[0] == 2 && dimnew[1] == 1, "BLOCKS: DIMNEW");
    claim(u0[0] == 3.0, "BLOCKS: U0");
    duser[DUE] = tevent[0] = *t0 + 0.5;
    duser[STARTED] = 1, duser[LEFT] = 0;
    hcross[0] = 1;
    say("S", *t0);
}

void witf(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *f, double *duser, int *iuser, int *luser,
          int *ierr) {
    claim(*ierr == 0, "BLOCKF: IERR");
    claim(duser[STARTED] == 1, "BLOCKF before BLOCKS");
    claim(icall[2] == 0 || icall[2] == 1, "BLOCKF: ICALL(3)");
    if (icall[2] == 1) {
        icall[2] = 0;
        return;
    }
    if (ip[0] == 5 && *t > 1.0) *ierr = 7;
    f[0] = x[1], f[1] = 2.0;
}

void witg(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *y, double *duser, int *iuser, int *luser,
          int *ierr) {
    claim(*ierr == 0, "BLOCKG: IERR");
    y[0] = x[0] + u[0];
}

void with(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *z, double *duser, int *iuser, int *luser,
          int *ierr) {
    claim(*ierr == 0, "BLOCKH: IERR");
    z[0] = x[0] - dp[0];
}

void witk(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *w, double *duser, int *iuser, int *luser,
          int *ierr) {
    claim(*ierr == 0, "BLOCKK: IERR");
    claim(icall[1] == 1 || icall[1] == 0, "BLOCKK: ICALL(2)");
    claim(near(xd[0], x[1]) && near(xd[1], 2.0), "BLOCKK: XD, since BLO3UX was not called");
    w[0] = *t;
    say("K", *t);
    if (ip[0] >= 3 && ip[0] <= 4 && *t > 1.0) {
        if (ip[0] == 4) cbloerl(0, "too late", 1, "");
        *ierr = 1;
    }
}

void witv(int *icall, int *iopt, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *z, int *hinfo, double *tevent,
          int *hcross, int *dimnew, int *iprior, double *duser, int *iuser, int *luser, int *info) {
    claim(*info == 0 && *iprior == 50, "BLOCKV: INFO, IPRIOR");
    claim(dimnew[0] == 2 && dimnew[1] == 1, "BLOCKV: DIMNEW");
    claim(iopt[2] == 0 && iopt[0] + iopt[1] >= 1, "BLOCKV: IOPT");
    claim(!iopt[0] || (tevent[0] == *t && near(*t, duser[DUE])), "BLOCKV: TEVENT");
    claim(!iopt[1] || (hcross[0] == 1 && hinfo[0] == 1 && fabs(z[0]) < 1e-13), "BLOCKV: HCROSS, HINFO, Z");
    claim(iopt[1] || hinfo[0] == 0, "BLOCKV: HINFO without a state event");
    say(iopt[0] ? (iopt[1] ? "V12" : "V1") : "V2", *t);
    if (iopt[0]) duser[DUE] = tevent[0] = *t < 1.0 ? 1.25 : *t;
    if (ip[0] == 2) cbloerl(0, "no way on", 1, "");
    if (ip[0] == 1 || ip[0] == 2) *info = 2;
}

void witt(int *iopt, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *duser, int *iuser, int *luser, int *ierr) {
    claim(*ierr == 0, "BLOCKT: IERR");
    claim(duser[LEFT]++ == 0, "BLOCKT: once");
    say(*iopt == 1 ? "T1" : *iopt == 2 ? "T2" : "T?", *t);
}

void witc(int *iopt, double *duser, int *iuser, int *luser, int *ierr) {
    claim(*ierr == 0 && *iopt == 3, "BLOCKC: IOPT");
    say("C", 0.0);
}
