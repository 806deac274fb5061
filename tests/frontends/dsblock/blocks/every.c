/* A block that calls every utility, by its face for C; RATE' is nothing, and what was answered is in W. */
#include "blo.h"
#include <string.h>

void cblo1ht(const char *file);
void cblo2ht(const char *file);
void cblo3ty(const char *name, const char *text, int ndim, const int *dim);
void cblo3tu(const char *name, const char *text, int ndim, const int *dim);
void cblo3tw(const char *name, const char *text, int ndim, const int *dim);
void cblo3rl(const char *name, const char *text, int ndim, const int *dim);
void cblo3de(int type, const double *values, int n);
void cblolub(int nlu, int *lu, int *ierr);
void cbloluc(int nlu, const int *lu);

static int has_told;

void everyb(int *iopt, int *info, int *sig, int *dim, double *t0, double *x0, double *xd0, double *dp, int *ip, int *lp, double *duser, int *iuser,
            int *luser, int *ierr) {
    if (*iopt == 1) {
        info[0] = 0;
        cblo1dt("every utility", "1.0"), cblo1ht("$HOME/help.t");
    } else if (*iopt == 2) {
        char file[256];
        cblo2dt("this model", "2.0"), cblo2ht("${HOME}/model.t"), cblo2mf("data?", file);
        int names[6] = {2, 2, 2, 2, 2, 6}, sizes[16] = {3, 3, 3, 3, 8, 4, 3, 3};
        memcpy(sig, names, sizeof names), memcpy(dim, sizes, sizeof sizes);
        dim[9] = 4, iuser = 0;
        has_told = strcmp(file, "the data") == 0;
    } else {
        int two = 2, three = 3, shape[2] = {1, 2}, gui[3] = {1, 0, 1};
        double sizes[3] = {1.0, 10.0, 100.0};
        cblo3sx("A", "a state"), cblo3tx("B", "two", 1, &two);
        cblo3su("C", "an input"), cblo3tu("D", "two", 2, shape);
        cblo3sy("E", ""), cblo3ty("F", "", 1, &two);
        cblo3sz("G", ""), cblo3tz("H", "", 1, &two);
        cblo3sw("FOUND", "the data file was named"), cblo3tw("ANSWERS", "BLOSID 1, 3, 4, BLOSII 1, 2, 3, IERR of an unknown type", 1, (int[]){7});
        cblo3pd("I", ""), cblo3md(0.0, 9.0, 1, 2), cblo3rd("J", "", 1, &three);
        cblo3pi("K", ""), cblo3mi(1, 4, 2, 2), cblo3ri("L", "", 1, &two);
        cblo3pl("M", ""), cblo3rl("N", "", 1, &two);
        cblo3ux(2, gui, 0, 1);
        cblo3dd(1, 2.0), cblo3de(1, sizes, 3), cblo3di(6, 4);
        dp[0] = 1.5, ip[0] = 2, lp[2] = 1, x0[0] = 1.0, x0[1] = 2.0, x0[2] = 3.0;
    }
}

void everys(double *t0, double *x0, double *xd0, double *u0, double *dp, int *ip, int *lp, double *tevent, int *hcross, int *dimnew, double *duser,
            int *iuser, int *luser, int *ierr) {
    int units[2], more[2], failed = 0;
    cblopri("begins");
    cblolub(2, units, &failed), cbloluc(2, units), cblolub(2, more, &failed), cbloluc(2, more);
    if (failed || units[0] == units[1] || units[0] != more[0]) *ierr = 1;
    cblolub(1000, more, &failed);
    if (!failed) *ierr = 2;
    iuser[0] = 1;
    cbloerl(1, "a warning", 0, "no such file");
    float rw[1] = {0.5f};
    double dw[1] = {0.25};
    const char *cw[1] = {"text"};
    int iw[1] = {7};
    cbloers(2, "a warning with values", 0, iw, rw, dw, cw, 1, 1, 1, 1, "every.msg");
}

void everyf(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *f, double *duser, int *iuser, int *luser,
            int *ierr) {
    for (int k = 0; k < 3; k++) f[k] = -x[k] + u[k];
}

void everyg(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *y, double *duser, int *iuser, int *luser,
            int *ierr) {
    for (int k = 0; k < 3; k++) y[k] = x[k] + (k == 1 ? 0.0 : u[k]);
}

void everyh(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *z, double *duser, int *iuser, int *luser,
            int *ierr) {
    for (int k = 0; k < 3; k++) z[k] = x[k] + 100.0;
}

void everyk(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *w, double *duser, int *iuser, int *luser,
            int *ierr) {
    int whole = 0, failed = 0;
    w[0] = has_told;
    cblosid(1, &w[1], &failed), cblosid(3, &w[2], &failed), cblosid(4, &w[3], &failed);
    for (int k = 1; k <= 3; k++) cblosii(k, &whole, &failed), w[3 + k] = whole;
    cblosii(99, &whole, &failed);
    w[7] = failed != 0;
}
