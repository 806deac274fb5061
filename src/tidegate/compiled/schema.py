"""What stands in the memory of a run: one table, from which the layout of that memory and the kernel's access to it by name are made.

An entry is a single integer or number, or an array of integers, numbers or complex numbers. A shape is told by names of integers of the same table,
products of such, or plain sizes; ``room`` says for how much there is memory where a shape changes during a run. The owner is the loop that all
methods share, or one method, whose arrays exist in its runs only. What has ``scratch`` in its name holds nothing between two calls.
"""

from __future__ import annotations

from math import prod
from typing import Final, Literal

from tidegate.quick_dataclass import dataclass

__all__ = [
    "CLASSICAL",
    "CORE",
    "FIELDS",
    "FIRST_WRITTEN",
    "FIXED",
    "FUNCTIONS",
    "LANES",
    "LASTING",
    "LASTING_ARRAYS",
    "LAST_POWER",
    "LEFT_OUT",
    "MAX_STAGES",
    "MOST_MODELS",
    "MOST_PARTS_AT_ONCE",
    "MOST_PLANS",
    "MOVING",
    "PADDING",
    "RADAU",
    "REAL_SYSTEMS",
    "ROSENBROCK",
    "ROUNDED",
    "SCRATCH_MODELS",
    "SUNDIALS",
    "TAYLOR",
    "WRITTEN_FIRST",
    "Field",
    "Kind",
]

Kind = Literal["integer", "number", "complex"]

MAX_STAGES: Final = 7
MOST_PARTS_AT_ONCE: Final = 64  # of a step, in root isolation
LANES: Final = 16  # numbers in rows that are added up at once, see compiled/weighted_sum
PADDING: Final = 8  # numbers behind a column of factors that are read and written with it, whatever they are
MOST_MODELS: Final = 256  # registers of polynomials with bounds: for longer tapes there is no room
SCRATCH_MODELS: Final = 2  # rows behind them
ROUNDED, MOVING, LEFT_OUT, LAST_POWER = 1, 2, 3, 4  # places behind the coefficients of one, see events/guard_models
MOST_PLANS: Final = 8  # of which of them there must be, see events/guard_plans
REAL_SYSTEMS: Final = 3  # the method's two, and that of consistent values
CORE, RADAU, SUNDIALS, CLASSICAL, TAYLOR, ROSENBROCK = "core", "radau", "sundials", "classical", "taylor", "rosenbrock"


@dataclass(frozen=True)
class Field:
    """One entry of the table.

    Parameters
    ----------
    name : as the kernel writes it behind ``run.``.
    kind : of number.
    shape : None for a single one; else sizes, and names of integers or products of such.
    room : sizes that the memory is made for; None: the shape.
    owner : whose runs have it.
    part_of, begins : the array of which it is a part, and the name of the integer that says where.
    """

    name: str
    kind: Kind
    shape: tuple[str | int, ...] | None = None
    room: tuple[str | int, ...] | None = None
    owner: str = CORE
    part_of: str = ""
    begins: str = ""

    @property
    def memory(self) -> tuple[str, ...]:
        """Names, and products of names, in the product that says for how much there is memory."""
        return tuple(size for size in self.room or self.shape or () if isinstance(size, str))

    @property
    def plain(self) -> int:
        """The plain sizes in that product, multiplied."""
        return prod(size for size in self.room or self.shape or () if isinstance(size, int))


def _single(kind: Kind, names: str, owner: str = CORE) -> list[Field]:
    return [Field(name, kind, owner=owner) for name in names.split()]


def _arrays(kind: Kind, names: str, *shape: str | int, room: tuple[str | int, ...] | None = None, owner: str = CORE) -> list[Field]:
    return [Field(name, kind, shape, room, owner) for name in names.split()]


def _part_of_m(name: str, size: str | int) -> Field:
    return Field(name, "number", (size,), part_of="m", begins=f"first_{name}")


