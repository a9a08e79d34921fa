#include "cli/multiply/multiply_report.hpp"

#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/job/json_values.hpp"
#include "cli/options/op_name.hpp"
#include "cli/output/json_line.hpp"
#include "cli/output/quantities.hpp"

namespace plait::cli {

namespace {

using nlohmann::ordered_json;

std::string factor_text(const char* matrix, redistribute::Op op) {
  return op == redistribute::Op::identity ? matrix : fmt::format("{}({})", name(op), matrix);
}

std::string formula(const MultiplyOptions& options) {
  std::string text = "C ← ";
  if (!options.alpha.is_one()) text += fmt::format("({})·", options.alpha.text());
  text += factor_text("A", options.op_a) + "·" + factor_text("B", options.op_b);
  if (!options.beta.is_zero()) text += fmt::format(" + ({})·C", options.beta.text());
  return text;
}

double flops_per_second(const MultiplyOutcome& outcome) {
  return outcome.seconds_multiplied > 0 ? outcome.flops / outcome.seconds_multiplied : 0;
}

/// 0 where nothing has to move.
double volume_over_bound(const MultiplyOutcome& outcome) {
  return outcome.bound_bytes > 0 ? static_cast<double>(outcome.received_bytes) / outcome.bound_bytes : 0;
}

std::string volume_text(const MultiplyOutcome& outcome) {
  std::string text = fmt::format("at most {} to a rank", bytes_text(outcome.received_bytes));
  if (outcome.bound_bytes > 0) text += fmt::format(", {:.2f}× the lower bound", volume_over_bound(outcome));
  if (outcome.redistributed_bytes == 0) return text + "; operands not moved";
  return text + fmt::format("; at most {} to rearrange operands", bytes_text(outcome.redistributed_bytes));
}

std::string check_text(const MultiplyOutcome& outcome) {
  if (outcome.check != "passed") return "undecided: there are NaN or infinite elements";
  return fmt::format("passed: residual {:.2g} with a random vector, {:.2g} is rounding", outcome.residual,
                     outcome.tolerance);
}

ordered_json file_json(const std::string& path, const io::MatrixFile& file, redistribute::Op op) {
  auto json = input_json(path, file);
  json["shape"] = shape_json(file.shape);
  json["op"] = name(op);
  return json;
}

}  // namespace

std::string summary(const mpi::Context& context, const MultiplyOptions& options, const MultiplyTask& task,
                    const MultiplyOutcome& outcome) {
  std::string text = fmt::format("{}   A is {}, B is {}, {}\n", formula(options), layout::to_string(task.a.shape),
                                 layout::to_string(task.b.shape), io::name(task.a.dtype));
  const auto line = [&text](std::string_view what, std::string_view value) {
    text += fmt::format("  {:<10}{}\n", what, value);
  };
  line("by", fmt::format("{}; {} of workspace a rank", outcome.arrangement, bytes_text(outcome.workspace_bytes)));
  line("took", fmt::format("{}, {:.3g} GFlop/s; planned in {}", seconds_text(outcome.seconds_multiplied),
                           flops_per_second(outcome) * 1e-9, seconds_text(outcome.plan_seconds)));
  if (context.size() > 1) line("moved", volume_text(outcome));
  line("check", fmt::format("{}; {}", check_text(outcome), seconds_text(outcome.check_seconds)));
  line("read", moved_text(outcome.read));
  line("wrote", fmt::format("{}: {}", options.output, moved_text(outcome.written)));
  if (!options.trace.empty()) line("trace", options.trace);
  line("total", seconds_text(outcome.seconds));
  return text;
}

std::string json_report(const mpi::Context& context, const MultiplyOptions& options, const MultiplyTask& task,
                        const MemoryEstimate& memory, const MultiplyOutcome& outcome) {
  ordered_json report = job_json(context, "multiply");
  report.update({{"a", file_json(options.a, task.a, options.op_a)},
                 {"b", file_json(options.b, task.b, options.op_b)},
                 {"dtype", io::name(task.a.dtype)},
                 {"alpha", scalar_json(options.alpha, task.a.dtype)},
                 {"beta", scalar_json(options.beta, task.a.dtype)},
                 {"into", name_or_null(options.into)},
                 {"output", {{"path", options.output}, {"shape", shape_json(task.c.shape())}}},
                 {"trace", name_or_null(options.trace)},
                 {"arrangement", outcome.arrangement},
                 {"workspace_bytes", outcome.workspace_bytes},
                 {"multiplication",
                  {{"plan_seconds", outcome.plan_seconds},
                   {"seconds", outcome.seconds_multiplied},
                   {"predicted_seconds", outcome.predicted_seconds},
                   {"flops", outcome.flops},
                   {"flops_per_second", flops_per_second(outcome)},
                   {"received_bytes", outcome.received_bytes},
                   {"bound_bytes", outcome.bound_bytes},
                   {"volume_over_bound", volume_over_bound(outcome)},
                   {"redistributed_bytes", outcome.redistributed_bytes}}},
                 {"check", outcome.check},
                 {"residual", outcome.residual},
                 {"rounding", outcome.tolerance},
                 {"check_seconds", outcome.check_seconds},
                 {"read", json_of(outcome.read)},
                 {"write", json_of(outcome.written)},
                 {"seconds", outcome.seconds},
                 {"memory", json_of(memory)}});
  return json_line(report);
}

}  // namespace plait::cli
