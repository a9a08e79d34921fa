#include "cli/balance.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/balance.hpp"

#include "cli/quantities.hpp"
#include "cli/scaled_job.hpp"

namespace plait::cli {

namespace {

/// What is told beside what every job of the kind tells.
struct BalanceOutcome : ScaledOutcome {
  Index masked = 0;
};

/// This rank's part of what belongs to all rows.
std::span<double> own_part(std::vector<double>& all, Index first, Index rows) {
  return std::span(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows));
}

template <class T>
BalanceOutcome balanced(mpi::Context& context, const BalanceOptions& options, const ScaledJob& job, Meter& meter) {
  BalanceOutcome result;
  result.precision = job.precision;
  const JointStopwatch all(context);
  meter.stage("reading " + options.input, 0, layout::elements(job.file.shape) * io::bytes(job.file.dtype));
  auto matrix = read_scaled<T>(context, options.input, job.file, meter.progress());
  const matrix_view<T> rows = matrix.rows();  // of the transpose, where the file has columns: that is the same
  result.read_seconds = all.seconds();

  meter.stage("balancing", 0, 0);
  const JointStopwatch iterating(context);
  sinkhorn::DenseSymmetricOperand<T> operand{matrix_view<const T>(rows)};
  auto found =
      sinkhorn::balance(context, operand, options.sum, limits_of(context, options, job.precision, meter, result.log));
  result.iterate_seconds = iterating.seconds();
  result.outcome = found.outcome;
  result.iterations = found.outcome.iterations;
  result.masked = found.masked;

  const JointStopwatch writing(context);
  const Index first = mpi::sum_below(context.comm(), rows.rows());
  const auto own = own_part(found.x, first, rows.rows());
  sinkhorn::plan_in_place<T, double>(rows, own, found.x);
  auto wanted = mpi::agreed(context, [&] {
    sinkhorn::CheckedMarginals sums;
    for (const double x : found.x) sums.columns.push_back(x == 0 ? 0 : options.sum);
    sums.rows.assign(sums.columns.begin() + first, sums.columns.begin() + first + rows.rows());
    sums.first_row = first;
    sums.all_rows = static_cast<Index>(found.x.size());
    return sums;
  });
  wanted.total = options.sum * static_cast<double>(rows.columns() - found.masked);
  result.check = sinkhorn::marginal_errors<T>(context, rows, wanted);
  expect_plan(context, result.outcome, result.check, accuracy_of(options, result.precision));
  sketch(context, options, matrix, wanted, result);
  result.swept_bytes = layout::elements(job.file.shape) * Index{sizeof(T)};
  std::ranges::replace(found.x, 0.0, std::numeric_limits<double>::quiet_NaN());
  write_matrix(context, options, matrix, meter);
  write_row_vector(context, options.of_rows, own, false);
  result.write_seconds = writing.seconds();
  result.seconds = all.seconds();
  return result;
}

nlohmann::ordered_json report_of(const mpi::Context& context, const BalanceOptions& options, const ScaledJob& job,
                                 const BalanceOutcome& outcome) {
  auto json = scaled_json(context, "balance", options, job.file, job.memory, outcome);
  for (const char* key : {"marginals", "start", "plan", "over_relaxation"}) json.erase(key);
  json["factors"] = options.of_rows.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(options.of_rows);
  json["matrix"] = options.output.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(options.output);
  json["sum"] = options.sum;
  json["masked"] = outcome.masked;
  return json;
}

std::string summary_of(const BalanceOptions& options, const ScaledJob& job, const BalanceOutcome& outcome) {
  std::string text = fmt::format("B = diag(x) A diag(x)   A is {}, {}; rows of B sum up to {}\n",
                                 layout::to_string(job.file.shape), name(job.precision), options.sum);
  text +=
      fmt::format("  {:<10}{} of {} without entries\n", "masked", outcome.masked, counted(job.file.shape.rows, "row"));
  return text + scaled_summary(options, job.file, outcome);
}

}  // namespace

void run_balance(mpi::Context& context, const BalanceOptions& options) {
  const ScaledJob job = prepared(context, options, [](Precision) { return Index{0}; });
  carry_out(
      context, options,
      [&](Meter& meter) {
        return job.precision == Precision::mixed ? balanced<float>(context, options, job, meter)
                                                 : balanced<double>(context, options, job, meter);
      },
      [&](const BalanceOutcome& outcome) { return report_of(context, options, job, outcome); },
      [&](const BalanceOutcome& outcome) { return summary_of(options, job, outcome); },
      [&](const BalanceOutcome& outcome) {
        return PageFacts{.rows = {{"what a row is to sum up to", fmt::format("{}", options.sum)},
                                  {"masked rows", fmt::format("{}", outcome.masked)}},
                         .stages = {},
                         .plan = "the balanced matrix",
                         .sums = {"row"}};
      });
}

}  // namespace plait::cli
