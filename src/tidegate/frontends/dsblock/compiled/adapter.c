/* The callbacks of a block as the functions that a model is integrated with, so that no Python is called within a step.

   A function is given its adapter, the time, the unknowns y, the parameters p, and the discrete variables d, and writes numbers. It returns 0, or 1
   where the block has reported an error; then the caller asks Python for the same, which says what the block has reported. How unknowns and
   equations belong to X, XD and F is told in forms.py. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "adapter.h"

/* variables of a thread at a known place, not asked for by a call as it is of libraries that are loaded late */
#if defined(__GNUC__) && defined(__GLIBC__)
#define TG_NEAR __attribute__((tls_model("initial-exec")))
#else
#define TG_NEAR
#endif

enum { FEW = 64 };

static _Thread_local void *current TG_NEAR;
static _Thread_local int running TG_NEAR; /* the letter of a callback of ``current`` that is being carried out, or 0 */
static _Thread_local tg_block *instead TG_NEAR; /* of the block that the discrete variables name */

void *tg_current(void) { return current; }
void tg_enter(void *block, int letter) { current = block, running = letter; }

static int tells_ends;

/* STOP in Fortran and exit in C end everything, as if all were well: say who it was, and that it was not */
static void tell_end(void) {
    if (!tells_ends || !current || !running) return;
    fflush(NULL);
    fprintf(stderr, "error: DSblock %s has ended the process in BLOCK%c, as STOP does in Fortran and exit in C\n", ((tg_block *)current)->name,
            running);
    fprintf(stderr, "  try: isolate=True, or --isolate, with which the run ends there and nothing else; or let the block report it by IERR\n");
    fflush(stderr);
    _Exit(1);
}

void tg_tell_ends(int wanted) {
    static int is_registered;
    if (!is_registered && !atexit(tell_end)) is_registered = 1;
    tells_ends = wanted;
}

int tg_size_of_block(void) { return (int)sizeof(tg_block); }
int tg_size_of_adapter(void) { return (int)sizeof(tg_adapter); }

TG_HERE tg_block *block_of(const tg_adapter *a, const double *d) {
    double number = d[a->place_run];
    if (instead) return instead;
    if (number == a->numbers[0] && number != 0.0) return a->blocks[0]; /* as a rule there is one */
    for (int k = 1; k < MOST_RUNS; k++)
        if (number == a->numbers[k] && number != 0.0) return a->blocks[k];
    return NULL;
}

tg_block *tg_block_of(const tg_adapter *a, const double *d) { return block_of(a, d); }

TG_HERE int count_of(double number, int most) { return number >= 0 && number <= most ? (int)number : most; }

TG_HERE long long parameters(tg_block *b, const double *p) {
    long long differs = 0;
    for (int k = 0; k < b->n_dp; k++) differs |= put(&b->dp[k], p[k]);
    for (int k = 0; k < b->n_ip; k++) differs |= put_integer(&b->ip[k], (int)p[b->n_dp + k]);
    for (int k = 0; k < b->n_lp; k++) differs |= put_integer(&b->lp[k], p[b->n_dp + b->n_ip + k] != 0.0);
    return differs;
}

/* likewise without those whose values of the run the block does not use */
static long long used_parameters(tg_block *b, const double *p) {
    long long differs = 0;
    const int *stays = b->stays;
    for (int k = 0; k < b->n_dp; k++, stays++) differs |= *stays ? 0 : put(&b->dp[k], p[k]);
    for (int k = 0; k < b->n_ip; k++, stays++) differs |= *stays ? 0 : put_integer(&b->ip[k], (int)p[b->n_dp + k]);
    for (int k = 0; k < b->n_lp; k++, stays++) differs |= *stays ? 0 : put_integer(&b->lp[k], p[b->n_dp + b->n_ip + k] != 0.0);
    return differs;
}

/* those that are compiled functions of time; 1 if one of them is no number, of which Python has more to say */
static int signals_at(const tg_adapter *a, tg_block *b, double t, long long *differs) {
    double before[FEW];
    int n = b->n_u;
    if (n > FEW) *differs = 1;
    else memcpy(before, b->u, n * sizeof(double));
    a->signals(t, b->u);
    if (n <= FEW) *differs |= memcmp(before, b->u, n * sizeof(double)) != 0;
    for (int k = 0; k < n; k++)
        if (!isfinite(b->u[k])) return 1;
    return 0;
}

