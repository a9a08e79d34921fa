#pragma once

#include <optional>
#include <regex>
#include <string>
#include <variant>
#include <vector>

namespace plait::bench {

/// What a user asks of a benchmark.
struct Options {
  bool quick = false;                // small matrices, few repetitions: it checks that all runs, not how fast
  std::optional<int> repetitions;    // of each case, instead of as many as suit it
  std::optional<std::regex> filter;  // only cases in whose name it is found
  std::string json;                  // where to write the report; empty: nowhere
  std::string plot;                  // where to write the picture; empty: nowhere
  std::string extent_plot;           // where to write the picture over the extents of matrices; empty: nowhere
  std::string heat_map;              // where to write the picture of a map of cases; empty: nowhere
  std::string commit = "unknown";    // for the report
  bool gate = false;                 // fail if a gate is missed
  bool list_ranks = false;           // only say on how many ranks the benchmark wants to run
  bool list_link_rate = false;       // only say whether it wants a cluster, and with which links
  std::vector<std::string> merge;    // reports to take instead of measuring
};

/// Something to print instead of running, with the exit status: help, or what is wrong with the command line.
struct Message {
  std::string text;
  int status = 0;
};

/// \param name         of the benchmark, such as "redistribute"
/// \param description  what it measures, for --help
[[nodiscard]] std::variant<Options, Message> parse_options(int argc, const char* const* argv, const std::string& name,
                                                           const std::string& description);

}  // namespace plait::bench
