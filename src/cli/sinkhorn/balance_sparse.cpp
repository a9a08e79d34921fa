#include "cli/sinkhorn/balance_sparse.hpp"

#include "plait/sinkhorn/balance/balance.hpp"
#include "plait/sinkhorn/balance/sparse_symmetric.hpp"
#include "plait/sinkhorn/scaling/sparse.hpp"

#include "cli/scaling/scaled_job.hpp"
#include "cli/scaling/sparse_matrix_file.hpp"
#include "cli/sinkhorn/balance_report.hpp"

namespace plait::cli {

namespace {

template <class T>
BalanceOutcome balanced_sparse(mpi::Context& context, const BalanceOptions& options, const ScaledJob& job, Meter& meter,
                               NarrowedEntries& narrowed) {
  BalanceOutcome result;
  result.precision = job.precision;
  const JointStopwatch all(context);
  auto rows = read_sparse_and_tell<T>(context, options.input, job.file, meter, narrowed);
  result.read_seconds = all.seconds();

  meter.stage("balancing", 0, 0);
  const JointStopwatch iterating(context);
  sinkhorn::SparseSymmetricOperand<T> operand(rows, most_support_bytes(context));
  const auto found =
      sinkhorn::balance(context, operand, options.sum, limits_of(context, options, job.precision, meter, result.log));
  result.iterate_seconds = iterating.seconds();
  result.outcome = found.outcome;
  result.iterations = found.outcome.iterations;
  result.masked = found.masked;
  if (result.outcome.status == sinkhorn::Status::iteration_limit) result.outcome.reason += operand.at_limit();

  const JointStopwatch writing(context);
  sinkhorn::balance_in_place<T>(rows, found.x);
  const auto wanted = wanted_of_balance(context, found.x, options.sum, rows.first_row, rows.rows());
  result.check = sinkhorn::marginal_errors<T>(context, rows, wanted);
  expect_plan(context, result.outcome, result.check, accuracy_of(options, result.precision));
  if (!options.page.empty()) result.sketch = sketch_of(context, rows, wanted);
  result.swept_bytes = bytes_of_entries(context, rows);
  const bool is_symmetric = sparse_header(job.file)->symmetry == io::MatrixMarketSymmetry::symmetric;
  write_sparse(context, options.output, rows,
               is_symmetric ? io::MatrixMarketSymmetry::symmetric : io::MatrixMarketSymmetry::general);
  write_factors(context, options, found.x, rows.first_row, rows.rows());
  result.write_seconds = writing.seconds();
  result.seconds = all.seconds();
  return result;
}

}  // namespace

void run_sparse_balance(mpi::Context& context, const BalanceOptions& options, const io::MatrixFile& file) {
  const ScaledJob job = prepared_sparse(context, options, file);
  carry_out_balance(context, options, job, [&]<class T>(Meter& meter, NarrowedEntries& narrowed) {
    return balanced_sparse<T>(context, options, job, meter, narrowed);
  });
}

}  // namespace plait::cli
