#include "savings_kinds.hpp"

#include <algorithm>
#include <cstdint>

#include "plait/base/random.hpp"

namespace plait::test {

namespace {

using graph::Saving;
using Entries = std::vector<Saving>;

/// `count` entries in each row, anywhere; what they save is up to the given function of random bits.
template <class Value>
Entries scattered(int n, int count, const Value& value) {
  Entries entries;
  std::uint64_t counter = 0;
  for (int role = 0; role < n; ++role) {
    for (int k = 0; k < count; ++k) {
      const auto rank = static_cast<int>(random_bits(1, counter) % static_cast<std::uint64_t>(n));
      entries.push_back({role, rank, value(random_bits(2, counter))});
      ++counter;
    }
  }
  return entries;
}

Index within(std::uint64_t bits, Index least, Index most) {
  return least + static_cast<Index>(bits % static_cast<std::uint64_t>(most - least + 1));
}

Entries random_volumes(int n) {
  return scattered(n, 24, [](std::uint64_t bits) { return within(bits, 1, 1'000'000); });
}
Entries few_values(int n) {
  return scattered(n, 12, [](std::uint64_t bits) { return within(bits, 1, 3); });
}
Entries all_equal(int n) {
  return scattered(n, 8, [](std::uint64_t) { return Index{7}; });
}
Entries skewed(int n) {
  return scattered(n, 24, [](std::uint64_t bits) { return Index{1} << (bits % 512 == 0 ? 52 : (bits >> 9) % 45); });
}
Entries fewer_than_roles(int n) {
  Entries entries = scattered(n, 10, [](std::uint64_t bits) { return within(bits, 1, 100); });
  std::erase_if(entries, [](const Saving& entry) { return entry.role % 3 == 0 || entry.rank % 5 == 0; });
  return entries;
}
Entries nothing(int) { return {}; }

Entries equal_blocks(int n) {
  Entries entries;
  const int side = 37;
  for (int role = 0; role < n; ++role) {
    const int first = role / side * side;
    for (int rank = first; rank < std::min(first + side, n); ++rank) entries.push_back({role, rank, 64});
  }
  return entries;
}

// More roles than ranks in each block.
Entries crowded_blocks(int n) {
  Entries entries;
  for (int role = 0; role < n; ++role) {
    const int first = role / 40 * 30;
    for (int rank = first; rank < first + 30; ++rank) entries.push_back({role, rank, 100 + (role * rank) % 4});
  }
  return entries;
}

Entries heavy_permutation(int n) {
  Entries entries = random_volumes(n);
  for (int role = 0; role < n; ++role) entries.push_back({role, n - 1 - role, 1'000'000'000});
  return entries;
}

Entries one_rank_for_all(int n) {
  Entries entries;
  for (int role = 0; role < n; ++role) entries.push_back({role, n / 2, 1 + (role * Index{7919}) % 1000});
  return entries;
}

// Everybody's best ranks are the same, in the same order.
Entries products(int n) {
  Entries entries;
  for (int role = 0; role < n; ++role) {
    for (int rank = role % 8; rank < n; rank += 1 + n / 24)
      entries.push_back({role, rank, (role + Index{1}) * (rank + 1)});
  }
  return entries;
}

Entries bands(int n) {
  Entries entries;
  for (int role = 0; role < n; ++role) {
    for (int k = -6; k <= 6; ++k) entries.push_back({role, (role * 3 / 2 + k + n) % n, 100 - k * k});
  }
  return entries;
}

}  // namespace

const std::vector<SavingsKind>& savings_kinds() {
  static const std::vector<SavingsKind> kinds = {
      {"random volumes", random_volumes},
      {"few values", few_values},
      {"all equal", all_equal},
      {"skewed up to 2^52", skewed},
      {"roles without entries, ranks that nobody wants", fewer_than_roles},
      {"nothing", nothing},
      {"blocks of equal savings", equal_blocks},
      {"blocks with more roles than ranks", crowded_blocks},
      {"a heavy permutation", heavy_permutation},
      {"one rank wanted by all", one_rank_for_all},
      {"products", products},
      {"bands", bands},
  };
  return kinds;
}

}  // namespace plait::test
