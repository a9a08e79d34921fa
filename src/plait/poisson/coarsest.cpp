#include "plait/poisson/coarsest.hpp"

namespace plait::poisson {

std::vector<double> matrix_of(Index points, bool is_here, const SmallOperator& a) {
  const std::size_t n = is_here ? at(points) : 0;
  std::vector<double> matrix(n * n), in(n);
  for (std::size_t k = 0; k < at(points); ++k) {
    if (is_here) in[k] = 1;
    a(in, std::span(matrix).subspan(n * k * (is_here ? 1 : 0), n));
    if (is_here) in[k] = 0;
  }
  return matrix;
}

Coarsest::Coarsest(Index points, bool is_here, bool is_free, double roundoff, const SmallOperator& a)
    : factors_(matrix_of(points, is_here, a)) {
  const std::size_t n = is_here ? at(points) : 0;
  const double nothing = 512 * roundoff;
  for (std::size_t k = 0; k < n; ++k) {
    double* const column = factors_.data() + k * n;
    const double whole = column[k];
    for (std::size_t c = 0; c < k; ++c) {
      for (std::size_t i = c + 1; i < n; ++i) column[i] -= factors_[c * n + i] * column[c];
    }
    if (!(column[k] > nothing * whole) || (is_free && k + 1 == n)) column[k] = 0;
    for (std::size_t i = k + 1; i < n; ++i) column[i] = column[k] > 0 ? column[i] / column[k] : 0;
  }
}

void Coarsest::solve(std::span<double> x) const {
  const std::size_t n = x.size();
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = k + 1; i < n; ++i) x[i] -= factors_[k * n + i] * x[k];
  }
  for (std::size_t k = n; k-- > 0;) {
    x[k] = factors_[k * n + k] > 0 ? x[k] / factors_[k * n + k] : 0;
    for (std::size_t i = 0; i < k; ++i) x[i] -= factors_[k * n + i] * x[k];
  }
}

}  // namespace plait::poisson
