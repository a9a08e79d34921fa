// Calls of any kind, one after the other with nothing between them: what one leaves behind is not to disturb the next.
#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/random.hpp"
#include "plait/collective/node/reducer.hpp"
#include "plait/mpi/context.hpp"
#include "plait/simd/reduce/reduce.hpp"

#include "support/ranks.hpp"

namespace plait::test {
namespace {

using collective::NodeReducer;
using schedule::Combine;
using simd::Element;
using simd::ReduceOperation;

using Bytes = std::vector<std::byte>;

struct Kind {
  ReduceOperation operation;
  Element element;
  void (*fill)(std::uint64_t seed, Index n, std::byte* bytes);
};

template <class T>
void fill_small(std::uint64_t seed, Index n, std::byte* bytes) {
  for (Index i = 0; i < n; ++i) {
    const T value = static_cast<T>(random_bits(seed, static_cast<std::uint64_t>(i)) % 100);
    std::memcpy(bytes + i * Index{sizeof(T)}, &value, sizeof value);
  }
}
// Sums of these depend on the order.
template <class T>
void fill_inexact(std::uint64_t seed, Index n, std::byte* bytes) {
  for (Index i = 0; i < n; ++i) {
    const auto value = static_cast<T>(random_uniform(seed, static_cast<std::uint64_t>(i)) + 0.1);
    std::memcpy(bytes + i * Index{sizeof(T)}, &value, sizeof value);
  }
}
void fill_half(std::uint64_t seed, Index n, std::byte* bytes) {
  for (Index i = 0; i < n; ++i) {
    const auto bits = static_cast<std::uint16_t>(random_bits(seed, static_cast<std::uint64_t>(i)) & 0x3fffU);
    std::memcpy(bytes + i * 2, &bits, sizeof bits);
  }
}
void fill_pairs(std::uint64_t seed, Index n, std::byte* bytes) { fill_small<std::int32_t>(seed, 2 * n, bytes); }
void fill_complex(std::uint64_t seed, Index n, std::byte* bytes) { fill_inexact<double>(seed, 2 * n, bytes); }

constexpr Kind kinds[] = {
    {ReduceOperation::sum, Element::float64, fill_inexact<double>},
    {ReduceOperation::sum, Element::float32, fill_inexact<float>},
    {ReduceOperation::sum, Element::float16, fill_half},
    {ReduceOperation::prod, Element::bfloat16, fill_half},
    {ReduceOperation::prod, Element::complex128, fill_complex},
    {ReduceOperation::max, Element::int8, fill_small<std::int8_t>},
    {ReduceOperation::sum, Element::int64, fill_small<std::int64_t>},
    {ReduceOperation::bxor, Element::uint16, fill_small<std::uint16_t>},
    {ReduceOperation::land, Element::int32, fill_small<std::int32_t>},
    {ReduceOperation::minloc, Element::int_int, fill_pairs},
    {ReduceOperation::replace, Element::uint32, fill_small<std::uint32_t>},
};

// A rank's memory for operands or results, with something behind it that stays.
struct Arena {
  explicit Arena(mpi::Context& context, Index bytes)
      : shared(context.allocate_shared(bytes)), own(static_cast<std::size_t>(bytes)) {}
  [[nodiscard]] std::byte* at(std::uint64_t choice) {
    return (choice % 2 == 0 ? own.data() : shared.bytes().data()) + choice / 2 % 64;
  }
  mpi::SharedMemory shared;
  Bytes own;
};

struct RandomReductions : ::testing::Test {
  static constexpr Index longest = Index{1} << 19;
  static constexpr std::size_t behind = 64;
  static constexpr std::byte mark{0xa5};

  mpi::Context context{test_comm()};
  mpi::Context other_context{test_comm()};
  NodeReducer reducers[3]{NodeReducer(context), NodeReducer(other_context), NodeReducer(context)};
  mpi::Context* contexts[3]{&context, &other_context, &context};
  Arena in{context, longest + 256};
  Arena out{context, longest + 256};
  Bytes expected = Bytes(longest);
  Bytes operand = Bytes(longest);

  void call(std::uint64_t seed) {
    std::uint64_t drawn = 0;
    const auto draw = [&](std::uint64_t below) { return random_bits(seed, drawn++) % below; };
    const Kind& kind = kinds[draw(std::size(kinds))];
    const Index element = simd::size_in_bytes(kind.element);
    const Index n = static_cast<Index>(draw(static_cast<std::uint64_t>(longest / element)) >> draw(20));
    NodeReducer& reducer = reducers[draw(std::size(reducers))];
    const Combine combine(kind.operation, kind.element);
    const auto what = draw(6);
    const int root = static_cast<int>(draw(static_cast<std::uint64_t>(ranks())));
    std::vector<Index> counts(static_cast<std::size_t>(ranks()), n / ranks());
    if (what == 3) {
      Index left = n;
      for (Index& count : counts) left -= count = static_cast<Index>(draw(static_cast<std::uint64_t>(left + 1)));
    }
    const bool is_scattered = what == 2 || what == 3;
    const Index reduced = !is_scattered ? n : std::accumulate(counts.begin(), counts.end(), Index{0});
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << n << " times " << name(kind.operation) << " of "
                                    << name(kind.element) << ", call " << what << ", root " << root);

