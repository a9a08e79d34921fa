#include "plait/sinkhorn/marginals/marginals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::sinkhorn {

void FirstFailure::note(mpi::Context& context, std::size_t own, const std::exception_ptr& failure) {
  context.expect_all_ranks();
  const auto lowest =
      static_cast<std::size_t>(mpi::all_reduce(context.comm(), static_cast<Index>(own), mpi::Operation::minimum()));
  if (lowest == first_) return;
  first_ = lowest;
  failure_ = own == lowest ? failure : nullptr;
}

void FirstFailure::expect_none(mpi::Context& context) const {
  if (first_ == problems_) return;
  if (problems_ == 1) return mpi::agree(context, failure_);
  try {
    mpi::agree(context, failure_);
  } catch (const ArgumentError& error) {  // the same on all ranks
    throw ArgumentError(fmt::format("marginals {}: {}", first_, error.what()));
  }
}

namespace {

void check_values(std::string_view what, std::span<const double> values, Index first) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= 0 && std::isfinite(values[i])) continue;
    throw ArgumentError(fmt::format("the marginal of {} {} is {}, expected a finite number >= 0", what,
                                    first + static_cast<Index>(i), values[i]));
  }
}

void check_length(std::size_t given, Index expected) {
  if (given == 0 || static_cast<Index>(given) == expected) return;
  throw ArgumentError(
      fmt::format("marginals of {} columns are given, expected {}, as many as the matrix has", given, expected));
}

double sum_of(std::span<const double> values) {
  long double sum = 0;
  for (const double value : values) sum += value;
  return static_cast<double>(sum);
}

bool are_alike(std::span<const double> values) {
  return std::ranges::adjacent_find(values, std::not_equal_to<>()) == values.end();
}

/// What this rank was given for one problem, as it is; ones where nothing was.
CheckedMarginals as_given(Index rows, Index columns, bool has_rows, const Marginals& marginals, Index first_row) {
  CheckedMarginals checked;
  if (has_rows && static_cast<Index>(marginals.rows.size()) != rows) {
    throw ArgumentError(fmt::format("marginals of {} rows are given, expected {}, as many as the rank has",
                                    marginals.rows.size(), rows));
  }
  check_length(marginals.columns.size(), columns);
  check_values("row", marginals.rows, first_row);
  check_values("column", marginals.columns, 0);
  if (static_cast<std::size_t>(std::max(rows, columns)) > checked.columns.max_size()) {
    throw ArgumentError(
        fmt::format("the matrix has {} rows and {} columns, expected so few that memory can hold a number for each",
                    rows, columns));
  }
  checked.rows.assign(marginals.rows.begin(), marginals.rows.end());
  checked.columns.assign(marginals.columns.begin(), marginals.columns.end());
  checked.rows.resize(static_cast<std::size_t>(rows), 1);
  checked.columns.resize(static_cast<std::size_t>(columns), 1);
  return checked;
}

void spread(std::vector<double>& values, double sum, Index count) {
  std::ranges::fill(values, count == 0 ? 0 : sum / static_cast<double>(count));
}

