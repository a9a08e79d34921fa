#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "plait/base/index.hpp"

#include "shim/own_rank.hpp"

namespace plait::shim::reduce {

/// MPI's collective reductions.
enum class Kind : unsigned char { reduce, allreduce, reduce_scatter, reduce_scatter_block, scan, exscan };
/// Which form of them: the one that returns with the result, the one that begins it, or the persistent one.
enum class Begin : unsigned char { and_end, at_once, at_each_start };

/// The intercepted routines: MPI_Reduce_local, then each kind of the first form, and so on.
enum class Routine : unsigned char { reduce_local };
[[nodiscard]] constexpr Routine routine_of(Kind kind, Begin begin) noexcept {
  return static_cast<Routine>(1 + 6 * static_cast<int>(begin) + static_cast<int>(kind));
}
inline constexpr std::size_t routine_count = 19;

/// What became of a call.
enum class Outcome : unsigned char {
  served,
  reduction,      ///< an operation, or a type, that is not predefined or not defined on each other
  requests,       ///< persistent requests, which this MPI lets nobody else make
  arguments,      ///< nothing to do, or what MPI may want to complain of
  size,           ///< so little data, or so few calls, that MPI is as fast
  meeting,        ///< enough of both, but no call before it in which all ranks met and could make what it takes
  communicator,   ///< of ranks that share no memory, between two groups, or with ranks that lack the library
  shared_memory,  ///< too little of it, or too many communicators that use it
  // Of calls that PLAIT_REPRODUCIBLE=1 is about, and whose order shows in their results:
  irreproducible_routine,       ///< the routine has no exact form, or not yet
  irreproducible_reduction,     ///< of an operation, or a type, of the program's own, or without an exact form
  irreproducible_communicator,  ///< between two groups
  irreproducible_memory,        ///< too little of it, or too many communicators that sum up so
};
inline constexpr std::size_t outcome_count = 12;

/// What became of the calls of this process. `PLAIT_LOG=summary` in the environment prints it to stderr when rank 0 of
/// all processes ends; without it, nothing is counted. Any thread may count.
class Log {
 public:
  /// The only one, printed and destroyed when the program ends.
  [[nodiscard]] static Log& of_program() {
    static Log log;
    return log;
  }

  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log();

  /// \param isa  with which reductions are served
  /// \pre  MPI runs; no other thread is here
  void begin(std::string_view isa) {
    rank_.learn();
    isa_ = isa;
  }

  [[nodiscard]] bool is_wanted() const noexcept { return wanted_; }

  void count(Routine routine, Outcome outcome, Index bytes) noexcept {
    if (wanted_) add(routine, outcome, bytes);
  }

  /// Says on stderr, once in the process, that a reduction that was to be reproducible is not.
  /// \param rank  of the caller in the communicator, whose rank 0 says so; where it is not known, rank 0 of all does
  void tell(Routine routine, Outcome why, std::optional<int> rank = std::nullopt) noexcept;

  /// Says on stderr, once as well, what is so where some ranks ask for reproducible sums and others do not. One of the
  /// former calls it.
  void tell_at_odds(std::string_view what) noexcept;

  /// \return  a line for each routine that was served, and for each reason to pass calls of it on
  [[nodiscard]] std::string text() const;

 private:
  Log();

  struct Count {
    std::atomic<Index> calls = 0;
    std::atomic<Index> bytes = 0;
  };

  void add(Routine routine, Outcome outcome, Index bytes) noexcept;

  bool wanted_;
  std::string_view isa_;
  std::atomic<bool> told_ = false;
  OwnRank rank_;
  std::array<std::array<Count, outcome_count>, routine_count> counts_;
};

}  // namespace plait::shim::reduce
