#include "cli/transport/barycentre.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/layout/shape.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/transport/barycentre.hpp"

#include "cli/job/joint_stopwatch.hpp"
#include "cli/job/json_values.hpp"
#include "cli/scaling/matrix_rows.hpp"
#include "cli/scaling/scaled_checkpoint.hpp"
#include "cli/scaling/scaled_job.hpp"
#include "cli/transport/point_files.hpp"

namespace plait::cli {

namespace {

/// What is told beside what every job of the kind tells.
struct BarycentreOutcome : ScaledOutcome {
  std::vector<double> costs;
  std::vector<sinkhorn::TransportStage> stages;
  SumsSketch masses;  // for --report
};

/// The file of --histograms: a column each, or a vector, which is one.
io::MatrixFile described_histograms(mpi::Context& context, const std::string& path, Index places) {
  const io::MatrixFile file = io::describe_columns_file(context, path);
  mpi::agreed(context, [&] {
    expect_real(path, file);
    const auto [rows, columns] = file.shape;
    if (rows == places || (rows == 1 && columns == places)) return;
    throw ArgumentError(
        fmt::format("--histograms: {} is {}, expected {} rows, one for each column of the costs, and a column for each "
                    "histogram, or a vector of as many elements",
                    path, layout::to_string(file.shape), places));
  });
  return file;
}

/// On every rank.
std::vector<std::vector<double>> read_histograms(mpi::Context& context, const std::string& path,
                                                 const io::MatrixFile& file, Index places) {
  const auto rows = read_all_rows<double>(context, path, file, {});
  return mpi::agreed(context, [&] {
    if (file.shape.rows != places) return std::vector<std::vector<double>>{rows};
    std::vector<std::vector<double>> columns(static_cast<std::size_t>(file.shape.columns));
    for (std::size_t n = 0; n < rows.size(); ++n) columns[n % columns.size()].push_back(rows[n]);
    return columns;
  });
}

/// What is known of a job before it begins: points, or a matrix of costs.
struct BarycentreJob : PointsJob {
  io::MatrixFile histograms;
};

SumsSketch sketch_of_masses(mpi::Context& context, std::span<const double> own, Index length) {
  const Index first = mpi::sum_below(context.comm(), static_cast<Index>(own.size()));
  auto masses = mpi::agreed(context, [&] { return SumsSketch(length); });
  for (std::size_t i = 0; i < own.size(); ++i) masses.add(first + static_cast<Index>(i), own[i], own[i]);
  masses.unite(context);
  return masses;
}

PageFacts facts_of(const BarycentreOptions& options, const BarycentreOutcome& outcome) {
  PageFacts page{.rows = {{"histograms", fmt::format("{}", outcome.costs.size())},
                          {"epsilon", fmt::format("{}", options.epsilon)}},
                 .stages = outcome.stages};
  constexpr std::size_t most_listed = 64;
  for (std::size_t k = 0; k < std::min(outcome.costs.size(), most_listed); ++k) {
    page.rows.push_back({fmt::format("cost to histogram {}", k), fmt::format("{}", outcome.costs[k])});
  }
  if (outcome.costs.size() > most_listed) page.rows.push_back({"costs to further ones", "as --json tells"});
  page.masses = outcome.masses;
  return page;
}

/// What comes after reading the costs, or points.
///
/// \param all    since the job began
/// \param rows   of this rank
/// \param solve  called with the histograms and options, returns the barycentre
template <class Solve>
void find_and_tell(mpi::Context& context, const BarycentreOptions& options, const BarycentreJob& job, Meter& meter,
                   const JointStopwatch& all, BarycentreOutcome& result, Index rows, const Solve& solve) {
  const auto masses = read_histograms(context, options.histograms, job.histograms, job.file.shape.columns);
  const auto weights = options.weights.empty() ? std::vector<double>() : io::read_npy_vector(context, options.weights);
  const auto count = static_cast<Index>(masses.size());
  std::vector<std::string> inputs{options.histograms, options.weights};
  if (options.points.empty()) inputs.push_back(options.input);
  std::ranges::copy(options.points, std::back_inserter(inputs));
  ScaledCheckpoint checkpoint(context, options, "plait barycentre", inputs,
                              {{"precision", name(result.precision)},
                               {"epsilon", options.epsilon},
                               {"first epsilon", options.first_epsilon},
                               {"method", name(options.method)},
                               {"metric", name(options.metric)},
                               {"p", options.p.value_or(2)}},
                              count * rows, count * job.file.shape.columns);
  result.resumed_at = checkpoint.resumed_at();
  result.read_seconds = all.seconds();

  meter.stage("finding the barycentre", 0, 0);
  const JointStopwatch iterating(context);
  const sinkhorn::Histograms histograms{{masses.begin(), masses.end()}, weights};
  sinkhorn::BarycentreOptions how{options.epsilon, options.method, options.first_epsilon,
                                  limits_of(context, options, job.precision, meter, result.log)};
  checkpoint.put_into(how);
  const sinkhorn::Barycentre found = solve(histograms, how);
  result.iterate_seconds = iterating.seconds();
  result.outcome = found.outcome;
  result.stages = found.stages;
  for (const auto& stage : found.stages) result.iterations += stage.iterations;
  result.costs = found.costs;

  const JointStopwatch writing(context);
  const double own = std::accumulate(found.masses.begin(), found.masses.end(), 0.0);
  result.check.mass = mpi::all_reduce(context.comm(), own, mpi::Operation::sum());
  result.check.columns = found.outcome.error;
  expect_plan(context, result.outcome, result.check, accuracy_of(options, result.precision));
  if (!options.page.empty()) result.masses = sketch_of_masses(context, found.masses, job.file.shape.rows);
  write_row_vector(context, options.of_rows, found.masses, false);
  checkpoint.end(result.outcome);
  result.write_seconds = writing.seconds();
  result.seconds = all.seconds();
}

template <class T>
BarycentreOutcome barycentre_of_costs(mpi::Context& context, const BarycentreOptions& options, const BarycentreJob& job,
                                      Meter& meter, NarrowedEntries& narrowed) {
  BarycentreOutcome result;
  result.precision = job.precision;
  const JointStopwatch all(context);
  auto matrix = read_and_tell<T>(context, options.input, job.file, meter);
  narrowed = matrix.narrowed();
  mpi::agreed(context, [&] {
    if (!matrix.is_transposed()) return;
    throw ArgumentError(fmt::format("{} is in Fortran order, expected C order", options.input));
  });
  const matrix_view<T> rows = matrix.rows();
  find_and_tell(context, options, job, meter, all, result, rows.rows(),
                [&](const sinkhorn::Histograms& histograms, const sinkhorn::BarycentreOptions& how) {
                  return sinkhorn::barycentre<T>(context, rows, histograms, how);
                });
  const bool is_factors = result.stages.back().domain == sinkhorn::Domain::factors;
  result.swept_bytes = layout::elements(job.file.shape) * (is_factors ? Index{sizeof(double)} : Index{sizeof(T)});
  return result;
}

BarycentreOutcome barycentre_of_points(mpi::Context& context, const BarycentreOptions& options,
                                       const BarycentreJob& job, Meter& meter) {
  BarycentreOutcome result;
  result.precision = job.precision;
  const JointStopwatch all(context);
  const PointsRead<double> points(context, options, job, meter);
  find_and_tell(context, options, job, meter, all, result, points.clouds().x.rows(),
                [&](const sinkhorn::Histograms& histograms, const sinkhorn::BarycentreOptions& how) {
                  return sinkhorn::barycentre(context, points.clouds(), histograms, how);
                });
  return result;
}

nlohmann::ordered_json report_of(const mpi::Context& context, const BarycentreOptions& options,
                                 const BarycentreJob& job, const BarycentreOutcome& outcome) {
  auto json = scaled_json(context, "barycentre", options, job.file, job.memory, outcome);
  for (const char* key : {"marginals", "start", "over_relaxation"}) json.erase(key);
  tell_points(json, options);
  json["epsilon"] = options.epsilon;
  json["histograms"] = options.histograms;
  json["weights"] = name_or_null(options.weights);
  json["output"] = output_json(options.of_rows);
  json["costs"] = outcome.costs;
  json["stages"] = stages_json(outcome.stages);
  return json;
}

std::string summary_of(const BarycentreOptions& options, const BarycentreJob& job, const BarycentreOutcome& outcome) {
  std::string text = fmt::format("barycentre of {} histograms   {}, {}, epsilon {}\n", outcome.costs.size(),
                                 costs_text(options, job), name(job.precision), options.epsilon);
  text += fmt::format("  {:<10}{:.6g}\n", "costs", fmt::join(outcome.costs, ", "));
  text += stages_summary(outcome.stages);
  return text + scaled_summary(options, job.file, outcome);
}

/// Of points, a rank's share of X, all of Y and the vectors of all plans; beside the costs, their exponentials.
MemoryEstimate memory_of_barycentre(mpi::Context& context, const BarycentreJob& job) {
  const Index rows = job.x.shape.rows / context.size() + 1;
  const Index columns = job.y.shape.rows;
  const Index histograms = layout::elements(job.histograms.shape) / std::max(Index{1}, columns);
  const Index vectors = histograms * (2 * rows + 4 * columns + 8 * columns);
  return estimate_memory(
      context, {((2 * rows + 3 * columns) * job.x.shape.columns + 20 * columns + vectors) * Index{sizeof(double)}});
}

BarycentreJob prepared_barycentre(mpi::Context& context, const BarycentreOptions& options) {
  BarycentreJob job;
  std::vector<NamedFile> read{{options.histograms, "the file of --histograms"}};
  if (!options.weights.empty()) read.push_back({options.weights, "the file of --weights"});
  if (options.points.empty()) {
    read.push_back({options.input, "IN"});
    const Index kernel_bytes = options.method == sinkhorn::Domain::logarithmic ? 0 : Index{sizeof(double)};
    static_cast<ScaledJob&>(job) =
        prepared(context, options, [kernel_bytes](Precision) { return kernel_bytes; }, std::move(read));
    job.histograms = described_histograms(context, options.histograms, job.file.shape.columns);
    return job;
  }
  static_cast<PointsJob&>(job) = described_points(context, options, options.precision);
  job.histograms = described_histograms(context, options.histograms, job.file.shape.columns);
  for (const std::string& path : options.points) read.push_back({path, "a file of --points"});
  expect_writable_outputs(context, options, std::move(read));
  job.memory = memory_of_barycentre(context, job);
  if (context.rank() == 0 && !job.memory.warning.empty()) print_warning(job.memory.warning);
  return job;
}

}  // namespace

void run_barycentre(mpi::Context& context, const BarycentreOptions& options) {
  const BarycentreJob job = prepared_barycentre(context, options);
  const BarycentreOptions told = with_points_as_input(options);
  carry_out(
      context, told,
      [&](Meter& meter) {
        if (!options.points.empty()) return barycentre_of_points(context, options, job, meter);
        return warn_of_underflow(context, options.input, [&](NarrowedEntries& narrowed) {
          return job.precision == Precision::mixed
                     ? barycentre_of_costs<float>(context, options, job, meter, narrowed)
                     : barycentre_of_costs<double>(context, options, job, meter, narrowed);
        });
      },
      [&](const BarycentreOutcome& outcome) { return report_of(context, options, job, outcome); },
      [&](const BarycentreOutcome& outcome) { return summary_of(told, job, outcome); },
      [&](const BarycentreOutcome& outcome) { return facts_of(told, outcome); });
}

}  // namespace plait::cli
