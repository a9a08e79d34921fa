#pragma once

#include <string>

#include "plait/report/trace.hpp"

namespace plait::report {

/// The number in the `plait_trace` field of what `chrome_json` writes: another one is another format.
inline constexpr int trace_format = 1;

/// A trace as a text in the JSON format that chrome://tracing, Perfetto (ui.perfetto.dev) and `plait trace` read. Each
/// rank is a process: computations on one track, postings and waits on another, every run and every communication an
/// asynchronous event. docs/trace.md tells the fields. Operations that never ended, and those without any work, are
/// left out.
[[nodiscard]] std::string chrome_json(const Trace& trace);

}  // namespace plait::report
