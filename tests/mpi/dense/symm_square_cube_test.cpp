#include <cmath>
#include <complex>
#include <limits>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/complex.hpp"
#include "plait/base/error.hpp"
#include "plait/dense/symm/square_cube.hpp"
#include "plait/mpi/collectives.hpp"

#include "bench/multiply/symm_transfers.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

namespace symm = dense::symm;
using layout::DistributedMatrix;

/// An n × n matrix that every rank has, by rows; its products by the textbook.
template <class T>
class Whole {
 public:
  explicit Whole(Index n) : n_(n), elements_(static_cast<std::size_t>(n * n)) {}
  T& operator()(Index row, Index column) { return elements_[static_cast<std::size_t>(row * n_ + column)]; }
  const T& operator()(Index row, Index column) const { return elements_[static_cast<std::size_t>(row * n_ + column)]; }

  static Whole hermitian(Index n) {
    Whole result(n);
    for (Index row = 0; row < n; ++row) {
      for (Index column = 0; column <= row; ++column) {
        result(row, column) = element(row, column);
        result(column, row) = conjugate(result(row, column));
      }
    }
    return result;
  }
  Whole operator*(const Whole& other) const {
    Whole result(n_);
    for (Index row = 0; row < n_; ++row) {
      for (Index inner = 0; inner < n_; ++inner) {
        for (Index column = 0; column < n_; ++column) {
          result(row, column) += (*this)(row, inner) * other(inner, column);
        }
      }
    }
    return result;
  }

 private:
  static T conjugate(T value) {
    if constexpr (is_complex<T>) return std::conj(value);
    return value;
  }
  // Between -1 and 1, without symmetry.
  static T element(Index row, Index column) {
    const auto part = [&](Index salt) { return static_cast<double>((row * 37 + column * 101 + salt) % 61 - 30) / 30; };
    if constexpr (is_complex<T>) {
      using Part = typename T::value_type;
      return T(static_cast<Part>(part(0)), static_cast<Part>(row == column ? 0 : part(17)));
    } else {
      return static_cast<T>(part(0));
    }
  }

  Index n_;
  std::vector<T> elements_;
};

template <class T>
using PartOf = decltype(std::abs(T{}));

template <class T>
struct SquareCubes {
  SquareCubes(mpi::Context& context, Index n, const symm::Options& options)
      : kernel(context, n, options),
        whole(Whole<T>::hermitian(n)),
        d(kernel.layout(), context.rank()),
        d2(kernel.layout(), context.rank()),
        d3(kernel.layout(), context.rank()) {
    d.for_each_element([&](Index row, Index column, T& element) { element = whole(row, column); });
    clear();
  }
  void clear() {
    d2.for_each_element([](Index, Index, T& element) { element = T{-999}; });
    d3.for_each_element([](Index, Index, T& element) { element = T{-999}; });
  }
  static Index wrong(const DistributedMatrix<T>& matrix, const Whole<T>& expected, Index n) {
    // Sums of n (n²) products of numbers up to √2.
    const auto size = static_cast<PartOf<T>>(n);
    const PartOf<T> most = 32 * std::numeric_limits<PartOf<T>>::epsilon() * size * size;
    Index count = 0;
    matrix.for_each_element([&](Index row, Index column, const T& element) {
      count += std::abs(element - expected(row, column)) <= most ? 0 : 1;  // also of what is not a number
    });
    return count;
  }

  symm::SquareCube<T> kernel;
  Whole<T> whole;
  DistributedMatrix<T> d, d2, d3;
};

template <class T>
void expect_products(mpi::Context& context, Index n, const symm::Options& options) {
  SquareCubes<T> run(context, n, options);
  const Whole<T> square = run.whole * run.whole;
  const Whole<T> cube = square * run.whole;
  for (int round = 0; round < 2; ++round) {
    run.clear();
    run.kernel.square_cube(run.d, run.d2, run.d3);
    EXPECT_EQ(SquareCubes<T>::wrong(run.d2, square, n), 0) << "square";
    EXPECT_EQ(SquareCubes<T>::wrong(run.d3, cube, n), 0) << "cube";
  }
  EXPECT_EQ(SquareCubes<T>::wrong(run.d, run.whole, n), 0) << "the operand";
  run.clear();
  run.kernel.square(run.d, run.d2);
  EXPECT_EQ(SquareCubes<T>::wrong(run.d2, square, n), 0) << "square alone";
}

struct NamedOptions {
  const char* name;
  symm::Options options;
};

