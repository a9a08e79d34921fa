#include "cli/transport/barycentre.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/transport/barycentre.hpp"

#include "cli/scaling/matrix_rows.hpp"
#include "cli/scaling/scaled_job.hpp"

namespace plait::cli {

namespace {

/// What is told beside what every job of the kind tells.
struct BarycentreOutcome : ScaledOutcome {
  std::vector<double> costs;
  std::vector<sinkhorn::TransportStage> stages;
  SumsSketch masses;  // for --report
};

/// The columns of a matrix, on every rank.
std::vector<std::vector<double>> read_columns(mpi::Context& context, const std::string& path) {
  const io::MatrixFile file = io::describe_matrix_file(context, path);
  const auto rows = read_all_rows<double>(context, path, file, {});
  return mpi::agreed(context, [&] {
    std::vector<std::vector<double>> columns(static_cast<std::size_t>(file.shape.columns));
    for (std::size_t n = 0; n < rows.size(); ++n) columns[n % columns.size()].push_back(rows[n]);
    return columns;
  });
}

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

template <class T>
BarycentreOutcome mean_of(mpi::Context& context, const BarycentreOptions& options, const ScaledJob& job, Meter& meter) {
  BarycentreOutcome result;
  result.precision = job.precision;
  const JointStopwatch all(context);
  auto matrix = read_and_tell<T>(context, options.input, job.file, meter);
  mpi::agreed(context, [&] {
    if (!matrix.is_transposed()) return;
    throw ArgumentError(fmt::format("{} is in Fortran order, expected C order", options.input));
  });
  const matrix_view<T> rows = matrix.rows();
  const auto masses = read_columns(context, options.histograms);
  const auto weights = options.weights.empty() ? std::vector<double>() : io::read_npy_vector(context, options.weights);
  result.read_seconds = all.seconds();

  meter.stage("finding the barycentre", 0, 0);
  const JointStopwatch iterating(context);
  const sinkhorn::Histograms histograms{{masses.begin(), masses.end()}, weights};
  const auto found = sinkhorn::barycentre<T>(context, rows, histograms,
                                             {options.epsilon, options.domain, options.first_epsilon,
                                              limits_of(context, options, job.precision, meter, result.log)});
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
  const bool is_factors = !found.stages.empty() && found.stages.back().domain == sinkhorn::Domain::factors;
  result.swept_bytes = layout::elements(job.file.shape) * (is_factors ? Index{sizeof(double)} : Index{sizeof(T)});
  write_row_vector(context, options.of_rows, found.masses, false);
  result.write_seconds = writing.seconds();
  result.seconds = all.seconds();
  return result;
}

nlohmann::ordered_json report_of(const mpi::Context& context, const BarycentreOptions& options, const ScaledJob& job,
                                 const BarycentreOutcome& outcome) {
  auto json = scaled_json(context, "barycentre", options, job.file, job.memory, outcome);
  for (const char* key : {"marginals", "start", "plan", "over_relaxation"}) json.erase(key);
  json["epsilon"] = options.epsilon;
  json["histograms"] = options.histograms;
  json["weights"] = options.weights.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(options.weights);
  json["barycentre"] = options.of_rows;
  json["costs"] = outcome.costs;
  json["stages"] = stages_json(outcome.stages);
  return json;
}

std::string summary_of(const BarycentreOptions& options, const ScaledJob& job, const BarycentreOutcome& outcome) {
  std::string text = fmt::format("barycentre of {} histograms   C is {}, {}, epsilon {}\n", outcome.costs.size(),
                                 layout::to_string(job.file.shape), name(job.precision), options.epsilon);
  text += fmt::format("  {:<10}{:.6g}\n", "costs", fmt::join(outcome.costs, ", "));
  text += stages_summary(outcome.stages);
  return text + scaled_summary(options, job.file, outcome);
}

}  // namespace

void run_barycentre(mpi::Context& context, const BarycentreOptions& options) {
  const Index kernel_bytes = options.domain == sinkhorn::Domain::logarithmic ? 0 : Index{sizeof(double)};
  std::vector<NamedFile> read{{options.input, "IN"}, {options.histograms, "the file of --histograms"}};
  if (!options.weights.empty()) read.push_back({options.weights, "the file of --weights"});
  const ScaledJob job = prepared(context, options, [kernel_bytes](Precision) { return kernel_bytes; }, std::move(read));
  carry_out(
      context, options,
      [&](Meter& meter) {
        return job.precision == Precision::mixed ? mean_of<float>(context, options, job, meter)
                                                 : mean_of<double>(context, options, job, meter);
      },
      [&](const BarycentreOutcome& outcome) { return report_of(context, options, job, outcome); },
      [&](const BarycentreOutcome& outcome) { return summary_of(options, job, outcome); },
      [&](const BarycentreOutcome& outcome) { return facts_of(options, outcome); });
}

}  // namespace plait::cli
