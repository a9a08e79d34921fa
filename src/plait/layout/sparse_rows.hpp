#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/shape.hpp"

namespace plait::layout {

/// How many columns a sparse matrix may have, as their numbers are stored in 32 bits: half of what an entry takes.
inline constexpr Index most_sparse_columns = Index{1} << 32;

/// A rank's rows of a sparse matrix, each a list of entries by ascending column (CSR). Rank 0 has the first rows.
template <class T>
struct SparseRows {
  Shape shape;                         // of the whole matrix
  Index first_row = 0;                 // of this rank's
  std::vector<Index> starts{0};        // where each row begins in the next two; one more at the end
  std::vector<std::uint32_t> columns;  // of each entry
  std::vector<T> values;

  [[nodiscard]] Index rows() const noexcept { return static_cast<Index>(starts.size()) - 1; }
  [[nodiscard]] Index entries() const noexcept { return static_cast<Index>(columns.size()); }
  [[nodiscard]] std::span<const std::uint32_t> columns_of(Index row) const {
    return std::span(columns).subspan(begin(row), begin(row + 1) - begin(row));
  }
  [[nodiscard]] std::span<const T> values_of(Index row) const {
    return std::span(values).subspan(begin(row), begin(row + 1) - begin(row));
  }
  [[nodiscard]] std::span<T> values_of(Index row) {
    return std::span(values).subspan(begin(row), begin(row + 1) - begin(row));
  }

 private:
  [[nodiscard]] std::size_t begin(Index row) const {
    return static_cast<std::size_t>(starts[static_cast<std::size_t>(row)]);
  }
};

}  // namespace plait::layout
