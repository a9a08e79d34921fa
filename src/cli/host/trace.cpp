#include "cli/host/trace.hpp"

#include "plait/io/file_kind.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/report/trace_json.hpp"

#include "cli/host/text.hpp"

namespace plait::cli {

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

TracedJob::TracedJob(mpi::Context& context, std::string path, const std::string& page, bool reports_overlap)
    : context_(context), path_(std::move(path)) {
  constexpr Index little = Index{64} << 20;
  const bool is_kept = !path_.empty() || !page.empty();
  if (is_kept || reports_overlap) tracing_.emplace(context, is_kept ? Timeline::default_bytes : little);
}

report::Trace TracedJob::write() {
  if (!tracing_) return {};
  report::Trace trace;
  try {
    trace = tracing_->gather();
  } catch (const OutOfMemory& error) {
    if (context_.rank() == 0) print_warning(fmt::format("there is no trace: {}", error.what()));
  }
  tracing_.reset();
  if (context_.rank() != 0 || trace.ranks.empty()) return trace;
  trace.link_bits_per_second = emulated_link_rate();
  if (!path_.empty()) write_beside_result(path_, [&] { return report::chrome_json(trace); });
  return trace;
}

}  // namespace plait::cli
