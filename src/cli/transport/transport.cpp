#include "cli/transport/transport.hpp"

#include <fmt/format.h>

#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

#include "cli/job/joint_stopwatch.hpp"
#include "cli/scaling/batch_report.hpp"
#include "cli/scaling/marginal_batch.hpp"
#include "cli/scaling/scaled_checkpoint.hpp"
#include "cli/scaling/scaled_job.hpp"
#include "cli/transport/transport_batch.hpp"
#include "cli/transport/transport_points.hpp"
#include "cli/transport/transport_report.hpp"

namespace plait::cli {

namespace {

template <class T, class A>
TransportOutcome transported(mpi::Context& context, const TransportJobOptions& options, const io::MatrixFile& file,
                             Precision precision, Meter& meter, NarrowedEntries& narrowed) {
  TransportOutcome result;
  result.precision = precision;
  const JointStopwatch all(context);
  auto matrix = read_and_tell<T>(context, options.input, file, meter);
  narrowed = matrix.narrowed();
  const matrix_view<T> rows = matrix.rows();
  const auto given = ScaledMarginals::of_transport(context, options, file.shape, matrix.is_transposed(), rows.rows());
  const auto start = read_start<A>(context, options, matrix.is_transposed());
  ScaledCheckpoint checkpoint(context, options, "plait transport",
                              {options.input, options.rows, options.columns, options.start},
                              checkpoint_settings(options, precision), rows.rows(), rows.columns());
  result.resumed_at = checkpoint.resumed_at();
  result.read_seconds = all.seconds();

  meter.stage("transporting", 0, 0);
  const JointStopwatch iterating(context);
  sinkhorn::TransportOptions how{
      options.epsilon,
      options.method,
      options.first_epsilon,
      limits_of(context, options, precision, meter, result.log),
      matrix.is_transposed() ? sinkhorn::Rho{options.rho.columns, options.rho.rows} : options.rho,
      options.over_relaxation};
  checkpoint.put_into(how);
  auto found = sinkhorn::transport<T, A>(context, rows, given.marginals(), how, start);
  result.iterate_seconds = iterating.seconds();
  tell(result, found, matrix.is_transposed());

  const JointStopwatch writing(context);
  sinkhorn::transport_plan_in_place<T, A>(rows, options.epsilon, found.f, found.g, found.offsets);
  const auto checked = sinkhorn::wanted_masses<A>(context, given.marginals(), how.rho, found.f, found.g);
  result.check = sinkhorn::marginal_errors<T>(context, rows, checked);
  expect_plan(context, result.outcome, result.check, accuracy_of(options, result.precision));
  if (matrix.is_transposed()) std::swap(result.check.rows, result.check.columns);
  sketch(context, options, matrix, checked, result);
  const bool is_factors = found.stages.back().domain == sinkhorn::Domain::factors;
  result.swept_bytes = layout::elements(file.shape) * (is_factors ? Index{sizeof(A)} : Index{sizeof(T)});
  sinkhorn::CostOffsets::add(found.f, found.offsets.rows);
  sinkhorn::CostOffsets::add(found.g, found.offsets.columns);
  write_plan(context, options, matrix, found.f, found.g, meter);
  checkpoint.end(result.outcome);
  result.write_seconds = writing.seconds();
  result.seconds = all.seconds();
  return result;
}

}  // namespace

void run_transport(mpi::Context& context, const TransportJobOptions& options) {
  if (!options.points.empty()) return transport_points(context, options);
  const layout::Shape shape = io::describe_matrix_file(context, options.input).shape;
  const MarginalFiles marginals(context, options, shape);
  mpi::agreed(context, [&] { expect_none_of_one(options, marginals.problems()); });
  const ScaledJob job = prepared(context, options, [&options](Precision precision) -> Index {
    if (options.method == sinkhorn::Domain::logarithmic) return 0;
    return precision == Precision::f32 ? 4 : 8;
  });
  if (marginals.problems() > 1) return run_transport_batch(context, options, job, marginals);
  const auto work = [&](Meter& meter) {
    return warn_of_underflow(context, options.input, [&](NarrowedEntries& narrowed) {
      return with_numbers_of(job.precision, [&]<class T, class A>() {
        return transported<T, A>(context, options, job.file, job.precision, meter, narrowed);
      });
    });
  };
  carry_out(
      context, options, work,
      [&](const TransportOutcome& outcome) { return transport_json(context, options, job, outcome); },
      [&](const TransportOutcome& outcome) { return transport_summary(options, job, outcome); },
      [&](const TransportOutcome& outcome) { return transport_facts(options, outcome); });
}

}  // namespace plait::cli
