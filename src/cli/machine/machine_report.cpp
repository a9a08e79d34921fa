#include "cli/machine/machine_report.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plait/io/machine_file.hpp"

#include "cli/job/json_values.hpp"
#include "cli/output/json_line.hpp"
#include "cli/output/quantities.hpp"

namespace plait::cli {

namespace {

constexpr std::array<Index, 4> shown_sizes{1'000, 16'000, 60'000, 1'000'000};

std::string rate(double bytes_per_second) { return rate_text(static_cast<Index>(bytes_per_second), 1.0); }

std::string latency(double seconds) {
  return seconds < 1e-5 ? fmt::format("{:.2f} us", seconds * 1e6) : seconds_text(seconds);
}

std::string line_of(std::string_view what, const model::BandwidthCurve& curve) {
  std::string text = fmt::format("    {:<20}", what);
  for (const Index size : shown_sizes) text += fmt::format("{:>11}", rate(curve.bytes_per_second(size)));
  return text + fmt::format("  from {}\n", bytes_text(curve.threshold_bytes()));
}

std::string text_of(std::string_view where, const model::Link& link, std::string_view needed) {
  if (!link.measured) return fmt::format("  {}: assumed, not measured: needs {}\n", where, needed);
  std::string text = fmt::format("  {:<22}", fmt::format("{}, {}", where, latency(link.latency_seconds)));
  for (const Index size : shown_sizes) text += fmt::format("{:>11}", bytes_text(size));
  text += "  near its peak\n";
  for (const model::Streams& streams : link.streams) {
    const std::string who = counted(streams.ranks, "rank");
    text += line_of(who + ", one way", streams.one_way);
    text += line_of(who + ", both ways", streams.both_ways);
  }
  return text;
}

}  // namespace

std::string machine_summary(const model::Machine& machine, const std::string& output, double seconds) {
  std::string text = fmt::format("{}: {}; in {}\n", output, machine.description, seconds_text(seconds));
  text += fmt::format("  a node has {} in {}\n", counted(machine.cores_per_node, "core"),
                      counted(machine.numa_nodes, "NUMA node"));
  text += fmt::format("  memory: all ranks of a node read {} and copy {}, each combines {}\n",
                      rate(machine.read_bytes_per_second), rate(machine.copy_bytes_per_second),
                      rate(machine.combine_bytes_per_second));
  return text + text_of("within a node", machine.node, "two ranks in a node") +
         text_of("between nodes", machine.network, "two nodes");
}

std::string machine_json(const mpi::Context& context, const model::Machine& machine, const std::string& output,
                         double seconds) {
  auto report = job_json(context, "machine");
  report.update({{"output", output_json(output)},
                 {"seconds", seconds},
                 {"machine", nlohmann::ordered_json::parse(io::machine_text(machine))}});
  return json_line(report);
}

}  // namespace plait::cli