_SIZES: Final = [
    # unknowns, guards, all of m, parameters, those with sensitivities, discrete variables
    *_single("integer", "one n n_guards n_m n_p n_sens n_discrete"),
    # branches, time events and step events, conditions of clauses, all conditions, times of guards and time events, time events, step events, outputs
    *_single("integer", "n_actions n_when n_conditions n_times n_clocks n_steps n_outputs"),
    # inputs, registers, constants and rows of interval tapes; modes, states whose fall is noted; inner edges of all grids
    *_single("integer", "n_used n_registers n_constants n_code n_modes n_dropping n_grid_edges"),
    # what a body gives, the longest vector of zeros, instants no step may pass, entries of the index of branches, of the table of tape lengths
    *_single("integer", "n_body n_zeros n_stops_room n_branch_ends n_tape_lengths"),
    # the largest degree of a polynomial, and what a part of a step takes in root isolation; the largest system of stages of sensitivities
    *_single("integer", "max_degree part_width n_sens_system"),
    # unknowns, if they are fewer than the powers of that polynomial
    *_single("integer", "n_gradients"),
    # guards that are not affine
    *_single("integer", "n_curved"),
    # the unknowns and all their derivatives by parameters
    *_single("integer", "n_lanes"),
    # numbers in the power series of everything that a step of Taylor's method computes
    *_single("integer", "n_series n_series_box"),
    # parameters that move with those with sensitivities, and entries of the index of them
    *_single("integer", "n_moving n_moving_ends"),
    # of an HDAE: 1, and how many F4 and F5 there are; 0 of other models
    *_single("integer", "n_forms n_constraints"),
    # what the right sides divide by and may come to zero, with what does not, with what exponentials are taken of: values of f_divisors
    *_single("integer", "n_divisors n_quotients n_peaks"),
    # values that unknowns do not cross, guards and one, and zeros of guards there
    *_single("integer", "n_kept n_kept_ends n_kept_zeros"),
    # registers of polynomials with bounds, for nonlinear guards; 0 where there are none, or too many
    *_single("integer", "n_models"),
    # numbers of p and m that tapes read
    *_single("integer", "n_read"),
    # guards of which it is proved that they stay on their sides; 0 where nobody asked
    *_single("integer", "n_examined"),
]

_FUNCTIONS: Final = [
    # addresses; 0 where the model has none
    *_single("integer", "f_rhs f_residual_tangent f_jacobian f_mass f_guards f_guards_tangent f_guard_scale f_guard_rounding"),
    *_single("integer", "f_activity f_conditions"),
    *_single(
        "integer",
        "f_bodies f_bodies_tangent f_times f_times_tangent f_outputs f_outputs_tangent f_steps f_communicated f_tape f_models f_divisors",
    ),
    *_single("integer", "f_step_begins"),
    *_single("integer", "f_proof"),
    *_single("integer", "f_constraints f_constraints_tangent f_constraint_scale f_constraint_slopes"),
    *_single("integer", "dgetrf dgetrs zgetrf zgetrs"),
    # kernel entries of the method, see integrators/hybrid_loop/loop
    *_single("integer", "hook_step hook_locate hook_sensitivities hook_values hook_restart hook_accept"),
    # of methods that have power series: integrators/hybrid_loop/simple_event, where events of a model may be simple
    *_single("integer", "hook_simple"),
    # where the trajectory leads to from a point, see events/leaving
    *_single("integer", "hook_ahead"),
    # and integrators/taylor/smooth
    *_single("integer", "hook_smooth"),
    # where the past stands that the model looks back at, integrators/hybrid_loop/past; 0 where it does not
    *_single("integer", "past first_past"),
    # where the two blocks of this memory stand
    *_single("integer", "address_h address_r"),
]

