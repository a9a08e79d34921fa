#include "plait/sinkhorn/balance/sparse_symmetric.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "plait/base/contract.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/marginals/symmetry.hpp"

namespace plait::sinkhorn {

namespace {

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
      : context_(context), rows_(rows), most_for_each_(std::max(Index{1}, box_entries / context.size())) {
    first_.push_back(0);
    for (const Index own : mpi::all_gather(context.comm(), rows.rows())) first_.push_back(first_.back() + own);
    mpi::agreed(context, [&] {
      const auto ranks = static_cast<std::size_t>(context.size());
      cursors_.resize(ranks);
      send_counts_.resize(ranks);
      receive_counts_.resize(ranks);
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
    const std::vector<Index> ones(send_counts_.size(), 1);
    collective::all_to_all(context_, std::span<const Index>(send_counts_), ones, std::span<Index>(receive_counts_),
                           ones);
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
  std::optional<Mismatch> found_;
};

}  // namespace

template <class T>
void SparseSymmetricOperand<T>::expect_symmetric(mpi::Context& context) const {
  check_matrix(context, rows_, zero_marginals(context, rows(), columns()));
  expect_none(context, SparseComparison<T>(context, rows_).first_mismatch(), {});
}

template <class T>
void SparseSymmetricOperand<T>::multiply(std::span<const double> x, std::span<double> y) {
  for (Index i = 0; i < rows_.rows(); ++i) {
    const auto columns = rows_.columns_of(i);
    const auto values = rows_.values_of(i);
    double sum = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) sum += static_cast<double>(values[k]) * x[columns[k]];
    y[static_cast<std::size_t>(i)] = sum;
  }
}

template <class T>
Feasibility SparseSymmetricOperand<T>::feasibility_of(mpi::Context& context, const CheckedMarginals& marginals,
                                                      std::span<const double> heights) {
  return support_.feasibility(context, marginals, heights);
}

template <class T>
void balance_in_place(layout::SparseRows<T>& rows, std::span<const double> x) {
  PLAIT_ASSERT(static_cast<Index>(x.size()) == rows.shape.columns, "there is a factor for each row");
  for (Index i = 0; i < rows.rows(); ++i) {
    const auto columns = rows.columns_of(i);
    const auto values = rows.values_of(i);
    const double own = x[static_cast<std::size_t>(rows.first_row + i)];
    for (std::size_t k = 0; k < columns.size(); ++k) {
      values[k] = static_cast<T>(balanced_entry(static_cast<double>(values[k]), own, x[columns[k]]));
    }
  }
}

template class SparseSymmetricOperand<double>;
template class SparseSymmetricOperand<float>;
template void balance_in_place(layout::SparseRows<double>&, std::span<const double>);
template void balance_in_place(layout::SparseRows<float>&, std::span<const double>);

}  // namespace plait::sinkhorn
