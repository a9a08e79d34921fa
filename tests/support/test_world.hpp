#pragma once

#include <mpi.h>

namespace plait::test {

/// The communicators of a test program. Its main makes one, collectively, between MPI_Init and MPI_Finalize.
class TestWorld {
 public:
  TestWorld();
  ~TestWorld();
  TestWorld(const TestWorld&) = delete;
  TestWorld& operator=(const TestWorld&) = delete;

  [[nodiscard]] MPI_Comm tests() const noexcept { return tests_; }
  [[nodiscard]] MPI_Comm verdicts() const noexcept { return verdicts_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int ranks() const noexcept { return ranks_; }

 private:
  MPI_Comm tests_ = MPI_COMM_NULL;
  MPI_Comm verdicts_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 1;
};

}  // namespace plait::test
