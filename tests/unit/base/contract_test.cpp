#include "plait/base/contract.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Contract, that_is_broken_names_the_reason_the_condition_and_the_place) {
  try {
    plait::contract_violated("1 == 2", "numbers are equal", "somewhere.cpp", 42);
    FAIL() << "nothing was thrown";
  } catch (const plait::ContractViolation& violation) {
    EXPECT_THAT(violation.what(),
                AllOf(HasSubstr("numbers are equal"), HasSubstr("1 == 2"), HasSubstr("somewhere.cpp:42")));
  }
}

TEST(Contract, is_checked_from_its_level_on) {
  int evaluated = 0;
  const auto broken = [&] {
    ++evaluated;
    return false;
  };
  int expected = 0;
#if PLAIT_ASSERT_LEVEL >= 1
  EXPECT_THROW(PLAIT_ASSERT(broken(), "light"), plait::ContractViolation);
  ++expected;
#else
  EXPECT_NO_THROW(PLAIT_ASSERT(broken(), "light"));
#endif
#if PLAIT_ASSERT_LEVEL >= 2
  EXPECT_THROW(PLAIT_ASSERT_HEAVY(broken(), "heavy"), plait::ContractViolation);
  ++expected;
#else
  EXPECT_NO_THROW(PLAIT_ASSERT_HEAVY(broken(), "heavy"));
#endif
#if PLAIT_ASSERT_LEVEL >= 3
  EXPECT_THROW(PLAIT_ASSERT_COMMUNICATING(broken(), "communicating"), plait::ContractViolation);
  ++expected;
#else
  EXPECT_NO_THROW(PLAIT_ASSERT_COMMUNICATING(broken(), "communicating"));
#endif
  EXPECT_EQ(evaluated, expected) << "what is not checked is not evaluated";
}

TEST(Contract, that_holds_goes_unnoticed) {
  EXPECT_NO_THROW(PLAIT_ASSERT(true, "light"));
  EXPECT_NO_THROW(PLAIT_ASSERT_HEAVY(true, "heavy"));
  EXPECT_NO_THROW(PLAIT_ASSERT_COMMUNICATING(true, "communicating"));
}

}  // namespace
