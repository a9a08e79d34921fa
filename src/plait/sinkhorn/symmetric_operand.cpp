#include "plait/sinkhorn/symmetric_operand.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/scaling_kernels.hpp"
#include "plait/sinkhorn/matrix_check.hpp"
#include "plait/sinkhorn/sweep.hpp"

namespace plait::sinkhorn {

namespace {

/// Which rows the ranks have: rank r those from first[r] on, up to first[r + 1].
std::vector<Index> first_rows(mpi::Context& context, Index own) {
  std::vector<Index> first{0};
  for (const Index rows : mpi::all_gather(context.comm(), own)) first.push_back(first.back() + rows);
  return first;
}

bool differ(double a, double b) { return std::abs(a - b) > symmetry_tolerance * std::max(std::abs(a), std::abs(b)); }

/// An entry of this rank's, and what its mirror image is.
template <class T>
struct Mismatch {
  Index row = 0;
  Index column = 0;
  T entry{};
  T mirrored{};
};

/// Compares the matrix with its transpose, whose rows come from their owners in pieces that need little memory.
template <class T>
class Comparison {
 public:
  Comparison(mpi::Context& context, matrix_view<const T> rows)
      : context_(context), rows_(rows), first_(first_rows(context, rows.rows())) {
    constexpr Index piece_bytes = Index{4} << 20;
    at_a_time_ = std::max(Index{1}, piece_bytes / (std::max(Index{1}, rows.columns()) * Index{sizeof(T)}));
    Index most = 0;
    for (int rank = 0; rank < context.size(); ++rank) most = std::max(most, rows_of(rank));
    rounds_ = (most + at_a_time_ - 1) / at_a_time_;
    mpi::agreed(context, [&] {
      sent_.resize(static_cast<std::size_t>(std::min(at_a_time_, rows.rows()) * rows.columns()));
      came_.resize(static_cast<std::size_t>(std::min(at_a_time_ * context.size(), first_.back()) * rows.rows()));
      send_counts_.resize(static_cast<std::size_t>(context.size()));
      receive_counts_.resize(static_cast<std::size_t>(context.size()));
    });
  }

  [[nodiscard]] std::optional<Mismatch<T>> first_mismatch() {
    for (Index round = 0; round < rounds_; ++round) {
      pack(round);
      collective::all_to_all(context_, std::span<const T>(sent_).first(sum(send_counts_)),
                             std::span<const Index>(send_counts_), std::span<T>(came_).first(sum(receive_counts_)),
                             std::span<const Index>(receive_counts_));
      compare(round);
    }
    return found_;
  }

 private:
  [[nodiscard]] Index first(int rank) const { return first_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Index rows_of(int rank) const { return first(rank + 1) - first(rank); }
  /// Those of a rank's rows that it sends in a round.
  [[nodiscard]] Index rows_in(Index round, int rank) const {
    return std::clamp(rows_of(rank) - round * at_a_time_, Index{0}, at_a_time_);
  }
  [[nodiscard]] static std::size_t sum(const std::vector<Index>& counts) {
    Index all = 0;
    for (const Index count : counts) all += count;
    return static_cast<std::size_t>(all);
  }

  void pack(Index round) {
    const Index rows = rows_in(round, context_.rank());
    T* to = sent_.data();
    for (int rank = 0; rank < context_.size(); ++rank) {
      for (Index i = 0; i < rows; ++i) {
        to = std::copy_n(rows_.data() + (round * at_a_time_ + i) * rows_.leading_dimension() + first(rank),
                         rows_of(rank), to);
      }
      send_counts_[static_cast<std::size_t>(rank)] = rows * rows_of(rank);
      receive_counts_[static_cast<std::size_t>(rank)] = rows_in(round, rank) * rows_.rows();
    }
  }

  void compare(Index round) {
    const T* mirrored = came_.data();
    const Index own = first(context_.rank());
    for (int rank = 0; rank < context_.size(); ++rank) {
      for (Index k = 0; k < rows_in(round, rank); ++k) {
        const Index column = first(rank) + round * at_a_time_ + k;
        for (Index i = 0; i < rows_.rows(); ++i, ++mirrored) {
          const T entry = rows_.data()[i * rows_.leading_dimension() + column];
          if (!differ(static_cast<double>(entry), static_cast<double>(*mirrored))) continue;
          const Index row = own + i;
          if (found_ && (row > found_->row || (row == found_->row && column > found_->column))) continue;
          found_ = {row, column, entry, *mirrored};
        }
      }
    }
  }

  mpi::Context& context_;
  matrix_view<const T> rows_;
  std::vector<Index> first_;
  Index at_a_time_ = 1;
  Index rounds_ = 0;
  std::vector<T> sent_;
  std::vector<T> came_;
  std::vector<Index> send_counts_;
  std::vector<Index> receive_counts_;
  std::optional<Mismatch<T>> found_;
};

}  // namespace

template <class T>
void DenseSymmetricOperand<T>::expect_symmetric(mpi::Context& context) const {
  const CheckedMarginals any = mpi::agreed(context, [&] {
    return CheckedMarginals{std::vector<double>(static_cast<std::size_t>(rows_.rows())),
                            std::vector<double>(static_cast<std::size_t>(rows_.columns()))};
  });
  CheckedMarginals numbered = any;
  numbered.first_row = mpi::sum_below(context.comm(), rows_.rows());
  static_cast<void>(check_matrix<T>(context, rows_, numbered));
  const auto found = Comparison<T>(context, rows_).first_mismatch();
  mpi::agreed(context, [&] {
    if (!found) return;
    throw ArgumentError(fmt::format(
        "the entry in row {}, column {} is {}, that in row {}, column {} is {}, expected a symmetric matrix",
        found->row, found->column, found->entry, found->column, found->row, found->mirrored));
  });
}

template <class T>
void DenseSymmetricOperand<T>::multiply(std::span<const double> x, std::span<double> y) {
  const auto kernels = simd::scaling_kernels<T, double>();
  for_each_block(rows_, {4, FetchAhead::none}, [&](Index first, const auto& block, const auto&, const auto&) {
    kernels.row_sums(block, x.data(), y.data() + first, {});
  });
}

template <class T>
Feasibility DenseSymmetricOperand<T>::feasibility_of(mpi::Context& context, const CheckedMarginals& marginals,
                                                     std::span<const double> heights) const {
  return feasibility<T>(context, rows_, Support::positive, marginals, heights);
}

template class DenseSymmetricOperand<double>;
template class DenseSymmetricOperand<float>;

}  // namespace plait::sinkhorn
