#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plait/base/counters.hpp"
#include "plait/base/index.hpp"
#include "plait/base/memory.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/node/shared_pool.hpp"
#include "plait/schedule/schedule.hpp"

/// Sparse matrices of which each rank has some rows; a graph is the matrix of its edges.
namespace plait::sparse {

/// Rows of a matrix one after the other, each a list of entries by ascending column (CSR).
template <class T>
struct Rows {
  std::vector<Index> offsets{0};  // row r has the entries from offsets[r] up to offsets[r + 1] - 1
  std::vector<Index> columns;     // of each entry, in the whole matrix
  std::vector<T> values;          // likewise
};

/// A sparse matrix and its product with vectors, any number of times:
///
///     y ← A·x,   y_r = Σ over the entries (r, c): a_rc x_c
///
/// Rank 0 has the first rows, each rank any number of them, and as many elements of x as it has columns, which for a
/// square matrix is as many as it has rows. The elements of x that its rows need beside its own are its ghosts. They
/// come in one message from each owner, within a node straight into memory that its ranks share, while the rows are
/// computed that need none. A product receives ghosts().size() · sizeof(T) bytes.
///
/// Each row is summed up in the order of its columns: y has the same bits for any number of ranks.
///
/// Memory: 4 + sizeof(T) bytes an entry and 8 a row; while it is made, 8 + sizeof(T) an entry more, which are the rows
/// that it is made of, and 8 for each entry that needs a ghost.
///
/// T: float or double. Everything is collective over the context, which outlives this, but for what is const.
template <class T>
class Matrix {
 public:
  /// \param rows         of this rank
  /// \param own_columns  how many columns, elements of x, are this rank's; as many as rows, if not given
  /// \throws ArgumentError  on all ranks: offsets don't begin with 0, fall, or end elsewhere than columns and values; a
  ///                        column is out of range, or not above the one before, naming row and column; this rank has
  ///                        more than 2^32 columns with its ghosts; or element types differ between ranks
  /// \throws OutOfMemory    on all ranks, where one has too little
  Matrix(mpi::Context& context, Rows<T> rows, std::optional<Index> own_columns = {});
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  /// y ← A·x, of which each rank has its part of both.
  /// \pre  x.size() == own_columns(), y.size() == own_rows(); they don't overlap
  void multiply(std::span<const T> x, std::span<T> y) {
    begin(x, y);
    finish();
  }
  /// The same, to be under way while something else is done, such as a reduction.
  void begin(std::span<const T> x, std::span<T> y);
  /// Moves it along; true when it is over on this rank. Never waits.
  bool progress() { return schedule_->progress(); }
  void finish() { schedule_->wait(); }

  [[nodiscard]] Index rows() const noexcept { return row_ranges_.back(); }
  [[nodiscard]] Index columns() const noexcept { return column_ranges_.back(); }
  /// Rank r has the rows (columns) from ranges[r] up to ranges[r + 1] - 1.
  [[nodiscard]] std::span<const Index> row_ranges() const noexcept { return row_ranges_; }
  [[nodiscard]] std::span<const Index> column_ranges() const noexcept { return column_ranges_; }
  [[nodiscard]] Index first_row() const noexcept { return row_ranges_[at(context_.rank())]; }
  [[nodiscard]] Index first_column() const noexcept { return column_ranges_[at(context_.rank())]; }
  [[nodiscard]] Index own_rows() const noexcept { return row_ranges_[at(context_.rank()) + 1] - first_row(); }
  [[nodiscard]] Index own_columns() const noexcept { return column_ranges_[at(context_.rank()) + 1] - first_column(); }
  [[nodiscard]] Index own_entries() const noexcept { return values_.size(); }
  /// The columns that this rank needs of others, ascending, and so in the order of their owners.
  [[nodiscard]] std::span<const Index> ghosts() const noexcept { return ghosts_; }
  /// What each ghost's owner has for it among what it has for its columns. Collective, though const.
  [[nodiscard]] std::vector<Index> values_of_ghosts(std::span<const Index> own) const;

  /// Calls f(row, place, value) for the entries of this rank, row by row. Rows are counted from its first one; a place
  /// is a column counted from its first one, or own_columns() and more: that of ghosts()[place - own_columns()].
  template <class F>
  void for_each_place(F&& f) const {
    for (Index row = 0; row < own_rows(); ++row) {
      for (Index e = offsets_[at(row)]; e < offsets_[at(row) + 1]; ++e) f(row, Index{columns_[e]}, values_[e]);
    }
  }
  /// Calls f(row, column, value), both counted in the whole matrix.
  template <class F>
  void for_each_entry(F&& f) const {
    for_each_place([&](Index row, Index place, T value) {
      const bool is_own = place < own_columns();
      f(first_row() + row, is_own ? first_column() + place : ghosts_[at(place - own_columns())], value);
    });
  }

  /// What this rank sends and receives in a product.
  [[nodiscard]] const Exchanged& traffic() const noexcept { return schedule_->traffic(); }
  [[nodiscard]] mpi::Context& context() const noexcept { return context_; }

 private:
  // What goes to a rank, or comes from one: so many elements of `to_send_` or of the ghosts.
  struct Parcel {
    int peer;
    Index begin, count;
    T* shared = nullptr;  // where a rank of the node wants it
  };
  // Where a step of the product begins: a row, and the first of the outer rows that is not before it.
  struct Step {
    Index row, outer;
  };

  void number_columns(const Rows<T>& rows);
  void plan_ghosts();
  void share_memory();
  void build();
  void pack(const Parcel& parcel, Index step, T* to) const;
  void multiply_inner(Index step) const;
  void multiply_outer(Index step) const;
  template <class F>
  void sum_rows(Index begin, Index end, const F& element) const;
  [[nodiscard]] bool is_shared(const Parcel& parcel) const;

  mpi::Context& context_;
  std::vector<Index> row_ranges_, column_ranges_;
  std::vector<Index> offsets_;
  Array<std::uint32_t> columns_;  // places
  Array<T> values_;
  std::vector<Index> ghosts_;
  std::vector<Index> outer_;  // rows that need ghosts
  std::vector<Step> steps_;   // one more at the end
  std::vector<Parcel> outgoing_, incoming_;
  std::vector<std::uint32_t> to_send_;            // own columns
  Array<T> messages_, ordinary_;                  // what is sent, and ghosts, unless they lie in shared memory
  std::optional<mpi::SharedPool::Lease> shared_;  // of each rank: flags, where parcels begin, ghosts
  std::span<T> ghost_values_;
  const T* x_ = nullptr;
  T* y_ = nullptr;
  std::optional<schedule::Schedule> schedule_;  // last, so that a run under way ends while the rest is there
};

}  // namespace plait::sparse
