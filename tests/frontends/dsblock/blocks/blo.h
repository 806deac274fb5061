/* The utilities that these blocks call, by their faces for C. */
void cblo1dt(const char *text, const char *version);
void cblo2dt(const char *text, const char *version);
void cblo2mf(const char *prompt, char *file);
void cblo3pd(const char *name, const char *text);
void cblo3pi(const char *name, const char *text);
void cblo3pl(const char *name, const char *text);
void cblo3rd(const char *name, const char *text, int ndim, const int *dim);
void cblo3sx(const char *name, const char *text);
void cblo3sy(const char *name, const char *text);
void cblo3sz(const char *name, const char *text);
void cblo3sw(const char *name, const char *text);
void cblo3su(const char *name, const char *text);
void cblo3ri(const char *name, const char *text, int ndim, const int *dim);
void cblo3tx(const char *name, const char *text, int ndim, const int *dim);
void cblo3tz(const char *name, const char *text, int ndim, const int *dim);
void cblo3md(double lower, double upper, int minimum, int maximum);
void cblo3mi(int lower, int upper, int minimum, int maximum);
void cblo3ux(int gu, const int *gui, int gxd, int kxd);
void cblo3dd(int type, double value);
void cblo3di(int type, int value);
void cblopri(const char *text);
void cbloerl(int nr, const char *text, int type, const char *lib);
void cbloers(int nr, const char *text, int type, const int *iw, const float *rw, const double *dw, const char *const *cw, int li, int lr, int ld,
             int lc, const char *lib);
void cblosid(int type, double *value, int *ierr);
void cblosii(int type, int *value, int *ierr);
