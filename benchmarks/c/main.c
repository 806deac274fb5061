/* sundials_in_c <problem> <rtol> <atol> <rounds> <repeats>: run a problem again and again by SUNDIALS and nothing else.

   Prints SUNDIALS' version, the shortest time of a run in milliseconds over the rounds (each of so many repeats), the number of events, of
   steps, and the unknowns at the end. The solver is set up once and restarted for every run, as the other drivers of the benchmark do. */

#include "run.h"

#include <sundials/sundials_config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_MODES = 4, MOST_STEPS = 100000000 };

typedef struct {
    const Problem *problem;
    void *solver;
    N_Vector y, ydot;
    sunrealtype modes[MOST_MODES];
    long events, steps;
} Run;

static void check(int is_good, const char *what)
{
    if (!is_good) {
        fprintf(stderr, "sundials_in_c: %s failed\n", what);
        exit(1);
    }
}

static void set_up(Run *run, const Problem *problem, sunrealtype rtol, sunrealtype atol, SUNContext context)
{
    const int n = problem->n;
    memset(run, 0, sizeof *run);
    run->problem = problem;
    run->y = N_VNew_Serial(n, context);
    run->ydot = N_VNew_Serial(n, context);
    memcpy(N_VGetArrayPointer(run->y), problem->start, n * sizeof(sunrealtype));
    if (problem->start_slopes)
        memcpy(N_VGetArrayPointer(run->ydot), problem->start_slopes, n * sizeof(sunrealtype));
    SUNMatrix matrix = SUNDenseMatrix(n, n, context);
    SUNLinearSolver linear = SUNLinSol_Dense(run->y, matrix, context);
    if (problem->rates) {
        run->solver = CVodeCreate(CV_BDF, context);
        check(CVodeInit(run->solver, problem->rates, 0.0, run->y) == 0, "CVodeInit");
        CVodeSetUserData(run->solver, run->modes);
        CVodeSStolerances(run->solver, rtol, atol);
        CVodeSetLinearSolver(run->solver, linear, matrix);
        CVodeSetJacFn(run->solver, problem->rates_jacobian);
        CVodeSetMaxNumSteps(run->solver, MOST_STEPS);
        /* a matrix for each step, as tidegate has it: one of an earlier step can hide what is wrong */
        CVodeSetLSetupFrequency(run->solver, 1);
        CVodeSetJacEvalFrequency(run->solver, 1);
        if (problem->guard) {
            int rising = 1;
            CVodeRootInit(run->solver, 1, problem->guard);
            CVodeSetRootDirection(run->solver, &rising);
        }
    } else {
        run->solver = IDACreate(context);
        check(IDAInit(run->solver, problem->residual, 0.0, run->y, run->ydot) == 0, "IDAInit");
        IDASetUserData(run->solver, run->modes);
        IDASStolerances(run->solver, rtol, atol);
        IDASetLinearSolver(run->solver, linear, matrix);
        IDASetJacFn(run->solver, problem->residual_jacobian);
        IDASetMaxNumSteps(run->solver, MOST_STEPS);
        IDASetDeltaCjLSetup(run->solver, 0.0);
    }
}

static void count_steps(Run *run)
{
    long steps = 0;
    if (run->problem->rates)
        CVodeGetNumSteps(run->solver, &steps);
    else
        IDAGetNumSteps(run->solver, &steps);
    run->steps += steps;
}

static void go(Run *run)
{
    const Problem *problem = run->problem;
    const int n = problem->n;
    sunrealtype t = 0.0;
    run->events = run->steps = 0;
    memcpy(N_VGetArrayPointer(run->y), problem->start, n * sizeof(sunrealtype));
    if (problem->n_modes)
        memcpy(run->modes, problem->modes, problem->n_modes * sizeof(sunrealtype));
    if (!problem->rates) {
        memcpy(N_VGetArrayPointer(run->ydot), problem->start_slopes, n * sizeof(sunrealtype));
        IDAReInit(run->solver, 0.0, run->y, run->ydot);
        IDASetStopTime(run->solver, problem->t_end);
        check(IDASolve(run->solver, problem->t_end, &t, run->y, run->ydot, IDA_NORMAL) >= 0, "IDASolve");
        count_steps(run);
        return;
    }
    for (;;) {
        CVodeReInit(run->solver, t, run->y);
        CVodeSetStopTime(run->solver, problem->t_end);
        const int flag = CVode(run->solver, problem->t_end, run->y, &t, CV_NORMAL);
        check(flag >= 0, "CVode");
        count_steps(run);
        if (flag != CV_ROOT_RETURN)
            return;
        problem->transition(run->modes);
        run->events += 1;
    }
}

static double now(void)
{
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return 1e3 * moment.tv_sec + 1e-6 * moment.tv_nsec;
}

int main(int count, char **arguments)
{
    const Problem *known[] = {&pollution, &relay, &robertson};
    const Problem *problem = NULL;
    for (int k = 0; count == 6 && k < 3; k++)
        if (strcmp(arguments[1], known[k]->name) == 0)
            problem = known[k];
    if (!problem) {
        fprintf(stderr, "usage: sundials_in_c pollution|relay|robertson rtol atol rounds repeats\n");
        return 2;
    }
    const int rounds = atoi(arguments[4]), repeats = atoi(arguments[5]);
    SUNContext context;
    Run run;
#if SUNDIALS_VERSION_MAJOR < 7
    check(SUNContext_Create(NULL, &context) == 0, "SUNContext_Create");
#else
    check(SUNContext_Create(SUN_COMM_NULL, &context) == 0, "SUNContext_Create");
#endif
    set_up(&run, problem, atof(arguments[2]), atof(arguments[3]), context);
    go(&run);
    double best = 1e300;
    for (int round = 0; round < rounds; round++) {
        const double began = now();
        for (int k = 0; k < repeats; k++)
            go(&run);
        const double milliseconds = (now() - began) / repeats;
        best = milliseconds < best ? milliseconds : best;
    }
    printf("%s %.6f %ld %ld", SUNDIALS_VERSION, best, run.events, run.steps);
    for (int k = 0; k < problem->n; k++)
        printf(" %.17g", (double)N_VGetArrayPointer(run.y)[k]);
    printf("\n");
    return 0;
}
