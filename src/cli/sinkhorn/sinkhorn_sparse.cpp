#include "cli/sinkhorn/sinkhorn_sparse.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/sinkhorn/scaling/sparse.hpp"

#include "cli/job/joint_stopwatch.hpp"
#include "cli/scaling/scaled_checkpoint.hpp"
#include "cli/scaling/scaled_job.hpp"
#include "cli/scaling/sparse_matrix_file.hpp"
#include "cli/sinkhorn/sinkhorn_report.hpp"

namespace plait::cli {

namespace {

template <class T, class A>
ScaledOutcome scaled_sparse(mpi::Context& context, const SinkhornOptions& options, const ScaledJob& job, Meter& meter,
                            NarrowedEntries& narrowed) {
  ScaledOutcome result;
  result.precision = job.precision;
  const JointStopwatch all(context);
  auto rows = read_sparse_and_tell<T>(context, options.input, job.file, meter, narrowed);
  const auto given = ScaledMarginals::of_scaling(context, options, job.file.shape, false, rows.rows());
  const auto start = read_start<A>(context, options, false);
  ScaledCheckpoint checkpoint(context, options, "plait sinkhorn",
                              {options.input, options.rows, options.columns, options.start},
                              {{"precision", name(job.precision)}, {"sparse", true}}, rows.rows(), rows.shape.columns);
  result.resumed_at = checkpoint.resumed_at();
  result.read_seconds = all.seconds();

  meter.stage("scaling", 0, 0);
  const JointStopwatch iterating(context);
  auto limits = limits_of(context, options, job.precision, meter, result.log);
  limits.checkpoints = checkpoint.of_scaling();
  limits.most_support_bytes = most_support_bytes(context);
  const auto scaling = sinkhorn::scale<T, A>(context, rows, given.marginals(), limits, start);
  result.iterate_seconds = iterating.seconds();
  result.outcome = scaling.outcome;
  result.iterations = scaling.outcome.iterations;

  const JointStopwatch writing(context);
  sinkhorn::plan_in_place<T, A>(rows, scaling.u, scaling.v);
  const auto checked = sinkhorn::checked_marginals(context, rows.rows(), rows.shape.columns, given.marginals());
  result.check = sinkhorn::marginal_errors<T>(context, rows, checked);
  expect_plan(context, result.outcome, result.check, accuracy_of(options, result.precision));
  sketch(context, options, rows, checked, result);
  result.swept_bytes = bytes_of_entries(context, rows);
  write_sparse(context, options.output, rows, io::MatrixMarketSymmetry::general);
  write_vectors(context, options, scaling.u, scaling.v, false);
  checkpoint.end(result.outcome);
  result.write_seconds = writing.seconds();
  result.seconds = all.seconds();
  return result;
}

}  // namespace

bool stays_sparse(const SinkhornOptions& options, const io::MatrixFile& file) {
  return sparse_header(file) != nullptr && options.method == ScalingMethod::scaling && options.over_relaxation == 1 &&
         !options.grid.is_given() && options.precision != Precision::bf16;
}

void run_sparse_sinkhorn(mpi::Context& context, const SinkhornOptions& options, const io::MatrixFile& file) {
  const ScaledJob job = prepared_sparse(context, options, file);
  const auto work = [&](Meter& meter) {
    return warn_of_underflow(context, options.input, [&](NarrowedEntries& narrowed) {
      return with_numbers_of(job.precision, [&]<class T, class A>() {
        return scaled_sparse<T, A>(context, options, job, meter, narrowed);
      });
    });
  };
  const Index entries = sparse_header(file)->entries;
  carry_out(
      context, options, work,
      [&](const ScaledOutcome& outcome) {
        auto json = sinkhorn_json(context, options, job, outcome);
        json["entries"] = entries;
        return json;
      },
      [&](const ScaledOutcome& outcome) {
        return fmt::format("P = diag(u) K diag(v)   K is {}, sparse: {} entries in the file, {}\n{}",
                           layout::to_string(file.shape), entries, name(job.precision),
                           scaled_summary(options, file, outcome));
      },
      [&](const ScaledOutcome&) {
        return PageFacts{.rows = {{"method", std::string(name(options.method))},
                                  {"entries in the file", fmt::format("{}", entries)}},
                         .stages = {}};
      });
}

}  // namespace plait::cli