_FACTS: Final = [
    # stays_known: 1 where a round of an event changes nothing that guards and equations read but states and discrete variables
    *_single("integer", "has_corners has_branches reads_modes stays_known has_followers has_acts"),
    *_single("integer", "mass_kind mass_varies rank first_discrete first_previous first_flags first_counts first_drops first_grazing first_form"),
    # 1 for a method that starts at order one and does not see motions within the tolerances
    *_single("integer", "starts_coarse"),
    # 1 for a method whose points lie beside the slow motion of a stiff model, see integrators/hybrid_loop/pre_event_rate
    *_single("integer", "smooths_rates"),
    # over the tolerance, how far errors of many steps may have added up: how near to zero a guard may have been, see events/grazing
    *_single("number", "reach_factor"),
    # 1 for a method whose proposal for a step does not grow behind one that an event has cut
    *_single("integer", "keeps_proposals"),
    # places among the discrete variables of how far a step may go beyond the next time event, and of whether the last event has left everything as
    # it was; -1 where models do not say so, see integrators/hybrid_loop/passed
    *_single("integer", "may_reach_at goes_on_at"),
    # 1 if the model must not be asked for anything behind the end of the run
    *_single("integer", "ends_hard"),
    *_arrays("integer", "sens_parameters", "n_sens"),
    *_arrays("integer", "moving_first", "n_moving_ends"),
    *_arrays("integer", "moving", "n_moving"),
    *_arrays("number", "moving_rate", "n_moving"),
    *_arrays("integer", "is_linear is_time is_opaque is_strict guard_kind guard_mode guard_zero guard_facing", "n_guards"),
    # values that unknowns do not cross, and which of them guards have for their zeros; see compiled/kept_sides
    *_arrays("integer", "kept_unknown kept_parameter kept_discrete", "n_kept"),
    *_arrays("number", "kept_level", "n_kept"),
    *_arrays("integer", "kept_first", "n_kept_ends"),
    *_arrays("integer", "kept_of_guards", "n_kept_zeros"),
    *_arrays("integer", "is_algebraic index_two is_force", "n"),
    # 1 if values off the constraints of an HDAE are to be moved onto them
    *_single("integer", "makes_consistent"),
    *_arrays("integer", "grid_first n_edges", "n_guards"),
    *_arrays("number", "grids", "n_grid_edges"),
    *_arrays("integer", "used", "n_used"),
    *_arrays("integer", "tape_first tape_value tape_rate tape_bend", "n_guards"),
    *_arrays("integer", "tape_rows", "n_tape_lengths"),
    *_arrays("integer", "read_registers", "n_read"),
    *_arrays("integer", "tape_code", "n_code", 4),
    *_arrays("integer", "tape_kinds", "n_code"),
    *_arrays("number", "constants", "n_constants"),
    *_arrays("integer", "branch_first", "n_branch_ends"),
    *_arrays("integer", "branch_chain action_meaning", "n_actions"),
    *_arrays("integer", "dropping", "n_dropping"),
    *_arrays("integer", "repeats", "n_clocks"),
    *_arrays("number", "zero", "n_zeros"),
]

_OPTIONS: Final = [
    *_single("integer", "budget wants_event_rows wants_step_rows keeps_polynomials stages_wanted"),
    *_single("number", "rtol rtol_inner atol_ratio step_max newton_tol"),
    # absolute tolerances; 0, or that of an unknown of the size of one where its size decides
    *_arrays("number", "atol most_tolerance size_of_quantity", "n"),
    *_arrays("integer", "first_of_quantity is_loose", "n"),
]

_STATE: Final = [
    *_single("integer", "stages degree is_first was_rejected has_polynomial needs_jacobian needs_factors is_jacobian_fresh is_cut"),
    *_single("integer", "event_kind event_cause cause_item rounds phase failed_guard last_guard found_guard"),
    *_single("integer", "quiet_flips good_steps failures_in_a_row iterations n_stops"),
    # 1 while the factors of consistent values are those of an earlier point, from which forces of constraints are computed
    *_single("integer", "knows_forces"),
    # whether absolute tolerances of some unknowns follow their sizes, these are known, nothing has moved, how many are held to too little
    *_single("integer", "goes_by_size is_sized is_at_rest n_loose"),
    # 1 where an event inside the step under way has been carried out; where what an event gives is known; where the method may go on behind it
    *_single("integer", "has_passed is_given can_go_on"),
    # what another run goes on from, of which integrators/run_state copies numbers, integers and arrays each at once
    *_single("integer", "is_terminated same_time still_events shrinking"),
    *_single("number", "t t_start step_new last_event last_interval interval_2 interval_3 last_factor shrink_from"),
    *_arrays("number", "y y_max", "n"),
    *_arrays("number", "p", "n_p"),
    *_arrays("number", "m", "n_m"),
    *_arrays("number", "conditions held", "n_conditions"),
    *_arrays("number", "sens", "n_sens", "n"),
    *_arrays("number", "sens_discrete", "n_sens", "n_discrete"),
    *_single("number", "t_end t_next t_held t_shown step step_old step_held step_accepted error_accepted length theta faccon"),
    *_single("number", "zeno_time step_before_event found_theta"),
    *_single("number", "reached sun_step_before not_finite_at time_size decided_to inside inside_of_largest sens_inside"),
    # how far behind the point y' is taken from where equations have no value at it
    *_single("number", "behind"),
    # the next time event, which a step may pass
    *_single("number", "t_event"),
    # the part of a step that a polynomial with a bound is made for; where the search for a root may end
    *_single("number", "model_reach looked_to"),
    *_single("integer", "model_at"),
    *_arrays("number", "ydot y_end y_held", "n"),
    *_arrays("number", "p_new dp", "n_p"),
    *_arrays("number", "m_old dm", "n_m"),
    # of m: discrete variables, their values before, what is to happen, how often clocks have ticked, falls of states; a grazing's guard, time, slope
    _part_of_m("discrete", "n_discrete"),
    _part_of_m("previous", "n_discrete"),
    _part_of_m("flags", "n_actions"),
    _part_of_m("counts", "n_clocks"),
    _part_of_m("drops", "n_dropping"),
    _part_of_m("grazing", 3),
    _part_of_m("form", "n_forms"),
    *_arrays("number", "coefficients", "max_degree", "n"),
    *_arrays("number", "conditions_now", "n_conditions"),
    *_arrays("number", "stops", "n_stops_room"),
    *_arrays("number", "outputs", "n_outputs"),
    *_arrays("number", "told", 1),
    # F4 and F5, what they may be, how large they have been; what projects onto them; the one that is too large, and why that was not mended
    *_arrays("number", "constraints constraint_scale drift drift_of_derivatives", "n_constraints"),
    *_arrays("number", "constraint_system", "n_constraints", "n_constraints"),
    *_arrays("number", "constraint_slopes", "n_constraints", "n"),
    *_single("integer", "off_constraint off_why"),
    *_single("number", "off_by"),
    # divisors at points of a step; the one that comes to zero, where in the step and when; rates about that point
    *_arrays("number", "divisor_values", 4, "n_peaks"),
    *_arrays("number", "divisor_scratch", "n_peaks"),
    # the same for peaks; a place before one that the step has missed, and how wide it is, in units of time
    *_arrays("number", "peak_values", 11, "n_peaks"),
    *_single("number", "pulse_theta pulse_width"),
    # what the equations say and the polynomial does not: at a place apart from peaks, and at the one that is looked at; whose is that of a peak
    *_arrays("number", "defects_apart defects_here", "n"),
    *_arrays("integer", "is_missed", "n"),
    *_single("integer", "failed_divisor"),
    *_single("number", "pole_theta pole_time"),
    # 1 where the method itself has seen that no divisor comes near zero in the step just taken
    *_single("integer", "is_clear"),
    *_arrays("number", "pole_point pole_rate pole_far pole_numerators", "n"),
]

