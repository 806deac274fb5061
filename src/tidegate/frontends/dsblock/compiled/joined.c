/* A connection as one block, so that it is integrated, recorded, differentiated and connected again as any other without Python: its callbacks ask
   those of its parts, in the order that join/order.py has found, and each part is given what its links say.

   ICALL(1) is used as a block would: signals of all parts are found once a point. The same structures are described in join/native.py; change both. */

#include <math.h>

#include "adapter.h"

enum { PARTS = 5, ODE = 0, DAE = 1, HDAE = 2 };

typedef struct {
    tg_block *block;
    double *rates;                        /* derivatives of an ODE, or of x1, as far as they are known */
    const int *x_from;                    /* where in X of the connection every x is */
    const int *dp_from, *ip_from, *lp_from;
    const int *outside, *outside_from;    /* elements of U from outside, and from where; */
    const int *linked, *linked_from;      /* from outputs of all parts; */
    const int *torn, *torn_from;          /* from X */
    const int *differentiated, *rates_from; /* derivatives that are unknowns: of which x, and where in X they are */
    const int *is_algebraic;              /* one an x of a DAE */
    int n_outside, n_linked, n_torn, n_rates;
    int n_x, n_z;                         /* that are there */
    int form;
    int first_u, first_y, first_w, first_z; /* among those of all parts */
    int f_from[PARTS], sizes[PARTS];      /* where F1 ... F5 lie in those of the connection, and how many its own are */
    int outputs_need_rates, auxiliaries_need_rates, has_steps, communicates;
    int knows_rates, asks_step, has_communicated;
} tg_part;

typedef struct tg_joined {
    tg_part *parts;
    double *u, *y;                        /* of all parts */
    const int *calls;                     /* pairs: 0 for outputs and 1 for equations, of which part */
    const int *shown, *driven, *hidden;   /* what Y is in y; what W has behind those of the parts, in u and in y */
    const int *torn_source;               /* outputs that drive torn inputs */
    int n_parts, n_calls, n_y, n_shown, n_driven, n_hidden, n_torn, first_torn, own_w;
    int form, is_explicit;
    double asked_at;                      /* when it was last asked of step events */
} tg_joined;

int tg_size_of_part(void) { return (int)sizeof(tg_part); }
int tg_size_of_joined(void) { return (int)sizeof(tg_joined); }

void tg_new_step(tg_block *b) {
    b->left_in_step = 0;
    for (int k = 0; b->joined && k < b->joined->n_parts; k++) tg_new_step(b->joined->parts[k].block);
}

typedef struct {
    double t;
    const double *x, *xd, *u, *dp;
    const int *ip, *lp;
} tg_point;

static long long put_parameters(const tg_part *p, const tg_point *at) {
    tg_block *b = p->block;
    const int *stays = b->stays;
    long long differs = 0;
    for (int k = 0; k < b->n_dp; k++)
        if (!stays || !stays[k]) differs |= put(&b->dp[k], at->dp[p->dp_from[k]]);
    if (stays) stays += b->n_dp;
    for (int k = 0; k < b->n_ip; k++)
        if (!stays || !stays[k]) differs |= put_integer(&b->ip[k], at->ip[p->ip_from[k]]);
    if (stays) stays += b->n_ip;
    for (int k = 0; k < b->n_lp; k++)
        if (!stays || !stays[k]) differs |= put_integer(&b->lp[k], at->lp[p->lp_from[k]]);
    return differs;
}

/* derivatives that are unknowns, and another value for those that are none */
static long long put_unknown_rates(const tg_part *p, const tg_point *at, double other) {
    double *xd = p->block->xd;
    long long differs = 0;
    int next = 0;
    for (int k = 0; k < p->block->n_x; k++) {
        int is_unknown = next < p->n_rates && p->differentiated[next] == k;
        differs |= put(&xd[k], is_unknown ? at->x[p->rates_from[next]] : other);
        next += is_unknown;
    }
    return differs;
}

