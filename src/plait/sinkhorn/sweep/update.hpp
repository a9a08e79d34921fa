#pragma once

#include <cmath>

namespace plait::sinkhorn {

/// The update of one side, of logarithms of factors.
class LogUpdate {
 public:
  explicit LogUpdate(double exponent = 1) : exponent_(exponent) {}

  [[nodiscard]] double exponent() const noexcept { return exponent_; }
  /// Whether the sum has to be that of the marginal.
  [[nodiscard]] bool is_balanced() const noexcept { return exponent_ == 1; }
  /// How far the logarithm of what a sum is to be falls as that of its factor grows: epsilon / rho; 0 where it does
  /// not.
  [[nodiscard]] double slack() const noexcept { return 1 / exponent_ - 1; }

  /// What is to be added to a logarithm, where `log_ratio` is that of marginal / (sum with this very factor).
  [[nodiscard]] double change(double logarithm, double log_ratio) const noexcept {
    return exponent_ * log_ratio - (1 - exponent_) * logarithm;
  }

  /// What the sum is to be where the factor has this logarithm.
  [[nodiscard]] double wanted(double marginal, double logarithm) const noexcept {
    return exponent_ == 1 || marginal == 0 ? marginal : marginal * std::exp(logarithm * (1 - 1 / exponent_));
  }

 private:
  double exponent_;
};

/// How far factors go at a time. Sinkhorn and Knopp's own way is
///
///     u[i] ← r[i] / Σ_j K(i, j) v[j]
///
/// with exponents of 1. An exponent below 1 relaxes the sums of that side (Chizat et al., "Scaling algorithms for
/// unbalanced transport problems"), so that what they are to be depends on the factors:
///
///     u[i] ← (r[i] / Σ_j K(i, j) v[j])^exponent,  at whose end row i sums up to r[i] u[i]^(1 - 1 / exponent)
struct Update {
  LogUpdate rows = LogUpdate();
  LogUpdate columns = LogUpdate();

  /// Whether the sums have to be those of the marginals, of rows and of columns.
  [[nodiscard]] bool is_balanced() const noexcept { return rows.is_balanced() && columns.is_balanced(); }
};

/// What is to be added to all logarithms of rows' factors, and taken from those of columns, for both sides to be to sum
/// up to the same; 0 where that can't be had. No entry of the plan changes, and of all that could be so moved this is
/// the best. The updates alone get there in steps of a share `slack` of the way.
///
/// \param of_rows     what all rows are to sum up to, with their factors as they are
/// \param of_columns  likewise
///
/// Source: Séjourné et al., "Faster unbalanced optimal transport: translation invariant Sinkhorn and 1-D Frank-Wolfe",
/// 2022.
[[nodiscard]] inline double translation(const LogUpdate& rows, const LogUpdate& columns, double of_rows,
                                        double of_columns) noexcept {
  const double slack = rows.slack() + columns.slack();
  if (slack == 0 || !(of_rows > 0) || !(of_columns > 0)) return 0;
  const double found = (std::log(of_rows) - std::log(of_columns)) / slack;
  return std::isfinite(found) ? found : 0;
}

}  // namespace plait::sinkhorn