_EVENTS: Final = [
    # guards, their slopes, round-off level at this point and at the start of the step, whether they matter; where those at rest were left, where
    # those lie that no event has brought there, and how fast they move, and where those of time are whose own time this is
    *_arrays("number", "g slopes nu nu_start active left_value rest_value rest_slope due_value", "n_guards"),
    *_arrays("integer", "rest_dies", "n_guards"),
    # whether states that rest at zeros have been put there at this instant
    *_single("integer", "is_exact"),
    # the least round-off level of each where it was more than that; 0 if it never was
    *_arrays("number", "nu_least", "n_guards"),
    # sides that trajectories leave to, guards of this event, those that at it got back once what is written for their zeros, ...
    *_arrays("integer", "sides crossed given_back held_sides marks flipped asleep flip_counts", "n_guards"),
    *_arrays("number", "guard_coefficients", "max_degree", "n_guards"),
    *_arrays("number", "guard_gradients", "n_gradients", "n_guards"),
    *_arrays("number", "late_scratch reach_scratch piece_slopes", "n_guards"),
    # how far each guard has been from its zero since it crossed it last, when and how fast it did; how often in a row it came from within the
    # tolerances, and since when; of how many that is said; how fast the guard of the event at hand crosses
    *_arrays("number", "farthest crossed_at crossed_with faint_since", "n_guards"),
    *_arrays("integer", "faint_events", "n_guards"),
    *_single("integer", "n_faint"),
    *_single("number", "crosses_with"),
    # of the crossing that was isolated last: the guard there with its round-off level, how fast it falls, 0 where that is not known; of the one that
    # the step ends at the guard there, times its sign
    *_single("number", "at_root falls_with at_found"),
    # 1 where its model tells that the series is told up to there, and the same of the crossing isolated last
    *_single("integer", "found_is_told is_told"),
    # times for which what is known of guards stands in memory, see events/known_values
    *_single("number", "late_at rounded_at guards_before_at slopes_before_at known_at"),
    # the guard, from 1 on, at which the run could not go on last, and when
    *_single("integer", "last_blocked"),
    # 1 where the step is to be shorter since rounding leaves nothing of a guard at its start
    *_single("integer", "is_unresolved"),
    # the guard, from 1 on, that was found to jump across at a pole
    *_single("integer", "at_pole"),
    # the guard, from 1 on, that comes to rest at its zero where the step ends
    *_single("integer", "came_to_rest"),
    *_single("number", "blocked_t blocked_step"),
    *_arrays("number", "proof_value proof_size", "n_examined"),
    *_arrays("number", "lower_scratch upper_scratch", "n_registers"),
    # for products of polynomials; zeros but where these write
    *_arrays("number", "product_room", 4 * LANES),
    *_arrays("number", "times times_scratch times_kept", "n_times"),
    *_arrays("number", "fired", "n_actions"),
    *_arrays("number", "steps_asked", "n_steps"),
    *_arrays("number", "body body_tangent", "n_body"),
    *_arrays("number", "m_trial", "n_modes"),
    # the point of the event before anything has happened, and after its mode was left
    *_arrays("number", "noted_y noted_ydot y_unsolved y_old ydot_before y_new f0", "n"),
    # how large the unknowns had been before it
    *_arrays("number", "size_before", "n"),
    *_arrays("number", "noted_g noted_slopes noted_active", "n_guards"),
    # what is put back where clauses are only tried, or where a simple event turns out not to be one
    *_arrays("number", "kept_m m_round", "n_m"),
    *_arrays("number", "kept_conditions kept_held", "n_conditions"),
    *_arrays("integer", "kept_held_sides", "n_guards"),
    *_arrays("number", "kept_sens_discrete", "n_sens", "n_discrete"),
    # trial moves, and what they said about this point in this mode
    *_arrays("number", "trial_middle trial_end trial_stage trial_rate trial_total", "n"),
    *_arrays("number", "trial_g_full trial_g_half trial_g_end slope_rounding", "n_guards"),
    *_single("number", "answered_t"),
    *_arrays("number", "answered_y", "n"),
    *_arrays("number", "answered_m", "n_m"),
    *_arrays("number", "answers", "n_guards"),
]

