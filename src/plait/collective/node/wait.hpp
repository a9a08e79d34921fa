#pragma once

#include "plait/base/backoff.hpp"
#include "plait/mpi/context.hpp"

namespace plait::collective::node {

/// How a rank of a node waits for the others in a blocking call: for some microseconds by looking at nothing else
/// (giving its core away between two looks, where there are more ranks than cores), then as `Backoff` does, keeping MPI
/// and the activities of the context going, since the rank that it waits for may itself wait for a message of this one.
class Wait {
 public:
  explicit Wait(mpi::Context& context);

  /// Returns when `ready()` does true.
  template <class Ready>
  void until(Ready&& ready) const {
    for (int poll = 0; poll < polls_; ++poll) {
      if (ready()) return;
      pause();
    }
    Backoff backoff;
    while (!ready()) idle(backoff);
  }

 private:
  void pause() const noexcept;
  static void give_core() noexcept;
  void idle(Backoff& backoff) const noexcept;

  mpi::Context* context_;
  bool crowded_;
  int polls_;
};

inline void Wait::pause() const noexcept {
  if (crowded_) return give_core();
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace plait::collective::node
