#include "plait/model/algorithms.hpp"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"

namespace {

using namespace plait::model;

template <class A>
class Algorithms : public ::testing::Test {};
using All = ::testing::Types<BroadcastAlgorithm, ReduceAlgorithm, AllreduceAlgorithm, AllGatherAlgorithm,
                             ReduceScatterAlgorithm, AllToAllAlgorithm>;
TYPED_TEST_SUITE(Algorithms, All);

TYPED_TEST(Algorithms, have_names_of_their_own_that_are_read_back) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < algorithms<TypeParam>; ++i) {
    const auto algorithm = static_cast<TypeParam>(i);
    names.insert(to_string(algorithm));
    EXPECT_EQ(parse_algorithm<TypeParam>(to_string(algorithm)), algorithm);
  }
  EXPECT_EQ(names.size(), algorithms<TypeParam>);
}

TEST(Algorithm, that_does_not_exist_is_refused_with_those_that_do) {
  EXPECT_THAT(plait::test::message_of<plait::ArgumentError>([] { return parse_algorithm<BroadcastAlgorithm>("ring"); }),
              "'ring' is no algorithm of broadcast; expected one of "
              "chain, binomial, scatter-all-gather, scatter-doubling");
  EXPECT_EQ(to_string(AllreduceAlgorithm::recursive_doubling), "recursive-doubling");
}

}  // namespace
