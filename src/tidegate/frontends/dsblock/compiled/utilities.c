/* The utilities that a compiled DSblock 3.3 calls (Otter, DLR 1994), each with two faces: blo3pd_ for Fortran, whose texts are padded with
   blanks and have their lengths behind all arguments, and cblo3pd for C, whose texts end with zero and whose scalars are passed by value.
   Every call becomes one request, which is handed to Python: blocks call them seldom, nearly all while they are being defined. */

#include <stddef.h>
#include <string.h>

#include "runtime.h"

static tg_answer_function answer;

void tg_answer_with(tg_answer_function function) { answer = function; }

static void ask(const char *utility, tg_request *request) {
    request->utility = utility;
    request->block = tg_current();
    if (answer) answer(request);
}

#define TEXT(k, start, size) (request.text[k] = (start), request.length[k] = (long)(size))
#define LENGTH(start) ((start) ? strlen(start) : 0)

/* BLOxxx(TEXT, TEXT): the names of a thing */
#define TWO_TEXTS(small, big, c)                                                              \
    void small(const char *a, const char *b, size_t la, size_t lb) {                          \
        tg_request request = {0};                                                             \
        TEXT(0, a, la), TEXT(1, b, lb), ask(big, &request);                                   \
    }                                                                                         \
    void c(const char *a, const char *b) { small(a, b, LENGTH(a), LENGTH(b)); }

TWO_TEXTS(blo1dt_, "BLO1DT", cblo1dt)
TWO_TEXTS(blo2dt_, "BLO2DT", cblo2dt)
TWO_TEXTS(blo3pd_, "BLO3PD", cblo3pd)
TWO_TEXTS(blo3pi_, "BLO3PI", cblo3pi)
TWO_TEXTS(blo3pl_, "BLO3PL", cblo3pl)
TWO_TEXTS(blo3su_, "BLO3SU", cblo3su)
TWO_TEXTS(blo3sw_, "BLO3SW", cblo3sw)
TWO_TEXTS(blo3sx_, "BLO3SX", cblo3sx)
TWO_TEXTS(blo3sy_, "BLO3SY", cblo3sy)
TWO_TEXTS(blo3sz_, "BLO3SZ", cblo3sz)

/* BLOxxx(NAME, DTEXT, NDIM, DIM): an array */
#define ARRAY(small, big, c)                                                                                  \
    void small(const char *a, const char *b, const int *ndim, const int *dim, size_t la, size_t lb) {         \
        tg_request request = {0};                                                                             \
        TEXT(0, a, la), TEXT(1, b, lb);                                                                       \
        request.n = *ndim, request.integers = dim, ask(big, &request);                                        \
    }                                                                                                         \
    void c(const char *a, const char *b, int ndim, const int *dim) { small(a, b, &ndim, dim, LENGTH(a), LENGTH(b)); }

ARRAY(blo3rd_, "BLO3RD", cblo3rd)
ARRAY(blo3ri_, "BLO3RI", cblo3ri)
ARRAY(blo3rl_, "BLO3RL", cblo3rl)
ARRAY(blo3tu_, "BLO3TU", cblo3tu)
ARRAY(blo3tw_, "BLO3TW", cblo3tw)
ARRAY(blo3tx_, "BLO3TX", cblo3tx)
ARRAY(blo3ty_, "BLO3TY", cblo3ty)
ARRAY(blo3tz_, "BLO3TZ", cblo3tz)

/* BLOxxx(TEXT) */
#define ONE_TEXT(small, big, c)                   \
    void small(const char *a, size_t la) {        \
        tg_request request = {0};                 \
        TEXT(0, a, la), ask(big, &request);       \
    }                                             \
    void c(const char *a) { small(a, LENGTH(a)); }

ONE_TEXT(blopri_, "BLOPRI", cblopri)
ONE_TEXT(blo1ht_, "BLO1HT", cblo1ht)
ONE_TEXT(blo2ht_, "BLO2HT", cblo2ht)

/* BLO2MF(PROMPT, FILE): the answer is a text; of C its room must be 256 */
enum { ROOM_OF_C = 256 };

void blo2mf_(const char *prompt, char *file, size_t lp, size_t lf) {
    tg_request request = {0};
    memset(file, ' ', lf);
    TEXT(0, prompt, lp);
    request.text_out = file, request.room = (long)lf, ask("BLO2MF", &request);
}

void cblo2mf(const char *prompt, char *file) {
    tg_request request = {0};
    memset(file, 0, ROOM_OF_C);
    TEXT(0, prompt, LENGTH(prompt));
    request.text_out = file, request.room = ROOM_OF_C - 1, ask("BLO2MF", &request);
}

/* BLOERL, BLOERS: messages */
static void message(const char *utility, int nr, int type, tg_request *request) {
    request->number[0] = nr, request->number[1] = type;
    ask(utility, request);
}

