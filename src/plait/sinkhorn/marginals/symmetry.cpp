#include "plait/sinkhorn/marginals/symmetry.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::sinkhorn {

namespace {

/// An entry of a matrix, and its mirror image.
struct Mismatch {
  Index row = 0;
  Index column = 0;
  double entry = 0;
  double mirrored = 0;

  /// Whether they should be one and are not.
  [[nodiscard]] bool is_one() const noexcept {
    if (entry == mirrored) return false;  // infinite ones, too
    const double difference = std::abs(entry - mirrored);
    return std::isinf(difference) || difference > symmetry_tolerance * std::max(std::abs(entry), std::abs(mirrored));
  }
};

/// Keeps the one that comes first in the matrix.
void keep_first(std::optional<Mismatch>& found, const Mismatch& next) {
  if (!next.is_one()) return;
  if (!found || next.row < found->row || (next.row == found->row && next.column < found->column)) found = next;
}

/// \throws ArgumentError  on all ranks: one of them has found one. Collective over `context`
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

/// Which rows the ranks have: rank r those from first[r] on, up to first[r + 1].
std::vector<Index> first_rows(mpi::Context& context, Index own) {
  const auto counts = mpi::all_gather(context.comm(), own);
  return mpi::agreed(context, [&] {
    std::vector<Index> first{0};
    for (const Index rows : counts) first.push_back(first.back() + rows);
    return first;
  });
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

/// Where the next entries lie that are to go to a rank.
struct Cursor {
  Index row = 0;         // of this rank's
  std::size_t next = 0;  // entry of that row
};

/// Compares each entry with its mirror image, which another rank may have.
template <class T>
class SparseComparison {
 public:
  SparseComparison(mpi::Context& context, const layout::SparseRows<T>& rows)
      : context_(context),
        rows_(rows),
        most_for_each_(std::max(Index{1}, box_entries / context.size())),
        first_(first_rows(context, rows.rows())) {
    mpi::agreed(context, [&] {
      const auto ranks = static_cast<std::size_t>(context.size());
      cursors_.resize(ranks);
      send_counts_.resize(ranks);
      receive_counts_.resize(ranks);
      ones_.assign(ranks, 1);
      sent_.reserve(static_cast<std::size_t>(most_for_each_ * context.size()));
      came_.resize(static_cast<std::size_t>(most_for_each_ * context.size()));
    });
  }

  [[nodiscard]] std::optional<Mismatch> first_mismatch() {
    compare_own();
    while (true) {
      pack();
      const auto most = mpi::all_reduce(context_.comm(), static_cast<Index>(sent_.size()), mpi::Operation::maximum());
      if (most == 0) return found_;
      exchange();
    }
  }

 private:
  static constexpr Index box_entries = Index{1} << 18;

  struct Entry {
    Index row;
    Index column;
    T value;
  };

  [[nodiscard]] Index first(int rank) const { return first_[static_cast<std::size_t>(rank)]; }

  /// Where the entries of a row begin whose columns are not below this one.
  [[nodiscard]] std::size_t entries_from(Index row, Index column) const {
    const auto columns = rows_.columns_of(row);
    return static_cast<std::size_t>(
        std::ranges::lower_bound(columns, column, {}, [](std::uint32_t of) { return Index{of}; }) - columns.begin());
  }

  [[nodiscard]] T entry_at(Index row, Index column) const {
    const std::size_t at = entries_from(row, column);
    const auto columns = rows_.columns_of(row);
    return at < columns.size() && Index{columns[at]} == column ? rows_.values_of(row)[at] : T{0};
  }

  /// An entry of this matrix, of which this rank has the mirror image.
  void compare(const Entry& entry) {
    const Index own_row = entry.column - first(context_.rank());
    keep_first(found_, {entry.column, entry.row, static_cast<double>(entry_at(own_row, entry.row)),
                        static_cast<double>(entry.value)});
  }

  void compare_own() {
    const Index begin = first(context_.rank());
    for (Index i = 0; i < rows_.rows(); ++i) {
      const auto columns = rows_.columns_of(i);
      const auto values = rows_.values_of(i);
      for (std::size_t k = entries_from(i, begin); k < columns.size(); ++k) {
        if (Index{columns[k]} >= begin + rows_.rows()) break;
        compare({begin + i, Index{columns[k]}, values[k]});
      }
    }
  }

  void pack() {
    sent_.clear();
    for (int rank = 0; rank < context_.size(); ++rank) {
      const std::size_t before = sent_.size();
      if (rank != context_.rank()) pack_for(rank);
      send_counts_[static_cast<std::size_t>(rank)] = static_cast<Index>(sent_.size() - before);
    }
  }

  void pack_for(int rank) {
    Cursor& cursor = cursors_[static_cast<std::size_t>(rank)];
    Index left = most_for_each_;
    for (; cursor.row < rows_.rows(); ++cursor.row, cursor.next = 0) {
      const auto columns = rows_.columns_of(cursor.row);
      const auto values = rows_.values_of(cursor.row);
      std::size_t k = std::max(cursor.next, entries_from(cursor.row, first(rank)));
      for (; k < columns.size() && Index{columns[k]} < first(rank + 1); ++k) {
        if (left-- == 0) {
          cursor.next = k;
          return;
        }
        sent_.push_back({first(context_.rank()) + cursor.row, Index{columns[k]}, values[k]});
      }
    }
  }

  void exchange() {
    collective::all_to_all(context_, std::span<const Index>(send_counts_), ones_, std::span<Index>(receive_counts_),
                           ones_);
    const auto came =
        static_cast<std::size_t>(std::accumulate(receive_counts_.begin(), receive_counts_.end(), Index{0}));
    collective::all_to_all(context_, std::span<const Entry>(sent_), send_counts_, std::span(came_).first(came),
                           receive_counts_);
    for (std::size_t k = 0; k < came; ++k) compare(came_[k]);
  }

  mpi::Context& context_;
  const layout::SparseRows<T>& rows_;
  Index most_for_each_;
  std::vector<Index> first_;  // row of each rank, and the end
  std::vector<Cursor> cursors_;
  std::vector<Entry> sent_;
  std::vector<Entry> came_;
  std::vector<Index> send_counts_;
  std::vector<Index> receive_counts_;
  std::vector<Index> ones_;  // of each rank
  std::optional<Mismatch> found_;
};

}  // namespace

template <class T>
void expect_symmetric(mpi::Context& context, matrix_view<const T> rows, const AxisNames& names) {
  expect_none(context, Comparison<T>(context, rows).first_mismatch(), names);
}

template <class T>
void expect_symmetric(mpi::Context& context, const layout::SparseRows<T>& rows) {
  expect_none(context, SparseComparison<T>(context, rows).first_mismatch(), {});
}

template void expect_symmetric(mpi::Context&, matrix_view<const double>, const AxisNames&);
template void expect_symmetric(mpi::Context&, matrix_view<const float>, const AxisNames&);
template void expect_symmetric(mpi::Context&, const layout::SparseRows<double>&);
template void expect_symmetric(mpi::Context&, const layout::SparseRows<float>&);

}  // namespace plait::sinkhorn
