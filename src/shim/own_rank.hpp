#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <string_view>

namespace plait::shim {

/// The rank that the launcher gave this process; empty where none did.
[[nodiscard]] std::string_view launched_rank();

/// Which of all processes this one is. It is learnt while MPI runs, and asked for when MPI may have ended.
class OwnRank {
 public:
  /// Does nothing when it is known.
  /// \pre  MPI runs
  void learn();

  /// False in programs without MPI, such as the launcher itself, and in what a process forked.
  [[nodiscard]] bool is_zero() const;

 private:
  pid_t process_ = ::getpid();
  int rank_ = -1;
};

}  // namespace plait::shim