_LINEAR: Final = [
    # sizes: unknowns of dense, of sparse, of systems whose M is not diagonal, 0 in the others; of all: elements of J and of M
    *_single("integer", "is_sparse n_dense n_sparse n_sparse_ends n_padded n_coupled n_entries n_sparse_entries n_mass n_stage_entries"),
    *_single("integer", "room_factors n_patterns n_pairs"),
    # 1 once factors did not fit into their room
    *_single("integer", "lacks_room"),
    *_arrays("number", "jacobian jacobian_kept jacobian_of_base", "n_entries"),
    *_single("integer", "knows_base"),  # not 0 where the factors of ``factor_base`` are those of jacobian_of_base
    *_arrays("number", "mass", "n_mass"),
    *_arrays("number", "row_operations echelon", "n_coupled", "n_coupled"),
    *_arrays("number", "row_scale", "n"),
    # equations of a mode that ties states, see linear/forced: how many, which rows give way; their weights stand behind all else
    *_single("integer", "n_forced n_tied"),
    *_single("number", "forced_short"),
    *_arrays("integer", "forced_rows forced_marks", "n_tied"),
    *_arrays("number", "forced_scratch beside", "n"),
    # why they were not found; the unknown that would have been moved, and to what
    *_single("integer", "not_forced_why forced_unknown"),
    *_single("number", "forced_value"),
    *_arrays("number", "scratch_1 scratch_2 scratch_3 roundoff", "n"),
    *_arrays("integer", "real_pivots", REAL_SYSTEMS, "n_dense"),
    # the pattern by columns, where the diagonal is in it, the order of elimination and the rows wished for as pivots
    *_arrays("integer", "column_first", "n_sparse_ends"),
    *_arrays("integer", "entry_row", "n_sparse_entries"),
    *_arrays("integer", "diagonal column_order preferred_row", "n_sparse"),
    # which pattern each system uses
    *_arrays("integer", "pattern_of", "n_patterns"),
    *_arrays("number", "entries_scratch", "n_sparse_entries"),
    *_arrays("number", "column_scratch", "n_sparse"),
    *_arrays("number", "alike_scratch together_scratch", "n_padded"),
    *_arrays("integer", "reached_scratch stack_scratch stack_index_scratch mark_scratch", "n_sparse"),
]

_SENSITIVITIES: Final = [
    *_arrays("number", "sens_end sens_out sens_held sigma", "n_sens", "n"),
    *_arrays("number", "dt_dp clock_tau", "n_sens"),
]

