/* What the two halves of the runtime share: requests of utilities, and the vectors of one model of a block.
   The same structures are described in requests.py and vectors.py; change both. */

#ifndef TIDEGATE_RUNTIME_H
#define TIDEGATE_RUNTIME_H

typedef struct {
    const char *utility;
    void *block;            /* whose callback is being carried out */
    const char *text[3];
    long length[3];         /* without a zero at the end */
    int number[4];
    double real[2];
    int n, n_singles, n_reals, n_texts;
    const int *integers;
    const float *singles;
    const double *reals;
    const char *const *texts; /* of C; those of Fortran are text[2], one behind the other */
    int *integers_out;
    double *real_out;
    int *ierr;
    char *text_out;
    long room;
} tg_request;

typedef void (*tg_answer_function)(tg_request *);

typedef void (*tg_f)(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *f, double *duser, int *iuser,
                     int *luser, int *ierr);
typedef void (*tg_j)(int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *cj, double *jac, int *njac,
                     double *duser, int *iuser, int *luser, int *ierr);

struct tg_block;
struct tg_joined;

/* a model beside another, with one parameter larger by an offset: its values count with a weight in the derivative by that parameter */
typedef struct {
    int parameter;
    double offset, weight;
    struct tg_block *block;
} tg_variant;

/* one model of a block: its vectors belong to Python, its callbacks to its library */
typedef struct tg_block {
    tg_f f, g, h, k;
    tg_j j;
    double *x, *xd, *u, *dp;
    int *ip, *lp;
    double *fout, *y, *z, *w;
    double *duser;
    int *iuser, *luser;
    double *jac;
    int n_x, n_u, n_y, n_z, n_w, n_dp, n_ip, n_lp, n_f, is_dae, n_duser, n_iuser, n_luser, n_jac;
    int needs_rates;        /* G or K of an ODE want XD */
    int icall[16];
    int failed_in;          /* the letter of the callback that reported an error, or 0 */
    int ierr;
    double failed_at;
    int has_overwritten;    /* failed_in wrote outside of its arrays */
    int knows_point;        /* the vectors are those of the last call; else ICALL(1) is 0 at the next */
    double last_t;
    int n_variants;
    const tg_variant *variants;
    int left_in_step;       /* what BLOCKF has left in ICALL(2) in the step under way */
    int evaluations;        /* of F by integrators, where they are counted */
    const int *stays;       /* one a parameter, or NULL: BLOCKP does not use the value of the run (IERR = 3) */
    const char *name;       /* of the block */
    struct tg_joined *joined; /* what a connection is made of, or NULL */
} tg_block;

/* what stands in front of every array and behind it, GUARD cells on either side; vectors.py puts it there */
enum { TG_GUARD = 8, TG_INTEGER_PATTERN = -1515870811 };
#define TG_REAL_PATTERN (-6.0221e101)

void *tg_current(void);

#endif
