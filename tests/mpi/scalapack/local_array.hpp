#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "tests/mpi/scalapack/process_grid.hpp"

namespace plait::test {

/// How a matrix lies on a grid; extra is what the leading dimension has beyond need.
struct Distribution {
  int rows;
  int columns;
  int block_rows;
  int block_columns;
  int first_row;
  int first_column;
  int extra;
};

/// One process's array of a distributed matrix, its descriptor, and guards in all the gaps. Counts one element at a
/// time.
template <class T>
class LocalArray {
 public:
  LocalArray(const ProcessGrid& grid, const Distribution& d) {
    if (!grid.inside()) {
      // Outside, a descriptor may hold anything but a context.
      descriptor_ = {77, -1, -5, 1 << 30, 0, -3, 99, -99, -1};
      return;
    }
    for (int i = 0; i < d.rows; ++i) {
      if ((i / d.block_rows + d.first_row) % grid.rows() == grid.row()) rows_.push_back(i);
    }
    for (int j = 0; j < d.columns; ++j) {
      if ((j / d.block_columns + d.first_column) % grid.columns() == grid.column()) columns_.push_back(j);
    }
    leading_dimension_ = std::max(1, static_cast<int>(rows_.size()) + d.extra);
    descriptor_ = {1,           grid.context(), d.rows,
                   d.columns,   d.block_rows,   d.block_columns,
                   d.first_row, d.first_column, leading_dimension_};
    elements_.assign(static_cast<std::size_t>(leading_dimension_) * columns_.size() + 2, guard());
  }

  [[nodiscard]] const int* descriptor() const { return descriptor_.data(); }
  [[nodiscard]] int* descriptor() { return descriptor_.data(); }
  [[nodiscard]] T* data() { return elements_.empty() ? nullptr : elements_.data() + 1; }

  /// Calls f(row, column, element) for all elements, counted from 0.
  template <class F>
  void for_each(F&& f) {
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        f(rows_[i], columns_[j], elements_[1 + i + j * static_cast<std::size_t>(leading_dimension_)]);
      }
    }
  }

  /// Elements, guards included, that are not the same; NaN is the same as NaN.
  [[nodiscard]] int differences(const LocalArray& other) const {
    int count = 0;
    for (std::size_t k = 0; k < elements_.size(); ++k) {
      const T& a = elements_[k];
      const T& b = other.elements_[k];
      const bool same = a == b || (!(a == a) && !(b == b));
      count += same ? 0 : 1;
    }
    return count;
  }

 private:
  static T guard() { return T(-1234); }

  std::array<int, 9> descriptor_{};
  std::vector<int> rows_, columns_;
  int leading_dimension_ = 1;
  std::vector<T> elements_;
};

template <class T>
T exact(int seed, int i, int j) {
  const auto part = [&](int k) { return static_cast<double>((seed * 31 + i * 7 + j * 13 + k * 5) % 61 - 30); };
  if constexpr (requires(T z) { z.imag(); }) {
    using Real = typename T::value_type;
    return {static_cast<Real>(part(0)), static_cast<Real>(part(1))};
  } else {
    return static_cast<T>(part(0));
  }
}

/// Rows (or columns) of a part with a margin around it.
inline bool within_part(int index, int first, int length) { return index >= first - 1 && index < first - 1 + length; }

}  // namespace plait::test