_RECORDS: Final = [
    # what waits in the buffers, how much there is room for, how wide one is
    *_single("integer", "n_rows n_logged n_polynomials room_rows room_log room_polynomials wide_rows wide_log wide_polynomials n_asked next_output"),
    *_single(
        "integer", "c_steps c_rejected c_rhs c_jacobian c_factor c_newton c_newton_failed c_events c_flips c_resteps c_undecided c_examined c_proved"
    ),
]

_OF_RADAU: Final = [
    # whether Newton's iteration converged in the measure of its filter only
    *_single("integer", "is_doubtful"),
    # the matrix of a step, which filters errors too, is gain/step M - J
    *_single("number", "gain"),
    *_arrays("number", "scale rounding error error_inside", "n", owner=RADAU),
    *_arrays("number", "z z_kept f_stages residuals residuals_before coefficients_kept", MAX_STAGES, "n", owner=RADAU),
    *_arrays("number", "nodes", MAX_STAGES, owner=RADAU),
    *_arrays("number", "inverse", "stages", "stages", room=(MAX_STAGES, MAX_STAGES), owner=RADAU),
    *_arrays("complex", "pairs", "n_pairs", "n", owner=RADAU),
    *_arrays("integer", "complex_pivots", 2, "n_pairs", "n_dense", owner=RADAU),
    *_arrays("complex", "complex_entries_scratch", "n_sparse_entries", owner=RADAU),
    *_arrays("complex", "complex_column_scratch", "n_sparse", owner=RADAU),
    *_arrays("complex", "complex_alike_scratch complex_together_scratch", "n_padded", owner=RADAU),
    # rates at the stages, and all stages at once, for sensitivities
    *_arrays("number", "stage_jacobian", "n_stage_entries", owner=RADAU),
    *_arrays("number", "stage_rates", MAX_STAGES, "n", owner=RADAU),
    *_arrays("number", "z_whole", MAX_STAGES, "n", owner=RADAU),
    *_arrays("integer", "sens_pivots", "stages*n", room=("n_sens_system",), owner=RADAU),
    *_arrays("number", "sens_right sens_new", "n_sens", "stages*n", room=("n_sens", MAX_STAGES, "n"), owner=RADAU),
]

_OF_SUNDIALS: Final = [
    # handles of its memory and of vectors on y, ydot and y_end, its last flag, a word it writes to, and
    # how many steps in a row were as long as a rounding error of time
    *_single("integer", "sun_memory sun_y sun_ydot sun_end sun_flag sun_word tiny_steps"),
    # the vector of its error weights, where we change them
    *_single("integer", "sun_weights"),
    # 1 for y' = f: 0 for a residual; the factor of M in its systems
    *_single("integer", "sun_explicit"),
    *_single("number", "sun_shift"),
    # of a residual: the vector and the time of the last one, and the time of the system that is factored
    *_single("integer", "sun_point"),
    *_single("number", "sun_time sun_system_time"),
    *_arrays("number", "sun_jacobian", "n_entries", owner=SUNDIALS),
    *_arrays("integer", "sun_coefficients", "max_degree", owner=SUNDIALS),
    *_arrays("integer", "sun_sens sun_sens_dot sun_sens_end sun_sens_out", "n_sens", owner=SUNDIALS),
    *_arrays("number", "sens_dot", "n_sens", "n", owner=SUNDIALS),
    *_arrays("number", "motion_rate motion_moved motion_slopes motion_kept", "n", owner=SUNDIALS),
]

_OF_CLASSICAL: Final = [
    # of a method of fixed step: whether it extrapolates, and what it corrects
    *_single("integer", "looks_back corrects corrects_first"),
    # limits of step lengths, and what Hamming's history is
    *_single("integer", "max_halvings disc_halvings halvings known is_multistep was_multistep is_history_new is_refined is_halved"),
    *_single("number", "step_min spacing longest proposed"),
    # the step: its length, its end, its start, what the loop made of its length; the last one of fixed step; what rounding lost of the time
    *_single("number", "nominal until lane_time lane_step last_fixed time_remainder"),
    # the error test: the least quotient; the worst unknown, its estimated and its allowed error
    *_single("integer", "worst"),
    *_single("number", "quotient worst_error worst_allowed"),
    *_arrays("number", "lanes lanes_end lane_rates lane_rates_end remainders increments", "n_lanes", owner=CLASSICAL),
    *_arrays("number", "trial half_point half_rates first_half estimates differences", "n_lanes", owner=CLASSICAL),
    *_arrays("number", "k1 k2 k3 k4 k5 k6 k7 k8", "n_lanes", owner=CLASSICAL),
    *_arrays("number", "history history_rates", 6, "n_lanes", owner=CLASSICAL),
    *_arrays("number", "sens_coefficients", "max_degree", "n_sens*n", owner=CLASSICAL),
]

