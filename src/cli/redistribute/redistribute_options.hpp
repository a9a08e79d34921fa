#pragma once

#include <optional>
#include <string>

#include "plait/base/index.hpp"
#include "plait/layout/text.hpp"
#include "plait/redistribute/op.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "cli/options/report_options.hpp"
#include "cli/options/scalar.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// The command line of `plait redistribute`.
struct RedistributeOptions {
  std::string input;
  std::string output;           // one of these two is empty
  std::string per_rank_folder;  //
  redistribute::Op op = redistribute::Op::identity;
  std::optional<layout::LayoutSpec> from;
  std::optional<layout::LayoutSpec> to;
  bool relabel = false;
  Scalar alpha{"1"};
  Scalar beta{"0"};
  std::string into;  // empty if and only if beta is 0
  Index memory_budget = redistribute::Options{}.memory_budget;
  std::string machine;  // empty: as PLAIT_MACHINE says
  ReportOptions report;
  std::string trace;  // empty: none
};

/// Adds the command to the program's; parsing fills `options`.
///
/// \throws UsageError  from parsing: a value is malformed, or options contradict each other
void add_redistribute(CLI::App& program, RedistributeOptions& options);

}  // namespace plait::cli
