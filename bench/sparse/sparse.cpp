// Sparse matrix times vector, against a streaming read of as many bytes as a rank has of matrix and vectors.
//
//   ./dev bench sparse
//   ./dev bench sparse --filter "27"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "plait/base/memory.hpp"
#include "plait/base/random.hpp"
#include "plait/base/rounding.hpp"
#include "plait/sparse/matrix.hpp"

#include "bench/harness/benchmark.hpp"
#include "bench/sinkhorn/streaming_read.hpp"

namespace {

using namespace plait;
using sparse::Rows;

// Small whole numbers, of which sums are exact.
template <class T>
T element(Index column) {
  return static_cast<T>(random_bits(1, static_cast<std::uint64_t>(column)) % 16);
}

// A grid of so many points, each with its neighbours, those at edges and corners included: in order, slices on ranks.
template <class T>
Rows<T> grid(const mpi::Context& context, Index planes, Index edge) {
  const Index slice = edge * edge, n = planes * slice;
  const Index begin = portion(n, context.rank(), context.size()), end = portion(n, context.rank() + 1, context.size());
  Rows<T> rows;
  for (Index row = begin; row < end; ++row) {
    const Index i = row / slice, j = row % slice / edge, k = row % edge;
    for (Index a = std::max<Index>(i - 1, 0); a < std::min(i + 2, planes); ++a) {
      for (Index b = std::max<Index>(j - 1, 0); b < std::min(j + 2, edge); ++b) {
        for (Index c = std::max<Index>(k - 1, 0); c < std::min(k + 2, edge); ++c) {
          if (planes == 1 && b != j && c != k) continue;  // of a square the sides alone
          const Index column = a * slice + b * edge + c;
          rows.columns.push_back(column);
          rows.values.push_back(column == row ? T{8} : T{-1});
        }
      }
    }
    rows.offsets.push_back(std::ssize(rows.columns));
  }
  return rows;
}

// Rows of so many entries in any columns.
template <class T>
Rows<T> random_rows(const mpi::Context& context, Index n, Index a_row) {
  Rows<T> rows;
  for (Index row = portion(n, context.rank(), context.size()); row < portion(n, context.rank() + 1, context.size());
       ++row) {
    for (Index k = 0; k < a_row; ++k) {
      const auto counter = static_cast<std::uint64_t>(row * a_row + k);
      const Index low = n * k / a_row, high = n * (k + 1) / a_row;
      rows.columns.push_back(low +
                             static_cast<Index>(random_bits(2, counter) % static_cast<std::uint64_t>(high - low)));
      rows.values.push_back(element<T>(row + k));
    }
    rows.offsets.push_back(std::ssize(rows.columns));
  }
  return rows;
}

template <class T>
struct Product {
  Product(mpi::Context& context, Rows<T> rows)
      : a(context, std::move(rows)),
        x(a.own_columns()),
        y(a.own_rows()),
        as_much((a.own_rows() + 1) * 8 + a.own_entries() * (4 + Index{sizeof(T)}) +
                (x.size() + y.size()) * Index{sizeof(T)}) {
    std::ranges::fill(as_much.span(), std::byte{1});
  }
  void rewrite() {
    for (Index i = 0; i < x.size(); ++i) x[i] = element<T>(a.first_column() + i);
    std::ranges::fill(y.span(), T{-1});
  }
  [[nodiscard]] Index wrong_elements() const {
    std::vector<T> expected(at(y.size()));
    a.for_each_entry(
        [&](Index row, Index column, T value) { expected[at(row - a.first_row())] += value * element<T>(column); });
    Index wrong = 0;
    for (Index i = 0; i < y.size(); ++i) wrong += y[i] == expected[at(i)] ? 0 : 1;
    return wrong;
  }

  sparse::Matrix<T> a;
  Array<T> x, y;
  Array<std::byte> as_much;
};

template <class T, class MakeRows>
bench::Case make_case(mpi::Context& context, const std::string& name, double of_limit, const MakeRows& make_rows) {
  bench::Case result;
  result.name = fmt::format("{} {} ranks={}", name, sizeof(T) == 4 ? "f32" : "f64", context.size());
  result.set_up = [&context, make_rows] {
    const auto product = std::make_shared<Product<T>>(context, make_rows(context));
    bench::Job job;
    job.rewrite = [=] { product->rewrite(); };
    job.run = [=] { product->a.multiply(product->x.span(), product->y.span()); };
    job.wrong_elements = [=] { return product->wrong_elements(); };
    for (const bench::Contender& read : bench::streaming_reads(std::as_bytes(product->as_much.span()))) {
      job.limits.push_back({read.name, [product, run = read.run] { run(); }});
    }
    return job;
  };
  if (of_limit > 0) result.gate.fraction_of_limit = of_limit;
  return result;
}

std::vector<bench::Case> cases(mpi::Context& context, bool quick) {
  const Index square = quick ? 200 : 2000, cube = quick ? 20 : 100, rows = quick ? 1000 : 20'000;
  const auto squares = [=](auto number, mpi::Context& on) { return grid<decltype(number)>(on, 1, square); };
  const auto cubes = [=](auto number, mpi::Context& on) { return grid<decltype(number)>(on, cube, cube); };
  const auto wide = [=](auto number, mpi::Context& on) { return random_rows<decltype(number)>(on, rows, 1000); };
  const auto of_doubles = [](auto make) { return [=](mpi::Context& on) { return make(double{}, on); }; };
  const auto of_floats = [](auto make) { return [=](mpi::Context& on) { return make(float{}, on); }; };
  return {make_case<double>(context, fmt::format("5 points {}x{}", square, square), .4, of_doubles(squares)),
          make_case<float>(context, fmt::format("5 points {}x{}", square, square), 0, of_floats(squares)),
          make_case<double>(context, fmt::format("27 points {}x{}x{}", cube, cube, cube), .5, of_doubles(cubes)),
          make_case<double>(context, fmt::format("1000 a row, {} rows", rows), 0, of_doubles(wide))};
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark(
      argc, argv,
      {"sparse",
       "y = A x of a sparse matrix, rows shared evenly among ranks: grids in order, with the neighbours across sides, "
       "or "
       "all 26; and rows of 1000 entries in any columns. Against a streaming read of as many bytes as each rank has of "
       "the matrix, x and y",
       {1, 2},
       cases});
}
