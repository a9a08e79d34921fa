#include "plait/io/matrix_market/entry_exchange.hpp"

#include <complex>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/random.hpp"
#include "plait/io/slab.hpp"

#include "mpi/io/shared_scratch.hpp"

namespace plait::io {
namespace {

using layout::Shape;
using test::text_thrown_alike;

// Which columns the elements of a test go to.
enum class Spread { everywhere, to_one_rank, to_the_next_rank };

constexpr Shape shape{7, 40};
constexpr std::uint64_t entry_seed = 99;

MatrixEntry<Index> random_entry(const layout::Layout& layout, Spread spread, int from, Index number) {
  const auto bits = random_bits(entry_seed + static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(number));
  const auto row = static_cast<Index>(bits % 7);
  auto column = static_cast<Index>(bits / 7 % 40);
  if (spread == Spread::to_one_rank) column = 0;
  if (spread == Spread::to_the_next_rank) {
    const int ranks = static_cast<int>(layout.columns().parts());
    layout.columns().for_each_segment((from + 1) % ranks,
                                      [&](const layout::Segment& segment) { column = segment.global; });
  }
  return {row, column, static_cast<Index>(bits % 1000)};
}

// Rank r contributes 60 r elements, a full outbox at a time; the sums must be those that one process computes.
void expect_delivered(Spread spread, Index box_bytes) {
  mpi::Context context(test::test_comm());
  const auto layout = slab_layout(shape, StorageOrder::column_major, context.size());
  EntryExchange<Index> exchange(context, layout, box_bytes);
  layout::DistributedMatrix<Index> sums(layout, context.rank());
  sums.for_each_element([](Index, Index, Index& value) { value = 0; });
  const auto elements = sums.tiles()[0].data();

  const auto count = [](int rank) { return Index{60} * rank; };
  Index next = 0;
  for (bool more = true; more;) {
    for (; next < count(context.rank()) && !exchange.full(); ++next) {
      const auto entry = random_entry(layout, spread, context.rank(), next);
      if (exchange.is_own(entry)) {
        elements[exchange.own_place(entry)] += entry.value;
      } else {
        exchange.add(entry);
      }
    }
    exchange.deliver([&](std::span<const PlacedEntry<Index>> came) {
      EXPECT_LE(came.size_bytes(), static_cast<std::size_t>(std::max(box_bytes, Index{16} * context.size())));
      for (const auto& [place, value] : came) elements[place] += value;
    });
    more = mpi::all_reduce(context.comm(), next < count(context.rank()) ? 1 : 0, MPI_MAX) == 1;
  }

  std::vector<Index> expected(static_cast<std::size_t>(shape.rows * shape.columns));
  for (int rank = 0; rank < context.size(); ++rank) {
    for (Index i = 0; i < count(rank); ++i) {
      const auto entry = random_entry(layout, spread, rank, i);
      expected[static_cast<std::size_t>(entry.row + entry.column * shape.rows)] += entry.value;
    }
  }
  sums.for_each_element([&](Index i, Index j, Index value) {
    EXPECT_EQ(value, expected[static_cast<std::size_t>(i + j * shape.rows)])
        << i << ", " << j << ", entry_seed " << entry_seed;
  });
}

TEST(EntryExchange, BringsEveryElementToItsRankWithinItsMemory) {
  for (const auto spread : {Spread::everywhere, Spread::to_one_rank, Spread::to_the_next_rank}) {
    for (const Index box_bytes : {Index{1}, Index{100}, Index{2000}}) expect_delivered(spread, box_bytes);
  }
}

TEST(EntryExchange, LetsEveryRankThrowWhatOneThrew) {
  mpi::Context context(test::test_comm());
  if (context.size() == 1) return;  // nothing is delivered
  const auto layout = slab_layout(shape, StorageOrder::column_major, context.size());
  EntryExchange<double> exchange(context, layout);
  if (context.rank() == 0) exchange.add({0, shape.columns - 1, 1.0});
  const auto deliver = [&] {
    exchange.deliver([](std::span<const PlacedEntry<double>> came) {
      if (!came.empty()) throw FileError("of no use");
    });
  };
  EXPECT_EQ(text_thrown_alike<FileError>(context, deliver), "of no use");
}

}  // namespace
}  // namespace plait::io
