/* An HDAE as the functions that it is integrated with: F1 ... F5 become as many equations as unknowns by multipliers (constrained.py says how).

   The unknowns are x = (x1, x2, x3) and the multipliers mu of the parts that stabilise: x1' = F1 - (dF/dx1)' mu, 0 = F2, 0 = F3 or F4, 0 = those
   parts. Where consistent values are computed 0 = F3 counts, and 0 = mu. Gradients are central differences, which only matter where mu is not 0. */

#include <math.h>
#include <string.h>

#include "adapter.h"

enum { PARTS = 5 };

typedef struct {
    const tg_adapter *adapter;
    int is_integrated;
    int sizes[PARTS];      /* of F1 ... F5 */
    int last;              /* the part that x3 follows from while it is integrated: 3 or 4 */
    int is_multiplied[PARTS];
    double *steps;         /* n1 */
    double *gradients;     /* a column of F an element of x1, */
    double *gradients_at;  /* and where: t, y, p */
    const tg_block **gradients_of;
    double *rates;         /* n + 2 m + m^2 + m NF for m = n2 + n3: what rates of x2 and x3 are solved with */
} tg_constrained;

int tg_size_of_constrained(void) { return (int)sizeof(tg_constrained); }

static int first_of(const tg_constrained *c, int part) {
    int first = 0;
    for (int k = 0; k < part; k++) first += c->sizes[k];
    return first;
}

/* the gradients at a point are there already: derivatives by multipliers ask for the same again */
static int is_known(const tg_constrained *c, const tg_block *b, double t, const double *x, int n, const double *p) {
    const double *at = c->gradients_at;
    return *c->gradients_of == b && at[0] == t && !memcmp(at + 1, x, (size_t)n * sizeof(double)) &&
           !memcmp(at + 1 + n, p, (size_t)c->adapter->n_p * sizeof(double));
}

static int find_gradients(const tg_constrained *c, tg_block *b, double t, const double *x, int n, const double *p) {
    double *at = c->gradients_at;
    if (is_known(c, b, t, x, n, p)) return 0;
    *c->gradients_of = NULL;
    for (int k = 0; k < PARTS; k++) b->icall[10 + k] = c->is_multiplied[k];
    for (int k = 0; k < c->sizes[0]; k++) c->steps[k] = tg_step_of(x[k]);
    if (tg_differences(b, t, 0, c->sizes[0], c->steps, c->gradients)) return 1;
    at[0] = t;
    memcpy(at + 1, x, (size_t)n * sizeof(double)), memcpy(at + 1 + n, p, (size_t)c->adapter->n_p * sizeof(double));
    *c->gradients_of = b;
    return 0;
}

int tg_hdae_rhs(const tg_constrained *c, double t, const double *y, const double *p, const double *d, double *out) {
    const tg_adapter *a = c->adapter;
    tg_block *b = tg_block_of(a, d);
    int last = c->is_integrated ? c->last : 3, n1 = c->sizes[0], n = n1 + c->sizes[1] + c->sizes[2], wanted[PARTS], moves = 0;
    const double *mu = y + n;
    double *first = out;
    if (!b) {
        memset(out, 0, (size_t)a->n_y * sizeof(double));
        return 0;
    }
    for (int k = 0; k < PARTS; k++) wanted[k] = k < 2 || k + 1 == last || (c->is_integrated && c->is_multiplied[k]);
    if (tg_counted(a, b) || tg_parts(a, b, t, y, p, wanted)) return 1;
    for (int k = 0; k < PARTS; k++) {
        if (k > 1 && k + 1 != last) continue;
        memcpy(out, b->fout + first_of(c, k), (size_t)c->sizes[k] * sizeof(double)), out += c->sizes[k];
    }
    for (int k = 0, at = 0; k < PARTS; at += c->is_multiplied[k] ? c->sizes[k] : 0, k++) {
        size_t size = (size_t)c->sizes[k] * sizeof(double);
        if (!c->is_multiplied[k]) continue;
        memcpy(out, c->is_integrated ? b->fout + first_of(c, k) : mu + at, size), out += c->sizes[k];
    }
    for (int k = 0; k < a->n_y - n; k++) moves |= mu[k] != 0.0;
    if (!moves) return 0;
    if (find_gradients(c, b, t, y, n, p)) return 1;
    for (int k = 0, at = 0; k < PARTS; k++) {
        if (!c->is_multiplied[k]) continue;
        for (int i = 0; i < c->sizes[k]; i++, at++)
            for (int j = 0; j < n1; j++) first[j] -= c->gradients[j * b->n_f + first_of(c, k) + i] * mu[at];
    }
    return 0;
}

