#pragma once

#include <atomic>

namespace plait::shim::reduce {

namespace detail {

enum class Phase : unsigned char { unknown, running, ended };

// MPI exists once in a process, and so does this.  NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
extern constinit std::atomic<Phase> phase;

bool begin(bool in_init) noexcept;
void end() noexcept;

}  // namespace detail

/// Whether MPI has begun and not ended, so that calls of it may be served; where not, it is MPI's to say so. It costs a
/// load but for the first time, and any thread may ask.
[[nodiscard]] inline bool mpi_is_running() noexcept {
  const detail::Phase now = detail::phase.load(std::memory_order_acquire);
  return now == detail::Phase::running || (now == detail::Phase::unknown && detail::begin(false));
}

/// At the end of MPI_Init, on all ranks: they announce themselves when all of them come here, so that none waits in
/// vain for one that reduces much later.
inline void start_serving() noexcept { detail::begin(true); }

/// From now on nothing is served. At the beginning of MPI_Finalize, on all ranks, so that what attributes of the
/// program call while they are deleted is served by all of them or none.
inline void stop_serving() noexcept { detail::end(); }

}  // namespace plait::shim::reduce
