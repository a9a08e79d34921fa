#include "cli/sinkhorn/balance_report.hpp"

#include <fmt/format.h>

#include "plait/layout/shape.hpp"

#include "cli/job/json_values.hpp"
#include "cli/output/quantities.hpp"
#include "cli/scaling/sparse_matrix_file.hpp"

namespace plait::cli {

using nlohmann::ordered_json;

ordered_json balance_json(const mpi::Context& context, const BalanceOptions& options, const ScaledJob& job,
                          const BalanceOutcome& outcome) {
  auto json = scaled_json(context, "balance", options, job.file, job.memory, outcome);
  for (const char* key : {"marginals", "start", "over_relaxation"}) json.erase(key);
  json["output"] = output_json(options.of_rows);
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

}  // namespace plait::cli
