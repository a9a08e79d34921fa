#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/sinkhorn/course/acceleration.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/sweep/update.hpp"

namespace plait::sinkhorn {

/// The factors of a problem, and what is known of them. Local.
template <class A>
class Factors {
 public:
  Factors(std::span<const double> rows, std::span<const double> columns)
      : row_marginals(rows), column_marginals(columns), u(rows.size(), A{1}), v(columns.size(), A{1}) {}

  std::span<const double> row_marginals;
  std::span<const double> column_marginals;
  std::vector<A> u;
  std::vector<A> v;
  /// How many rows, and columns, were left without a factor: their sums are 0 or no numbers, their marginals are not 0.
  Index starved_rows = 0;
  Index starved_columns = 0;
  double wanted_of_rows = 0;  // what this rank's rows are to sum up to, where that depends on their factors

  /// \param exponent  see `Update`
  [[nodiscard]] A of_row(Index i, A sum, double exponent = 1) noexcept {
    return factor(row_marginals[static_cast<std::size_t>(i)], sum, exponent, starved_rows);
  }
  [[nodiscard]] A of_column(std::size_t j, A sum, double exponent = 1) noexcept {
    return factor(column_marginals[j], sum, exponent, starved_columns);
  }

  [[nodiscard]] static A factor(double marginal, A sum, double exponent, Index& starved) noexcept {
    if (marginal == 0) return A{0};
    const double quotient = marginal / static_cast<double>(sum);
    const A found = static_cast<A>(exponent == 1 ? quotient : std::pow(quotient, exponent));
    if (!(found > 0) || !std::isfinite(found)) ++starved;
    return found;
  }
};

/// Where the columns of a problem are summed up.
template <class A>
struct ColumnsOf {
  std::size_t problem = 0;
  std::span<A> sums;
};

/// What the sums of columns are off by, and what all of them are to sum up to where that depends on factors: else the
/// total of the marginals, and a negative number.
struct Distance {
  double off = 0;
  double whole = -1;
};

/// One of the ways to carry an iteration out on the rows of this rank, for several problems. Local.
template <class A>
class Iteration {
 public:
  explicit Iteration(std::vector<Factors<A>> problems) : problems_(std::move(problems)) {}
  virtual ~Iteration() = default;

  /// Gives the rows their sums, and adds to `sums` this rank's part of those of the columns, up to a factor that
  /// belongs to the column.
  virtual void rows(std::span<const ColumnsOf<A>> columns) = 0;
  [[nodiscard]] virtual Distance distance(std::size_t problem, std::span<const A> sums) const = 0;
  /// Gives the columns their sums.
  virtual void columns(std::size_t problem, std::span<const A> sums) = 0;
  /// See `Method::iterate`.
  [[nodiscard]] virtual std::optional<Iterate> iterate(std::size_t /*problem*/) { return std::nullopt; }
  virtual void find_slopes(std::size_t /*problem*/, std::span<const A> /*sums*/, std::span<double> /*slopes*/) const {}
  /// Moves factors from one side to the other after that, where the update has anything to do so; see `translation`.
  ///
  /// \param wanted_of_rows  of all ranks
  /// \return                whether factors of columns are still numbers
  [[nodiscard]] virtual bool translate(std::size_t /*problem*/, double /*wanted_of_rows*/) { return true; }

  /// The same of the only problem.
  void rows(std::span<A> sums) {
    const ColumnsOf<A> of{0, sums};
    rows(std::span<const ColumnsOf<A>>(&of, 1));
  }
  void columns(std::span<const A> sums) { columns(0, sums); }
  [[nodiscard]] std::vector<A>& u() noexcept { return problems_.front().u; }
  [[nodiscard]] std::vector<A>& v() noexcept { return problems_.front().v; }

  [[nodiscard]] std::vector<Factors<A>>& problems() noexcept { return problems_; }
  [[nodiscard]] const std::vector<Factors<A>>& problems() const noexcept { return problems_; }

 private:
  std::vector<Factors<A>> problems_;
};

/// What an iteration works on; the marginals outlive it.
template <class T>
struct IterationTask {
  matrix_view<T> rows;
  std::span<const double> row_marginals;
  std::span<const double> column_marginals;
  int threads = 1;  // of iterations that change the factors only
};

/// An iteration in which the matrix becomes the plan, of one problem.
template <class A>
class InPlaceIteration : public Iteration<A> {
 public:
  InPlaceIteration(std::span<const double> rows, std::span<const double> columns) : Iteration<A>({{rows, columns}}) {}

  void rows(std::span<const ColumnsOf<A>> columns) final {
    for (const ColumnsOf<A>& column : columns) add_rows(column.sums);
  }
  void columns(std::size_t /*problem*/, std::span<const A> sums) final { rescale(sums); }
  [[nodiscard]] Distance distance(std::size_t /*problem*/, std::span<const A> sums) const final {
    Distance found;
    const auto marginals = this->problems().front().column_marginals;
    for (std::size_t j = 0; j < sums.size(); ++j) {
      found.off += std::abs(static_cast<double>(sums[j]) - marginals[j]);
    }
    return found;
  }

  virtual void add_rows(std::span<A> sums) = 0;
  virtual void rescale(std::span<const A> sums) = 0;

 protected:
  [[nodiscard]] Factors<A>& factors() noexcept { return this->problems().front(); }
};

/// The matrix becomes the plan: one read and one write.
template <class T, class A>
[[nodiscard]] std::unique_ptr<InPlaceIteration<A>> in_place_iteration(const IterationTask<T>& task);

/// The factors change, the matrix does not: one read. Of one problem with a plain update.
template <class T, class A>
[[nodiscard]] std::unique_ptr<Iteration<A>> scaling_iteration(const IterationTask<const T>& task);

}  // namespace plait::sinkhorn
