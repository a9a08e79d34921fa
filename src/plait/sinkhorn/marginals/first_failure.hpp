#pragma once

#include <cstddef>
#include <exception>

#include "plait/mpi/context.hpp"

namespace plait::sinkhorn {

/// Checks of several problems by as few messages as of one: the first problem that fails on any rank is the one that
/// all ranks tell of, by the text of the lowest rank on which it does.
class FirstFailure {
 public:
  explicit FirstFailure(std::size_t problems) : problems_(problems), first_(problems) {}

  /// Calls check(k) for each problem before the first one that failed so far, until one throws. Collective over
  /// `context`; one all-reduce.
  template <class F>
  void check_each(mpi::Context& context, const F& check) {
    std::size_t own = first_;
    std::exception_ptr failure;
    for (std::size_t k = 0; k < own; ++k) {
      try {
        check(k);
      } catch (...) {
        failure = std::current_exception();
        own = k;
      }
    }
    note(context, own, failure);
  }

  /// The number of the first problem that failed: of all problems, if none did. The same on all ranks.
  [[nodiscard]] std::size_t first() const noexcept { return first_; }

  /// Collective over `context`; no message where nothing failed.
  ///
  /// \throws  on all ranks, as `mpi::agree`: what the check of the first problem that failed threw
  void expect_none(mpi::Context& context) const;
  /// The same, but an ArgumentError names the problem: "marginals 3: ...".
  void expect_none_of_several(mpi::Context& context) const;

 private:
  void note(mpi::Context& context, std::size_t own, const std::exception_ptr& failure);

  std::size_t problems_;
  std::size_t first_;
  std::exception_ptr failure_;  // of the first one, where it failed on this rank
};

}  // namespace plait::sinkhorn
