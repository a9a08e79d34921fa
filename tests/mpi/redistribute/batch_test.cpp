#include "plait/redistribute/batch.hpp"

#include <complex>
#include <cstdint>
#include <deque>
#include <functional>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/context.hpp"

#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "tests/mpi/redistribute/random_case.hpp"

namespace plait::test {
namespace {

using layout::DistributedMatrix;
using layout::Layout;
using layout::Shape;
using redistribute::Batch;
using redistribute::MatrixPair;
using redistribute::Op;
using redistribute::Operands;
using ::testing::AllOf;
using ::testing::HasSubstr;

MatrixPair random_pair(Random& random) {
  const Op op = ops[static_cast<std::size_t>(uniform(random, 0, 3))];
  const Shape shape{uniform(random, 0, 50), uniform(random, 0, 50)};
  return {random_layout(random, shape, ranks()), random_layout(random, apply(op, shape), ranks()), op};
}

// One pair of a batch, of any element type, and how to look whether it became right.
struct Case {
  std::function<Operands()> operands;
  std::function<Index()> wrong_elements;
};

template <class T>
Case make_case(const MatrixPair& pair, T alpha, T beta, std::uint64_t seed) {
  auto source = std::make_shared<GappedTiles<T>>(pair.from, rank(), Random(seed));
  auto target = std::make_shared<GappedTiles<T>>(pair.to, rank(), Random(seed + 1));
  source->for_each([&](Index i, Index j, T& value) { value = element<T>(seed, i, j); });
  target->for_each([&](Index i, Index j, T& value) { value = element<T>(seed + 1, i, j); });
  const auto wrong = [=] {
    Index count = 0;
    target->for_each([&](Index i, Index j, T& value) {
      T b = transposes(pair.op) ? element<T>(seed, j, i) : element<T>(seed, i, j);
      if (conjugates(pair.op)) b = conjugated(b);
      count += value == combined(alpha, b, beta, element<T>(seed + 1, i, j)) ? 0 : 1;
    });
    return count + target->damaged_cells();
  };
  return {[=] { return Operands(alpha, source->const_tiles(), beta, target->tiles()); }, wrong};
}

Case random_case(Random& random, const MatrixPair& pair) {
  const auto seed = static_cast<std::uint64_t>(uniform(random, 0, 1 << 20));
  const Index alpha = uniform(random, 0, 2);
  const Index beta = uniform(random, -1, 1);
  switch (uniform(random, 0, 3)) {
    case 0: return make_case<std::int8_t>(pair, static_cast<std::int8_t>(alpha), static_cast<std::int8_t>(beta), seed);
    case 1: return make_case<float>(pair, static_cast<float>(alpha), static_cast<float>(beta), seed);
    case 2: return make_case<std::uint64_t>(pair, static_cast<std::uint64_t>(alpha), 3, seed);
    default: {
      using T = std::complex<double>;
      return make_case<T>(pair, {1, static_cast<double>(alpha)}, {static_cast<double>(beta), 2}, seed);
    }
  }
}

TEST(Batch, MovesAndTransformsEveryPairOfWhateverType) {
  mpi::Context context(test_comm());
  Random random(static_cast<std::uint64_t>(ranks()) + 11);
  for (int round = 0; round < 30; ++round) {
    std::vector<MatrixPair> pairs;
    const Index count = uniform(random, 0, 5);
    for (Index i = 0; i < count; ++i) pairs.push_back(random_pair(random));
    redistribute::Options options;
    options.memory_budget = Index{4096} << uniform(random, 0, 8);
    options.chunk_bytes = Index{16} << uniform(random, 0, 12);
    SCOPED_TRACE(testing::Message() << "round " << round);

    Batch batch(context, pairs, options);
    for (int run = 0; run < 2; ++run) {  // other types and scalars each time
      std::vector<Case> cases;
      std::vector<Operands> operands;
      for (const MatrixPair& pair : pairs) {
        cases.push_back(random_case(random, pair));
        operands.push_back(cases.back().operands());
      }
      batch.execute(operands);
      for (const Case& one : cases) EXPECT_EQ(one.wrong_elements(), 0);
    }
  }
}

TEST(Batch, SendsOneMessageToEachPeerForAllPairs) {
  if (ranks() < 2) return;
  mpi::Context context(test_comm());
  const Layout rows = Layout::rows({24, 24}, ranks());
  const Layout columns = Layout::columns({24, 24}, ranks());
  DistributedMatrix<double> b(rows, rank()), a(columns, rank());
  DistributedMatrix<float> d(columns, rank()), c(rows, rank());
  DistributedMatrix<std::int8_t> f(rows, rank()), e(columns, rank());

  Batch batch(context, {{rows, columns}, {columns, rows}, {rows, columns, Op::transpose}}, {.label = "three at once"});
  batch.execute({Operands(1.0, b, 0.0, a), Operands(2.0F, d, 1.0F, c), Operands(std::int8_t{1}, f, std::int8_t{0}, e)});

  Index messages = 0;
  for (const Traffic& sent : context.counters()["three at once"].sent) messages += sent.messages;
  EXPECT_EQ(messages, ranks() - 1);
}

TEST(Batch, NamesThePairThatIsWrong) {
  mpi::Context context(test_comm());
  const Layout rows = Layout::rows({8, 6}, ranks());
  const Layout columns = Layout::columns({8, 6}, ranks());
  EXPECT_THAT(message_of<ShapeMismatch>([&] { Batch(context, {{rows, columns}, {rows, columns, Op::transpose}}); }),
              HasSubstr("pair 1: op(B) is 6 x 8, A is 8 x 6"));
  EXPECT_THAT(
      message_of<LayoutError>([&] { Batch(context, {{rows, Layout::rows({8, 6}, ranks() + 1)}, {rows, columns}}); }),
      HasSubstr("pair 0: to: "));

  Batch batch(context, {{rows, columns}, {rows, columns}});
  DistributedMatrix<double> b(rows, rank()), a(columns, rank()), other(columns, rank());
  EXPECT_THAT(message_of<ArgumentError>([&] { batch.execute({Operands(1.0, b, 0.0, a)}); }),
              HasSubstr("operands: 1, expected one for each of the 2 pairs"));
  EXPECT_THAT(message_of<ArgumentError>([&] { batch.execute({Operands(1.0, b, 0.0, a), Operands(1.0, b, 0.0, a)}); }),
              AllOf(HasSubstr("target tile 0 of pair 1 and target tile 0 of pair 0"), HasSubstr("in common")));
  if (ranks() > 1) {
    EXPECT_THAT(
        message_of<LayoutError>([&] { batch.execute({Operands(1.0, b, 0.0, a), Operands(1.0, a, 0.0, other)}); }),
        HasSubstr("pair 1: source is in the layout cols"));
  }
  batch.execute({Operands(1.0, b, 0.0, a), Operands(1.0, b, 0.0, other)});  // one source may be read twice
  EXPECT_THAT(message_of<ArgumentError>([&] { return batch.volume(2); }), HasSubstr("pair: 2"));
}

TEST(Batch, RefusesTypesThatDifferFromRankToRank) {
  if (ranks() < 2) return;
  mpi::Context context(test_comm());
  const Layout rows = Layout::rows({8, 6}, ranks());
  Batch batch(context, {{rows, rows}, {rows, rows}});
  DistributedMatrix<double> b(rows, rank()), a(rows, rank());
  DistributedMatrix<float> d(rows, rank()), c(rows, rank());
  const Operands doubles(1.0, b, 0.0, a);
  const Operands floats(1.0F, d, 0.0F, c);
  EXPECT_THAT(message_of<ArgumentError>(
                  [&] { rank() == 0 ? batch.execute({doubles, floats}) : batch.execute({floats, doubles}); }),
              HasSubstr("element type"));
}

}  // namespace
}  // namespace plait::test
