/* x' = -x, y = x after t = 1/2: what BLOCKF finds in ICALL(2) is counted, and what it leaves there is the number of its calls in the step. W tells
   how many steps began (0 was found), how many calls there were, how many found another number than they had left. */
#include "blo.h"

void firstb(int *iopt, int *info, int *sig, int *dim, double *t0, double *x0, double *xd0, double *dp, int *ip, int *lp, double *duser, int *iuser,
            int *luser, int *ierr) {
    if (*iopt == 1) info[0] = 1;
    if (*iopt == 2) {
        sig[0] = dim[0] = 1, sig[1] = dim[1] = 1, sig[4] = dim[4] = 3, dim[9] = 4;
    } else if (*iopt == 3) {
        cblo3sx("X", ""), cblo3su("U", ""), cblo3sw("STEPS", ""), cblo3sw("CALLS", ""), cblo3sw("WRONG", "");
        x0[0] = 1.0;
    }
}

void firstf(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *f, double *duser, int *iuser, int *luser,
            int *ierr) {
    if (icall[1] == 0) iuser[0]++;
    else if (icall[1] != iuser[3]) iuser[2]++;
    iuser[1]++;
    iuser[3] = icall[1] = icall[1] + 1;
    f[0] = -x[0] + u[0];
}

void firstk(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *w, double *duser, int *iuser, int *luser,
            int *ierr) {
    for (int k = 0; k < 3; k++) w[k] = iuser[k];
    if (icall[1] != 1) w[2] += 1000;
    icall[1] = 77;
}
