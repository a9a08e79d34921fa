#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/schedule.hpp"
#include "plait/simd/exact/column_sums.hpp"
#include "plait/simd/row_block.hpp"

namespace plait::collective {

/// For sums of numbers of which none in column c is above bounds[c] · 2^exponent: each is rounded to a multiple of
/// 2^-60 of that, or of less.
/// \param rows  how many there are in all, on all ranks
/// \pre  bounds[c] · 2^exponent < 2^900
[[nodiscard]] simd::ColumnWindow window_within(std::span<const double> bounds, int exponent, Index rows);

/// How many rows there are in each of some groups, which rows come to and go from, and the exact sums of their columns:
/// of this rank's rows and, once they are merged, of those of all ranks, with the same bits whoever has which row.
class GroupSums {
 public:
  /// No groups.
  GroupSums() = default;
  /// \throws std::bad_alloc
  GroupSums(const simd::ColumnWindow& window, Index groups) { begin(window, groups); }

  /// Begins with other columns, without rows.
  /// \throws std::bad_alloc
  void begin(const simd::ColumnWindow& window, Index groups);
  /// No row of this rank is in any group.
  void clear();

  /// Moves rows of x from group to group; without `from`, they were in none.
  template <class T>
  void move(simd::RowBlock<const T> x, std::span<const Index> rows, std::span<const std::int32_t> from,
            std::span<const std::int32_t> to);
  /// Adds rows that lie one after the other to a group.
  void add(const double* numbers, Index rows, Index group);

  /// Makes those of all ranks. Collective.
  /// \throws OutOfMemory  on all ranks, where one has too little
  void merge(mpi::Context& context);
  /// The same on rank 0 alone; on others they have no meaning.
  void merge_on_rank_0(mpi::Context& context);

  [[nodiscard]] Index groups() const noexcept { return changed_.count(); }
  /// Of all ranks, as they were merged.
  [[nodiscard]] Index count(Index group) const { return all_[group]; }
  [[nodiscard]] simd::ExactSum sum(Index group, Index column) const {
    return window_->sum(all_.data() + words_begin(group), column);
  }
  /// The same, rounded to nearest.
  [[nodiscard]] double rounded(Index group, Index column) const {
    return window_->rounded(all_.data() + words_begin(group), column);
  }
  /// Whether it has others than when changes were forgotten.
  [[nodiscard]] bool has_changed(Index group) const { return changed_[group] != 0; }
  void forget_changes();

 private:
  /// After all counts come the words of each group.
  [[nodiscard]] Index words_begin(Index group) const { return groups() + group * window_->words_of_group(); }
  void carry(Vector<std::int64_t>& sums) const;
  void copy_own();

  std::optional<simd::ColumnWindow> window_;
  Vector<std::int64_t> own_, all_, before_;
  Vector<char> changed_;
  Index rows_until_carry_ = 0;
  std::optional<schedule::Schedule> over_ranks_;
};

}  // namespace plait::collective
