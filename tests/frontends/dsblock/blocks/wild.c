/* X' = -P X; in the callback WHERE it does DEED, chosen when it is compiled: none of it is what a block should do. */
#include "blo.h"
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int deep(int n, volatile char *p) { char room[4096]; memset(room, n, sizeof room); return n + deep(n + 1, room) + room[n % 4096]; }
static void act(double *v) {
    switch (DEED) {
    case 1: *(volatile int *)8 = 1; break;
    case 2: exit(0);
    case 3: _exit(3);
    case 4: abort();
    case 5: for (;;) ;
    case 6: raise(SIGSTOP); break;
    case 7: for (int k = 0; k < 256; k++) close(k); break;
    case 8: fclose(stdout); close(1); close(2); break;
    case 9: for (long k = 0; k < 100000000L; k++) v[k] = 1e300; break;
    case 10: for (long k = 0; k < 100000000L; k++) v[-k] = 1e300; break;
    case 11: deep(0, 0); break;
    case 12: for (int k = 3; k < 64; k++) (void)!write(k, "garbage that nobody has asked for\n", 34); break;
    case 13: raise(SIGFPE); break;
    case 14: free((void *)12345); break;
    case 15: if (fork() == 0) { sleep(3); _exit(0); } break;
    case 16: for (int k = 0; k < 200000; k++) puts("a line that nobody has asked for, and then again, and again"); break;
    case 17: { int big = 0x7fffff00; for (int k = 3; k < 64; k++) { (void)!write(k, &big, 4); } } break;
    case 18: signal(SIGTERM, SIG_IGN); for (;;) ;
    case 19: raise(SIGKILL); break;
    case 20: memset(v, 0xff, 4096); break;
    }
}
#define AT(letter, v) if (WHERE == letter) act(v)
void wildb(int *iopt, int *info, int *sig, int *dim, double *t0, double *x0, double *xd0, double *dp, int *ip, int *lp, double *duser, int *iuser, int *luser, int *ierr) {
    if (*iopt == 1) { AT('1', x0); info[0] = 1; }
    else if (*iopt == 2) { AT('2', x0); for (int k = 0; k < 6; k++) sig[k] = dim[k] = 1; info[2] = 1; dim[8] = 1; }
    else { AT('3', x0); cblo3sx("X", ""); cblo3su("U", ""); cblo3sy("Y", ""); cblo3sz("Z", ""); cblo3sw("W", ""); cblo3pd("P", ""); x0[0] = 1; dp[0] = 1; }
}
void wildc(int *iopt, double *duser, int *iuser, int *luser, int *ierr) { AT('C', duser); }
void wildp(double *dp, int *ip, int *lp, int *ityp, int *ipt, int *ipos, int *ndim, int *dim, double *x0, double *xd0, double *duser, int *iuser, int *luser, int *ierr) { AT('P', dp); }
void wilds(double *t0, double *x0, double *xd0, double *u0, double *dp, int *ip, int *lp, double *tevent, int *hcross, int *dimnew, double *duser, int *iuser, int *luser, int *ierr) { AT('S', x0); }
#define POINT int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp
#define MEMORY double *duser, int *iuser, int *luser, int *ierr
void wildf(POINT, double *f, MEMORY) { if (*t > 0.2) { AT('F', f); } f[0] = -dp[0] * x[0]; }
void wildg(POINT, double *y, MEMORY) { if (*t > 0.2) { AT('G', y); } y[0] = x[0]; }
void wildh(POINT, double *z, MEMORY) { if (*t > 0.2) { AT('H', z); } z[0] = x[0] - 0.5; }
void wildj(POINT, double *cj, double *jac, int *njac, MEMORY) { AT('J', jac); jac[0] = -dp[0]; }
void wildk(POINT, double *w, MEMORY) { if (*t > 0.2) { AT('K', w); } w[0] = x[0]; }
void wildv(int *icall, int *iopt, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *z, int *hinfo, double *tevent, int *hcross, int *dimnew, int *iprior, double *duser, int *iuser, int *luser, int *info) { AT('V', x); *info = 1; }
void wildt(int *iopt, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, MEMORY) { AT('T', x); }