static int inputs_at(const tg_adapter *a, tg_block *b, double t, long long *differs) {
    if (a->input_function && (!a->signals || signals_at(a, b, t, differs))) {
        *differs = 1;
        return a->input_function(t, b->u);
    }
    for (int k = 0; k < b->n_u; k++) {
        const tg_lines *lines = &a->inputs[k];
        if (lines->n == 0) continue;
        if (lines->n == 1) {
            *differs |= put(&b->u[k], lines->values[0]);
            continue;
        }
        int low = 0, high = lines->n - 1;
        while (high - low > 1) {
            int middle = (low + high) / 2;
            if (lines->times[middle] <= t) low = middle;
            else high = middle;
        }
        double margin = 1e-4 * fmax(fabs(t), 1.0), part;
        if (t < lines->times[0] - margin || t > lines->times[lines->n - 1] + margin) return 1;
        part = (t - lines->times[low]) / (lines->times[high] - lines->times[low]);
        *differs |= put(&b->u[k], (1.0 - part) * lines->values[low] + part * lines->values[high]);
    }
    return 0;
}

/* the vectors of the block at a point; 1 if its inputs are not known there, or it has failed before. ICALL(1) stays what the block has left there
   as long as nothing changes: what it has stored for its other callbacks still holds then */
TG_HERE int filled(const tg_adapter *a, tg_block *b, double t, const double *y, const double *p) {
    long long differs = !b->knows_point | (b->last_t != t);
    if (b->failed_in) return 1;
    b->knows_point = 0;
    if (a->x_from) {
        for (int k = 0; k < b->n_x; k++) differs |= put(&b->x[k], y[a->x_from[k]]);
    } else
        for (int k = 0; k < b->n_x; k++) differs |= put(&b->x[k], y[k]);
    if (a->xd_from)
        for (int k = 0; k < b->n_x; k++) differs |= put(&b->xd[k], a->xd_from[k] < 0 ? 0.0 : y[a->xd_from[k]]);
    differs |= b->stays ? used_parameters(b, p) : parameters(b, p);
    if (b->n_u && inputs_at(a, b, t, &differs)) return 1;
    if (differs) b->icall[0] = 0;
    b->icall[1] = b->icall[2] = 0;
    b->last_t = t, b->knows_point = 1;
    current = b;
    return 0;
}

static int intact_reals(const double *v, int n) {
    int is_intact = 1;
    for (int k = 1; k <= TG_GUARD; k++) is_intact &= (v[-k] == TG_REAL_PATTERN) & (v[n + k - 1] == TG_REAL_PATTERN);
    return is_intact;
}

static int intact_integers(const int *v, int n) {
    int is_intact = 1;
    for (int k = 1; k <= TG_GUARD; k++) is_intact &= (v[-k] == TG_INTEGER_PATTERN) & (v[n + k - 1] == TG_INTEGER_PATTERN);
    return is_intact;
}

/* whether nothing was written outside of any array that callbacks between events are given */
int tg_intact(const tg_block *b) {
    return intact_reals(b->duser, b->n_duser) & intact_integers(b->iuser, b->n_iuser) & intact_integers(b->luser, b->n_luser) &
           intact_reals(b->x, b->n_x) & intact_reals(b->xd, b->n_x) & intact_reals(b->u, b->n_u) & intact_reals(b->dp, b->n_dp) &
           intact_integers(b->ip, b->n_ip) & intact_integers(b->lp, b->n_lp) & intact_reals(b->fout, b->n_f) & intact_reals(b->y, b->n_y) &
           intact_reals(b->z, b->n_z) & intact_reals(b->w, b->n_w) & intact_reals(b->jac, b->n_jac);
}

/* the cells next to an array, which one who counts wrongly writes to first; the others wait for tg_intact, so that calls stay short */
TG_HERE long long near_reals(const double *v, int n) { return apart(v[-1], TG_REAL_PATTERN) | apart(v[n], TG_REAL_PATTERN); }

TG_HERE int near_integers(const int *v, int n) { return (v[-1] ^ TG_INTEGER_PATTERN) | (v[n] ^ TG_INTEGER_PATTERN); }

/* note an error that a callback has reported, or that it wrote outside of its memory or of what it computes: n numbers */
TG_HERE int reported(tg_block *b, int letter, int ierr, double t, const double *out, int n) {
    long long wrote = near_reals(out, n) | near_reals(b->duser, b->n_duser) | near_integers(b->iuser, b->n_iuser) | near_integers(b->luser, b->n_luser);
    if (!(ierr | wrote)) return 0;
    b->failed_in = letter, b->ierr = ierr, b->failed_at = t, b->has_overwritten = wrote != 0;
    return 1;
}

