#pragma once

#include <mpi.h>

#include "plait.h"

/// What the tests of the C API are written in: plain C, as its users write. A test is a function; main calls all of
/// them on all ranks, and tells in its exit status whether any check failed on any rank.

extern int this_rank;
extern int all_ranks;
extern plait_context* context;  ///< of all ranks

void check(int holds, const char* what, const char* file, int line);

/// Checks that a call returned `expected`, and that the text of the error then contains `part`.
void check_error(int code, int expected, const char* part, const char* call, const char* file, int line);

#define CHECK(condition) check(condition, #condition, __FILE__, __LINE__)
#define SUCCEEDS(call) check_error(call, PLAIT_SUCCESS, "", #call, __FILE__, __LINE__)
#define FAILS(call, code, part) check_error(call, code, part, #call, __FILE__, __LINE__)

/// The layout that a text describes; "{P}" in it stands for the number of ranks.
plait_layout* layout_of(const char* text, plait_index rows, plait_index columns);

void contexts_are_made_of_communicators(void);
void layouts_place_every_element_as_the_formula_says(void);
void custom_layouts_and_parts_of_layouts_have_their_tiles(void);
void layouts_that_cannot_be_are_explained(void);
void every_element_type_is_transformed(void);
void batches_move_several_matrices_at_once(void);
void executions_go_on_in_the_background(void);
void only_what_is_needed_is_read_and_written(void);
void wrong_plans_fail_on_all_ranks(void);
void wrong_operands_fail_on_all_ranks(void);
void relabeling_finds_where_data_is(void);
void costs_are_what_users_say(void);
void wrong_relabelings_are_explained(void);
void broadcasts_bring_what_the_root_has(void);
void reductions_combine_what_all_ranks_have(void);
void every_operation_of_mpi_is_there(void);
void every_type_is_added_up(void);
void blocks_go_where_they_belong(void);
void blocks_are_exchanged(void);
void own_operations_keep_their_order(void);
void own_operations_that_fail_end_on_all_ranks(void);
void operations_go_on_in_the_background(void);
void wrong_collective_operations_fail_on_all_ranks(void);
void computations_see_each_element_once(void);
void stages_follow_each_other(void);
void groups_have_pipelines_side_by_side(void);
void computations_that_fail_end_on_all_ranks(void);
void wrong_pipelines_fail_on_all_ranks(void);
void nodes_reduce_in_memory_of_any_kind(void);
void nodes_take_operations_of_users(void);
void sums_are_the_same_whoever_has_what(void);
void wrong_reductions_of_nodes_fail_on_all_ranks(void);
void products_are_the_sums_of_their_terms(void);
void products_tell_how_they_are_done(void);
void wrong_products_fail_on_all_ranks(void);
void symmetric_matrices_are_squared_and_cubed(void);
void matrices_are_multiplied_by_vectors(void);
void density_matrices_are_projectors_onto_the_lowest_states(void);
void hamiltonians_near_the_former_one_take_fewer_products(void);
void eigenstates_are_occupied_in_part(void);
void density_matrices_go_step_by_step(void);
void wrong_purifications_fail_on_all_ranks(void);
void points_share_their_electrons(void);
void wrong_points_fail_on_all_ranks(void);
void matrices_are_scaled_to_sums(void);
void plans_of_transport_have_their_masses(void);
void wrong_scalings_fail_on_all_ranks(void);
