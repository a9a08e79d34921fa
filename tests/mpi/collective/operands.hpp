#pragma once

#include <cstdint>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/random.hpp"

namespace plait::test {

using Words = std::vector<std::uint64_t>;

/// Neither commutative nor associative, so that a result tells the order in which it was made.
struct Mix {
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const noexcept {
    return a * 0x9e3779b97f4a7c15U + (b ^ (a >> 7U));
  }
};

/// What `rank` brings to a call, which `seed` names.
inline std::uint64_t operand(std::uint64_t seed, int rank, Index i) {
  return random_bits(seed * 64 + static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(i));
}

inline Words operands(std::uint64_t seed, int rank, Index n) {
  Words words(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) words[static_cast<std::size_t>(i)] = operand(seed, rank, i);
  return words;
}

/// The elements [begin, end) of all ranks' operands mixed, one rank after the other.
inline Words mixed(std::uint64_t seed, int ranks, Index begin, Index end) {
  Words words;
  for (Index i = begin; i < end; ++i) {
    std::uint64_t word = operand(seed, 0, i);
    for (int rank = 1; rank < ranks; ++rank) word = Mix{}(word, operand(seed, rank, i));
    words.push_back(word);
  }
  return words;
}

}  // namespace plait::test
