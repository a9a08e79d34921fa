#pragma once

#include <mpi.h>

#include <string>

namespace plait::mpi {

/// Whether the MPI is a simulated one, SimGrid's SMPI. There time goes by only while ranks block in a call of MPI, and
/// stands still while they poll.
#ifdef SMPI_H
inline constexpr bool is_simulated = true;
#else
inline constexpr bool is_simulated = false;
#endif

/// MPI for the lifetime of a program: initialises it (MPI_THREAD_FUNNELED) unless the program has done so, and then
/// ends it. For commands and examples; the library itself only uses what it is given.
class Environment {
 public:
  /// \param all  the communicator of all processes that the launcher started
  /// \throws MpiError  if this process was started by the launcher of another MPI, which makes every process a job of
  ///                   its own: all would do the same work and write the same files
  Environment(int& argc, char**& argv, MPI_Comm all);
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment();

 private:
  bool owns_ = false;
};

/// Whether MPI has ended: what outlives it has nothing left to wait for or to free.
[[nodiscard]] bool is_finalized() noexcept;

/// The MPI library in use and its version, such as "Open MPI 4.1.4".
[[nodiscard]] std::string library_version();

}  // namespace plait::mpi
