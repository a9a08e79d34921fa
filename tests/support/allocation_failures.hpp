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

/// Each allocation that the last rank makes in f fails once: then f throws on all ranks, or does without on all. For
/// programs that have allocated_bytes.cpp among their sources.
/// \param skipped  of the allocations beyond the first ones, about so many parts in 16 of all before, where f makes
/// many
template <class F>
void expect_one_end_on_all_ranks(const F& f, std::size_t skipped = 0) {
  const auto comm = mpi::Communicator::borrowed(test_comm());
  int refused = 1;
  for (std::size_t number = 0; refused == 1; number += 1 + number * skipped / 16) {
    int failed = 0;
    std::string text;
    if (rank() == ranks() - 1) fail_allocation_after(number);
    try {
      f();
    } catch (const std::exception& error) {
      failed = 1;
      text = error.what();
    }
    refused = mpi::all_reduce(comm, has_failed_allocation() ? 1 : 0, mpi::Operation::maximum());
    ASSERT_EQ(failed, mpi::all_reduce(comm, failed, mpi::Operation::maximum())) << number << ": " << text;
    ASSERT_TRUE(refused == 1 || failed == 0) << text;
  }
}

}  // namespace plait::test
