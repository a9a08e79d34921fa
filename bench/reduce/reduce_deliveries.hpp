#pragma once

namespace plait::bench {

/// Whether libplait_reduce.so stands before the MPI library, so that MPI_Allreduce is plait's and PMPI_Allreduce the
/// library's own: they can be timed in turn.
[[nodiscard]] bool is_preloaded();

/// Whether there is a component for Open MPI, by which all of its reductions are plait's.
[[nodiscard]] bool has_component();

/// Has Open MPI load the component on the first of so many ranks, and not on the others: these can be timed in turn.
/// Before MPI is started; does nothing on other numbers of ranks, or without a component.
void load_component_on_first_rank(int ranks);

/// After MPI has been started.
///
/// \throws Error  the component is not loaded on the first rank, or is on another one
void expect_component(int rank);

}  // namespace plait::bench
