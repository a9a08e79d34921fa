#include "cli/redistribute/redistribute_report.hpp"

#include <cmath>
#include <complex>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plait/layout/text.hpp"

#include "cli/job/json_values.hpp"
#include "cli/job/moved.hpp"
#include "cli/options/op_name.hpp"
#include "cli/output/json_line.hpp"
#include "cli/output/quantities.hpp"

namespace plait::cli {

namespace {

using nlohmann::ordered_json;

/// A factor as it stands in a formula: a sign, and what is written before the matrix.
struct Factor {
  bool is_negative = false;
  std::string text;
};

Factor factor(const Scalar& scalar) {
  std::string_view text = scalar.text();
  if (text.starts_with('(')) return {false, std::string(text) + "\u00b7"};
  if (text.ends_with('i') || text.ends_with('j')) return {false, fmt::format("({})\u00b7", text)};
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  return {is_negative, std::abs(scalar.rounded().real()) == 1 ? "" : std::string(text) + "\u00b7"};
}

std::string formula(const RedistributeOptions& options) {
  const Factor alpha = factor(options.alpha);
  std::string text = fmt::format("A \u2190 {}{}", alpha.is_negative ? "-" : "", alpha.text);
  text += options.op == redistribute::Op::identity ? "B" : fmt::format("{}(B)", name(options.op));
  if (options.beta.is_zero()) return text;
  const Factor beta = factor(options.beta);
  return text + fmt::format(" {} {}A", beta.is_negative ? '-' : '+', beta.text);
}

std::string layout_text(const layout::Layout& layout, const std::optional<layout::LayoutSpec>& given) {
  if (given) return given->text();
  const auto spec = layout::spec_of(layout);
  return spec ? spec->text() : layout::describe(layout);
}

std::string traffic_text(const report::TrafficSummary& traffic) {
  std::string text = bytes_text(traffic.of(PeerClass::self).bytes) + " within ranks";
  for (const auto& [peer, where] :
       {std::pair(PeerClass::node, "within nodes"), {PeerClass::network, "between nodes"}}) {
    const Traffic& moved = traffic.of(peer);
    if (moved.messages == 0) continue;
    text += fmt::format(", {} {} ({})", bytes_text(moved.bytes), where, counted(moved.messages, "message"));
  }
  return text;
}

std::string_view check_text(const RedistributeOptions& options, io::DType dtype, std::string_view verdict) {
  if (verdict != "passed") return "undecided: there are NaN or infinite elements";
  const bool is_copy = options.alpha.is_one() && options.beta.is_zero();
  const bool is_integral = io::with_dtype(dtype, []<class T>() { return std::is_integral_v<T>; });
  return is_copy || is_integral ? "passed: equal checksums" : "passed: checksums equal to rounding";
}

ordered_json counted_json(const Traffic& traffic) { return {{"bytes", traffic.bytes}, {"messages", traffic.messages}}; }

}  // namespace

std::string summary(const RedistributeOptions& options, const RedistributeTask& task,
                    const RedistributeOutcome& outcome) {
  std::string text = fmt::format("{}   B is {}, {}\n", formula(options), layout::to_string(task.input.shape),
                                 io::name(task.input.dtype));
  const auto line = [&text](std::string_view what, std::string_view value) {
    text += fmt::format("  {:<10}{}\n", what, value);
  };
  line("from", layout_text(task.from, options.from));
  line("to", layout_text(task.to, options.to));
  if (task.relabeled) {
    line("relabeled", fmt::format("{} between ranks instead of {}", bytes_text(task.relabeled->after.bytes),
                                  bytes_text(task.relabeled->before.bytes)));
    line("", saving_text(*task.relabeled));
  }
  line("moved",
       fmt::format("{}; planned in {}", moved_text(outcome.redistributed), seconds_text(outcome.plan_seconds)));
  line("", traffic_text(outcome.traffic));
  if (!outcome.arrangements.empty()) {
    line("arranged", fmt::format("{}: {}", outcome.arrangements, moved_text(outcome.arranged)));
  }
  line("check", fmt::format("{}; {}", check_text(options, task.input.dtype, outcome.check),
                            seconds_text(outcome.check_seconds)));
  line("read", fmt::format("{}{}: {}", options.into.empty() ? "" : options.into + " and ", options.input,
                           moved_text(outcome.read)));
  line("wrote", fmt::format("{}: {}", options.output.empty() ? options.per_rank_folder : options.output,
                            moved_text(outcome.written)));
  if (!options.trace.empty()) line("trace", options.trace);
  line("total", seconds_text(outcome.seconds));
  return text;
}

std::string json_report(const mpi::Context& context, const RedistributeOptions& options, const RedistributeTask& task,
                        const MemoryEstimate& memory, const RedistributeOutcome& outcome) {
  const bool whole = !options.output.empty();
  ordered_json redistribution = json_of(outcome.redistributed);
  redistribution["plan_seconds"] = outcome.plan_seconds;
  for (const PeerClass peer : peer_classes)
    redistribution[std::string(name(peer))] = counted_json(outcome.traffic.of(peer));
  redistribution["largest_rank_bytes"] = outcome.traffic.largest_rank_bytes;

  ordered_json report = job_json(context, "redistribute");
  report.update({{"input", input_json(options.input, task.input)},
                 {"shape", shape_json(task.input.shape)},
                 {"dtype", io::name(task.input.dtype)},
                 {"op", name(options.op)},
                 {"alpha", scalar_json(options.alpha, task.input.dtype)},
                 {"beta", scalar_json(options.beta, task.input.dtype)},
                 {"into", name_or_null(options.into)},
                 {"from", layout_text(task.from, options.from)},
                 {"to", layout_text(task.to, options.to)},
                 {"output",
                  {{"path", whole ? options.output : options.per_rank_folder},
                   {"per_rank", !whole},
                   {"shape", shape_json(task.to.shape())},
                   {"order", order_name((whole ? task.output_slab : task.to).storage())}}},
                 {"trace", name_or_null(options.trace)},
                 {"check", outcome.check},
                 {"check_seconds", outcome.check_seconds},
                 {"redistribution", std::move(redistribution)},
                 {"arrange", json_of(outcome.arranged)},
                 {"read", json_of(outcome.read)},
                 {"write", json_of(outcome.written)},
                 {"seconds", outcome.seconds},
                 {"memory", json_of(memory)}});
  if (task.relabeled) {
    report["relabeled"] = json_of(*task.relabeled);
    report["relabeled"]["volume_bytes_before"] = task.relabeled->before.bytes;
    report["permutation"] = task.relabeled->relabeling.rank_of;
  }
  return json_line(report);
}

}  // namespace plait::cli
