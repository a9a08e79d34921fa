#include "plait/collective/reproducible_sum.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/collective/node/reducer.hpp"
#include "plait/collective/node/sliced_messages.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/simd/exact/reproducible_sum.hpp"

#include "support/ranks.hpp"
#include "unit/simd/addends.hpp"
#include "unit/simd/naive_exact_sum.hpp"

namespace {

using plait::Index;
using plait::collective::reproducible_sum;
using plait::collective::ReproducibleSum;
using plait::collective::SlicedMessages;
using plait::mpi::Context;
using plait::schedule::Combine;
using plait::simd::Element;
using plait::simd::ExactSum;
using plait::simd::test::addends;
using plait::simd::test::all_addends;
using plait::simd::test::naive_exact_sum;

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// What the sums are to be, from all ranks' numbers: rank r has the elements addends(kind, P, seed + i)[r].
template <class T>
struct Distributed {
  Distributed(plait::simd::test::Addends kind, std::size_t n, int rank, int ranks, std::uint64_t seed) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::vector<T> column = addends<T>(kind, static_cast<std::size_t>(ranks), 100000 * seed + i);
      own.push_back(column[static_cast<std::size_t>(rank)]);
      sums.push_back(naive_exact_sum<T>(column));
    }
  }
  std::vector<T> own;
  std::vector<T> sums;
};

template <class T>
class ReproducibleSums : public ::testing::Test {
 protected:
  Context context{plait::test::test_comm()};
  int rank = context.rank();
  int ranks = context.size();
};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ReproducibleSums, Reals);

template <class T>
void expect_same(const std::vector<T>& sums, const std::vector<T>& expected, const std::string& which) {
  ASSERT_EQ(sums.size(), expected.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    ASSERT_TRUE(same_bits(sums[i], expected[i]))
        << which << ", element " << i << ": " << sums[i] << " instead of " << expected[i];
  }
}

// In a row, so that scratch memory and slots are used again by others.
TYPED_TEST(ReproducibleSums, of_arrays_are_exact_and_rounded_once) {
  using T = TypeParam;
  constexpr Element element = plait::simd::element_of<T>();
  ReproducibleSum sum(this->context);
  SlicedMessages messages(this->context);
  for (const auto kind : all_addends) {
    for (const std::size_t n : {0U, 1U, 2U, 37U, 600U}) {
      const Distributed<T> data(kind, n, this->rank, this->ranks, n + 1);
      const std::string which =
          "kind " + std::to_string(static_cast<int>(kind)) + ", " + std::to_string(n) + " elements";
      const auto count = static_cast<Index>(n);
      std::vector<T> out(n, T(-1));
      sum.allreduce(data.own.data(), out.data(), count, element);
      expect_same(out, data.sums, which);
      out = data.own;
      sum.allreduce(std::span<T>(out));
      expect_same(out, data.sums, which + " in place");

      out.assign(n, T(-1));
      const auto* const in = reinterpret_cast<const std::byte*>(data.own.data());
      messages.allreduce(in, reinterpret_cast<std::byte*>(out.data()), count, Combine::reproducible_sum(element));
      expect_same(out, data.sums, which + " by messages");
      out = data.own;
      auto* const target = reinterpret_cast<std::byte*>(out.data());
      messages.allreduce(target, target, count, Combine::reproducible_sum(element));
      expect_same(out, data.sums, which + " by messages in place");

      for (const int root : {0, this->ranks - 1}) {
        const bool is_root = this->rank == root;
        out.assign(n, T(-1));
        sum.reduce(data.own.data(), is_root ? out.data() : nullptr, count, root, element);
        expect_same(out, is_root ? data.sums : std::vector<T>(n, T(-1)), which + " to root");
        out.assign(n, T(-1));
        messages.reduce(in, is_root ? target : nullptr, count, root, Combine::reproducible_sum(element));
        expect_same(out, is_root ? data.sums : std::vector<T>(n, T(-1)), which + " to root by messages");
      }
    }
  }
}

// The multiset of addends is the same whatever the number of ranks, and so is each sum.
TYPED_TEST(ReproducibleSums, of_distributed_numbers_are_the_same_for_all_numbers_of_ranks_and_splits) {
  using T = TypeParam;
  for (const auto kind : all_addends) {
    const std::vector<T> all = addends<T>(kind, 20000, 17);
    const T expected = naive_exact_sum<T>(all);
    for (const Index stride : {1, 7}) {  // shares of equal length, or ever longer ones
      const auto begin_of = [&](Index r) {
        const auto size = static_cast<Index>(all.size());
        return all.begin() + (stride == 1 ? size * r / this->ranks : size * r * r / (Index{this->ranks} * this->ranks));
      };
      const std::vector<T> own(begin_of(this->rank), begin_of(this->rank + 1));
      const T sum = reproducible_sum<T>(this->context, own);
      EXPECT_TRUE(same_bits(sum, expected)) << static_cast<int>(kind) << ": " << sum << " instead of " << expected;
    }
  }
}

