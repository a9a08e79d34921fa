#include "cli/transport/divergence.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "plait/layout/shape.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/transport/divergence.hpp"

#include "cli/job/joint_stopwatch.hpp"
#include "cli/job/json_values.hpp"
#include "cli/scaling/scaled_job.hpp"
#include "cli/transport/point_files.hpp"

namespace plait::cli {

namespace {

using nlohmann::ordered_json;

/// What is told beside what every job of the kind tells.
struct DivergenceOutcome : ScaledOutcome {
  double value = 0;
  double gap = 0;
  double rounding = 0;
  double between = 0;
  double rows = 0;
  double columns = 0;
  std::vector<sinkhorn::TransportStage> stages;
};

/// The files of a job, and what is told of the costs between both sides.
struct DivergenceJob : PointsJob {
  std::optional<io::MatrixFile> among_rows;
  std::optional<io::MatrixFile> among_columns;
};

io::MatrixFile described_costs(mpi::Context& context, const char* option, const std::string& path, Index expected,
                               const char* what) {
  const io::MatrixFile file = io::describe_matrix_file(context, path);
  mpi::agreed(context, [&] {
    expect_real(path, file);
    if (file.shape.rows == expected && file.shape.columns == expected) return;
    throw ArgumentError(fmt::format("{}: {} is {}, expected {} x {}, as the costs between both sides have {} {}",
                                    option, path, layout::to_string(file.shape), expected, expected, expected, what));
  });
  return file;
}

/// The bytes that a rank needs for costs, one kernel beside them, and vectors.
MemoryEstimate memory_of(mpi::Context& context, const DivergenceJob& job, bool has_kernel) {
  const Index number = element_bytes(job.precision);
  const Index kernel = has_kernel ? (job.precision == Precision::f32 ? 4 : 8) : 0;
  Index kept = 0;
  Index largest = 0;
  const auto add = [&](const io::MatrixFile& file) {
    const Index elements = io::slab_layout(file.shape, file.order, context.size()).elements_of(context.rank());
    const Index read = io::bytes(file.dtype);
    largest = std::max({largest, elements * kernel, read == number ? 0 : elements * read});
    kept += elements * number;
  };
  add(job.file);
  for (const auto* file : {&job.among_rows, &job.among_columns}) {
    if (*file) add(**file);
  }
  const Index vectors = 12 * (job.file.shape.rows + job.file.shape.columns) * Index{sizeof(double)};
  return estimate_memory(context, {kept + largest + vectors});
}

MemoryEstimate memory_of_points(mpi::Context& context, const PointsJob& job) {
  const Index points = job.x.shape.rows + job.y.shape.rows;
  const Index blocks = 20 * std::max(job.x.shape.rows, job.y.shape.rows) * element_bytes(job.precision);
  return estimate_memory(context, {(3 * job.x.shape.columns + 12) * points * Index{sizeof(double)} + blocks});
}

DivergenceJob prepared_divergence(mpi::Context& context, const DivergenceOptions& options) {
  DivergenceJob job;
  std::vector<NamedFile> read;
  if (options.points.empty()) {
    job.file = io::describe_matrix_file(context, options.input);
    mpi::agreed(context, [&] { expect_real(options.input, job.file); });
    job.precision = chosen_precision(options.precision, job.file.dtype);
    if (!options.among_rows.empty()) {
      job.among_rows = described_costs(context, "--among-rows", options.among_rows, job.file.shape.rows, "rows");
      job.among_columns =
          described_costs(context, "--among-columns", options.among_columns, job.file.shape.columns, "columns");
      read = {{options.among_rows, "the file of --among-rows"}, {options.among_columns, "the file of --among-columns"}};
    } else {
      mpi::agreed(context, [&] {
        if (job.file.shape.rows == job.file.shape.columns) return;
        throw ArgumentError(
            fmt::format("{} is {}, expected the square costs among the points of both sides, or those among either in "
                        "--among-rows and --among-columns",
                        options.input, layout::to_string(job.file.shape)));
      });
    }
  } else {
    static_cast<PointsJob&>(job) = described_points(context, options, options.precision);
    for (const std::string& path : options.points) read.push_back({path, "a file of --points"});
  }
  expect_writable_outputs(context, options, std::move(read));
  job.memory = options.points.empty() ? memory_of(context, job, options.method != sinkhorn::Domain::logarithmic)
                                      : memory_of_points(context, job);
  if (context.rank() == 0 && !job.memory.warning.empty()) print_warning(job.memory.warning);
  return job;
}

sinkhorn::TransportOptions transports_of(mpi::Context& context, const DivergenceOptions& options,
                                         const DivergenceJob& job, Meter& meter, IterationLog& log) {
  return {.epsilon = options.epsilon,
          .domain = options.method,
          .first_epsilon = options.first_epsilon,
          .limits = limits_of(context, options, job.precision, meter, log),
          .rho = options.rho};
}

/// \throws Error  on all ranks: there are no plans, or nothing comes of them; nothing is to be written
template <class A>
void tell_divergence(mpi::Context& context, const DivergenceOptions& options, DivergenceOutcome& result,
                     const sinkhorn::Divergence<A>& found, bool is_transposed) {
  result.outcome = found.outcome;
  result.stages = found.stages;
  for (const auto& stage : found.stages) result.iterations += stage.iterations;
  result.value = found.value;
  result.gap = found.gap;
  result.rounding = found.rounding;
  result.between = found.between;
  result.rows = is_transposed ? found.columns : found.rows;
  result.columns = is_transposed ? found.rows : found.columns;
  result.check = {0, found.outcome.error, found.mass};
  const bool is_impossible = found.outcome.status == sinkhorn::Status::numerical_limit && !std::isfinite(found.value);
  if (is_impossible) result.check.mass = found.value;
  expect_plan(context, result.outcome, result.check, accuracy_of(options, result.precision));
}

/// What comes after reading.
///
/// \param all    since the job began
/// \param solve  called with the options of the transports, returns the divergence
template <class Solve>
void transport_and_tell(mpi::Context& context, const DivergenceOptions& options, const DivergenceJob& job, Meter& meter,
                        const JointStopwatch& all, bool is_transposed, DivergenceOutcome& result, const Solve& solve) {
  result.read_seconds = all.seconds();
  meter.stage("transporting", 0, 0);
  const JointStopwatch iterating(context);
  const auto found = solve(transports_of(context, options, job, meter, result.log));
  result.iterate_seconds = iterating.seconds();
  const JointStopwatch writing(context);
  tell_divergence(context, options, result, found, is_transposed);
  write_vectors(context, options, found.row_gradient, found.column_gradient, is_transposed);
  result.write_seconds = writing.seconds();
  result.seconds = all.seconds();
}

/// What is lost of the files of costs, which is told of each by itself.
struct NarrowedCosts {
  NarrowedEntries& between;
  NarrowedEntries& among_rows;
  NarrowedEntries& among_columns;
};

/// \param narrowed  filled in as the files are read
template <class T, class A>
DivergenceOutcome of_costs(mpi::Context& context, const DivergenceOptions& options, const DivergenceJob& job,
                           Meter& meter, const NarrowedCosts& narrowed) {
  DivergenceOutcome result;
  result.precision = job.precision;
  const JointStopwatch all(context);
  const auto read = [&](const std::string& path, const io::MatrixFile& file, NarrowedEntries& lost) {
    auto costs = read_and_tell<T>(context, path, file, meter);
    lost = costs.narrowed();
    return costs;
  };
  auto between = read(options.input, job.file, narrowed.between);
  const bool is_transposed = between.is_transposed();
  std::optional<ScaledMatrix<T>> among_rows;
  std::optional<ScaledMatrix<T>> among_columns;
  if (job.among_rows) {
    among_rows.emplace(read(options.among_rows, *job.among_rows, narrowed.among_rows));
    among_columns.emplace(read(options.among_columns, *job.among_columns, narrowed.among_columns));
    if (is_transposed) std::swap(among_rows, among_columns);
  }
  // What is transposed as it is read is symmetric.
  const matrix_view<const T> rows = between.rows();
  const sinkhorn::CostsOfDivergence<T> costs{rows, among_rows ? among_rows->rows() : rows,
                                             among_columns ? among_columns->rows() : rows};
  const auto given = ScaledMarginals::of_transport(context, options, job.file.shape, is_transposed, rows.rows());
  transport_and_tell(context, options, job, meter, all, is_transposed, result,
                     [&](const sinkhorn::TransportOptions& transports) {
                       return sinkhorn::divergence<T, A>(context, costs, given.marginals(), transports);
                     });
  return result;
}

template <class A>
DivergenceOutcome of_points(mpi::Context& context, const DivergenceOptions& options, const DivergenceJob& job,
                            Meter& meter) {
  DivergenceOutcome result;
  result.precision = job.precision;
  const JointStopwatch all(context);
  const PointsRead<A> points(context, options, job, meter);
  const sinkhorn::PointClouds<A> clouds = points.clouds();
  const auto given = ScaledMarginals::of_transport(context, options, job.file.shape, false, clouds.x.rows());
  transport_and_tell(context, options, job, meter, all, false, result,
                     [&](const sinkhorn::TransportOptions& transports) {
                       return sinkhorn::divergence<A>(context, clouds, given.marginals(), transports);
                     });
  return result;
}

ordered_json divergence_json(const mpi::Context& context, const DivergenceOptions& options, const DivergenceJob& job,
                             const DivergenceOutcome& outcome) {
  auto json = scaled_json(context, "divergence", options, job.file, job.memory, outcome);
  for (const char* key : {"start", "output", "over_relaxation", "resumed_at", "check"}) json.erase(key);
  tell_points(json, options);
  json["among"] = {{"rows", name_or_null(options.among_rows)}, {"columns", name_or_null(options.among_columns)}};
  json["epsilon"] = options.epsilon;
  json["rho"] = options.rho.is_balanced() ? ordered_json() : ordered_json(options.rho.rows);
  json["value"] = outcome.value;
  json["duality_gap"] = outcome.gap;
  json["rounding"] = outcome.rounding;
  json["transports"] = {{"between", outcome.between}, {"rows", outcome.rows}, {"columns", outcome.columns}};
  json["mass"] = outcome.check.mass;
  json["row_gradient"] = name_or_null(options.of_rows);
  json["column_gradient"] = name_or_null(options.of_columns);
  json["stages"] = stages_json(outcome.stages);
  return json;
}

std::string divergence_summary(const DivergenceOptions& options, const DivergenceJob& job,
                               const DivergenceOutcome& outcome) {
  std::string text = fmt::format("S(r, c) = OT(r, c) - OT(r, r) / 2 - OT(c, c) / 2   {}, {}, epsilon {}{}\n",
                                 costs_text(options, job), name(outcome.precision), options.epsilon,
                                 options.rho.is_balanced() ? "" : fmt::format(", rho {}", options.rho.rows));
  const bool is_rounding = outcome.value != 0 && std::abs(outcome.value) <= outcome.rounding;
  text +=
      fmt::format("  {:<10}{:.10g}{}; duality gap {:.2g}\n", "value", outcome.value,
                  is_rounding ? fmt::format(" (rounding alone may give {:.2g})", outcome.rounding) : "", outcome.gap);
  text += fmt::format("  {:<10}rows to columns {:.10g}, among the rows {:.10g}, among the columns {:.10g}\n", "OT",
                      outcome.between, outcome.rows, outcome.columns);
  return text + scaled_summary(options, job.file, outcome);
}

PageFacts divergence_facts(const DivergenceOptions& options, const DivergenceOutcome& outcome) {
  PageFacts page{
      .rows = {}, .stages = outcome.stages, .headline = {fmt::format("{:.6g}", outcome.value), "divergence"}};
  const auto add = [&page](const char* what, double value) { page.rows.push_back({what, fmt::format("{}", value)}); };
  add("divergence", outcome.value);
  add("what rounding may leave of it", outcome.rounding);
  add("epsilon", options.epsilon);
  if (!options.rho.is_balanced()) add("rho", options.rho.rows);
  add("OT between both", outcome.between);
  add("OT within the rows", outcome.rows);
  add("OT within the columns", outcome.columns);
  add("what the plans make of the divergence, less what the potentials do", outcome.gap);
  page.next_stage =
      "a smaller epsilon, or the next of the three transports: between both, within the rows, within the "
      "columns";
  return page;
}

}  // namespace

void run_divergence(mpi::Context& context, const DivergenceOptions& options) {
  const DivergenceJob job = prepared_divergence(context, options);
  const DivergenceOptions told = with_points_as_input(options);
  const auto work = [&](Meter& meter) {
    return with_numbers_of(job.precision, [&]<class T, class A>() {
      if (!options.points.empty()) return of_points<A>(context, options, job, meter);
      return warn_of_underflow(context, options.input, [&](NarrowedEntries& between) {
        return warn_of_underflow(context, options.among_rows, [&](NarrowedEntries& rows) {
          return warn_of_underflow(context, options.among_columns, [&](NarrowedEntries& columns) {
            return of_costs<T, A>(context, options, job, meter, {between, rows, columns});
          });
        });
      });
    });
  };
  carry_out(
      context, told, work,
      [&](const DivergenceOutcome& outcome) { return divergence_json(context, options, job, outcome); },
      [&](const DivergenceOutcome& outcome) { return divergence_summary(told, job, outcome); },
      [&](const DivergenceOutcome& outcome) { return divergence_facts(told, outcome); });
}

}  // namespace plait::cli
