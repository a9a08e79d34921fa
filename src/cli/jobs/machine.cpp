#include "plait/model/machine.hpp"

#include "plait/io/machine_file.hpp"
#include "plait/io/rank_zero.hpp"
#include "plait/mpi/environment.hpp"
#include "plait/mpi/message.hpp"

#include "cli/host/job.hpp"
#include "cli/machine/measure.hpp"

namespace plait::cli {

namespace {

constexpr std::array<Index, 4> shown_sizes{1'000, 16'000, 60'000, 1'000'000};

std::string rate_of(double bytes_per_second) { return rate_text(static_cast<Index>(bytes_per_second), 1.0); }

std::string latency(double seconds) {
  return seconds < 1e-5 ? fmt::format("{:.2f} us", seconds * 1e6) : seconds_text(seconds);
}

std::string line_of(std::string_view what, const model::BandwidthCurve& curve) {
  std::string text = fmt::format("    {:<20}", what);
  for (const Index size : shown_sizes) text += fmt::format("{:>11}", rate_of(curve.bytes_per_second(size)));
  return text + fmt::format("  from {}\n", bytes_text(curve.threshold_bytes()));
}

std::string link_table(std::string_view where, const model::Link& link, std::string_view needed) {
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

/// Measures what the machine can do and writes it to a file.
class MachineJob : public Job {
 public:
  void options(Options& options) override {
    options.describe(
        "Measure what the machine can do, for the choice of algorithms",
        R"(Measured are latency and bandwidth over the size of messages, within a node and between nodes, of one rank and of
several at once; and reading, copying and combining in memory and multiplying matrices, by all ranks of a node at once.
Launch it exactly like your jobs, and on two nodes or more to measure the network, too. What these ranks can't measure is assumed.

Example:
  mpirun -n 8 plait machine -o machine.json
  mpirun -n 8 plait redistribute B.npy -o A.npy --op transpose --machine machine.json)");
    options.writes("-o,--output", output_, {}, "The description, as JSON")->required();
    add_flag(options, "--quick", quick_, "Take a second or two instead of up to a minute: fewer sizes, once each");
    options.host({.machine = false});
  }

  void run(Work& work) override {
    mpi::Context& context = work.context;
    const auto effort = [&](double seconds) {  // about what is spent
      return Effort{.quick = quick_, .seconds = quick_ ? 0.6 : seconds, .tell = [&](const std::string& what) {
                      work.meter.stage("measuring: " + what, 0, 0);
                    }};
    };
    machine_ = model::default_machine(mpi::network_message);
    const MemoryRates rates = measure_memory(context, effort(3));
    machine_.read_bytes_per_second = rates.read;
    machine_.copy_bytes_per_second = rates.copy;
    machine_.combine_bytes_per_second = rates.combine;
    machine_.product_flops_per_second = measure_products(context, effort(3));
    machine_.node = measure_node_link(context, effort(15));
    machine_.network = measure_network_link(context, effort(15));
    work.meter.finish();
    machine_.ranks_per_node = context.topology().ranks_per_node();
    const NodeProcessors processors = node_processors();
    machine_.cores_per_node = processors.cores;
    machine_.numa_nodes = processors.numa_nodes;
    machine_.description =
        fmt::format("{} on {}, {}, {}{}", counted(context.size(), "rank"), counted(context.topology().nodes(), "node"),
                    mpi::library_version(), processor_name(), quick_ ? "; measured quickly" : "");
    io::on_rank_zero(context, [&] { text_aside(output_, io::machine_text(machine_)).publish(); });
  }

  void report(Report& report, Work& work) override {
    report.head("{}: {}; in {}", report.fact("output.path", output_), machine_.description,
                seconds_text(report.fact("seconds", work.seconds)));
    report.fact("machine", nlohmann::ordered_json::parse(io::machine_text(machine_)));  // of which the rest is words
    report.head("  a node has {} in {}", counted(machine_.cores_per_node, "core"),
                counted(machine_.numa_nodes, "NUMA node"));
    report.head("  memory: all ranks of a node read {} and copy {}, each combines {}",
                rate_of(machine_.read_bytes_per_second), rate_of(machine_.copy_bytes_per_second),
                rate_of(machine_.combine_bytes_per_second));
    report.head("  products: all ranks of a node multiply matrices of doubles at {:.3g} GFlop/s",
                machine_.product_flops_per_second * 1e-9);
    report.text(link_table("within a node", machine_.node, "two ranks in a node"));
    report.text(link_table("between nodes", machine_.network, "two nodes"));
  }

 private:
  std::string output_;
  bool quick_ = false;
  model::Machine machine_ = model::default_machine();
};

}  // namespace

PLAIT_JOB(machine, MachineJob)

}  // namespace plait::cli
