#include "plait/poisson/elimination.hpp"

namespace plait::poisson {

Elimination::Elimination(Index points, bool is_here,
                         const std::function<void(std::span<const double> in, std::span<double> out)>& a) {
  const std::size_t n = is_here ? at(points) : 0;
  factors_.resize(n * n);
  std::vector<double> unit(n, 1), column(n), sums(n);
  a(unit, sums);
  std::ranges::fill(unit, 0);
  for (std::size_t k = 0; k < at(points); ++k) {
    if (is_here) unit[k] = 1;
    a(unit, column);
    if (is_here) unit[k] = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (column[i] != 0) factors_[i * n + k] = column[i];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    double* const row = factors_.data() + i * n;
    Range range{i, i + 1};
    for (std::size_t k = 0; k < i; ++k) {
      if (row[k] == 0) continue;
      range.first = std::min(range.first, k);
      const double* const above = factors_.data() + k * n;
      row[k] = above[k] > 0 ? row[k] / above[k] : 0;
      for (std::size_t j = k + 1; j < ranges_[k].end; ++j) row[j] -= row[k] * above[j];
      sums[i] -= row[k] * sums[k];
    }
    row[i] = sums[i];
    for (std::size_t j = i + 1; j < n; ++j) {
      row[i] -= row[j];
      if (row[j] != 0) range.end = j + 1;
    }
    ranges_.push_back(range);
  }
}

void Elimination::solve(std::span<double> x) const {
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = ranges_[i].first; k < i; ++k) x[i] -= factors_[i * n + k] * x[k];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < ranges_[i].end; ++k) x[i] -= factors_[i * n + k] * x[k];
    x[i] = factors_[i * n + i] > 0 ? x[i] / factors_[i * n + i] : 0;
  }
}

}  // namespace plait::poisson
