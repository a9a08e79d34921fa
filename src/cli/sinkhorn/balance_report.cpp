#include "cli/sinkhorn/balance_report.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"

#include "cli/job/json_values.hpp"
#include "cli/output/quantities.hpp"
#include "cli/scaling/scaled_matrix.hpp"
#include "cli/scaling/sparse_matrix_file.hpp"

namespace plait::cli {

using nlohmann::ordered_json;

ordered_json balance_json(const mpi::Context& context, const BalanceOptions& options, const ScaledJob& job,
                          const BalanceOutcome& outcome) {
  auto json = scaled_json(context, "balance", options, job.file, job.memory, outcome);
  for (const char* key : {"marginals", "start", "plan", "over_relaxation"}) json.erase(key);
  json["factors"] = name_or_null(options.of_rows);
  json["matrix"] = name_or_null(options.output);
  json["sum"] = options.sum;
  json["masked"] = outcome.masked;
  if (const auto* header = sparse_header(job.file)) json["entries"] = header->entries;
  return json;
}

std::string balance_summary(const BalanceOptions& options, const ScaledJob& job, const BalanceOutcome& outcome) {
  const auto* header = sparse_header(job.file);
  const std::string sparse =
      header != nullptr ? fmt::format(", sparse: {} entries in the file", header->entries) : std::string();
  std::string text = fmt::format("B = diag(x) A diag(x)   A is {}{}, {}; rows of B sum up to {}\n",
                                 layout::to_string(job.file.shape), sparse, name(job.precision), options.sum);
  text +=
      fmt::format("  {:<10}{} of {} without entries\n", "masked", outcome.masked, counted(job.file.shape.rows, "row"));
  return text + scaled_summary(options, job.file, outcome);
}

PageFacts balance_facts(const BalanceOptions& options, const BalanceOutcome& outcome) {
  return {.rows = {{"what a row is to sum up to", fmt::format("{}", options.sum)},
                   {"masked rows", fmt::format("{}", outcome.masked)}},
          .stages = {},
          .plan = "the balanced matrix",
          .sums = {"row"}};
}

sinkhorn::CheckedMarginals wanted_of_balance(mpi::Context& context, const std::vector<double>& factors, double sum,
                                             Index first_row, Index rows) {
  return mpi::agreed(context, [&] {
    sinkhorn::CheckedMarginals wanted;
    for (const double factor : factors) {
      wanted.columns.push_back(factor == 0 ? 0 : sum);
      wanted.total += wanted.columns.back();
    }
    const auto first = wanted.columns.begin() + first_row;
    wanted.rows.assign(first, first + rows);
    wanted.first_row = first_row;
    wanted.all_rows = static_cast<Index>(factors.size());
    return wanted;
  });
}

void write_factors(mpi::Context& context, const BalanceOptions& options, const std::vector<double>& factors,
                   Index first_row, Index rows) {
  if (options.of_rows.empty()) return;
  const auto own = mpi::agreed(context, [&] {
    std::vector<double> part(factors.begin() + first_row, factors.begin() + first_row + rows);
    std::ranges::replace(part, 0.0, std::numeric_limits<double>::quiet_NaN());
    return part;
  });
  write_row_vector(context, options.of_rows, own, false);
}

}  // namespace plait::cli