const std::vector<NamedOptions>& ways() {
  static const std::vector<NamedOptions> all{
      {"original", {.algorithm = symm::Algorithm::original}},
      {"baseline", {.algorithm = symm::Algorithm::baseline}},
      {"overlapped", {.algorithm = symm::Algorithm::overlapped, .segment_bytes = 64}},
      {"overlapped, 3 strands", {.algorithm = symm::Algorithm::overlapped, .strands = 3, .segment_bytes = 40}},
      {"overlapped, MPI's", {.algorithm = symm::Algorithm::overlapped, .backend = symm::Backend::mpi, .strands = 2}},
      {"cannon", {.algorithm = symm::Algorithm::cannon, .segment_bytes = 48}},
      {"cannon, one layer", {.algorithm = symm::Algorithm::cannon, .strands = 2, .layers = 1}},
      {"cannon, MPI's", {.algorithm = symm::Algorithm::cannon, .backend = symm::Backend::mpi, .strands = 2}},
      {"chosen", {}},
      {"mirrored", {.algorithm = symm::Algorithm::mirrored}},
      {"mirrored, short segments", {.algorithm = symm::Algorithm::mirrored, .segment_bytes = 40}},
  };
  return all;
}

struct SymmSquareCubes : ::testing::Test {
  mpi::Context context{test_comm()};
};

TEST_F(SymmSquareCubes, are_what_the_textbook_says_whatever_the_size) {
  for (const NamedOptions& way : ways()) {
    SCOPED_TRACE(way.name);
    for (const Index n : {0, 1, 3, 10, 23}) {
      SCOPED_TRACE(n);
      expect_products<double>(context, n, way.options);
    }
  }
}

TEST_F(SymmSquareCubes, are_right_of_blocks_that_have_several_panels) {
  const Index n = ranks() < 8 ? 131 : 150;  // 66 (33 of each half) or 75 columns of panels of 32
  expect_products<double>(context, n, {.algorithm = symm::Algorithm::mirrored, .segment_bytes = 1000});
}

TEST_F(SymmSquareCubes, are_the_same_on_a_smaller_mesh) {
  for (const NamedOptions& way : ways()) {
    SCOPED_TRACE(way.name);
    symm::Options options = way.options;
    options.edge = 1;
    expect_products<double>(context, 9, options);
  }
}

TEST_F(SymmSquareCubes, are_made_by_some_ranks_of_a_node_while_the_others_sleep) {
  for (const NamedOptions& way : ways()) {
    SCOPED_TRACE(way.name);
    symm::Options options = way.options;
    options.ranks_per_node = 1;
    expect_products<double>(context, 7, options);
  }
  EXPECT_THROW(symm::SquareCube<double>(context, 5, {.ranks_per_node = 0}), ArgumentError);
}

TEST_F(SymmSquareCubes, send_exactly_what_their_formulas_say) {
  constexpr Index n = 75;  // several panels, and blocks that differ
  for (const NamedOptions& way : ways()) {
    const bool is_blocking =
        way.options.algorithm == symm::Algorithm::original || way.options.algorithm == symm::Algorithm::baseline;
    if (is_blocking || way.options.backend == symm::Backend::mpi) continue;
    SCOPED_TRACE(way.name);
    symm::Options options = way.options;
    options.segment_bytes = 1000;
    SquareCubes<double> run(context, n, options);
    const auto expect = [&](const char* label, const std::vector<bench::SymmTransfer>& transfers) {
      Exchanged counted;
      for (const PeerClass peer : {PeerClass::node, PeerClass::network}) {
        counted.sent += context.counters()[label].sent_to(peer);
        counted.received += context.counters()[label].received_from(peer);
      }
      EXPECT_EQ(counted, bench::traffic_of(rank(), transfers)) << label;
    };
    context.counters().clear();
    run.kernel.square(run.d, run.d2);
    expect("symm square", bench::symm_transfers_of_square(run.kernel.mesh(), run.kernel.options(), sizeof(double)));
    run.kernel.square_cube(run.d, run.d2, run.d3);
    expect("symm square cube",
           bench::symm_transfers_of_square_cube(run.kernel.mesh(), run.kernel.options(), sizeof(double)));
  }
}

TEST_F(SymmSquareCubes, of_the_mirrored_algorithm_are_exactly_hermitian) {
  using Complex = std::complex<double>;
  SquareCubes<Complex> run(context, 37, {.algorithm = symm::Algorithm::mirrored});
  run.kernel.square_cube(run.d, run.d2, run.d3);
  for (const DistributedMatrix<Complex>* product : {&run.d2, &run.d3}) {
    std::vector<Complex> all(37 * 37);
    product->for_each_element(
        [&](Index row, Index column, const Complex& e) { all[static_cast<std::size_t>(row * 37 + column)] = e; });
    mpi::all_reduce(context.comm(), std::span<Complex>(all), mpi::Operation::sum());
    Index wrong = 0;
    for (std::size_t row = 0; row < 37; ++row) {
      for (std::size_t column = 0; column < 37; ++column)
        wrong += all[row * 37 + column] == std::conj(all[column * 37 + row]) ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0);
  }
}

