#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/simd/isa.hpp"

#include "support/message_of.hpp"

namespace plait::simd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(SelectedIsa, RefusesAnUnknownCapThenTakesAValidOneAndKeepsToIt) {
  ::setenv("PLAIT_ISA", "avx1024", 1);
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_THAT(test::message_of<ArgumentError>([] { return selected_isa(); }),
                AllOf(HasSubstr("PLAIT_ISA"), HasSubstr("\"avx1024\""),
                      HasSubstr("scalar, ssse3, sse4, avx2, avx512, neon, sve, sve2")));
  }
  const Isa worse = supported_isas().size() > 1 ? supported_isas()[1] : Isa::scalar;
  ::setenv("PLAIT_ISA", std::string(name(worse)).c_str(), 1);
  EXPECT_EQ(selected_isa(), worse);
  ::setenv("PLAIT_ISA", "scalar", 1);
  EXPECT_EQ(selected_isa(), worse);
}

}  // namespace
}  // namespace plait::simd
