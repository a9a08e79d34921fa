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

/// All tests, in the order in which main calls them.
#define PLAIT_TESTS(TEST)                                      \
  TEST(contexts_are_made_of_communicators)                     \
  TEST(layouts_place_every_element_as_the_formula_says)        \
  TEST(custom_layouts_and_parts_of_layouts_have_their_tiles)   \
  TEST(layouts_that_cannot_be_are_explained)                   \
  TEST(every_element_type_is_transformed)                      \
  TEST(batches_move_several_matrices_at_once)                  \
  TEST(executions_go_on_in_the_background)                     \
  TEST(only_what_is_needed_is_read_and_written)                \
  TEST(wrong_plans_fail_on_all_ranks)                          \
  TEST(wrong_operands_fail_on_all_ranks)                       \
  TEST(relabeling_finds_where_data_is)                         \
  TEST(costs_are_what_users_say)                               \
  TEST(wrong_relabelings_are_explained)                        \
  TEST(broadcasts_bring_what_the_root_has)                     \
  TEST(reductions_combine_what_all_ranks_have)                 \
  TEST(every_operation_of_mpi_is_there)                        \
  TEST(every_type_is_added_up)                                 \
  TEST(blocks_go_where_they_belong)                            \
  TEST(blocks_are_exchanged)                                   \
  TEST(own_operations_keep_their_order)                        \
  TEST(own_operations_that_fail_end_on_all_ranks)              \
  TEST(operations_go_on_in_the_background)                     \
  TEST(wrong_collective_operations_fail_on_all_ranks)          \
  TEST(computations_see_each_element_once)                     \
  TEST(stages_follow_each_other)                               \
  TEST(groups_have_pipelines_side_by_side)                     \
  TEST(computations_that_fail_end_on_all_ranks)                \
  TEST(wrong_pipelines_fail_on_all_ranks)                      \
  TEST(nodes_reduce_in_memory_of_any_kind)                     \
  TEST(nodes_take_operations_of_users)                         \
  TEST(sums_are_the_same_whoever_has_what)                     \
  TEST(wrong_reductions_of_nodes_fail_on_all_ranks)            \
  TEST(products_are_the_sums_of_their_terms)                   \
  TEST(products_tell_how_they_are_done)                        \
  TEST(wrong_products_fail_on_all_ranks)                       \
  TEST(symmetric_matrices_are_squared_and_cubed)               \
  TEST(matrices_are_multiplied_by_vectors)                     \
  TEST(density_matrices_are_projectors_onto_the_lowest_states) \
  TEST(hamiltonians_near_the_former_one_take_fewer_products)   \
  TEST(eigenstates_are_occupied_in_part)                       \
  TEST(density_matrices_go_step_by_step)                       \
  TEST(wrong_purifications_fail_on_all_ranks)                  \
  TEST(points_share_their_electrons)                           \
  TEST(wrong_points_fail_on_all_ranks)                         \
  TEST(matrices_are_scaled_to_sums)                            \
  TEST(plans_of_transport_have_their_masses)                   \
  TEST(wrong_scalings_fail_on_all_ranks)

#define PLAIT_DECLARE(name) void name(void);
PLAIT_TESTS(PLAIT_DECLARE)
