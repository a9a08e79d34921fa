#include "plait/sinkhorn/marginals/symmetry.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::sinkhorn {

namespace {

/// Which rows the ranks have: rank r those from first[r] on, up to first[r + 1].
std::vector<Index> first_rows(mpi::Context& context, Index own) {
  std::vector<Index> first{0};
  for (const Index rows : mpi::all_gather(context.comm(), own)) first.push_back(first.back() + rows);
  return first;
}

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

  [[nodiscard]] std::optional<Mismatch> first_mismatch() {
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
          keep_first(found_, {own + i, column, static_cast<double>(entry), static_cast<double>(*mirrored)});
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
  std::optional<Mismatch> found_;
};

}  // namespace

bool Mismatch::is_one() const noexcept {
  if (entry == mirrored) return false;  // infinite ones, too
  const double difference = std::abs(entry - mirrored);
  return std::isinf(difference) || difference > symmetry_tolerance * std::max(std::abs(entry), std::abs(mirrored));
}

void keep_first(std::optional<Mismatch>& found, const Mismatch& next) {
  if (!next.is_one()) return;
  if (!found || next.row < found->row || (next.row == found->row && next.column < found->column)) found = next;
}

void expect_none(mpi::Context& context, const std::optional<Mismatch>& found, const AxisNames& names) {
  mpi::agreed(context, [&] {
    if (!found) return;
    Mismatch told = *found;  // whichever of the two was found
    if (told.row > told.column) told = {told.column, told.row, told.mirrored, told.entry};
    throw ArgumentError(fmt::format("the entry in {} is {}, that in {} is {}, expected a symmetric matrix",
                                    names.place(told.row, told.column), told.entry, names.place(told.column, told.row),
                                    told.mirrored));
  });
}

template <class T>
void expect_symmetric(mpi::Context& context, matrix_view<const T> rows, const AxisNames& names) {
  expect_none(context, Comparison<T>(context, rows).first_mismatch(), names);
}

template void expect_symmetric(mpi::Context&, matrix_view<const double>, const AxisNames&);
template void expect_symmetric(mpi::Context&, matrix_view<const float>, const AxisNames&);

}  // namespace plait::sinkhorn