/* the vectors of a part at a point; 1 if it has failed before */
static int fill(const tg_joined *c, const tg_part *p, const tg_point *at) {
    tg_block *b = p->block;
    long long differs = !b->knows_point | (b->last_t != at->t);
    const double *u = c->u + p->first_u;
    if (b->failed_in) return 1;
    for (int k = 0; k < b->n_x; k++) differs |= put(&b->x[k], at->x[p->x_from[k]]);
    if (p->form == DAE && (p->n_rates || c->form != DAE)) differs |= put_unknown_rates(p, at, 0.0);
    else if (p->form == DAE)
        for (int k = 0; k < b->n_x; k++) differs |= put(&b->xd[k], at->xd[p->x_from[k]]);
    for (int k = 0; k < b->n_u; k++) differs |= put(&b->u[k], u[k]);
    differs |= put_parameters(p, at);
    if (differs) b->icall[0] = 0;
    b->icall[1] = b->icall[2] = 0;
    b->last_t = at->t, b->knows_point = 1;
    return 0;
}

/* derivatives of an ODE among the parts; of an HDAE those of x1, the others are in no equation */
static int find_rates(const tg_joined *c, tg_part *p, const tg_point *at) {
    tg_block *b = p->block;
    int n = p->form == HDAE ? p->sizes[0] : p->n_x;
    if (p->knows_rates) return 0;
    for (int k = n; k < b->n_x; k++) p->rates[k] = p->form == HDAE ? NAN : 0.0;
    if (n) {
        if (fill(c, p, at)) return 1;
        for (int k = 0; k < PARTS; k++) b->icall[10 + k] = k == 0;
        if (tg_asked(b, 'F', at->t, b->fout, b->n_f)) return 1;
        memcpy(p->rates, b->fout, (size_t)n * sizeof(double));
    }
    p->knows_rates = 1;
    return 0;
}

static void gather(const tg_joined *c, const tg_part *p, const tg_point *at) {
    double *u = c->u + p->first_u;
    for (int k = 0; k < p->n_outside; k++) u[p->outside[k]] = at->u[p->outside_from[k]];
    for (int k = 0; k < p->n_linked; k++) u[p->linked[k]] = c->y[p->linked_from[k]];
    for (int k = 0; k < p->n_torn; k++) u[p->torn[k]] = at->x[p->torn_from[k]];
}

static int find_outputs(const tg_joined *c, tg_part *p, const tg_point *at) {
    tg_block *b = p->block;
    long long differs = 0;
    int is_given = !c->is_explicit && c->form == DAE;
    if (p->outputs_need_rates && !p->n_rates && !is_given && find_rates(c, p, at)) return 1;
    if (fill(c, p, at)) return 1;
    if (p->outputs_need_rates && p->n_rates) differs = put_unknown_rates(p, at, NAN);
    else if (p->outputs_need_rates)
        for (int k = 0; k < b->n_x; k++) differs |= put(&b->xd[k], is_given ? at->xd[p->x_from[k]] : p->rates[k]);
    if (differs) b->icall[0] = 0;
    if (tg_asked(b, 'G', at->t, b->y, b->n_y)) return 1;
    memcpy(c->y + p->first_y, b->y, (size_t)b->n_y * sizeof(double));
    return 0;
}

/* inputs and outputs of all parts */
static int find_signals(tg_joined *c, int *icall, const tg_point *at) {
    if (icall[0]) return 0;
    memset(c->y, 0, (size_t)c->n_y * sizeof(double));
    for (int k = 0; k < c->n_parts; k++) c->parts[k].knows_rates = 0, gather(c, &c->parts[k], at);
    for (int k = 0; k < c->n_calls; k++) {
        tg_part *p = &c->parts[c->calls[2 * k + 1]];
        gather(c, p, at);
        if (c->calls[2 * k] ? find_rates(c, p, at) : p->block->n_y && find_outputs(c, p, at)) return 1;
    }
    for (int k = 0; k < c->n_parts; k++) gather(c, &c->parts[k], at); /* what outputs do not depend on may come later */
    icall[0] = 1;
    return 0;
}

