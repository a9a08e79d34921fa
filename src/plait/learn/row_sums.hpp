#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/simd/exact/column_sums.hpp"

namespace plait::learn {

/// Sums of rows of numbers, which do not depend on who has which row: each number is rounded to a multiple of 2^-60 of
/// what its column has at most, or of less, and these are added exactly.
class RowSums {
 public:
  /// Begins with sums of 0. No magnitude in column c is more than bounds[c] · 2^exponent.
  /// \param rows  how many there are in each group at most, on all ranks
  /// \pre  bounds[c] · 2^exponent < 2^900
  void begin(std::span<const double> bounds, int exponent, Index groups, Index rows);

  /// Adds rows that lie one after the other to a group.
  void add(const double* numbers, Index rows, Index group);

  /// Makes sums over all ranks of those of the ranks, on all of them or on rank 0. Collective.
  void merge(mpi::Context& context, bool on_rank_0 = false);

  [[nodiscard]] double operator()(Index group, Index column) const {
    return window_->sum(words_.data() + group * window_->words_of_group(), column).rounded<double>();
  }

 private:
  void carry();

  simd::ColumnSumKernel<double>* kernel_ = simd::column_sum_kernel<double>();
  std::optional<simd::ColumnWindow> window_;
  std::vector<double> bounds_;
  int exponent_ = 0;
  Index rows_ = 0;
  Index groups_ = 0;
  std::vector<std::int64_t> words_;
  Index rows_until_carry_ = 0;
};

}  // namespace plait::learn
