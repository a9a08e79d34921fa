#include "cli/transport/transport_points.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "plait/io/npy/npy_rows.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/transport/point_transport.hpp"

#include "cli/job/joint_stopwatch.hpp"
#include "cli/job/json_values.hpp"
#include "cli/scaling/batch_report.hpp"
#include "cli/scaling/marginal_batch.hpp"
#include "cli/scaling/scaled_checkpoint.hpp"
#include "cli/scaling/scaled_job.hpp"
#include "cli/transport/point_files.hpp"
#include "cli/transport/points_sketch.hpp"
#include "cli/transport/transport_batch.hpp"
#include "cli/transport/transport_report.hpp"

namespace plait::cli {

namespace {

/// Looks for what would stop the job after hours.
void prepare_points(mpi::Context& context, const TransportJobOptions& options, Index problems, PointsJob& job) {
  mpi::agreed(context, [&] {
    expect_none_of_one(options, problems);
    if (problems == 1 || options.map.empty()) return;
    throw ArgumentError(
        fmt::format("--map is given, but the marginals have {} columns, each a problem; expected vectors", problems));
  });
  std::vector<NamedFile> written;
  if (!options.map.empty()) written.push_back({options.map, "the file of --map"});
  expect_writable_outputs(context, options,
                          {{options.points[0], "a file of --points"}, {options.points[1], "a file of --points"}},
                          written);
  const Index number = job.precision == Precision::f32 ? 4 : 8;
  const Index coordinates = job.x.shape.columns;
  const Index rows = job.x.shape.rows / context.size() + 1;
  const Index vectors = 6 * problems * (rows + job.file.shape.columns) * Index{sizeof(double)};
  const Index blocks = 20 * job.file.shape.columns * number;
  job.memory = estimate_memory(
      context, {(2 * rows + 3 * job.file.shape.columns) * coordinates * Index{sizeof(double)} + vectors + blocks});
  if (context.rank() == 0 && !job.memory.warning.empty()) print_warning(job.memory.warning);
}

/// What a page shows of a plan that is not stored.
struct PointsSketcher {
  PlanSketcher plan;
  LinkSketcher links;