/* F2 ... F5, or those from another one on, one behind the other */
static int parts_from(const tg_constrained *c, int first, double t, const double *y, const double *p, const double *d, double *out) {
    tg_block *b = tg_block_of(c->adapter, d);
    int wanted[PARTS], n = first_of(c, PARTS) - first_of(c, first);
    for (int k = 0; k < PARTS; k++) wanted[k] = k >= first;
    if (!b) memset(out, 0, (size_t)n * sizeof(double));
    if (!b) return 0;
    if (tg_parts(c->adapter, b, t, y, p, wanted)) return 1;
    memcpy(out, b->fout + first_of(c, first), (size_t)n * sizeof(double));
    return 0;
}

int tg_hdae_parts(const tg_constrained *c, double t, const double *y, const double *p, const double *d, double *out) {
    return parts_from(c, 1, t, y, p, d, out);
}

int tg_constraints(const tg_constrained *c, double t, const double *y, const double *p, const double *d, double *out) {
    return parts_from(c, 3, t, y, p, d, out);
}

/* XD: x1' is F1; x2' and x3' are in no equation, and follow from F2 = F3 = 0 differentiated along the motion, NaN where they do not */
static int find_rates(const tg_constrained *c, tg_block *b, double t, const double *y, const double *p) {
    static const int one[PARTS] = {1}, two_and_three[PARTS] = {0, 1, 1};
    int n1 = c->sizes[0], m = c->sizes[1] + c->sizes[2], n = n1 + m;
    double *moved = c->rates, *slopes = moved + n, *steps = slopes + m, *matrix = steps + m, *columns = matrix + m * m, fastest = 0.0, step;
    if (tg_parts(c->adapter, b, t, y, p, one)) return 1;
    memcpy(b->xd, b->fout, (size_t)n1 * sizeof(double));
    for (int k = 0; k < n1; k++) fastest = fmax(fastest, fabs(b->xd[k]) / fmax(fabs(y[k]), 1.0));
    step = tg_step_of(0.0) * fmin(fmax(fabs(t), 1.0), 1.0 / fmax(fastest, 1e-300));
    for (int side = 1; m && side >= -1; side -= 2) {
        for (int k = 0; k < n; k++) moved[k] = y[k] + (k < n1 ? side * step * b->xd[k] : 0.0);
        if (tg_parts(c->adapter, b, t + side * step, moved, p, two_and_three)) return 1;
        for (int i = 0; i < m; i++) slopes[i] = side > 0 ? b->fout[n1 + i] : (b->fout[n1 + i] - slopes[i]) / (2.0 * step);
    }
    if (!m) return 0;
    for (int k = 0; k < m; k++) steps[k] = tg_step_of(y[n1 + k]);
    if (tg_parts(c->adapter, b, t, y, p, two_and_three) || tg_differences(b, t, n1, m, steps, columns)) return 1;
    for (int i = 0; i < m; i++)
        for (int k = 0; k < m; k++) matrix[i * m + k] = columns[k * b->n_f + n1 + i];
    if (tg_solved(matrix, slopes, m))
        for (int k = 0; k < m; k++) slopes[k] = NAN;
    memcpy(b->xd + n1, slopes, (size_t)m * sizeof(double));
    return 0;
}

int tg_hdae_outputs(const tg_constrained *c, double t, const double *y, const double *p, const double *d, double *out) {
    tg_block *b = tg_block_of(c->adapter, d);
    return !b || find_rates(c, b, t, y, p) || tg_outputs(c->adapter, t, y, p, d, out);
}

int tg_hdae_tangent(const tg_constrained *c, double t, const double *y, const double *v, const double *p, const double *d, double dt, const double *dy,
                    const double *dp, const double *dd, double *out) {
    (void)v, (void)dd;
    return tg_in_direction((tg_value)tg_hdae_rhs, c, c->adapter, c->adapter->n_y, t, y, p, d, dt, dy, dp, out);
}

int tg_hdae_jacobian(const tg_constrained *c, double t, const double *y, const double *p, const double *d, double *out) {
    return tg_by_unknowns((tg_value)tg_hdae_rhs, c, c->adapter, c->adapter->n_y, t, y, p, d, out);
}

int tg_constraints_tangent(const tg_constrained *c, double t, const double *y, const double *v, const double *p, const double *d, double dt,
                           const double *dy, const double *dp, const double *dd, double *out) {
    (void)v, (void)dd;
    return tg_in_direction((tg_value)tg_constraints, c, c->adapter, c->sizes[3] + c->sizes[4], t, y, p, d, dt, dy, dp, out);
}

int tg_constraint_scale(const tg_constrained *c, double t, const double *y, const double *v, const double *p, const double *d, double dt,
                        const double *dy, const double *dp, const double *dd, double *out) {
    (void)v, (void)dp, (void)dd;
    return tg_scale((tg_value)tg_constraints, c, c->adapter, c->sizes[3] + c->sizes[4], t, y, p, d, dt, dy, out);
}

int tg_constraint_slopes(const tg_constrained *c, double t, const double *y, const double *p, const double *d, double *out) {
    return tg_by_unknowns((tg_value)tg_constraints, c, c->adapter, c->sizes[3] + c->sizes[4], t, y, p, d, out);
}
