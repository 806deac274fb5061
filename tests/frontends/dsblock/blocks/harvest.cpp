// A harvested population: x' = r x (1 - x/K), every PERIOD a part is taken. Objects on the heap, exceptions, std::vector, callbacks as methods.
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" {
void cblo1dt(const char *, const char *);
void cblo3sx(const char *, const char *);
void cblo3sy(const char *, const char *);
void cblo3sw(const char *, const char *);
void cblo3pd(const char *, const char *);
void cblo3rd(const char *, const char *, int, const int *);
void cblo3md(double, double, int, int);
void cbloerl(int, const char *, int, const char *);
void cblo3dd(int, double);
}

namespace {
struct Population {
    double r, k, taken = 0.0;
    std::vector<double> catches;
    double rate(double x) const {
        if (x < 0.0) throw std::domain_error("a population cannot be negative: " + std::to_string(x));
        return r * x * (1.0 - x / k);
    }
};

Population &self(double *duser) {
    Population *p;
    std::memcpy(&p, duser, sizeof p);
    return *p;
}

template <class F> void guarded(int *ierr, F &&body) noexcept {
    try {
        body();
    } catch (const std::exception &error) {
        cbloerl(0, error.what(), 1, "");
        *ierr = 1;
    }
}
} // namespace

extern "C" {
void popB(int *iopt, int *info, int *sig, int *dim, double *t0, double *x0, double *, double *dp, int *, int *, double *duser, int *, int *, int *) {
    switch (*iopt) {
    case 1: info[0] = 1; cblo1dt("a harvested population", "c++"); break;
    case 2:
        sig[0] = dim[0] = 1, sig[2] = dim[2] = 1, sig[4] = dim[4] = 2;
        sig[5] = 2, dim[5] = 4, dim[8] = 1;
        break;
    default: {
        int three = 3;
        cblo3sx("X", "population");
        cblo3sy("HARVEST", "taken so far");
        cblo3sw("N", "catches");
        cblo3sw("BIGGEST", "catch");
        cblo3rd("GROWTH", "r, K, period", 1, &three);
        cblo3md(0.0, 0.0, 1, 0);
        cblo3pd("PART", "taken each time");
        cblo3md(0.0, 1.0, 2, 2);
        dp[0] = 1.0, dp[1] = 10.0, dp[2] = 0.5, dp[3] = 0.25;
        x0[0] = 2.0, *t0 = 0.0;
        cblo3dd(1, 2.75);
        Population *p = new Population;
        std::memcpy(duser, &p, sizeof p);
    }
    }
}
void popC(int *iopt, double *duser, int *, int *, int *) { if (*iopt == 3) delete &self(duser); }
void popS(double *t0, double *, double *, double *, double *dp, int *, int *, double *tevent, int *, int *, double *duser, int *, int *, int *) {
    Population &p = self(duser);
    p.r = dp[0], p.k = dp[1], p.taken = 0.0, p.catches.clear();
    tevent[0] = *t0 + dp[2];
}
void popF(int *, double *, double *x, double *, double *, double *, int *, int *, double *f, double *duser, int *, int *, int *ierr) {
    guarded(ierr, [&] { f[0] = self(duser).rate(x[0]); });
}
void popG(int *, double *, double *, double *, double *, double *, int *, int *, double *y, double *duser, int *, int *, int *) { y[0] = self(duser).taken; }
void popK(int *, double *, double *, double *, double *, double *, int *, int *, double *w, double *duser, int *, int *, int *) {
    const Population &p = self(duser);
    w[0] = p.catches.size(), w[1] = 0.0;
    for (double each : p.catches) w[1] = std::fmax(w[1], each);
}
void popV(int *, int *iopt, double *t, double *x, double *, double *, double *dp, int *, int *, double *, int *, double *tevent, int *, int *, int *,
          double *duser, int *, int *, int *info) {
    Population &p = self(duser);
    double taken = dp[3] * x[0];
    if (iopt[0]) p.catches.push_back(taken), p.taken += taken, x[0] -= taken, tevent[0] = *t + dp[2];
    *info = 1;
}
}
