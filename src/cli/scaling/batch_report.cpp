#include "cli/scaling/batch_report.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/error.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/io/slab.hpp"
#include "plait/layout/axis.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

#include "cli/job/no_result.hpp"
#include "cli/output/quantities.hpp"
#include "cli/scaling/epsilon_options.hpp"

namespace plait::cli {

namespace {

/// One behind the other, those of one place together: `count` of each from `first` on.
std::vector<double> interleaved(const std::vector<std::vector<double>>& vectors, Index first, Index count) {
  std::vector<double> all;
  all.reserve(static_cast<std::size_t>(count) * vectors.size());
  for (Index i = first; i < first + count; ++i) {
    for (const auto& each : vectors) all.push_back(each[static_cast<std::size_t>(i)]);
  }
  return all;
}

/// Places x problems by rows, or problems x places by columns: in memory that is the same.
void write_interleaved(mpi::Context& context, const std::string& path, const std::vector<double>& own, Index places,
                       Index problems, bool are_rows) {
  const auto layout = are_rows ? io::slab_layout({places, problems}, StorageOrder::row_major, context.size())
                               : io::slab_layout({problems, places}, StorageOrder::column_major, context.size());
  auto slab = mpi::agreed(context, [&] { return io::make_slab<double>(path, layout, context.rank()); });
  std::ranges::copy(own, slab.tiles()[0].data());
  io::write_npy(context, path, slab, {});
}

void write_row_vectors(mpi::Context& context, const std::string& path, const std::vector<std::vector<double>>& own,
                       bool is_transposed) {
  if (path.empty()) return;
  const auto count = static_cast<Index>(own[0].size());
  const Index all = mpi::all_reduce(context.comm(), count, mpi::Operation::sum());
  const auto values = mpi::agreed(context, [&] { return interleaved(own, 0, count); });
  write_interleaved(context, path, values, all, static_cast<Index>(own.size()), !is_transposed);
}

void write_column_vectors(mpi::Context& context, const std::string& path, const std::vector<std::vector<double>>& all,
                          bool is_transposed) {
  if (path.empty()) return;
  const auto n = static_cast<Index>(all[0].size());
  const auto axis = layout::Axis::even(n, context.size());
  const Index count = axis.local_extent(context.rank());
  const auto values =
      mpi::agreed(context, [&] { return interleaved(all, count == 0 ? 0 : axis.global_of(context.rank(), 0), count); });
  write_interleaved(context, path, values, n, static_cast<Index>(all.size()), is_transposed);
}

}  // namespace

void expect_plans(mpi::Context&, const ScaledOptions& options, BatchOutcome& result, bool is_transposed) {
  result.check = {};
  for (std::size_t k = 0; k < result.problems.size(); ++k) {
    ProblemOutcome& problem = result.problems[k];
    try {
      expect_plan_of(problem.outcome, problem.check);
    } catch (const NoResult& error) {
      throw NoResult(error.status(), fmt::format("problem {} of {}: {}", k, result.problems.size(), error.what()));
    }
    compare_with_check(problem.outcome, problem.check, accuracy_of(options, result.precision));
    if (is_transposed) std::swap(problem.check.rows, problem.check.columns);
    result.check.rows = std::max(result.check.rows, problem.check.rows);
    result.check.columns = std::max(result.check.columns, problem.check.columns);
    result.check.mass += problem.check.mass;
    const bool is_first = k == 0;
    const bool is_worse =
        result.outcome.status == sinkhorn::Status::converged &&
        (problem.outcome.status != sinkhorn::Status::converged || problem.outcome.error > result.outcome.error);
    if (is_first || is_worse) result.outcome = problem.outcome;
  }
  if (result.outcome.status != sinkhorn::Status::converged) {
    const auto first = std::ranges::find_if(result.problems, [](const ProblemOutcome& problem) {
      return problem.outcome.status != sinkhorn::Status::converged;
    });
    const auto others = std::ranges::count_if(first + 1, result.problems.end(), [](const ProblemOutcome& problem) {
      return problem.outcome.status != sinkhorn::Status::converged;
    });
    result.outcome.reason = fmt::format("problem {}: {}{}", first - result.problems.begin(), result.outcome.reason,
                                        others == 0 ? "" : fmt::format("; {} more did not converge", others));
  }
}

void write_vectors_of_each(mpi::Context& context, const ScaledOptions& options,
                           const std::vector<std::vector<double>>& own, const std::vector<std::vector<double>>& all,
                           bool is_transposed) {
  write_row_vectors(context, is_transposed ? options.of_columns : options.of_rows, own, is_transposed);
  write_column_vectors(context, is_transposed ? options.of_rows : options.of_columns, all, is_transposed);
}

void expect_none_of_one(const ScaledOptions& options, Index problems) {
  if (problems == 1) return;
  const auto refuse = [problems](const char* option) {
    throw ArgumentError(
        fmt::format("{} is given, but the marginals have {} columns, each a problem; expected one column, "
                    "or only files of vectors",
                    option, problems));
  };
  if (!options.output.empty()) refuse("--output");
  if (!options.start.empty()) refuse("--start");
  if (!options.checkpoint.empty()) refuse("--checkpoint");
}

nlohmann::ordered_json problems_json(const BatchOutcome& outcome, bool is_transport) {
  auto all = nlohmann::ordered_json::array();
  for (const ProblemOutcome& problem : outcome.problems) {
    nlohmann::ordered_json json{
        {"status", name(problem.outcome.status)},
        {"reason", problem.outcome.reason},
        {"iterations", problem.iterations},
        {"error", problem.outcome.error},
        {"check", {{"rows", problem.check.rows}, {"columns", problem.check.columns}, {"mass", problem.check.mass}}}};
    if (is_transport) {
      json["cost"] = problem.cost;
      json["dual"] = problem.dual;
      json["duality_gap"] = problem.gap;
      json["stages"] = stages_json(problem.stages);
    }
    all.push_back(std::move(json));
  }
  return all;
}

std::string problems_summary(const BatchOutcome& outcome, bool is_transport) {
  Index least = outcome.problems[0].iterations;
  Index most = least;
  for (const ProblemOutcome& problem : outcome.problems) {
    least = std::min(least, problem.iterations);
    most = std::max(most, problem.iterations);
  }
  const auto converged = std::ranges::count_if(outcome.problems, [](const ProblemOutcome& problem) {
    return problem.outcome.status == sinkhorn::Status::converged;
  });
  std::string text = fmt::format("  {:<10}{} of {} converged, in {} to {} iterations\n", "problems", converged,
                                 outcome.problems.size(), least, most);
  if (!is_transport) return text;
  constexpr std::size_t most_listed = 64;
  std::vector<double> costs;
  for (const ProblemOutcome& problem : outcome.problems) costs.push_back(problem.cost);
  const std::size_t listed = std::min(costs.size(), most_listed);
  text +=
      fmt::format("  {:<10}{:.10g}{}\n", "costs",
                  fmt::join(costs.begin(), costs.begin() + static_cast<std::ptrdiff_t>(listed), ", "),
                  listed < costs.size() ? fmt::format(", and {} more, which --json lists", costs.size() - listed) : "");
  return text;
}

PageFacts problems_facts(const BatchOutcome& outcome, bool is_transport) {
  PageFacts page{.rows = {{"problems", fmt::format("{}", outcome.problems.size())}}, .stages = {}};
  constexpr std::size_t most_listed = 64;
  for (std::size_t k = 0; k < std::min(outcome.problems.size(), most_listed); ++k) {
    const ProblemOutcome& problem = outcome.problems[k];
    page.rows.push_back(
        {fmt::format("problem {}", k), fmt::format("{} after {}, error {:.2e}{}", name(problem.outcome.status),
                                                   counted(problem.iterations, "iteration"), problem.outcome.error,
                                                   is_transport ? fmt::format(", cost {:.10g}", problem.cost) : "")});
  }
  if (outcome.problems.size() > most_listed) page.rows.push_back({"further ones", "as --json tells"});
  return page;
}

}  // namespace plait::cli
