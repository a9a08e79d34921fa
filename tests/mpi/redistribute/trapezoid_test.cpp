// Parts of matrices on one side of a diagonal: nothing else is moved, sent or written.
#include "plait/redistribute/trapezoid.hpp"

#include <limits>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/batch.hpp"
#include "plait/redistribute/relabel/incoming.hpp"

#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "tests/mpi/redistribute/random_case.hpp"

namespace plait::test {
namespace {

using layout::Layout;
using layout::Shape;
using redistribute::Batch;
using redistribute::ElementOperation;
using redistribute::MatrixPair;
using redistribute::Op;
using redistribute::Operands;
using redistribute::Trapezoid;
using ::testing::HasSubstr;

bool holds(const Trapezoid& part, Index i, Index j) {
  return part.side == Trapezoid::Side::upper ? i - j <= part.diagonal : i - j >= part.diagonal;
}

Trapezoid random_trapezoid(Random& random, Shape shape) {
  return {uniform(random, 0, 1) == 0 ? Trapezoid::Side::upper : Trapezoid::Side::lower,
          uniform(random, 0, 3) == 0 ? 0 : uniform(random, -shape.columns, shape.rows)};
}

/// How many elements of the part each rank gets from which.
std::map<std::pair<int, int>, Index> counted(const MatrixPair& pair) {
  std::map<std::pair<int, int>, Index> volumes;
  const Layout from = pair.op_from();
  for (Index i = 0; i < pair.to.shape().rows; ++i) {
    for (Index j = 0; j < pair.to.shape().columns; ++j) {
      if (holds(*pair.part, i, j)) ++volumes[{pair.to.owner_of(i, j), from.owner_of(i, j)}];
    }
  }
  return volumes;
}

template <class T>
void expect_only_the_part(mpi::Context& context, Random& random, T alpha, T beta) {
  const Op op = std::array{Op::identity, Op::transpose, Op::conjugate,
                           Op::conjugate_transpose}[static_cast<std::size_t>(uniform(random, 0, 3))];
  const Shape shape{uniform(random, 0, 70), uniform(random, 0, 70)};
  const Layout to = random_layout(random, apply(op, shape), ranks());
  const MatrixPair pair{random_layout(random, shape, ranks()), to, op, random_trapezoid(random, to.shape())};
  redistribute::Options options{.memory_budget = Index{4096} << uniform(random, 0, 13),
                                .chunk_bytes = Index{16} << uniform(random, 0, 14)};
  if (uniform(random, 0, 2) == 0) options.within_node = redistribute::WithinNode::messages;
  SCOPED_TRACE(testing::Message() << redistribute::to_string(op) << " from " << layout::describe(pair.from) << " to "
                                  << layout::describe(to) << " side " << static_cast<int>(pair.part->side)
                                  << " diagonal " << pair.part->diagonal << " alpha " << alpha << " beta " << beta);
  const Random tiles_seed(static_cast<std::uint64_t>(uniform(random, 0, 1 << 30)));
  const auto perhaps_shared = [&](const Layout& layout) {
    const bool is_shared = uniform(random, 0, 2) == 0;
    return is_shared ? context.allocate_shared(GappedTiles<T>::bytes_of(layout, rank(), tiles_seed))
                     : mpi::SharedMemory();
  };
  const mpi::SharedMemory source_memory = perhaps_shared(pair.from);
  const mpi::SharedMemory target_memory = perhaps_shared(to);
  GappedTiles<T> source(pair.from, rank(), tiles_seed, source_memory.bytes());
  GappedTiles<T> target(to, rank(), tiles_seed, target_memory.bytes());
  constexpr T nothing = std::numeric_limits<T>::has_quiet_NaN ? std::numeric_limits<T>::quiet_NaN() : T{99};
  source.for_each([&](Index i, Index j, T& value) {  // outside of the part there is nothing to be read
    const bool inside = transposes(op) ? holds(*pair.part, j, i) : holds(*pair.part, i, j);
    value = inside && alpha != T{0} ? element<T>(1, i, j) : nothing;
  });
  target.for_each([&](Index i, Index j, T& value) {
    value = holds(*pair.part, i, j) && beta == T{0} ? nothing : element<T>(2, i, j);
  });

  context.counters().clear();
  Batch plan(context, {pair}, options);
  plan.execute({Operands(alpha, source.const_tiles(), beta, target.tiles())});

  Index wrong = 0;
  target.for_each([&](Index i, Index j, T& value) {
    T expected = element<T>(2, i, j);
    if (holds(*pair.part, i, j)) {
      const T b = alpha == T{0} ? T{0} : transposes(op) ? element<T>(1, j, i) : element<T>(1, i, j);
      expected = combined(alpha, conjugates(op) ? conjugated(b) : b, beta, beta == T{0} ? T{0} : expected);
    }
    wrong += value == expected ? 0 : 1;
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(target.damaged_cells(), 0);

  redistribute::Volume volume;
  for (const auto& [ends, elements] : counted(pair)) {
    const auto [receiver, sender] = ends;
    if (receiver == rank() && sender == rank()) volume.kept += elements;
    if (receiver == rank() && sender != rank()) volume.received += elements;
    if (receiver != rank() && sender == rank()) volume.sent += elements;
  }
  EXPECT_EQ(plan.volume(0).sent, volume.sent);
  EXPECT_EQ(plan.volume(0).received, volume.received);
  EXPECT_EQ(plan.volume(0).kept, volume.kept);
  const auto bytes = [&](const std::array<Traffic, 3>& traffic) {
    Index sum = 0;
    for (const PeerClass peer : {PeerClass::node, PeerClass::network})
      sum += traffic[static_cast<std::size_t>(peer)].bytes;
    return sum;
  };
  const Index moved = alpha == T{0} ? 0 : Index{sizeof(T)};
  const TrafficCounters& traffic = context.counters()["redistribute"];
  EXPECT_EQ(bytes(traffic.sent), volume.sent * moved);
  EXPECT_EQ(bytes(traffic.received), volume.received * moved);
}

TEST(PartOfAMatrix, IsAllThatIsMovedAndWritten) {
  mpi::Context context(test_comm());
  Random random(static_cast<std::uint64_t>(ranks()) + 11);
  for (int round = 0; round < 25 && !::testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    const int alpha = static_cast<int>(uniform(random, 0, 2));
    const int beta = static_cast<int>(uniform(random, 0, 2));
    expect_only_the_part<double>(context, random, alpha, beta);
    expect_only_the_part<std::int16_t>(context, random, static_cast<std::int16_t>(alpha),
                                       static_cast<std::int16_t>(beta));
    expect_only_the_part<std::complex<float>>(context, random, {static_cast<float>(alpha), 0},
                                              {static_cast<float>(beta), 0});
  }
}

TEST(PartOfAMatrix, IsGivenToAnOperationOnceAndNothingElse) {
  mpi::Context context(test_comm());
  const Layout from = Layout::rows({40, 30}, ranks());
  const Layout to = Layout::block_cyclic({30, 40}, 3, 7, layout::Owners::grid(1, ranks()));
  const Trapezoid part{Trapezoid::Side::lower, -3};
  layout::DistributedMatrix<double> b(from, rank()), a(to, rank());
  b.for_each_element([](Index i, Index j, double& value) { value = element<double>(1, i, j); });
  a.for_each_element([](Index, Index, double& value) { value = 1; });
  const ElementOperation<double> add_with_place = [](matrix_view<const double> source, matrix_view<double> target,
                                                     Index row, Index column) {
    for (Index j = 0; j < target.columns(); ++j) {
      for (Index i = 0; i < target.rows(); ++i) {
        target(i, j) += source(i, j) + 1000 * static_cast<double>((row + i) * 40 + column + j);
      }
    }
  };
  Batch(context, {{from, to, Op::transpose, part}}).execute({Operands(add_with_place, b, a)});
  Index wrong = 0;
  a.for_each_element([&](Index i, Index j, double& value) {
    const double sum = 1 + element<double>(1, j, i) + 1000 * static_cast<double>(i * 40 + j);
    wrong += value == (holds(part, i, j) ? sum : 1) ? 0 : 1;
  });
  EXPECT_EQ(wrong, 0);
}

TEST(PartOfAMatrix, IsWhatRelabelingCounts) {
  Random random(5);
  for (int round = 0; round < 30; ++round) {
    const Shape shape{uniform(random, 1, 50), uniform(random, 1, 50)};
    const MatrixPair pair{random_layout(random, shape, 6), random_layout(random, shape, 6), Op::identity,
                          random_trapezoid(random, shape)};
    std::map<std::pair<int, int>, Index> incoming;
    const redistribute::SizedPair sized{pair, 4};
    redistribute::Incoming of_pair({&sized, 1}, true);
    for (int role = 0; role < 6; ++role) {
      for (const auto& [from, package] : of_pair.of(role)) {
        incoming[{role, from}] = package.bytes / 4;
        Index of_tiles = 0;
        for (const redistribute::PackageTile& tile : package.tiles) of_tiles += tile.bytes;
        EXPECT_EQ(of_tiles, package.bytes);
      }
    }
    EXPECT_EQ(incoming, counted(pair));
  }
}

TEST(PartOfAMatrix, OutsideOfItIsRefusedAndSoAreDifferentOnes) {
  mpi::Context context(test_comm());
  const Layout rows = Layout::rows({8, 6}, ranks());
  EXPECT_THAT(message_of<ArgumentError>(
                  [&] { Batch(context, {{rows, rows, Op::identity, Trapezoid{Trapezoid::Side::upper, 9}}}); }),
              HasSubstr("part: the diagonal is 9, expected from -6 to 8"));
  EXPECT_THAT(message_of<ArgumentError>(
                  [&] { Batch(context, {{rows, rows, Op::identity, Trapezoid{Trapezoid::Side::lower, -7}}}); }),
              HasSubstr("part: the diagonal is -7"));
  if (ranks() == 1) return;
  EXPECT_THAT(message_of<ArgumentError>([&] {
                Batch(context, {{rows, rows, Op::identity, Trapezoid{Trapezoid::Side::upper, rank() == 0 ? 1 : 0}}});
              }),
              HasSubstr("the part up to diagonal"));
}

TEST(Trapezoid, CountsItsElements) {
  for (Index rows = 0; rows < 6; ++rows) {
    for (Index columns = 0; columns < 6; ++columns) {
      for (Index diagonal = -columns; diagonal <= rows; ++diagonal) {
        for (const auto side : {Trapezoid::Side::upper, Trapezoid::Side::lower}) {
          const Trapezoid part{side, diagonal};
          Index expected = 0;
          for (Index i = 0; i < rows; ++i) {
            for (Index j = 0; j < columns; ++j) expected += holds(part, i, j) ? 1 : 0;
          }
          EXPECT_EQ(part.elements({rows, columns}), expected) << rows << "x" << columns << " from " << diagonal;
          EXPECT_EQ(part.transposed().elements({columns, rows}), expected);
        }
      }
    }
  }
}

}  // namespace
}  // namespace plait::test
