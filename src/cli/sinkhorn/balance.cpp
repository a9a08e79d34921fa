#include "cli/sinkhorn/balance.hpp"

#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/balance/balance.hpp"

#include "cli/scaling/scaled_job.hpp"
#include "cli/scaling/sparse_matrix_file.hpp"
#include "cli/sinkhorn/balance_report.hpp"
#include "cli/sinkhorn/balance_sparse.hpp"

namespace plait::cli {

namespace {

template <class T>
BalanceOutcome balanced(mpi::Context& context, const BalanceOptions& options, const ScaledJob& job, Meter& meter,
                        NarrowedEntries& narrowed) {
  BalanceOutcome result;
  result.precision = job.precision;
  const JointStopwatch all(context);
  auto matrix = read_and_tell<T>(context, options.input, job.file, meter);
  narrowed = matrix.narrowed();
  const matrix_view<T> rows = matrix.rows();  // of the transpose, where the file has columns: that is the same
  result.read_seconds = all.seconds();

  meter.stage("balancing", 0, 0);
  const JointStopwatch iterating(context);
  sinkhorn::DenseSymmetricOperand<T> operand(rows, matrix.names());
  const auto found =
      sinkhorn::balance(context, operand, options.sum, limits_of(context, options, job.precision, meter, result.log));
  result.iterate_seconds = iterating.seconds();
  result.outcome = found.outcome;
  result.iterations = found.outcome.iterations;
  result.masked = found.masked;

  const JointStopwatch writing(context);
  const Index first = mpi::sum_below(context.comm(), rows.rows());
  sinkhorn::balance_in_place<T>(rows, first, found.x);
  const auto wanted = wanted_of_balance(context, found.x, options.sum, first, rows.rows());
  result.check = sinkhorn::marginal_errors<T>(context, rows, wanted);
  expect_plan(context, result.outcome, result.check, accuracy_of(options, result.precision));
  sketch(context, options, matrix, wanted, result);
  result.swept_bytes = layout::elements(job.file.shape) * Index{sizeof(T)};
  write_matrix(context, options, matrix, meter);
  write_factors(context, options, found.x, first, rows.rows());
  result.write_seconds = writing.seconds();
  result.seconds = all.seconds();
  return result;
}

}  // namespace

void run_balance(mpi::Context& context, const BalanceOptions& options) {
  const io::MatrixFile file = io::describe_matrix_file(context, options.input);
  mpi::agreed(context, [&] { expect_real(options.input, file); });
  if (sparse_header(file) != nullptr) return run_sparse_balance(context, options, file);
  mpi::agreed(context, [&] { expect_dense_output(options, "--matrix", "matrix"); });
  const ScaledJob job = prepared(context, options, [](Precision) { return Index{0}; });
  carry_out_balance(context, options, job, [&]<class T>(Meter& meter, NarrowedEntries& narrowed) {
    return balanced<T>(context, options, job, meter, narrowed);
  });
}

}  // namespace plait::cli
