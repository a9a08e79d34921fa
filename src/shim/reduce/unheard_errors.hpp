#pragma once

namespace plait::shim::reduce {

/// While one lives, in whichever thread, MPI returns the errors of what belongs to no communicator, such as of a handle
/// that is none, and those on MPI_COMM_WORLD and MPI_COMM_SELF, without calling the program's error handlers. For
/// questions of plait's own, whose errors are no business of the program.
class UnheardErrors {
 public:
  UnheardErrors() noexcept;
  UnheardErrors(const UnheardErrors&) = delete;
  UnheardErrors& operator=(const UnheardErrors&) = delete;
  ~UnheardErrors();
};

}  // namespace plait::shim::reduce
