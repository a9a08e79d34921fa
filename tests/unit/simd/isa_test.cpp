#include "plait/simd/isa.hpp"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/simd/transform/transpose.hpp"

#include "support/message_of.hpp"

namespace plait::simd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr bool on_x86 =
#if defined(__x86_64__)
    true;
#else
    false;
#endif

TEST(Isa, IsFoundByItsName) {
  for (const Isa isa : isas) EXPECT_EQ(parse_isa(name(isa)), isa);
}

TEST(Isa, OfAnUnknownNameIsAnArgumentErrorThatNamesWhatIsAllowed) {
  for (const char* unknown : {"", "AVX2", "avx", "avx2 "}) {
    EXPECT_THAT(plait::test::message_of<ArgumentError>([&] { return parse_isa(unknown); }),
                AllOf(HasSubstr("\"" + std::string(unknown) + "\""),
                      HasSubstr("scalar, ssse3, sse4, avx2, avx512, neon, sve, sve2")));
  }
}

TEST(SupportedIsas, AreOrderedBestFirstAndEndWithScalar) {
  const auto supported = supported_isas();
  ASSERT_FALSE(supported.empty());
  EXPECT_EQ(supported.front(), best_isa());
  EXPECT_EQ(supported.back(), Isa::scalar);
  for (std::size_t i = 1; i < supported.size(); ++i) EXPECT_GT(supported[i - 1], supported[i]);
  for (const Isa isa : isas) {
    EXPECT_EQ(is_supported(isa), std::find(supported.begin(), supported.end(), isa) != supported.end()) << name(isa);
  }
}

#if defined(__x86_64__) && !defined(__SSSE3__)
TEST(SupportedIsas, AreThoseThatTheCompilersOwnLookAtTheProcessorFinds) {
  EXPECT_EQ(is_supported(Isa::ssse3), __builtin_cpu_supports("ssse3") != 0);
  EXPECT_EQ(is_supported(Isa::avx2), __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(is_supported(Isa::avx512),
            __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512cd") != 0);
}
#endif

TEST(BestIsa, UnderACapIsTheBestOneThatIsNoBetter) {
  EXPECT_EQ(best_isa_within(Isa::scalar), Isa::scalar);
  for (const Isa cap : supported_isas()) EXPECT_EQ(best_isa_within(cap), cap);
}

TEST(BestIsa, UnderACapOfAnotherArchitectureIsAnArgumentErrorThatNamesThoseOfThisOne) {
  const Isa foreign = on_x86 ? Isa::neon : Isa::avx2;
  EXPECT_THAT(plait::test::message_of<ArgumentError>([&] { return best_isa_within(foreign); }),
              AllOf(HasSubstr("\"" + std::string(name(foreign)) + "\""), HasSubstr("another processor architecture"),
                    HasSubstr(on_x86 ? "scalar, ssse3, sse4, avx2, avx512" : "neon")));
}

#if PLAIT_ASSERT_LEVEL >= 1
TEST(Kernels, RefuseAnInstructionSetThatTheMachineDoesNotHave) {
  const Isa foreign = on_x86 ? Isa::neon : Isa::avx2;
  const double source = 1;
  double target = 0;
  EXPECT_THROW(transpose(1, 1, reinterpret_cast<const std::byte*>(&source), 1, reinterpret_cast<std::byte*>(&target), 1,
                         8, foreign),
               ContractViolation);
}
#endif

}  // namespace
}  // namespace plait::simd