TYPED_TEST(ReproducibleSums, of_complex_numbers_are_those_of_their_parts) {
  using T = TypeParam;
  using C = std::complex<T>;
  const std::vector<T> real = addends<T>(plait::simd::test::Addends::cancelling, 5000, 3);
  const std::vector<T> imaginary = addends<T>(plait::simd::test::Addends::alike, 5000, 4);
  std::vector<C> own;
  for (auto i = static_cast<std::size_t>(this->rank); i < real.size(); i += static_cast<std::size_t>(this->ranks)) {
    own.emplace_back(real[i], imaginary[i]);
  }
  const C sum = reproducible_sum<C>(this->context, own);
  EXPECT_TRUE(same_bits(sum, C(naive_exact_sum<T>(real), naive_exact_sum<T>(imaginary))));

  ReproducibleSum sums(this->context);
  std::vector<C> array(10, C(T(this->rank), T(1)));
  sums.allreduce(std::span<C>(array));
  EXPECT_EQ(array, std::vector<C>(10, C(T(this->ranks * (this->ranks - 1) / 2), T(this->ranks))));
}

using ReproducibleSumsOf = ReproducibleSums<double>;

TEST_F(ReproducibleSumsOf, nothing_and_of_one_ranks_numbers) {
  EXPECT_TRUE(same_bits(reproducible_sum<double>(context, {}), 0.0));
  const std::vector<double> own(rank == ranks - 1 ? 1 : 0, -0.0);
  EXPECT_TRUE(same_bits(reproducible_sum<double>(context, own), -0.0));
}

TEST_F(ReproducibleSumsOf, arrays_that_take_several_rounds_of_messages) {
  SlicedMessages messages(context);
  const std::size_t n = 700'001;  // 5.6 MB
  std::vector<double> data(n);
  for (std::size_t i = 0; i < n; ++i) data[i] = static_cast<double>(i) * (rank + 1);
  auto* const bytes = reinterpret_cast<std::byte*>(data.data());
  messages.allreduce(bytes, bytes, Index{n}, Combine::reproducible_sum(Element::float64));
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_EQ(data[i], static_cast<double>(i) * (ranks * (ranks + 1) / 2.0)) << i;  // NOLINT(bugprone-integer-division)
  }
}

// The result of a rank comes to lie where operands of earlier shares, or its own, were.
TEST_F(ReproducibleSumsOf, shares_come_by_messages_in_place) {
  SlicedMessages messages(context);
  const Combine sum = Combine::reproducible_sum(Element::float64);
  for (const Index share : {Index{3}, Index{200'001}}) {
    std::vector<Index> counts(static_cast<std::size_t>(ranks));
    for (std::size_t r = 0; r < counts.size(); ++r) counts[r] = share * (static_cast<Index>(r) % 3);
    const Index n = std::accumulate(counts.begin(), counts.end(), Index{0});
    const Index begin = std::accumulate(counts.begin(), counts.begin() + rank, Index{0});
    std::vector<double> data(static_cast<std::size_t>(std::max(n, share * ranks)));
    const auto expect_share = [&](Index first, Index length) {
      for (Index i = 0; i < length; ++i) {
        ASSERT_EQ(data[static_cast<std::size_t>(i)], static_cast<double>((first + i) * ranks * (ranks + 1) / 2)) << i;
      }
    };
    const auto fill = [&] {
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<double>(i) * (rank + 1);
    };
    fill();
    messages.reduce_scatter(data.data(), data.data(), counts, sum);
    expect_share(begin, counts[static_cast<std::size_t>(rank)]);
    fill();
    messages.reduce_scatter_block(data.data(), data.data(), share, sum);
    expect_share(rank * share, share);
  }
}

TEST_F(ReproducibleSumsOf, slices_come_from_the_nodes_reducer_as_well) {
  plait::collective::NodeReducer reducer(context);
  const std::size_t share = 300;
  const auto n = share * static_cast<std::size_t>(ranks);
  const Distributed<double> data(plait::simd::test::Addends::cancelling_late, n, rank, ranks, 9);
  std::vector<double> out(share);
  reducer.reduce_scatter_block(data.own.data(), out.data(), Index{share}, Combine::reproducible_sum(Element::float64));
  const auto begin = data.sums.begin() + static_cast<std::ptrdiff_t>(share) * rank;
  expect_same(out, {begin, begin + share}, "slice");
}

TEST_F(ReproducibleSumsOf, many_at_a_time_are_merged) {
  std::vector<ExactSum> sums(37);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i].add(1e300);
    sums[i].add(static_cast<double>(i) + rank);
    sums[i].add(-1e300);
  }
  plait::collective::merge(context, sums);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_EQ(sums[i].rounded<double>(), static_cast<double>(i) * ranks + ranks * (ranks - 1) / 2.0);
  }
}

TEST_F(ReproducibleSumsOf, elements_that_cannot_be_summed_up_so_are_refused_on_all_ranks) {
  ReproducibleSum sum(context);
  std::int32_t integer = 1;
  EXPECT_THROW(sum.allreduce(&integer, &integer, 1, Element::int32), plait::ArgumentError);
  double number = rank;
  EXPECT_THROW(sum.allreduce(&number, &number, -1, Element::float64), plait::ArgumentError);
  EXPECT_THROW(sum.reduce(&number, &number, 1, ranks, Element::float64), plait::ArgumentError);
  sum.allreduce(std::span<double>(&number, 1));
  EXPECT_EQ(number, ranks * (ranks - 1) / 2.0);
}

}  // namespace
