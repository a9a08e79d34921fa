#include "cli/scaling/scaled_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/layout/shape.hpp"
#include "plait/simd/float16.hpp"
#include "plait/sinkhorn/course/stagnation.hpp"

#include "cli/job/json_values.hpp"
#include "cli/job/no_result.hpp"
#include "cli/output/quantities.hpp"

namespace plait::cli {

namespace {

using nlohmann::ordered_json;
using sinkhorn::Status;

}  // namespace

double accuracy_of(const ScaledOptions& options, Precision precision) {
  const double rounding = precision == Precision::f64    ? sinkhorn::roundoff_of<double>()
                          : precision == Precision::bf16 ? sinkhorn::roundoff_of<simd::BFloat16>()
                                                         : sinkhorn::roundoff_of<float>();
  return 10 * tolerance_of(options, precision) + 4 * rounding;
}

void expect_plan_of(const sinkhorn::Outcome& outcome, const sinkhorn::MarginalErrors& check) {
  const bool is_impossible = outcome.status == Status::no_support || outcome.status == Status::infeasible_marginals;
  const bool is_finite = std::isfinite(check.rows) && std::isfinite(check.columns) && std::isfinite(check.mass);
  if (!is_impossible && is_finite) return;
  if (!is_impossible && outcome.status != Status::numerical_limit) {
    throw NoResult(std::string(name(Status::numerical_limit)),
                   fmt::format("{}: the iterations ended ({}), but sums of the plan left the range of numbers; "
                               "nothing was written",
                               name(Status::numerical_limit), outcome.reason));
  }
  throw NoResult(std::string(name(outcome.status)),
                 fmt::format("{}: {}; nothing was written", name(outcome.status), outcome.reason));
}

void compare_with_check(sinkhorn::Outcome& outcome, const sinkhorn::MarginalErrors& check, double accuracy) {
  const double off = std::max(check.rows, check.columns);
  if (outcome.status != Status::converged || off <= accuracy) return;
  outcome.status = Status::numerical_limit;
  outcome.reason = fmt::format(
      "the iterations reached an error of {:.3g}, but the sums of the plan are off by {:.3g}: "
      "this precision allows no better plan",
      outcome.error, off);
}

void expect_plan(mpi::Context&, sinkhorn::Outcome& outcome, const sinkhorn::MarginalErrors& check, double accuracy) {
  expect_plan_of(outcome, check);  // which are the same on all ranks
  compare_with_check(outcome, check, accuracy);
}

std::string warning(const sinkhorn::Outcome& outcome) {
  if (outcome.status == Status::converged) return "";
  return fmt::format("{}: {}", name(outcome.status), outcome.reason);
}

std::string scaled_summary(const ScaledOptions& options, const io::MatrixFile& file, const ScaledOutcome& outcome) {
  std::string text;
  const auto line = [&text](std::string_view what, std::string_view value) {
    text += fmt::format("  {:<10}{}\n", what, value);
  };
  const double seconds_each =
      outcome.iterations > 0 ? outcome.iterate_seconds / static_cast<double>(outcome.iterations) : 0;
  line("status", fmt::format("{}: {}", name(outcome.outcome.status), outcome.outcome.reason));
  line("iterated", fmt::format("{} in {}, {} each", counted(outcome.iterations, "iteration"),
                               seconds_text(outcome.iterate_seconds), seconds_text(seconds_each)));
  if (outcome.resumed_at > 0) line("resumed", fmt::format("after iteration {} of its stage", outcome.resumed_at));
  line("check", fmt::format("total {:.6g}; rows are off by {:.2g} of it, columns by {:.2g}", outcome.check.mass,
                            outcome.check.rows, outcome.check.columns));
  line("read", fmt::format("{}: {} of {} in {}", options.input, layout::to_string(file.shape), io::name(file.dtype),
                           seconds_text(outcome.read_seconds)));
  std::string written;
  for (const std::string* path : {&options.output, &options.of_rows, &options.of_columns}) {
    if (!path->empty()) written += (written.empty() ? "" : ", ") + *path;
  }
  if (!written.empty()) line("wrote", fmt::format("{} in {}", written, seconds_text(outcome.write_seconds)));
  if (!options.page.empty()) line("report", options.page);
  if (!options.trace.empty()) line("trace", options.trace);
  line("total", seconds_text(outcome.seconds));
  return text;
}

ordered_json scaled_json(const mpi::Context& context, const char* command, const ScaledOptions& options,
                         const io::MatrixFile& file, const MemoryEstimate& memory, const ScaledOutcome& outcome) {
  ordered_json report = job_json(context, command);
  report.update(
      {{"input", input_json(options.input, file)},
       {"shape", {file.shape.rows, file.shape.columns}},
       {"dtype", io::name(file.dtype)},
       {"precision", name(outcome.precision)},
       {"marginals", {{"rows", name_or_null(options.rows)}, {"columns", name_or_null(options.columns)}}},
       {"start", name_or_null(options.start)},
       {"output", output_json(options.output)},
       {"report", name_or_null(options.page)},
       {"trace", name_or_null(options.trace)},
       {"tolerance", tolerance_of(options, outcome.precision)},
       {"over_relaxation", options.over_relaxation},
       {"status", name(outcome.outcome.status)},
       {"reason", outcome.outcome.reason},
       {"iterations", outcome.iterations},
       {"resumed_at", outcome.resumed_at},
       {"error", outcome.outcome.error},
       {"errors", outcome.outcome.errors},
       {"check", {{"rows", outcome.check.rows}, {"columns", outcome.check.columns}, {"mass", outcome.check.mass}}},
       {"read_seconds", outcome.read_seconds},
       {"iterate_seconds", outcome.iterate_seconds},
       {"write_seconds", outcome.write_seconds},
       {"seconds", outcome.seconds},
       {"memory", json_of(memory)}});
  return report;
}

}  // namespace plait::cli
