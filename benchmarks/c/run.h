/* What a problem hands to the driver: C functions as SUNDIALS wants them, start values, and a transition where there are events. */

#ifndef RUN_H
#define RUN_H

#include <cvodes/cvodes.h>
#include <idas/idas.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

typedef struct {
    const char *name;
    int n;
    sunrealtype t_end;
    const sunrealtype *start;
    const sunrealtype *start_slopes; /* for IDA */
    CVRhsFn rates;                   /* CVODE where there are rates, else IDA */
    CVLsJacFn rates_jacobian;
    IDAResFn residual;
    IDALsJacFn residual_jacobian;
    CVRootFn guard; /* one guard; an event where it rises through zero */
    int n_modes;
    const sunrealtype *modes; /* at the start; the user data of all functions */
    void (*transition)(sunrealtype *modes);
} Problem;

extern const Problem pollution, relay, robertson;

#endif
