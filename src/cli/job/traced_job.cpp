#include "cli/job/traced_job.hpp"

#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/file_kind.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/report/trace_json.hpp"

#include "cli/job/link_rate.hpp"
#include "cli/options/option_value.hpp"
#include "cli/output/print.hpp"
#include "cli/output/text_aside.hpp"

namespace plait::cli {

void add_trace_option(CLI::App& command, std::string& path) {
  add_typed_path(command, "--trace", path, "FILE.json",
                 "Write what every rank did when, for 'plait trace' and ui.perfetto.dev", "a JSON file", ".json")
      ->group(group::run);
}

void expect_writable_trace(mpi::Context& context, const std::string& path, const std::vector<NamedFile>& kept) {
  if (path.empty()) return;
  mpi::agreed(context, [&] {
    if (context.rank() != 0) return;
    for (const NamedFile& file : kept) {
      if (!are_one_file(path, io::file_of(file.path))) continue;
      throw FileError(
          fmt::format("{}: would be replaced by the trace, but it is {}; expected another name", path, file.role));
    }
    io::AsideFile::try_out(path);
    static_cast<void>(emulated_link_rate());
  });
}

TracedJob::TracedJob(mpi::Context& context, std::string path, const std::string& page)
    : context_(context), path_(std::move(path)) {
  if (!path_.empty() || !page.empty()) tracing_.emplace(context);
}

report::Trace TracedJob::write() {
  if (!tracing_) return {};
  report::Trace trace;
  try {
    trace = tracing_->gather();
  } catch (const OutOfMemory& error) {
    if (context_.rank() == 0) print_warning(fmt::format("there is no trace: {}", error.what()));
    return {};
  }
  if (context_.rank() != 0 || path_.empty()) return trace;
  trace.link_bits_per_second = emulated_link_rate();
  write_beside_result(path_, [&] { return report::chrome_json(trace); });
  return trace;
}

}  // namespace plait::cli