  template <class A>
  void add(Index i, std::span<const A> row) {
    plan.add(i, row);
    links.add(i, row);
  }
};

/// Looks at the sums of the plan and, for a page, at the plan, in one pass.
template <class A>
sinkhorn::MarginalErrors look_at_plan(mpi::Context& context, const TransportJobOptions& options,
                                      const sinkhorn::PointClouds<A>& clouds, const sinkhorn::Transport<A>& found,
                                      const sinkhorn::CheckedMarginals& checked,
                                      std::optional<PointsSketcher>& sketcher) {
  sinkhorn::MarginalSums sums(checked);
  mpi::agreed(context, [&] {
    sinkhorn::for_each_plan_row<A>(clouds, options.epsilon, found.f, found.g, [&](Index i, std::span<const A> row) {
      sums.add(i, row);
      if (sketcher) sketcher->add(i, row);
    });
  });
  return sums.errors(context);
}

/// Writes the plan a few rows at a time, and looks at its sums and, for a page, at it. Without an output it only looks.
template <class A>
sinkhorn::MarginalErrors write_plan_by_blocks(mpi::Context& context, const TransportJobOptions& options,
                                              const sinkhorn::PointClouds<A>& clouds,
                                              const sinkhorn::Transport<A>& found,
                                              const sinkhorn::CheckedMarginals& checked, Meter& meter,
                                              std::optional<PointsSketcher>& sketcher) {
  if (options.output.empty()) return look_at_plan(context, options, clouds, found, checked, sketcher);
  constexpr Index block_bytes = Index{4} << 20;
  const Index columns = clouds.y.rows();
  const Index block_rows = std::max(Index{1}, block_bytes / std::max(Index{1}, columns * Index{sizeof(A)}));
  meter.stage("writing " + options.output, 0, checked.all_rows * columns * Index{sizeof(A)});
  io::NpyRows<A> file(context, options.output, {checked.all_rows, columns});
  sinkhorn::MarginalSums sums(checked);
  mpi::agreed(context, [&] {
    std::vector<A> block;
    block.reserve(static_cast<std::size_t>(std::min(block_rows, clouds.x.rows()) * columns));
    Index first = 0;
    sinkhorn::for_each_plan_row<A>(clouds, options.epsilon, found.f, found.g, [&](Index i, std::span<const A> row) {
      sums.add(i, row);
      if (sketcher) sketcher->add(i, row);
      block.insert(block.end(), row.begin(), row.end());
      if (i + 1 - first < block_rows && i + 1 < clouds.x.rows()) return;
      file.write(checked.first_row + first, block);
      block.clear();
      first = i + 1;
    });
  });
  const auto errors = sums.errors(context);
  sinkhorn::Outcome outcome = found.outcome;
  expect_plan(context, outcome, errors, accuracy_of(options, options.precision));
  file.commit();
  return errors;
}

template <class A>
TransportOutcome transported(mpi::Context& context, const TransportJobOptions& options, const PointsJob& job,
                             Meter& meter) {
  TransportOutcome result;
  result.precision = job.precision;
  const JointStopwatch all(context);
  const PointsRead<A> points(context, options, job, meter);
  const sinkhorn::PointClouds<A> clouds = points.clouds();
  const auto given = ScaledMarginals::of_transport(context, options, job.file.shape, false, clouds.x.rows());
  const auto start = read_start<A>(context, options, false);
  ScaledCheckpoint checkpoint(context, options, "plait transport",
                              {options.points[0], options.points[1], options.rows, options.columns, options.start},
                              checkpoint_settings(options, job.precision), clouds.x.rows(), clouds.y.rows());
  result.resumed_at = checkpoint.resumed_at();
  result.read_seconds = all.seconds();

  meter.stage("transporting", 0, 0);
  const JointStopwatch iterating(context);
  sinkhorn::TransportOptions how{.epsilon = options.epsilon,
                                 .domain = options.method,
                                 .first_epsilon = options.first_epsilon,
                                 .limits = limits_of(context, options, job.precision, meter, result.log),
                                 .rho = options.rho,
                                 .over_relaxation = options.over_relaxation};
  checkpoint.put_into(how);
  const auto found = sinkhorn::transport<A>(context, clouds, given.marginals(), how, start);
  result.iterate_seconds = iterating.seconds();
  tell(result, found, false);

  const JointStopwatch writing(context);
  const auto checked = sinkhorn::wanted_masses<A>(context, given.marginals(), how.rho, found.f, found.g);
  std::optional<PointsSketcher> sketcher;
  mpi::agreed(context, [&] {
    if (!options.page.empty()) sketcher.emplace(PlanSketcher(checked), LinkSketcher(checked, clouds.y.columns()));
  });
  result.check = write_plan_by_blocks(context, options, clouds, found, checked, meter, sketcher);
  expect_plan(context, result.outcome, result.check, accuracy_of(options, result.precision));
  if (sketcher) {
    result.sketch = sketcher->plan.taken(context);
    result.points = sketcher->links.taken(context, clouds);
  }
  write_vectors(context, options, found.f, found.g, false);
  if (!options.map.empty()) {
    const auto map =
        mpi::agreed(context, [&] { return sinkhorn::barycentric_projection<A>(clouds, options.epsilon, found.g); });
    io::NpyRows<A> file(context, options.map, job.x.shape);
    mpi::agreed(context, [&] { file.write(checked.first_row, map); });
    file.commit();
  }
  checkpoint.end(result.outcome);
  result.write_seconds = writing.seconds();
  result.seconds = all.seconds();
  return result;
}

}  // namespace

void transport_points(mpi::Context& context, const TransportJobOptions& options) {
  PointsJob job = described_points(context, options, options.precision);
  const MarginalFiles marginals(context, options, job.file.shape);
  prepare_points(context, options, marginals.problems(), job);
  if (marginals.problems() > 1) return run_points_batch(context, options, job, marginals);
  const TransportJobOptions told = with_points_as_input(options);
  const auto work = [&](Meter& meter) {
    return job.precision == Precision::f32 ? transported<float>(context, options, job, meter)
                                           : transported<double>(context, options, job, meter);
  };
  const auto report = [&](const TransportOutcome& outcome) {
    auto json = transport_json(context, options, job, outcome);
    json["map"] = name_or_null(options.map);
    return json;
  };
  carry_out(
      context, told, work, report,
      [&](const TransportOutcome& outcome) { return transport_summary(told, job, outcome); },
      [&](const TransportOutcome& outcome) { return transport_facts(options, outcome); });
}

}  // namespace plait::cli