/* X is only for looking at; a callback that writes there all the same leaves the next one what it was */
TG_HERE void x_again(const tg_adapter *a, tg_block *b, const double *y) {
    for (int k = 0; k < b->n_x; k++) b->x[k] = a->x_from ? y[a->x_from[k]] : y[k];
}

/* BLOCKF finds in ICALL(2) what it has left there before in this step, and 0 at the first call in one; BLOCKK 1: what it computes is wanted */
TG_HERE int call(tg_block *b, tg_f function, int letter, double t, double *out, int n) {
    int ierr = 0;
    b->icall[1] = letter == 'F' ? b->left_in_step : letter == 'K';
    running = letter;
    function(b->icall, &t, b->x, b->xd, b->u, b->dp, b->ip, b->lp, out, b->duser, b->iuser, b->luser, &ierr);
    running = 0;
    if (letter == 'F') b->left_in_step = b->icall[1];
    return reported(b, letter, ierr, t, out, n);
}

int tg_asked(tg_block *b, int letter, double t, double *out, int n) {
    current = b;
    return call(b, letter == 'F' ? b->f : letter == 'G' ? b->g : letter == 'H' ? b->h : b->k, letter, t, out, n);
}

int tg_parts(const tg_adapter *a, tg_block *b, double t, const double *y, const double *p, const int *wanted) {
    if (filled(a, b, t, y, p)) return 1;
    for (int k = 0; k < 5; k++) b->icall[10 + k] = wanted[k];
    return call(b, b->f, 'F', t, b->fout, b->n_f);
}

int tg_step_begins(const tg_adapter *a, double t, const double *y, const double *p, const double *d, double *out) {
    tg_block *b = block_of(a, d);
    (void)t, (void)y, (void)p;
    if (b) tg_new_step(b);
    for (int k = 0; b && k < b->n_variants; k++) tg_new_step(b->variants[k].block);
    out[0] = 0.0;
    return 0;
}

int tg_counted(const tg_adapter *a, tg_block *b) { return a->most_evaluations > 0 && ++b->evaluations > a->most_evaluations; }

static int rhs_of_any(const tg_adapter *a, double t, const double *y, const double *p, const double *d, double *out) {
    tg_block *b = block_of(a, d);
    int nx, n;
    if (!b || d[a->place_nx] != b->n_x) memset(out, 0, (size_t)a->n_y * sizeof(double));
    if (!b) return 0;
    n = b->n_x, nx = count_of(d[a->place_nx], n);
    for (int k = 0; k < a->n_rates; k++) out[k] = y[a->first_rate + k];
    out += a->n_rates;
    if (nx) {
        if (tg_counted(a, b) || filled(a, b, t, y, p) || call(b, b->f, 'F', t, b->fout, b->n_f)) return 1;
        for (int k = 0; k < nx; k++) out[k] = a->is_mass ? -b->fout[k] : b->fout[k];
    }
    if (a->xd_from && !a->is_mass)
        for (int k = nx; k < n; k++) out[k] = a->xd_from[k] < 0 ? y[a->x_from[k]] : y[a->xd_from[k]];
    return 0;
}

/* integrators spend their time here: of plain blocks only what they need, the rest is above */
int tg_rhs(const tg_adapter *a, double t, const double *y, const double *p, const double *d, double *out) {
    tg_block *b = a->blocks[0];
    long long differs;
    double *x, *f;
    int n, ierr = 0;
    if (d[a->place_nx] != a->n_plain || instead || d[a->place_run] != a->numbers[0] || a->numbers[0] == 0.0 || b->stays || b->failed_in)
        return rhs_of_any(a, t, y, p, d, out);
    n = b->n_x, x = b->x, f = b->fout;
    differs = !b->knows_point | (b->last_t != t);
    for (int k = 0; k < n; k++) differs |= put(&x[k], y[k]);
    for (int k = 0; k < b->n_dp; k++) differs |= put(&b->dp[k], p[k]);
    if (differs) b->icall[0] = 0;
    b->icall[1] = b->left_in_step, b->icall[2] = 0, b->last_t = t, b->knows_point = 1, current = b, running = 'F';
    b->f(b->icall, &t, x, b->xd, b->u, b->dp, b->ip, b->lp, f, b->duser, b->iuser, b->luser, &ierr);
    b->left_in_step = b->icall[1], running = 0;
    if (reported(b, 'F', ierr, t, f, n)) return 1;
    for (int k = 0; k < n; k++) out[k] = f[k];
    return 0;
}

