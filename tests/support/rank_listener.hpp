#pragma once

#include <string>

#include <gtest/gtest.h>

#include "support/test_world.hpp"
#include "support/watchdog.hpp"

namespace plait::test {

/// Makes one verdict of the verdicts of all ranks, at the end of each test.
///
/// A test has failed if it failed on any rank; rank 0, which prints and writes the results, tells which. Ranks that did
/// not run the same test, or of which only some skipped it, fail. A rank above 0 prints its own failures at once, since
/// others may hang because of them.
class RankListener : public ::testing::EmptyTestEventListener {
 public:
  RankListener(const TestWorld& world, Watchdog& watchdog) : world_(world), watchdog_(watchdog) {}

  void OnTestStart(const ::testing::TestInfo& test) override;
  void OnTestPartResult(const ::testing::TestPartResult& part) override;
  void OnTestEnd(const ::testing::TestInfo& test) override;

 private:
  const TestWorld& world_;
  Watchdog& watchdog_;
  std::string test_ = "before the first test";  // GoogleTest itself can't be asked while it reports a failure
  bool agreeing_ = false;
};

}  // namespace plait::test
