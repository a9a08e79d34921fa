#include "shim/reduce/running.hpp"

#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "plait/mpi/handles.hpp"

#include "shim/own_rank.hpp"
#include "shim/reduce/kernels.hpp"
#include "shim/reduce/log.hpp"
#include "shim/reduce/presence.hpp"
#include "shim/reduce/world_wish.hpp"

namespace plait::shim::reduce::detail {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
constinit std::atomic<Phase> phase = Phase::unknown;

namespace {

int end_with_self(MPI_Comm /*comm*/, int /*key*/, void* /*value*/, void* /*extra*/) {
  end();
  return MPI_SUCCESS;
}

constexpr std::string_view open_mpi = "Open MPI";
constexpr bool is_for_open_mpi = std::string_view(PLAIT_MPI_FAMILY) == open_mpi;

// A program brings an MPI of its own, whose handles are others if it is not the one that this was compiled for. Only
// what all of them take alike may be called before that is known.
bool is_of_this_mpi() noexcept {
  std::array<char, 16384> version{};  // more than any of them writes
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  const bool is_open_mpi = std::string_view(version.data()).starts_with(open_mpi);
  return is_open_mpi == is_for_open_mpi;
}

// Handles of MPICH are shorter than those of Open MPI: what was made for the former would cut the latter's short on
// their way. That ends the program with a word, rather than without one.
void refuse_other_mpi() noexcept {
  const std::string_view rank = launched_rank();
  if (rank.empty() || rank == "0") {
    std::fputs(is_for_open_mpi ? "plait: warning: " : "plait: error: ", stderr);
    std::fputs("this program's MPI is another one than the " PLAIT_MPI_FAMILY
               " that libplait_reduce.so was built with: ",
               stderr);
    std::fputs(is_for_open_mpi ? "its reductions stay with its MPI\n"
                               : "run it without plait, or with plait built for its MPI\n",
               stderr);
  }
  if (!is_for_open_mpi) std::_Exit(EXIT_FAILURE);
}

}  // namespace

void end() noexcept {
  if (phase.exchange(Phase::ended, std::memory_order_acq_rel) == Phase::running) stop_learning_wish();
}

// MPI_Finalize deletes the attributes of MPI_COMM_SELF before it does anything else: that is noticed also where the
// program calls it by another name than those that are intercepted.
bool begin(bool in_init) noexcept {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  if (phase.load(std::memory_order_relaxed) != Phase::unknown) return phase.load() == Phase::running;
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized == 0 || finalized != 0) return false;
  if (!is_of_this_mpi()) {
    refuse_other_mpi();
    end();
    return false;
  }
  int key = MPI_KEYVAL_INVALID;
  if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_with_self, &key, nullptr) != MPI_SUCCESS) return false;
  if (MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr) != MPI_SUCCESS) return false;
  static_cast<void>(mpi::is_communicator(MPI_COMM_SELF));  // the first question, before the program frees any
  Log::of_program().begin(name(isa_of_program()));
  int world_rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  announce_presence(world_rank, is_reproducible_wanted());
  if (in_init && is_reproducible_wanted() && !is_job_on_one_node()) learn_wish_of_world();
  phase.store(Phase::running, std::memory_order_release);
  return true;
}

}  // namespace plait::shim::reduce::detail
