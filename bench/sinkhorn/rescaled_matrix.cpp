#include "bench/sinkhorn/rescaled_matrix.hpp"

#include <algorithm>
#include <cmath>

#include "plait/simd/sweep/scaling_kernels.hpp"

#include "bench/sinkhorn/factor_iteration.hpp"
#include "bench/sinkhorn/sinkhorn_entry.hpp"

namespace plait::bench {

std::string_view name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::typical: return "algorithm-1";
    case Algorithm::by_rows: return "algorithm-2";
    case Algorithm::blocked: return "algorithm-3";
    case Algorithm::scaling: return "scaling";
  }
  return "";
}

RescaledMatrix::RescaledMatrix(Index n, double density)
    : n_(n),
      density_(density),
      elements_(n * n),
      marginals_(static_cast<std::size_t>(n), 1.0),
      sums_(static_cast<std::size_t>(n)) {
  rewrite();
}

void RescaledMatrix::rewrite() const {
  for (Index i = 0; i < n_; ++i) {
    for (Index j = 0; j < n_; ++j) elements_[i * n_ + j] = value(i, j);
  }
}

void RescaledMatrix::make(Algorithm algorithm) {
  using sinkhorn::InPlaceForm;
  if (algorithm == Algorithm::scaling) {
    iteration_ = std::make_unique<FactorIteration<double, double>>(view(), marginals_, marginals_);
    return;
  }
  const auto form = algorithm == Algorithm::typical   ? InPlaceForm::typical
                    : algorithm == Algorithm::by_rows ? InPlaceForm::by_rows
                                                      : InPlaceForm::blocked;
  iteration_ = sinkhorn::in_place_iteration<double, double>(form, view(), marginals_, marginals_);
}

void RescaledMatrix::iterate() {
  std::ranges::fill(sums_, 0.0);
  iteration_->rows(sums_);
  iteration_->columns(sums_);
}

void RescaledMatrix::rescale_rows() {
  for (Index i = 0; i < n_; ++i) {
    double* const row = elements_.data() + i * n_;
    double sum = 0;
    for (Index j = 0; j < n_; ++j) sum += row[j];
    const double factor = 1 / sum;
    for (Index j = 0; j < n_; ++j) row[j] *= factor;
  }
}

template <class F>
void RescaledMatrix::for_each_block(F&& f) {
  constexpr Index rows = 8;
  constexpr Index columns = 1000;
  for (Index j = 0; j < n_; j += columns) {
    for (Index i = 0; i < n_; i += rows) {
      f(j,
        simd::RowBlock<double>{elements_.data() + i * n_ + j, std::min(rows, n_ - i), std::min(columns, n_ - j), n_});
    }
  }
}

void RescaledMatrix::rescale_columns(Algorithm algorithm) {
  if (algorithm == Algorithm::typical) {
    for (Index j = 0; j < n_; ++j) {
      double sum = 0;
      for (Index i = 0; i < n_; ++i) sum += elements_[i * n_ + j];
      const double factor = 1 / sum;
      for (Index i = 0; i < n_; ++i) elements_[i * n_ + j] *= factor;
    }
    return;
  }
  std::ranges::fill(sums_, 0.0);
  if (algorithm == Algorithm::by_rows) {
    for (Index i = 0; i < n_; ++i) {
      for (Index j = 0; j < n_; ++j) sums_[static_cast<std::size_t>(j)] += elements_[i * n_ + j];
    }
    for (double& sum : sums_) sum = 1 / sum;
    for (Index i = 0; i < n_; ++i) {
      for (Index j = 0; j < n_; ++j) elements_[i * n_ + j] *= sums_[static_cast<std::size_t>(j)];
    }
    return;
  }
  const auto kernels = simd::scaling_kernels<double, double>();
  for_each_block([&](Index j, const simd::RowBlock<double>& block) {
    kernels.column_sums({block.data, block.rows, block.columns, n_}, marginals_.data(), sums_.data() + j, {});
  });
  for (double& sum : sums_) sum = 1 / sum;
  for_each_block(
      [&](Index j, const simd::RowBlock<double>& block) { kernels.multiply_columns(block, sums_.data() + j); });
}

Index RescaledMatrix::wrong_sums(Part part) const {
  std::vector<double> sums(static_cast<std::size_t>(n_));
  for (Index i = 0; i < n_; ++i) {
    for (Index j = 0; j < n_; ++j) sums[static_cast<std::size_t>(part == Part::rows ? i : j)] += elements_[i * n_ + j];
  }
  return std::ranges::count_if(sums, [](double sum) { return !(std::abs(sum - 1) < 1e-10); });
}

Index RescaledMatrix::wrong_plan() const {
  std::vector<double> sums(static_cast<std::size_t>(n_));
  for (Index i = 0; i < n_; ++i) {
    for (Index j = 0; j < n_; ++j) {
      sums[static_cast<std::size_t>(j)] += iteration_->factors().u[static_cast<std::size_t>(i)] *
                                           elements_[i * n_ + j] * iteration_->factors().v[static_cast<std::size_t>(j)];
    }
  }
  return std::ranges::count_if(sums, [](double sum) { return !(std::abs(sum - 1) < 1e-10); });
}

/// The diagonal is never 0, so that every row and column has an entry.
double RescaledMatrix::value(Index i, Index j) const {
  const double entry = sinkhorn_entry(i, j);
  if (density_ == 1 || i == j) return entry;
  return 2 * (sinkhorn_entry(j, i + 7) - 0.5) < density_ ? entry : 0;
}

}  // namespace plait::bench
