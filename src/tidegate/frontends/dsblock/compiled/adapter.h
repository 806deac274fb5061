/* What the native functions of a block share: the adapter, evaluations of callbacks at a point, derivatives of what they give. */

#ifndef TIDEGATE_ADAPTER_H
#define TIDEGATE_ADAPTER_H

#include <string.h>

#include "runtime.h"

/* what every evaluation goes through: put where it is called */
#if defined(__GNUC__) && defined(__GLIBC__)
#define TG_HERE static inline __attribute__((always_inline))
#else
#define TG_HERE static inline
#endif

/* bits in which two differ: shorter than to compare values, where a NaN has to be thought of */
TG_HERE long long apart(double a, double b) {
    long long first, second;
    memcpy(&first, &a, sizeof first), memcpy(&second, &b, sizeof second);
    return first ^ second;
}

TG_HERE long long put(double *cell, double value) {
    long long differs = apart(*cell, value);
    *cell = value;
    return differs;
}

TG_HERE long long put_integer(int *cell, int value) {
    int differs = *cell ^ value;
    *cell = value;
    return differs;
}

enum { MOST_RUNS = 64 };

/* an input: lines between samples; a constant is one sample */
typedef struct {
    int n;
    const double *times, *values;
} tg_lines;

typedef struct {
    int n_y, n_p, n_d;
    int place_run, place_next, place_nx, place_nz; /* in d */
    int n_rates, first_rate;  /* equations x' = w in front of the block's own, and where w are in y */
    const int *x_from;        /* where in y every X is */
    const int *xd_from;       /* where every XD is, -1 for zero; NULL for an ODE */
    int is_mass;              /* of E x' = -F */
    int n_ticks;
    int most_evaluations;     /* of F by integrators; 0 for no limit */
    const tg_lines *inputs;   /* one an element of U */
    int (*input_function)(double t, double *u); /* U by Python, if one of it is a function of time; else NULL */
    void (*signals)(double t, double *u);       /* or what such functions have been compiled to */
    double numbers[MOST_RUNS]; /* of runs; 0 for none */
    tg_block *blocks[MOST_RUNS];
    double *scratch;          /* n_y + n_p + 2 max(n_y, n_z) */
    const double *zeros;      /* n_p */
    double n_plain;           /* NX of an ODE without inputs whose parameters are all real; -1 of others */
    int n_seen;               /* of E x' = -F: rows of ``halves``, n_y by n_y, that leave something of E, and what they leave */
    const double *halves, *seen_mass;
    double *mass_room;        /* 2 n_y^2 + 4 n_y numbers, of rates.c */
} tg_adapter;

/* a function of a point, as integrators ask for it; its context is an adapter, or what belongs to one */
typedef int (*tg_value)(const void *context, double t, const double *y, const double *p, const double *d, double *out);

/* the model that the discrete variables name; NULL where there is none */
tg_block *tg_block_of(const tg_adapter *a, const double *d);

/* a callback by its letter, at the point in the vectors; 1 if it has reported an error, or wrote where it must not */
int tg_asked(tg_block *b, int letter, double t, double *out, int n);

/* the next BLOCKF is the first of a step, of the block and all that it is made of */
void tg_new_step(tg_block *b);

/* one evaluation more for an integrator; 1 if it is one too many */
int tg_counted(const tg_adapter *a, tg_block *b);

/* the parts of F that are wanted, one behind the other in fout, at the point in y */
int tg_parts(const tg_adapter *a, tg_block *b, double t, const double *y, const double *p, const int *wanted);

/* Y, W, Z, U and a one: a row of the result */
int tg_outputs(const tg_adapter *a, double t, const double *y, const double *p, const double *d, double *out);

/* right sides of the model: derivatives, residuals, or -F of E x' = -F */
int tg_rhs(const tg_adapter *a, double t, const double *y, const double *p, const double *d, double *out);

/* XD where E x' = -F is integrated, by differences; NaN where nothing determines it, NULL where F cannot be evaluated */
const double *tg_rates_of_mass(const tg_adapter *a, double t, const double *y, const double *p, const double *d);

/* a x = b by elimination with pivots, into b; 1 for a singular matrix */
int tg_solved(double *a, double *b, int m);

/* how far central differences go from a number: truncation and rounding are balanced */
double tg_step_of(double x);

/* dF/dX of the parts that ICALL(11) ... ask for, a column an element of X from first on */
int tg_differences(tg_block *b, double t, int first, int n, const double *steps, double *out);

/* central differences of a function of n numbers: in one direction, by all unknowns in rows, and the sum of its parts by their absolute values */
int tg_in_direction(tg_value function, const void *context, const tg_adapter *a, int n, double t, const double *y, const double *p, const double *d,
                    double dt, const double *dy, const double *dp, double *out);
int tg_by_unknowns(tg_value function, const void *context, const tg_adapter *a, int n, double t, const double *y, const double *p, const double *d,
                   double *out);
int tg_scale(tg_value function, const void *context, const tg_adapter *a, int n, double t, const double *y, const double *p, const double *d,
             double dt, const double *dy, double *out);

#endif
