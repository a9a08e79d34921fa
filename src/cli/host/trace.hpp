#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plait/mpi/context.hpp"
#include "plait/report/trace.hpp"

#include "cli/host/files.hpp"
#include "cli/host/options.hpp"

namespace CLI {
class App;
}
namespace plait::cli {

/// Whether a trace could be written there, before long work. `kept` are files that it must not replace. Nothing to do
/// where `path` is empty. Collective over `context`.
///
/// \throws FileError  on every rank: it can't be written, or is one of `kept`
void expect_writable_trace(mpi::Context& context, const std::string& path, const std::vector<NamedFile>& kept);

/// Records the schedules of a job for --trace, and for a page of --report that has the timeline of a part of it; where
/// both are empty nothing or, if the job reports how much overlapped, as much as fits into little memory.
class TracedJob {
 public:
  /// Collective over `context`.
  explicit TracedJob(mpi::Context& context, std::string path, const std::string& page = {},
                     bool reports_overlap = false);

  /// Ends recording, and writes what was recorded, aside and renamed, where --trace asks for it. Returns it on rank 0.
  /// Where there is no room for it a warning says so: a result is worth more than its trace. Collective.
  report::Trace write();

 private:
  mpi::Context& context_;
  std::string path_;
  std::optional<report::Tracing> tracing_;
};

}  // namespace plait::cli
