#undef PLAIT_ASSERT_LEVEL
#define PLAIT_ASSERT_LEVEL 0
#include <gtest/gtest.h>

#include "plait/base/contract.hpp"

namespace {

TEST(ContractsOff, evaluate_nothing) {
  int evaluated = 0;
  const auto broken = [&] {
    ++evaluated;
    return false;
  };
  EXPECT_NO_THROW(PLAIT_ASSERT(broken(), "light"));
  EXPECT_NO_THROW(PLAIT_ASSERT_HEAVY(broken(), "heavy"));
  EXPECT_NO_THROW(PLAIT_ASSERT_COMMUNICATING(broken(), "communicating"));
  EXPECT_EQ(evaluated, 0);
}

}  // namespace
