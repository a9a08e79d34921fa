#include "cli/trace/trace_options.hpp"

#include <CLI/CLI.hpp>

#include "cli/job/link_rate.hpp"
#include "cli/options/option_value.hpp"
#include "cli/options/report_options.hpp"

namespace plait::cli {

namespace {

constexpr const char* trace_footer =
    R"(No launcher is needed. ui.perfetto.dev and chrome://tracing open the same file.

Example:
  mpirun -n 4 plait redistribute B.npy -o A.npy --op transpose --to blocks@2x2 --trace t.json
  plait trace t.json --report t.html)";

}  // namespace

void add_trace(CLI::App& program, TraceOptions& options) {
  CLI::App& command = *program.add_subcommand("trace", "Analyse a trace that --trace has written: what overlapped");
  add_path(command, "IN", options.input, "FILE.json", "The trace")->required();
  add_value(command, "--rate", options.bits_per_second, parse_link_rate, "RATE",
            "Of a node's link, in bits per second, such as 1gbit; by default that of the trace, if it has one");
  add_page_option(command, options.report, "the timeline of each rank and all figures");
  add_json_option(command, options.json);
  add_quiet_option(command, options.quiet);
  command.footer(trace_footer);
}

}  // namespace plait::cli