int tg_guards(const tg_adapter *a, double t, const double *y, const double *p, const double *d, double *out) {
    tg_block *b = block_of(a, d);
    int nz;
    if (!b) return 1;
    nz = count_of(d[a->place_nz], b->n_z);
    for (int k = nz; k < b->n_z; k++) out[k] = 0.0;
    if (!nz) return 0;
    if (filled(a, b, t, y, p) || call(b, b->h, 'H', t, b->z, b->n_z)) return 1;
    memcpy(out, b->z, (size_t)nz * sizeof(double));
    return 0;
}

/* the vectors at a point, with XD where it is no unknown */
static int filled_with_rates(const tg_adapter *a, tg_block *b, double t, const double *y, const double *p, const double *d) {
    int nx = count_of(d[a->place_nx], b->n_x), has_none = a->is_mass && nx;
    const double *rates = has_none && nx == b->n_x ? tg_rates_of_mass(a, t, y, p, d) : NULL;
    if ((has_none && !rates) || filled(a, b, t, y, p)) return 1;
    for (int k = 0; rates && k < nx; k++)
        if (put(&b->xd[k], rates[k])) b->icall[0] = 0;
    return 0;
}

int tg_steps(const tg_adapter *a, double t, const double *y, const double *p, const double *d, double *out) {
    tg_block *b = block_of(a, d);
    out[0] = 0.0;
    if (!b) return 0;
    if (filled_with_rates(a, b, t, y, p, d)) return 1;
    b->icall[2] = 1;
    if (call(b, b->f, 'F', t, b->fout, b->n_f)) return 1;
    out[0] = b->icall[2] != 0;
    return 0;
}

int tg_outputs(const tg_adapter *a, double t, const double *y, const double *p, const double *d, double *out) {
    tg_block *b = block_of(a, d);
    int nx, nz;
    if (!b || filled_with_rates(a, b, t, y, p, d)) return 1;
    nx = count_of(d[a->place_nx], b->n_x), nz = count_of(d[a->place_nz], b->n_z);
    if (b->needs_rates && nx) {
        if (call(b, b->f, 'F', t, b->fout, b->n_f)) return 1;
        for (int k = 0; k < nx; k++)
            if (put(&b->xd[k], b->fout[k])) b->icall[0] = 0;
        x_again(a, b, y);
    }
    b->icall[1] = b->icall[2] = 0, current = b;
    if (b->n_y && call(b, b->g, 'G', t, b->y, b->n_y)) return 1;
    if (b->k) {
        x_again(a, b, y);
        b->icall[2] = 0, current = b;
        if (call(b, b->k, 'K', t, b->w, b->n_w)) return 1;
    }
    b->icall[1] = b->icall[2] = 0, current = b;
    x_again(a, b, y);
    if (nz && call(b, b->h, 'H', t, b->z, b->n_z)) return 1;
    memcpy(out, b->y, (size_t)b->n_y * sizeof(double)), out += b->n_y;
    memcpy(out, b->w, (size_t)b->n_w * sizeof(double)), out += b->n_w;
    for (int k = 0; k < b->n_z; k++) out[k] = k < nz ? b->z[k] : 0.0;
    out += b->n_z;
    memcpy(out, b->u, (size_t)b->n_u * sizeof(double)), out += b->n_u;
    *out = 1.0;
    return 0;
}

int tg_times(const tg_adapter *a, double t, const double *y, const double *p, const double *d, double *out) {
    const tg_block *b = block_of(a, d);
    (void)t, (void)y, (void)p;
    if (!b) return 1;
    for (int k = 0; k < b->n_z; k++) out[k] = INFINITY;
    out[b->n_z] = d[a->place_next];
    return 0;
}

int tg_activity(const tg_adapter *a, double t, const double *y, const double *p, const double *d, double *out) {
    const tg_block *b = block_of(a, d);
    (void)t, (void)y, (void)p;
    if (!b) return 1;
    for (int k = 0; k < b->n_z; k++) out[k] = 1.0;
    return 0;
}

/* -- derivatives: central differences, the step balances truncation and rounding ---------------------------------------------------------- */

static const double cube_root_of_eps = 6.0554544523933395e-06;

double tg_step_of(double x) { return cube_root_of_eps * fmax(fabs(x), 1.0); }

