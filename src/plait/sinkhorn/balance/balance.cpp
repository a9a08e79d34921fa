#include "plait/sinkhorn/balance/balance.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/schedule/schedule.hpp"
#include "plait/sinkhorn/course/iterations.hpp"

namespace plait::sinkhorn {

namespace {

using schedule::Binding;

/// Of one problem; `v` is `u`, for all rows.
class Balancing final : public Method {
 public:
  /// \param marginals  which become 0 for rows that are masked
  Balancing(mpi::Context& context, SymmetricOperand& matrix, double sum, CheckedMarginals& marginals)
      : Method({&marginals, 1}),
        context_(context),
        matrix_(matrix),
        sum_(sum),
        first_(static_cast<std::size_t>(marginals.first_row)),
        products_of_all_(mpi::agreed(context, [&, counts = mpi::all_gather(context.comm(), matrix.rows())] {
          return collective::all_gather_schedule(context, counts, Index{sizeof(double)});
        })) {
    mpi::agreed(context, [&] {
      x_.assign(marginals.columns.size(), 1.0);
      products_.resize(marginals.columns.size());
      own_.resize(marginals.rows.size());
    });
    multiply();
    mask(marginals);
  }

  /// The error is that of the x before it moves on.
  void rows(std::span<const std::size_t> /*problems*/, std::span<Found> found) override {
    if (!are_products_of_x_) multiply();
    double distance = 0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (x_[i] != 0) distance += std::abs(x_[i] * products_[i] - sum_);
    }
    const double total = problem(0).total;
    found.front().error = total > 0 ? distance / total : 0;
  }

  [[nodiscard]] std::vector<std::size_t> columns(std::span<const std::size_t> /*problems*/) override {
    are_products_of_x_ = false;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (x_[i] == 0) continue;
      x_[i] = std::sqrt(sum_ * x_[i] / products_[i]);
      if (!(x_[i] > 0) || !std::isfinite(x_[i])) return {0};
    }
    return {};
  }

  [[nodiscard]] std::optional<Iterate> iterate(std::size_t /*problem*/) override {
    return Iterate{std::span(x_), false, problem(0).columns};
  }
  void find_slopes(std::size_t /*problem*/, std::span<double> slopes) override {
    for (std::size_t i = 0; i < x_.size(); ++i) slopes[i] = x_[i] == 0 ? 0 : sum_ - x_[i] * products_[i];
  }

  [[nodiscard]] std::vector<Feasibility> look_for_proof(std::span<const std::size_t> /*problems*/) override {
    return {matrix_.feasibility_of(context_, {&problem(0), own_part()})};
  }
  [[nodiscard]] Ending out_of_range(std::size_t /*problem*/, Index iteration) const override {
    return {iterate::End::numbers, fmt::format("factors or sums left the range of double in iteration {}", iteration)};
  }
  [[nodiscard]] std::string at_limit() const override { return matrix_.at_limit(); }

  void save(iterate::Checkpoint& checkpoint) const override {
    checkpoint.by_rank["u"].assign(own_part().begin(), own_part().end());
    checkpoint.shared["v"] = x_;
  }
  void resume(const iterate::Checkpoint& checkpoint) override {
    const auto& x = iterate::vector_of(checkpoint.shared, "v");
    if (x.size() != x_.size()) {
      throw ArgumentError(fmt::format("the state has factors for {} rows, expected {}", x.size(), x_.size()));
    }
    x_ = x;
    are_products_of_x_ = false;
  }

  [[nodiscard]] Balance balance(Outcome outcome) && { return {std::move(outcome), std::move(x_), masked_}; }

 private:
  [[nodiscard]] std::span<const double> own_part() const { return std::span(x_).subspan(first_, own_.size()); }

  void multiply() {
    matrix_.multiply(x_, own_);
    products_of_all_.start({{Binding::input(std::as_bytes(std::span(own_))),
                             Binding::output(std::as_writable_bytes(std::span(products_)))}});
    products_of_all_.wait();
    are_products_of_x_ = true;
  }

  void mask(CheckedMarginals& marginals) {
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (products_[i] != 0) continue;
      ++masked_;
      x_[i] = 0;
      marginals.columns[i] = 0;
    }
    std::copy_n(marginals.columns.begin() + marginals.first_row, marginals.rows.size(), marginals.rows.begin());
    marginals.total = sum_ * static_cast<double>(matrix_.columns() - masked_);
  }

  mpi::Context& context_;
  SymmetricOperand& matrix_;
  double sum_;
  std::size_t first_;
  schedule::Schedule products_of_all_;
  std::vector<double> x_;
  std::vector<double> products_;   // A x
  std::vector<double> own_;        // of this rank's rows
  bool are_products_of_x_ = true;  // or of the x before
  Index masked_ = 0;
};

}  // namespace

Balance balance(mpi::Context& context, SymmetricOperand& matrix, double sum, const Limits& limits) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add("sum", sum);
    name_arguments(limits, arguments);
    expect_valid(limits);
    if (sum > 0 && std::isfinite(sum)) return;
    throw ArgumentError(fmt::format("rows are to sum up to {}, expected a finite number > 0", sum));
  });
  const Index columns = mpi::all_reduce(context.comm(), matrix.columns(), mpi::Operation::maximum());
  const Index rows = mpi::all_reduce(context.comm(), matrix.rows(), mpi::Operation::sum());
  mpi::agreed(context, [&] {
    if (matrix.columns() == columns && rows == columns) return;
    throw ArgumentError(fmt::format("the matrix is {}, expected as many rows as columns",
                                    matrix.names().shape(rows, matrix.columns())));
  });
  matrix.expect_symmetric(context);
  CheckedMarginals marginals = zero_marginals(context, matrix.rows(), columns, matrix.names());
  std::ranges::fill(marginals.rows, sum);
  std::ranges::fill(marginals.columns, sum);
  Balancing balancing(context, matrix, sum, marginals);
  auto outcomes = iterated(context, balancing, limits, {roundoff_of<double>()});
  return std::move(balancing).balance(std::move(outcomes.front()));
}

}  // namespace plait::sinkhorn