void bloerl_(const int *nr, const char *text, const int *type, const char *lib, size_t lt, size_t ll) {
    tg_request request = {0};
    TEXT(0, text, lt), TEXT(1, lib, ll), message("BLOERL", *nr, *type, &request);
}

void cbloerl(int nr, const char *text, int type, const char *lib) { bloerl_(&nr, text, &type, lib, LENGTH(text), LENGTH(lib)); }

void bloers_(const int *nr, const char *text, const int *type, const int *iw, const float *rw, const double *dw, const char *cw, const int *li,
             const int *lr, const int *ld, const int *lc, const char *lib, size_t lt, size_t lw, size_t ll) {
    tg_request request = {0};
    TEXT(0, text, lt), TEXT(1, lib, ll), TEXT(2, cw, lw);
    request.integers = iw, request.n = *li;
    request.singles = rw, request.n_singles = *lr;
    request.reals = dw, request.n_reals = *ld, request.n_texts = *lc;
    message("BLOERS", *nr, *type, &request);
}

void cbloers(int nr, const char *text, int type, const int *iw, const float *rw, const double *dw, const char *const *cw, int li, int lr, int ld,
             int lc, const char *lib) {
    tg_request request = {0};
    TEXT(0, text, LENGTH(text)), TEXT(1, lib, LENGTH(lib));
    request.texts = cw;
    request.integers = iw, request.n = li;
    request.singles = rw, request.n_singles = lr;
    request.reals = dw, request.n_reals = ld, request.n_texts = lc;
    message("BLOERS", nr, type, &request);
}

/* BLOLUB, BLOLUC: unit numbers of Fortran */
void cblolub(int nlu, int *lu, int *ierr) {
    tg_request request = {0};
    request.number[0] = nlu, request.integers_out = lu, request.ierr = ierr, ask("BLOLUB", &request);
}
void blolub_(const int *nlu, int *lu, int *ierr) { cblolub(*nlu, lu, ierr); }

void cbloluc(int nlu, const int *lu) {
    tg_request request = {0};
    request.n = nlu, request.integers = lu, ask("BLOLUC", &request);
}
void bloluc_(const int *nlu, const int *lu) { cbloluc(*nlu, lu); }

/* BLOSID, BLOSII: inquiries */
void cblosid(int type, double *value, int *ierr) {
    tg_request request = {0};
    request.number[0] = type, request.real_out = value, request.ierr = ierr, ask("BLOSID", &request);
}
void blosid_(const int *type, double *value, int *ierr) { cblosid(*type, value, ierr); }

void cblosii(int type, int *value, int *ierr) {
    tg_request request = {0};
    request.number[0] = type, request.integers_out = value, request.ierr = ierr, ask("BLOSII", &request);
}
void blosii_(const int *type, int *value, int *ierr) { cblosii(*type, value, ierr); }

/* BLO3MD, BLO3MI: bounds of the parameter before */
void cblo3md(double lower, double upper, int minimum, int maximum) {
    tg_request request = {0};
    request.real[0] = lower, request.real[1] = upper;
    request.number[0] = minimum, request.number[1] = maximum, ask("BLO3MD", &request);
}
void blo3md_(const double *lower, const double *upper, const int *minimum, const int *maximum) { cblo3md(*lower, *upper, *minimum, *maximum); }

void cblo3mi(int lower, int upper, int minimum, int maximum) {
    tg_request request = {0};
    request.real[0] = lower, request.real[1] = upper;
    request.number[0] = minimum, request.number[1] = maximum, ask("BLO3MI", &request);
}
void blo3mi_(const int *lower, const int *upper, const int *minimum, const int *maximum) { cblo3mi(*lower, *upper, *minimum, *maximum); }

/* BLO3UX: what outputs depend on */
void cblo3ux(int gu, const int *gui, int gxd, int kxd) {
    tg_request request = {0};
    request.number[0] = gu, request.number[1] = gxd, request.number[2] = kxd, request.integers = gui, ask("BLO3UX", &request);
}
void blo3ux_(const int *gu, const int *gui, const int *gxd, const int *kxd) { cblo3ux(*gu, gui, *gxd, *kxd); }

/* BLO3DD, BLO3DE, BLO3DI: proposals */
void cblo3dd(int type, double value) {
    tg_request request = {0};
    request.number[0] = type, request.real[0] = value, ask("BLO3DD", &request);
}
void blo3dd_(const int *type, const double *value) { cblo3dd(*type, *value); }

void cblo3de(int type, const double *values, int n) {
    tg_request request = {0};
    request.number[0] = type, request.reals = values, request.n_reals = n, ask("BLO3DE", &request);
}
void blo3de_(const int *type, const double *values, const int *n) { cblo3de(*type, values, *n); }

void cblo3di(int type, int value) {
    tg_request request = {0};
    request.number[0] = type, request.number[1] = value, ask("BLO3DI", &request);
}
void blo3di_(const int *type, const int *value) { cblo3di(*type, *value); }