_OF_TAYLOR: Final = [
    # the functions that give the series of the unknowns, and of their derivatives in a direction as well, and that of a whole step; the order
    *_single("integer", "f_series f_series_tangent f_step series_order"),
    # the same for the two orders between which it chooses; how many steps in a row were cut so short that the low one is enough
    *_single("integer", "f_series_full f_series_full_tangent f_step_full full_order"),
    *_single("integer", "f_series_low f_series_low_tangent f_step_low low_order short_steps"),
    # where algebraic unknowns follow from the states by expressions: y' of all unknowns, and what the algebraic ones are; 0 otherwise
    *_single("integer", "f_rates f_followers"),
    # exp(-0.7 / (P - 1)) (tolerance)^(1 / P), of the order in use and of both
    *_single("number", "series_caution full_caution low_caution"),
    # how long the last step might have been
    *_single("number", "possible"),
    # how many steps in a row only stability has kept short, and the least and the greatest of what tells it
    *_single("integer", "stiff_steps crept_steps idle_steps"),
    *_single("number", "stiff_least stiff_most"),
    *_arrays("number", "series series_scratch", "n_series", owner=TAYLOR),
    # what a whole step is told and tells, see compiled/emit_taylor/whole_step, and the scales of unknowns in it
    *_arrays("number", "series_box", "n_series_box", owner=TAYLOR),
    *_arrays("number", "series_rate", "n", owner=TAYLOR),
    # 1 where series_rate is y' at the end of the step, and the first coefficients in series are those of that point and time
    *_single("integer", "is_started"),
    # 1 where the step that the loop asks for has been taken already
    *_single("integer", "is_taken is_chosen"),
    # divisors that whole steps watch: all or none; whether there are exponentials, and they watch them (``step_box``)
    *_single("integer", "n_watched exponentials"),
    # guards that whole steps watch, and how large unknowns may become before it is said anew how far these are to keep from their zeros
    *_single("integer", "n_far"),
    # how often it was asked in vain whether they are, and in how many steps it is not asked
    *_single("integer", "vain_times steps_not_asked"),
    *_arrays("number", "far_size", "n", owner=TAYLOR),
    *_single("number", "started_t"),
    # derivatives by parameters over a step, and how long that is while they are those of the step to be taken, else 0
    *_arrays("number", "series_sens", "max_degree", "n_sens*n", owner=TAYLOR),
    *_single("number", "sens_length"),
]

_OF_ROSENBROCK: Final = [
    *_arrays("number", "rosenbrock_stages", 8, "n", owner=ROSENBROCK),
    # df/dt
    *_arrays("number", "time_slopes", "n", owner=ROSENBROCK),
]

# What is large, and made anew in every run before it is read: factors, combinations of equations that tie states, parts of steps. It stands last, so
# that a run can begin again without copying it. Only the pattern that the structure gives, the first one, is put there at the beginning, and never
# written again.
_FACTORS: Final = [
    *_arrays("number", "real_factors", REAL_SYSTEMS, "n_dense", "n_dense"),
    # patterns of L and U, that of the structure and one for every system, real ones first: the step at which a row is the pivot, the last column
    # that is alike; values
    *_arrays("integer", "row_step last_alike", "n_patterns", "n_sparse"),
    *_arrays("integer", "lower_first upper_first", "n_patterns", "n_sparse_ends"),
    *_arrays("integer", "lower_row upper_row", "n_patterns", "room_factors"),
    *_arrays("number", "lower upper", REAL_SYSTEMS, "room_factors"),
    *_arrays("number", "reciprocals", REAL_SYSTEMS, "n_sparse"),
    *_arrays("complex", "complex_factors", 2, "n_pairs", "n_dense", "n_dense", owner=RADAU),
    *_arrays("complex", "complex_lower complex_upper", 2, "n_pairs", "room_factors", owner=RADAU),
    *_arrays("complex", "complex_reciprocals", 2, "n_pairs", "n_sparse", owner=RADAU),
    *_arrays("number", "forced_weights forced_algebraic forced_gradient forced_system forced_elimination", "n_tied", "n_tied"),
    *_arrays("number", "guard_models", "n_models", "part_width"),
    # 1 for models of what does not move: only their first element counts
    *_arrays("integer", "model_is_still", "n_models"),
    # how many plans there are, see events/guard_plans: zeros at first, and kept from run to run
    *_arrays("integer", "plan_counts", 2),
    # whose each plan is, where its value comes from, and what it was made for; the rows of the tape that move, the registers of numbers that they
    # read, and these
    *_arrays("integer", "planned_guard planned_value n_planned n_numbers", MOST_PLANS),
    *_arrays("number", "planned_for", MOST_PLANS, "n_read"),
    *_arrays("integer", "planned_rows planned_registers", MOST_PLANS, "n_models"),
    *_arrays("number", "planned_numbers", MOST_PLANS, "n_models"),
    *_arrays("number", "sens_system", "stages*n", "stages*n", room=("n_sens_system", "n_sens_system"), owner=RADAU),
    *_arrays("number", "bernstein_scratch", "part_width"),
    *_arrays("number", "parts_scratch", MOST_PARTS_AT_ONCE, "part_width"),
]

