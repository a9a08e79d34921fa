#include "plait/sparse/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/krylov/conjugate_gradient.hpp"
#include "plait/krylov/lanczos.hpp"
#include "plait/mpi/context.hpp"

#include "mpi/mpi/pretended_nodes.hpp"
#include "mpi/sparse/random_matrix.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using sparse::Matrix;
using sparse::Rows;
using ::testing::HasSubstr;

template <class T>
std::vector<T> product(const Whole<T>& a, const std::vector<T>& x) {
  std::vector<T> y(at(a.rows));
  for (Index row = 0; row < a.rows; ++row) {
    for (Index column = 0; column < a.columns; ++column) {
      if (a.entry(row, column)) y[at(row)] += *a.entry(row, column) * x[at(column)];
    }
  }
  return y;
}

/// The columns that a rank's rows have entries in, but for those of `owner`.
template <class T>
std::vector<Index> needed(const Whole<T>& a, const std::vector<Index>& rows, const std::vector<Index>& columns,
                          Index by, Index of) {
  std::vector<Index> result;
  for (Index column = columns[at(of)]; column < columns[at(of + 1)]; ++column) {
    bool is_needed = false;
    for (Index row = rows[at(by)]; row < rows[at(by + 1)]; ++row) is_needed |= a.entry(row, column).has_value();
    if (is_needed && by != of) result.push_back(column);
  }
  return result;
}

template <class T>
void expect_product(mpi::Context& context, Random& random, bool is_square) {
  const Index n = random(0, 40), m = is_square ? n : random(0, 40);
  const Whole<T> whole = random_matrix<T>(random, n, m, random(0, 8));
  const std::vector<Index> rows = random_ranges(random, n), columns = is_square ? rows : random_ranges(random, m);
  const Index own = rank();
  Matrix<T> a(context, whole.rows_of(rows), columns[at(own + 1)] - columns[at(own)]);
  EXPECT_EQ(a.rows(), n);
  EXPECT_EQ(a.columns(), m);
  EXPECT_TRUE(std::ranges::equal(a.row_ranges(), rows));
  EXPECT_TRUE(std::ranges::equal(a.column_ranges(), columns));

  std::vector<Index> ghosts;
  Exchanged traffic;
  for (Index other = 0; other < ranks(); ++other) {
    const std::vector<Index> comes = needed(whole, rows, columns, own, other);
    traffic.receive(std::ssize(comes) * Index{sizeof(T)});
    traffic.send(std::ssize(needed(whole, rows, columns, other, own)) * Index{sizeof(T)});
    ghosts.insert(ghosts.end(), comes.begin(), comes.end());
  }
  EXPECT_TRUE(std::ranges::equal(a.ghosts(), ghosts));
  EXPECT_EQ(a.traffic(), traffic);

  constexpr int runs = 3;
  context.counters().clear();
  for (int run = 0; run < runs; ++run) {
    std::vector<T> x;
    for (Index i = 0; i < m; ++i) x.push_back(static_cast<T>(random_uniform(random.seed, random.draws++) - .5));
    const std::vector<T> part = own_part(x, columns);
    std::vector<T> y(at(a.own_rows()), T{-7});
    if (run == 0) {
      a.begin(part, y);
      while (!a.progress()) continue;
      a.finish();
    } else {
      a.multiply(part, y);
    }
    EXPECT_EQ(y, own_part(product(whole, x), rows));  // bit for bit
  }
  const TrafficCounters& counted = context.counters()["sparse"];
  EXPECT_EQ(counted.sent_to(PeerClass::node).bytes + counted.sent_to(PeerClass::network).bytes,
            runs * traffic.sent.bytes);
  EXPECT_EQ(counted.received_from(PeerClass::node).messages + counted.received_from(PeerClass::network).messages,
            runs * traffic.received.messages);

  Whole<T> again{n, m};
  a.for_each_entry([&](Index row, Index column, T value) { again.entry(row, column) = value; });
  for (Index row = rows[at(own)]; row < rows[at(own + 1)]; ++row) {
    for (Index column = 0; column < m; ++column) EXPECT_EQ(again.entry(row, column), whole.entry(row, column));
  }
}

void expect_products(std::uint64_t first_seed) {
  mpi::Context context(test_comm());
  for (std::uint64_t seed = first_seed; seed < first_seed + 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random{seed};
    if (random(0, 1) == 0) {
      expect_product<float>(context, random, random(0, 1) == 0);
    } else {
      expect_product<double>(context, random, random(0, 1) == 0);
    }
  }
}

TEST(SparseMatrix, MultipliesWithTheBitsOfOneRankAndReceivesGhostsAlone) { expect_products(0); }

TEST(SparseMatrix, DoesTheSameBetweenNodes) {
  const PretendedNodes pretended({2, 1, ranks()});
  expect_products(1000);
}

TEST(SparseMatrix, MultipliesRowsOfManySteps) {
  mpi::Context context(test_comm());
  constexpr Index n = 60'000;  // some 8 steps of the product on one rank
  Random random{3};
  const std::vector<Index> ranges = random_ranges(random, n);
  Rows<double> rows;
  for (Index row = ranges[at(Index{rank()})]; row < ranges[at(Index{rank()} + 1)]; ++row) {
    for (const Index column : {row % 7 == 0 ? row / 2 : row, row + 1}) {
      if (column >= n || (column != row + 1 && column == n - 1)) continue;
      rows.columns.push_back(column);
      rows.values.push_back(static_cast<double>(1 + column % 3));
    }
    rows.offsets.push_back(std::ssize(rows.columns));
  }
  const Rows<double> given = rows;
  Matrix<double> a(context, std::move(rows));
  std::vector<double> x, y(at(a.own_rows()));
  for (Index i = 0; i < a.own_columns(); ++i) x.push_back(static_cast<double>(a.first_column() + i));
  a.multiply(x, y);
  for (Index row = 0; row < a.own_rows(); ++row) {
    double sum = 0;
    for (Index e = given.offsets[at(row)]; e < given.offsets[at(row + 1)]; ++e) {
      sum += given.values[at(e)] * static_cast<double>(given.columns[at(e)]);
    }
    ASSERT_EQ(y[at(row)], sum) << row;
  }
}