static void loops(const tg_joined *c, const tg_point *at, double *f) {
    for (int k = 0; k < c->n_torn; k++) f[c->first_torn + k] = at->x[c->first_torn + k] - c->y[c->torn_source[k]];
}

static int residuals(const tg_joined *c, tg_part *p, const tg_point *at, double *f) {
    const tg_block *b = p->block;
    if (fill(c, p, at) || tg_asked(p->block, 'F', at->t, b->fout, b->n_f)) return 1;
    for (int k = 0; k < b->n_x; k++) {
        int place = p->x_from[k];
        f[place] = k < p->n_x ? b->fout[k] : p->is_algebraic[k] ? at->x[place] : at->xd[place];
    }
    return 0;
}

static int equations(tg_joined *c, const tg_point *at, double *f) {
    for (int i = 0; i < c->n_parts; i++) {
        tg_part *p = &c->parts[i];
        int n = p->block->n_x;
        if (!n) continue;
        if (p->form == DAE ? residuals(c, p, at, f) : find_rates(c, p, at)) return 1;
        for (int k = 0; p->form != DAE && k < n; k++) f[p->x_from[k]] = p->rates[k] - (c->form == DAE ? at->xd[p->x_from[k]] : 0.0);
    }
    loops(c, at, f);
    return 0;
}

/* F1 ... F5 of a part in a connection that has them: what is an ODE gives F1, what derivatives follow from that are unknowns is behind F2 */
static int constrained(const tg_joined *c, tg_part *p, const int *wanted, const tg_point *at, double *f) {
    tg_block *b = p->block;
    double *f1 = f + p->f_from[0], *f2 = f + p->f_from[1];
    int n = p->n_rates, n2 = p->form == HDAE ? p->sizes[1] : 0;
    if (p->form == DAE) {
        for (int k = 0; k < n; k++) f1[k] = at->x[p->rates_from[k]];
        if (!wanted[1] || !b->n_x) return 0;
        if (fill(c, p, at) || tg_asked(b, 'F', at->t, b->fout, b->n_f)) return 1;
        memcpy(f2, b->fout, (size_t)b->n_x * sizeof(double));
        return 0;
    }
    if (n && wanted[1]) {
        if (find_rates(c, p, at)) return 1;
        for (int k = 0; k < n; k++) f2[n2 + k] = p->rates[k] - at->x[p->rates_from[k]];
    }
    if (p->form == ODE) {
        if (!n && wanted[0] && find_rates(c, p, at)) return 1;
        for (int k = 0; k < b->n_x; k++) f1[k] = n ? at->x[p->rates_from[k]] : p->rates[k];
        return 0;
    }
    if (fill(c, p, at)) return 1;
    for (int k = 0; k < PARTS; k++) b->icall[10 + k] = wanted[k];
    if (tg_asked(b, 'F', at->t, b->fout, b->n_f)) return 1;
    for (int k = 0, from = 0; k < PARTS; from += p->sizes[k++])
        if (wanted[k]) memcpy(f + p->f_from[k], b->fout + from, (size_t)p->sizes[k] * sizeof(double));
    for (int k = 0; k < n; k++) f1[k] = at->x[p->rates_from[k]];
    return 0;
}

/* every part is asked, and whether one of them has asked for an event is the answer */
static int ask_steps(tg_joined *c, int *icall, const tg_point *at) {
    int is_wanted = 0;
    c->asked_at = at->t;
    for (int k = 0; k < c->n_parts; k++) {
        tg_part *p = &c->parts[k];
        tg_block *b = p->block;
        p->asks_step = 0;
        if (!p->has_steps) continue;
        if (fill(c, p, at)) return 1;
        b->icall[2] = 1;
        if (tg_asked(b, 'F', at->t, b->fout, b->n_f)) return 1;
        is_wanted |= p->asks_step = b->icall[2] != 0;
    }
    icall[0] = 0, icall[2] = is_wanted; /* what parts remember may be another thing now */
    return 0;
}

