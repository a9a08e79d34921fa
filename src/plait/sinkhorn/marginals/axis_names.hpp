#pragma once

#include <string>
#include <string_view>

#include "plait/base/index.hpp"

namespace plait::sinkhorn {

/// What messages call the axes of a matrix. Where it is the transpose of the matrix that somebody gave, its rows are
/// columns to them.
class AxisNames {
 public:
  AxisNames() = default;
  [[nodiscard]] static AxisNames of_transpose() noexcept {
    AxisNames names;
    names.are_exchanged_ = true;
    return names;
  }

  [[nodiscard]] std::string_view row() const noexcept { return rows().substr(0, rows().size() - 1); }
  [[nodiscard]] std::string_view column() const noexcept { return columns().substr(0, columns().size() - 1); }
  [[nodiscard]] std::string_view rows() const noexcept { return are_exchanged_ ? "columns" : "rows"; }
  [[nodiscard]] std::string_view columns() const noexcept { return are_exchanged_ ? "rows" : "columns"; }

  /// "3 x 5": the shape of the one that was given, where the matrix has so many rows and columns.
  [[nodiscard]] std::string shape(Index rows, Index columns) const;

  /// "row 3, column 5": where an entry of the matrix is in the one that was given.
  [[nodiscard]] std::string place(Index row, Index column) const;

 private:
  bool are_exchanged_ = false;
};

}  // namespace plait::sinkhorn