TEST_F(SymmSquareCubes, come_into_tiles_that_lie_anyhow) {
  constexpr Index n = 19;
  SquareCubes<double> run(context, n, {.algorithm = symm::Algorithm::mirrored});
  const layout::TileExtent tile = context.rank() < run.kernel.layout().ranks()
                                      ? run.kernel.layout().tiles_of(context.rank()).at(0)
                                      : layout::TileExtent{};
  std::vector<double> rows(static_cast<std::size_t>(tile.rows * (tile.columns + 3)), -7);
  std::vector<double> columns(static_cast<std::size_t>((tile.rows + 2) * tile.columns), -7);
  const matrix_view<double> d2(rows.data(), tile.rows, tile.columns, tile.columns + 3, StorageOrder::row_major);
  const matrix_view<double> d3(columns.data(), tile.rows, tile.columns, tile.rows + 2);
  const std::size_t tiles = run.d.tiles().size();
  const std::span<const matrix_view<double>> squares(&d2, tiles);
  const std::span<const matrix_view<double>> cubes(&d3, tiles);
  const symm::SquareCube<double>::ConstTiles source = run.d.const_tiles();
  run.kernel.square_cube(source, squares, cubes);
  run.kernel.square_cube(run.d, run.d2, run.d3);
  for (Index row = 0; row < tile.rows; ++row) {
    for (Index column = 0; column < tile.columns; ++column) {
      ASSERT_EQ(d2(row, column), run.d2.tiles()[0](row, column));
      ASSERT_EQ(d3(row, column), run.d3.tiles()[0](row, column));
    }
  }
  for (Index row = 0; row < tile.rows; ++row)
    EXPECT_EQ(rows[static_cast<std::size_t>((row + 1) * (tile.columns + 3) - 1)], -7);
}

TEST_F(SymmSquareCubes, come_into_tiles_that_lie_one_above_the_other_in_one_array) {
  SquareCubes<double> run(context, 19, {});
  const std::size_t tiles = run.d.tiles().size();
  const Index rows = tiles > 0 ? run.d.tiles()[0].rows() : 0;
  const Index columns = tiles > 0 ? run.d.tiles()[0].columns() : 0;
  std::vector<double> array(static_cast<std::size_t>(3 * rows * columns), -7);
  const matrix_view<double> all(array.data(), 3 * rows, columns, std::max(Index{1}, 3 * rows));
  const matrix_view<double> d = all.part(0, 0, rows, columns);
  const matrix_view<double> d2 = all.part(rows, 0, rows, columns);
  const matrix_view<double> d3 = all.part(2 * rows, 0, rows, columns);
  for (Index i = 0; i < rows * columns; ++i) d(i % rows, i / rows) = run.d.tiles()[0](i % rows, i / rows);
  const matrix_view<const double> source = d;
  const std::span<const matrix_view<double>> squares(&d2, tiles);
  const std::span<const matrix_view<double>> cubes(&d3, tiles);
  run.kernel.square_cube(std::span(&source, tiles), squares, cubes);
  run.kernel.square_cube(run.d, run.d2, run.d3);
  for (Index i = 0; i < rows * columns; ++i) {
    ASSERT_EQ(d2(i % rows, i / rows), run.d2.tiles()[0](i % rows, i / rows));
    ASSERT_EQ(d3(i % rows, i / rows), run.d3.tiles()[0](i % rows, i / rows));
  }
}

TEST_F(SymmSquareCubes, are_refused_alike_on_all_ranks_where_arguments_are_wrong) {
  EXPECT_THROW(symm::SquareCube<double>(context, -1), ArgumentError);
  EXPECT_THROW(symm::SquareCube<double>(context, 5, {.strands = 0}), ArgumentError);
  EXPECT_THROW(symm::SquareCube<double>(context, 5, {.segment_bytes = 0}), ArgumentError);
  EXPECT_THROW(symm::SquareCube<double>(context, 5, {.edge = ranks() + 1}), ArgumentError);
  EXPECT_THROW(symm::SquareCube<double>(context, 5, {.algorithm = symm::Algorithm::cannon, .layers = ranks() + 1}),
               ArgumentError);
  EXPECT_THROW(symm::SquareCube<double>(context, rank() == 0 ? -1 : 5), ArgumentError);
  EXPECT_THROW(symm::SquareCube<double>(context, Index{1} << 40), LayoutError);
  SquareCubes<double> run(context, 5, {});
  DistributedMatrix<double> other(layout::Layout::rows({5, 5}, ranks()), rank());
  EXPECT_THROW(run.kernel.square(run.d, other), LayoutError);
  EXPECT_THROW(run.kernel.square_cube(run.d, run.d2, run.d2), ArgumentError);
  EXPECT_THROW(run.kernel.square(run.d, run.d), ArgumentError);
}

TEST_F(SymmSquareCubes, are_of_all_types) {
  for (const NamedOptions& way : ways()) {
    if (way.options.backend == symm::Backend::mpi || way.options.segment_bytes.value_or(40) != 40) continue;
    SCOPED_TRACE(way.name);
    expect_products<float>(context, 13, way.options);
    expect_products<std::complex<float>>(context, 13, way.options);
    expect_products<std::complex<double>>(context, 13, way.options);
  }
}

}  // namespace
}  // namespace plait::test
