#pragma once

#include <span>

#include "plait/base/index.hpp"
#include "plait/base/memory.hpp"

namespace plait::bench {

/// What is done with a vector that has been summed up: added to each row of a matrix, which has to come from memory and
/// go back, as matrices do whose columns are rescaled.
class Update {
 public:
  static constexpr Index rows = 4;

  explicit Update(Index columns) : columns_(columns), matrix_(rows * columns) {}

  void rewrite() const noexcept;
  /// Of columns from `first` on.
  void apply(std::span<const double> vector, Index first) const noexcept;
  /// \param summed  what the vector should have been at a column
  template <class F>
  [[nodiscard]] Index wrong_elements(const F& summed) const {
    Index wrong = 0;
    for (Index row = 0; row < rows; ++row) {
      for (Index i = 0; i < columns_; ++i) wrong += matrix_[row * columns_ + i] == before(row) + summed(i) ? 0 : 1;
    }
    return wrong;
  }

 private:
  [[nodiscard]] static double before(Index row) noexcept { return static_cast<double>(row + 1); }

  Index columns_;
  Array<double> matrix_;  // rows one after the other
};

}  // namespace plait::bench
