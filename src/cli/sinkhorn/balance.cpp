#include "cli/sinkhorn/balance.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/balance/balance.hpp"
#include "plait/sinkhorn/balance/sparse_symmetric.hpp"
#include "plait/sinkhorn/scaling/sparse.hpp"

#include "cli/job/joint_stopwatch.hpp"
#include "cli/scaling/scaled_checkpoint.hpp"
#include "cli/scaling/scaled_job.hpp"
#include "cli/scaling/sparse_matrix_file.hpp"
#include "cli/sinkhorn/balance_report.hpp"

namespace plait::cli {

namespace {

/// What rows and columns that are not masked are to sum up to: those with a factor. This rank has `rows` rows.
sinkhorn::CheckedMarginals wanted_of_balance(mpi::Context& context, const std::vector<double>& factors, double sum,
                                             Index rows) {
  const Index first_row = mpi::sum_below(context.comm(), rows);
  return mpi::agreed(context, [&] {
    sinkhorn::CheckedMarginals wanted;
    for (const double factor : factors) {
      wanted.columns.push_back(factor == 0 ? 0 : sum);
      wanted.total += wanted.columns.back();
    }
    const auto first = wanted.columns.begin() + first_row;
    wanted.rows.assign(first, first + rows);
    wanted.first_row = first_row;
    wanted.all_rows = static_cast<Index>(factors.size());
    return wanted;
  });
}

/// Writes the factors of this rank's rows, NaN for masked ones.
void write_factors(mpi::Context& context, const BalanceOptions& options, const std::vector<double>& factors,
                   Index first_row, Index rows) {
  if (options.of_rows.empty()) return;
  const auto own = mpi::agreed(context, [&] {
    std::vector<double> part(factors.begin() + first_row, factors.begin() + first_row + rows);
    std::ranges::replace(part, 0.0, std::numeric_limits<double>::quiet_NaN());
    return part;
  });
  write_row_vector(context, options.of_rows, own, false);
}

/// What comes after reading.
///
/// \param all    since the job began
/// \param apply  apply(factors, wanted) balances the matrix in its place, and returns what its sums are off by
/// \param write  draws the balanced matrix, and writes it
template <class Apply, class Write>
void balance_and_tell(mpi::Context& context, const BalanceOptions& options, Meter& meter, const JointStopwatch& all,
                      sinkhorn::SymmetricOperand& operand, BalanceOutcome& result, const Apply& apply,
                      const Write& write) {
  ScaledCheckpoint checkpoint(context, options, "plait balance", {options.input},
                              {{"precision", name(result.precision)}, {"sum", options.sum}}, operand.rows(),
                              operand.columns());
  result.resumed_at = checkpoint.resumed_at();
  result.read_seconds = all.seconds();

  meter.stage("balancing", 0, 0);
  const JointStopwatch iterating(context);
  auto limits = limits_of(context, options, result.precision, meter, result.log);
  limits.checkpoints = checkpoint.of_scaling();
  const auto found = sinkhorn::balance(context, operand, options.sum, limits);
  result.iterate_seconds = iterating.seconds();
  result.outcome = found.outcome;
  result.iterations = found.outcome.iterations;
  result.masked = found.masked;

  const JointStopwatch writing(context);
  const auto wanted = wanted_of_balance(context, found.x, options.sum, operand.rows());
  result.check = apply(found.x, wanted);
  expect_plan(context, result.outcome, result.check, accuracy_of(options, result.precision));
  write(wanted);
  write_factors(context, options, found.x, wanted.first_row, operand.rows());
  checkpoint.end(result.outcome);
  result.write_seconds = writing.seconds();
  result.seconds = all.seconds();
}

template <class T>
BalanceOutcome balanced(mpi::Context& context, const BalanceOptions& options, const ScaledJob& job, Meter& meter,
                        NarrowedEntries& narrowed) {
  BalanceOutcome result;
  result.precision = job.precision;
  const JointStopwatch all(context);
  auto matrix = read_and_tell<T>(context, options.input, job.file, meter);
  narrowed = matrix.narrowed();
  const matrix_view<T> rows = matrix.rows();  // of the transpose, where the file has columns: that is the same
  result.swept_bytes = layout::elements(job.file.shape) * Index{sizeof(T)};
  sinkhorn::DenseSymmetricOperand<T> operand(rows, matrix.names());
  balance_and_tell(
      context, options, meter, all, operand, result,
      [&](const std::vector<double>& factors, const sinkhorn::CheckedMarginals& wanted) {
        sinkhorn::balance_in_place<T>(rows, wanted.first_row, factors);
        return sinkhorn::marginal_errors<T>(context, rows, wanted);
      },
      [&](const sinkhorn::CheckedMarginals& wanted) {
        sketch(context, options, matrix, wanted, result);
        write_matrix(context, options, matrix, meter);
      });
  return result;
}

template <class T>
BalanceOutcome balanced_sparse(mpi::Context& context, const BalanceOptions& options, const ScaledJob& job, Meter& meter,
                               NarrowedEntries& narrowed) {
  BalanceOutcome result;
  result.precision = job.precision;
  const JointStopwatch all(context);
  auto rows = read_sparse_and_tell<T>(context, options.input, job.file, meter, narrowed);
  result.swept_bytes = bytes_of_entries(context, rows);
  sinkhorn::SparseSymmetricOperand<T> operand(rows, most_support_bytes(context));
  balance_and_tell(
      context, options, meter, all, operand, result,
      [&](const std::vector<double>& factors, const sinkhorn::CheckedMarginals& wanted) {
        sinkhorn::balance_in_place<T>(rows, factors);
        return sinkhorn::marginal_errors<T>(context, rows, wanted);
      },
      [&](const sinkhorn::CheckedMarginals& wanted) {
        sketch(context, options, rows, wanted, result);
        const bool is_symmetric = sparse_header(job.file)->symmetry == io::MatrixMarketSymmetry::symmetric;
        write_sparse(context, options.output, rows,
                     is_symmetric ? io::MatrixMarketSymmetry::symmetric : io::MatrixMarketSymmetry::general);
      });
  return result;
}

}  // namespace

void run_balance(mpi::Context& context, const BalanceOptions& options) {
  const io::MatrixFile file = io::describe_matrix_file(context, options.input);
  mpi::agreed(context, [&] { expect_real(options.input, file); });
  const bool is_sparse = sparse_header(file) != nullptr;
  mpi::agreed(context, [&] {
    if (!is_sparse) expect_dense_output(options, "--matrix", "matrix");
  });
  const ScaledJob job = is_sparse ? prepared_sparse(context, options, file)
                                  : prepared(context, options, [](Precision) { return Index{0}; });
  const auto work = [&](Meter& meter) {
    return warn_of_underflow(context, options.input, [&](NarrowedEntries& narrowed) {
      return with_numbers_of(job.precision, [&]<class T, class A>() {
        return is_sparse ? balanced_sparse<T>(context, options, job, meter, narrowed)
                         : balanced<T>(context, options, job, meter, narrowed);
      });
    });
  };
  carry_out(
      context, options, work,
      [&](const BalanceOutcome& outcome) { return balance_json(context, options, job, outcome); },
      [&](const BalanceOutcome& outcome) { return balance_summary(options, job, outcome); },
      [&](const BalanceOutcome& outcome) { return balance_facts(options, outcome); });
}

}  // namespace plait::cli
