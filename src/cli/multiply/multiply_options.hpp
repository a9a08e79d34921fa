#pragma once

#include <optional>
#include <string>

#include "plait/base/index.hpp"
#include "plait/dense/arrangement/choice.hpp"
#include "plait/redistribute/op.hpp"

#include "cli/options/report_options.hpp"
#include "cli/options/scalar.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// The command line of `plait multiply`.
struct MultiplyOptions {
  std::string a;
  std::string b;
  std::string output;
  redistribute::Op op_a = redistribute::Op::identity;
  redistribute::Op op_b = redistribute::Op::identity;
  Scalar alpha{"1"};
  Scalar beta{"0"};
  std::string into;  // empty if and only if beta is 0
  std::optional<dense::Method> method;
  int layers = 0;  // 0: chosen
  std::optional<Index> memory_limit;
  std::string machine;  // empty: as PLAIT_MACHINE says
  ReportOptions report;
  std::string trace;  // empty: none
};

/// Adds the command to the program's; parsing fills `options`.
///
/// \throws UsageError  from parsing: a value is malformed, or options contradict each other
void add_multiply(CLI::App& program, MultiplyOptions& options);

}  // namespace plait::cli