void tg_joined_f(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *f, double *duser, int *iuser,
                 int *luser, int *ierr) {
    tg_joined *c = ((tg_block *)tg_current())->joined;
    tg_point at = {*t, x, xd, u, dp, ip, lp};
    (void)duser, (void)iuser, (void)luser;
    *ierr = find_signals(c, icall, &at);
    if (*ierr) return;
    if (icall[2]) *ierr = ask_steps(c, icall, &at);
    else if (c->form != HDAE) *ierr = equations(c, &at, f);
    else {
        for (int k = 0; k < c->n_parts && !*ierr; k++) *ierr = constrained(c, &c->parts[k], icall + 10, &at, f);
        if (!*ierr && icall[11]) loops(c, &at, f);
    }
}

void tg_joined_g(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *y, double *duser, int *iuser,
                 int *luser, int *ierr) {
    tg_joined *c = ((tg_block *)tg_current())->joined;
    tg_point at = {*t, x, xd, u, dp, ip, lp};
    (void)duser, (void)iuser, (void)luser;
    *ierr = find_signals(c, icall, &at);
    for (int k = 0; k < c->n_shown; k++) y[k] = c->y[c->shown[k]];
}

void tg_joined_h(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *z, double *duser, int *iuser,
                 int *luser, int *ierr) {
    tg_joined *c = ((tg_block *)tg_current())->joined;
    tg_point at = {*t, x, xd, u, dp, ip, lp};
    (void)duser, (void)iuser, (void)luser;
    *ierr = find_signals(c, icall, &at);
    for (int k = 0; k < c->n_parts && !*ierr; k++) {
        tg_part *p = &c->parts[k];
        tg_block *b = p->block;
        for (int i = p->n_z; i < b->n_z; i++) z[p->first_z + i] = 0.0;
        if (!p->n_z) continue;
        *ierr = fill(c, p, &at) || tg_asked(b, 'H', at.t, b->z, b->n_z);
        if (!*ierr) memcpy(z + p->first_z, b->z, (size_t)p->n_z * sizeof(double));
    }
}

/* one part may ask for the end of the run, and the others have their last row all the same */
void tg_joined_k(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *w, double *duser, int *iuser,
                 int *luser, int *ierr) {
    tg_joined *c = ((tg_block *)tg_current())->joined;
    tg_point at = {*t, x, xd, u, dp, ip, lp};
    (void)duser, (void)iuser, (void)luser;
    for (int k = 0; k < c->n_parts; k++) c->parts[k].has_communicated = 0;
    *ierr = find_signals(c, icall, &at);
    if (*ierr) return;
    for (int i = 0; i < c->n_driven; i++) w[c->own_w + i] = c->u[c->driven[i]];
    for (int i = 0; i < c->n_hidden; i++) w[c->own_w + c->n_driven + i] = c->y[c->hidden[i]];
    for (int i = 0; i < c->n_parts; i++) {
        tg_part *p = &c->parts[i];
        tg_block *b = p->block;
        int wants_rates = p->communicates && p->auxiliaries_need_rates && p->form != DAE;
        long long differs = 0;
        if (!p->communicates) continue;
        if ((wants_rates && find_rates(c, p, &at)) || fill(c, p, &at)) {
            *ierr = 1;
            return;
        }
        for (int k = 0; wants_rates && k < b->n_x; k++) differs |= put(&b->xd[k], p->rates[k]);
        if (differs) b->icall[0] = 0;
        if (tg_asked(b, 'K', at.t, b->w, b->n_w)) *ierr = 1;
        else p->has_communicated = 1;
        memcpy(w + p->first_w, b->w, (size_t)b->n_w * sizeof(double));
    }
}