// A path of which each rank has some vertices: 2 on the diagonal, -1 beside it.
Rows<double> path(Index n, const std::vector<Index>& ranges) {
  Rows<double> rows;
  for (Index row = ranges[at(Index{rank()})]; row < ranges[at(Index{rank()} + 1)]; ++row) {
    for (Index column = std::max<Index>(row - 1, 0); column < std::min(row + 2, n); ++column) {
      rows.columns.push_back(column);
      rows.values.push_back(column == row ? 2 : -1);
    }
    rows.offsets.push_back(std::ssize(rows.columns));
  }
  return rows;
}

TEST(SparseMatrix, IsAnOperatorOfConjugateGradientsAndLanczos) {
  mpi::Context context(test_comm());
  constexpr Index n = 50;
  Random random{5};
  const std::vector<Index> ranges = random_ranges(random, n);
  Matrix<double> matrix(context, path(n, ranges));
  const krylov::Operator<double> a = [&](std::span<const double> in, std::span<double> out) {
    matrix.multiply(in, out);
  };
  // b is such that x_i = (i + 1)(n - i), of which the second difference is -2.
  const std::vector<double> b(at(matrix.own_rows()), 2);
  const auto expect_solved = [&](auto&& solver, const std::vector<double>& x) {
    iterate::run(solver);
    EXPECT_EQ(solver.state().end, iterate::End::converged) << solver.state().reason;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto number = static_cast<double>(matrix.first_row()) + static_cast<double>(i);
      EXPECT_NEAR(x[i], (number + 1) * (n - number), 1e-6);
    }
  };
  const krylov::Options options{.limits = {.tolerance = 1e-11}};
  std::vector<double> x(b.size());
  expect_solved(krylov::ConjugateGradient<double>(context, {a, b, x}, options), x);
  std::ranges::fill(x, 0.0);
  expect_solved(krylov::PipelinedConjugateGradient<double>(context, {a, b, x}, options), x);

  std::vector<double> start;
  for (Index i = 0; i < matrix.own_rows(); ++i) {
    start.push_back(random_uniform(1, static_cast<std::uint64_t>(matrix.first_row() + i)));
  }
  const auto found = krylov::lanczos<double>(context, a, start, {.tolerance = 1e-9});
  EXPECT_NEAR(found.low, 2 - 2 * std::cos(std::numbers::pi / (n + 1)), 1e-7);
  EXPECT_NEAR(found.high, 2 + 2 * std::cos(std::numbers::pi / (n + 1)), 1e-7);
}

TEST(SparseMatrix, NamesWhatIsWrongOnAllRanks) {
  mpi::Context context(test_comm());
  // Three rows on each rank. Something is wrong on the last one.
  const Index last = ranks() - 1, columns = 3 * ranks();
  const auto expect_refused = [&](const std::string& text, const auto& spoil, std::optional<Index> own_columns = {}) {
    Rows<double> rows{{0, 1, 2, 3}, {0, 1, 2}, {1, 1, 1}};
    if (rank() == last) spoil(rows);
    EXPECT_THAT(message_of<ArgumentError>([&] { Matrix<double>(context, rows, own_columns); }), HasSubstr(text));
  };
  const auto numbered = [](const std::string& before, Index number, const std::string& after) {
    return before + std::to_string(number) + after;
  };
  const std::string row = numbered("row ", 3 * last + 1, "");
  expect_refused(numbered("columns: " + row + " has column -1, expected 0 or more, below ", columns, ""),
                 [](Rows<double>& rows) { rows.columns[1] = -1; });
  expect_refused(numbered("columns: " + row + " has column ", columns, ", expected"),
                 [&](Rows<double>& rows) { rows.columns[1] = columns; });
  expect_refused("columns: " + row + " has column 1 after 1, expected ascending ones",
                 [](Rows<double>& rows) { rows = {{0, 1, 3, 3}, {0, 1, 1}, {1, 1, 1}}; });
  expect_refused("columns: " + row + " has column 0 after 2, expected ascending ones",
                 [](Rows<double>& rows) { rows = {{0, 0, 2, 2}, {2, 0}, {1, 1}}; });
  expect_refused("offsets: begin with 1, expected 0", [](Rows<double>& rows) { rows.offsets[0] = 1; });
  expect_refused("offsets: there are none", [](Rows<double>& rows) { rows.offsets.clear(); });
  expect_refused("offsets: " + row + " begins at 2 and ends at 1, expected",
                 [](Rows<double>& rows) { rows.offsets = {0, 2, 1, 3}; });
  expect_refused("columns, values: there are 3 and 2, expected 3", [](Rows<double>& rows) { rows.values.pop_back(); });
  expect_refused("columns, values: there are 3 and 3, expected 2", [](Rows<double>& rows) { rows.offsets.pop_back(); });
  expect_refused("own_columns", [](Rows<double>&) {}, -1);
  if (ranks() == 1) return;
  const auto refused = message_of<ArgumentError>([&] {
    if (rank() == last) {
      Matrix<float>(context, {});
    } else {
      Matrix<double>(context, {});
    }
  });
  EXPECT_THAT(refused, HasSubstr("element type: is f32, but f64 on rank 0"));
}

}  // namespace
}  // namespace plait::test
