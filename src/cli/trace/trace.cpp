#include "cli/trace/trace.hpp"

#include "cli/output/print.hpp"
#include "cli/output/text_aside.hpp"
#include "cli/trace/trace_file.hpp"
#include "cli/trace/trace_page.hpp"
#include "cli/trace/trace_summary.hpp"

namespace plait::cli {

void run_trace(const TraceOptions& options) {
  if (!options.report.empty()) io::AsideFile::expect_replaceable(options.report);
  TraceFigures figures{options.input, read_trace_file(options.input), {}, options.bits_per_second};
  figures.overlap = report::overlap_of(figures.trace);
  if (figures.bits_per_second == 0) figures.bits_per_second = figures.trace.link_bits_per_second;
  if (!options.report.empty()) text_aside(options.report, trace_page(figures, options.command)).publish();
  if (options.json) {
    print_result(json_report(figures));
  } else if (!options.quiet) {
    print_result(summary(figures));
  }
}

}  // namespace plait::cli