/* in one direction: a single step along it, as large as the element that bears least allows */
static int along(tg_value function, const void *context, const tg_adapter *a, int n, double t, const double *y, const double *p, const double *d,
                 double dt, const double *dy, const double *dp, double *out) {
    double h = INFINITY, *shifted = a->scratch, *changed = shifted + a->n_y, *above = changed + a->n_p;
    if (dt != 0.0) h = tg_step_of(t) / fabs(dt);
    for (int k = 0; k < a->n_y; k++)
        if (dy[k] != 0.0) h = fmin(h, tg_step_of(y[k]) / fabs(dy[k]));
    for (int k = 0; k < a->n_p; k++)
        if (dp[k] != 0.0) h = fmin(h, tg_step_of(p[k]) / fabs(dp[k]));
    if (!(h > 0.0) || isinf(h)) {
        for (int k = 0; k < n; k++) out[k] = h != h || h == 0.0 ? NAN : 0.0;
        return 0;
    }
    for (int side = 1; side >= -1; side -= 2) {
        for (int k = 0; k < a->n_y; k++) shifted[k] = y[k] + side * h * dy[k];
        for (int k = 0; k < a->n_p; k++) changed[k] = p[k] + side * h * dp[k];
        if (function(context, t + side * h * dt, shifted, changed, d, side > 0 ? above : out)) return 1;
    }
    for (int k = 0; k < n; k++) out[k] = (above[k] - out[k]) / (2.0 * h);
    return 0;
}

/* in one direction: that of parameters by the models beside this one, which have them a little different and a memory to match */
int tg_in_direction(tg_value function, const void *context, const tg_adapter *a, int n, double t, const double *y, const double *p, const double *d,
                    double dt, const double *dy, const double *dp, double *out) {
    tg_block *b = block_of(a, d);
    double *changed = a->scratch + a->n_y, *above = changed + a->n_p;
    if (!b || !b->n_variants) return along(function, context, a, n, t, y, p, d, dt, dy, dp, out);
    if (along(function, context, a, n, t, y, p, d, dt, dy, a->zeros, out)) return 1;
    for (int k = 0; k < a->n_p; k++) {
        int is_known = 0, has_failed = 0;
        if (dp[k] == 0.0) continue;
        for (int i = 0; i < b->n_variants; i++) {
            const tg_variant *v = &b->variants[i];
            if (v->parameter != k) continue;
            is_known = 1;
            memcpy(changed, p, (size_t)a->n_p * sizeof(double));
            changed[k] += v->offset;
            instead = v->block;
            has_failed |= function(context, t, y, changed, d, above);
            instead = NULL;
            for (int j = 0; j < n; j++) out[j] += dp[k] * v->weight * above[j];
        }
        if (!is_known || has_failed) return 1;
    }
    return 0;
}

int tg_rhs_tangent(const tg_adapter *a, double t, const double *y, const double *v, const double *p, const double *d, double dt, const double *dy,
                   const double *dp, const double *dd, double *out) {
    (void)v, (void)dd;
    return tg_in_direction((tg_value)tg_rhs, a, a, a->n_y, t, y, p, d, dt, dy, dp, out);
}

int tg_guards_tangent(const tg_adapter *a, double t, const double *y, const double *v, const double *p, const double *d, double dt, const double *dy,
                      const double *dp, const double *dd, double *out) {
    const tg_block *b = block_of(a, d);
    (void)v, (void)dd;
    return b ? tg_in_direction((tg_value)tg_guards, a, a, b->n_z, t, y, p, d, dt, dy, dp, out) : 1;
}

/* the sum of what the derivative in a direction is made of, each part by its absolute value */
int tg_scale(tg_value function, const void *context, const tg_adapter *a, int n, double t, const double *y, const double *p, const double *d,
             double dt, const double *dy, double *out) {
    double *shifted = a->scratch, *above = shifted + a->n_y + a->n_p, *below = above + (a->n_y > n ? a->n_y : n);
    for (int i = 0; i < n; i++) out[i] = 0.0;
    memcpy(shifted, y, (size_t)a->n_y * sizeof(double));
    for (int k = -1; k < a->n_y; k++) {
        double moves = k < 0 ? dt : dy[k], centre = k < 0 ? t : y[k], h = tg_step_of(centre), high = centre + h, low = centre - h;
        if (moves == 0.0) continue;
        if (k >= 0) shifted[k] = high;
        if (function(context, k < 0 ? high : t, shifted, p, d, above)) return 1;
        if (k >= 0) shifted[k] = low;
        if (function(context, k < 0 ? low : t, shifted, p, d, below)) return 1;
        if (k >= 0) shifted[k] = centre;
        for (int i = 0; i < n; i++) out[i] += fabs((above[i] - below[i]) / (high - low) * moves);
    }
    return 0;
}

