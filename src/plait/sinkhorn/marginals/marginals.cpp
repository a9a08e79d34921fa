#include "plait/sinkhorn/marginals/marginals.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::sinkhorn {

namespace {

void check_values(std::string_view what, std::span<const double> values, Index first) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= 0 && std::isfinite(values[i])) continue;
    throw ArgumentError(fmt::format("the marginal of {} {} is {}, expected a finite number >= 0", what,
                                    first + static_cast<Index>(i), values[i]));
  }
}

void check_length(std::string_view what, std::size_t given, Index expected) {
  if (given == 0 || static_cast<Index>(given) == expected) return;
  throw ArgumentError(
      fmt::format("marginals of {} {} are given, expected {}, as many as the matrix has", given, what, expected));
}

double sum_of(std::span<const double> values) {
  long double sum = 0;
  for (const double value : values) sum += value;
  return static_cast<double>(sum);
}

bool are_alike(std::span<const double> values) {
  return std::ranges::adjacent_find(values, std::not_equal_to<>()) == values.end();
}

}  // namespace

CheckedMarginals checked_masses(mpi::Context& context, Index rows, Index columns, const Marginals& marginals) {
  const mpi::Communicator& comm = context.comm();
  CheckedMarginals checked;
  const AxisNames& names = checked.names = marginals.names;
  checked.first_row = mpi::sum_below(comm, rows);
  checked.all_rows = mpi::all_reduce(comm, rows, mpi::Operation::sum());
  const Index most_columns = mpi::all_reduce(comm, columns, mpi::Operation::maximum());
  const Index given_rows = mpi::all_reduce(comm, static_cast<Index>(marginals.rows.size()), mpi::Operation::sum());
  const bool has_rows = given_rows > 0;
  const bool has_columns = !marginals.columns.empty();
  mpi::agreed(context, [&] {
    if (columns != most_columns) {
      throw ArgumentError(fmt::format("this rank's {} have {} {}, those of others {}", names.rows(), columns,
                                      names.columns(), most_columns));
    }
    if (has_rows && static_cast<Index>(marginals.rows.size()) != rows) {
      throw ArgumentError(fmt::format("marginals of {} {} are given, expected {}, as many as the rank has",
                                      marginals.rows.size(), names.rows(), rows));
    }
    check_length(names.columns(), marginals.columns.size(), columns);
    check_values(names.row(), marginals.rows, checked.first_row);
    check_values(names.column(), marginals.columns, 0);
    checked.rows.assign(marginals.rows.begin(), marginals.rows.end());
    checked.columns.assign(marginals.columns.begin(), marginals.columns.end());
    checked.rows.resize(static_cast<std::size_t>(rows), 1);
    checked.columns.resize(static_cast<std::size_t>(columns), 1);
  });

  const auto spread = [](std::vector<double>& values, double sum, Index count) {
    std::ranges::fill(values, count == 0 ? 0 : sum / static_cast<double>(count));
  };
  if (!has_rows && has_columns) spread(checked.rows, sum_of(checked.columns), checked.all_rows);
  checked.total = mpi::all_reduce(comm, sum_of(checked.rows), mpi::Operation::sum());
  if (!has_columns) spread(checked.columns, checked.total, columns);

  const double highest = checked.rows.empty() ? 0 : checked.rows.front();
  const double most = mpi::all_reduce(comm, highest, mpi::Operation::maximum());
  const bool alike = checked.rows.empty() || (are_alike(checked.rows) && checked.rows.front() == most);
  checked.are_uniform =
      mpi::all_reduce(comm, alike ? 1 : 0, mpi::Operation::minimum()) == 1 && are_alike(checked.columns);
  return checked;
}

CheckedMarginals checked_marginals(mpi::Context& context, Index rows, Index columns, const Marginals& marginals) {
  CheckedMarginals checked = checked_masses(context, rows, columns, marginals);
  const double of_rows = checked.total;
  const double of_columns = sum_of(checked.columns);
  mpi::agreed(context, [&] {
    if (std::abs(of_rows - of_columns) <= sums_tolerance * std::max(of_rows, of_columns)) return;
    throw ArgumentError(
        fmt::format("the marginals of all {} sum up to {}, those of all {} to {}, expected sums "
                    "that differ by {} of them at most",
                    checked.names.rows(), of_rows, checked.names.columns(), of_columns, sums_tolerance));
  });
  if (of_columns > 0) {
    for (double& value : checked.columns) value *= of_rows / of_columns;
  }
  return checked;
}

}  // namespace plait::sinkhorn
