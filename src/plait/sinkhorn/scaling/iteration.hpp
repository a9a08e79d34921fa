#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/sinkhorn/sweep/update.hpp"

namespace plait::sinkhorn {

/// One of the ways to carry an iteration out on the rows of this rank; what `scale` goes round with. Local.
template <class A>
class Iteration {
 public:
  Iteration(std::span<const double> rows, std::span<const double> columns)
      : row_marginals_(rows), column_marginals_(columns), u_(rows.size(), A{1}), v_(columns.size(), A{1}) {}
  virtual ~Iteration() = default;

  /// Gives the rows their sums, and adds to `sums` this rank's part of those of the columns, up to a factor that
  /// belongs to the column.
  virtual void rows(std::span<A> sums) = 0;

  /// Σ_j |sum of the plan's column j - its marginal|
  [[nodiscard]] virtual double distance(std::span<const A> sums) const = 0;

  /// What this rank's rows are off by where they do not get just their sums, and what all columns are to sum up to
  /// where that depends on their factors; else nothing, and a negative number.
  [[nodiscard]] virtual double row_distance() const { return 0; }
  [[nodiscard]] virtual double whole() const { return -1; }

  /// Gives the columns their sums.
  virtual void columns(std::span<const A> sums) = 0;

  /// What this rank's rows are to sum up to, where that depends on their factors, and what is done with the sum over
  /// all ranks after `columns`: see `translation`. Tells whether factors of columns are still numbers.
  [[nodiscard]] virtual double wanted_of_rows() const { return 0; }
  [[nodiscard]] virtual bool translate(double /*wanted_of_rows*/) { return true; }

  [[nodiscard]] const std::vector<A>& u() const noexcept { return u_; }
  [[nodiscard]] const std::vector<A>& v() const noexcept { return v_; }
  [[nodiscard]] std::vector<A>& u() noexcept { return u_; }
  [[nodiscard]] std::vector<A>& v() noexcept { return v_; }

  /// How many rows, and columns, were left without a factor: their sums are 0 or no numbers, and their marginals are
  /// not 0.
  [[nodiscard]] Index starved_rows() const noexcept { return starved_rows_; }
  [[nodiscard]] Index starved_columns() const noexcept { return starved_columns_; }

 protected:
  [[nodiscard]] A row_factor(Index i, A sum) noexcept {
    return factor(row_marginals_[static_cast<std::size_t>(i)], sum, starved_rows_);
  }
  [[nodiscard]] A column_factor(std::size_t j, A sum) noexcept {
    return factor(column_marginals_[j], sum, starved_columns_);
  }
  [[nodiscard]] std::span<const double> row_marginals() const noexcept { return row_marginals_; }
  [[nodiscard]] std::span<const double> column_marginals() const noexcept { return column_marginals_; }

 private:
  [[nodiscard]] static A factor(double marginal, A sum, Index& starved) noexcept {
    if (marginal == 0) return A{0};
    const A quotient = static_cast<A>(marginal / static_cast<double>(sum));
    if (!(quotient > 0) || !std::isfinite(quotient)) ++starved;
    return quotient;
  }

  std::span<const double> row_marginals_;
  std::span<const double> column_marginals_;
  std::vector<A> u_;
  std::vector<A> v_;
  Index starved_rows_ = 0;
  Index starved_columns_ = 0;
};

/// An iteration that changes factors only: what is summed up is the matrix times those of the rows.
template <class A>
class FactorIteration : public Iteration<A> {
 public:
  using Iteration<A>::Iteration;

  [[nodiscard]] double distance(std::span<const A> sums) const final {
    double distance = 0;
    for (std::size_t j = 0; j < sums.size(); ++j) {
      distance +=
          std::abs(static_cast<double>(this->v()[j]) * static_cast<double>(sums[j]) - this->column_marginals()[j]);
    }
    return distance;
  }

  void columns(std::span<const A> sums) final {
    for (std::size_t j = 0; j < sums.size(); ++j) this->v()[j] = this->column_factor(j, sums[j]);
  }
};

/// An iteration that can give columns their sums a few at a time, as these come from the other ranks.
template <class A>
class PartwiseIteration : public Iteration<A> {
 public:
  using Iteration<A>::Iteration;

  /// Does nothing where that was done already, part by part.
  void columns(std::span<const A> sums) final {
    if (!std::exchange(has_rescaled_, false)) all_columns(sums);
  }

  /// In how many steps so many columns are given their sums; one at least.
  [[nodiscard]] virtual Index steps(Index columns) const = 0;

  /// One step of what `columns` does, for the columns from `first` on. Steps of the same columns are called in order,
  /// with the same sums; those of other columns may come in between.
  virtual void columns(Index first, std::span<const A> sums, Index step) = 0;

  /// After the last step of all columns.
  void note_rescaled() noexcept { has_rescaled_ = true; }
  [[nodiscard]] bool has_rescaled() const noexcept { return has_rescaled_; }

 private:
  virtual void all_columns(std::span<const A> sums) = 0;

  bool has_rescaled_ = false;
};

/// What an iteration works on; the marginals outlive it.
template <class T>
struct IterationTask {
  matrix_view<T> rows;
  std::span<const double> row_marginals;
  std::span<const double> column_marginals;
};

/// The scaling vectors change, the matrix does not: one read.
template <class T, class A>
[[nodiscard]] std::unique_ptr<Iteration<A>> scaling_iteration(const IterationTask<const T>& task);

/// The same with another update.
template <class T, class A>
[[nodiscard]] std::unique_ptr<Iteration<A>> relaxed_iteration(const IterationTask<const T>& task, const Update& update);

/// The matrix becomes the plan: one read and one write.
template <class T, class A>
[[nodiscard]] std::unique_ptr<Iteration<A>> in_place_iteration(const IterationTask<T>& task);

/// How Algorithm 3 cuts the matrix: mc × nc elements at a time.
struct Blocking {
  Index rows = 8;
  Index columns = 1000;
};

/// COFFEE's Algorithm 1: rows are summed up and multiplied, then each column is, down its elements.
template <class A>
[[nodiscard]] std::unique_ptr<PartwiseIteration<A>> typical_iteration(const IterationTask<A>& task);

/// COFFEE's Algorithm 2: the columns, too, are summed up and multiplied row by row.
template <class A>
[[nodiscard]] std::unique_ptr<PartwiseIteration<A>> by_rows_iteration(const IterationTask<A>& task);

/// COFFEE's Algorithm 3: these two passes in blocks, by kernels of vectors of four rows.
template <class A>
[[nodiscard]] std::unique_ptr<PartwiseIteration<A>> blocked_iteration(const IterationTask<A>& task, Blocking blocking);

}  // namespace plait::sinkhorn
