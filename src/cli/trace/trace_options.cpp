#include "cli/trace/trace_options.hpp"

#include <CLI/CLI.hpp>

#include "cli/job/link_rate.hpp"
#include "cli/options/option_value.hpp"

namespace plait::cli {

namespace {

constexpr const char* trace_footer =
    R"(No launcher is needed. ui.perfetto.dev and chrome://tracing open the same file.

Example:
  mpirun -n 4 plait redistribute B.npy -o A.npy --op transpose --to blocks@2x2 --trace t.json
  plait trace t.json --report t.html)";

}  // namespace

void add_trace(CLI::App& program, TraceOptions& options) {
  CLI::App& command = *program.add_subcommand("trace", "Tell what overlapped in a trace that --trace has written");
  add_path(command, "FILE", options.input, "FILE.json", "The trace")->required();
  add_typed_path(command, "--report", options.report, "FILE.html",
                 "A page with the timeline of each rank and the figures, instead of the summary", "an HTML page",
                 ".html");
  add_value(
      command, "--rate", [&options](const std::string& text) { options.bits_per_second = parse_link_rate(text); },
      "RATE", "Of a node's link to the others, such as 1gbit; by default what the trace tells, if anything");
  command.add_flag("--json", options.json, "Print the figures as one line of JSON");
  command.add_flag("--quiet", options.quiet, "Print nothing but errors: for --report");
  command.footer(trace_footer);
}

}  // namespace plait::cli