/// Of several problems those before the first one that fails.
std::vector<CheckedMarginals> masses_of(mpi::Context& context, Index rows, Index columns,
                                        std::span<const Marginals> problems, FirstFailure& failure) {
  const mpi::Communicator& comm = context.comm();
  std::vector<CheckedMarginals> all;
  std::vector<Index> counts;  // of rows; of rows for which something is given, in each problem
  std::vector<Index> most;    // columns; of each problem's marginals of columns the digest, and its complement
  std::vector<double> numbers;
  std::vector<double> highest;  // marginal of a row in each problem, and minus the lowest
  mpi::agreed(context, [&] {
    all.reserve(problems.size());
    counts.assign(1 + problems.size(), rows);
    most.assign(1 + 2 * problems.size(), columns);
    numbers.resize(problems.size());
    highest.assign(2 * problems.size(), -std::numeric_limits<double>::infinity());
  });
  for (std::size_t k = 0; k < problems.size(); ++k) {
    counts[k + 1] = static_cast<Index>(problems[k].rows.size());
    most[2 * k + 1] = digest_of(problems[k].columns);
    most[2 * k + 2] = ~most[2 * k + 1];
  }
  const Index first_row = mpi::sum_below(comm, rows);
  mpi::all_reduce(comm, std::span<Index>(counts), mpi::Operation::sum());
  mpi::all_reduce(comm, std::span<Index>(most), mpi::Operation::maximum());
  failure.check_each(context, [&](std::size_t k) {
    if (columns != most[0]) {
      throw ArgumentError(fmt::format("this rank's rows have {} columns, those of others {}", columns, most[0]));
    }
    all.push_back(as_given(rows, columns, counts[k + 1] > 0, problems[k], first_row));
    if (most[2 * k + 1] != ~most[2 * k + 2]) {
      throw ArgumentError("the marginals of the columns differ from rank to rank, expected the same on all ranks");
    }
  });
  const std::size_t count = failure.first();
  all.resize(count);
  numbers.resize(count);
  highest.resize(2 * count);

  for (std::size_t k = 0; k < count; ++k) {
    CheckedMarginals& checked = all[k];
    checked.first_row = first_row;
    checked.all_rows = counts[0];
    const bool has_columns = !problems[k].columns.empty();
    if (counts[k + 1] == 0 && has_columns) spread(checked.rows, sum_of(checked.columns), checked.all_rows);
    numbers[k] = sum_of(checked.rows);
  }
  mpi::all_reduce(comm, std::span<double>(numbers), mpi::Operation::sum());
  for (std::size_t k = 0; k < count; ++k) {
    CheckedMarginals& checked = all[k];
    checked.total = numbers[k];
    if (problems[k].columns.empty()) spread(checked.columns, checked.total, columns);
    for (const double own : checked.rows) {
      highest[2 * k] = std::max(highest[2 * k], own);
      highest[2 * k + 1] = std::max(highest[2 * k + 1], -own);
    }
  }
  mpi::all_reduce(comm, std::span<double>(highest), mpi::Operation::maximum());
  for (std::size_t k = 0; k < count; ++k) {
    all[k].are_uniform = highest[2 * k] <= -highest[2 * k + 1] && are_alike(all[k].columns);
  }
  return all;
}

/// \pre  these are the problems before the first one that failed
void make_totals_one(mpi::Context& context, std::vector<CheckedMarginals>& all, FirstFailure& failure) {
  failure.check_each(context, [&](std::size_t k) {
    const CheckedMarginals& checked = all[k];
    const double of_rows = checked.total;
    const double of_columns = sum_of(checked.columns);
    if (of_rows == 0 && of_columns == 0 && checked.all_rows > 0 && !checked.columns.empty()) {
      throw ArgumentError("the marginals of all rows and columns are 0, expected some mass to share out");
    }
    if (std::abs(of_rows - of_columns) <= sums_tolerance * std::max(of_rows, of_columns)) return;
    throw ArgumentError(
        fmt::format("the marginals of all rows sum up to {}, those of all columns to {}, expected sums that differ by "
                    "{} of them at most",
                    of_rows, of_columns, sums_tolerance));
  });
  for (CheckedMarginals& checked : all) {
    const double of_columns = sum_of(checked.columns);
    if (!(of_columns > 0)) continue;
    for (double& value : checked.columns) value *= checked.total / of_columns;
  }
}

}  // namespace

CheckedMarginals zero_marginals(mpi::Context& context, Index rows, Index columns) {
  CheckedMarginals zeros;
  mpi::agreed(context, [&] {
    zeros.rows.resize(static_cast<std::size_t>(rows));
    zeros.columns.resize(static_cast<std::size_t>(columns));
  });
  zeros.first_row = mpi::sum_below(context.comm(), rows);
  zeros.all_rows = mpi::all_reduce(context.comm(), rows, mpi::Operation::sum());
  return zeros;
}

void expect_as_many(mpi::Context& context, std::size_t problems) {
  const auto count = static_cast<Index>(problems);
  const Index most = mpi::all_reduce(context.comm(), count, mpi::Operation::maximum());
  mpi::agreed(context, [&] {
    if (count == most) return;
    throw ArgumentError(fmt::format("{} marginals are given, but {} on another rank", count, most));
  });
}

std::vector<CheckedMarginals> checked_marginals_of_each(mpi::Context& context, Index rows, Index columns,
                                                        std::span<const Marginals> problems, Totals totals) {
  FirstFailure failure(problems.size());
  auto checked = masses_of(context, rows, columns, problems, failure);
  if (totals == Totals::equal) make_totals_one(context, checked, failure);
  failure.expect_none(context);
  return checked;
}

CheckedMarginals checked_marginals(mpi::Context& context, Index rows, Index columns, const Marginals& marginals,
                                   Totals totals) {
  return std::move(checked_marginals_of_each(context, rows, columns, {&marginals, 1}, totals).front());
}

}  // namespace plait::sinkhorn
