#include <algorithm>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/layout/text.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "support/ranks.hpp"
#include "tests/mpi/redistribute/random_case.hpp"

namespace plait::test {
namespace {

using layout::Layout;
using layout::Shape;
using redistribute::Op;
using redistribute::Redistribution;

template <class T>
class RandomRedistribution : public ::testing::Test {};

using Types = ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                               std::uint32_t, std::uint64_t, float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(RandomRedistribution, Types);

// What A(i, j) has to become.
template <class T>
T expected(Op op, T alpha, T beta, Index i, Index j) {
  const T b = transposes(op) ? element<T>(1, j, i) : element<T>(1, i, j);
  return combined(alpha, conjugates(op) ? conjugated(b) : b, beta, element<T>(2, i, j));
}

template <class T>
T random_scalar(Random& random) {
  const Index kind = uniform(random, 0, 3);
  if (kind < 2) return kind == 0 ? T{0} : T{1};
  if constexpr (requires(T z) { z.imag(); }) {
    using Part = typename T::value_type;
    return T(static_cast<Part>(uniform(random, -3, 3)), static_cast<Part>(uniform(random, -3, 3)));
  } else {
    return static_cast<T>(uniform(random, -3, 3));
  }
}

TYPED_TEST(RandomRedistribution, EqualsTheSerialFormulaElementByElementAndTouchesNothingElse) {
  using T = TypeParam;
  mpi::Context context(test_comm());
  const auto seed = static_cast<std::uint64_t>(sizeof(T) * 100 + (std::is_signed_v<T> ? 1 : 0) +
                                               static_cast<std::size_t>(ranks()) * 7);
  Random random(seed);
  for (int round = 0; round < 25; ++round) {
    const Op op = ops[static_cast<std::size_t>(uniform(random, 0, 3))];
    const Shape shape{uniform(random, 0, 70), uniform(random, 0, 70)};
    const Layout from = random_layout(random, shape, ranks());
    const Layout to = random_layout(random, apply(op, shape), ranks());
    const T alpha = random_scalar<T>(random);
    const T beta = random_scalar<T>(random);
    redistribute::Options options;
    options.memory_budget = Index{4096} << uniform(random, 0, 13);
    options.chunk_bytes = Index{16} << uniform(random, 0, 14);
    const bool by_messages = uniform(random, 0, 3) == 0;
    if (by_messages) options.within_node = redistribute::WithinNode::messages;
    const bool shared = uniform(random, 0, 2) == 0;
    const bool into_shared = uniform(random, 0, 2) == 0;
    SCOPED_TRACE(testing::Message() << "seed " << seed << " round " << round << ": op " << static_cast<int>(op)
                                    << " from " << layout::describe(from) << " to " << layout::describe(to)
                                    << " budget " << options.memory_budget << " chunk " << options.chunk_bytes
                                    << (by_messages ? " by messages" : "") << (shared ? " from shared memory" : "")
                                    << (into_shared ? " into shared memory" : ""));

    Redistribution plan(context, from, to, op, options);
    const auto tiles_seed = static_cast<std::uint64_t>(uniform(random, 0, 1 << 30));
    for (int run = 0; run < 2; ++run) {
      const Random source_seed(tiles_seed + static_cast<std::uint64_t>(run));
      const Random target_seed(tiles_seed + 77);
      const auto memory_for = [&](const Layout& layout, const Random& tiles, bool is_shared) {
        return is_shared ? context.allocate_shared(GappedTiles<T>::bytes_of(layout, rank(), tiles))
                         : mpi::SharedMemory();
      };
      const mpi::SharedMemory source_memory = memory_for(from, source_seed, shared);
      const mpi::SharedMemory target_memory = memory_for(to, target_seed, into_shared);
      GappedTiles<T> source(from, rank(), source_seed, source_memory.bytes());
      GappedTiles<T> target(to, rank(), target_seed, target_memory.bytes());
      const bool reads_target = beta != T{0};
      source.for_each([](Index i, Index j, T& value) { value = element<T>(1, i, j); });
      target.for_each([&](Index i, Index j, T& value) {
        value = reads_target                            ? element<T>(2, i, j)
                : std::numeric_limits<T>::has_quiet_NaN ? std::numeric_limits<T>::quiet_NaN()
                                                        : T{99};
      });

      plan.execute<T>(alpha, source.const_tiles(), beta, target.tiles());

      Index wrong = 0;
      target.for_each([&](Index i, Index j, T& value) { wrong += value == expected(op, alpha, beta, i, j) ? 0 : 1; });
      EXPECT_EQ(wrong, 0);
      EXPECT_EQ(target.damaged_cells(), 0);
      Index changed = 0;
      source.for_each([&](Index i, Index j, T& value) { changed += value == element<T>(1, i, j) ? 0 : 1; });
      EXPECT_EQ(changed, 0);
    }
  }
}

TEST(Redistribution, ThereAndBackGivesTheSameMatrix) {
  mpi::Context context(test_comm());
  Random random(static_cast<std::uint64_t>(ranks()));
  for (int round = 0; round < 30; ++round) {
    const Shape shape{uniform(random, 0, 120), uniform(random, 0, 120)};
    const Op op = ops[static_cast<std::size_t>(uniform(random, 0, 3))];
    const Layout from = random_layout(random, shape, ranks());
    const Layout to = random_layout(random, apply(op, shape), ranks());
    SCOPED_TRACE(testing::Message() << "round " << round << " " << layout::describe(from) << " to "
                                    << layout::describe(to));

    using T = std::complex<double>;
    layout::DistributedMatrix<T> original(from, rank());
    layout::DistributedMatrix<T> there(to, rank());
    layout::DistributedMatrix<T> back(from, rank());
    original.for_each_element([](Index i, Index j, T& value) { value = element<T>(3, i, j); });
    back.for_each_element([](Index, Index, T& value) { value = T(-1, -1); });

    Redistribution(context, from, to, op).execute(original, there);
    Redistribution(context, to, from, op).execute(there, back);

    EXPECT_EQ(wrong_elements(back, 3), 0);
  }
}

}  // namespace
}  // namespace plait::test
