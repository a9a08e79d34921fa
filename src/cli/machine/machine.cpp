#include "cli/machine/machine.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "plait/base/stopwatch.hpp"
#include "plait/io/aside_file.hpp"
#include "plait/io/machine_file.hpp"
#include "plait/model/machine.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/environment.hpp"

#include "cli/job/node.hpp"
#include "cli/machine/machine_report.hpp"
#include "cli/machine/measure_links.hpp"
#include "cli/machine/measure_memory.hpp"
#include "cli/options/option_value.hpp"
#include "cli/output/meter.hpp"
#include "cli/output/print.hpp"
#include "cli/output/quantities.hpp"
#include "cli/output/text_aside.hpp"

namespace plait::cli {

namespace {

// About what is spent on each link, and on the memory.
constexpr double link_seconds = 15;
constexpr double memory_seconds = 3;
constexpr double quick_seconds = 0.6;

constexpr const char* machine_footer =
    R"(Measured are latency and bandwidth over the size of messages, within a node and between nodes, of one rank and of
several at once; and reading, copying and combining in memory, by all ranks of a node at once. Launch it exactly like
your jobs, on two nodes at least. What these ranks can't measure is assumed.

Example:
  mpirun -n 8 plait machine -o machine.json
  mpirun -n 8 plait redistribute B.npy -o A.npy --op transpose --machine machine.json)";

model::Machine measure(mpi::Context& context, const MachineOptions& options, Meter& meter) {
  const auto effort = [&](double seconds) {
    return Effort{.quick = options.quick,
                  .seconds = options.quick ? quick_seconds : seconds,
                  .tell = [&meter](const std::string& what) { meter.stage("measuring: " + what, 0, 0); }};
  };
  model::Machine machine = model::default_machine(mpi::network_message);
  const MemoryRates rates = measure_memory(context, effort(memory_seconds));
  machine.read_bytes_per_second = rates.read;
  machine.copy_bytes_per_second = rates.copy;
  machine.combine_bytes_per_second = rates.combine;
  machine.node = measure_node_link(context, effort(link_seconds));
  machine.network = measure_network_link(context, effort(link_seconds));
  meter.finish();

  machine.ranks_per_node = context.topology().ranks_per_node();
  const NodeProcessors processors = node_processors();
  machine.cores_per_node = processors.cores;
  machine.numa_nodes = processors.numa_nodes;
  machine.description =
      fmt::format("{} on {}, {}, {}{}", counted(context.size(), "rank"), counted(context.topology().nodes(), "node"),
                  mpi::library_version(), processor_name(), options.quick ? "; measured quickly" : "");
  return machine;
}

}  // namespace

void add_machine(CLI::App& program, MachineOptions& options) {
  CLI::App& command =
      *program.add_subcommand("machine", "Measure what the machine can do, for the choice of algorithms");
  add_path(command, "-o,--output", options.output, "FILE", "The description, as JSON")->required();
  command.add_flag("--quick", options.quick, "Take a second or two instead of up to a minute: fewer sizes, once each")
      ->disable_flag_override();
  add_report_options(command, options.report);
  command.footer(machine_footer);
}

void run_machine(mpi::Context& context, const MachineOptions& options) {
  mpi::agreed(context, [&] {
    if (context.rank() == 0) io::AsideFile::try_out(options.output);  // before a minute is spent
  });
  const Stopwatch watch;
  Meter meter(context, options.report.meter());
  const model::Machine machine = measure(context, options, meter);
  mpi::agreed(context, [&] {
    if (context.rank() == 0) text_aside(options.output, io::machine_text(machine)).publish();
  });
  if (context.rank() != 0) return;
  if (options.report.json) {
    print_result(machine_json(context, machine, options.output, watch.seconds()));
  } else if (!options.report.quiet) {
    print_result(machine_summary(machine, options.output, watch.seconds()));
  }
}

}  // namespace plait::cli
