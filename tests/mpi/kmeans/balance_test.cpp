#include "plait/kmeans/balance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/mpi/context.hpp"

#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using Labels = std::vector<std::int32_t>;
constexpr Index coordinates = 2;

/// Whole numbers, many of which are as far from a centre as others; most are near the first centres.
template <class T>
std::vector<T> points_of(Index rows) {
  std::vector<T> x;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(rows * coordinates); ++i) {
    const double u = random_uniform(1, i);
    x.push_back(static_cast<T>(std::floor(20 * u * u)));
  }
  return x;
}

template <class T>
double squared(const T* a, const T* b) {
  return std::pow(double{a[0]} - double{b[0]}, 2) + std::pow(double{a[1]} - double{b[1]}, 2);
}

template <class T>
std::int32_t nearest(const T* point, const std::vector<T>& centres, const std::vector<bool>& full) {
  std::int32_t best = -1;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < full.size(); ++j) {
    const double d = squared(point, centres.data() + j * coordinates);
    if (full[j] || d >= least) continue;
    best = static_cast<std::int32_t>(j);
    least = d;
  }
  return best;
}

/// By sorting all points of each cluster.
template <class T>
Labels balanced_by_sorting(const std::vector<T>& x, const std::vector<T>& centres, Labels labels) {
  const std::size_t clusters = centres.size() / coordinates;
  const std::size_t most = (labels.size() + clusters - 1) / clusters;
  std::vector<bool> full(clusters);
  while (true) {
    std::vector<std::vector<std::pair<double, std::size_t>>> members(clusters);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto j = static_cast<std::size_t>(labels[i]);
      members[j].emplace_back(squared(x.data() + i * coordinates, centres.data() + j * coordinates), i);
    }
    bool goes_on = false;
    for (std::size_t j = 0; j < clusters; ++j) {
      if (members[j].size() > most) goes_on = full[j] = true;
    }
    if (!goes_on) return labels;
    for (auto& its : members) {
      std::ranges::sort(its);
      for (std::size_t i = most; i < its.size(); ++i) {
        labels[its[i].second] = nearest(x.data() + its[i].second * coordinates, centres, full);
      }
    }
  }
}

template <class T>
struct Balance : ::testing::Test {
  mpi::Context context{test_comm()};
};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Balance, Numbers);

TYPED_TEST(Balance, clusters_keep_their_nearest_points_and_others_go_where_there_is_room) {
  using T = TypeParam;
  for (const auto& [rows, clusters] : {std::pair<Index, Index>{200, 7}, {64, 8}, {9, 9}, {5, 1}, {31, 30}}) {
    const std::vector<T> x = points_of<T>(rows);
    std::vector<T> centres;
    for (Index j = 0; j < clusters; ++j) {
      centres.push_back(static_cast<T>(j));
      centres.push_back(static_cast<T>(j % 3));
    }
    Labels labels;
    const std::vector<bool> none(static_cast<std::size_t>(clusters));
    for (Index i = 0; i < rows; ++i) labels.push_back(nearest(x.data() + i * coordinates, centres, none));
    const Labels expected = balanced_by_sorting(x, centres, labels);
    std::vector<double> sums(centres.size()), counts(centres.size() / coordinates);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto j = static_cast<std::size_t>(expected[i]);
      ++counts[j];
      for (std::size_t c = 0; c < coordinates; ++c) sums[j * coordinates + c] += double{x[i * coordinates + c]};
    }
    EXPECT_LE(std::ranges::max(counts), std::ceil(static_cast<double>(rows) / static_cast<double>(clusters)));
    for (const bool is_ragged : {false, true}) {
      const auto begin_of = [is_ragged, rows = rows](Index of) {
        return is_ragged ? rows * of * of / (ranks() * ranks()) : rows * of / ranks();
      };
      const Index begin = begin_of(rank()), own = begin_of(rank() + 1) - begin;
      const kmeans::Points<T> points(this->context, {x.data() + begin * coordinates, own, coordinates, coordinates});
      const auto found = kmeans::balanced<T>(
          points, {centres.data(), clusters, coordinates, coordinates},
          std::span(labels).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(own)));
      EXPECT_EQ(static_cast<Labels>(found.labels), Labels(expected.begin() + begin, expected.begin() + begin + own));
      for (std::size_t i = 0; i < centres.size(); ++i) {
        const double count = counts[i / coordinates];
        EXPECT_EQ(found.centres[i], count > 0 ? static_cast<T>(sums[i] / count) : centres[i]);
      }
    }
  }
}

TYPED_TEST(Balance, hears_of_ranks_that_have_other_centres) {
  using T = TypeParam;
  if (ranks() == 1) return;
  const std::vector<T> x = points_of<T>(6);
  const kmeans::Points<T> points(this->context, {x.data(), 6, coordinates, coordinates});
  const Labels labels(6);
  EXPECT_THAT(message_of<ArgumentError>(
                  [&] { return kmeans::balanced<T>(points, {x.data(), rank() == 1 ? 4 : 3, 2, 2}, labels); }),
              ::testing::HasSubstr("rank 1: number of centres: is 4, but 3 on rank 0"));
}

}  // namespace
}  // namespace plait::test
