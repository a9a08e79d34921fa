#include "plait/poisson/elimination.hpp"

namespace plait::poisson {

Elimination::Elimination(Index points, bool is_here, bool is_free, double roundoff,
                         const std::function<void(std::span<const double> in, std::span<double> out)>& a) {
  const std::size_t n = is_here ? at(points) : 0;
  const double nothing = 512 * roundoff;
  factors_.resize(n * n);
  std::vector<double> unit(n);
  for (std::size_t k = 0; k < at(points); ++k) {
    if (is_here) unit[k] = 1;
    a(unit, std::span(factors_).subspan(is_here ? n * k : 0, n));
    if (is_here) unit[k] = 0;
  }
  for (std::size_t k = 0; k < n; ++k) {
    double* const column = factors_.data() + k * n;
    const double whole = column[k];
    for (std::size_t c = 0; c < k; ++c) {
      if (column[c] == 0) continue;
      const double *const factors = factors_.data() + c * n, above = column[c];
      for (std::size_t i = c + 1; i < ends_[c]; ++i) column[i] -= factors[i] * above;
    }
    if (!(column[k] > nothing * whole) || (is_free && k + 1 == n)) column[k] = 0;
    ends_.push_back(k + 1);
    for (std::size_t i = k + 1; i < n; ++i) {
      column[i] = column[k] > 0 ? column[i] / column[k] : 0;
      if (column[i] != 0) ends_.back() = i + 1;
    }
  }
}

void Elimination::solve(std::span<double> x) const {
  const std::size_t n = x.size();
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = k + 1; i < ends_[k]; ++i) x[i] -= factors_[k * n + i] * x[k];
  }
  for (std::size_t k = n; k-- > 0;) {
    x[k] = factors_[k * n + k] > 0 ? x[k] / factors_[k * n + k] : 0;
    for (std::size_t i = 0; i < k; ++i) x[i] -= factors_[k * n + i] * x[k];
  }
}

}  // namespace plait::poisson
