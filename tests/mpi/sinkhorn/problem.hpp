#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/base/random.hpp"
#include "plait/layout/axis.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/simd/row_block.hpp"

#include "support/ranks.hpp"

namespace plait::test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// A whole matrix with marginals, the same on all ranks, of which each rank gives nearly as many rows.
struct WholeProblem {
  Index rows = 0;
  Index columns = 0;
  std::vector<double> entries;  // row by row
  std::vector<double> r;
  std::vector<double> c;

  [[nodiscard]] double& operator()(Index i, Index j) { return entries[static_cast<std::size_t>(i * columns + j)]; }
  [[nodiscard]] double operator()(Index i, Index j) const { return entries[static_cast<std::size_t>(i * columns + j)]; }
};

/// Entries in (0.1, 1.1), marginals that add up to 1.
inline WholeProblem random_problem(Index rows, Index columns, std::uint64_t seed) {
  WholeProblem whole{rows, columns, {}, {}, {}};
  for (Index i = 0; i < rows * columns; ++i) {
    whole.entries.push_back(0.1 + random_uniform(seed, static_cast<std::uint64_t>(i)));
  }
  const auto marginals = [](Index n, std::uint64_t of) {
    std::vector<double> values;
    double sum = 0;
    for (Index i = 0; i < n; ++i) {
      values.push_back(0.2 + random_uniform(of, static_cast<std::uint64_t>(i)));
      sum += values.back();
    }
    for (double& value : values) value /= sum;
    return values;
  };
  whole.r = marginals(rows, seed + 1000);
  whole.c = marginals(columns, seed + 2000);
  return whole;
}

/// |x - y|^2 of points on a line.
inline WholeProblem costs_of(const std::vector<double>& x, const std::vector<double>& y) {
  WholeProblem whole{static_cast<Index>(x.size()), static_cast<Index>(y.size()), {}, {}, {}};
  for (const double a : x) {
    for (const double b : y) whole.entries.push_back((a - b) * (a - b));
  }
  return whole;
}

inline std::vector<double> points(Index n, std::uint64_t seed) {
  std::vector<double> values;
  for (Index i = 0; i < n; ++i) values.push_back(random_uniform(seed, static_cast<std::uint64_t>(i)));
  return values;
}

/// What the calling rank holds of one: rows with two elements of nobody's behind each.
template <class T>
struct OwnRows {
  explicit OwnRows(const WholeProblem& whole)
      : first(layout::Axis::even(whole.rows, ranks()).local_extent(rank()) == 0
                  ? 0
                  : layout::Axis::even(whole.rows, ranks()).global_of(rank(), 0)),
        rows(layout::Axis::even(whole.rows, ranks()).local_extent(rank())),
        columns(whole.columns),
        elements(static_cast<std::size_t>(rows * (columns + 2)), simd::narrowed<T>(-99.0)) {
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) {
        elements[static_cast<std::size_t>(i * (columns + 2) + j)] = simd::narrowed<T>(whole(first + i, j));
      }
    }
    const auto from = whole.r.begin() + first;
    if (!whole.r.empty()) r.assign(from, from + rows);
  }
  [[nodiscard]] matrix_view<T> view() { return {elements.data(), rows, columns, columns + 2, StorageOrder::row_major}; }
  [[nodiscard]] matrix_view<const T> const_view() const {
    return {elements.data(), rows, columns, columns + 2, StorageOrder::row_major};
  }

  Index first;
  Index rows;
  Index columns;
  std::vector<T> elements;
  std::vector<double> r;
};

/// The plan by the textbook: rows and columns in turns, in long double, until nothing changes any more.
inline std::vector<long double> reference_plan(const WholeProblem& whole, Index iterations = 400) {
  const auto at = [](const auto& values, Index i) {
    return static_cast<long double>(values[static_cast<std::size_t>(i)]);
  };
  std::vector<long double> plan(whole.entries.begin(), whole.entries.end());
  for (Index iteration = 0; iteration < iterations; ++iteration) {
    for (Index j = 0; j < whole.columns; ++j) {
      long double sum = 0;
      for (Index i = 0; i < whole.rows; ++i) sum += plan[static_cast<std::size_t>(i * whole.columns + j)];
      for (Index i = 0; i < whole.rows; ++i) {
        plan[static_cast<std::size_t>(i * whole.columns + j)] *= sum == 0 ? 0 : at(whole.c, j) / sum;
      }
    }
    for (Index i = 0; i < whole.rows; ++i) {
      long double sum = 0;
      for (Index j = 0; j < whole.columns; ++j) sum += plan[static_cast<std::size_t>(i * whole.columns + j)];
      for (Index j = 0; j < whole.columns; ++j) {
        plan[static_cast<std::size_t>(i * whole.columns + j)] *= sum == 0 ? 0 : at(whole.r, i) / sum;
      }
    }
  }
  return plan;
}

/// This rank's rows of a matrix, without its zeros.
template <class T>
layout::SparseRows<T> sparse(const WholeProblem& whole) {
  const OwnRows<double> own(whole);
  layout::SparseRows<T> rows;
  rows.shape = {whole.rows, whole.columns};
  rows.first_row = own.first;
  for (Index i = 0; i < own.rows; ++i) {
    for (Index j = 0; j < own.columns; ++j) {
      const double entry = own.const_view()(i, j);
      if (entry == 0) continue;
      rows.columns.push_back(static_cast<std::uint32_t>(j));
      rows.values.push_back(static_cast<T>(entry));
    }
    rows.starts.push_back(rows.entries());
  }
  return rows;
}

}  // namespace plait::test
