/* XD of a DAE of which E x' = -F is integrated, so that it is no unknown: E leaves a part of it open, which the rest of F = 0, differentiated along the
   motion, determines. Equations.rates of forms.py is the same in Python. */

#include <math.h>

#include "adapter.h"

int tg_solved(double *a, double *b, int m) {
    for (int k = 0; k < m; k++) {
        int pivot = k;
        for (int i = k + 1; i < m; i++)
            if (fabs(a[i * m + k]) > fabs(a[pivot * m + k])) pivot = i;
        if (!(fabs(a[pivot * m + k]) > 0.0)) return 1;
        for (int j = 0; j < m && pivot != k; j++) {
            double kept = a[k * m + j];
            a[k * m + j] = a[pivot * m + j], a[pivot * m + j] = kept;
        }
        double kept = b[k];
        b[k] = b[pivot], b[pivot] = kept;
        for (int i = k + 1; i < m; i++) {
            double factor = a[i * m + k] / a[k * m + k];
            for (int j = k; j < m; j++) a[i * m + j] -= factor * a[k * m + j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = m - 1; k >= 0; k--) {
        for (int j = k + 1; j < m; j++) b[k] -= a[k * m + j] * b[j];
        b[k] /= a[k * m + k];
    }
    return 0;
}

const double *tg_rates_of_mass(const tg_adapter *a, double t, const double *y, const double *p, const double *d) {
    int n = a->n_y;
    double *jacobian = a->mass_room, *matrix = jacobian + n * n, *here = matrix + n * n, *above = here + n, *slope = above + n, *xd = slope + n;
    double step = tg_step_of(t);
    if (tg_rhs(a, t, y, p, d, here) || tg_rhs(a, t + step, y, p, d, above) || tg_rhs(a, t - step, y, p, d, slope)) return NULL;
    for (int k = 0; k < n; k++) slope[k] = (above[k] - slope[k]) / (2.0 * step);
    if (tg_by_unknowns((tg_value)tg_rhs, a, a, n, t, y, p, d, jacobian)) return NULL;
    for (int i = 0; i < n; i++) {
        const double *row = a->halves + i * n, *seen = a->seen_mass + i * n;
        int is_seen = i < a->n_seen;
        xd[i] = 0.0;
        for (int k = 0; k < n; k++) xd[i] += is_seen ? row[k] * here[k] : -row[k] * slope[k];
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < n && !is_seen; k++) sum += row[k] * jacobian[k * n + j];
            matrix[i * n + j] = is_seen ? seen[j] : sum;
        }
    }
    if (tg_solved(matrix, xd, n))
        for (int k = 0; k < n; k++) xd[k] = NAN;
    return xd;
}
