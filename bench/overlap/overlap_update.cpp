#include "bench/overlap/overlap_update.hpp"

#include <algorithm>
#include <cstddef>

namespace plait::bench {

void Update::rewrite() const noexcept {
  for (Index row = 0; row < rows; ++row) std::fill_n(matrix_.data() + row * columns_, columns_, before(row));
}

void Update::apply(std::span<const double> vector, Index first) const noexcept {
  for (Index row = 0; row < rows; ++row) {
    double* const elements = matrix_.data() + row * columns_ + first;
    for (std::size_t i = 0; i < vector.size(); ++i) elements[i] += vector[i];
  }
}

}  // namespace plait::bench
