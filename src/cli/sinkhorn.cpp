#include "cli/sinkhorn.hpp"

#include <fmt/format.h>

#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/scale.hpp"

#include "cli/option_value.hpp"
#include "cli/scaled_checkpoint.hpp"
#include "cli/scaled_job.hpp"
#include "cli/sinkhorn_report.hpp"
#include "cli/sinkhorn_sparse.hpp"

namespace plait::cli {

namespace {

template <class T, class A>
ScaledOutcome scaled(mpi::Context& context, const SinkhornOptions& options, const io::MatrixFile& file,
                     Precision precision, Meter& meter) {
  ScaledOutcome result;
  result.precision = precision;
  const JointStopwatch all(context);
  meter.stage("reading " + options.input, 0, layout::elements(file.shape) * io::bytes(file.dtype));
  auto matrix = read_scaled<T>(context, options.input, file, meter.progress());
  const matrix_view<T> rows = matrix.rows();
  ScaledMarginals given(context, options, file.shape, matrix.is_transposed(), rows.rows());
  if (options.rows.empty() && options.columns.empty()) given.default_to_rows_of_one(file.shape, matrix.is_transposed());
  const auto start = read_start<A>(context, options, matrix.is_transposed());
  ScaledCheckpoint checkpoint(
      context, options, "plait sinkhorn", {options.input, options.rows, options.columns, options.start},
      {{"precision", name(precision)}, {"over_relaxation", options.over_relaxation}}, rows.rows(), rows.columns());
  result.resumed_at = checkpoint.resumed_at();
  result.read_seconds = all.seconds();

  meter.stage("scaling", 0, 0);
  const JointStopwatch iterating(context);
  auto limits = limits_of(options, precision, meter);
  limits.checkpoints = checkpoint.of_scaling();
  const auto scaling =
      options.form == ScalingForm::scaling
          ? sinkhorn::scale<T, A>(context, rows, given.marginals(), limits, start, {1, 1, options.over_relaxation})
          : sinkhorn::scale_in_place<T, A>(context, rows, given.marginals(), sinkhorn::InPlaceForm::fused, limits);
  result.iterate_seconds = iterating.seconds();
  result.outcome = scaling.outcome;
  result.iterations = scaling.outcome.iterations;

  const JointStopwatch writing(context);
  if (options.form == ScalingForm::scaling) sinkhorn::plan_in_place<T, A>(rows, scaling.u, scaling.v);
  const auto checked = sinkhorn::checked_marginals(context, rows.rows(), rows.columns(), given.marginals());
  result.check = sinkhorn::marginal_errors<T>(context, rows, checked);
  expect_plan(context, result.outcome, result.check);
  write_plan(context, options, matrix, scaling.u, scaling.v, meter);
  checkpoint.remove();
  result.write_seconds = writing.seconds();
  result.seconds = all.seconds();
  return result;
}

}  // namespace

void run_sinkhorn(mpi::Context& context, const SinkhornOptions& options) {
  const io::MatrixFile file = io::describe_matrix_file(context, options.input);
  if (stays_sparse(options, file)) return run_sparse_sinkhorn(context, options, file);
  mpi::agreed(context, [&] {
    if (!ends_like(options.output, ".mtx")) return;
    throw ArgumentError(
        fmt::format("--output: {} would be a sparse plan, but {} is scaled as a dense matrix, expected "
                    "the name of a .npy file",
                    options.output, options.input));
  });
  const ScaledJob job = prepared(context, options, [&options](Precision precision) -> Index {
    return precision == Precision::bf16 && !options.output.empty() ? 4 : 0;
  });
  const auto work = [&](Meter& meter) {
    switch (job.precision) {
      case Precision::f32: return scaled<float, float>(context, options, job.file, job.precision, meter);
      case Precision::mixed: return scaled<float, double>(context, options, job.file, job.precision, meter);
      case Precision::bf16: return scaled<simd::BFloat16, float>(context, options, job.file, job.precision, meter);
      default: return scaled<double, double>(context, options, job.file, job.precision, meter);
    }
  };
  const auto report = [&](const ScaledOutcome& outcome) { return sinkhorn_json(context, options, job, outcome); };
  const auto summary = [&](const ScaledOutcome& outcome) {
    return fmt::format("P = diag(u) K diag(v)   K is {}, {}, {}\n{}", layout::to_string(job.file.shape),
                       name(job.precision), name(options.form), scaled_summary(options, job.file, outcome));
  };
  carry_out(context, options, work, report, summary);
}

}  // namespace plait::cli
