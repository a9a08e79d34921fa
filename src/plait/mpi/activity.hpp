#pragma once

namespace plait::mpi {

/// Something on a context that has to be moved along for other ranks to get on: an active schedule.
class Activity {
 public:
  virtual ~Activity() = default;
  /// Does what can be done without waiting; true if there was anything. Errors are kept for the owner.
  virtual bool advance() noexcept = 0;
};

}  // namespace plait::mpi