int tg_guard_scale(const tg_adapter *a, double t, const double *y, const double *v, const double *p, const double *d, double dt, const double *dy,
                   const double *dp, const double *dd, double *out) {
    const tg_block *b = block_of(a, d);
    (void)v, (void)dp, (void)dd;
    return b ? tg_scale((tg_value)tg_guards, a, a, b->n_z, t, y, p, d, dt, dy, out) : 1;
}

int tg_by_unknowns(tg_value function, const void *context, const tg_adapter *a, int n, double t, const double *y, const double *p, const double *d,
                   double *out) {
    int columns = a->n_y;
    double *shifted = a->scratch, *above = shifted + columns + a->n_p, *below = above + (columns > n ? columns : n);
    memcpy(shifted, y, (size_t)columns * sizeof(double));
    for (int k = 0; k < columns; k++) {
        double h = tg_step_of(y[k]), high = y[k] + h, low = y[k] - h;
        shifted[k] = high;
        if (function(context, t, shifted, p, d, above)) return 1;
        shifted[k] = low;
        if (function(context, t, shifted, p, d, below)) return 1;
        shifted[k] = y[k];
        for (int i = 0; i < n; i++) out[i * columns + k] = (above[i] - below[i]) / (high - low);
    }
    return 0;
}

/* dF/dX and, by a second call, dF/dXD of BLOCKJ, whose columns lie one behind the other; rows of ours do */
int tg_jacobian(const tg_adapter *a, double t, const double *y, const double *p, const double *d, double *out) {
    tg_block *b = block_of(a, d);
    int n = a->n_y, nx, rows = a->n_rates;
    double sign = a->is_mass ? -1.0 : 1.0;
    memset(out, 0, (size_t)n * (size_t)n * sizeof(double));
    if (!b) return 0;
    nx = count_of(d[a->place_nx], b->n_x);
    if (nx && !b->j) return tg_by_unknowns((tg_value)tg_rhs, a, a, n, t, y, p, d, out);
    for (int k = 0; k < rows; k++) out[k * n + a->first_rate + k] = 1.0;
    for (int pass = 0; nx && pass <= (a->xd_from && !a->is_mass); pass++) {
        double cj = pass;
        int ierr = 0;
        if (filled(a, b, t, y, p)) return 1;
        memset(b->jac, 0, (size_t)nx * (size_t)nx * sizeof(double));
        running = 'J';
        b->j(b->icall, &t, b->x, b->xd, b->u, b->dp, b->ip, b->lp, &cj, b->jac, &nx, b->duser, b->iuser, b->luser, &ierr);
        running = 0;
        if (reported(b, 'J', ierr, t, b->jac, b->n_jac)) return 1;
        for (int j = 0; j < nx; j++) {
            int column = a->x_from ? a->x_from[j] : j;
            for (int i = 0; i < nx; i++) {
                double entry = sign * b->jac[j * nx + i];
                if (!pass) out[(rows + i) * n + column] = entry;
                else if (a->xd_from[j] >= 0) out[(rows + i) * n + a->xd_from[j]] = entry - out[(rows + i) * n + column];
            }
        }
    }
    if (a->xd_from && !a->is_mass)
        for (int k = nx; k < b->n_x; k++) out[(rows + k) * n + (a->xd_from[k] < 0 ? a->x_from[k] : a->xd_from[k])] = 1.0;
    return 0;
}

/* dF/dX of the parts that ICALL(11) ... ask for, by n elements of X from first on: central differences at the point in the vectors, by steps; columns
   lie one behind the other */
int tg_differences(tg_block *b, double t, int first, int n, const double *steps, double *out) {
    double *x = b->x;
    for (int k = 0; k < n; k++, out += b->n_f) {
        double here = x[first + k], above = here + steps[k], below = here - steps[k];
        for (int side = 0; side < 2; side++) {
            x[first + k] = side ? below : above;
            b->icall[0] = b->icall[2] = 0, current = b;
            if (call(b, b->f, 'F', t, b->fout, b->n_f)) return 1;
            for (int i = 0; i < b->n_f; i++) out[i] = side ? (out[i] - b->fout[i]) / (above - below) : b->fout[i];
        }
        x[first + k] = here;
    }
    b->icall[0] = b->knows_point = 0;
    return 0;
}