# arrays that stand behind those that a run must find as they were before the last one in the same memory: what nobody writes, or is as any call of
# the loop may leave it, ...
_AS_IT_IS: Final = frozenset("moving_rate kept_level grids constants zero nodes inverse product_room".split())
# ... and what is written before it is read
WRITTEN_FIRST: Final = frozenset(
    """
    coefficients conditions_now outputs y_end y_held m_old told constraint_system
    divisor_values divisor_scratch peak_values defects_apart defects_here pole_point pole_rate pole_far pole_numerators
    g slopes guard_coefficients guard_gradients late_scratch reach_scratch piece_slopes proof_value proof_size lower_scratch upper_scratch
    times_scratch body body_tangent m_trial noted_y noted_ydot y_unsolved y_old ydot_before y_new f0 size_before noted_g noted_slopes noted_active
    kept_m m_round kept_conditions kept_held kept_sens_discrete trial_middle trial_end trial_stage trial_rate trial_total
    trial_g_full trial_g_half trial_g_end slope_rounding answered_y answered_m answers
    jacobian_kept jacobian_of_base row_operations echelon row_scale forced_scratch beside scratch_1 scratch_2 scratch_3 roundoff
    entries_scratch column_scratch alike_scratch together_scratch sens_end sens_out sens_held
    scale rounding error error_inside z z_kept f_stages residuals residuals_before coefficients_kept stage_rates z_whole pairs
    series series_scratch series_rate series_sens time_slopes
    """.split()
)
# integers in arrays that nobody writes
LASTING_ARRAYS: Final = tuple(field.name for field in _FACTS if field.kind == "integer" and field.shape is not None)
_STANDS_BEHIND: Final = frozenset([*_AS_IT_IS, *WRITTEN_FIRST, *LASTING_ARRAYS, *(field.name for field in _FACTORS)])


def _begins_again(field: Field) -> bool:
    """Whether a run must find an entry as it was."""
    return field.shape is None or bool(field.part_of) or field.name not in _STANDS_BEHIND


_ALL: Final = (
    *_SIZES, *_FUNCTIONS, *_FACTS, *_OPTIONS, *_STATE, *_EVENTS, *_LINEAR, *_SENSITIVITIES, *_RECORDS, *_OF_RADAU, *_OF_SUNDIALS,
    *_OF_CLASSICAL, *_OF_TAYLOR, *_OF_ROSENBROCK, *_FACTORS,
)  # fmt: skip
_BEHIND: Final = [field for field in _ALL if not _begins_again(field)]
FIELDS: Final[tuple[Field, ...]] = (*filter(_begins_again, _ALL), *_BEHIND)
# for each kind of number the first array that a run can begin again without
FIRST_WRITTEN: Final = {
    kind: next(field.name for field in _BEHIND if (field.kind == "integer") == (kind == "integer")) for kind in ("integer", "number")
}

# integers that nobody writes once the memory is laid out: sizes, where arrays begin
FIXED: Final = frozenset([*(field.name for field in FIELDS if field.shape is not None and not field.part_of), *(field.name for field in _SIZES)])
# integers that stay as they are from the start of a run to its end: these, functions, facts of the model
LASTING: Final = (
    FIXED
    | {field.name for field in (*_FUNCTIONS, *_FACTS) if field.kind == "integer" and field.shape is None}
    | {"wants_event_rows", "wants_step_rows", "keeps_polynomials", "stages_wanted"}
) - {"rank", "address_h", "address_r"}
FUNCTIONS: Final = tuple(field.name for field in _FUNCTIONS if field.name in LASTING)  # integers that are addresses
