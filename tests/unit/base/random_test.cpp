#include "plait/base/random.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace {

using plait::random_bits;
using plait::random_uniform;

constexpr std::uint64_t seeds[] = {0, 1, 2, 42, ~0ULL};

// Computed by another program.
TEST(Random, gives_the_same_numbers_on_every_machine) {
  EXPECT_EQ(random_bits(0, 0), 0xa706dd2f4d197e6fU);
  EXPECT_EQ(random_bits(1, 1000), 0xcd60691d743dac6cU);
}

TEST(Random, depends_on_the_place_and_not_on_the_order) {
  std::vector<std::uint64_t> forwards;
  std::vector<std::uint64_t> backwards(1000);
  for (std::uint64_t i = 0; i < 1000; ++i) forwards.push_back(random_bits(7, i));
  for (std::uint64_t i = 1000; i-- > 0;) backwards[i] = random_bits(7, i);
  EXPECT_EQ(forwards, backwards);
}

TEST(Random, repeats_no_number_and_no_seed) {
  std::set<std::uint64_t> seen;
  for (const std::uint64_t seed : seeds) {
    for (std::uint64_t i = 0; i < 20000; ++i) seen.insert(random_bits(seed, i));
  }
  EXPECT_EQ(seen.size(), 20000 * std::size(seeds));
}

// Chi-square over 256 bins: 255 in the mean, with a standard deviation of 22.6.
TEST(Random, is_uniform) {
  for (const std::uint64_t seed : seeds) {
    constexpr int bins = 256;
    constexpr int samples = 256 * 400;
    std::vector<int> counts(bins, 0);
    for (std::uint64_t i = 0; i < samples; ++i) {
      const double value = random_uniform(seed, i);
      ASSERT_TRUE(value >= 0 && value < 1) << value;
      ++counts[static_cast<std::size_t>(value * bins)];
    }
    double chi_square = 0;
    for (const int count : counts) chi_square += (count - 400.0) * (count - 400.0) / 400.0;
    EXPECT_NEAR(chi_square, 255, 6 * 22.6) << "seed " << seed;
  }
}

// Neighbours in place, and the same place under neighbouring seeds, tell nothing about each other.
TEST(Random, has_independent_neighbours) {
  constexpr int samples = 100000;
  double in_place = 0;
  double in_seed = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    in_place += (random_uniform(1, i) - 0.5) * (random_uniform(1, i + 1) - 0.5);
    in_seed += (random_uniform(1, i) - 0.5) * (random_uniform(2, i) - 0.5);
  }
  const double deviation = std::sqrt(double{samples}) / 12;  // of the sum of products of independent numbers
  EXPECT_NEAR(in_place, 0, 6 * deviation);
  EXPECT_NEAR(in_seed, 0, 6 * deviation);
}

TEST(Random, changes_half_of_its_bits_with_any_bit_of_the_place_or_the_seed) {
  for (int bit = 0; bit < 64; ++bit) {
    double changed_by_place = 0;
    double changed_by_seed = 0;
    constexpr int samples = 500;
    for (std::uint64_t i = 0; i < samples; ++i) {
      changed_by_place += std::popcount(random_bits(3, i) ^ random_bits(3, i ^ (1ULL << bit)));
      changed_by_seed += std::popcount(random_bits(i, 3) ^ random_bits(i ^ (1ULL << bit), 3));
    }
    EXPECT_NEAR(changed_by_place / samples, 32, 6 * 4 / std::sqrt(double{samples})) << "bit " << bit;
    EXPECT_NEAR(changed_by_seed / samples, 32, 6 * 4 / std::sqrt(double{samples})) << "bit " << bit;
  }
}

}  // namespace