    // Where things lie is each rank's own choice.
    std::uint64_t own_drawn = 0;
    const auto choose = [&] { return random_bits(seed + 77, static_cast<std::uint64_t>(rank()) * 8 + own_drawn++); };
    std::byte* from = in.at(choose());
    std::byte* to = choose() % 3 == 0 ? from : out.at(choose());
    const bool gets_all = what == 0 || (what == 1 && rank() == root) || what == 4 || (what == 5 && rank() > 0);
    const int first_ranks = what == 4 ? rank() + 1 : what == 5 ? std::max(rank(), 1) : ranks();
    const Index own_count = counts[static_cast<std::size_t>(rank())];
    const Index own_begin = std::accumulate(counts.begin(), counts.begin() + rank(), Index{0});

    const auto bytes = static_cast<std::size_t>(reduced * element);
    Index first = 0;
    Index result = !is_scattered ? (gets_all ? reduced : 0) : own_count;
    if (is_scattered) first = own_begin;
    expect(kind, seed, reduced, first_ranks);
    kind.fill(seed * 64 + static_cast<std::uint64_t>(rank()), reduced, from);
    std::fill_n(from + bytes, behind, mark);
    if (to != from)
      std::fill_n(to, (!is_scattered ? bytes : static_cast<std::size_t>(own_count * element)) + behind, mark);

    switch (what) {
      case 0: reducer.allreduce(from, to, n, combine); break;
      case 1: reducer.reduce(from, gets_all ? to : nullptr, n, root, combine); break;
      case 2: reducer.reduce_scatter_block(from, to, n / ranks(), combine); break;
      case 3: reducer.reduce_scatter(from, to, counts, combine); break;
      case 4: reducer.scan(from, to, n, combine); break;
      default: reducer.exscan(from, to, n, combine); break;
    }

    const auto result_bytes = static_cast<std::size_t>(result * element);
    ASSERT_TRUE(std::equal(to, to + result_bytes, expected.data() + first * element)) << "the result";
    const std::byte* end = to == from ? from + bytes : to + result_bytes;
    ASSERT_TRUE(std::all_of(end, end + behind, [](std::byte byte) { return byte == mark; })) << "what is behind it";
    if (to != from) {
      kind.fill(seed * 64 + static_cast<std::uint64_t>(rank()), reduced, operand.data());
      ASSERT_TRUE(std::equal(from, from + bytes, operand.data())) << "the operand";
    }
  }

  // Rank by rank from the left, by the textbook's kernels.
  void expect(const Kind& kind, std::uint64_t seed, Index n, int first_ranks) {
    simd::CombineKernel* combine = simd::combine_kernel(kind.operation, kind.element, simd::Isa::scalar);
    kind.fill(seed * 64, n, expected.data());
    for (int rank = 1; rank < first_ranks; ++rank) {
      kind.fill(seed * 64 + static_cast<std::uint64_t>(rank), n, operand.data());
      combine(n, expected.data(), operand.data(), expected.data());
    }
  }
};

TEST_F(RandomReductions, do_not_disturb_each_other) {
  const std::uint64_t calls = ranks() > 5 ? 200 : 1000;
  for (std::uint64_t seed = 1; seed <= calls; ++seed) {
    call(seed);
    if (HasFatalFailure()) return;
  }
}

// Without anything that takes time between them.
TEST_F(RandomReductions, follow_each_other_at_once) {
  std::vector<std::uint64_t> words(4096);
  for (std::uint64_t round = 1; round <= 3000; ++round) {
    const std::uint64_t bits = random_bits(5, round);
    const std::size_t n = bits % 8 == 0 ? words.size() - bits / 8 % 1000 : 1 + bits / 8 % 3;
    words[0] = words[n - 1] = round + static_cast<std::uint64_t>(rank());
    const int root = static_cast<int>(bits / 8 % static_cast<std::uint64_t>(ranks()));
    const bool scans = bits / 2048 % 4 == 0;
    const int summed = scans ? rank() + 1 : ranks();
    const auto sum = round * static_cast<std::uint64_t>(summed) + static_cast<std::uint64_t>(summed * (summed - 1) / 2);
    const Combine combine(ReduceOperation::sum, Element::uint64);
    if (scans) {
      reducers[0].scan(words.data(), words.data(), static_cast<Index>(n), combine);
    } else if (bits / 1024 % 2 == 0) {
      reducers[0].reduce(words.data(), words.data(), static_cast<Index>(n), root, combine);
      if (rank() != root) continue;
    } else {
      reducers[0].allreduce(words.data(), words.data(), static_cast<Index>(n), combine);
    }
    ASSERT_EQ(words[0], sum) << round;
    ASSERT_EQ(words[n - 1], sum) << round;
  }
}

}  // namespace
}  // namespace plait::test
