#pragma once

#include <cstddef>
#include <exception>
#include <string>

#include <gtest/gtest.h>

#include "plait/mpi/collectives.hpp"
#include "plait/mpi/communicator.hpp"

#include "support/allocated_bytes.hpp"
#include "support/ranks.hpp"

namespace plait::test {

/// Each allocation that the last rank makes in f fails once, of those in one place the first and the fourth: then f
/// throws on all ranks, or does without on all. For programs that are linked with plait_allocated_bytes.
template <class F>
void expect_one_end_on_all_ranks(const F& f) {
  const auto comm = mpi::Communicator::borrowed(test_comm());
  std::size_t number = 0;
  for (int refused = 1; refused == 1;) {
    int failed = 0;
    std::string text;
    if (rank() == ranks() - 1) fail_allocation_after(number);
    try {
      f();
    } catch (const std::exception& error) {
      failed = 1;
      text = error.what();
    }
    const auto refusal = failed_allocation();
    if (refusal) number = *refusal + 1;
    refused = mpi::all_reduce(comm, refusal ? 1 : 0, mpi::Operation::maximum());
    ASSERT_EQ(failed, mpi::all_reduce(comm, failed, mpi::Operation::maximum())) << number << ": " << text;
    ASSERT_TRUE(refused == 1 || failed == 0) << text;
  }
}

}  // namespace plait::test
