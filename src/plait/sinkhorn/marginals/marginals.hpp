#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/axis_names.hpp"

namespace plait::sinkhorn {

/// The sums that rows and columns of a plan are to have; none may be negative. Where those of the rows are left out,
/// they are all alike and add up to what the columns' do; likewise the columns'. Where both are, rows sum up to 1:
/// to ones for a square matrix.
struct Marginals {
  std::span<const double> rows;     // of this rank's rows
  std::span<const double> columns;  // of all columns; the same on all ranks
  AxisNames names = {};             // for messages
};

/// Marginals that were checked.
struct CheckedMarginals {
  std::vector<double> rows;     // of this rank's rows
  std::vector<double> columns;  // of all; their sum is that of all ranks' rows
  double total = 0;
  bool are_uniform = true;  // all rows alike, and all columns; of balancing, those that are not masked
  Index first_row = 0;      // the number in the matrix of this rank's first row
  Index all_rows = 0;
  AxisNames names = {};  // for messages
};

/// Sums of 0, with which nothing is asked of a matrix but that its entries are numbers that may be there. Collective
/// over `context`.
///
/// \param columns  of the matrix, of which this rank has `rows` rows
[[nodiscard]] CheckedMarginals zero_marginals(mpi::Context& context, Index rows, Index columns, AxisNames names = {});

/// Two sums of marginals differ if they do by more than this, relative to the larger one. If less, the columns' are
/// multiplied so that both are the same: without that no plan has them.
inline constexpr double sums_tolerance = 1e-6;

/// \throws ArgumentError  on all ranks: numbers of problems that differ from rank to rank. Collective over `context`
void expect_as_many(mpi::Context& context, std::size_t problems);

/// Collective over `context`.
///
/// \param columns  of the matrix, of which this rank has `rows` rows
/// \throws ArgumentError  on all ranks: a length that is not the matrix's, a marginal that is negative, infinite or no
///                        number, none but zeros, sums that differ, numbers of columns that differ from rank to rank
[[nodiscard]] CheckedMarginals checked_marginals(mpi::Context& context, Index rows, Index columns,
                                                 const Marginals& marginals);

/// The same where rows and columns may have different sums in all, of which none is changed: of unbalanced problems.
/// `total` is that of the rows.
[[nodiscard]] CheckedMarginals checked_masses(mpi::Context& context, Index rows, Index columns,
                                              const Marginals& marginals);

/// The same of several problems with one matrix, by as many messages as one takes. Collective over `context`; as many
/// problems on all ranks.
///
/// \throws ArgumentError  on all ranks: what the first problem that is wrong throws by itself, with its number in front
[[nodiscard]] std::vector<CheckedMarginals> checked_marginals_of_each(mpi::Context& context, Index rows, Index columns,
                                                                      std::span<const Marginals> problems);
[[nodiscard]] std::vector<CheckedMarginals> checked_masses_of_each(mpi::Context& context, Index rows, Index columns,
                                                                   std::span<const Marginals> problems);

}  // namespace plait::sinkhorn
